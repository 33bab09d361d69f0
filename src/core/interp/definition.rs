//! Evaluates assignments by definition. Every element of the target gets the value of the
//! expression over the old store (TeIL Fig. 9, rule St-Stmt).

use super::Fault;
use super::code::{AnyCode, CheckedIndex, Code, Reduce, Stop, cost, evaluate, for_each};
pub use super::domain::Span;
use super::domain::{Domains, Linear, Read};
use super::store::{Data, Number, Store, elements, entries};
use crate::ir::{
    Affine, BinaryOp, Constant, Domain, Elem, Expr, Function, Index, Infix, Lookup, Name, Node,
    Range, Segment, Tensor,
};

/// Evaluates the assignments of `definition` in order, each over the store that the previous ones
/// left.
///
/// # Errors
/// [`Fault`].
pub fn run(definition: &[Expr], store: &mut Store<'_>) -> Result<(), Fault> {
    for assignment in definition {
        let (name, data) = match assignment.elem() {
            Elem::F64 => assigned::<f64>(assignment, store)?,
            Elem::F32 => assigned::<f32>(assignment, store)?,
            Elem::I32 => assigned::<i32>(assignment, store)?,
            Elem::I64 => assigned::<i64>(assignment, store)?,
        };
        store.insert(name, data);
    }
    Ok(())
}

fn assigned<T: Number>(
    assignment: &Expr,
    store: &Store<'_>,
) -> Result<(Name, Data<'static>), Fault> {
    let statement = Statement::<T>::new(assignment, store)?;
    let mut result = match statement.elsewhere {
        Some(value) => vec![value; statement.old.len()],
        None => statement.old.to_vec(),
    };
    let mut point = statement.first();
    while let Some(at) = point {
        let (k, value) = statement.at(&at)?;
        result[k] = value;
        point = statement.next(at);
    }
    Ok((statement.name.clone(), T::data(result)))
}

/// An assignment whose elements can be evaluated one by one.
pub struct Statement<'s, T> {
    /// The target.
    pub name: Name,
    /// The values of each iterator of the target. They may depend on earlier iterators.
    domain: Vec<Span>,
    old: &'s [T],
    /// The value of elements that no point of the domain assigns.
    elsewhere: Option<T>,
    target: CheckedIndex,
    fold: Option<(BinaryOp, Vec<Span>)>,
    value: Code<'s, T>,
    stop: Stop<'s>,
}

impl<'s, T: Number> Statement<'s, T> {
    /// Prepares `assignment` for evaluation over `store`.
    ///
    /// # Errors
    /// A tensor has no data, an index leaves its tensor, or the expression is not an assignment.
    pub fn new(assignment: &Expr, store: &'s Store<'_>) -> Result<Statement<'s, T>, Fault> {
        let meaningless = || Fault::Meaningless(Infix(assignment).to_string());
        let Node::Assign {
            target,
            value,
            within,
            elsewhere,
        } = assignment.node()
        else {
            return Err(meaningless());
        };
        let Node::Access { tensor, index } = target.node() else {
            return Err(meaningless());
        };
        let index: &[Affine] = match index {
            Index::At(index) => index,
            _ => &[],
        };
        let own = within.nested(&names(index)).ok_or_else(meaningless)?;
        let extra: Vec<Name> = value
            .iterators()
            .into_iter()
            .filter(|n| !own.contains(n))
            .collect();
        let extra = within.nested(&extra).ok_or_else(meaningless)?;
        // Iterators that the target lacks fold their values onto the old element.
        let (fold, value) = match (extra.is_empty(), value.node()) {
            (true, _) => (None, value),
            (
                false,
                Node::Binary {
                    op, left, right, ..
                },
            ) if left == target => (Some(*op), right),
            (
                false,
                Node::Binary {
                    op, left, right, ..
                },
            ) if right == target && op.commutes() => (Some(*op), left),
            _ => return Err(meaningless()),
        };

        let domains = Domains::of(assignment)?;
        let mut compiler = Compiler {
            store,
            scope: Vec::new(),
        };
        let domain = compiler.enter(&own, within, &domains)?;
        let folded = compiler.enter(&extra, within, &domains)?;
        Ok(Statement {
            name: tensor.name().cloned().ok_or_else(meaningless)?,
            domain,
            old: elements(store, tensor)?,
            elsewhere: match elsewhere {
                Some(constant) => Some(T::constant(*constant).ok_or_else(meaningless)?),
                None => None,
            },
            target: compiler.place(tensor, index)?,
            fold: fold.map(|op| (op, folded)),
            value: compiler.compile(value)?,
            stop: &|| false,
        })
    }

    /// The flat index and the value of the target at values of its iterators.
    ///
    /// # Errors
    /// Division of an integer by zero.
    pub fn at(&self, point: &[i64]) -> Result<(usize, T), Fault> {
        let mut slots = point.to_vec();
        let k = self.target.at(&slots)?;
        let value = match &self.fold {
            None => evaluate(&self.value, &mut slots, self.stop)?,
            Some((op, ranges)) => {
                let mut sum = self.old[k];
                for_each(ranges, &mut slots, self.stop, &mut |slots| {
                    sum = sum.apply(*op, evaluate(&self.value, slots, self.stop)?)?;
                    Ok(())
                })?;
                sum
            }
        };
        Ok((k, value))
    }

    /// The statement with a stop request. Once `stop` returns true, evaluation ends with
    /// [`Fault::Stopped`].
    #[must_use]
    pub fn stopped_by(self, stop: Stop<'s>) -> Statement<'s, T> {
        Statement { stop, ..self }
    }

    /// The number of leaf evaluations per element.
    pub fn cost(&self) -> f64 {
        let folded = self.fold.iter().flat_map(|(_, ranges)| ranges);
        cost(&self.value) * folded.map(Span::most).product::<f64>()
    }

    /// The number of assigned elements, as if the iterators were independent.
    pub fn count(&self) -> f64 {
        self.domain.iter().map(Span::most).product()
    }

    /// The values of the iterators of the target.
    pub fn domain(&self) -> &[Span] {
        &self.domain
    }

    /// The first point of the domain, if there is one.
    pub fn first(&self) -> Option<Vec<i64>> {
        first(&self.domain, &mut Vec::new())
    }

    /// The point after `point` in row-major order, if there is one.
    pub fn next(&self, mut point: Vec<i64>) -> Option<Vec<i64>> {
        while let Some(value) = point.pop() {
            let span = &self.domain[point.len()];
            let next = value + span.step;
            if next < span.ends(&point).1 {
                point.push(next);
                let rest = &self.domain[point.len()..];
                let found = first(rest, &mut point);
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }
}

/// The first point with the given values of the outer iterators.
fn first(rest: &[Span], point: &mut Vec<i64>) -> Option<Vec<i64>> {
    let [span, inner @ ..] = rest else {
        return Some(point.clone());
    };
    for value in span.values(point) {
        point.push(value);
        let found = first(inner, point);
        point.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}

fn names(index: &[Affine]) -> Vec<Name> {
    let mut found: Vec<Name> = Vec::new();
    for (name, _) in index.iter().flat_map(Affine::terms) {
        if !found.contains(name) {
            found.push(name.clone());
        }
    }
    found
}

struct Compiler<'s, 'd> {
    store: &'s Store<'d>,
    scope: Vec<(Name, (i64, i64))>,
}

impl<'s> Compiler<'s, '_> {
    fn compile<T: Number>(&mut self, expr: &Expr) -> Result<Code<'s, T>, Fault> {
        let meaningless = || Fault::Meaningless(Infix(expr).to_string());
        match expr.node() {
            Node::Access { tensor, index } => {
                let index: &[Affine] = match index {
                    Index::At(index) => index,
                    Index::Forbidden => &[],
                    Index::Unset => return Err(meaningless()),
                };
                let place = self.place(tensor, index)?;
                Ok(Code::Load(elements(self.store, tensor)?, place))
            }
            Node::Binary {
                op, left, right, ..
            } => {
                let (left, right) = (self.compile(left)?, self.compile(right)?);
                Ok(Code::Binary(*op, Box::new(left), Box::new(right)))
            }
            Node::Constant(value) => {
                let value = T::constant(*value);
                Ok(Code::Number(value.ok_or_else(meaningless)?))
            }
            Node::Index(index) => {
                // Only `i64` has index values.
                T::constant(Constant::I64(0)).ok_or_else(meaningless)?;
                Ok(Code::Index(self.linear(index)?))
            }
            Node::Apply { function, args, .. } => match (function, args.as_slice()) {
                (Function::Select(comparison), [left, right, yes, no]) => {
                    let compared = [self.compile_any(left)?, self.compile_any(right)?];
                    let values = [self.compile(yes)?, self.compile(no)?];
                    Ok(Code::Select(*comparison, compared.into(), values.into()))
                }
                (Function::Cast(_), [arg]) => Ok(Code::Cast(Box::new(self.compile_any(arg)?))),
                (function, [arg]) => Ok(Code::Apply(*function, Box::new(self.compile(arg)?))),
                _ => Err(meaningless()),
            },
            Node::Reduce {
                reduction,
                over,
                within,
                body,
                ..
            } => {
                let first = self.scope.len();
                let over = within.nested(over).ok_or_else(meaningless)?;
                let domains = Domains::under(body, &over, within, &self.scope)?;
                let ranges = self.enter(&over, within, &domains)?;
                let limited = within.iter().filter(|(name, _)| !over.contains(name));
                let limits = limited.map(|(name, range)| {
                    let slot = self.scope.iter().rposition(|(n, _)| n == name);
                    Ok((slot.ok_or_else(meaningless)?, self.span(range)?))
                });
                let limits = limits.collect::<Result<Vec<_>, Fault>>()?;
                let identity = T::constant(reduction.identity(body.elem()));
                let body = Box::new(self.compile(body)?);
                self.scope.truncate(first);
                Ok(Code::Reduce(Reduce {
                    identity: identity.ok_or_else(meaningless)?,
                    op: reduction.op(),
                    first,
                    ranges,
                    limits,
                    body,
                }))
            }
            Node::Virtual { .. } | Node::Assign { .. } | Node::Pieces { .. } => Err(meaningless()),
        }
    }

    fn compile_any(&mut self, expr: &Expr) -> Result<AnyCode<'s>, Fault> {
        Ok(match expr.elem() {
            Elem::F64 => AnyCode::F64(self.compile(expr)?),
            Elem::F32 => AnyCode::F32(self.compile(expr)?),
            Elem::I32 => AnyCode::I32(self.compile(expr)?),
            Elem::I64 => AnyCode::I64(self.compile(expr)?),
        })
    }

    /// Brings iterators into scope, each after the iterators that its range depends on.
    fn enter(
        &mut self,
        names: &[Name],
        within: &Domain,
        domains: &Domains,
    ) -> Result<Vec<Span>, Fault> {
        let mut spans = Vec::with_capacity(names.len());
        for name in names {
            let span = match within.get(name) {
                None => Span::whole(domains.get(name)),
                Some(range) => self.span(range)?,
            };
            self.scope.push((name.clone(), span.around));
            spans.push(span);
        }
        Ok(spans)
    }

    fn span(&self, range: &Range) -> Result<Span, Fault> {
        let forms = |bounds: &[Affine]| -> Result<Vec<Linear>, Fault> {
            bounds.iter().map(|b| self.linear(b)).collect()
        };
        let (lower, upper) = (forms(&range.lower)?, forms(&range.upper)?);
        let low = range.lower.iter().map(|b| self.interval(b).0).max();
        let high = range.upper.iter().map(|b| self.interval(b).1).min();
        let low = low.unwrap_or(0);
        Ok(Span {
            lower,
            upper,
            step: range.step,
            within: match &range.within {
                Some(Segment {
                    lower: Some(lower),
                    upper,
                    ..
                }) => Some([self.read(lower)?, self.read(upper)?]),
                _ => None,
            },
            around: (low, high.unwrap_or(0).max(low)),
        })
    }

    /// A bound that is read.
    fn read(&self, lookup: &Lookup) -> Result<Read, Fault> {
        let extents = lookup.tensor.shape().extents().iter();
        let extents = extents.map(|extent| i64::try_from(*extent).unwrap_or(i64::MAX));
        let index: Result<Vec<Linear>, Fault> =
            lookup.index.iter().map(|a| self.linear(a)).collect();
        Ok(Read {
            entries: entries(self.store, &lookup.tensor)?.into(),
            index: index?.into_iter().zip(extents).collect(),
            plus: self.linear(&lookup.plus)?,
        })
    }

    /// The least and the greatest value of an index.
    fn interval(&self, index: &Affine) -> (i64, i64) {
        let (mut low, mut high) = (index.offset(), index.offset());
        for (name, c) in index.terms() {
            let around = self.scope.iter().rfind(|(n, _)| n == name);
            let (first, end) = around.map_or((0, 1), |(_, around)| *around);
            let ends = (c * first, c * (end - 1));
            (low, high) = (low + ends.0.min(ends.1), high + ends.0.max(ends.1));
        }
        (low, high)
    }

    fn linear(&self, index: &Affine) -> Result<Linear, Fault> {
        let mut strides = Vec::with_capacity(index.terms().len());
        for (name, c) in index.terms() {
            let Some(slot) = self.scope.iter().rposition(|(n, _)| n == name) else {
                return Err(Fault::Meaningless(index.to_string()));
            };
            strides.push((slot, *c));
        }
        Ok(Linear {
            offset: index.offset(),
            strides,
        })
    }

    /// The place of an element. With inferred ranges, no iteration in scope may leave a dimension.
    /// With given ranges, that is checked at each access.
    fn place(&self, tensor: &Tensor, index: &[Affine]) -> Result<CheckedIndex, Fault> {
        let mut flat = Linear::default();
        let mut watched = Vec::new();
        for (index, &extent) in index.iter().zip(tensor.shape().extents()) {
            let extent = i64::try_from(extent).unwrap_or(i64::MAX);
            let own = self.linear(index)?;
            flat.offset = flat.offset * extent + own.offset;
            for (_, stride) in &mut flat.strides {
                *stride *= extent;
            }
            flat.strides.extend(own.strides.iter().copied());
            let (low, high) = self.interval(index);
            if low < 0 || high >= extent {
                watched.push((own, extent));
            }
        }
        let tensor = tensor.label().to_owned();
        Ok(CheckedIndex {
            flat,
            watched,
            tensor,
        })
    }
}
