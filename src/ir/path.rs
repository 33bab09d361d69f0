//! Paths: the steps that made a nest.

use super::arg::Arg;
use std::fmt;
use std::sync::Arc;

/// Where in a script something was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The script's name, as messages show it.
    pub source: Arc<str>,
    /// Counted from 1.
    pub line: u32,
    /// In characters, counted from 1.
    pub column: u32,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source, self.line)
    }
}

/// One application of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation.
    pub op: &'static str,
    /// The arguments after the nest.
    pub args: Vec<Arg>,
    /// Where it was asked for; `None` outside scripts.
    pub site: Option<Site>,
}

impl Step {
    /// Whether both do the same, wherever they were asked for.
    pub fn same(&self, other: &Step) -> bool {
        self.op == other.op && self.args == other.args
    }
}

/// As a method call, with trees by name.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args: Vec<String> = self.args.iter().map(Arg::short).collect();
        write!(f, "{}({})", self.op, args.join(", "))
    }
}

/// A list of steps that nests share: appending leaves the old path as it was.
#[derive(Clone, Debug, Default)]
pub struct Path(Option<Arc<Link>>);

#[derive(Debug)]
struct Link {
    step: Arc<Step>,
    before: Path,
    length: usize,
    /// How deeply nests in arguments hold nests in arguments.
    depth: usize,
}

impl Path {
    /// The path with `step` appended.
    #[must_use]
    pub fn then(&self, step: Arc<Step>) -> Path {
        let paths = step.args.iter().filter_map(Arg::path);
        let inner = paths.map(|path| path.depth() + 1).max().unwrap_or(0);
        let (length, depth) = (self.len() + 1, self.depth().max(inner));
        let before = self.clone();
        Path(Some(Arc::new(Link {
            step,
            before,
            length,
            depth,
        })))
    }

    /// How deeply nests in arguments of steps hold nests in arguments of their steps.
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

    /// The steps, the first one first.
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
}

/// Paths are equal when their steps do the same.
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
            path = path.then(step.clone());
        }
        assert_eq!(path.len(), 1_000_000);
        drop(path);
    }
}
