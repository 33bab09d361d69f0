//! The entry of `nest` in the table of operations; the parser is in `lower`.

use crate::args::Text;
use crate::lower::program::program;
use crate::{Error, Op, Param, Returns, Value};

const TEXT: Param<Text> = Param::new("text");

/// `nest(text)`.
pub static NEST: Op = Op {
    name: "nest",
    params: &[TEXT.any()],
    returns: Returns::Nest,
    file: include_str!("../../core/lower/program.rs"),
    call: |args| match program(args.get(&TEXT)?) {
        Ok(nest) => Ok(Value::Nest(nest)),
        Err(why) => Err(Error::from(why).at(&TEXT)),
    },
};
