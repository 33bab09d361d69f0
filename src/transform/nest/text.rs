//! The entry of `nest` in the table of operations; the reading itself is in `lower`.

use crate::lower::program::program;
use crate::transform::args::Text;
use crate::transform::{Error, Op, Param, Returns, Value};

const TEXT: Param<Text> = Param::new("text");

/// `nest(text)`.
pub static NEST: Op = Op {
    name: "nest",
    params: &[TEXT.any()],
    returns: Returns::Nest,
    file: include_str!("../../lower/program.rs"),
    call: |args| match program(args.get(&TEXT)?) {
        Ok(nest) => Ok(Value::Nest(nest)),
        Err(why) => Err(Error::from(why).at(&TEXT)),
    },
};
