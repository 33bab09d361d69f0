//! The entry of `build` in the table of operations; the lowering itself is in `lower`.

use crate::ir::Expr;
use crate::lower::build::build;
use crate::{Error, Op, Param, Returns, Value};

const ASSIGNMENT: Param<Expr> = Param::new("assignment");

/// `build(assignment)`.
pub static BUILD: Op = Op {
    name: "build",
    params: &[ASSIGNMENT.any()],
    returns: Returns::Nest,
    file: include_str!("../../core/lower/build.rs"),
    call: |args| match build(args.get(&ASSIGNMENT)?) {
        Ok(nest) => Ok(Value::Nest(nest)),
        Err(why) => Err(Error::from(why).at(&ASSIGNMENT)),
    },
};
