//! One function for arrays of every layout: `gemm` for matrices, their transposes, parts of both, and
//! all other strides.

use crate::kernels::{build, python, succeeds, text};
use std::process::Command;

const SCRIPT: &str = r#"
let m = size("M", #{likely: 7}); let n = size("N", #{likely: 6}); let k = size("K", #{likely: 5});
for elem in ["f64", "f32"] {
    for transposed in [[], ["A"], ["B"], ["A", "B"]] {
        let flips = |name| transposed.contains(name);
        let A = strided(tensor(if flips.call("A") { [k, m] } else { [m, k] }, elem));
        let B = strided(tensor(if flips.call("B") { [n, k] } else { [k, n] }, elem));
        let C = strided(tensor([m, n], elem));
        let a = if flips.call("A") { "ki" } else { "ik" };
        let b = if flips.call("B") { "jk" } else { "kj" };
        C = einsum(`${a},${b}->ij`, A, B);
        let name = if elem == "f64" { "gemm" } else { "gemm_f32" };
        export_kernel(build(C).stripmine("i", 4), name, [], transposed);
    }
}
// For f64, all strides.
let A = strided(tensor([m, k]), "all");
let B = strided(tensor([k, n]), "all");
let C = strided(tensor([m, n]), "all");
C = einsum("ik,kj->ij", A, B);
export_kernel(build(C).stripmine("i", 4).vectorize("j"), "gemm");
let x = strided(tensor([n]), "all");
let y = strided(tensor([n]), "all");
y = eq(2 * x, [i] -> [i]);
export_kernel(build(y), "twice");
"#;

const PYTHON: &str = r#"
import numpy as np
import kernels

rng = np.random.default_rng(7)

def layouts(rows, columns, dtype):
    """A matrix, one of Fortran's order, and parts of larger ones in both orders."""
    for turn in False, True:
        r, c = (columns, rows) if turn else (rows, columns)
        frame = rng.random((r + 3, c + 5)).astype(dtype)
        part = frame[1:r + 1, 2:c + 2]
        for array in part, part.copy():
            yield array.T if turn else array
    if dtype == np.float64:
        frame = rng.random((2 * rows + 1, 3 * columns + 2))
        yield frame[:2 * rows:2, 1:3 * columns + 1:3]
        yield frame[:rows, :columns][::-1, ::-1]
        yield rng.random((columns, rows))[:, ::-1].T
        yield np.broadcast_to(frame[0, :columns], (rows, columns))

count = 0
for dtype, gemm in (np.float64, kernels.gemm), (np.float32, kernels.gemm_f32):
    for m, n, k in (0, 3, 4), (1, 1, 1), (1, 7, 5), (7, 1, 3), (5, 4, 1), (4, 3, 0), (33, 20, 17):
        for A in layouts(m, k, dtype):
            for B in layouts(k, n, dtype):
                expected = A.astype(float) @ B.astype(float)
                frame = np.full((m + 2, n + 3), 7, dtype)
                inner = frame[1:m + 1, 2:n + 2]
                assert gemm(A, B, C=inner) is inner
                for C in inner, gemm(A, B):
                    assert np.allclose(C, expected, rtol=1e-5), (m, n, k, A.strides, B.strides)
                inner[:] = 7
                assert (frame == 7).all()
                count += 1
                if dtype == np.float64:
                    frame = np.full((2 * m + 1, 3 * n + 1), 7.0)
                    for inner in frame[2:2 * m + 1:2, 1:3 * n + 1:3], frame[:m, :n][::-1, ::-1]:
                        assert gemm(A, B, C=inner) is inner
                        assert np.allclose(inner, expected), (m, n, k, A.strides, B.strides)
                        inner[:] = 7
                        assert (frame == 7).all()

x = rng.random(50)
for part in x, x[::3], x[::-1], x[-2::-4], np.broadcast_to(x[0], 9), x[:0]:
    assert (kernels.twice(part) == 2 * part).all()

def refused(kind, part, *arrays, function=kernels.gemm_f32, **results):
    try:
        function(*arrays, **results)
    except kind as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"not refused: {part}")

A, B = rng.random((4, 5), np.float32), rng.random((5, 6), np.float32)
refused(ValueError, "gemm_f32: A must have adjacent elements", A[:, ::-1], B)
refused(ValueError, "gemm_f32: A must have adjacent elements", A[::-1].T, np.ones((4, 2), np.float32))
refused(ValueError, "gemm_f32: A must have adjacent elements", np.ones((8, 10), np.float32)[::2, ::2], B)
refused(ValueError, "gemm_f32: C must have adjacent elements", A, B, C=np.empty((6, 4), np.float32).T)
refused(ValueError, "B must have the shape (5, 6), not (4, 6)", A, B[:4])
refused(ValueError, "C and A overlap", A, np.eye(5, dtype=np.float32), C=A)
refused(TypeError, "A must have elements of type float32", A.astype(float), B)

A, B = rng.random((8, 8)), np.eye(4)
refused(ValueError, "each in a place of its own", A[::2, ::2], B, function=kernels.gemm,
        C=np.lib.stride_tricks.as_strided(np.empty(9), (4, 4), (8, 8)))
refused(ValueError, "C and A overlap", A[::2, ::2], B, function=kernels.gemm, C=A[6::-2, 6::-2])
refused(ValueError, "C and A overlap", A[::-1][:4, ::2], B, function=kernels.gemm, C=A[4::-1, ::2][:4])
print(count, "layouts")
"#;

const CPP: &str = r#"
#include <cstdio>
#include <kernels.h>
#include <vector>

template <class T, class Gemm> static double error(Gemm gemm, bool turns)
{
    const int64_t M = 3, N = 4, K = 5;
    std::vector<T> A(M * K), B(K * N), C(M * N);
    for (size_t e = 0; e < A.size(); e++)
        A[e] = T(e);
    for (size_t e = 0; e < B.size(); e++)
        B[e] = T(e % 7);
    const int64_t columns[] = {1, M}, rows[] = {K, 1};
    const char *why = gemm(M, N, K, C.data(), nullptr, A.data(), turns ? columns : rows, B.data(), nullptr);
    if (why) {
        std::puts(why);
        return 1;
    }
    double sum = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            T expected = 0;
            for (int k = 0; k < K; k++)
                expected += (turns ? A[i + k * M] : A[i * K + k]) * B[k * N + j];
            sum += (expected - C[i * N + j]) * (expected - C[i * N + j]);
        }
    return sum;
}

int main()
{
    for (bool turns : {false, true})
        std::printf("%g %g\n", error<double>(gemm_checked, turns), error<float>(gemm_f32_checked, turns));
    float A[20] = {}, B[20] = {}, C[12];
    const int64_t gaps[] = {2, 2}, back[] = {-5, 1}, columns[] = {1, 3};
    std::puts(gemm_f32_checked(3, 4, 5, C, nullptr, A, gaps, B, nullptr));
    std::puts(gemm_f32_checked(3, 4, 5, C, nullptr, A, back, B, nullptr));
    std::puts(gemm_f32_checked(3, 4, 5, C, columns, A, nullptr, B, nullptr));
    std::puts(gemm_f32_checked(3, 4, 5, A, nullptr, A, columns, B, nullptr));

    // The sum of a row, backwards and with gaps, by a kernel for all strides.
    const double x[] = {1, 2, 3, 4, 5, 6};
    double ones[] = {1, 1}, y[4] = {};
    const int64_t backwards[] = {1, -3}, whole[] = {1, 1}, apart[] = {7, 3};
    const int64_t huge[] = {1, INT64_MIN}, same[] = {1, 0};
    for (const int64_t *strides : {whole, backwards}) {
        const char *why = gemm_checked(1, 1, 2, y, nullptr, x + 3, strides, ones, nullptr);
        std::printf("%s %g\n", why ? why : "taken", y[0]);
    }
    gemm_checked(1, 2, 2, y, apart, x, nullptr, x, nullptr);
    std::printf("%g %g %g\n", y[0], y[1], y[3]);
    std::puts(gemm_checked(1, 1, 2, y, nullptr, x + 3, huge, ones, nullptr));
    std::puts(gemm_checked(1, 2, 2, y, same, x, nullptr, x, nullptr));
    std::puts(gemm_checked(1, 1, 2, ones, nullptr, ones + 1, backwards, x, nullptr));
}
"#;

#[test]
fn one_function_takes_matrices_and_their_transposes() {
    let directory = tempfile::tempdir().unwrap();
    let output = build(SCRIPT, directory.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = directory.path().join("out");
    std::fs::write(out.join("example/main.cpp"), CPP).unwrap();
    if Command::new("cmake").arg("--version").output().is_ok() {
        succeeds("cmake", &["-S", "example", "-B", "made"], &out);
        succeeds("cmake", &["--build", "made", "--target", "example"], &out);
    } else {
        let files = ["example/main.cpp", "lib/libkernels.a", "-fopenmp", "-lm"];
        let flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-Iinclude"];
        std::fs::create_dir(out.join("made")).unwrap();
        let arguments = [&flags[..], &files[..], &["-o", "made/example"]].concat();
        succeeds("g++", &arguments, &out);
    }
    let gaps = "needs adjacent elements in rows that do not overlap";
    assert_eq!(
        succeeds("./made/example", &[], &out),
        format!(
            "0 0\n0 0\ngemm_f32: A {gaps}\ngemm_f32: A {gaps}\ngemm_f32: C {gaps}\n\
             gemm_f32: C and A overlap\ntaken 9\ntaken 5\n7 0 10\n\
             gemm: A has more bytes than can be counted\n\
             gemm: C needs a place for each element\n\
             gemm: C and A overlap\n"
        )
    );
    let Some(python) = python() else {
        return eprintln!("no Python with NumPy is installed: kernels are not called from it");
    };
    std::fs::write(out.join("python/call.py"), PYTHON).unwrap();
    let shown = succeeds(&python, &["call.py"], &out.join("python"));
    assert_eq!(shown, "560 layouts\n");
}

#[test]
fn other_kernels_are_no_views() {
    let directory = tempfile::tempdir().unwrap();
    let fails = |last: &str| {
        let start = "let A = tensor([4, 5]); let y = einsum(\"ij->i\", A); let f = build(y);
            let A = tensor([5, 4]); let z = einsum(\"ji->i\", A); let y = tensor([4]);
            y = einsum(\"ji->i\", A);";
        let output = build(&format!("{start}\n{last}"), directory.path());
        assert_eq!(output.status.code(), Some(1), "{last}");
        text(&output.stderr)
    };
    let exports = "export_kernel(f, \"sums\");";
    for (last, why) in [
        (
            "export_kernel(build(y), \"sums\", [], [\"A\"]);".to_owned(),
            "is not known: export `sums` without transposes first",
        ),
        (
            format!("{exports} export_kernel(f, \"sums\", [], [\"A\"]);"),
            "the extents of `A` are not those of `sums`, reversed",
        ),
        (
            format!("{exports} export_kernel(build(y), \"sums\", [], [\"y\"]);"),
            "`y` has fewer than two dimensions",
        ),
        (
            format!("{exports} export_kernel(build(z), \"sums\", [], [\"A\"]);"),
            "it has no tensor `y`",
        ),
        (
            format!("{exports} export_kernel(build(y), \"sums\", [], [\"B\"]);"),
            "it has no tensor `B`",
        ),
    ] {
        let shown = fails(&last);
        assert!(shown.contains(why), "{shown}");
    }
}
