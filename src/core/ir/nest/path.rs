//! Paths: the steps that made a nest.

use super::{Arg, Birth, Effects, Invocation, Link, Nest, Path, Site, Step};
use crate::ir::name::Name;
use crate::ir::operator::Operator;
use std::fmt;
use std::sync::Arc;

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source, self.line)
    }
}

impl Step {
    /// The library call that the step belongs to.
    pub fn invocation(&self) -> Option<&Arc<Invocation>> {
        self.site.as_ref()?.invocation.as_ref()
    }

    /// Whether both apply the same operation to the same arguments, at any place.
    pub fn same(&self, other: &Step) -> bool {
        self.op == other.op && self.args == other.args
    }
}

/// Printed as a method call, with trees by name.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args: Vec<String> = self.args.iter().map(Arg::short).collect();
        write!(f, "{}({})", self.op, args.join(", "))
    }
}

/// An entry of a path, as the script wrote it.
#[derive(Clone, Debug)]
pub enum Taken {
    Step(Arc<Step>),
    /// A library call and its steps.
    Call(Arc<Invocation>, Vec<Arc<Step>>),
}

impl Taken {
    /// The entry that contains `step`.
    pub fn of(step: &Arc<Step>) -> Taken {
        match step.invocation() {
            Some(call) => Taken::Call(call.clone(), vec![step.clone()]),
            None => Taken::Step(step.clone()),
        }
    }

    pub fn steps(&self) -> &[Arc<Step>] {
        match self {
            Taken::Step(step) => std::slice::from_ref(step),
            Taken::Call(_, steps) => steps,
        }
    }

    /// Whether both take the same steps.
    pub fn same(&self, other: &Taken) -> bool {
        let (a, b) = (self.steps(), other.steps());
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
    }
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Taken::Step(step) => step.fmt(f),
            Taken::Call(call, _) => call.fmt(f),
        }
    }
}

impl Path {
    /// The path with `step` and its effects appended.
    #[must_use]
    pub fn then(&self, step: Arc<Step>, effects: Effects) -> Path {
        let before = self.0.as_ref().and_then(|link| link.step.invocation());
        let call = step.invocation();
        let is_first = |call: &&Arc<Invocation>| !before.is_some_and(|b| Arc::ptr_eq(b, call));
        let given = call
            .filter(is_first)
            .map_or_else(Vec::new, |call| call.nests());
        // Skip the path itself, which the call hands on: it adds no depth.
        let given = given
            .into_iter()
            .map(Nest::path)
            .filter(|path| !path.is(self));
        let paths = step.args.iter().filter_map(Arg::path).chain(given);
        let inner = paths.map(|path| path.depth() + 1).max().unwrap_or(0);
        let (length, depth) = (self.len() + 1, self.depth().max(inner));
        let before = self.clone();
        Path(Some(Arc::new(Link {
            step,
            effects,
            before,
            length,
            depth,
        })))
    }

    /// Whether both share their steps in memory.
    fn is(&self, other: &Path) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// The nesting depth of nests in arguments of steps.
    pub fn depth(&self) -> usize {
        self.0.as_ref().map_or(0, |link| link.depth)
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |link| link.length)
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The entries that the script wrote, oldest first: steps, and library calls with their steps.
    pub fn entries(&self) -> Vec<Taken> {
        let mut entries: Vec<Taken> = Vec::new();
        for step in self.steps() {
            match (entries.last_mut(), step.invocation()) {
                (Some(Taken::Call(last, steps)), Some(call)) if Arc::ptr_eq(last, call) => {
                    steps.push(step);
                }
                _ => entries.push(Taken::of(&step)),
            }
        }
        entries
    }

    /// The last step and its effects.
    pub fn last(&self) -> Option<(&Arc<Step>, &Effects)> {
        let link = self.0.as_ref()?;
        Some((&link.step, &link.effects))
    }

    /// The effects of the last step, or of all steps of its library call, in order.
    pub fn last_entry(&self) -> Vec<&Effects> {
        let call = self.last().and_then(|(step, _)| step.invocation());
        let is_in = |step: &Step| match (call, step.invocation()) {
            (Some(call), Some(own)) => Arc::ptr_eq(call, own),
            _ => false,
        };
        let mut found: Vec<&Effects> = Vec::new();
        let mut rest = self;
        while let Some(link) = &rest.0
            && (found.is_empty() || is_in(&link.step))
        {
            found.push(&link.effects);
            rest = &link.before;
        }
        found.reverse();
        found
    }

    /// The step that ended a loop, and its effects. Searches also the paths of argument nests.
    pub fn ended(&self, birth: &Birth) -> Option<(&Arc<Step>, &Effects)> {
        self.find(&|_, effects| effects.ended.iter().any(|b| b.same(birth)))
    }

    /// The step that removed the local tensor of this name, and its effects.
    pub fn gone(&self, tensor: &Name) -> Option<(&Arc<Step>, &Effects)> {
        self.find(&|_, effects| effects.gone.contains(tensor))
    }

    /// Whether a step is in the path, or in the path of an argument nest.
    pub fn has(&self, step: &Arc<Step>) -> bool {
        self.find(&|own, _| Arc::ptr_eq(own, step)).is_some()
    }

    /// The last step that passes a test, in this path or the path of an argument.
    fn find(&self, test: &dyn Fn(&Arc<Step>, &Effects) -> bool) -> Option<(&Arc<Step>, &Effects)> {
        let mut open = vec![self];
        while let Some(path) = open.pop() {
            let mut rest = path;
            while let Some(link) = &rest.0 {
                if test(&link.step, &link.effects) {
                    return Some((&link.step, &link.effects));
                }
                open.extend(link.step.args.iter().filter_map(Arg::path));
                rest = &link.before;
            }
        }
        None
    }

    /// The steps, oldest first.
    pub fn steps(&self) -> Vec<Arc<Step>> {
        let mut steps = Vec::with_capacity(self.len());
        let mut rest = self;
        while let Some(link) = &rest.0 {
            steps.push(link.step.clone());
            rest = &link.before;
        }
        steps.reverse();
        steps
    }

    /// The operators that the steps name, each once.
    pub fn operators(&self) -> Vec<Arc<Operator>> {
        let mut found: Vec<Arc<Operator>> = Vec::new();
        for arg in self.steps().iter().flat_map(|step| &step.args) {
            match arg {
                Arg::Operator(operator) if !found.contains(operator) => {
                    found.push(operator.clone())
                }
                _ => {}
            }
        }
        found
    }
}

/// Paths are equal if their steps are the same.
impl PartialEq for Path {
    fn eq(&self, other: &Path) -> bool {
        let (mut a, mut b) = (self, other);
        while let (Some(x), Some(y)) = (&a.0, &b.0) {
            if Arc::ptr_eq(x, y) {
                return true;
            }
            if x.length != y.length || !x.step.same(&y.step) {
                return false;
            }
            (a, b) = (&x.before, &y.before);
        }
        a.is_empty() && b.is_empty()
    }
}

impl Eq for Path {}

impl Drop for Path {
    // Derived code would recurse once per step, and scripts take 100,000 of them.
    fn drop(&mut self) {
        let mut rest = self.0.take();
        while let Some(link) = rest {
            rest = Arc::into_inner(link).and_then(|mut link| link.before.0.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_dropped_without_recursion() {
        let step = Arc::new(Step {
            op: "unroll",
            args: vec![Arg::Int(1)],
            site: None,
        });
        let mut path = Path::default();
        for _ in 0..1_000_000 {
            path = path.then(step.clone(), Effects::default());
        }
        assert_eq!(path.len(), 1_000_000);
        drop(path);
    }
}
