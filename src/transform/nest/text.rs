//! The entry of `nest` in the table of operations; the reading itself is in `lower`.

use crate::lower::program::program;
use crate::transform::{Arg, Error, ErrorKind, Kind, Op, Param, Returns, Value};

/// `nest(text)`.
pub static NEST: Op = Op {
    name: "nest",
    params: &[Param::new("text", Kind::Text)],
    returns: Returns::Nest,
    file: include_str!("../../lower/program.rs"),
    call: |args| match args {
        [Arg::Word(text)] => match program(text) {
            Ok(nest) => Ok(Value::Nest(nest)),
            Err(e) => Err(Error::from(ErrorKind::Program(Box::new(e))).at_argument(0)),
        },
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};
