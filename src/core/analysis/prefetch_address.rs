//! Addresses for prefetching: the elements that later iterations of a loop touch.

use super::bounds::Bounds;
use crate::ir::{Affine, Index, Loop, Name, Tensor, Tree};

/// An element that a later iteration touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    pub tensor: Tensor,
    /// The element. It may lie outside of the tensor if there is no such iteration.
    pub index: Vec<Affine>,
    /// Whether the iteration writes it.
    pub write: bool,
    /// The number of cache lines from there on: all that the iteration touches of a row that is
    /// gathered, and otherwise 1.
    pub lines: i64,
}

/// The prefetch addresses for `tensor` in `l`. Each access that moves with `l` has the element that
/// it touches first `distance` iterations later. Inner loops start at the first of their lower
/// bounds. A local tensor of the body has no prefetch addresses, since each iteration has its own.
pub fn prefetch_addresses(l: &Loop, tensor: &Name, distance: i64, line: i64) -> Vec<Touch> {
    let is_own = |own: &Tensor| own.name() == Some(tensor);
    if l.body.iter().flat_map(Tree::locals).any(is_own) {
        return Vec::new();
    }
    let by = distance.saturating_mul(l.range.step);
    let later = Affine::iterator(l.name.clone()).plus_constant(by);
    let mut walk = Walk {
        tensor,
        line,
        start: vec![(l.name.clone(), later)],
        bounds: Bounds::default(),
        found: Vec::new(),
    };
    walk.trees(&l.body);
    let moves = |touch: &Touch| touch.index.iter().any(|a| a.depends_on(&l.name));
    let mut found = walk.found;
    found.retain(moves);
    found
}

impl Touch {
    /// Whether an element is this one, or so near in its row that one cache line may contain both.
    /// Later iterations prefetch elements further away.
    fn is_beside(&self, tensor: &Tensor, index: &[Affine], line: i64) -> bool {
        let (Some((last, outer)), Some((other, others))) =
            (self.index.split_last(), index.split_last())
        else {
            return self.index == index;
        };
        let apart = last.minus(other).as_constant();
        let near = apart.is_some_and(|by| by.abs() * (tensor.elem().size() as i64) < line);
        near && outer == others
    }
}

struct Walk<'a> {
    tensor: &'a Name,
    /// The size of a cache line in bytes.
    line: i64,
    /// The iterators at the start of that iteration.
    start: Vec<(Name, Affine)>,
    /// Those of the inner loops.
    bounds: Bounds,
    found: Vec<Touch>,
}

impl Walk<'_> {
    fn trees(&mut self, trees: &[Tree]) {
        for tree in trees {
            match tree {
                Tree::Loop(l) => {
                    let first = match l.range.single() {
                        Some(entry) => Some(entry.as_index()),
                        None => l.range.lower.first().cloned(),
                    };
                    let first = first.map(|first| self.at_start(&first));
                    self.start.push((l.name.clone(), first.unwrap_or_default()));
                    let outside = self.bounds.clone();
                    self.bounds.enter(l);
                    self.trees(&l.body);
                    self.bounds = outside;
                    self.start.pop();
                }
                Tree::Stmt(s) => {
                    self.touch(&s.target, &s.index, true);
                    s.value.for_each_access(&mut |tensor, index| {
                        if let Index::At(index) = index {
                            self.touch(tensor, index, false);
                        }
                    });
                }
                Tree::Local(_) => {}
                Tree::Fill(fill) => {
                    let index: Vec<Affine> =
                        fill.region.iter().map(|(low, _)| low.clone()).collect();
                    self.touch(&fill.target, &index, true);
                }
            }
        }
    }

    fn touch(&mut self, tensor: &Tensor, index: &[Affine], write: bool) {
        if tensor.name() != Some(self.tensor) {
            return;
        }
        let lines = self.lines(tensor, index);
        let index: Vec<Affine> = index.iter().map(|a| self.at_start(a)).collect();
        match self
            .found
            .iter_mut()
            .find(|t| t.is_beside(tensor, &index, self.line))
        {
            Some(known) => known.write |= write,
            None => self.found.push(Touch {
                tensor: tensor.clone(),
                index,
                write,
                lines,
            }),
        }
    }

    /// The cache lines of the elements that inner loops touch in a row that is gathered.
    fn lines(&self, tensor: &Tensor, index: &[Affine]) -> i64 {
        let Some((last, outer)) = index.split_last() else {
            return 1;
        };
        let is_read = |a: &Affine| self.at_start(a).terms().iter().any(|(n, _)| n.is_read());
        if !outer.iter().any(is_read) || is_read(last) {
            return 1;
        }
        let elements = self
            .bounds
            .interval(last)
            .map_or(1, |(low, high)| high - low + 1);
        let bytes = elements.saturating_mul(tensor.elem().size() as i64);
        (bytes.saturating_add(self.line - 1) / self.line).max(1)
    }

    fn at_start(&self, index: &Affine) -> Affine {
        index.substitute_all(&|name| {
            let known = self.start.iter().find(|(n, _)| n == name);
            known.map(|(_, value)| value.clone())
        })
    }
}
