//! `A < B`, `A <= B`, `A > B`, `A >= B`, `A == 0`, `A != 0`, `a & b`, `a | b`, `!a` and `where` compare
//! entries and choose by comparisons, without storing the result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! print(A > 0);
//! print(where(A > x, A, 0));
//! print(where((A > 0) & !(A > 1), A * A, -1));
//! let count = sum(A == 0);
//! print(count);
//! ```
//!
//! ```text
//! f64 A[4][5]
//! [_1, _2] -> select(A[_1][_2] > 0, 1, 0)
//! f64 A[4][5], x[5]
//! [_1, _2] -> select(A[_1][_2] > x[_2], A[_1][_2], 0)
//! f64 A[4][5]
//! [_1, _2] -> select(select(A[_1][_2] > 0, select(A[_1][_2] > 1, 0, 1), 0) != 0, A[_1][_2] * A[_1][_2], -1)
//! f64 count[], A[4][5]
//! count[] = sum(_3, _4: select(A[_3][_4] == 0, 1, 0))
//! ```
//!
//! A comparison is 1 where it holds and 0 elsewhere, of the type of what is compared; its operands
//! are broadcast as those of `A + B`. `where(condition, yes, no)` is `yes` where the condition is not
//! 0, and `no` elsewhere. So `where(A > 0, A, 0)` is `vselect(A, ">", 0, A, 0)`. `a & b`, `a | b` and
//! `!a` combine comparisons; `&&`, `||` and `if` take truth values of a script, which a tensor is
//! not.
//!
//! `A == B` and `A != B` of two tensors have two readings, and are refused: `vselect(A, "==", B, 1, 0)`
//! compares entries, and `equal(A, B)` compares definitions.
//!
//! Refuses: what `vselect` refuses; `a & b`, `a | b` and `!a` of anything but comparisons.
//!
//! Source: NumPy's comparisons and `where`, in the form of TeML eq. 30.

use super::infer::abstraction;
use super::operand::{Operand, describe};
use super::select::vselect;
use crate::ir::{Comparison, Constant, Expr, Function, Name, Node, Number};
use crate::{Error, Op, Param, Returns, Value, mistake};

const LEFT: Param<Operand> = Param::new("left");
const RIGHT: Param<Operand> = Param::new("right");
const OPERAND: Param<Expr> = Param::new("operand");
const CONDITION: Param<Expr> = Param::new("condition");
const YES: Param<Operand> = Param::new("yes");
const NO: Param<Operand> = Param::new("no");

const TRUE: Operand<'static> = Operand::Number(Number::Int(1));
const FALSE: Operand<'static> = Operand::Number(Number::Int(0));

macro_rules! comparison {
    ($name:literal, $comparison:expr) => {
        Op {
            name: $name,
            params: &[LEFT.any(), RIGHT.any()],
            returns: Returns::Expr,
            file: include_str!("masks.rs"),
            call: |args| {
                let compared = [args.get(&LEFT)?, args.get(&RIGHT)?];
                vselect(compared, $comparison, [TRUE, FALSE], &[]).map(Value::Expr)
            },
        }
    };
}

/// `left < right`.
pub static LESS: Op = comparison!("<", Comparison::Less);
/// `left <= right`.
pub static LESS_EQUAL: Op = comparison!("<=", Comparison::LessEqual);
/// `left > right`.
pub static GREATER: Op = comparison!(">", Comparison::Greater);
/// `left >= right`.
pub static GREATER_EQUAL: Op = comparison!(">=", Comparison::GreaterEqual);
/// `left == right`.
pub static EQUAL: Op = comparison!("==", Comparison::Equal);
/// `left != right`.
pub static NOT_EQUAL: Op = comparison!("!=", Comparison::NotEqual);

macro_rules! combination {
    ($name:literal, $yes:expr, $no:expr) => {
        Op {
            name: $name,
            params: &[LEFT.any(), RIGHT.any()],
            returns: Returns::Expr,
            file: include_str!("masks.rs"),
            call: |args| {
                let (left, right) = (args.get(&LEFT)?, args.get(&RIGHT)?);
                let left = mask(left).map_err(|error| error.at(&LEFT))?;
                mask(right).map_err(|error| error.at(&RIGHT))?;
                chosen(left, $yes(right), $no(right)).map(Value::Expr)
            },
        }
    };
}

/// `left & right`.
pub static AND: Op = combination!("&", |right| right, |_| FALSE);
/// `left | right`.
pub static OR: Op = combination!("|", |_| TRUE, |right| right);
/// `!operand`.
pub static NOT: Op = Op {
    name: "!",
    params: &[OPERAND.any()],
    returns: Returns::Expr,
    file: include_str!("masks.rs"),
    call: |args| {
        let operand = mask(Operand::Expr(args.get(&OPERAND)?));
        let operand = operand.map_err(|error| error.at(&OPERAND))?;
        chosen(operand, FALSE, TRUE).map(Value::Expr)
    },
};

/// `where(condition, yes, no)`.
pub static WHERE: Op = Op {
    name: "where",
    params: &[CONDITION.any(), YES.any(), NO.any()],
    returns: Returns::Expr,
    file: include_str!("masks.rs"),
    call: |args| chosen(args.get(&CONDITION)?, args.get(&YES)?, args.get(&NO)?).map(Value::Expr),
};

/// `yes` where the condition is not 0, and `no` elsewhere.
fn chosen(condition: &Expr, yes: Operand<'_>, no: Operand<'_>) -> Result<Expr, Error> {
    let of_no_comparison = || {
        let compared = [Operand::Expr(condition), FALSE];
        vselect(compared, Comparison::NotEqual, [yes, no], &[])
    };
    let Some(compared) = Compared::of(condition) else {
        return of_no_comparison();
    };
    let values = if compared.holds { [yes, no] } else { [no, yes] };
    match (compared.sides[0].operand(), compared.sides[1].operand()) {
        (Operand::Number(_), Operand::Number(_)) => of_no_comparison(),
        (left, right) => vselect([left, right], compared.comparison, values, &[]),
    }
}

/// A condition that is a single comparison.
struct Compared {
    comparison: Comparison,
    sides: [Side; 2],
    /// Whether it is 1 where the comparison holds; otherwise it is 1 where it does not.
    holds: bool,
}

enum Side {
    Number(Number),
    Expr(Expr),
}

impl Side {
    fn operand(&self) -> Operand<'_> {
        match self {
            Side::Number(number) => Operand::Number(*number),
            Side::Expr(expr) => Operand::Expr(expr),
        }
    }
}

impl Compared {
    fn of(condition: &Expr) -> Option<Compared> {
        let (formals, body) = match condition.node() {
            Node::Virtual { formals, body, .. } => (formals.as_slice(), body),
            _ => ([].as_slice(), condition),
        };
        let Node::Apply { function, args, .. } = body.node() else {
            return None;
        };
        let (Function::Select(comparison), [left, right, yes, no]) = (function, args.as_slice())
        else {
            return None;
        };
        let holds = match (bit(yes)?, bit(no)?) {
            (true, false) => true,
            (false, true) => false,
            _ => return None,
        };
        Some(Compared {
            comparison: *comparison,
            sides: [side(formals, left)?, side(formals, right)?],
            holds,
        })
    }
}

/// A side of a comparison whose entries are at `formals`, as an operand.
fn side(formals: &[Name], entry: &Expr) -> Option<Side> {
    Some(match entry.node() {
        Node::Constant(Constant::F64(value)) => Side::Number(Number::Float(*value)),
        Node::Constant(Constant::F32(value)) => Side::Number(Number::Float(f64::from(*value))),
        Node::Constant(Constant::I32(value)) => Side::Number(Number::Int(i64::from(*value))),
        Node::Constant(Constant::I64(value)) => Side::Number(Number::Int(*value)),
        _ if formals.is_empty() => Side::Expr(entry.clone()),
        _ => Side::Expr(abstraction(formals.to_vec(), entry.clone()).ok()?),
    })
}

/// Whether a constant is 1; nothing if it is neither 1 nor 0.
fn bit(expr: &Expr) -> Option<bool> {
    let Node::Constant(value) = expr.node() else {
        return None;
    };
    match value {
        _ if value.is_zero() => Some(false),
        _ if *value == Constant::small(value.elem(), 1) => Some(true),
        _ => None,
    }
}

/// An operand that is made of comparisons: its entries are 1 or 0.
fn mask(operand: Operand<'_>) -> Result<&Expr, Error> {
    let what = match operand {
        Operand::Expr(expr) if is_mask(expr) => return Ok(expr),
        Operand::Expr(expr) => describe(expr),
        Operand::Number(number) => number.to_string(),
    };
    let error = mistake(format!(
        "{what} is not a comparison, and `&`, `|` and `!` combine comparisons"
    ));
    Err(error.help("compare it first: `(A > 0) & (x != 0)`; integers have no operations on bits"))
}

fn is_mask(expr: &Expr) -> bool {
    match expr.node() {
        Node::Virtual { body, .. } => is_mask(body),
        Node::Apply {
            function: Function::Select(_),
            args,
            ..
        } => {
            let mut values = args.iter().skip(2);
            values.all(|value| bit(value).is_some() || is_mask(value))
        }
        _ => false,
    }
}
