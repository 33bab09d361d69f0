//! Evaluates assignments by definition: every element of the target gets the value of the
//! expression over the old store (TeIL Fig. 9, rule St-Stmt).

use super::Fault;
use super::domain::Domains;
use super::store::{Data, Number, Store, elements};
use crate::ir::{Affine, BinaryOp, Elem, Expr, Function, Index, Infix, Name, Node, Tensor};

/// Evaluates `definition` in order, each assignment over the store that the ones before left.
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
    let mut more = statement.domain.iter().all(|(low, high)| low < high);
    while more {
        let (k, value) = statement.at(&point)?;
        result[k] = value;
        more = statement.advance(&mut point);
    }
    Ok((statement.name.clone(), T::data(result)))
}

/// An assignment whose elements can be evaluated one by one.
pub struct Statement<'s, T> {
    /// The target.
    pub name: Name,
    /// The half-open range of each iterator of the target.
    pub domain: Vec<(i64, i64)>,
    old: &'s [T],
    /// What elements are set to that no point of the domain assigns.
    elsewhere: Option<T>,
    target: Linear,
    fold: Option<(BinaryOp, Vec<(i64, i64)>)>,
    value: Code<T>,
    arrays: Vec<&'s [T]>,
    stop: &'s (dyn Fn() -> bool + Sync),
}

/// A flat index: an offset, and a stride for each slot that counts.
#[derive(Clone, Debug)]
struct Linear {
    offset: i64,
    strides: Vec<(usize, i64)>,
}

impl Linear {
    fn at(&self, slots: &[i64]) -> usize {
        let index = self
            .strides
            .iter()
            .fold(self.offset, |sum, (slot, s)| sum + slots[*slot] * s);
        usize::try_from(index).unwrap_or(usize::MAX)
    }
}

enum Code<T> {
    Load(usize, Linear),
    Number(T),
    Binary(BinaryOp, Box<Code<T>>, Box<Code<T>>),
    Apply(Function, Vec<Code<T>>),
    Reduce(Reduce<T>),
}

/// What a reduction starts from and does, over which values, and what is reduced.
struct Reduce<T> {
    identity: T,
    op: BinaryOp,
    /// The first slot of the iterators.
    first: usize,
    ranges: Vec<(i64, i64)>,
    body: Box<Code<T>>,
}

impl<'s, T: Number> Statement<'s, T> {
    /// Prepares `assignment` for evaluation over `store`.
    ///
    /// # Errors
    /// Tensors without data, indices that leave their tensor, or no assignment at all.
    pub fn new(assignment: &Expr, store: &'s Store<'_>) -> Result<Statement<'s, T>, Fault> {
        let meaningless = || Fault::Meaningless(Infix(assignment).to_string());
        let Node::Assign {
            target,
            value,
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
        let own = names(index);
        let extra: Vec<Name> = value
            .iterators()
            .into_iter()
            .filter(|n| !own.contains(n))
            .collect();
        // An iterator that the target lacks folds its values onto the old element.
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
        let ranges = |names: &[Name]| names.iter().map(|n| domains.get(n)).collect::<Vec<_>>();
        let mut compiler = Compiler {
            store,
            arrays: Vec::new(),
            scope: Vec::new(),
        };
        for (name, range) in own
            .iter()
            .chain(&extra)
            .zip(ranges(&own).into_iter().chain(ranges(&extra)))
        {
            compiler.scope.push((name.clone(), range));
        }
        Ok(Statement {
            name: tensor.name().cloned().ok_or_else(meaningless)?,
            domain: ranges(&own),
            old: elements(store, tensor)?,
            elsewhere: match elsewhere {
                Some(constant) => Some(T::constant(*constant).ok_or_else(meaningless)?),
                None => None,
            },
            target: compiler.linear(tensor, index)?,
            fold: fold.map(|op| (op, ranges(&extra))),
            value: compiler.compile(value)?,
            arrays: compiler.arrays,
            stop: &|| false,
        })
    }

    /// The flat index and the value of the target at values of its iterators.
    ///
    /// # Errors
    /// Division of an integer by zero.
    pub fn at(&self, point: &[i64]) -> Result<(usize, T), Fault> {
        let mut slots = point.to_vec();
        let k = self.target.at(&slots);
        let value = match &self.fold {
            None => self.evaluate(&self.value, &mut slots)?,
            Some((op, ranges)) => {
                let mut sum = self.old[k];
                self.for_each(ranges, &mut slots, &mut |slots| {
                    sum = sum.apply(*op, self.evaluate(&self.value, slots)?)?;
                    Ok(())
                })?;
                sum
            }
        };
        Ok((k, value))
    }

    fn evaluate(&self, code: &Code<T>, slots: &mut Vec<i64>) -> Result<T, Fault> {
        match code {
            Code::Load(array, linear) => Ok(self.arrays[*array][linear.at(slots)]),
            Code::Number(value) => Ok(*value),
            Code::Binary(op, left, right) => {
                let left = self.evaluate(left, slots)?;
                left.apply(*op, self.evaluate(right, slots)?)
            }
            Code::Apply(function, args) => {
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    values.push(self.evaluate(arg, slots)?);
                }
                let name = || Fault::Meaningless(function.name().to_owned());
                T::call(*function, &values).ok_or_else(name)
            }
            Code::Reduce(reduce) => {
                slots.truncate(reduce.first);
                let mut reduced = reduce.identity;
                self.for_each(&reduce.ranges, slots, &mut |slots| {
                    reduced = reduced.apply(reduce.op, self.evaluate(&reduce.body, slots)?)?;
                    Ok(())
                })?;
                Ok(reduced)
            }
        }
    }

    fn for_each(
        &self,
        ranges: &[(i64, i64)],
        slots: &mut Vec<i64>,
        visit: &mut dyn FnMut(&mut Vec<i64>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let depth = slots.len();
        let [(low, high), rest @ ..] = ranges else {
            let result = visit(slots);
            slots.truncate(depth);
            return result;
        };
        if (self.stop)() {
            return Err(Fault::Stopped);
        }
        for value in *low..*high {
            slots.truncate(depth);
            slots.push(value);
            self.for_each(rest, slots, visit)?;
        }
        slots.truncate(depth);
        Ok(())
    }

    /// The statement, whose evaluation ends with [`Fault::Stopped`] once `stop` says so.
    #[must_use]
    pub fn stopped_by(self, stop: &'s (dyn Fn() -> bool + Sync)) -> Statement<'s, T> {
        Statement { stop, ..self }
    }

    /// The number of leaves visited to evaluate one element.
    pub fn cost(&self) -> f64 {
        let folded = self.fold.iter().flat_map(|(_, ranges)| ranges);
        cost(&self.value)
            * folded
                .map(|(low, high)| (high - low) as f64)
                .product::<f64>()
    }

    /// The number of elements assigned.
    pub fn count(&self) -> f64 {
        self.domain
            .iter()
            .map(|(low, high)| (high - low) as f64)
            .product()
    }

    /// The first point of the domain.
    pub fn first(&self) -> Vec<i64> {
        self.domain.iter().map(|(low, _)| *low).collect()
    }

    /// Moves `point` to the next one in row-major order; false at the end.
    pub fn advance(&self, point: &mut [i64]) -> bool {
        for (x, (low, high)) in point.iter_mut().zip(&self.domain).rev() {
            *x += 1;
            if *x < *high {
                return true;
            }
            *x = *low;
        }
        false
    }
}

fn cost<T>(code: &Code<T>) -> f64 {
    match code {
        Code::Load(..) | Code::Number(_) => 1.0,
        Code::Binary(_, left, right) => cost(left) + cost(right),
        Code::Apply(_, args) => args.iter().map(cost).sum(),
        Code::Reduce(reduce) => {
            cost(&reduce.body)
                * reduce
                    .ranges
                    .iter()
                    .map(|(low, high)| (high - low) as f64)
                    .product::<f64>()
        }
    }
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

struct Compiler<'s, 'd, T> {
    store: &'s Store<'d>,
    arrays: Vec<&'s [T]>,
    scope: Vec<(Name, (i64, i64))>,
}

impl<T: Number> Compiler<'_, '_, T> {
    fn compile(&mut self, expr: &Expr) -> Result<Code<T>, Fault> {
        let meaningless = || Fault::Meaningless(Infix(expr).to_string());
        match expr.node() {
            Node::Access { tensor, index } => {
                let index: &[Affine] = match index {
                    Index::At(index) => index,
                    Index::Forbidden => &[],
                    Index::Unset => return Err(meaningless()),
                };
                let linear = self.linear(tensor, index)?;
                self.arrays.push(elements(self.store, tensor)?);
                Ok(Code::Load(self.arrays.len() - 1, linear))
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
            Node::Apply { function, args, .. } => {
                let args: Result<_, _> = args.iter().map(|a| self.compile(a)).collect();
                Ok(Code::Apply(*function, args?))
            }
            Node::Reduce {
                reduction,
                over,
                body,
                ..
            } => {
                let first = self.scope.len();
                let domains = Domains::under(body, over, &self.scope)?;
                let ranges: Vec<(i64, i64)> = over.iter().map(|n| domains.get(n)).collect();
                self.scope.extend(over.iter().cloned().zip(ranges.clone()));
                let identity = T::constant(reduction.identity(body.elem()));
                let body = Box::new(self.compile(body)?);
                self.scope.truncate(first);
                Ok(Code::Reduce(Reduce {
                    identity: identity.ok_or_else(meaningless)?,
                    op: reduction.op(),
                    first,
                    ranges,
                    body,
                }))
            }
            Node::Virtual { .. } | Node::Assign { .. } => Err(meaningless()),
        }
    }

    /// The flat index; no value of the iterators in scope may leave a dimension.
    fn linear(&self, tensor: &Tensor, index: &[Affine]) -> Result<Linear, Fault> {
        let mut linear = Linear {
            offset: 0,
            strides: Vec::new(),
        };
        for (index, &extent) in index.iter().zip(tensor.shape().extents()) {
            let (mut low, mut high) = (index.offset(), index.offset());
            let extent = i64::try_from(extent).unwrap_or(i64::MAX);
            linear.offset = linear.offset * extent + index.offset();
            for (_, stride) in &mut linear.strides {
                *stride *= extent;
            }
            for (name, c) in index.terms() {
                let Some(slot) = self.scope.iter().rposition(|(n, _)| n == name) else {
                    return Err(Fault::Meaningless(index.to_string()));
                };
                let (first, end) = self.scope[slot].1;
                let ends = (c * first, c * (end - 1));
                (low, high) = (low + ends.0.min(ends.1), high + ends.0.max(ends.1));
                linear.strides.push((slot, *c));
            }
            if low < 0 || high >= extent {
                let (tensor, index) = (tensor.label().to_owned(), index.to_string());
                return Err(Fault::OutOfBounds { tensor, index });
            }
        }
        Ok(linear)
    }
}
