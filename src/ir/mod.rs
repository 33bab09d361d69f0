//! The trees: element types, shapes, affine index expressions, tensor expressions, loop nests.
//!
//! No I/O, no C, no script. Trees are immutable and shared; equality is structural.

mod affine;
mod arg;
mod constant;
mod domain;
mod elem;
mod expr;
mod function;
mod invocation;
mod lineage;
mod name;
mod nest;
mod notation;
mod parse;
mod path;
mod program;
mod range;
mod substitute;
mod tensor;
mod text;
mod tree;

pub use affine::Affine;
pub use arg::{Arg, Arrow, Iters, LoopRef, Number};
pub use constant::Constant;
pub use domain::Domain;
pub use elem::Elem;
pub use expr::{Expr, Index, MAX_DEPTH, MAX_SIZE, Node};
pub use function::{BinaryOp, Comparison, Function, Reduction};
pub use invocation::{Given, Invocation};
pub use lineage::{Birth, Effects, Lineage, Role};
pub use name::{Name, NameError};
pub use nest::{Nest, Part};
pub use parse::{ParseError, parse_affine, parse_expr, parse_nest};
pub use path::{Path, Site, Step, Taken};
pub use program::{Program, Variable};
pub use range::{Hints, Prefetch, Range, Schedule, Sharing};
pub use substitute::fresh_name;
pub use tensor::{Shape, ShapeError, Tensor, Triangle};
pub use text::{Infix, Line};
pub use tree::{Fill, Loop, Origin, Stmt, Tree};
