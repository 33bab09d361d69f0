//! `teml build`: kernels in other people's programs, called from C++ and from Python.

use std::path::Path;
use std::process::{Command, Output};

const SCRIPT: &str = r#"
reductions("reassoc");
let A = tensor([16, 24]);
let B = tensor([24, 20]);
let C = einsum("ik,kj->ij", A, B);
export_kernel(schedules::optimize(build(C)), "gemm");

let Q = tensor([8, 12]);
let K = tensor([10, 12]);
let V = tensor([10, 6]);
let S = einsum("ik,jk->ij", Q, K);
let E = exp(S, [i, j] -> [i, j]);
let T = sum(E, [2]);
let O = einsum("ij,jd->id", E, V);
let P = eq(vdiv(O, T, [[i, d], [i]]), [i, d]);
let attention = [build(S), build(E), build(T), build(O), build(P)];
export_kernel(attention, "attention");

let X = aligned(tensor([6]), 64);
let Y = eq(X * 2, [i] -> [i]);
export_kernel(Y, "twice");

let alpha = scalar();
let m = size("M", #{likely: 20}); let n = size("N", #{likely: 20}); let k = size("K", #{likely: 20});
let U = tensor([m, k]);
let W = tensor([k, n]);
let Z = einsum("ik,kj->ij", U, W);
export_kernel(build(Z).stripmine("i", 4).vectorize("j"), "product");

let v = tensor([k]);
let w = tensor([m]);
w = eq(vadd(vmul(alpha, veinsum("ij,j->i", U, v), [(), [i]]), vmul(2, w, [(), [i]])), [i]);
export_kernel(build(w).parallelize("i"), "gemv");
// The C library has a function of this name.
let count = scalar("i32");
let counts = tensor([m], "i32");
let multiples = eq(vmul(count, counts, [(), [i]]), [i]);
export_kernel(build(multiples), "times");

for elem in ["f64", "f32"] {
    let L = strided(tensor([m, k], elem));
    let R = strided(tensor([k, n], elem));
    let G = strided(tensor([m, n], elem));
    G = einsum("ik,kj->ij", L, R);
    let plan = build(G);
    let few = plan.specialize("N <= 4 && K == 2").unroll("k");
    let wide = schedules::optimize(plan);
    export_kernel(dispatch([few, ["M >= 16", wide]], plan), "part_" + elem);
}

// Callers know three dimensions. The code reads the last two as one.
let I = tensor([3, 6, 5]);
let F = tensor([4, 3]);
let D = einsum("cyx,fc->fyx", I, F);
export_kernel(schedules::optimize(build(D).collapse("y")), "mixed");
"#;

pub fn build(script: &str, directory: &Path) -> Output {
    std::fs::write(directory.join("kernels.rhai"), script).unwrap();
    Command::new(env!("CARGO_BIN_EXE_teml"))
        .args(["build", "kernels.rhai", "--out", "out"])
        .current_dir(directory)
        .env("TEML_CACHE_DIR", directory.join("cache"))
        .output()
        .unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The output of a program, which has to succeed.
pub fn succeeds(program: &str, arguments: &[&str], directory: &Path) -> String {
    let mut command = Command::new(program);
    let output = command
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap();
    let shown = text(&output.stdout) + text(&output.stderr).as_str();
    assert!(output.status.success(), "{program} {arguments:?}: {shown}");
    shown
}

#[test]
fn from_cpp_and_c() {
    let directory = tempfile::tempdir().unwrap();
    let output = build(SCRIPT, directory.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = directory.path().join("out");
    // All inputs are 1, so that each element of the product is 24.
    for library in ["../lib/libkernels.so", "../lib/libkernels.a"] {
        let warnings = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-I../include"];
        let files = ["main.cpp", library, "-fopenmp", "-lm", "-o", "example"];
        let arguments = [&warnings[..], &files[..]].concat();
        let example = out.join("example");
        succeeds("g++", &arguments, &example);
        let shown = Command::new(example.join("example"))
            .env("LD_LIBRARY_PATH", out.join("lib"))
            .output()
            .unwrap();
        let shown = text(&shown.stdout);
        assert_eq!(
            shown,
            "gemm: C[0] = 24\nattention: P[0] = 1\ntwice: Y[0] = 2\nproduct: Z[0] = 20\n\
             gemv: w[0] = 22\ntimes: multiples[0] = 1\npart_f64: G[0] = 20\n\
             part_f32: G[0] = 20\nmixed: D[0] = 3\n",
            "{library}"
        );
    }
    // The checks of the C, which the caller's strides and pointers may fail.
    let program = r#"
#include <kernels.h>
#include <stdio.h>
static double A[16 * 24 + 1], B[24 * 20], C[16 * 20];
static _Alignas(64) double X[8];
int main(void)
{
    const int64_t rows[] = {24, 1}, wide[] = {32, 1}, columns[] = {1, 16}, back[] = {-24, 1};
    const int64_t far[] = {INT64_C(1) << 60, 1}, farther[] = {INT64_C(1) << 62, 1};
    const char *all[] = {
        gemm_checked(C, NULL, A, rows, B, NULL),
        gemm_checked(C, NULL, A, wide, B, NULL),
        gemm_checked(C, NULL, A, columns, B, NULL),
        gemm_checked(C, NULL, C, NULL, B, NULL),
        gemm_checked(C, NULL, A, NULL, C + 16, NULL),
        gemm_checked(C, NULL, (double *)((char *)A + 4), NULL, B, NULL),
        gemm_checked(C, NULL, NULL, NULL, B, NULL),
        gemm_checked(C, NULL, A, NULL, A, NULL),
        twice_checked(C, NULL, X, NULL),
        twice_checked(C, NULL, X + 1, NULL),
        product_checked(16, 20, 24, C, NULL, A, rows, B, NULL),
        product_checked(0, 20, 24, C, NULL, A, NULL, B, NULL),
        product_checked(-1, 20, 24, C, NULL, A, NULL, B, NULL),
        product_checked(16, 20, 23, C, NULL, A, rows, B, NULL),
        product_checked(1 << 30, 1 << 30, 1 << 30, C, NULL, A, NULL, B, NULL),
        product_checked(16, 20, 24, C, NULL, C + 300, NULL, B, NULL),
        part_f64_checked(4, 5, 6, C, rows, A, wide, B, NULL),
        part_f64_checked(4, 5, 6, C, rows, A, columns, B, NULL),
        part_f64_checked(4, 25, 6, C, rows, A, wide, B, NULL),
        part_f64_checked(4, 5, 6, C, rows, A, back, B, NULL),
        part_f64_checked(4, 5, 6, C, rows, A, wide, C + 70, rows),
        part_f64_checked(0, 5, 6, C, back, A, back, B, NULL),
        gemv_checked(16, 24, C, NULL, 2.5, A, rows, B, NULL),
        gemv_checked(16, 24, C, NULL, 2.5, A, rows, C, NULL),
        product_checked(INT64_C(1) << 62, 20, 24, C, NULL, A, NULL, B, NULL),
        product_checked(16, INT64_MAX, 24, C, NULL, A, NULL, B, NULL),
        product_checked(0, INT32_MAX, INT32_MAX, C, NULL, A, NULL, B, NULL),
        product_checked(INT32_MAX, 0, INT32_MAX, C, NULL, A, NULL, B, NULL),
        part_f64_checked(4, 5, 6, C, rows, A, far, B, NULL),
        part_f64_checked(4, 5, 6, C, rows, A, farther, B, NULL),
    };
    for (int k = 0; k < 30; k++)
        puts(all[k] ? all[k] : "called");
    return 0;
}
"#;
    std::fs::write(out.join("checks.c"), program).unwrap();
    let flags = [
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Iinclude",
        "checks.c",
    ];
    let rest = ["lib/libkernels.a", "-fopenmp", "-lm", "-o", "checks"];
    succeeds("gcc", &[&flags[..], &rest[..]].concat(), &out);
    let shown = succeeds("./checks", &[], &out);
    let gaps = "gemm: A is not stored row after row, without gaps";
    let expected = [
        "called",
        gaps,
        gaps,
        "gemm: C and A overlap",
        "gemm: C and B overlap",
        "gemm: A is not aligned to its elements",
        "gemm: A is missing",
        "called",
        "called",
        "twice: X is not aligned to 64 bytes",
        "called",
        "called",
        "product: M is not in 0..=2147483647",
        "product: U is not stored row after row, without gaps",
        "product: Z has more bytes than can be counted",
        "product: Z and U overlap",
        "called",
        "part_f64: L needs adjacent elements in rows that do not overlap",
        "part_f64: G needs adjacent elements in rows that do not overlap",
        "part_f64: L needs adjacent elements in rows that do not overlap",
        "part_f64: G and R overlap",
        "called",
        "called",
        "gemv: w and v overlap",
        "product: M is not in 0..=2147483647",
        "product: N is not in 0..=2147483647",
        "product: W has more bytes than can be counted",
        "product: U has more bytes than can be counted",
        "part_f64: L needs adjacent elements in rows that do not overlap",
        "part_f64: L needs adjacent elements in rows that do not overlap",
    ];
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected);
    // Builds find the library.
    let config = std::fs::read_to_string(out.join("lib/pkgconfig/kernels.pc")).unwrap();
    assert!(config.contains("Libs: -L${libdir} -lkernels"), "{config}");
    if Command::new("cmake").arg("--version").output().is_ok() {
        succeeds("cmake", &["-S", "example", "-B", "made"], &out);
        succeeds("cmake", &["--build", "made"], &out);
        for example in ["./made/example", "./made/example_static"] {
            let shown = succeeds(example, &[], &out);
            assert_eq!(
                shown,
                "gemm: C[0] = 24\nattention: P[0] = 1\ntwice: Y[0] = 2\nproduct: Z[0] = 20\n\
                 gemv: w[0] = 22\ntimes: multiples[0] = 1\npart_f64: G[0] = 20\n\
                 part_f32: G[0] = 20\nmixed: D[0] = 3\n",
                "{example}"
            );
        }
    } else {
        eprintln!("CMake is not installed: kernels are not built with it");
    }
}

/// Calls both kernels on arrays of every layout.
const PYTHON: &str = r#"
import concurrent.futures
import os
import signal
import subprocess
import sys

import numpy as np
import kernels

rng = np.random.default_rng(7)
A, B = rng.random((16, 24)), rng.random((24, 20))
C = kernels.gemm(A, B)
assert np.allclose(C, A @ B)
own = np.zeros((16, 20))
assert kernels.gemm(A, B, C=own) is own and np.allclose(own, A @ B)
big = rng.random((32, 24))
assert np.allclose(kernels.gemm(big[8:24], B), big[8:24] @ B)
assert np.allclose(kernels.gemm(A, np.ascontiguousarray(B.T.copy().T)), A @ B)

I, F = rng.random((3, 6, 5)), rng.random((4, 3))
assert np.allclose(kernels.mixed(I, F), np.einsum("cyx,fc->fyx", I, F))

Q, K, V = rng.random((8, 12)), rng.random((10, 12)), rng.random((10, 6))
S = np.exp(Q @ K.T)
P = kernels.attention(Q, K, V)
assert np.allclose(P, (S / S.sum(1, keepdims=True)) @ V)

for m, n, k in [(3, 4, 5), (8, 16, 7), (1, 1, 1), (0, 4, 3), (5, 0, 2), (6, 6, 0), (33, 17, 40)]:
    U, W = rng.random((m, k)), rng.random((k, n))
    assert np.allclose(kernels.product(U, W), U @ W), (m, n, k)

for m, k in [(7, 5), (0, 3), (4, 0), (33, 17)]:
    U, v, w = rng.random((m, k)), rng.random(k), rng.random(m)
    expected = 2.5 * U @ v + 2 * w
    for alpha in [2.5, np.float32(2.5), np.array(2.5)]:
        assert np.allclose(kernels.gemv(w.copy(), alpha, U, v), expected)
counts = np.arange(5, dtype=np.int32)
assert (kernels.times(3, counts) == 3 * counts).all()

def refused(kind, part, *arrays, kernel=kernels.gemm, **results):
    try:
        kernel(*arrays, **results)
    except kind as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"not refused: {part}")

class Interface:
    """An array of a library that describes its memory."""
    def __init__(self, array):
        self.array = array
    @property
    def __array_interface__(self):
        return self.array.__array_interface__

class Capsule:
    """An array of a library that hands out capsules."""
    def __init__(self, array):
        self.array = array
    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)
    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

class Elsewhere(Capsule):
    """An array on another device."""
    def __dlpack_device__(self):
        return (2, 0)
    def __dlpack__(self, **options):
        raise BufferError("it is on a GPU")

for foreign in [Interface, Capsule]:
    U, W, Z = rng.random((7, 9)), rng.random((9, 5)), np.zeros((7, 5))
    given = foreign(Z)
    assert kernels.product(foreign(U), foreign(W), Z=given) is given
    assert np.allclose(Z, U @ W), "the memory is shared"
    assert np.allclose(kernels.part_f64(foreign(U[1:5, :4]), W[:4]), U[1:5, :4] @ W[:4])
refused(TypeError, "U is in memory of a device, and this kernel runs on the processor", Elsewhere(A), B, kernel=kernels.product)
refused(TypeError, "must be an array of NumPy or of a library", A.tolist(), B)
for wrong in [2.5, "a", 1j, None]:
    refused(TypeError, "count must be a number of type int32", wrong, counts, kernel=kernels.times)
refused(OverflowError, "count must be a number of type int32", 2**40, counts, kernel=kernels.times)
refused(ValueError, "count must be a number, not an array of shape (5,)", counts, counts, kernel=kernels.times)
refused(TypeError, "not list", A.tolist(), B, kernel=kernels.product)
refused(ValueError, "W must have the shape (24, 24), not (16, 24)", A, A, kernel=kernels.product)
refused(ValueError, "U must have 2 dimensions, not 1", A[0], B, kernel=kernels.product)
refused(ValueError, "row after row", A.T, A, kernel=kernels.product)
refused(ValueError, "shape (16, 20), not (20, 16)", A, B, Z=np.zeros((20, 16)), kernel=kernels.product)
refused(ValueError, "I must have the shape (3, 6, 5), not (3, 30)", I.reshape(3, 30), F, kernel=kernels.mixed)
refused(TypeError, "type float64, not float32", A.astype(np.float32), B)
refused(TypeError, "type float64, not >f8", A.astype(">f8"), B)
refused(ValueError, "shape (16, 24), not (24, 16)", A.T, B)
refused(ValueError, "row after row", np.asfortranarray(A), B)
refused(ValueError, "row after row", rng.random((16, 48))[:, ::2], B)
refused(ValueError, "row after row", A[::-1], B)
refused(ValueError, "row after row", np.broadcast_to(A[0], (16, 24)), B)
refused(ValueError, "row after row", rng.random((16, 32))[:, :24], B)
parts = {np.float64: kernels.part_f64, np.float32: kernels.part_f32}
for dtype, part in parts.items():
    whole = rng.random((90, 100)).astype(dtype)
    exact = lambda L, R: L.astype(np.float64) @ R.astype(np.float64)
    near = lambda G, L, R: np.allclose(G, exact(L, R), rtol=1e-4)
    for m, n, k in [(5, 4, 2), (5, 5, 2), (16, 9, 7), (15, 9, 7), (33, 40, 17), (0, 3, 2), (4, 0, 2), (4, 4, 0)]:
        L, R = whole[1:1 + m, 3:3 + k], whole[40:40 + k, 50:50 + n]
        assert near(part(L, R), L, R), (m, n, k)
        frame = np.full((m + 4, n + 6), 7, dtype)
        inner = frame[2:2 + m, 3:3 + n]
        assert part(L, R, G=inner) is inner and near(inner, L, R), (m, n, k)
        inner[:] = 7
        assert (frame == 7).all(), "written outside of the part"
    L, R = whole[:30:3, :8], whole[50:66:2, :9]
    assert near(part(L, R), L, R)
    # Parts of one matrix that share no element.
    assert near(part(whole[:5, :5], whole[5:10, :5], G=whole[:5, 50:55]), whole[:5, :5], whole[5:10, :5])
    for wrong in [whole.T[:6, :8], whole[::-1][:6, :8], whole[:6, :16:2], np.broadcast_to(whole[0, :8], (6, 8))]:
        refused(ValueError, "L must have adjacent elements in rows that do not overlap", wrong, R, kernel=part)
    refused(ValueError, "G and L overlap", whole[:5, :5], whole[9:14, 9:14], G=whole[2:7, 3:8], kernel=part)
    refused(ValueError, "R must have the shape", whole[:5, :5], whole[:4, :4], kernel=part)

raw = np.zeros(16 * 24 * 8 + 1, np.uint8)[1:]
odd = raw.view(np.float64).reshape(16, 24)
refused(ValueError, "multiple of 8 bytes", odd, B)
memory = np.zeros(16 * 24 + 16 * 20 - 1)
refused(ValueError, "overlap", memory[:384].reshape(16, 24), B, C=memory[383:].reshape(16, 20))
memory = np.zeros(72)
at = -memory.ctypes.data % 64 // 8
X = memory[at:at + 6]
X[:] = 3
assert np.array_equal(kernels.twice(X), 2 * X)
try:
    kernels.twice(memory[at + 1:at + 7])
except ValueError as error:
    assert "multiple of 64 bytes" in str(error), error
else:
    raise AssertionError("not refused")
own.flags.writeable = False
refused(ValueError, "read-only", A, B, C=own)
refused(TypeError, "A is a masked array", np.ma.masked_array(A, A > 0.5), B)
assert np.allclose(kernels.gemm(np.asmatrix(A), B), A @ B)

# Threads of the parent do not exist in a child that is forked, nor in a child of that.
def computes():
    U, v, w = np.ones((300, 200)), np.ones(200), np.zeros(300)
    return bool((kernels.gemv(w, 0.5, U, v) == 100).all())

def forked(depth):
    assert computes()
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    signal.alarm(20)
    right = computes() and computes()
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        right = right and all(threads.map(lambda _: computes(), range(6)))
    right = right and (depth == 0 or forked(depth - 1) == 0)
    os._exit(not right)

assert forked(1) == 0
with concurrent.futures.ThreadPoolExecutor(4) as threads:
    assert all(threads.map(lambda _: computes(), range(20)))

# A thread that wakes up on the core of its caller goes to another core.
SHARED = """
import os
import numpy as np
from kernels import gemv

def cores():
    stats = [open(f"/proc/self/task/{task}/stat").read() for task in os.listdir("/proc/self/task")]
    return [stat.rsplit(")", 1)[1].split()[36] for stat in stats]

def move(where):
    for task in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(task), where)

given = np.zeros(300), 0.5, np.ones((300, 200)), np.ones(200)
allowed = os.sched_getaffinity(0)
gemv(*given)
assert len(cores()) == 2
move({min(allowed)})
move(allowed)
for _ in range(200):
    gemv(*given)
    if len(set(cores())) == 2:
        break
else:
    raise AssertionError("both threads stay on one core")
"""
if hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1:
    threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-I", "-c", SHARED], env={**os.environ, **threads}, check=True)
print("all is well")
"#;

/// The Python that has NumPy, if there is one.
pub fn python() -> Option<String> {
    let given = std::env::var("TEML_PYTHON").ok();
    let names = given
        .into_iter()
        .chain(["python3".to_owned(), "/usr/bin/python3".to_owned()]);
    let has_numpy = |name: &String| {
        let output = Command::new(name)
            .args(["-c", "import numpy, venv, ensurepip"])
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    names.into_iter().find(has_numpy)
}

#[test]
fn from_python() {
    let Some(python) = python() else {
        return eprintln!("no Python with NumPy is installed: kernels are not called from it");
    };
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let output = build(SCRIPT, place);
    assert!(output.status.success(), "{}", text(&output.stderr));
    succeeds(
        &python,
        &["-m", "venv", "--system-site-packages", "fresh"],
        place,
    );
    // The package contains its build tools, so that nothing is downloaded.
    let install = [
        "-m",
        "pip",
        "install",
        "--no-index",
        "--no-deps",
        "-q",
        "./out",
    ];
    succeeds("fresh/bin/python", &install, place);
    std::fs::write(place.join("call.py"), PYTHON).unwrap();
    let shown = succeeds("fresh/bin/python", &["-I", "call.py"], place);
    assert!(shown.contains("all is well"), "{shown}");
}

#[test]
fn refusals() {
    let directory = tempfile::tempdir().unwrap();
    let fails = |script: &str| {
        let output = build(script, directory.path());
        assert_eq!(output.status.code(), Some(1), "{script}");
        text(&output.stderr)
    };
    assert!(fails("print(1);").contains("export_kernel(plan, \"name\")"));
    let start = "let A = tensor([4, 5]); let y = einsum(\"ij->i\", A); let l = build(y);";
    let race = format!("{start} export_kernel(l.parallelize(\"j\"), \"f\");");
    assert!(fails(&race).contains("loop `j` cannot be parallelized"));
    let twice = format!("{start} export_kernel(l, \"f\"); export_kernel(l, \"f\");");
    assert!(fails(&twice).contains("`f` was exported before"));
    assert!(fails(&format!("{start} export_kernel(l, \"sin\");")).contains("sin"));
    for (name, why) in [
        ("lambda", "a keyword of Python"),
        ("A", "one of its tensors"),
        ("y", "one of its tensors"),
        ("A_strides", "strides and extents of its tensor `A`"),
        ("list", "Python means something else"),
        ("numpy", "the Python package uses that name"),
    ] {
        let shown = fails(&format!("{start} export_kernel(l, \"{name}\");"));
        assert!(
            shown.contains(&format!("cannot be `{name}`: ")) && shown.contains(why),
            "{shown}"
        );
    }
    let checked = "export_kernel(l, \"f\"); export_kernel(l, \"f_checked\");";
    assert!(fails(&format!("{start} {checked}")).contains("`f_checked` is the function"));
    let of_arrays = "export_kernel(l, \"f\"); export_kernel(l, \"f_of_arrays\");";
    assert!(fails(&format!("{start} {of_arrays}")).contains("`f_of_arrays` is the function"));
    for name in [
        "lambda", "os", "numpy", "ctypes", "example", "m", "Upper", "9",
    ] {
        let why = teml::package::name_error(name);
        assert!(why.is_some_and(|why| why.contains(name)), "{name}");
    }
    assert_eq!(teml::package::name_error("matmul"), None);
}

/// A library for several instruction sets chooses one when it is loaded.
#[test]
#[cfg(target_arch = "x86_64")]
fn several_targets() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let script =
        "let A = tensor([40, 30]); let x = tensor([30]); let y = einsum(\"ij,j->i\", A, x);
        export_kernel(schedules::optimize(build(y)), \"gemv\"); print(\"once\");";
    std::fs::write(place.join("kernels.rhai"), script).unwrap();
    let built = |targets: &str| {
        let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
        teml.args(["build", "kernels.rhai", "--out", "out", "--target", targets]);
        let cache = place.join("cache");
        teml.current_dir(place).env("TEML_CACHE_DIR", cache);
        teml.output().unwrap()
    };
    let output = built("avx2,sse2,avx512");
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(shown.matches("once").count(), 1, "{shown}");
    let out = place.join("out");
    for (name, flag) in [
        ("avx512", "-march=x86-64-v4"),
        ("avx2", "-march=x86-64-v3"),
        ("sse2", "-march=x86-64"),
    ] {
        let source = std::fs::read_to_string(out.join(format!("src/kernels_{name}.c"))).unwrap();
        let ran = format!("// `teml_{name}_gemv` ran: all 40 elements equal");
        // Elsewhere, the library says that this machine cannot run them.
        let unverified = text(&output.stderr).contains(&format!("`teml_{name}_gemv` was not"));
        assert!(source.contains(&ran) || unverified, "{source}");
        assert!(
            source.contains(&format!("// Compiled with {flag}\n")),
            "{source}"
        );
    }
    let source = std::fs::read_to_string(out.join("src/kernels.c")).unwrap();
    let order = [
        "return 0;  /* avx512 */",
        "return 1;  /* avx2 */",
        "return 2;  /* sse2 */",
    ];
    let places = order.map(|line| source.find(line).unwrap());
    assert!(places.is_sorted(), "{source}");
    for library in ["lib/libkernels.so", "lib/libkernels.a"] {
        let arguments = [
            "-Iinclude",
            "example/main.cpp",
            library,
            "-fopenmp",
            "-o",
            "called",
        ];
        succeeds("g++", &arguments, &out);
        let shown = Command::new(out.join("called"))
            .env("LD_LIBRARY_PATH", out.join("lib"))
            .output()
            .unwrap();
        assert_eq!(text(&shown.stdout), "gemv: y[0] = 30\n", "{library}");
    }
    for wrong in ["avx512,avx2", "neon,sse2"] {
        let output = built(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(text(&output.stderr).contains("`--target avx512,avx2,sse2`"));
    }
}

/// Compiled with other flags, the C computes the same, or is refused.
#[test]
fn the_c_says_what_it_needs() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let script = "let A = tensor([9, 5], \"i32\"); let B = eq(A * 3, [i, j] -> [i, j]);
        export_kernel(build(B), \"triple\");";
    let output = build(script, place);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let source = std::fs::read_to_string(place.join("out/src/kernels.c")).unwrap();
    assert!(
        source.contains("#pragma GCC optimize(\"wrapv\")"),
        "{source}"
    );
    assert!(
        source.contains("/* A[9][5] */") && source.contains("-fwrapv"),
        "{source}"
    );
    let compile = |flag: &str| {
        let mut cc = Command::new("cc");
        cc.args([flag, "-fsyntax-only", "-Iout/include", "out/src/kernels.c"]);
        let output = cc.current_dir(place).output().unwrap();
        (output.status.success(), text(&output.stderr))
    };
    assert_eq!(compile("-O1"), (true, String::new()));
    for flag in ["-ffast-math", "-Ofast"] {
        let (compiles, errors) = compile(flag);
        assert!(
            !compiles && errors.contains("results would differ"),
            "{errors}"
        );
    }
}

#[test]
fn documents() {
    let directory = tempfile::tempdir().unwrap();
    let teml =
        |arguments: &[&str]| succeeds(env!("CARGO_BIN_EXE_teml"), arguments, directory.path());
    teml(&["doc", "--out", "reference.html"]);
    let page = std::fs::read_to_string(directory.path().join("reference.html")).unwrap();
    let xml = page.split_once('\n').unwrap().1;
    let document = roxmltree::Document::parse(xml).unwrap();
    let mut ids: Vec<&str> = document
        .descendants()
        .filter_map(|n| n.attribute("id"))
        .collect();
    for link in document.descendants().filter_map(|n| n.attribute("href")) {
        let id = link.strip_prefix('#').unwrap();
        assert!(ids.contains(&id), "{link} leads nowhere");
    }
    let count = ids.len();
    assert!(count > 200, "{count}");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "two parts of the page have one name");

    teml(&["definitions", "definitions"]);
    let definitions = directory.path().join("definitions");
    let own = std::fs::read_to_string(definitions.join("teml.d.rhai")).unwrap();
    assert!(own.starts_with("module static;\n"), "{own}");
    assert!(own.contains("\nfn interchange(nest: ?, "), "{own}");
    let schedules = std::fs::read_to_string(definitions.join("schedules.d.rhai")).unwrap();
    assert!(schedules.starts_with("module schedules;\n"), "{schedules}");
    assert!(
        schedules.contains("\nfn gemm(nest: ?, options: ?) -> ?;"),
        "{schedules}"
    );

    assert!(teml(&["completions", "bash"]).contains("--no-compare"));
    teml(&["man", "man"]);
    for page in ["teml.1", "teml-bench.1", "teml-build.1"] {
        assert!(directory.path().join("man").join(page).is_file(), "{page}");
    }
}

/// The pieces of a result set all of it, so that callers give no old contents.
#[test]
fn pieces_are_one_result() {
    let directory = tempfile::tempdir().unwrap();
    let script = "let n = size(\"N\"); let A = tensor([n, 4]); let B = tensor([n, 3]);
        let C = concat([A, B], 2); export_kernel(build(C), \"beside\");
        let D = tensor([n, 8]); D = eq(A, [i, j] -> [i, j], [n, 8], #{j: 0..4});
        let e = build(D); let D = eq(B, [i, j] -> [i, j + 5], [n, 8]);
        export_kernel([e, build(D)], \"apart\");";
    let output = build(script, directory.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let header = std::fs::read_to_string(directory.path().join("out/include/kernels.h")).unwrap();
    assert!(
        header.contains("C: N x 7 of double, is the result"),
        "{header}"
    );
    assert!(
        header.contains("D: N x 8 of double, is read and written"),
        "{header}"
    );
}
