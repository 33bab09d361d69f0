//! Kernels and limits that the tests share.

use std::path::{Path, PathBuf};
use teml::codegen::{Kernel, Param, Role};
use teml::ir::{Elem, Name, Shape, Tensor};
use teml::legality::Proof;
use teml::runtime::{Compiled, Control, Data, Options, Run, RuntimeError, compile, run_once};

/// Limits that keep waiting short, workers of this build, and a cache shared by all tests of this
/// build.
pub fn control() -> Control {
    Control {
        worker: PathBuf::from(env!("CARGO_BIN_EXE_teml")),
        cache_dir: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")),
        threads: 2,
        // Tests count calls, so other load must not add repetitions.
        patient: false,
        ..Control::default()
    }
}

pub fn tensor(name: &str, extents: &[i64], elem: Elem) -> Tensor {
    let shape = Shape::new(extents, elem).unwrap();
    Tensor::new(shape, elem).named(Name::new(name).unwrap())
}

pub fn param(name: &str, extents: &[i64], elem: Elem, role: Role) -> Param {
    let tensor = tensor(name, extents, elem);
    Param { tensor, role }
}

pub fn kernel(symbol: &str, source: &str, params: Vec<Param>) -> Kernel {
    Kernel {
        symbol: symbol.to_owned(),
        headers: Default::default(),
        function: source.to_owned(),
        sizes: Vec::new(),
        params,
        vectors: Default::default(),
        plan: String::new(),
        proof: Proof::Proved,
    }
}

/// A kernel on `double x[16]`, which it reads and writes; `body` is its C.
pub fn on_x(symbol: &str, includes: &str, body: &str) -> Kernel {
    let source = format!("{includes}\nvoid {symbol}(double *x) {{\n{body}\n}}\n");
    kernel(
        symbol,
        &source,
        vec![param("x", &[16], Elem::F64, Role::InOut)],
    )
}

pub fn compiled(kernel: &Kernel) -> Compiled {
    compile(kernel, &Options::default(), &control()).unwrap()
}

/// Runs a kernel of [`on_x`] with `x` all ones.
pub fn run_on_x(kernel: &Kernel, control: &Control) -> Result<Run, RuntimeError> {
    run_once(&compiled(kernel), &[Data::Constant(1.0.into())], control)
}

/// A C loop that never ends.
pub const ENDLESS: &str = "for (volatile int go = 1; go;) { x[0] = 0.0; }";

/// Whether this process still runs; a zombie does not.
pub fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim().starts_with('Z'))
}
