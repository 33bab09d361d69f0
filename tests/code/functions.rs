//! Functions in vector loops: their values on numbers of all kinds, on all targets, with the C
//! library's vector functions and without them.

use crate::dialog;
use crate::worker;
use dialog::nest;
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use teml::codegen::{self, Header, Kernel, Role};
use teml::interp::definition;
use teml::interp::store::{Data as Values, Store};
use teml::ir::{Expr, Nest};
use teml::legality::Reductions;
use teml::runtime::{Compiled, Compiler, Data, Options, Scalar, run_once};
use worker::{control, view};

/// Values, and by how many units in the last place each may differ from the reference.
const VALUES: [(&str, u64); 38] = [
    ("vneg(x, [i, j])", 0),
    ("vabs(x, [i, j])", 0),
    ("vsqrt(x, [i, j])", 0),
    ("vrelu(x, [i, j])", 0),
    ("vminimum(x, y, [[i, j], [i, j]])", 0),
    ("vmaximum(x, y, [[i, j], [i, j]])", 0),
    ("vmaximum(0.5, x, [(), [i, j]])", 0),
    (
        "vselect(x, \"<\", y, x, 0.25, [[i, j], [i, j], [i, j], ()])",
        0,
    ),
    ("vselect(z, \"==\", 1, x, y, [[i], (), [i, j], [i, j]])", 0),
    ("vselect(1, \"!=\", x, z, y, [(), [i, j], [i], [i, j]])", 0),
    ("vexp(x, [i, j])", 5),
    ("vlog(x, [i, j])", 5),
    ("vtanh(x, [i, j])", 5),
    ("vsin(x, [i, j])", 5),
    ("vcos(x, [i, j])", 5),
    ("vfloor(x, [i, j])", 0),
    ("vceil(x, [i, j])", 0),
    ("vround(x, [i, j])", 0),
    ("verf(x, [i, j])", 8),
    ("vpow(x, y, [[i, j], [i, j]])", 5),
    ("vpow(2.5, y, [(), [i, j]])", 5),
    ("vpow(x, 2, [[i, j], ()])", 5),
    ("vpow(x, 7, [[i, j], ()])", 5),
    ("vpow(x, 0.5, [[i, j], ()])", 5),
    ("vpow(x, 1.5, [[i, j], ()])", 5),
    ("vpow(x, -0.5, [[i, j], ()])", 5),
    ("vpow(x, -4, [[i, j], ()])", 5),
    ("vadd(vtanh(z, [i]), vexp(vneg(vabs(x, [i, j]))))", 16),
    (
        "vselect(vindex(j), \"<=\", vindex(9*i + 3), x, -1e30, [(), (), [i, j]])",
        0,
    ),
    (
        "vselect(vindex(j) - 2*vindex(i), \">\", 30 - vindex(2*j), 1, y, [(), (), (), [i, j]])",
        0,
    ),
    (
        "vselect((vindex(i) + vindex(j)) % 2, \"==\", 0, x, y, [(), (), [i, j], [i, j]])",
        0,
    ),
    (
        "vselect(vindex(j), \"!=\", vindex(j + i - 3), x, z, [(), (), [i, j], [i]])",
        0,
    ),
    (
        "vselect(y, \"<\", y, y, vcast(3 * vindex(j) - vindex(i), TYPE), [[i, j], [i, j], [i, j]])",
        0,
    ),
    ("vcast(vcast(x, \"f32\", [i, j]), TYPE)", 0),
    ("vcast(3.1 * vcast(x, \"f64\", [i, j]), TYPE)", 0),
    (
        "vselect(z, \"<\", 1, vcast(n, TYPE, [j]), vcast(m, TYPE, [j]), [[i]])",
        0,
    ),
    (
        "vselect(n, \"<\", vcast(m, \"i32\", [j]), vcast(f, TYPE, [i, j]), x, [[j], (), (), [i, j]])",
        0,
    ),
    (
        "vselect(f, \"<\", 1, x, vcast(d, TYPE, [i, j]), [[i, j], (), [i, j]])",
        0,
    ),
];

/// Values of integers, which wrap.
const INTEGERS: [(&str, u64); 23] = [
    ("vadd(x, y, [[i, j], [i, j]])", 0),
    ("vsub(x, z, [[i, j], [i]])", 0),
    ("vmul(x, y, [[i, j], [i, j]])", 0),
    (
        "vadd(vmul(x, 3, [[i, j], ()]), vmul(y, z, [[i, j], [i]]))",
        0,
    ),
    ("vneg(x, [i, j])", 0),
    ("vabs(x, [i, j])", 0),
    ("vminimum(x, y, [[i, j], [i, j]])", 0),
    ("vmaximum(x, y, [[i, j], [i, j]])", 0),
    ("vmaximum(z, x, [[i], [i, j]])", 0),
    (
        "vminimum(vabs(x, [i, j]), vneg(vmaximum(y, 7, [[i, j], ()])))",
        0,
    ),
    (
        "vselect(x, \"<\", y, x, 3, [[i, j], [i, j], [i, j], ()])",
        0,
    ),
    ("vselect(z, \"==\", 1, x, y, [[i], (), [i, j], [i, j]])", 0),
    ("vselect(1, \"!=\", x, z, y, [(), [i, j], [i], [i, j]])", 0),
    (
        "vselect(d, \">=\", 0.5, x, y, [[i, j], (), [i, j], [i, j]])",
        0,
    ),
    ("vselect(f, \"<\", 0, y, z, [[i, j], (), [i, j], [i]])", 0),
    (
        "vselect(vindex(j), \"<=\", vindex(9*i + 3), x, y, [(), (), [i, j], [i, j]])",
        0,
    ),
    (
        "vselect(vindex(2*j), \">\", m, x, -1, [(), [j], [i, j]])",
        0,
    ),
    ("vat(x, [i, j]) % 8", 0),
    ("vadd(x, vcast(vindex(3*j - i), TYPE), [[i, j]])", 0),
    (
        "vadd(x, vcast(vcast(vindex(1500000000*j - i + 7), \"i32\"), TYPE), [[i, j]])",
        0,
    ),
    ("vadd(x, vcast(n, TYPE, [j]), [[i, j]])", 0),
    ("vadd(x, vcast(m, TYPE, [j]), [[i, j]])", 0),
    ("vcast(vcast(x, \"i64\", [i, j]) * 5, TYPE)", 0),
];

fn values(elem: &str) -> &'static [(&'static str, u64)] {
    match elem {
        "f64" | "f32" => &VALUES,
        _ => &INTEGERS,
    }
}

/// How loops over `i` and `j` become vectors: whole rows with remainders, unaligned rows, and
/// numbers of lanes below or above a register's.
const SCHEDULES: [&str; 4] = [
    "vectorize(\"j\")",
    "skew(\"j\", \"i\", 1).vectorize(\"j\")",
    "vectorize(\"j\", 2)",
    "vectorize(\"j\", 8)",
];

const ROWS: usize = 5;
const COLUMNS: usize = 47;

/// Zeros of both signs, infinities, NaN, the smallest and the largest, where functions overflow,
/// and numbers as usual.
const SPECIAL: [f64; 32] = [
    0.0,
    -0.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1.0,
    -1.0,
    5e-324,
    -5e-324,
    1e-310,
    1e-40,
    -1e-40,
    1.2e-38,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    3.4e38,
    709.78,
    709.79,
    -708.4,
    -745.2,
    88.73,
    -87.4,
    -103.98,
    1e22,
    -1e10,
    0.5,
    2.0,
    -3.0,
    1e-20,
    22.5,
    -0.7,
];

/// `x` and `y` meet in many pairs; specials of every kind are in every lane.
fn value(tensor: usize, k: u64) -> f64 {
    let k = k as usize;
    let at = match tensor {
        0 => k * 5 + k / 9,
        _ => k * 11 + k / 4,
    };
    match at % 3 {
        0 => ((k * 37 + tensor * 11) % 101) as f64 / 9.0 - 5.0,
        _ => SPECIAL[at % SPECIAL.len()],
    }
}

/// One kernel that computes all values with all schedules.
fn kernel(elem: &str) -> (Kernel, Vec<Nest>) {
    let mut nests = Vec::new();
    for (s, schedule) in SCHEDULES.iter().enumerate() {
        for (k, (value, _)) in values(elem).iter().enumerate() {
            let value = value.replace("TYPE", &format!("{elem:?}"));
            let script = format!(
                "let x = tensor([{ROWS}, {COLUMNS}], \"{elem}\");
                 let y = tensor([{ROWS}, {COLUMNS}], \"{elem}\");
                 let z = tensor([{ROWS}], \"{elem}\");
                 let n = tensor([{COLUMNS}], \"i32\");
                 let m = tensor([{COLUMNS}], \"i64\");
                 let f = tensor([{ROWS}, {COLUMNS}], \"f32\");
                 let d = tensor([{ROWS}, {COLUMNS}], \"f64\");
                 let r{s}x{k} = eq({value}, [i, j]); let l = build(r{s}x{k});"
            );
            nests.push(nest(&script, &format!("l.{schedule}")));
        }
    }
    let kernel = codegen::generate(&nests, "kernel", Reductions::Strict).unwrap();
    (kernel, nests)
}

fn store(nests: &[Nest]) -> Store<'static> {
    let mut store: Store = HashMap::new();
    for tensor in nests.iter().flat_map(Nest::tensors) {
        let name = tensor.name().unwrap().clone();
        let which = usize::from(name.as_str() == "y");
        let values = match name.as_str() {
            "z" => Values::generate(&tensor, |k| k as f64 - 1.0),
            "n" => Values::generate(&tensor, |k| 99_999_989.0 * (k as f64 - 20.0)),
            "m" => Values::generate(&tensor, |k| 123_456_789_123.0 * (k as f64 - 23.0)),
            _ => Values::generate(&tensor, |k| value(which, k)),
        };
        store.entry(name).or_insert(values);
    }
    store
}

fn compiled(kernel: &Kernel, compiler: &Compiler, flags: &[&str]) -> Compiled {
    let options = Options {
        openmp: false,
        extra: flags.iter().map(|f| (*f).to_owned()).collect(),
        ..Options::default()
    };
    compiler.compile(kernel, &options, &control()).unwrap()
}

/// The distance of two numbers in representable numbers; it is 0 for two NaNs.
fn apart(expected: Option<Scalar>, found: Option<Scalar>, single: bool) -> u64 {
    if let (Some(Scalar::Integer(e)), Some(Scalar::Integer(f))) = (expected, found) {
        return e.abs_diff(f);
    }
    let (Some(Scalar::Float(e)), Some(Scalar::Float(f))) = (expected, found) else {
        return u64::MAX;
    };
    if e.is_nan() || f.is_nan() {
        return if e.is_nan() && f.is_nan() {
            0
        } else {
            u64::MAX
        };
    }
    if e == 0.0 && f == 0.0 && e.is_sign_negative() != f.is_sign_negative() {
        return u64::MAX;
    }
    let place = |x: f64| {
        let bits = if single {
            i64::from((x.abs() as f32).to_bits())
        } else {
            x.abs().to_bits() as i64
        };
        if x.is_sign_negative() { -bits } else { bits }
    };
    place(e).abs_diff(place(f))
}

/// Runs the kernel and compares every element.
fn computes(compiled: &Compiled, nests: &[Nest], (elem, what): (&str, &str)) {
    let kernel = compiled.kernel();
    let mut store = store(nests);
    let data: Vec<Data> = kernel
        .params
        .iter()
        .map(|p| match p.role {
            Role::Out => Data::Unset,
            _ => Data::Values(Arc::new(view(&store[p.tensor.name().unwrap()]).into())),
        })
        .collect();
    let run = run_once(compiled, &data, &control()).unwrap();
    let definitions: Vec<Expr> = nests.iter().flat_map(|n| n.definition().to_vec()).collect();
    definition::run(&definitions, &mut store).unwrap();
    let (x, y) = (&store["x"], &store["y"]);
    let single = matches!(x, Values::F32(_));
    for (s, schedule) in SCHEDULES.iter().enumerate() {
        for (k, (value, units)) in values(elem).iter().enumerate() {
            let name = format!("r{s}x{k}");
            let (expected, found) = (
                view(&store[name.as_str()]),
                run.outputs.get(&name).unwrap().view(),
            );
            for e in 0..expected.len() {
                let (a, b) = (expected.get(e), found.get(e));
                assert!(
                    apart(a, b, single) <= *units,
                    "{what}: {value} with {schedule} at {e}: {b:?} instead of {a:?}, x = {:?}, y = {:?}",
                    view(x).get(e),
                    view(y).get(e),
                );
            }
        }
    }
}

/// Compiler flags for the targets that this machine supports.
pub fn targets() -> Vec<Vec<&'static str>> {
    let mut targets = vec![vec![], vec!["-DTEML_MVEC=0"]];
    #[cfg(target_arch = "x86_64")]
    {
        targets.push(vec!["-march=x86-64"]);
        if is_x86_feature_detected!("avx") {
            targets.push(vec!["-march=x86-64", "-mavx"]);
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            targets.push(vec!["-march=x86-64", "-mavx2", "-mfma"]);
        }
        if is_x86_feature_detected!("avx512f") {
            targets.push(vec!["-march=x86-64", "-mavx512f"]);
        }
    }
    targets
}

fn all_targets(compiler: &Compiler) {
    for elem in ["f64", "f32", "i64", "i32"] {
        let (kernel, nests) = kernel(elem);
        for flags in targets() {
            let compiled = compiled(&kernel, compiler, &flags);
            computes(
                &compiled,
                &nests,
                (elem, &format!("{elem} {flags:?} {}", compiler.version())),
            );
        }
    }
}

#[test]
fn lanes_hold_what_elements_are() {
    all_targets(Compiler::find(&control()).unwrap());
}

#[test]
fn lanes_hold_what_elements_are_with_clang() {
    let versions = (16..=30).rev().map(|version| format!("clang-{version}"));
    let mut compilers =
        versions.filter_map(|name| Compiler::from_path(Path::new(&name), &control()).ok());
    if let Some(clang) = compilers.next() {
        all_targets(&clang);
    }
}

/// Whether a library refers to a function.
fn calls(compiled: &Compiled, name: &str) -> bool {
    let object = std::fs::read(compiled.path()).unwrap();
    object
        .windows(name.len())
        .any(|bytes| bytes == name.as_bytes())
}

fn exp() -> (Kernel, Vec<Nest>) {
    let script =
        "let x = tensor([1000], \"f32\"); let r = eq(vexp(x, [i]), [i]); let l = build(r);";
    let nest = nest(script, "l.vectorize(\"i\")");
    let kernel = codegen::generate(std::slice::from_ref(&nest), "kernel", Reductions::Strict);
    (kernel.unwrap(), vec![nest])
}

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
#[test]
fn the_functions_of_vectors_are_called_where_there_are_some() {
    let (kernel, _) = exp();
    let compiler = Compiler::find(&control()).unwrap();
    assert!(calls(
        &compiled(&kernel, compiler, &["-march=x86-64"]),
        "_ZGVbN4v_expf"
    ));
    let without = compiled(&kernel, compiler, &["-march=x86-64", "-DTEML_MVEC=0"]);
    assert!(!calls(&without, "_ZGV"));
}

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
#[test]
fn a_c_library_without_functions_of_vectors_is_enough() {
    let place = Command::new("cc")
        .arg("-print-file-name=libm.so.6")
        .output()
        .unwrap();
    let place = String::from_utf8(place.stdout).unwrap();
    let dir = tempfile::tempdir().unwrap();
    // Anything else that links it names both libraries.
    std::fs::write(
        dir.path().join("libm.so"),
        format!("INPUT({})\n", place.trim()),
    )
    .unwrap();
    let compiler = dir.path().join("cc");
    let script = format!("#!/bin/sh\nexec cc -L{} \"$@\"\n", dir.path().display());
    std::fs::write(&compiler, script).unwrap();
    std::fs::set_permissions(&compiler, PermissionsExt::from_mode(0o755)).unwrap();
    let compiler = Compiler::from_path(&compiler, &control()).unwrap();
    let (kernel, _) = exp();
    assert!(kernel.headers.contains(&Header::Functions));
    assert!(!calls(&compiled(&kernel, &compiler, &[]), "_ZGV"));
}
