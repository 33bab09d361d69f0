//! Keeps values in the memory of another tensor while that tensor is dead.
//!
//! Checks that both tensors fit, how long the values are needed, and that the other tensor is free
//! for so long. Inputs are dead only if `donate` says so.

use super::resolve::body_of;
use crate::analysis::footprint::{AccessKind, Use, uses};
use crate::analysis::position::{self, Position};
use crate::analysis::verify::verify;
use crate::failure::Parameter;
use crate::ir::{Index, Loop, Name, Nest, Node, Stmt, Tensor, Tree};
use crate::refusals::{is_output, output};
use crate::{Error, refusal};

/// A tensor that a nest computes for its own use, between the first and the last tree of a sequence
/// that use it.
pub(super) struct Temporary<'a> {
    pub(super) nest: &'a Nest,
    pub(super) tensor: &'a Tensor,
    scope: Vec<usize>,
    first: usize,
    last: usize,
    /// The parameter that it is the argument for.
    parameter: &'a dyn Parameter,
}

/// When another tensor has to be free.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Free {
    /// Before the temporary is computed.
    Before,
    /// While the temporary is computed: these loops read the other tensor for the last time.
    Meanwhile,
}

impl<'a> Temporary<'a> {
    /// The tensor `name`, which is the argument for `parameter`.
    pub(super) fn find(
        nest: &'a Nest,
        name: &str,
        parameter: &'a dyn Parameter,
    ) -> Result<Temporary<'a>, Error> {
        let uses = uses(nest, name);
        let refuse = || {
            let text = format!("{name} is not computed for later parts of the nest alone");
            let help = "join the nest that computes it and the nests that read it with fuse_outer";
            refusal(text).help(help).at(parameter).on(nest, [])
        };
        let tensor = uses.first().ok_or_else(refuse)?.tensor;
        if is_output(nest, tensor) {
            return Err(output(tensor).at(parameter).on(nest, []));
        }
        if !nest.is_passed_on(tensor) && !nest.locals().contains(&tensor) {
            return Err(refuse());
        }
        let position = &uses[0].position;
        let shared = |u: &Use| {
            let both = position.iter().zip(&u.position);
            both.take_while(|(a, b)| a == b).count()
        };
        // A statement is not a scope, even if it has all uses.
        let depth = uses.iter().map(shared).min().unwrap_or(0);
        let depth = depth.min(position.len() - 1);
        let last = uses.iter().map(|u| u.position[depth]).max();
        Ok(Temporary {
            nest,
            tensor,
            scope: position[..depth].to_vec(),
            first: position[depth],
            last: last.unwrap_or(position[depth]),
            parameter,
        })
    }

    /// Why the tensor `buffer` cannot keep the values; `None` if it can.
    fn wrong(&self, buffer: &Tensor, free: Free) -> Option<Error> {
        let (tensor, name) = (self.tensor.label(), buffer.label());
        let as_own = buffer.name().map(|n| self.tensor.named(n.clone()));
        if as_own.as_ref() != Some(buffer) || buffer == self.tensor {
            return Some(differs(tensor, name));
        }
        let uses = uses(self.nest, buffer.label());
        // Uses outside of the sequence may come before and after it.
        let place = |u: &Use| {
            if u.position.starts_with(&self.scope) {
                u.position.get(self.scope.len()).copied()
            } else {
                None
            }
        };
        let reads = |u: &Use| u.access == AccessKind::Read;
        let overwriting = match free {
            Free::Before => self.overwriting(buffer),
            Free::Meanwhile => Vec::new(),
        };
        let overwrites = |u: &&Use| overwriting.contains(&u.position);
        let others = || uses.iter().filter(|u| !overwrites(u));
        let needed = others().any(|u| match place(u) {
            None => true,
            Some(k) if k == self.first && free == Free::Meanwhile => !reads(u),
            Some(k) => (self.first..=self.last).contains(&k),
        });
        if needed {
            let error = refusal(format!("{name} is used while {tensor} is needed"));
            return Some(
                error.help("reduce_cache_miss overwrites a tensor in the loops that read it last"),
            );
        }
        let read_first = |u: &Use| place(u) == Some(self.first) && reads(u);
        if free == Free::Meanwhile && !uses.iter().any(read_first) {
            let error = refusal(format!("{tensor} is not computed of {name}"));
            return Some(error.help("reuse_buffer takes any tensor that is not needed"));
        }
        let mut after = uses.iter().filter(|u| place(u) > Some(self.last));
        let is_set = matches!(
            after.next().map(|u| u.access),
            Some(AccessKind::Set | AccessKind::Fill)
        );
        let donated = self.nest.donated().iter().any(|n| buffer.name() == Some(n));
        if is_set || donated || !overwriting.is_empty() || self.nest.locals().contains(&buffer) {
            None
        } else {
            let error = refusal(format!("what {name} holds may be needed after the nest"));
            Some(error.help(
                "`donate` says that nobody needs an input afterwards; `localize` makes a \
                 temporary local",
            ))
        }
    }

    /// The statements that may overwrite elements of the tensor in `buffer`: each assigns an
    /// element of `buffer`, and reads the tensor only at the same index.
    fn overwriting(&self, buffer: &Tensor) -> Vec<Position> {
        let mut found = Vec::new();
        position::walk(self.nest.trees(), &mut |position, _, tree| {
            if let Tree::Stmt(s) = tree
                && position.starts_with(&self.scope)
                && s.target == *buffer
                && s.update.is_none()
                && reads_alone(s, self.tensor)
            {
                found.push(position.to_vec());
            }
        });
        found
    }

    /// Keeps the values in `buffer`, which is the argument for `other`, or in the first free
    /// tensor.
    pub(super) fn kept_in(
        &self,
        buffer: Option<&str>,
        free: Free,
        other: &dyn Parameter,
    ) -> Result<Nest, Error> {
        let locals = self.nest.locals().into_iter().cloned();
        let all: Vec<Tensor> = locals.chain(self.nest.tensors()).collect();
        if let Some(name) = buffer {
            let refuse = |error: Error| Err(error.at(other).on(self.nest, []));
            let Some(found) = all.iter().find(|t| t.label() == name) else {
                return refuse(differs(self.tensor.label(), name));
            };
            return match self.wrong(found, free) {
                Some(error) => refuse(error),
                None => Ok(self.nest.with_trees(self.renamed(found))),
            };
        }
        let fits = |t: &&Tensor| self.wrong(t, free).is_none();
        let mut nests = all
            .iter()
            .filter(fits)
            .map(|t| self.nest.with_trees(self.renamed(t)));
        // A local tensor may be declared too late, or in another sequence.
        match nests.find(|n| verify(n).is_ok()) {
            Some(nest) => Ok(nest),
            None => {
                let tensor = self.tensor.label();
                let when = match free {
                    Free::Before => "while it is needed",
                    Free::Meanwhile => "where it is computed",
                };
                let text = format!("no tensor like {tensor} is free {when}");
                Err(refusal(text).at(self.parameter).on(self.nest, []))
            }
        }
    }

    /// The tensor that the whole temporary is copied to in the end.
    pub(super) fn copy(&self) -> Option<Tensor> {
        let trees = body_of(self.nest, &self.scope);
        copied(trees.get(self.last)?, self.tensor)
    }

    /// The nest that computes the values directly in `target`.
    pub(super) fn computed_in(&self, target: &Tensor) -> Nest {
        self.nest.with_trees(self.renamed(target))
    }

    /// Replaces the tensor by `buffer`, and drops statements that then copy an element to itself.
    fn renamed(&self, buffer: &Tensor) -> Vec<Tree> {
        let rename = |name: &Name| {
            if self.tensor.name() == Some(name) {
                buffer.name().cloned()
            } else {
                None
            }
        };
        let trees = self.nest.trees().iter();
        let declared = |tree: &Tree| matches!(tree, Tree::Local(t) if t == self.tensor);
        let mut kept = Vec::new();
        for tree in trees {
            kept.extend(without(tree, &declared).map(|t| t.rename_tensors(&rename)));
        }
        let idle = |tree: &Tree| matches!(tree, Tree::Stmt(s) if copies_itself(s));
        kept.iter().filter_map(|t| without(t, &idle)).collect()
    }
}

/// The refusal for tensors of different shapes or element types.
fn differs(tensor: &str, buffer: &str) -> Error {
    refusal(format!("{buffer} is not a tensor like {tensor}"))
}

/// The tree without some trees, and without loops that are then empty.
fn without(tree: &Tree, left_out: &dyn Fn(&Tree) -> bool) -> Option<Tree> {
    match tree {
        tree if left_out(tree) => None,
        Tree::Loop(l) => {
            let body: Vec<Tree> = l.body.iter().filter_map(|t| without(t, left_out)).collect();
            (!body.is_empty()).then(|| {
                Tree::of_loop(Loop {
                    body,
                    ..(**l).clone()
                })
            })
        }
        other => Some(other.clone()),
    }
}

/// Whether a statement reads a tensor only at the index that it assigns.
fn reads_alone(s: &Stmt, tensor: &Tensor) -> bool {
    let (mut reads, mut alone) = (false, true);
    s.value.for_each_access(&mut |t, index| {
        if t == tensor {
            reads = true;
            alone &= is_at(index, s);
        }
    });
    reads && alone
}

/// Whether an index is the one that a statement assigns.
fn is_at(index: &Index, s: &Stmt) -> bool {
    match index {
        Index::At(index) => *index == s.index,
        Index::Unset | Index::Forbidden => s.index.is_empty(),
    }
}

fn copies_itself(s: &Stmt) -> bool {
    let reads = matches!(s.value.node(), Node::Access { tensor, index } if *tensor == s.target && is_at(index, s));
    s.update.is_none() && reads
}

/// The tensor that a loop over one statement copies `tensor` to, element by element.
fn copied(tree: &Tree, tensor: &Tensor) -> Option<Tensor> {
    match tree {
        Tree::Loop(l) => match l.body.as_slice() {
            [inner] => copied(inner, tensor),
            _ => None,
        },
        Tree::Stmt(s) => {
            let name = tensor.name()?;
            let like = s.target.named(name.clone()) == *tensor;
            let as_own = Stmt {
                target: tensor.clone(),
                ..(**s).clone()
            };
            (like && copies_itself(&as_own)).then(|| s.target.clone())
        }
        Tree::Fill(_) | Tree::Local(_) => None,
    }
}
