//! Element-wise functions, reductions and their names. Both interpreters and generated code agree
//! on these definitions to the last bit, except for the rounding of library functions.
//!
//! Arithmetic is IEEE 754 for floating point and wraps for integers. Integer division truncates.
//! `min(a, b)` is `a` if `a < b`. Otherwise it is `b`, unless `b` is a NaN: the result is a NaN
//! only if both operands are. Comparisons with a NaN are false, except `!=`.
//!
//! `mod(a, b)` is Euclid's remainder: the number in 0..|b| that differs from `a` by a multiple of
//! `b`. So `mod(i - 1, n)` is the index before `i` in a ring of `n`, also where `i - 1` is
//! negative. It does not match the division, which truncates.
//!
//! Only conversions and comparisons mix element types. A conversion to floating point rounds to the
//! nearest representable number, ties to even. A number beyond the greatest one becomes ∞. From
//! floating point to an integer, a conversion truncates towards 0 and saturates. A NaN becomes 0.
//! From `i64` to `i32` it wraps, like arithmetic.

use super::constant::Constant;
use super::elem::Elem;

/// An element-wise operation of two operands: the *op* of TeML Fig. 1, and four more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// The lesser operand.
    Min,
    /// The greater operand.
    Max,
    /// The left operand to the power of the right one. Floating point only.
    Pow,
    /// The remainder of a division, never negative. Integers only.
    Mod,
}

impl BinaryOp {
    /// The value with which an update by the operation leaves an element as it is.
    pub fn identity(self, elem: Elem) -> Option<Constant> {
        let reduction = match self {
            BinaryOp::Add | BinaryOp::Sub => Reduction::Sum,
            BinaryOp::Mul | BinaryOp::Div => Reduction::Prod,
            BinaryOp::Min => Reduction::Min,
            BinaryOp::Max => Reduction::Max,
            BinaryOp::Pow | BinaryOp::Mod => return None,
        };
        Some(reduction.identity(elem))
    }

    /// All of them, in the paper's order.
    pub const ALL: [BinaryOp; 8] = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Min,
        BinaryOp::Max,
        BinaryOp::Pow,
        BinaryOp::Mod,
    ];

    /// The operator in the canonical text. Operations without an operator have a function name.
    pub const fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            BinaryOp::Pow => "pow",
            BinaryOp::Mod => "mod",
        }
    }

    /// The operation's name in scripts: `add`, `sub`, `mul`, `div`, `minimum`, `maximum`,
    /// `pow`, `mod`.
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::Div => "div",
            BinaryOp::Min => "minimum",
            BinaryOp::Max => "maximum",
            BinaryOp::Pow => "pow",
            BinaryOp::Mod => "mod",
        }
    }

    /// How tightly the operator binds. `None` if it is written as a function.
    pub fn precedence(self) -> Option<u8> {
        match self {
            BinaryOp::Add | BinaryOp::Sub => Some(1),
            BinaryOp::Mul | BinaryOp::Div => Some(2),
            BinaryOp::Min | BinaryOp::Max | BinaryOp::Pow | BinaryOp::Mod => None,
        }
    }

    /// Whether `a op b` equals `b op a`, where 0 equals -0.
    pub fn commutes(self) -> bool {
        !matches!(
            self,
            BinaryOp::Sub | BinaryOp::Div | BinaryOp::Pow | BinaryOp::Mod
        )
    }

    /// Whether the operation is defined for this element type.
    pub fn takes(self, elem: Elem) -> bool {
        match self {
            BinaryOp::Pow => elem.is_float(),
            BinaryOp::Mod => !elem.is_float(),
            _ => true,
        }
    }
}

/// An element-wise function that is not a binary operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// The opposite number.
    Neg,
    /// The absolute value.
    Abs,
    /// The square root.
    Sqrt,
    /// The exponential function.
    Exp,
    /// The natural logarithm.
    Log,
    /// The hyperbolic tangent.
    Tanh,
    /// The sine of radians.
    Sin,
    /// The cosine of radians.
    Cos,
    /// The greatest whole number that is not greater.
    Floor,
    /// The least whole number that is not less.
    Ceil,
    /// The nearest whole number, the even one of two that are as near.
    Round,
    /// The error function.
    Erf,
    /// The third argument if the first two compare like this, otherwise the fourth.
    Select(Comparison),
    /// The argument, converted to this element type.
    Cast(Elem),
}

impl Function {
    /// All functions of one argument.
    pub const PLAIN: [Function; 12] = [
        Function::Neg,
        Function::Abs,
        Function::Sqrt,
        Function::Exp,
        Function::Log,
        Function::Tanh,
        Function::Sin,
        Function::Cos,
        Function::Floor,
        Function::Ceil,
        Function::Round,
        Function::Erf,
    ];

    /// The name in scripts and in the canonical text.
    pub fn name(self) -> &'static str {
        match self {
            Function::Neg => "neg",
            Function::Abs => "abs",
            Function::Sqrt => "sqrt",
            Function::Exp => "exp",
            Function::Log => "log",
            Function::Tanh => "tanh",
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Floor => "floor",
            Function::Ceil => "ceil",
            Function::Round => "round",
            Function::Erf => "erf",
            Function::Select(_) => "select",
            Function::Cast(elem) => elem.name(),
        }
    }

    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        match self {
            Function::Select(_) => 4,
            _ => 1,
        }
    }

    /// Whether the function is defined for this element type.
    pub fn takes(self, elem: Elem) -> bool {
        elem.is_float()
            || matches!(
                self,
                Function::Neg | Function::Abs | Function::Select(_) | Function::Cast(_)
            )
    }
}

/// A comparison of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

impl Comparison {
    /// All of them. An operator comes before its own prefixes, so that the parser matches it first.
    pub const ALL: [Comparison; 6] = [
        Comparison::LessEqual,
        Comparison::Less,
        Comparison::GreaterEqual,
        Comparison::Greater,
        Comparison::Equal,
        Comparison::NotEqual,
    ];

    /// The operator in scripts and in the canonical text.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
        }
    }

    /// Whether the comparison holds.
    pub fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::LessEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterEqual => left >= right,
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
        }
    }
}

/// A reduction, by its combining operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    Sum,
    /// The product.
    Prod,
    /// The least value. ∞, or the greatest integer, if there is no number.
    Min,
    /// The greatest value. -∞, or the least integer, if there is no number.
    Max,
}

impl Reduction {
    /// All of them.
    pub const ALL: [Reduction; 4] = [
        Reduction::Sum,
        Reduction::Prod,
        Reduction::Min,
        Reduction::Max,
    ];

    /// The name in the canonical text.
    pub fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Prod => "prod",
            Reduction::Min => "min",
            Reduction::Max => "max",
        }
    }

    /// The operation that combines a value with the accumulator.
    pub fn op(self) -> BinaryOp {
        match self {
            Reduction::Sum => BinaryOp::Add,
            Reduction::Prod => BinaryOp::Mul,
            Reduction::Min => BinaryOp::Min,
            Reduction::Max => BinaryOp::Max,
        }
    }

    /// The initial value: the identity of the operation.
    pub fn identity(self, elem: Elem) -> Constant {
        match self {
            Reduction::Sum => Constant::small(elem, 0),
            Reduction::Prod => Constant::small(elem, 1),
            Reduction::Min => Constant::greatest(elem),
            Reduction::Max => Constant::least(elem),
        }
    }
}
