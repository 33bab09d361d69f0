//! Reads expressions: the values of statements, and whole expressions.

use super::cursor::Cursor;
use super::line::too_deep;
use super::wrong::Wrong;
use super::{types, unsupported};
use crate::ir::domain::Domain;
use crate::ir::elem::Elem;
use crate::ir::expr::{Expr, MAX_DEPTH, Node};
use crate::ir::function::{BinaryOp, Comparison, Function, Reduction};
use crate::ir::name::Name;
use crate::ir::tensor::Shape;

/// An operation in function notation.
enum Call {
    Reduce(Reduction, Vec<Name>, Domain),
    Binary(BinaryOp),
    Apply(Function),
    /// The comparison comes after the first argument.
    Select,
    Index,
}

// Texts nest deeply, so recursive functions have small frames. Functions with large frames return
// before the recursion.
impl Cursor<'_> {
    /// An expression of operators that bind at least as tightly as `level`.
    pub(super) fn value(&mut self, level: u8) -> Result<Expr, Wrong> {
        let mut left = self.tighter(level)?;
        while let Some(op) = self.operator(level) {
            let right = self.tighter(level)?;
            left = limited(binary(op, left, right))?;
        }
        Ok(left)
    }

    fn tighter(&mut self, level: u8) -> Result<Expr, Wrong> {
        match level {
            1 => self.value(2),
            _ => self.primary(),
        }
    }

    fn operator(&mut self, level: u8) -> Option<BinaryOp> {
        if self.is_next("**") {
            // Not a product. The caller reports the unexpected operator.
            return None;
        }
        let mut ops = BinaryOp::ALL
            .into_iter()
            .filter(|op| op.precedence() == Some(level));
        ops.find(|op| self.eat(op.symbol()))
    }

    fn primary(&mut self) -> Result<Expr, Wrong> {
        if self.eat("(") {
            let value = self.argument()?;
            self.expect(")")?;
            return Ok(value);
        }
        if self.is_negated() {
            return self.negated();
        }
        match self.call() {
            Some(Call::Index) => {
                let index = self.affine()?;
                self.expect(")")?;
                if index.is_in_limits() {
                    Ok(Expr::new(Node::Index(index)))
                } else {
                    Err(format!("the index `{index}` is too large").into())
                }
            }
            Some(call) => self.called(call),
            None => self.leaf(),
        }
    }

    /// Whether a minus comes next that is not the sign of a number.
    fn is_negated(&self) -> bool {
        let rest = self.rest.trim_start().strip_prefix('-');
        let rest = rest.map(str::trim_start);
        let starts = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '(' | '-');
        rest.is_some_and(|rest| rest.starts_with(starts))
    }

    /// `-x`, which is `neg(x)`.
    fn negated(&mut self) -> Result<Expr, Wrong> {
        self.expect("-")?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep().into());
        }
        let value = self.primary()?;
        self.depth -= 1;
        applied(Call::Apply(Function::Neg), vec![value])
    }

    fn leaf(&mut self) -> Result<Expr, Wrong> {
        let starts_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '∞' | '.');
        let starts_value = |c: char| c.is_ascii_alphabetic() || c == '_' || starts_number(c);
        let rest = self.rest.trim_start();
        if !rest.starts_with(starts_value) {
            let wrong = unsupported::before_condition(rest);
            return Err(wrong.unwrap_or_else(|| self.expected("a value")));
        }
        if rest.starts_with(starts_number) {
            return Ok(Expr::new(Node::Constant(self.number()?)));
        }
        let tensor = self.tensor()?;
        let index = if tensor.is_scalar() {
            Vec::new()
        } else {
            self.index(&tensor)?
        };
        Ok(Expr::element(&tensor, index))
    }

    /// The start of a reduction or a function, up to its arguments. Tensors may have the same
    /// names, but without a parenthesis after them.
    fn call(&mut self) -> Option<Call> {
        let start = self.rest;
        let known = self.iterators.as_ref().map_or(0, Vec::len);
        for reduction in Reduction::ALL {
            if self.eat(&format!("{}(", reduction.name())) {
                // `min` and `max` are also functions, without a colon.
                if let Ok((over, within)) = self.ranged(":") {
                    return Some(Call::Reduce(reduction, over, within));
                }
                self.rest = start;
                if let Some(iterators) = &mut self.iterators {
                    iterators.truncate(known);
                }
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

    /// The arguments of `call`, and its closing parenthesis.
    fn called(&mut self, mut call: Call) -> Result<Expr, Wrong> {
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
                Call::Apply(Function::Select(_)) if args.len() == 2 && !self.is_next(",") => {
                    let wrong = unsupported::after_condition(self.rest);
                    return Err(wrong.unwrap_or_else(|| self.expected("`,`")));
                }
                _ => self.expect(",")?,
            }
            if let (2, Call::Apply(Function::Select(_))) = (args.len(), &call) {
                self.elem = self.upcoming(outside);
            }
        }
        self.elem = outside;
        if let (Call::Binary(op), true) = (&call, self.is_next(",")) {
            self.at = self.rest.trim_start();
            return Err(unsupported::third_argument(*op));
        }
        self.expect(")")?;
        applied(call, args)
    }

    /// The element type of the next value, or `otherwise` if it contains no tensors.
    fn upcoming(&self, otherwise: Elem) -> Elem {
        types::of_value(self.rest, self.tensors).unwrap_or(otherwise)
    }

    fn select(&mut self) -> Result<Call, Wrong> {
        let comparison = self.comparison()?;
        Ok(Call::Apply(Function::Select(comparison)))
    }

    fn comparison(&mut self) -> Result<Comparison, Wrong> {
        let comparison = Comparison::ALL.into_iter().find(|c| self.eat(c.symbol()));
        comparison.ok_or_else(|| self.expected("a comparison"))
    }

    /// Two values that are compared.
    pub(super) fn compared(&mut self) -> Result<(Comparison, [Expr; 2]), Wrong> {
        let outside = self.elem;
        self.elem = self.upcoming(outside);
        let left = self.argument()?;
        let comparison = self.comparison()?;
        let right = self.argument()?;
        self.elem = outside;
        Ok((comparison, [left, right]))
    }

    /// A value one level deeper.
    fn argument(&mut self) -> Result<Expr, Wrong> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep().into());
        }
        let value = self.value(1)?;
        self.depth -= 1;
        Ok(value)
    }

    /// Names up to `end`.
    fn iterators(&mut self, end: &str) -> Result<Vec<Name>, Wrong> {
        let mut names = vec![self.iterator()?];
        while self.eat(",") {
            names.push(self.iterator()?);
        }
        self.expect(end)?;
        Ok(names)
    }

    /// Names up to `end`, with given ranges.
    fn ranged(&mut self, end: &str) -> Result<(Vec<Name>, Domain), Wrong> {
        let (mut names, mut ranges) = (Vec::new(), Vec::new());
        loop {
            let name = self.iterator()?;
            self.iterators
                .iter_mut()
                .for_each(|all| all.push(name.clone()));
            if self.eat("in ") {
                ranges.push((name.clone(), self.range()?));
            }
            names.push(name);
            if !self.eat(",") {
                break;
            }
        }
        // Ranges that limit iterators of the target.
        if end == ":" && self.eat("where ") {
            loop {
                let name = self.iterator()?;
                self.expect("in ")?;
                ranges.push((name, self.range()?));
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.expect(end)?;
        Ok((names, Domain::new(ranges)))
    }

    /// A top-level expression: virtual, an assignment, or a value.
    pub(super) fn root(&mut self) -> Result<Expr, Wrong> {
        if self.eat("[") {
            let formals = if self.eat("]") {
                Vec::new()
            } else {
                self.iterators("]")?
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
        if !self.eat("=") {
            Ok(target)
        } else {
            let value = self.value(1)?;
            let within = if self.eat("where ") {
                self.ranged("")?.1
            } else {
                Domain::default()
            };
            let elsewhere = if self.eat("elsewhere") {
                Some(self.number()?)
            } else {
                None
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

fn applied(call: Call, args: Vec<Expr>) -> Result<Expr, Wrong> {
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
        _ => return Err("expected other arguments".to_owned().into()),
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

fn limited(expr: Expr) -> Result<Expr, Wrong> {
    if expr.is_in_limits() {
        Ok(expr)
    } else {
        Err(too_deep().into())
    }
}
