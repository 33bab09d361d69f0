//! Local buffers that hold a part of a tensor: their names, their place in a loop, copies from and
//! to the tensor, and statements that use the buffer instead.
//!
//! A buffer holds a box, the footprint of a subnest, and copies run exactly through it.

use super::resolve::{body_of, chain, find_scope};
use crate::analysis::footprint::{AccessKind, Side, Use, footprint, uses};
use crate::analysis::position::Position;
use crate::analysis::verify::MAX_LOCAL;
use crate::failure::Parameter;
use crate::ir::{
    Affine, Expr, Fill, Index, Lineage, Loop, Name, Nest, Range, Role, Shape, Stmt, Tensor, Tree,
};
use crate::{Error, LoopRef, mistake, refusal};
use std::collections::HashSet;
use std::sync::Arc;

/// A loop, or the whole nest, with its uses of a tensor.
pub(super) struct Scope<'a> {
    pub(super) position: Position,
    /// The loop; `None` for the whole nest.
    pub(super) name: Option<Name>,
    /// At least one use.
    pub(super) uses: Vec<Use<'a>>,
    pub(super) tensor: &'a Tensor,
}

impl<'a> Scope<'a> {
    /// The loop `reference`, which has to use `tensor`. Each comes with the parameter that errors
    /// blame.
    pub(super) fn find(
        nest: &'a Nest,
        (reference, scope): (&LoopRef, &dyn Parameter),
        (tensor, parameter): (&str, &dyn Parameter),
    ) -> Result<Self, Error> {
        let position = find_scope(nest, reference, scope)?;
        let name = chain(nest, &position).last().map(|l| l.name.clone());
        let mut uses = uses(nest, tensor);
        uses.retain(|u| u.position.starts_with(&position));
        let Some(tensor) = uses.first().map(|u| u.tensor) else {
            let have = nest.with_trees(body_of(nest, &position).to_vec());
            let have = have.lines().into_iter().flat_map(|line| labels(line.tree));
            let mut listed = Vec::new();
            have.for_each(|label| {
                if !listed.contains(&label) {
                    listed.push(label)
                }
            });
            let (place, have) = (place(name.as_ref()), listed.join(", "));
            let text = format!("{place} does not use {tensor}: it uses {have}");
            return Err(refusal(text).at(parameter).on(nest, name));
        };
        Ok(Scope {
            position,
            name,
            uses,
            tensor,
        })
    }

    /// Describes the loop, or the whole nest, in messages.
    pub(super) fn place(&self) -> String {
        place(self.name.as_ref())
    }

    /// The box that one iteration uses.
    pub(super) fn footprint(&self, nest: &Nest) -> Vec<Side> {
        footprint(nest, &self.uses, self.position.len()).unwrap_or_default()
    }
}

fn place(name: Option<&Name>) -> String {
    match name {
        Some(name) => format!("loop `{name}`"),
        None => "the nest".to_owned(),
    }
}

/// The local tensor of the nest with this label, which is the argument for `parameter`.
pub(super) fn local<'a>(
    nest: &'a Nest,
    label: &str,
    parameter: &dyn Parameter,
) -> Result<&'a Tensor, Error> {
    let locals = nest.locals();
    if let Some(found) = locals.iter().find(|t| t.label() == label) {
        return Ok(found);
    }
    let have: Vec<&str> = locals.iter().map(|t| t.label()).collect();
    let have = match have.as_slice() {
        [] => ", which has none".to_owned(),
        have => format!(": those are {}", have.join(", ")),
    };
    let text = format!("{label} is not a local tensor of the nest{have}");
    let help = "`pack`, `stage` and `localize` make local tensors; `padded` stores a larger copy";
    Err(refusal(text).help(help).at(parameter).on(nest, []))
}

/// The dimensions of a tensor, counted from 0, in the order that is the argument for `parameter`.
/// Without an argument they keep their order.
pub(super) fn dimensions(
    tensor: &Tensor,
    order: Option<&[i64]>,
    parameter: &dyn Parameter,
) -> Result<Vec<usize>, Error> {
    let rank = tensor.shape().rank();
    let Some(order) = order else {
        return Ok((0..rank).collect());
    };
    let listed = |d: usize| order.iter().position(|o| usize::try_from(*o) == Ok(d + 1));
    if order.len() != rank || !(0..rank).all(|d| listed(d).is_some()) {
        let text = format!(
            "{order:?} does not list each of the {rank} dimensions of {} once",
            tensor.label()
        );
        let error = mistake(text).help("dimensions count from 1, as in `[2, 1]`");
        return Err(error.at(parameter));
    }
    let counted = order.iter().filter_map(|d| usize::try_from(d - 1).ok());
    Ok(counted.collect())
}

/// The tensors that a statement or a fill uses.
fn labels(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    match tree {
        Tree::Stmt(s) => {
            found.push(s.target.label().to_owned());
            s.value
                .for_each_tensor(&mut |t| found.push(t.label().to_owned()));
        }
        Tree::Fill(fill) => found.push(fill.target.label().to_owned()),
        Tree::Loop(_) | Tree::Local(_) => {}
    }
    found
}

/// Prints a statement or fill.
pub(super) fn text_at(nest: &Nest, used: &Use) -> String {
    let (last, around) = match used.position.split_last() {
        Some((last, around)) => (*last, around),
        None => (0, &[][..]),
    };
    match body_of(nest, around).get(last) {
        Some(Tree::Stmt(s)) => s.to_string(),
        Some(Tree::Fill(fill)) => fill.to_string(),
        _ => String::new(),
    }
}

/// Free names for a buffer and its loops. A buffer's name is the tensor's with one of `words`; a
/// loop's name also has a number up to `rank`. If one is taken, the words are numbered from 2 on.
pub(super) fn free_names<const N: usize>(
    nest: &Nest,
    of: &Name,
    words: [&str; N],
    rank: usize,
) -> [Name; N] {
    let loops = nest.loops().into_iter().map(|(_, l)| l.name.clone());
    let around = nest.context().iter().map(|l| l.name.clone());
    let tensors = nest.tensors().into_iter();
    let tensors = tensors.chain(nest.locals().into_iter().cloned());
    let tensors = tensors.filter_map(|t| t.name().cloned());
    let beside = nest.beside().iter().cloned();
    let taken: HashSet<Name> = loops.chain(around).chain(tensors).chain(beside).collect();
    let is_free = |name: &Name| {
        let mut loops = (1..=rank).map(|d| name.derived(d));
        !taken.contains(name) && !loops.any(|l| taken.contains(&l))
    };
    let mut number = 1;
    loop {
        let suffix = |word: &str| match number {
            1 => word.to_owned(),
            number => format!("{word}{number}"),
        };
        let names = words.map(|w| of.derived(suffix(w)));
        if names.iter().all(is_free) {
            return names;
        }
        number += 1;
    }
}

/// A local tensor that replaces a box of another tensor.
pub(super) struct Buffer<'a> {
    local: Tensor,
    source: &'a Tensor,
    sides: Vec<Side>,
    /// The dimensions of the source, in the order of the buffer.
    order: Vec<usize>,
}

impl<'a> Buffer<'a> {
    /// Creates a buffer with those dimensions of the box, in `order`, that have more than one
    /// element.
    pub(super) fn new(name: Name, source: &'a Tensor, sides: Vec<Side>, order: &[usize]) -> Self {
        let extents = order.iter().map(|d| sides[*d].extent);
        let shape = Shape::of_extents(extents.filter(|extent| *extent > 1));
        let bytes = shape.elements().saturating_mul(source.elem().size() as u64);
        let shape = match bytes > MAX_LOCAL {
            // If sizes leave it open, the refusal shows them, not the greatest number.
            true => Shape::of_virtual_dims(order.iter().map(|d| sides[*d].count()).collect()),
            false => shape,
        };
        Buffer {
            local: Tensor::new(shape, source.elem()).named(name),
            source,
            sides,
            order: order.to_vec(),
        }
    }

    pub(super) fn declaration(&self) -> Tree {
        Tree::Local(self.local.clone())
    }

    /// Rearranges a list with one entry per dimension of the source into the buffer's order.
    fn arrange<T>(&self, of: impl Fn(usize, &Side) -> T) -> Vec<T> {
        let sides = self.order.iter().map(|d| (*d, &self.sides[*d]));
        let kept = sides.filter(|(_, side)| side.extent > 1);
        kept.map(|(d, side)| of(d, side)).collect()
    }

    fn index(&self, index: &[Affine]) -> Vec<Affine> {
        self.arrange(|d, side| index[d].minus(&side.low))
    }

    /// Replaces the tensor by the buffer in all trees.
    pub(super) fn redirect(&self, trees: &[Tree]) -> Vec<Tree> {
        self.redirect_where(trees, &|_| true)
    }

    /// Replaces the uses that `chosen` selects. It sees the uses in the order of the text; the
    /// reads of a statement come before its write.
    pub(super) fn redirect_where(&self, trees: &[Tree], chosen: Chosen) -> Vec<Tree> {
        let redirected = trees.iter().map(|tree| self.redirect_tree(tree, chosen));
        redirected.collect()
    }

    fn redirect_tree(&self, tree: &Tree, chosen: Chosen) -> Tree {
        let is_source = |tensor: &Tensor| tensor.name() == self.source.name();
        match tree {
            Tree::Loop(l) => Tree::of_loop(Loop {
                body: self.redirect_where(&l.body, chosen),
                ..(**l).clone()
            }),
            Tree::Stmt(s) => {
                let mut s: Stmt = (**s).clone();
                s.value = s.value.map_accesses(&|tensor, index| {
                    let index = match index {
                        _ if !is_source(tensor) || !chosen(AccessKind::Read) => return None,
                        Index::At(index) => self.index(index),
                        _ => Vec::new(),
                    };
                    Some(Expr::access(self.local.clone(), Index::At(index)))
                });
                if is_source(&s.target) && chosen(AccessKind::Set) {
                    s.index = self.index(&s.index);
                    s.target = self.local.clone();
                }
                Tree::Stmt(Arc::new(s))
            }
            Tree::Fill(fill) if is_source(&fill.target) && chosen(AccessKind::Fill) => {
                Tree::Fill(Arc::new(Fill {
                    target: self.local.clone(),
                    region: self.arrange(|d, side| {
                        let (low, extent) = &fill.region[d];
                        (low.minus(&side.low), extent.clone())
                    }),
                    ..(**fill).clone()
                }))
            }
            Tree::Fill(_) | Tree::Local(_) => tree.clone(),
        }
    }

    /// A fill of the whole buffer, in place of one of the tensor.
    pub(super) fn filled(&self, fill: &Fill) -> Tree {
        let whole = |extent: &u64| i64::try_from(*extent).unwrap_or(i64::MAX);
        let extents = self.local.shape().extents().iter();
        let region = extents.map(|e| (Affine::constant(0), Affine::constant(whole(e))));
        Tree::Fill(Arc::new(Fill {
            target: self.local.clone(),
            region: region.collect(),
            ..fill.clone()
        }))
    }

    /// Loops that copy the box into the buffer.
    pub(super) fn load(&self, name: &Name) -> Tree {
        self.copy(name, Role::Load, |part, whole| (part, whole))
    }

    /// Loops that copy the buffer into the box.
    pub(super) fn store(&self, name: &Name) -> Tree {
        self.copy(name, Role::Store, |part, whole| (whole, part))
    }

    /// Loops over the dimensions in the order of the buffer, named after `name`, around a statement
    /// that copies an element: from the second to the first.
    fn copy(
        &self,
        name: &Name,
        role: Role,
        direct: impl Fn(Place, Place) -> (Place, Place),
    ) -> Tree {
        let once = Range::constant(0, 1);
        let iterator = |d: usize| name.derived(d + 1);
        let offset = |d: usize, side: &Side| {
            if side.offsets == once {
                Affine::constant(0)
            } else {
                Affine::iterator(iterator(d))
            }
        };
        let whole = self.sides.iter().enumerate();
        let whole = whole.map(|(d, side)| side.low.plus(&offset(d, side)));
        let part = (self.local.clone(), self.arrange(offset));
        let ((target, index), from) = direct(part, (self.source.clone(), whole.collect()));
        let copy = Tree::Stmt(Arc::new(Stmt {
            target,
            index,
            update: None,
            value: Expr::element(&from.0, from.1),
            origin: None,
        }));
        let dimensions = self.order.iter().rev();
        let loops = dimensions.filter(|d| self.sides[**d].offsets != once);
        loops.fold(copy, |inside, d| {
            let range = self.sides[*d].offsets.clone();
            Tree::of_loop(Loop {
                lineage: Lineage::of(role),
                ..Loop::serial(iterator(*d), range, vec![inside])
            })
        })
    }
}

/// Whether a use with this access is redirected.
pub(super) type Chosen<'c> = &'c dyn Fn(AccessKind) -> bool;

/// A tensor and an index of it.
type Place = (Tensor, Vec<Affine>);
