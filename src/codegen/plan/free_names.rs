//! Collects the tensors and iterators that nodes use without declaring them.

use super::tree::{Fetch, Node};
use crate::analysis::prefetch_plan::Prefetched;
use crate::ir::{Affine, Name, Segment, Tensor};
use std::collections::BTreeSet;

/// Tensors in the order of appearance, and iterators.
#[derive(Default)]
pub(super) struct FreeNames {
    pub(super) tensors: Vec<Tensor>,
    iterators: Vec<Name>,
}

impl FreeNames {
    /// The free names of one iteration of a loop.
    pub(super) fn of(body: &[Node]) -> FreeNames {
        let mut free = FreeNames::default();
        free.iteration(body);
        free
    }

    pub(super) fn mentions(&self, iterator: &Name) -> bool {
        self.iterators.contains(iterator)
    }

    /// Prefetched tensors come last.
    fn iteration(&mut self, body: &[Node]) {
        let outside = self.tensors.len();
        body.iter().for_each(|node| self.node(node));
        let local = |tensor: &Tensor| {
            let mut nodes = body.iter();
            nodes.any(|n| matches!(n, Node::Local(local) if local.tensor.name() == tensor.name()))
        };
        let mut found = self.tensors.split_off(outside);
        found.retain(|tensor| !local(tensor));
        self.tensors.append(&mut found);
        for node in body {
            if let Node::Fetch(fetch) = node {
                self.fetch(fetch);
            }
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Loop(l) => {
                l.of.range.bounds().for_each(|bound| self.index(bound));
                for lookup in l.of.range.within.iter().flat_map(Segment::lookups) {
                    self.tensor(&lookup.tensor);
                }
                let read = l.of.range.within.iter().flat_map(Segment::parts);
                read.for_each(|part| self.index(part));
                self.iteration(&l.body);
            }
            Node::Region(region) => self.iteration(&region.body),
            Node::Outlined(outlined) => self.iteration(&outlined.body),
            Node::Fill(fill) => {
                self.tensor(&fill.target);
                for (low, extent) in &fill.region {
                    self.index(low);
                    self.index(extent);
                }
            }
            Node::Stmt(s) => {
                self.tensor(&s.of.target);
                s.of.index.iter().for_each(|index| self.index(index));
                s.of.value
                    .for_each_tensor(&mut |tensor| self.tensor(tensor));
                s.of.value.for_each_index(&mut |index| self.index(index));
            }
            Node::Copy(block) => {
                for (tensor, index) in [&block.to, &block.from] {
                    self.tensor(tensor);
                    index.iter().for_each(|index| self.index(index));
                }
            }
            Node::Local(_)
            | Node::Fetch(_)
            | Node::Fence
            | Node::Barrier
            | Node::InOrder
            | Node::LoadFence => {}
        }
    }

    fn fetch(&mut self, fetch: &Fetch) {
        match fetch {
            Fetch::Touch(touch) => {
                self.tensor(&touch.tensor);
                touch.index.iter().for_each(|index| self.index(index));
                self.last_element(&touch.tensor);
            }
            Fetch::Share(Prefetched::Lines(lines)) => {
                self.tensor(&lines.tensor);
                self.last_element(&lines.tensor);
                let number = lines.number.iter().flat_map(|(at, trips)| [at, trips]);
                let all = lines.first.iter().chain(&lines.extents).chain(number);
                all.for_each(|index| self.index(index));
            }
            Fetch::Share(Prefetched::Slice(share)) => {
                self.tensor(&share.tensor);
                self.index(&share.number);
                share.first.iter().for_each(|index| self.index(index));
                if let Some(next) = &share.next {
                    self.index(&next.later);
                    next.first.iter().for_each(|index| self.index(index));
                }
            }
        }
    }

    /// The sizes that say where a tensor ends: a prefetch stays in it.
    fn last_element(&mut self, tensor: &Tensor) {
        tensor
            .shape()
            .dims()
            .iter()
            .for_each(|extent| self.index(extent));
    }

    fn tensor(&mut self, tensor: &Tensor) {
        if !self.tensors.iter().any(|t| t.name() == tensor.name()) {
            self.tensors.push(tensor.clone());
            if tensor.is_strided() {
                self.iterators.extend(tensor.strides());
                return;
            }
            // Addresses depend on all extents but the first.
            let dims = tensor.shape().dims();
            let sizes = dims.iter().skip(1).flat_map(Affine::sizes);
            self.iterators.extend(sizes.cloned());
        }
    }

    /// The sizes, in the order of their names.
    pub(super) fn sizes(&self) -> Vec<Name> {
        let sizes = self.iterators.iter().filter(|name| name.size().is_some());
        let sizes: BTreeSet<&Name> = sizes.collect();
        sizes.into_iter().cloned().collect()
    }

    fn index(&mut self, index: &Affine) {
        let names = index.terms().iter().map(|(name, _)| name);
        self.iterators.extend(names.cloned());
    }
}
