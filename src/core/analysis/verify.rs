//! Invariants of every nest.
//!
//! 1. Loop names are unique.
//! 2. Bounds mention only iterators of loops further out.
//! 3. Indices of statements and fills mention only iterators of loops around them, and there is
//!    one index per dimension.
//! 4. Every tensor has a name; values consist of accesses, numbers and element-wise operations.
//! 5. Lower and upper bounds are not empty lists; steps are at least 1.
//! 6. Nothing inside a vector loop is parallel or vector (OpenMP forbids it), and neither it nor
//!    anything inside prefetches (compilers do not vectorize it then).
//! 7. A loop that collapses n loops is parallel. The others are nested in it perfectly, with bounds
//!    that do not depend on each other. They are neither parallel nor vector. Only the last one
//!    prefetches.
//! 8. Nests have at most [`MAX_DEPTH`] levels and [`MAX_TREES`] loops and statements, and
//!    coefficients stay in the limits of `Affine`.
//!
//! 9. A local tensor has a unique name, numbers as extents, and at most [`MAX_LOCAL`] bytes. A
//!    sequence, with everything in it, declares it once and uses it only after that. Sequences that
//!    are not in each other may declare the same one.
//!
//! Rules 6 to 9 depend on the user's requests and are refused. Violations of the others are bugs.

use crate::ir::{Affine, Expr, Index, Loop, Mode, Name, Nest, Node, Range, Segment, Tensor, Tree};
use std::collections::HashSet;

/// The most levels of a nest.
pub const MAX_DEPTH: usize = 128;
/// The most loops, statements and fills of a nest.
pub const MAX_TREES: usize = 65_536;
/// The most bytes of a local tensor: 1 GiB.
pub const MAX_LOCAL: u64 = 1 << 30;

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// Invariant 6.
    #[error("loop `{inner}` is {mode} inside the vector loop `{outer}`")]
    InsideVector {
        /// The vector loop.
        outer: Name,
        /// The loop inside.
        inner: Name,
        /// `parallel` or `vector`.
        mode: &'static str,
    },
    /// Invariant 6: hints.
    #[error("loop `{inner}` prefetches in the vector loop `{outer}`, which would be none then")]
    PrefetchInVector {
        /// The vector loop.
        outer: Name,
        /// The loop inside, or the same one.
        inner: Name,
    },
    /// Invariant 7.
    #[error(
        "`{name}` cannot collapse {collapse} loops: they must be nested perfectly, with bounds \
         that do not depend on each other, and `{name}` alone may be parallel or vector"
    )]
    NotCollapsible {
        /// The outermost of the loops.
        name: Name,
        /// The requested number of loops.
        collapse: usize,
    },
    /// Invariant 8: depth.
    #[error("the nest would be deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// Invariant 8: size.
    #[error("the nest would have {trees} loops and statements; the limit is {MAX_TREES}")]
    TooLarge {
        /// The number of loops and statements.
        trees: usize,
    },
    /// Invariant 8: coefficients.
    #[error("the index `{index}` would have a coefficient or constant beyond 2^40")]
    IndexTooLarge { index: Affine },
    /// Invariant 9: scope.
    #[error("the local tensor {tensor} would be used where it is not declared")]
    OutOfScope { tensor: String },
    /// Invariant 9: names.
    #[error("two tensors would be named {tensor}, one of them local")]
    LocalClash {
        /// The name.
        tensor: String,
    },
    /// Invariant 9: size.
    #[error("the local tensor {tensor} would have {bytes} bytes; the limit is 1 GiB")]
    LocalTooLarge {
        tensor: String,
        /// Its size.
        bytes: u64,
    },
    /// Invariant 9: a local tensor's extents are numbers.
    #[error(
        "the local tensor {tensor} would have the shape {shape}, and local tensors need numbers"
    )]
    LocalSized { tensor: String, shape: String },
    /// The bounds of a loop on a device are read.
    #[error("the bounds of `{name}` are read from a tensor, and loops on devices have affine ones")]
    ReadOnDevice { name: Name },
    /// A loop is named like a size.
    #[error("the loop `{name}` has the name of a size")]
    LoopIsSize { name: Name },
    #[error("{0}")]
    Malformed(String),
}

impl Invalid {
    /// The loops at fault.
    pub fn culprits(&self) -> Vec<Name> {
        match self {
            Invalid::InsideVector { outer, inner, .. }
            | Invalid::PrefetchInVector { outer, inner } => vec![outer.clone(), inner.clone()],
            Invalid::NotCollapsible { name, .. } => vec![name.clone()],
            _ => Vec::new(),
        }
    }
}

/// Checks all invariants.
///
/// # Errors
/// The first violation in depth-first order.
pub fn verify(nest: &Nest) -> Result<(), Invalid> {
    let trees = nest.trees().iter().map(Tree::size).sum();
    if trees > MAX_TREES {
        return Err(Invalid::TooLarge { trees });
    }
    let locals = nest.locals();
    let mut walk = Walk {
        local: locals.iter().filter_map(|tensor| tensor.name()).collect(),
        names: nest.context().iter().map(|l| &l.name).collect(),
        outer: nest.context().iter().collect(),
        scope: Vec::new(),
    };
    walk.check_locals(nest, &locals)?;
    walk.sequence(nest.trees())
}

struct Walk<'a> {
    names: HashSet<&'a Name>,
    outer: Vec<&'a Loop>,
    /// The names of all local tensors, wherever they are declared.
    local: HashSet<&'a Name>,
    /// The local tensors in scope.
    scope: Vec<&'a Tensor>,
}

impl<'a> Walk<'a> {
    /// Checks that local tensors of one name are the same, and that no other tensor has their name.
    fn check_locals(&self, nest: &Nest, locals: &[&Tensor]) -> Result<(), Invalid> {
        if locals.is_empty() {
            return Ok(());
        }
        let others = nest.tensors();
        for (k, local) in locals.iter().enumerate() {
            let tensor = local.label().to_owned();
            if local.shape().is_sized() {
                let shape = local.shape().to_string();
                return Err(Invalid::LocalSized { tensor, shape });
            }
            let elements = local.shape().elements();
            let bytes = elements.saturating_mul(local.elem().size() as u64);
            if bytes > MAX_LOCAL {
                return Err(Invalid::LocalTooLarge { tensor, bytes });
            }
            let named = |t: &Tensor| t.name() == local.name();
            if others.iter().any(named) || locals[..k].iter().any(|t| named(t)) {
                return Err(Invalid::LocalClash { tensor });
            }
        }
        Ok(())
    }

    fn sequence(&mut self, trees: &'a [Tree]) -> Result<(), Invalid> {
        let outside = self.scope.len();
        let result = trees.iter().try_for_each(|t| self.tree(t));
        self.scope.truncate(outside);
        result
    }

    fn declare(&mut self, local: &'a Tensor) -> Result<(), Invalid> {
        if local.name().is_none() {
            return malformed("a local tensor has no name".to_owned());
        }
        if self.scope.contains(&local) {
            let tensor = local.label().to_owned();
            return Err(Invalid::LocalClash { tensor });
        }
        self.scope.push(local);
        Ok(())
    }

    fn tree(&mut self, tree: &'a Tree) -> Result<(), Invalid> {
        match tree {
            Tree::Loop(l) => {
                self.enter(l)?;
                self.outer.push(l);
                let result = self.sequence(&l.body);
                self.outer.pop();
                result
            }
            Tree::Local(tensor) => self.declare(tensor),
            Tree::Stmt(s) => {
                self.access(&s.target, &s.index)?;
                self.value(&s.value)
            }
            Tree::Fill(fill) => {
                let rank = (fill.target.shape().rank(), fill.region.len());
                if rank.0 != rank.1 || fill.target.name().is_none() {
                    return malformed(format!("a fill of {} does not fit it", fill.target.label()));
                }
                self.in_scope(&fill.target)?;
                fill.region.iter().try_for_each(|(low, _)| self.index(low))
            }
        }
    }

    fn enter(&mut self, l: &'a Loop) -> Result<(), Invalid> {
        if self
            .names
            .get(&l.name)
            .is_some_and(|known| known.size().is_some())
        {
            let name = l.name.clone();
            return Err(Invalid::LoopIsSize { name });
        }
        if !self.names.insert(&l.name) {
            return malformed(format!("two loops are named `{}`", l.name));
        }
        if l.range.lower.is_empty() || l.range.upper.is_empty() || l.range.step < 1 {
            return malformed(format!("loop `{}` has no bounds", l.name));
        }
        if self.outer.len() >= MAX_DEPTH {
            return Err(Invalid::TooDeep);
        }
        let read = l.range.within.iter().flat_map(Segment::parts);
        let mut bounds = l.range.bounds().chain(read);
        bounds.try_for_each(|b| self.index(b))?;
        // Entries limit the iterator more than the facts about them.
        let meant = l.range.within.as_ref().map(|segment| match &segment.lower {
            Some(_) => Range::of_segment(segment),
            None => {
                let own = l.range.own_upper().cloned().collect();
                Range::of_part(l.range.lower.clone(), own, &segment.upper)
            }
        });
        if meant.is_some_and(|meant| meant.as_ref() != Some(&l.range)) {
            let name = &l.name;
            return malformed(format!("loop `{name}` reads bounds and has others"));
        }
        if l.range.within.is_some() && self.outer.iter().any(|o| o.axis().is_some()) {
            let name = l.name.clone();
            return Err(Invalid::ReadOnDevice { name });
        }
        check_collapsible(l)?;
        for fetch in &l.hints.prefetch {
            self.index(&Affine::constant(fetch.distance))?;
            self.index(&Affine::constant(fetch.further))?;
        }
        let mut around = [l].into_iter().chain(self.outer.iter().copied());
        let vector = around.find(|o| o.is_vector());
        if let (Some(outer), [_, ..]) = (vector, l.hints.prefetch.as_slice()) {
            let (outer, inner) = (outer.name.clone(), l.name.clone());
            return Err(Invalid::PrefetchInVector { outer, inner });
        }
        let mode = match l.mode {
            Mode::Parallel { .. } | Mode::ParallelVector { .. } => "parallel",
            Mode::Vector { .. } => "vector",
            Mode::Bound { axis } => axis.word(),
            Mode::Serial => return Ok(()),
        };
        match self.outer.iter().find(|o| o.is_vector()) {
            Some(outer) => Err(Invalid::InsideVector {
                outer: outer.name.clone(),
                inner: l.name.clone(),
                mode,
            }),
            None => Ok(()),
        }
    }

    fn value(&self, value: &Expr) -> Result<(), Invalid> {
        match value.node() {
            Node::Access {
                tensor,
                index: Index::At(index),
            } => self.access(tensor, index),
            Node::Access {
                tensor,
                index: Index::Forbidden,
            } => self.access(tensor, &[]),
            Node::Binary { left, right, .. } => {
                self.value(left)?;
                self.value(right)
            }
            Node::Constant(_) => Ok(()),
            Node::Index(index) => self.index(index),
            Node::Apply { function, args, .. } if args.len() == function.arity() => {
                args.iter().try_for_each(|a| self.value(a))
            }
            _ => malformed("a statement's value is not element-wise".to_owned()),
        }
    }

    fn access(&self, tensor: &Tensor, index: &[Affine]) -> Result<(), Invalid> {
        if tensor.name().is_none() || tensor.shape().rank() != index.len() {
            return malformed(format!("an access to {} does not fit it", tensor.label()));
        }
        self.in_scope(tensor)?;
        index.iter().try_for_each(|a| self.index(a))
    }

    fn in_scope(&self, tensor: &Tensor) -> Result<(), Invalid> {
        let local = tensor.name().is_some_and(|name| self.local.contains(name));
        if !local || self.scope.contains(&tensor) {
            Ok(())
        } else {
            Err(Invalid::OutOfScope {
                tensor: tensor.label().to_owned(),
            })
        }
    }

    fn index(&self, index: &Affine) -> Result<(), Invalid> {
        if !index.is_in_limits() {
            let index = index.clone();
            return Err(Invalid::IndexTooLarge { index });
        }
        let unknown = |name: &Name| !self.outer.iter().any(|l| l.name == *name);
        match index.terms().iter().find(|(name, _)| unknown(name)) {
            Some((name, _)) => malformed(format!("`{index}` uses `{name}` outside of its loop")),
            None => Ok(()),
        }
    }
}

fn check_collapsible(l: &Loop) -> Result<(), Invalid> {
    let collapse = l.collapse();
    let mut band = vec![l];
    while band.len() < collapse {
        let inner = match band[band.len() - 1].body.as_slice() {
            [Tree::Loop(inner)] => inner,
            _ => break,
        };
        let depends = band.iter().any(|o| inner.range.mentions(&o.name));
        let prefetches = !band[band.len() - 1].hints.prefetch.is_empty();
        if depends || prefetches || !inner.is_serial() {
            break;
        }
        band.push(inner);
    }
    if band.len() == collapse {
        Ok(())
    } else {
        Err(Invalid::NotCollapsible {
            name: l.name.clone(),
            collapse,
        })
    }
}

fn malformed<T>(what: String) -> Result<T, Invalid> {
    Err(Invalid::Malformed(what))
}
