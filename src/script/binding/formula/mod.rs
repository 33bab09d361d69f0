//! Functions of indices that are arithmetic, computed without Rhai: tensors have millions of
//! elements, and each call of a closure takes microseconds.
//!
//! Supported are literals, parameters, numbers that the closure has captured, `+ - * / %`,
//! comparisons, `! && ||`, `if … else …` and `to_float`, with Rhai's meaning: integers are checked,
//! and become floats beside a float. Other closures are left to Rhai, as are closures that fail at
//! an element, so that all messages are Rhai's own.

#[cfg(test)]
mod tests;

use crate::ir::Shape;
use crate::library::on_all_cores;
use crate::runtime::Scalar;
use rhai::{AST, ASTNode, Dynamic, Expr, FnCallExpr, FnPtr, Module, NativeCallContext, Stmt};
use rhai::{ScriptFuncDef, StmtBlock};

/// How many rows of a tensor a core computes at a time.
const ROWS: usize = 1 << 12;

/// A function of indices.
#[derive(Debug)]
pub enum Formula {
    Constant(Value),
    /// The index at this place.
    Index(usize),
    Negative(Box<Formula>),
    Not(Box<Formula>),
    ToFloat(Box<Formula>),
    Binary(Binary, Box<[Formula; 2]>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    If(Box<[Formula; 3]>),
}

/// The value of a part of a formula at one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Int(i64),
    Float(f64),
    Bool(bool),
}

#[derive(Clone, Copy, Debug)]
pub enum Binary {
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Formula {
    /// The formula of a closure of `indices` indices; `None` if it is left to Rhai.
    pub fn of(context: &NativeCallContext, closure: &FnPtr, indices: usize) -> Option<Formula> {
        let captured: Vec<Dynamic> = closure.iter_curry().cloned().collect();
        let count = captured.len() + indices;
        let mut modules = context.iter_namespaces();
        let function = modules.find_map(|m| m.get_script_fn(closure.fn_name(), count))?;
        let captured: Option<Vec<Value>> = captured.into_iter().map(Value::of).collect();
        let reader = Reader {
            names: function.params.iter().map(|name| name.as_str()).collect(),
            captured: captured?,
        };
        reader.body(function)
    }

    /// The numbers at all elements of a tensor, in row-major order; `None` if one is left to Rhai.
    pub fn numbers(&self, extents: &[u64]) -> Option<Vec<Scalar>> {
        let Some((row, outer)) = extents.split_last() else {
            return Some(vec![self.number(&[])?]);
        };
        let rows: u64 = outer.iter().product();
        let blocks: Vec<u64> = (0..rows).step_by(ROWS).collect();
        let of_block = |first: &u64| -> Option<Vec<Scalar>> {
            let mut numbers = Vec::new();
            for k in *first..rows.min(first + ROWS as u64) {
                let mut at = indices(k, outer);
                at.push(0);
                for x in 0..row.cast_signed() {
                    at[outer.len()] = x;
                    numbers.push(self.number(&at)?);
                }
            }
            Some(numbers)
        };
        // Not on threads that others share: one of them may wait for this one.
        let blocks = on_all_cores(&blocks, of_block).into_iter();
        let blocks: Option<Vec<_>> = blocks.collect();
        Some(blocks?.concat())
    }

    fn number(&self, index: &[i64]) -> Option<Scalar> {
        match self.at(index)? {
            Value::Int(x) => Some(Scalar::Integer(x)),
            Value::Float(x) => Some(Scalar::Float(x)),
            Value::Bool(_) => None,
        }
    }

    fn at(&self, index: &[i64]) -> Option<Value> {
        Some(match self {
            Formula::Constant(value) => *value,
            Formula::Index(k) => Value::Int(*index.get(*k)?),
            Formula::Negative(of) => match of.at(index)? {
                Value::Int(x) => Value::Int(x.checked_neg()?),
                Value::Float(x) => Value::Float(-x),
                Value::Bool(_) => return None,
            },
            Formula::ToFloat(of) => match of.at(index)? {
                Value::Int(x) => Value::Float(x as f64),
                Value::Float(x) => Value::Float(x),
                Value::Bool(_) => return None,
            },
            Formula::Not(of) => Value::Bool(!of.holds(index)?),
            Formula::Binary(op, of) => op.of(of[0].at(index)?, of[1].at(index)?)?,
            Formula::And(all) => Value::Bool(first(all, index, false)?),
            Formula::Or(all) => Value::Bool(first(all, index, true)?),
            Formula::If(of) => {
                if of[0].holds(index)? {
                    of[1].at(index)?
                } else {
                    of[2].at(index)?
                }
            }
        })
    }

    fn holds(&self, index: &[i64]) -> Option<bool> {
        match self.at(index)? {
            Value::Bool(holds) => Some(holds),
            Value::Int(_) | Value::Float(_) => None,
        }
    }
}

/// The indices of an element by its place in row-major order, as scripts have them.
pub fn indices(place: u64, extents: &[u64]) -> Vec<i64> {
    let index = Shape::of_extents(extents.iter().copied()).index_of(place);
    index.into_iter().map(u64::cast_signed).collect()
}

/// Evaluates conditions in order until one is `last`; the result is `last` if one is, otherwise its
/// negation. Later conditions are not evaluated.
fn first(all: &[Formula], index: &[i64], last: bool) -> Option<bool> {
    for one in all {
        if one.holds(index)? == last {
            return Some(last);
        }
    }
    Some(!last)
}

impl Value {
    fn of(captured: Dynamic) -> Option<Value> {
        let value = captured.flatten();
        let int = value.as_int().ok().map(Value::Int);
        let float = || value.as_float().ok().map(Value::Float);
        int.or_else(float)
            .or_else(|| value.as_bool().ok().map(Value::Bool))
    }

    fn float(self) -> Option<f64> {
        match self {
            Value::Int(x) => Some(x as f64),
            Value::Float(x) => Some(x),
            Value::Bool(_) => None,
        }
    }
}

impl Binary {
    fn named(symbol: &str) -> Option<Binary> {
        Some(match symbol {
            "+" => Binary::Plus,
            "-" => Binary::Minus,
            "*" => Binary::Times,
            "/" => Binary::Divide,
            "%" => Binary::Modulo,
            "==" => Binary::Equal,
            "!=" => Binary::Unequal,
            "<" => Binary::Less,
            "<=" => Binary::LessOrEqual,
            ">" => Binary::Greater,
            ">=" => Binary::GreaterOrEqual,
            _ => return None,
        })
    }

    fn of(self, left: Value, right: Value) -> Option<Value> {
        if let (Value::Int(x), Value::Int(y)) = (left, right) {
            return Some(match self {
                Binary::Plus => Value::Int(x.checked_add(y)?),
                Binary::Minus => Value::Int(x.checked_sub(y)?),
                Binary::Times => Value::Int(x.checked_mul(y)?),
                Binary::Divide => Value::Int(x.checked_div(y)?),
                Binary::Modulo => Value::Int(x.checked_rem(y)?),
                _ => Value::Bool(self.compares(x, y)),
            });
        }
        if let (Value::Bool(_), _) | (_, Value::Bool(_)) = (left, right) {
            return match (self, left, right) {
                (Binary::Plus | Binary::Minus | Binary::Times | Binary::Divide, ..) => None,
                (Binary::Modulo, ..) => None,
                (_, Value::Bool(x), Value::Bool(y)) => Some(Value::Bool(self.compares(x, y))),
                // Values of different types are not equal, and neither is less.
                _ => Some(Value::Bool(matches!(self, Binary::Unequal))),
            };
        }
        let (x, y) = (left.float()?, right.float()?);
        Some(match self {
            Binary::Plus => Value::Float(x + y),
            Binary::Minus => Value::Float(x - y),
            Binary::Times => Value::Float(x * y),
            Binary::Divide => Value::Float(x / y),
            Binary::Modulo => Value::Float(x % y),
            _ => Value::Bool(self.compares(x, y)),
        })
    }

    fn compares<T: PartialOrd>(self, x: T, y: T) -> bool {
        match self {
            Binary::Equal => x == y,
            Binary::Unequal => x != y,
            Binary::Less => x < y,
            Binary::LessOrEqual => x <= y,
            Binary::Greater => x > y,
            _ => x >= y,
        }
    }
}

/// Reads the body of a closure.
struct Reader<'f> {
    /// The parameters, those for captured values first.
    names: Vec<&'f str>,
    captured: Vec<Value>,
}

impl Reader<'_> {
    /// The formula of a function's body. Rhai reveals the body when it walks through a script.
    fn body(&self, function: &ScriptFuncDef) -> Option<Formula> {
        let mut alone = Module::new();
        alone.set_script_fn(function.clone());
        let mut found = Vec::new();
        AST::new_from_module(alone).walk(&mut |path: &[ASTNode]| {
            if let [ASTNode::Stmt(statement)] = path {
                found.push(self.statement(statement));
            }
            true
        });
        match found.len() {
            1 => found.pop()?,
            _ => None,
        }
    }

    fn block(&self, block: &StmtBlock) -> Option<Formula> {
        match block.statements() {
            [only] => self.statement(only),
            _ => None,
        }
    }

    fn statement(&self, statement: &Stmt) -> Option<Formula> {
        match statement {
            Stmt::Expr(expr) => self.expr(expr),
            Stmt::FnCall(call, _) => self.operator(call),
            Stmt::Block(block) => self.block(block),
            Stmt::If(parts, _) => Some(Formula::If(Box::new([
                self.expr(&parts.expr)?,
                self.block(&parts.body)?,
                self.block(&parts.branch)?,
            ]))),
            _ => None,
        }
    }

    fn expr(&self, expr: &Expr) -> Option<Formula> {
        Some(match expr {
            Expr::IntegerConstant(x, _) => Formula::Constant(Value::Int(*x)),
            Expr::FloatConstant(x, _) => Formula::Constant(Value::Float(**x)),
            Expr::BoolConstant(x, _) => Formula::Constant(Value::Bool(*x)),
            Expr::Variable(variable, ..) if variable.2.is_empty() => {
                let name = variable.1.as_str();
                // Of two parameters of one name the last one is meant.
                let k = self.names.iter().rposition(|n| *n == name)?;
                match k.checked_sub(self.captured.len()) {
                    Some(index) => Formula::Index(index),
                    None => Formula::Constant(*self.captured.get(k)?),
                }
            }
            Expr::FnCall(call, _) => self.operator(call)?,
            Expr::Stmt(block) => self.block(block)?,
            Expr::And(all, _) => Formula::And(self.all(all)?),
            Expr::Or(all, _) => Formula::Or(self.all(all)?),
            Expr::Dot(parts, ..) => method(self.expr(&parts.lhs)?, &parts.rhs)?,
            _ => return None,
        })
    }

    fn operator(&self, call: &FnCallExpr) -> Option<Formula> {
        call.op_token.as_ref()?;
        let mut args = self.all(&call.args)?.into_iter();
        Some(
            match (call.name.as_str(), args.next()?, args.next(), args.next()) {
                ("-", of, None, _) => Formula::Negative(Box::new(of)),
                ("+", of, None, _) => of,
                ("!", of, None, _) => Formula::Not(Box::new(of)),
                (symbol, left, Some(right), None) => {
                    Formula::Binary(Binary::named(symbol)?, Box::new([left, right]))
                }
                _ => return None,
            },
        )
    }

    fn all(&self, all: &[Expr]) -> Option<Vec<Formula>> {
        all.iter().map(|expr| self.expr(expr)).collect()
    }
}

/// Applies a chain of method calls to a number.
fn method(of: Formula, called: &Expr) -> Option<Formula> {
    match called {
        Expr::MethodCall(call, _) if call.name == "to_float" && call.args.is_empty() => {
            Some(Formula::ToFloat(Box::new(of)))
        }
        Expr::Dot(parts, ..) => method(method(of, &parts.lhs)?, &parts.rhs),
        _ => None,
    }
}
