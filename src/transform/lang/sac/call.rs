//! Functions of arrays in SaC's library.

use super::eval::{Evaluator, integers, shifted, shown};
use super::syntax::{Dimensions, Function as Definition, Node, Type};
use super::value::{Array, Piece, Scalar, whole};
use crate::ir::{Affine, BinaryOp, Elem, Expr, Function, Node as Tree, Reduction, Shape};
use crate::lang::term::Extent;
use crate::problem::{Problem, Span};

/// The most calls of functions of the text inside of each other.
const MAX_CALLS: usize = 32;

/// Every function, with its number of arguments and its meaning.
const FUNCTIONS: &[(&str, usize, Meaning)] = &[
    ("shape", 1, Meaning::Shape),
    ("dim", 1, Meaning::Rank),
    ("take", 2, Meaning::Take),
    ("drop", 2, Meaning::Drop),
    ("reverse", 1, Meaning::Reverse),
    ("transpose", 1, Meaning::Transpose),
    ("genarray", 2, Meaning::Genarray),
    ("sum", 1, Meaning::Reduce(Reduction::Sum)),
    ("prod", 1, Meaning::Reduce(Reduction::Prod)),
    ("minval", 1, Meaning::Reduce(Reduction::Min)),
    ("maxval", 1, Meaning::Reduce(Reduction::Max)),
    ("min", 2, Meaning::Extreme(BinaryOp::Min)),
    ("max", 2, Meaning::Extreme(BinaryOp::Max)),
    ("abs", 1, Meaning::Each(Function::Abs)),
    ("sqrt", 1, Meaning::Each(Function::Sqrt)),
    ("exp", 1, Meaning::Each(Function::Exp)),
    ("log", 1, Meaning::Each(Function::Log)),
    ("tanh", 1, Meaning::Each(Function::Tanh)),
    ("sin", 1, Meaning::Each(Function::Sin)),
    ("cos", 1, Meaning::Each(Function::Cos)),
    ("tod", 1, Meaning::Convert(Elem::F64)),
    ("tof", 1, Meaning::Convert(Elem::F32)),
    ("toi", 1, Meaning::Convert(Elem::I64)),
];

#[derive(Clone, Copy)]
enum Meaning {
    Shape,
    Rank,
    Take,
    Drop,
    Reverse,
    Transpose,
    Genarray,
    Reduce(Reduction),
    Extreme(BinaryOp),
    Each(Function),
    Convert(Elem),
}

impl Evaluator {
    /// `function(arguments)`.
    pub(super) fn call(
        &mut self,
        (function, name_span): &(String, Span),
        arguments: &[Node],
        span: &Span,
    ) -> Result<Array, Problem> {
        let own = self.functions.iter().find(|f| f.name.0 == *function);
        if let Some(own) = own.cloned() {
            return self.call_own(&own, arguments, span);
        }
        let found = FUNCTIONS.iter().find(|(name, ..)| name == function);
        let Some((_, takes, meaning)) = found else {
            let own = self.functions.iter().map(|f| f.name.0.as_str());
            let names: Vec<&str> = own
                .chain(FUNCTIONS.iter().map(|(name, ..)| *name))
                .collect();
            let message = format!("there is no function `{function}`");
            let help = format!("there are {}", names.join(", "));
            return Err(Problem::new(name_span, message).help(help));
        };
        if arguments.len() != *takes {
            let given = arguments.len();
            let s = if *takes == 1 { "" } else { "s" };
            let message = format!("`{function}` takes {takes} argument{s}, not {given}");
            return Err(Problem::new(span, message));
        }
        match (*meaning, arguments) {
            (Meaning::Extreme(op), [left, right]) => self.extreme(op, (left, right), span),
            (Meaning::Take, [count, of]) => self.slice(count, of, true),
            (Meaning::Drop, [count, of]) => self.slice(count, of, false),
            (Meaning::Genarray, [shape, value]) => {
                let extents = self.value(shape)?;
                let extents = integers(&extents, &shape.span)?;
                let value = self.value(value)?;
                let extents = extents.iter().map(|e| {
                    let negative = || Problem::new(&shape.span, format!("an extent of {e}"));
                    u64::try_from(*e).map_err(|_| negative())
                });
                let extents: Vec<u64> = extents.collect::<Result<_, _>>()?;
                let outer = whole(&extents, self.fresh_for(extents.len()));
                let pieces = value.pieces.into_iter().map(|piece| Piece {
                    domain: outer.iter().cloned().chain(piece.domain).collect(),
                    value: piece.value,
                });
                let shape = extents.iter().copied().chain(value.shape).collect();
                let pieces = pieces.collect();
                Ok(Array { shape, pieces })
            }
            (meaning, [of]) => {
                let array = self.value(of)?;
                self.of_one(meaning, array, span)
            }
            _ => Err(Problem::new(
                span,
                format!("`{function}` takes other arguments"),
            )),
        }
    }

    /// A call of a function of the text: its body knows its parameters and sizes alone.
    fn call_own(
        &mut self,
        function: &Definition,
        arguments: &[Node],
        span: &Span,
    ) -> Result<Array, Problem> {
        let (name, takes) = (&function.name.0, function.parameters.len());
        if arguments.len() != takes {
            let given = arguments.len();
            let s = if takes == 1 { "" } else { "s" };
            let message = format!("`{name}` takes {takes} argument{s}, not {given}");
            return Err(Problem::new(span, message).see(&function.name.1, "defined here"));
        }
        if self.calls == MAX_CALLS {
            let message = format!("`{name}` is called in more than {MAX_CALLS} calls");
            return Err(Problem::new(span, message)
                .help("a recursion ends where a condition is known: `dim(a) == 1 ? … : …`"));
        }
        let mut scope = self.sizes.clone();
        for (argument, (wanted, parameter)) in arguments.iter().zip(&function.parameters) {
            let value = self.value(argument)?;
            let value = self.typed(value, wanted, &argument.span);
            let see = |problem: Problem| {
                problem.see(&parameter.1, format!("the parameter `{}`", parameter.0))
            };
            scope.push((parameter.0.clone(), value.map_err(see)?));
        }
        let around = std::mem::replace(&mut self.scope, scope);
        self.calls += 1;
        let value = self.body(function);
        self.calls -= 1;
        self.scope = around;
        value.map_err(|problem| {
            let is_named = problem.related.iter().any(|(place, _)| place == span);
            if is_named {
                problem
            } else {
                problem.see(span, format!("in this call of `{name}`"))
            }
        })
    }

    fn body(&mut self, function: &Definition) -> Result<Array, Problem> {
        for statement in &function.body {
            let value = self.value(&statement.value)?;
            self.scope.push((statement.target.0.clone(), value));
        }
        let value = self.value(&function.value)?;
        self.typed(value, &function.result, &function.value.span)
    }

    /// A value as one of a type: its numbers are converted, and its shape is checked.
    fn typed(&mut self, value: Array, wanted: &Type, span: &Span) -> Result<Array, Problem> {
        let fits = match &wanted.dimensions {
            Dimensions::Any => true,
            Dimensions::Rank(rank) => value.rank() == *rank,
            Dimensions::Given(extents) => {
                let extents = extents.iter().map(|(extent, span)| match extent {
                    Extent::Number(extent) => Ok(*extent),
                    Extent::Name(name) => {
                        let size = self.sizes.iter().find(|(n, _)| n == name);
                        let size = size.and_then(|(_, array)| array.as_scalar()?.as_integer());
                        let size = size.and_then(|size| u64::try_from(size).ok());
                        size.ok_or_else(|| Problem::no_size(span, name))
                    }
                });
                value.shape == extents.collect::<Result<Vec<u64>, _>>()?
            }
        };
        if !fits {
            let (shape, type_of) = (shown(&value.shape), wanted.dimensions.shown());
            let message = format!("a value of shape {shape} in place of {type_of}");
            return Err(Problem::new(span, message));
        }
        // Affine integers stay, so that they can be indices.
        let is_integer = |value: &Scalar| matches!(value, Scalar::Integer(_));
        if wanted.elem == Elem::I64 && value.pieces.iter().all(|p| is_integer(&p.value)) {
            return Ok(value);
        }
        let made = value.map(|value| Some(Scalar::Tree(converted(value, wanted.elem)?)));
        made.ok_or_else(|| Problem::new(span, "this number has no value of that type"))
    }

    fn of_one(&mut self, meaning: Meaning, array: Array, span: &Span) -> Result<Array, Problem> {
        let no_value = || Problem::new(span, "this function has no value of that type");
        match meaning {
            Meaning::Shape => {
                let extents = array.shape.iter().enumerate();
                let pieces = extents.map(|(k, extent)| {
                    let at = i64::try_from(k).unwrap_or(i64::MAX);
                    let extent = i64::try_from(*extent).unwrap_or(i64::MAX);
                    Piece {
                        domain: vec![(self.fresh(), at, at + 1)],
                        value: Scalar::integer(extent),
                    }
                });
                let shape = vec![array.rank() as u64];
                let pieces = pieces.collect();
                Ok(Array { shape, pieces })
            }
            Meaning::Rank => {
                let rank = i64::try_from(array.rank()).unwrap_or(i64::MAX);
                Ok(Array::scalar(Scalar::integer(rank)))
            }
            Meaning::Reduce(reduction) => Ok(Array::scalar(self.reduced(reduction, &array, span)?)),
            Meaning::Each(function) => array
                .map(|v| v.apply(function, self.float))
                .ok_or_else(no_value),
            Meaning::Convert(elem) => {
                let converted = array.map(|value| Some(Scalar::Tree(converted(value, elem)?)));
                converted.ok_or_else(no_value)
            }
            Meaning::Reverse => {
                let Some(extent) = array.shape.first() else {
                    return Err(Problem::new(span, "a scalar has no order to reverse"));
                };
                let extent = i64::try_from(*extent).unwrap_or(i64::MAX);
                let pieces = array.pieces.iter().map(|piece| {
                    let mut domain = piece.domain.clone();
                    if let Some((_, low, high)) = domain.first_mut() {
                        (*low, *high) = (extent - *high, extent - *low);
                    }
                    let value = piece.value.substitute(&|name| {
                        let is_first = domain.first().is_some_and(|(n, ..)| n == name);
                        let turned = Affine::iterator(name.clone()).times(-1);
                        is_first.then(|| turned.plus_constant(extent - 1))
                    });
                    Piece { domain, value }
                });
                let pieces = pieces.collect();
                let shape = array.shape.clone();
                Ok(Array { shape, pieces })
            }
            Meaning::Transpose => {
                let mut shape = array.shape;
                shape.reverse();
                let pieces = array.pieces.into_iter().map(|mut piece| {
                    piece.domain.reverse();
                    piece
                });
                let pieces = pieces.collect();
                Ok(Array { shape, pieces })
            }
            Meaning::Take | Meaning::Drop | Meaning::Genarray | Meaning::Extreme(_) => {
                Err(no_value())
            }
        }
    }

    /// `take` and `drop`: a count for each leading dimension, from the end if it is negative.
    fn slice(&mut self, count: &Node, of: &Node, takes: bool) -> Result<Array, Problem> {
        let counts = self.value(count)?;
        let counts = integers(&counts, &count.span)?;
        let array = self.value(of)?;
        if counts.len() > array.rank() {
            let (given, shape) = (counts.len(), shown(&array.shape));
            let message = format!("{given} counts for an array of shape {shape}");
            return Err(Problem::new(&count.span, message));
        }
        let Array {
            mut shape,
            mut pieces,
        } = array;
        for (d, count) in counts.into_iter().enumerate() {
            let extent = i64::try_from(shape[d]).unwrap_or(i64::MAX);
            let size = i64::try_from(count.unsigned_abs()).unwrap_or(i64::MAX);
            if size > extent {
                let word = if takes { "take" } else { "drop" };
                let message = format!("`{word}` of {size} elements of {extent}");
                return Err(Problem::new(&of.span, message));
            }
            let (low, high) = match (takes, count >= 0) {
                (true, true) => (0, size),
                (true, false) => (extent - size, extent),
                (false, true) => (size, extent),
                (false, false) => (0, extent - size),
            };
            let cut = pieces.into_iter().filter_map(|mut piece| {
                let (_, from, to) = piece.domain.get_mut(d)?;
                (*from, *to) = ((*from).max(low), (*to).min(high));
                shifted(piece, d, -low)
            });
            pieces = cut.collect();
            shape[d] = (high - low).unsigned_abs();
        }
        Ok(Array { shape, pieces }.tidy())
    }
}

/// A value converted to another type.
fn converted(value: &Scalar, elem: Elem) -> Option<Expr> {
    let tree = value.tree(value.elem())?;
    match tree.elem() == elem {
        true => Some(tree),
        false if value.as_integer().is_some() => value.tree(elem),
        false => Some(Expr::new(Tree::Apply {
            function: Function::Cast(elem),
            shape: Shape::of_extents([]),
            args: vec![tree],
        })),
    }
}
