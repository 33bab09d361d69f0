//! Executes trees in order over symbolic values.

use super::answer::{Answer, Conflict, Instance, Policy};
use super::conflict::{Access, Iteration, Touches};
use super::executed::{Executed, What};
use super::value::{Initial, Value};
use crate::interp::Fault;
use crate::interp::store::{Data, Store};
use crate::ir::{
    Affine, BinaryOp, Constant, Expr, Fill, Index, Infix, Lookup, Loop, Mode, Name, Node, Stmt,
    Tensor, Tree,
};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Why an execution stopped early.
pub(super) enum Stopped {
    Fault(Fault),
    Found(Answer),
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Stopped {
        Stopped::Fault(fault)
    }
}

/// The most elements of a tensor.
const MAX_ELEMENTS: u64 = 1 << 20;

/// The elements of a tensor, row-major.
struct Elements<'a> {
    tensor: &'a Tensor,
    /// The initial elements. `None` for a local tensor.
    initial: Option<Initial>,
    cells: Vec<Cell<'a>>,
}

#[derive(Clone, Default)]
struct Cell<'a> {
    /// The last value, and its writer.
    set: Option<(Value, Rc<Executed<'a>>)>,
    touches: Touches<'a>,
}

/// The touched tensors. Local ones are removed when they end.
pub(super) struct Tensors<'a>(Vec<Elements<'a>>);

/// The final state of an element.
pub(super) struct Element {
    pub(super) value: Value,
    pub(super) writer: Option<Instance>,
    pub(super) text: String,
}

impl<'a> Tensors<'a> {
    fn get(&self, name: &Name) -> Option<&Elements<'a>> {
        self.0.iter().find(|e| e.tensor.name() == Some(name))
    }

    /// The elements of a tensor that were set.
    pub(super) fn set(&self, name: &Name) -> BTreeSet<usize> {
        let cells = self.get(name).into_iter().flat_map(|e| &e.cells);
        let set = cells.enumerate().filter(|(_, cell)| cell.set.is_some());
        set.map(|(k, _)| k).collect()
    }

    /// The final state of an element of a tensor that is not local.
    pub(super) fn element(&self, name: &Name, k: usize) -> Element {
        let elements = self.get(name);
        let set = elements.and_then(|e| e.cells.get(k)?.set.as_ref());
        let initial = || Initial::of(name.as_str()).element(k);
        Element {
            value: set.map_or_else(initial, |(value, _)| *value),
            writer: set.map(|(_, writer)| writer.instance()),
            text: elements.map_or_else(|| name.to_string(), |e| text(e.tensor, k)),
        }
    }
}

/// An element as C writes it.
fn text(tensor: &Tensor, flat: usize) -> String {
    let index = tensor.shape().index_of(flat as u64);
    let index: Vec<String> = index.iter().map(|k| format!("[{k}]")).collect();
    format!("{}{}", tensor.label(), index.concat())
}

pub(super) struct Machine<'a, 's> {
    /// The elements of tensors that bounds are read from.
    entries: &'s Store<'s>,
    policy: Policy,
    stop: &'s dyn Fn() -> bool,
    tensors: Tensors<'a>,
    point: Vec<(&'a Name, i64)>,
    /// The parallel and vector loops around the current instance, with their iterations.
    marked: Vec<Iteration<'a>>,
    /// The number of inner loops that a collapsed loop around them shares among threads.
    shared: usize,
    /// Whether a collapsed loop around them says that updates are atomic.
    atomic: bool,
    executions: u64,
}

impl<'a, 's> Machine<'a, 's> {
    /// Executes sequences, one after the other.
    pub(super) fn run(
        sequences: &[&'a [Tree]],
        entries: &'s Store<'s>,
        policy: Policy,
        stop: &'s dyn Fn() -> bool,
    ) -> Result<Tensors<'a>, Stopped> {
        let mut machine = Machine {
            entries,
            policy,
            stop,
            tensors: Tensors(Vec::new()),
            point: Vec::new(),
            marked: Vec::new(),
            shared: 0,
            atomic: false,
            executions: 0,
        };
        for trees in sequences {
            machine.sequence(trees)?;
        }
        Ok(machine.tensors)
    }

    /// Runs siblings in order. Their local tensors end afterwards.
    fn sequence(&mut self, trees: &'a [Tree]) -> Result<(), Stopped> {
        for tree in trees {
            match tree {
                Tree::Loop(l) => self.run_loop(l)?,
                Tree::Stmt(s) => self.assign(s)?,
                Tree::Fill(fill) => self.fill(fill)?,
                Tree::Local(tensor) => self.tensors.0.push(Elements::new(tensor, true)?),
            }
        }
        for tree in trees {
            if let Tree::Local(local) = tree {
                let is_other = |e: &Elements| e.tensor.name() != local.name();
                self.tensors.0.retain(is_other);
            }
        }
        Ok(())
    }

    fn run_loop(&mut self, l: &'a Loop) -> Result<(), Stopped> {
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
        let (shared, around) = (self.shared, self.atomic);
        let is_marked = !l.is_serial() || shared > 0;
        let atomic = l.is_atomic() || shared > 0 && around;
        self.atomic = atomic;
        self.shared = shared.max(l.collapse()).saturating_sub(1);
        let at_a_time = l.at_a_time().filter(|_| shared == 0);
        self.executions += 1;
        let execution = self.executions;
        let mut value = lower;
        while value < upper {
            if (self.stop)() {
                return Err(Fault::Stopped.into());
            }
            self.point.push((&l.name, value));
            if is_marked {
                self.marked.push(Iteration {
                    of: l,
                    execution,
                    value,
                    at_a_time,
                    atomic,
                });
            }
            self.sequence(&l.body)?;
            if is_marked {
                self.marked.pop();
            }
            self.point.pop();
            value += l.range.stride();
        }
        (self.shared, self.atomic) = (shared, around);
        Ok(())
    }

    fn assign(&mut self, s: &'a Stmt) -> Result<(), Stopped> {
        let by = self.executed(What::Stmt(s));
        let k = self.flat(&s.target, &s.index)?;
        let is_copy = s.update.is_none() && matches!(s.value.node(), Node::Access { .. });
        let value = match as_update(s, self.policy) {
            Some((op, old, operand)) => self.value(old, &by).and_then(|old| {
                let operand = self.value(operand, &by)?;
                Ok(old.updated(op, operand, s.target.elem(), self.policy))
            }),
            None => self.value(&s.value, &by),
        };
        if let (true, Err(Stopped::Found(Answer::Undefined { .. }))) = (is_copy, &value) {
            // A copy between local tensors may pass on an undefined element, which stays undefined.
            let elements = self.touch(&s.target, k, &by, Access::Write)?;
            if let (None, Some(cell)) = (elements.initial, elements.cells.get_mut(k)) {
                cell.set = None;
                return Ok(());
            }
        }
        let mut value = value?;
        let access = Access::of(s, self.policy);
        if let Some(op) = s.update {
            let old = self.read(&s.target, k, &by, access)?;
            value = old.updated(op, value, s.target.elem(), self.policy);
        }
        self.write(&s.target, k, value, &by, access)
    }

    fn fill(&mut self, fill: &'a Fill) -> Result<(), Stopped> {
        let by = self.executed(What::Fill(fill));
        let mut points: Vec<Vec<Affine>> = vec![Vec::new()];
        for (low, extent) in &fill.region {
            let steps = 0..extent.as_constant().unwrap_or(0);
            let longer = |p: &Vec<Affine>| {
                let p = p.clone();
                let next = steps.clone().map(|k| low.plus_constant(k));
                next.map(move |a| p.iter().cloned().chain([a]).collect())
                    .collect::<Vec<_>>()
            };
            points = points.iter().flat_map(longer).collect();
        }
        for point in points {
            let k = self.flat(&fill.target, &point)?;
            self.write(
                &fill.target,
                k,
                Value::constant(fill.value),
                &by,
                Access::Write,
            )?;
        }
        Ok(())
    }

    fn executed(&self, what: What<'a>) -> Rc<Executed<'a>> {
        let point = self.point.clone();
        Rc::new(Executed { what, point })
    }

    fn value(&mut self, expr: &'a Expr, by: &Rc<Executed<'a>>) -> Result<Value, Stopped> {
        match expr.node() {
            Node::Access { tensor, index } => {
                let k = match index {
                    Index::At(index) => self.flat(tensor, index)?,
                    _ => 0,
                };
                self.read(tensor, k, by, Access::Read)
            }
            Node::Binary {
                op, left, right, ..
            } => {
                let left = self.value(left, by)?;
                Ok(Value::binary(*op, left, self.value(right, by)?))
            }
            Node::Constant(value) => Ok(Value::constant(*value)),
            Node::Index(index) => {
                let value = Constant::I64(self.index(index)?);
                Ok(Value::constant(value))
            }
            Node::Apply { function, args, .. } => {
                let args: Result<Vec<Value>, Stopped> =
                    args.iter().map(|a| self.value(a, by)).collect();
                Ok(Value::apply(*function, &args?))
            }
            _ => Err(Fault::Meaningless(Infix(expr).to_string()).into()),
        }
    }

    fn read(
        &mut self,
        tensor: &'a Tensor,
        k: usize,
        by: &Rc<Executed<'a>>,
        access: Access,
    ) -> Result<Value, Stopped> {
        let elements = self.touch(tensor, k, by, access)?;
        let set = elements.cells.get(k).and_then(|cell| cell.set.as_ref());
        match (set, elements.initial) {
            (Some((value, _)), _) => Ok(*value),
            (None, Some(initial)) => Ok(initial.element(k)),
            (None, None) => Err(Stopped::Found(Answer::Undefined {
                element: text(tensor, k),
                reader: Box::new(by.instance()),
            })),
        }
    }

    fn write(
        &mut self,
        tensor: &'a Tensor,
        k: usize,
        value: Value,
        by: &Rc<Executed<'a>>,
        access: Access,
    ) -> Result<(), Stopped> {
        let elements = self.touch(tensor, k, by, access)?;
        if let Some(cell) = elements.cells.get_mut(k) {
            cell.set = Some((value, by.clone()));
        }
        Ok(())
    }

    /// Records an access to an element, and returns the elements of its tensor. A conflict is an
    /// error.
    fn touch(
        &mut self,
        tensor: &'a Tensor,
        k: usize,
        by: &Rc<Executed<'a>>,
        access: Access,
    ) -> Result<&mut Elements<'a>, Stopped> {
        let tensors = &mut self.tensors.0;
        let known = tensors
            .iter()
            .position(|e| e.tensor.name() == tensor.name());
        let position = known.unwrap_or(tensors.len());
        if known.is_none() {
            tensors.push(Elements::new(tensor, false)?);
        }
        let elements = &mut tensors[position];
        let no_data = || Fault::NoData {
            tensor: tensor.label().to_owned(),
        };
        let cell = elements.cells.get_mut(k).ok_or_else(no_data)?;
        match cell.touches.touch(&self.marked, by, access) {
            Ok(()) => Ok(elements),
            Err((l, [first, second])) => {
                Err(Stopped::Found(Answer::Conflict(Box::new(Conflict {
                    by: l.name.clone(),
                    // The outermost loop of a collapsed band marks the inner ones as parallel.
                    parallel: !matches!(l.mode, Mode::Vector { .. }),
                    element: text(tensor, k),
                    iterations: [first.0, second.0],
                    instances: [first.1.instance(), second.1.instance()],
                }))))
            }
        }
    }

    /// The value of a bound that is read.
    fn entry(&self, lookup: &Lookup) -> Result<i64, Fault> {
        let k = self.flat(&lookup.tensor, &lookup.index)?;
        let tensor = lookup.tensor.label().to_owned();
        let data = lookup.tensor.name().and_then(|n| self.entries.get(n));
        let entry = match data {
            Some(Data::I64(d)) => d.get(k).copied(),
            Some(Data::I32(d)) => d.get(k).map(|x| i64::from(*x)),
            Some(_) => None,
            None => return Err(Fault::NoEntries { tensor }),
        };
        Ok(entry.ok_or(Fault::NoData { tensor })? + self.index(&lookup.plus)?)
    }

    fn values(&self, bounds: &[Affine]) -> Result<Vec<i64>, Fault> {
        bounds.iter().map(|b| self.index(b)).collect()
    }

    fn index(&self, index: &Affine) -> Result<i64, Fault> {
        let value = |name: &Name| {
            let known = self.point.iter().rev().find(|(n, _)| *n == name);
            known.map(|(_, value)| *value)
        };
        let unknown = || Fault::Meaningless(index.to_string());
        index.evaluate(&value).ok_or_else(unknown)
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
}

impl<'a> Elements<'a> {
    fn new(tensor: &'a Tensor, local: bool) -> Result<Elements<'a>, Fault> {
        let unnamed = || Fault::Meaningless(tensor.to_string());
        let name = tensor.name().ok_or_else(unnamed)?;
        let count = tensor.shape().elements();
        if count > MAX_ELEMENTS {
            return Err(Fault::TooLarge {
                tensor: tensor.to_string(),
                limit: MAX_ELEMENTS,
            });
        }
        Ok(Elements {
            tensor,
            initial: (!local).then(|| Initial::of(name.as_str())),
            cells: vec![Cell::default(); usize::try_from(count).unwrap_or(usize::MAX)],
        })
    }
}

/// A statement that updates an element and stores the result in another one of its tensor: the
/// operation, the element and the operand. `None` if operands have to keep their order.
fn as_update(s: &Stmt, policy: Policy) -> Option<(BinaryOp, &Expr, &Expr)> {
    use BinaryOp::{Add, Max, Min, Mul};
    let Node::Binary {
        op, left, right, ..
    } = s.value.node()
    else {
        return None;
    };
    let mentions = |expr: &Expr| {
        let mut found = false;
        expr.for_each_tensor(&mut |tensor| found |= tensor.label() == s.target.label());
        found
    };
    let is_own = |expr: &Expr| match expr.node() {
        Node::Access {
            index: Index::At(index),
            ..
        } => mentions(expr) && *index != s.index,
        _ => false,
    };
    let any_order = match op {
        Min | Max => true,
        Add | Mul => policy == Policy::Reassociate || !s.target.elem().is_float(),
        _ => false,
    };
    let may_turn = s.update.is_none() && any_order;
    match (is_own(left), is_own(right)) {
        (true, false) if may_turn && !mentions(right) => Some((*op, left, right)),
        (false, true) if may_turn && !mentions(left) => Some((*op, right, left)),
        _ => None,
    }
}
