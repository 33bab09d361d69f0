//! Buffers: local tensors that temporarily keep elements of another tensor. The copies into and out
//! of a buffer tell which element each of its elements mirrors.

use super::memory::Memory;
use super::program::{Leaf, Program, What, accesses};
use crate::ir::{Affine, Expr, Fill, Index, Name, Stmt, Tensor};

/// A local tensor that mirrors elements of another tensor.
pub(super) struct Buffer<'p, 'a> {
    pub(super) program: &'p Program<'a>,
    pub(super) label: &'a str,
    /// The sequence that declares it.
    pub(super) scope: Vec<usize>,
    pub(super) tensor: &'a Tensor,
    /// The mirrored tensor, and its memory.
    pub(super) of: &'a Tensor,
    pub(super) of_memory: Memory,
    /// One for each dimension of the mirrored tensor.
    pub(super) digits: Vec<MixedRadix>,
    pub(super) uses: Vec<Use<'p, 'a>>,
}

/// An index of the mirrored tensor. It is a linear combination of the buffer's indices, plus a rest
/// in the iterators around the declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MixedRadix {
    pub(super) of_buffer: Vec<i64>,
    pub(super) rest: Affine,
}

/// A leaf that uses a buffer.
pub(super) struct Use<'p, 'a> {
    pub(super) leaf: &'p Leaf<'a>,
    /// The number of the leaf.
    pub(super) k: usize,
    pub(super) role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Copies an element of the tensor into the buffer.
    Load,
    /// Copies an element of the buffer back.
    Store,
    /// Sets elements of the buffer without reading it.
    Set,
    /// Sets an element and reads the buffer.
    Update,
    /// Reads the buffer.
    Read,
}

impl Role {
    /// Whether the use gives elements values that the tensor does not have.
    pub(super) fn changes(self) -> bool {
        matches!(self, Role::Set | Role::Update)
    }

    pub(super) fn reads(self) -> bool {
        matches!(self, Role::Store | Role::Update | Role::Read)
    }
}

impl MixedRadix {
    /// The index that belongs to this element of the buffer.
    pub(super) fn at(&self, index: &[Affine]) -> Affine {
        let digits = self.of_buffer.iter().zip(index);
        digits.fold(self.rest.clone(), |sum, (c, i)| sum.plus(&i.times(*c)))
    }

    /// The only buffer dimension in the index, if its coefficient is 1.
    fn alone(&self) -> Option<usize> {
        let digits = self.of_buffer.iter().enumerate();
        let mut moving = digits.filter(|(_, c)| **c != 0);
        match (moving.next(), moving.next()) {
            (Some((d, 1)), None) => Some(d),
            _ => None,
        }
    }
}

impl<'p, 'a> Buffer<'p, 'a> {
    /// The buffer that a sequence declares under this name; `None` if the local tensor is not a
    /// buffer.
    pub(super) fn of(
        program: &'p Program<'a>,
        label: &'a str,
        scope: &[usize],
    ) -> Option<Buffer<'p, 'a>> {
        let mut tensor = None;
        let mut copied: Option<(&'a Tensor, Memory, Vec<MixedRadix>)> = None;
        let mut uses = Vec::new();
        for (k, leaf) in program.leaves.iter().enumerate() {
            let own = |t: &Tensor| t.label() == label && leaf.scope_of(label) == Some(scope);
            let all = match leaf.what {
                What::Stmt(s) => accesses(s),
                What::Fill(fill) if own(&fill.target) => {
                    tensor = Some(&fill.target);
                    let role = Role::Set;
                    uses.push(Use { leaf, k, role });
                    continue;
                }
                What::Fill(_) => continue,
            };
            let Some(here) = all.iter().find(|access| own(access.tensor)) else {
                continue;
            };
            tensor = Some(here.tensor);
            let sets = own(all[0].tensor);
            let reads = all.iter().any(|access| !access.write && own(access.tensor));
            // A leaf that executes an assignment of the definition is not a mere copy.
            let other = match all.as_slice() {
                [to, from] if leaf.copies() && leaf.assignment.is_none() => match (sets, reads) {
                    (true, false) => Some((Role::Load, to, from)),
                    (false, true) => Some((Role::Store, from, to)),
                    _ => None,
                },
                _ => None,
            };
            // The mirrored tensor must live at least as long as the buffer.
            let outlives = |other: &Tensor| leaf.memory(other).loops < scope.len();
            let other = other.filter(|(.., there)| outlives(there.tensor));
            let role = match other {
                Some((role, here, there)) => {
                    let inner = leaf.loops.get(scope.len() - 1..)?;
                    let inner: Vec<&Name> = inner.iter().map(|l| &l.name).collect();
                    let digits = digits(&here.index, &there.index, &inner)?;
                    let found = (there.tensor, leaf.memory(there.tensor), digits);
                    if *copied.get_or_insert_with(|| found.clone()) != found {
                        return None;
                    }
                    role
                }
                None => match (sets, reads) {
                    (true, false) => Role::Set,
                    (true, true) => Role::Update,
                    (false, _) => Role::Read,
                },
            };
            uses.push(Use { leaf, k, role });
        }
        let (tensor, (of, of_memory, digits)) = (tensor?, copied?);
        let reaches = |u: &Use| u.leaf.memory(of) == of_memory;
        let fits = of.elem() == tensor.elem() && uses.iter().all(reaches);
        fits.then_some(Buffer {
            program,
            label,
            scope: scope.to_vec(),
            tensor,
            of,
            of_memory,
            digits,
            uses,
        })
    }

    /// The number of loops around the declaration.
    pub(super) fn loops(&self) -> usize {
        self.scope.len() - 1
    }

    /// The position of a leaf in the sequence that declares the buffer.
    pub(super) fn place(&self, leaf: &Leaf) -> Option<usize> {
        let is_in = leaf.place.starts_with(&self.scope);
        leaf.place.get(self.scope.len()).copied().filter(|_| is_in)
    }

    /// The indices with which a statement accesses the buffer, as `(written, index)`. Fills give
    /// none.
    pub(super) fn indices(&self, leaf: &Leaf<'a>) -> Vec<(bool, Vec<Affine>)> {
        let What::Stmt(s) = leaf.what else {
            return Vec::new();
        };
        let own = accesses(s).into_iter().filter(|a| self.is(leaf, a.tensor));
        own.map(|access| (access.write, access.index)).collect()
    }

    /// Whether a tensor of a leaf is the buffer.
    pub(super) fn is(&self, leaf: &Leaf, tensor: &Tensor) -> bool {
        tensor.label() == self.label && leaf.scope_of(self.label) == Some(&self.scope[..])
    }

    /// The statement with the mirrored tensor in place of the buffer.
    pub(super) fn direct(&self, leaf: &Leaf, s: &Stmt) -> Stmt {
        let at =
            |index: &[Affine]| -> Vec<Affine> { self.digits.iter().map(|d| d.at(index)).collect() };
        let value = s.value.map_accesses(&|tensor, index| {
            let index = match index {
                Index::At(index) => index.as_slice(),
                Index::Unset | Index::Forbidden => &[],
            };
            self.is(leaf, tensor)
                .then(|| Expr::element(self.of, at(index)))
        });
        let (target, index) = if self.is(leaf, &s.target) {
            (self.of.clone(), at(&s.index))
        } else {
            (s.target.clone(), s.index.clone())
        };
        Stmt {
            target,
            index,
            update: s.update,
            value,
            origin: s.origin.clone(),
        }
    }

    /// The fill with the mirrored tensor in place of the buffer; `None` if it would not set a box.
    pub(super) fn direct_fill(&self, fill: &Fill) -> Option<Fill> {
        let lows: Vec<Affine> = fill.region.iter().map(|(low, _)| low.clone()).collect();
        let region = self.digits.iter().map(|digits| {
            let extent = match digits.alone() {
                Some(d) => fill.region.get(d)?.1.clone(),
                None if digits.of_buffer.iter().all(|c| *c == 0) => Affine::constant(1),
                None => return None,
            };
            Some((digits.at(&lows), extent))
        });
        Some(Fill {
            target: self.of.clone(),
            region: region.collect::<Option<_>>()?,
            value: fill.value,
            origin: fill.origin.clone(),
        })
    }
}

impl Leaf<'_> {
    /// The sequence that declares a local tensor of this name, if any.
    pub(super) fn scope_of(&self, label: &str) -> Option<&[usize]> {
        let mut locals = self.locals.iter();
        let found = locals.find(|(name, _)| *name == label);
        found.map(|(_, scope)| scope.as_slice())
    }
}

/// The index `there` as a function of the index `here`, free of the iterators `inner`.
fn digits(here: &[Affine], there: &[Affine], inner: &[&Name]) -> Option<Vec<MixedRadix>> {
    // An iterator that occurs in only one of the remaining indices determines that index's
    // coefficient.
    let mut left: Vec<usize> = (0..here.len()).collect();
    let mut order: Vec<(usize, &Name)> = Vec::new();
    loop {
        let tells = |d: usize| {
            let only = |name: &&&Name| {
                let mut mentioned = left.iter().filter(|k| here[**k].mentions(name));
                mentioned.next() == Some(&d) && mentioned.next().is_none()
            };
            inner.iter().find(only).map(|name| (d, *name))
        };
        let Some((d, name)) = left.iter().find_map(|d| tells(*d)) else {
            break;
        };
        order.push((d, name));
        left.retain(|other| *other != d);
    }
    let each = there.iter().map(|index| {
        let mut digits = MixedRadix {
            of_buffer: vec![0; here.len()],
            rest: index.clone(),
        };
        for (d, name) in &order {
            let (whole, part) = (digits.rest.coefficient(name), here[*d].coefficient(name));
            if whole % part != 0 {
                return None;
            }
            digits.of_buffer[*d] = whole / part;
            digits.rest = digits.rest.minus(&here[*d].times(whole / part));
        }
        let is_left = inner.iter().any(|name| digits.rest.mentions(name));
        (!is_left).then_some(digits)
    });
    each.collect()
}
