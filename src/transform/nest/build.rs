//! The entry of `build` in the table of operations; the lowering itself is in `lower`.

use crate::lower::build::build;
use crate::transform::{Arg, Error, ErrorKind, Kind, Op, Param, Returns, Value};

/// `build(assignment)`.
pub static BUILD: Op = Op {
    name: "build",
    params: &[Param::new("assignment", Kind::Expr)],
    returns: Returns::Nest,
    file: include_str!("../../lower/build.rs"),
    call: |args| match args {
        [Arg::Expr(assignment)] => match build(assignment) {
            Ok(nest) => Ok(Value::Nest(nest)),
            Err(e) => Err(Error::from(e).at_argument(0)),
        },
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};
