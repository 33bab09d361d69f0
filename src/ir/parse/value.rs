//! Reads expressions: the values of statements, and whole expressions.

use super::cursor::Cursor;
use super::too_deep;
use crate::ir::expr::{Expr, Index, MAX_DEPTH, Node};
use crate::ir::function::{BinaryOp, Comparison, Function, Reduction};
use crate::ir::name::Name;
use crate::ir::tensor::Shape;

impl Cursor<'_> {
    /// An expression of operators that bind at least as tightly as `level`.
    pub(super) fn value(&mut self, level: u8) -> Result<Expr, String> {
        if level > 2 {
            return self.primary();
        }
        let mut left = self.value(level + 1)?;
        loop {
            let ops = BinaryOp::ALL
                .into_iter()
                .filter(|op| op.precedence() == Some(level));
            let Some(op) = ops.into_iter().find(|op| self.eat(op.symbol())) else {
                return Ok(left);
            };
            let right = self.value(level + 1)?;
            left = limited(binary(op, left, right))?;
        }
    }

    fn primary(&mut self) -> Result<Expr, String> {
        if self.eat("(") {
            let value = self.nested(|cursor| cursor.value(1))?;
            self.expect(")")?;
            return Ok(value);
        }
        if self
            .rest
            .trim_start()
            .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '∞'))
        {
            return Ok(Expr::new(Node::Constant(self.number()?)));
        }
        if let Some(call) = self.call()? {
            return Ok(call);
        }
        let tensor = self.tensor()?;
        let index = match tensor.is_scalar() {
            true => Index::Forbidden,
            false => Index::At(self.index(&tensor)?),
        };
        Ok(Expr::access(tensor, index))
    }

    /// A reduction or a function; tensors may be named like it, but no parenthesis follows them.
    fn call(&mut self) -> Result<Option<Expr>, String> {
        let call = |name: &str| format!("{name}(");
        let start = self.rest;
        for reduction in Reduction::ALL {
            if self.eat(&call(reduction.name())) {
                // `min` and `max` are functions, too, of which no colon is a part.
                if let Ok(over) = self.iterators(":") {
                    let body = self.nested(|cursor| cursor.value(1))?;
                    self.expect(")")?;
                    return Ok(Some(Expr::new(Node::Reduce {
                        reduction,
                        over,
                        shape: Shape::of_extents([]),
                        body,
                    })));
                }
                self.rest = start;
            }
        }
        for op in BinaryOp::ALL {
            if op.precedence().is_none() && self.eat(&call(op.symbol())) {
                let left = self.nested(|cursor| cursor.value(1))?;
                self.expect(",")?;
                let right = self.nested(|cursor| cursor.value(1))?;
                self.expect(")")?;
                return limited(binary(op, left, right)).map(Some);
            }
        }
        if self.eat("select(") {
            let left = self.nested(|cursor| cursor.value(1))?;
            let comparison = Comparison::ALL.into_iter().find(|c| self.eat(c.symbol()));
            let comparison = comparison.ok_or_else(|| "expected a comparison".to_owned())?;
            return self.function(Function::Select(comparison), vec![left]);
        }
        match Function::PLAIN
            .into_iter()
            .find(|f| self.eat(&call(f.name())))
        {
            Some(function) => self.function(function, Vec::new()),
            None => Ok(None),
        }
    }

    /// A function whose first arguments are read already.
    fn function(
        &mut self,
        function: Function,
        mut args: Vec<Expr>,
    ) -> Result<Option<Expr>, String> {
        while args.len() < function.arity() {
            args.push(self.nested(|cursor| cursor.value(1))?);
            let last = args.len() == function.arity();
            // The comparison has separated the first two arguments of a choice.
            self.expect(if last { ")" } else { "," })?;
        }
        limited(Expr::new(Node::Apply {
            function,
            shape: Shape::of_extents([]),
            args,
        }))
        .map(Some)
    }

    /// What `read` reads, one level further down.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep());
        }
        let value = read(self)?;
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

    /// An expression that is no part of another one: virtual, an assignment, or a value.
    pub(super) fn root(&mut self) -> Result<Expr, String> {
        if self.eat("[") {
            let formals = match self.eat("]") {
                true => Vec::new(),
                false => self.iterators("]")?,
            };
            self.expect("->")?;
            let (shape, body) = (Shape::of_extents([]), self.value(1)?);
            return Ok(Expr::new(Node::Virtual {
                formals,
                shape,
                body,
            }));
        }
        let target = self.value(1)?;
        match self.eat("=") {
            false => Ok(target),
            true => Ok(Expr::new(Node::Assign {
                target,
                value: self.value(1)?,
            })),
        }
    }
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
