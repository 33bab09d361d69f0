//! Trees: element types, shapes, affine index expressions, tensor expressions, loop nests.
//!
//! This module has no I/O, C or script code. Trees are immutable and shared: an operation returns a
//! new tree and never changes its argument. Equality is structural.

mod affine;
mod at_numbers;
mod at_sizes;
mod closest;
mod condition;
mod constant;
mod digit;
mod domain;
mod elem;
mod entries;
mod expr;
mod function;
mod integer;
mod literal;
mod mode;
mod name;
mod nest;
mod notation;
mod operator;
mod parse;
mod program;
mod range;
mod replaced;
mod role;
mod segment;
mod statement;
mod substitute;
mod tensor;
mod text;

pub use affine::Affine;
pub use closest::closest;
pub use condition::{Accepted, Condition};
pub use constant::Constant;
pub use digit::Digit;
pub use domain::Domain;
pub use elem::Elem;
pub use entries::{Entries, Order};
pub use expr::{Expr, Index, MAX_DEPTH, MAX_SIZE, Node};
pub use function::{BinaryOp, Comparison, Function, Reduction};
pub use integer::{ceil_div, gcd};
pub use literal::{Arrow, Iters, LoopRef, Number};
pub use mode::{Axis, Level, Mode, Schedule, Sharing};
pub use name::{Name, NameError, Quotient, Size};
pub use nest::{
    Arg, Birth, Effects, Given, Invocation, Law, Lineage, Loop, Nest, Part, Path, Site, Step,
    Taken, Tree,
};
pub use operator::Operator;
pub use parse::{ParseError, Read, parse_affine, parse_expr, parse_nest, read_nest};
pub use program::{Program, Variable};
pub use range::{Hints, Prefetch, Range};
pub use role::Role;
pub use segment::{Lookup, Segment};
pub use statement::{Fill, Origin, Stmt};
pub use substitute::fresh_name;
pub use tensor::{Shape, ShapeError, Space, Strides, Tensor, Triangle};
pub use text::{Infix, Line, point_text};
