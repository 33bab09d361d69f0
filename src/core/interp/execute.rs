//! Executes nests serially, in the order of the loops.

use super::Fault;
use super::store::{Data, Number, Scalar, Store, elements};
use crate::ir::{
    Affine, Comparison, Constant, Elem, Expr, Function, Index, Infix, Lookup, Loop, Name, Nest,
    Node, Tensor, Tree,
};

/// Runs `nest` on `store`.
///
/// # Errors
/// [`Fault`]. The store then contains the partial results.
pub fn run(nest: &Nest, store: &mut Store<'_>) -> Result<(), Fault> {
    let mut machine = Machine {
        store,
        point: Vec::new(),
    };
    machine.sequence(nest.trees())
}

struct Machine<'m, 'a> {
    store: &'m mut Store<'a>,
    point: Vec<(Name, i64)>,
}

impl<'a> Machine<'_, 'a> {
    /// Runs siblings in order. Their local tensors end afterwards. A tensor with the same name that
    /// they hid is restored.
    fn sequence(&mut self, trees: &[Tree]) -> Result<(), Fault> {
        let mut hidden = Vec::new();
        let result = trees.iter().try_for_each(|tree| match tree {
            Tree::Local(tensor) => {
                hidden.push(self.declare(tensor)?);
                Ok(())
            }
            tree => self.tree(tree),
        });
        for (name, before) in hidden {
            match before {
                Some(data) => self.store.insert(name, data),
                None => self.store.remove(&name),
            };
        }
        result
    }

    /// Declares a local tensor. Its initial elements are conspicuous numbers, so that results that
    /// depend on them are noticed. Returns the tensor that it hides.
    fn declare(&mut self, tensor: &Tensor) -> Result<(Name, Option<Data<'a>>), Fault> {
        let name = tensor.name();
        let name = name.ok_or_else(|| Fault::Meaningless(tensor.to_string()))?;
        let undefined = if tensor.elem().is_float() {
            f64::NAN
        } else {
            -2_023_406_815.0
        };
        let data = Data::generate(tensor, |_| undefined);
        Ok((name.clone(), self.store.insert(name.clone(), data)))
    }

    fn tree(&mut self, tree: &Tree) -> Result<(), Fault> {
        match tree {
            Tree::Loop(l) => self.run_loop(l),
            Tree::Stmt(s) => match s.target.elem() {
                Elem::F64 => self.assign::<f64>(s),
                Elem::F32 => self.assign::<f32>(s),
                Elem::I32 => self.assign::<i32>(s),
                Elem::I64 => self.assign::<i64>(s),
            },
            Tree::Fill(fill) => match fill.target.elem() {
                Elem::F64 => self.fill::<f64>(fill),
                Elem::F32 => self.fill::<f32>(fill),
                Elem::I32 => self.fill::<i32>(fill),
                Elem::I64 => self.fill::<i64>(fill),
            },
            Tree::Local(_) => Ok(()),
        }
    }

    fn run_loop(&mut self, l: &Loop) -> Result<(), Fault> {
        let lower = self.values(&l.range.lower)?.into_iter().max().unwrap_or(0);
        let upper = self.values(&l.range.upper)?.into_iter().min().unwrap_or(0);
        let (lower, upper) = match &l.range.within {
            None => (lower, upper),
            Some(segment) => {
                let first = segment.lower.as_ref().map(|first| self.entry(first));
                let first = first.transpose()?.unwrap_or(lower);
                (lower.max(first), upper.min(self.entry(&segment.upper)?))
            }
        };
        let mut value = lower;
        while value < upper {
            self.point.push((l.name.clone(), value));
            let result = self.sequence(&l.body);
            self.point.pop();
            result?;
            value += l.range.stride();
        }
        Ok(())
    }

    fn assign<T: Number>(&mut self, s: &crate::ir::Stmt) -> Result<(), Fault> {
        let k = self.flat(&s.target, &s.index)?;
        let mut value = self.value::<T>(&s.value)?;
        if let Some(op) = s.update {
            value = elements::<T>(self.store, &s.target)?[k].apply(op, value)?;
        }
        self.write(&s.target, k, value)
    }

    fn fill<T: Number>(&mut self, fill: &crate::ir::Fill) -> Result<(), Fault> {
        let mut points: Vec<Vec<Affine>> = vec![Vec::new()];
        for (low, extent) in &fill.region {
            let steps = 0..extent.as_constant().unwrap_or(0);
            points = points
                .iter()
                .flat_map(|p| {
                    let extended = steps.clone().map(|k| low.plus_constant(k));
                    extended.map(|a| p.iter().cloned().chain([a]).collect())
                })
                .collect();
        }
        for point in points {
            let k = self.flat(&fill.target, &point)?;
            let value = T::constant(fill.value);
            let value = value.ok_or_else(|| Fault::Meaningless(fill.to_string()))?;
            self.write(&fill.target, k, value)?;
        }
        Ok(())
    }

    fn value<T: Number>(&self, expr: &Expr) -> Result<T, Fault> {
        let meaningless = || Fault::Meaningless(Infix(expr).to_string());
        match expr.node() {
            Node::Access {
                tensor,
                index: Index::At(index),
            } => Ok(elements::<T>(self.store, tensor)?[self.flat(tensor, index)?]),
            Node::Access { tensor, .. } => Ok(elements::<T>(self.store, tensor)?[0]),
            Node::Binary {
                op, left, right, ..
            } => {
                let left = self.value::<T>(left)?;
                left.apply(*op, self.value(right)?)
            }
            Node::Constant(value) => T::constant(*value).ok_or_else(meaningless),
            Node::Index(index) => {
                let value = Constant::I64(self.index(index)?);
                T::constant(value).ok_or_else(meaningless)
            }
            Node::Apply { function, args, .. } => match (function, args.as_slice()) {
                (Function::Select(comparison), [left, right, yes, no]) => {
                    let holds = self.holds(*comparison, left, right)?;
                    let (yes, no) = (self.value(yes)?, self.value(no)?);
                    Ok(if holds { yes } else { no })
                }
                (Function::Cast(_), [arg]) => Ok(T::converted(self.scalar(arg)?)),
                (function, [arg]) => T::call(*function, self.value(arg)?).ok_or_else(meaningless),
                _ => Err(meaningless()),
            },
            _ => Err(meaningless()),
        }
    }

    /// The value of an expression of any element type.
    fn scalar(&self, expr: &Expr) -> Result<Scalar, Fault> {
        Ok(match expr.elem() {
            Elem::F64 => self.value::<f64>(expr)?.scalar(),
            Elem::F32 => self.value::<f32>(expr)?.scalar(),
            Elem::I32 => self.value::<i32>(expr)?.scalar(),
            Elem::I64 => self.value::<i64>(expr)?.scalar(),
        })
    }

    fn holds(&self, comparison: Comparison, left: &Expr, right: &Expr) -> Result<bool, Fault> {
        match left.elem() {
            Elem::F64 => self.compare::<f64>(comparison, left, right),
            Elem::F32 => self.compare::<f32>(comparison, left, right),
            Elem::I32 => self.compare::<i32>(comparison, left, right),
            Elem::I64 => self.compare::<i64>(comparison, left, right),
        }
    }

    fn compare<T: Number>(
        &self,
        comparison: Comparison,
        left: &Expr,
        right: &Expr,
    ) -> Result<bool, Fault> {
        Ok(comparison.holds(self.value::<T>(left)?, self.value::<T>(right)?))
    }

    /// The value of a bound that is read.
    fn entry(&self, lookup: &Lookup) -> Result<i64, Fault> {
        let k = self.flat(&lookup.tensor, &lookup.index)?;
        let entry = match lookup.tensor.elem() {
            Elem::I32 => elements::<i32>(self.store, &lookup.tensor)?[k].into(),
            _ => elements::<i64>(self.store, &lookup.tensor)?[k],
        };
        Ok(entry + self.index(&lookup.plus)?)
    }

    fn values(&self, bounds: &[Affine]) -> Result<Vec<i64>, Fault> {
        bounds.iter().map(|b| self.index(b)).collect()
    }

    fn index(&self, index: &Affine) -> Result<i64, Fault> {
        let value = |name: &Name| {
            let known = self.point.iter().rev().find(|(n, _)| n == name);
            known.map(|(_, value)| *value)
        };
        index
            .evaluate(&value)
            .ok_or_else(|| Fault::Meaningless(index.to_string()))
    }

    fn flat(&self, tensor: &Tensor, index: &[Affine]) -> Result<usize, Fault> {
        let mut flat = 0;
        for (index, &extent) in index.iter().zip(tensor.shape().extents()) {
            let value = self.index(index)?;
            match u64::try_from(value) {
                Ok(value) if value < extent => flat = flat * extent + value,
                _ => {
                    let (tensor, index) = (tensor.label().to_owned(), value.to_string());
                    return Err(Fault::OutOfBounds { tensor, index });
                }
            }
        }
        Ok(usize::try_from(flat).unwrap_or(usize::MAX))
    }

    fn write<T: Number>(&mut self, tensor: &Tensor, k: usize, value: T) -> Result<(), Fault> {
        let data = tensor.name().and_then(|name| self.store.get_mut(name));
        let no_data = || Fault::NoData {
            tensor: tensor.label().to_owned(),
        };
        let element = data
            .and_then(|d| T::slice_mut(d)?.get_mut(k))
            .ok_or_else(no_data)?;
        *element = value;
        Ok(())
    }
}
