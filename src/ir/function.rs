//! Element-wise functions and reductions, and what each is called.
//!
//! Arithmetic is IEEE 754 for floating point and wraps for integers; the division of integers
//! truncates. `min(a, b)` is `a` where `a < b`, and else `b`, unless `b` is no number: a NaN
//! comes out only where both operands are one. Comparisons with a NaN do not hold, but for `!=`.

use super::constant::Constant;
use super::elem::Elem;

/// An element-wise operation of two operands: the *op* of TeML Fig. 1, and three more.
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
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// The left operand to the power of the right one; of floating-point numbers only.
    Pow,
}

impl BinaryOp {
    /// All of them, in the paper's order.
    pub const ALL: [BinaryOp; 7] = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Min,
        BinaryOp::Max,
        BinaryOp::Pow,
    ];

    /// The operator in C and in the canonical text, where what binds no operands is a function.
    pub const fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            BinaryOp::Pow => "pow",
        }
    }

    /// The operation's name in scripts: `add`, `sub`, `mul`, `div`, `minimum`, `maximum`,
    /// `pow`.
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::Div => "div",
            BinaryOp::Min => "minimum",
            BinaryOp::Max => "maximum",
            BinaryOp::Pow => "pow",
        }
    }

    /// How tightly the operator binds; `None` for what is written as a function.
    pub fn precedence(self) -> Option<u8> {
        match self {
            BinaryOp::Add | BinaryOp::Sub => Some(1),
            BinaryOp::Mul | BinaryOp::Div => Some(2),
            BinaryOp::Min | BinaryOp::Max | BinaryOp::Pow => None,
        }
    }

    /// Whether `a op b` equals `b op a`, as 0 equals -0.
    pub fn commutes(self) -> bool {
        !matches!(self, BinaryOp::Sub | BinaryOp::Div | BinaryOp::Pow)
    }

    /// Whether it has values in this element type.
    pub fn takes(self, elem: Elem) -> bool {
        elem.is_float() || self != BinaryOp::Pow
    }
}

/// Any other element-wise function.
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
    /// The third argument where the first two compare like this, and else the fourth.
    Select(Comparison),
}

impl Function {
    /// All functions of one argument.
    pub const PLAIN: [Function; 8] = [
        Function::Neg,
        Function::Abs,
        Function::Sqrt,
        Function::Exp,
        Function::Log,
        Function::Tanh,
        Function::Sin,
        Function::Cos,
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
            Function::Select(_) => "select",
        }
    }

    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        match self {
            Function::Select(_) => 4,
            _ => 1,
        }
    }

    /// Whether it has values in this element type.
    pub fn takes(self, elem: Elem) -> bool {
        elem.is_float() || matches!(self, Function::Neg | Function::Abs | Function::Select(_))
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
    /// All of them; what starts like another one stands before it, so that it is read first.
    pub const ALL: [Comparison; 6] = [
        Comparison::LessEqual,
        Comparison::Less,
        Comparison::GreaterEqual,
        Comparison::Greater,
        Comparison::Equal,
        Comparison::NotEqual,
    ];

    /// The operator in scripts, in C and in the canonical text.
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

/// What a reduction makes of all values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The product.
    Prod,
    /// The least value; ∞, or the greatest integer, where there is no number.
    Min,
    /// The greatest value; -∞, or the least integer, where there is no number.
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

    /// The operation that adds a value to what is there.
    pub fn op(self) -> BinaryOp {
        match self {
            Reduction::Sum => BinaryOp::Add,
            Reduction::Prod => BinaryOp::Mul,
            Reduction::Min => BinaryOp::Min,
            Reduction::Max => BinaryOp::Max,
        }
    }

    /// What it starts from: the value that changes none.
    pub fn identity(self, elem: Elem) -> Constant {
        match self {
            Reduction::Sum => Constant::small(elem, 0),
            Reduction::Prod => Constant::small(elem, 1),
            Reduction::Min => Constant::greatest(elem),
            Reduction::Max => Constant::least(elem),
        }
    }
}
