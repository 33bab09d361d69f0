//! Reads expressions: the values of statements, and whole expressions.

use super::cursor::Cursor;
use super::line::too_deep;
use super::types;
use crate::ir::domain::Domain;
use crate::ir::elem::Elem;
use crate::ir::expr::{Expr, MAX_DEPTH, Node};
use crate::ir::function::{BinaryOp, Comparison, Function, Reduction};
use crate::ir::name::Name;
use crate::ir::tensor::Shape;

/// What is written like a function.
enum Call {
    Reduce(Reduction, Vec<Name>, Domain),
    Binary(BinaryOp),
    Apply(Function),
    /// Its comparison comes after the first argument.
    Select,
    Index,
}

// Texts nest deeply: what recurses has a small frame, and what has a large one returns before.
impl Cursor<'_> {
    /// An expression of operators that bind at least as tightly as `level`.
    pub(super) fn value(&mut self, level: u8) -> Result<Expr, String> {
        let mut left = self.tighter(level)?;
        while let Some(op) = self.operator(level) {
            let right = self.tighter(level)?;
            left = limited(binary(op, left, right))?;
        }
        Ok(left)
    }

    fn tighter(&mut self, level: u8) -> Result<Expr, String> {
        match level {
            1 => self.value(2),
            _ => self.primary(),
        }
    }

    fn operator(&mut self, level: u8) -> Option<BinaryOp> {
        let mut ops = BinaryOp::ALL
            .into_iter()
            .filter(|op| op.precedence() == Some(level));
        ops.find(|op| self.eat(op.symbol()))
    }

    fn primary(&mut self) -> Result<Expr, String> {
        if self.eat("(") {
            let value = self.argument()?;
            self.expect(")")?;
            return Ok(value);
        }
        match self.call() {
            Some(Call::Index) => {
                let index = self.affine()?;
                self.expect(")")?;
                match index.is_in_limits() {
                    true => Ok(Expr::new(Node::Index(index))),
                    false => Err(format!("the index `{index}` is too large")),
                }
            }
            Some(call) => self.called(call),
            None => self.leaf(),
        }
    }

    fn leaf(&mut self) -> Result<Expr, String> {
        let starts_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '∞');
        if self.rest.trim_start().starts_with(starts_number) {
            return Ok(Expr::new(Node::Constant(self.number()?)));
        }
        let tensor = self.tensor()?;
        let index = match tensor.is_scalar() {
            true => Vec::new(),
            false => self.index(&tensor)?,
        };
        Ok(Expr::element(&tensor, index))
    }

    /// The start of a reduction or a function, up to its arguments. Tensors may be named like it,
    /// but no parenthesis follows them.
    fn call(&mut self) -> Option<Call> {
        let start = self.rest;
        for reduction in Reduction::ALL {
            if self.eat(&format!("{}(", reduction.name())) {
                // `min` and `max` are functions, too, of which no colon is a part.
                if let Ok((over, within)) = self.ranged(":") {
                    return Some(Call::Reduce(reduction, over, within));
                }
                self.rest = start;
            }
        }
        let functions = Function::PLAIN.map(|f| (f.name(), Call::Apply(f)));
        BinaryOp::ALL
            .into_iter()
            .filter(|op| op.precedence().is_none())
            .map(|op| (op.symbol(), Call::Binary(op)))
            .chain(functions)
            .chain([("select", Call::Select), ("index", Call::Index)])
            .chain(Elem::ALL.map(|e| (e.name(), Call::Apply(Function::Cast(e)))))
            .find(|(name, _)| self.eat(&format!("{name}(")))
            .map(|(_, call)| call)
    }

    /// The arguments of `call`, and the parenthesis that closes it.
    fn called(&mut self, mut call: Call) -> Result<Expr, String> {
        let count = match &call {
            Call::Reduce(..) => 1,
            Call::Binary(_) => 2,
            Call::Apply(function) => function.arity(),
            Call::Select => 4,
            Call::Index => 0,
        };
        let outside = self.elem;
        if matches!(call, Call::Select | Call::Apply(Function::Cast(_))) {
            self.elem = self.upcoming(outside);
        }
        let mut args = Vec::with_capacity(count);
        loop {
            args.push(self.argument()?);
            if args.len() == count {
                break;
            }
            match call {
                Call::Select => call = self.select()?,
                _ => self.expect(",")?,
            }
            if let (2, Call::Apply(Function::Select(_))) = (args.len(), &call) {
                self.elem = self.upcoming(outside);
            }
        }
        self.elem = outside;
        self.expect(")")?;
        applied(call, args)
    }

    /// The element type of the value that comes next; `otherwise` if it has no tensors.
    fn upcoming(&self, otherwise: Elem) -> Elem {
        types::of_value(self.rest, self.tensors).unwrap_or(otherwise)
    }

    fn select(&mut self) -> Result<Call, String> {
        let comparison = Comparison::ALL.into_iter().find(|c| self.eat(c.symbol()));
        match comparison {
            Some(comparison) => Ok(Call::Apply(Function::Select(comparison))),
            None => Err(format!(
                "expected a comparison before `{}`",
                self.rest.trim()
            )),
        }
    }

    /// A value one level further down.
    fn argument(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep());
        }
        let value = self.value(1)?;
        self.depth -= 1;
        Ok(value)
    }

    /// Names up to `end`.
    fn iterators(&mut self, end: &str) -> Result<Vec<Name>, String> {
        let mut names = vec![self.iterator()?];
        while self.eat(",") {
            names.push(self.iterator()?);
        }
        self.expect(end)?;
        Ok(names)
    }

    /// Names up to `end`, and the ranges that are given to some of them.
    fn ranged(&mut self, end: &str) -> Result<(Vec<Name>, Domain), String> {
        let (mut names, mut ranges) = (Vec::new(), Vec::new());
        loop {
            let name = self.iterator()?;
            if self.eat("in ") {
                ranges.push((name.clone(), self.range()?));
            }
            names.push(name);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(end)?;
        Ok((names, Domain::new(ranges)))
    }

    /// An expression that is no part of another one: virtual, an assignment, or a value.
    pub(super) fn root(&mut self) -> Result<Expr, String> {
        if self.eat("[") {
            let formals = match self.eat("]") {
                true => Vec::new(),
                false => self.iterators("]")?,
            };
            self.expect("->")?;
            self.elem = self.upcoming(self.elem);
            let (shape, body) = (Shape::of_extents([]), self.value(1)?);
            return Ok(Expr::new(Node::Virtual {
                formals,
                shape,
                body,
            }));
        }
        self.elem = self.upcoming(self.elem);
        let target = self.value(1)?;
        match self.eat("=") {
            false => Ok(target),
            true => {
                let value = self.value(1)?;
                let within = match self.eat("where ") {
                    true => self.ranged("")?.1,
                    false => Domain::default(),
                };
                let elsewhere = match self.eat("elsewhere") {
                    true => Some(self.number()?),
                    false => None,
                };
                Ok(Expr::new(Node::Assign {
                    target,
                    value,
                    within,
                    elsewhere,
                }))
            }
        }
    }
}

fn applied(call: Call, args: Vec<Expr>) -> Result<Expr, String> {
    let shape = Shape::of_extents([]);
    let mut each = args.into_iter();
    let node = match (call, each.next(), each.next()) {
        (Call::Reduce(reduction, over, within), Some(body), None) => Node::Reduce {
            reduction,
            over,
            within,
            shape,
            body,
        },
        (Call::Binary(op), Some(left), Some(right)) => return limited(binary(op, left, right)),
        (Call::Apply(function), first, second) => Node::Apply {
            function,
            shape,
            args: first.into_iter().chain(second).chain(each).collect(),
        },
        _ => return Err("expected other arguments".to_owned()),
    };
    limited(Expr::new(node))
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::new(Node::Binary {
        op,
        shape: Shape::of_extents([]),
        left,
        right,
    })
}

fn limited(expr: Expr) -> Result<Expr, String> {
    match expr.is_in_limits() {
        true => Ok(expr),
        false => Err(too_deep()),
    }
}
