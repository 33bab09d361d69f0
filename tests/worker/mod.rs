//! Helpers to run kernels: a worker, and the interpreter's results in the order of elements.

use teml::interp::store::Data;
use teml::runtime::{Control, View};

/// A worker of two threads.
pub fn control() -> Control {
    Control {
        worker: env!("CARGO_BIN_EXE_teml").into(),
        threads: 2,
        ..Control::default()
    }
}

/// The elements of a tensor.
pub fn view<'a>(values: &'a Data<'a>) -> View<'a> {
    match values {
        Data::F64(d) => View::F64(d),
        Data::F32(d) => View::F32(d),
        Data::I32(d) => View::I32(d),
        Data::I64(d) => View::I64(d),
    }
}
