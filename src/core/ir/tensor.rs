//! Tensors: a name, a shape and an element type; row-major storage.

use super::affine::Affine;
use super::elem::Elem;
use super::entries::Entries;
use super::name::{Name, Size};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The extents of a tensor's dimensions. Rank 0 is a scalar. An extent is a number of at least 1, or
/// an affine expression of sizes, which may be 0 when the kernel is called.
///
/// Shapes that differ only in likely sizes are equal.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The extents at the likely sizes.
    extents: Arc<[u64]>,
    /// The extents, if one of them has sizes.
    dims: Option<Arc<[Affine]>>,
}

impl PartialEq for Shape {
    fn eq(&self, other: &Shape) -> bool {
        match (&self.dims, &other.dims) {
            (None, None) => self.extents == other.extents,
            (own, others) => own == others,
        }
    }
}

impl Eq for Shape {}

impl std::hash::Hash for Shape {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match &self.dims {
            None => self.extents.hash(state),
            Some(dims) => dims.hash(state),
        }
    }
}

/// Why a list of integers is not a shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// An extent is zero or negative.
    #[error("dimension {dimension} has the extent {extent}, and extents are at least 1")]
    NotPositive {
        /// Counted from 1.
        dimension: usize,
        /// The extent given.
        extent: i64,
    },
    /// The tensor would not fit in the address space.
    #[error("a tensor of shape {shape} would need more bytes than an address can count")]
    TooLarge {
        /// The extents, written as a shape.
        shape: String,
    },
}

/// The largest tensor in bytes: half of what 48-bit addresses reach.
const MAX_BYTES: u128 = 1 << 47;

impl Shape {
    /// A shape of the given extents for elements of type `elem`.
    ///
    /// # Errors
    /// [`ShapeError`] if an extent is not positive or the tensor is too large.
    pub fn new(extents: &[i64], elem: Elem) -> Result<Shape, ShapeError> {
        let mut bytes = elem.size() as u128;
        for (k, &extent) in extents.iter().enumerate() {
            if extent < 1 {
                let dimension = k + 1;
                return Err(ShapeError::NotPositive { dimension, extent });
            }
            bytes = bytes.saturating_mul(extent.unsigned_abs().into());
        }
        if bytes > MAX_BYTES {
            let shape = format!("{extents:?}");
            return Err(ShapeError::TooLarge { shape });
        }
        Ok(Shape::of_extents(extents.iter().map(|e| e.unsigned_abs())))
    }

    /// A shape whose extents may have sizes.
    ///
    /// # Errors
    /// [`ShapeError`] if an extent is a number that is not positive, or if the tensor is too large
    /// at the likely sizes.
    pub fn of_dims(dims: Vec<Affine>, elem: Elem) -> Result<Shape, ShapeError> {
        let likely = |dim: &Affine| match dim.as_constant() {
            Some(extent) => extent,
            None => dim.likely().unwrap_or(1).max(1),
        };
        let extents: Vec<i64> = dims.iter().map(likely).collect();
        let shape = Shape::new(&extents, elem)?;
        Ok(shape.with_dims(dims))
    }

    /// The shape of a virtual expression, whose extents need no storage and may have sizes.
    pub fn of_virtual_dims(dims: Vec<Affine>) -> Shape {
        let likely = |dim: &Affine| dim.likely().unwrap_or(0).max(0).unsigned_abs();
        Shape::of_extents(dims.iter().map(likely)).with_dims(dims)
    }

    fn with_dims(self, dims: Vec<Affine>) -> Shape {
        let is_sized = dims.iter().any(|dim| dim.as_constant().is_none());
        Shape {
            extents: self.extents,
            dims: is_sized.then(|| dims.into()),
        }
    }

    /// The shape of a virtual expression, whose extents need no storage.
    pub fn of_extents(extents: impl IntoIterator<Item = u64>) -> Shape {
        Shape {
            extents: extents.into_iter().collect(),
            dims: None,
        }
    }

    /// The indices of the element at a flat index, in row-major order.
    pub fn index_of(&self, flat: u64) -> Vec<u64> {
        let (mut left, mut index) = (flat, Vec::with_capacity(self.rank()));
        for extent in self.extents().iter().rev() {
            index.push(left % extent);
            left /= extent;
        }
        index.reverse();
        index
    }

    /// The extents, first dimension first. Where they have sizes, these are the likely ones, which
    /// decide no meaning: see [`Shape::dims`].
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The extents as texts.
    pub fn texts(&self) -> Vec<String> {
        self.extents().iter().map(u64::to_string).collect()
    }

    /// The extents, first dimension first, with their sizes.
    pub fn dims(&self) -> Vec<Affine> {
        let number = |extent: &u64| Affine::constant(i64::try_from(*extent).unwrap_or(i64::MAX));
        match &self.dims {
            Some(dims) => dims.to_vec(),
            None => self.extents.iter().map(number).collect(),
        }
    }

    /// All elements, as the region of a fill.
    pub fn whole(&self) -> Vec<(Affine, Affine)> {
        let dims = self.dims().into_iter();
        dims.map(|extent| (Affine::constant(0), extent)).collect()
    }

    /// The extents, if no extent has sizes.
    pub fn numbers(&self) -> Option<&[u64]> {
        self.dims.is_none().then_some(&self.extents)
    }

    /// Calls `see` with each size in it.
    pub fn for_each_size(&self, see: &mut dyn FnMut(&Name)) {
        let dims = self.dims.iter().flat_map(|dims| dims.iter());
        dims.flat_map(Affine::sizes).for_each(see);
    }

    /// Whether an extent has sizes.
    pub fn is_sized(&self) -> bool {
        self.dims.is_some()
    }

    /// The shape with sizes replaced. Extents below 0 are 0.
    #[must_use]
    pub fn at_sizes(&self, value: &dyn Fn(&Name) -> Option<Affine>) -> Shape {
        let Some(dims) = &self.dims else {
            return self.clone();
        };
        let dims = dims.iter().map(|dim| dim.substitute(value));
        Shape::of_virtual_dims(dims.collect())
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.extents.len()
    }

    /// The number of elements, at the likely sizes.
    pub fn elements(&self) -> u64 {
        self.extents.iter().copied().fold(1, u64::saturating_mul)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<String> = self.dims().iter().map(Affine::to_string).collect();
        write!(f, "[{}]", extents.join(", "))
    }
}

/// The triangle of a matrix that can have nonzero elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triangle {
    /// `A[i][j]` with j at most i.
    Lower,
    /// `A[i][j]` with j at least i.
    Upper,
}

impl Triangle {
    /// The names, as scripts give them.
    pub const WORDS: &[&str] = &["lower", "upper"];

    /// The triangle of that name.
    pub fn from_word(word: &str) -> Option<Triangle> {
        match word {
            "lower" => Some(Triangle::Lower),
            "upper" => Some(Triangle::Upper),
            _ => None,
        }
    }

    /// The name.
    pub fn word(self) -> &'static str {
        match self {
            Triangle::Lower => "lower",
            Triangle::Upper => "upper",
        }
    }

    /// Whether the triangle contains an element.
    pub fn has(self, row: u64, column: u64) -> bool {
        match self {
            Triangle::Lower => column <= row,
            Triangle::Upper => column >= row,
        }
    }
}

#[derive(Clone, Debug)]
struct Data {
    name: Option<Name>,
    shape: Shape,
    elem: Elem,
    scalar: bool,
    triangle: Option<Triangle>,
    inner: Option<Arc<[u64]>>,
    alignment: Option<u32>,
    space: Option<Space>,
    entries: Option<Arc<Entries>>,
    storage: Storage,
    /// How many dimensions of the caller each dimension is, if some are read as one, and the shape
    /// that the caller knows.
    joined: Option<Arc<(Vec<usize>, Shape)>>,
    declared: u64,
}

/// Where a local tensor of a block of a device lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// In memory that the threads of the block share.
    Shared,
    /// In registers: each thread has its own part.
    Registers,
}

impl Space {
    /// The names of all.
    pub const WORDS: &[&str] = &["shared", "registers"];

    /// The one of that name.
    pub fn from_word(word: &str) -> Option<Space> {
        let all = [Space::Shared, Space::Registers];
        all.into_iter().find(|space| space.word() == word)
    }

    /// The name.
    pub fn word(self) -> &'static str {
        Space::WORDS[self as usize]
    }
}

/// The dimensions of a tensor whose consecutive indices may lie apart in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strides {
    /// All but the last: rows lie apart, and the elements of a row are adjacent.
    Rows,
    /// Each, at any distance, also backwards.
    All,
}

impl Strides {
    /// The word for it in front of a declaration.
    pub fn word(self) -> &'static str {
        match self {
            Strides::Rows => "strided",
            Strides::All => "strided(all)",
        }
    }
}

/// How a function gets the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    /// In rows that follow each other in memory.
    Rows,
    /// At distances that the function also gets.
    Strided(Strides),
    /// As a number, not in memory.
    Value,
}

impl Data {
    /// The fields that decide equality: not what is known of the elements, but for what proofs
    /// read, and not the declaration.
    fn key(&self) -> (&Option<Name>, &Shape, Elem, bool, Option<&Entries>) {
        let entries = self.entries.as_deref();
        (&self.name, &self.shape, self.elem, self.scalar, entries)
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Data) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Data {}

impl Hash for Data {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, &self.shape, self.elem, self.scalar).hash(state);
    }
}

/// A tensor that is backed by memory. Cheap to clone, equal by structure.
///
/// The name is missing until an assignment gives it one: the placeholder □ of TeML eqs. 12–18.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tensor(Arc<Data>);

impl Tensor {
    /// `tensor(S)` of TeML eq. 13: named □.
    pub fn new(shape: Shape, elem: Elem) -> Tensor {
        Tensor(Arc::new(Data {
            name: None,
            shape,
            elem,
            scalar: false,
            triangle: None,
            inner: None,
            alignment: None,
            space: None,
            entries: None,
            storage: Storage::Rows,
            joined: None,
            declared: 0,
        }))
    }

    /// `scalar()` of TeML eq. 12: the shape is `[]`, and no iterator may index it.
    pub fn scalar(elem: Elem) -> Tensor {
        let tensor = Tensor::new(Shape::of_extents([]), elem);
        tensor.with(|data| data.scalar = true)
    }

    /// The same tensor under `name`: the substitution x\[id/□\] of TeML eqs. 17 and 18.
    #[must_use]
    pub fn named(&self, name: Name) -> Tensor {
        self.with(|data| data.name = Some(name))
    }

    /// The same tensor, as the script's `number`th declaration, from 1 on. The number tells tensors
    /// with the same name apart, such as tensors that a loop of the script declares.
    #[must_use]
    pub fn declared_as(&self, number: u64) -> Tensor {
        self.with(|data| data.declared = number)
    }

    /// The number of the script's declaration of this tensor, or 0. Not part of equality.
    pub fn declared(&self) -> u64 {
        self.0.declared
    }

    fn with(&self, change: impl FnOnce(&mut Data)) -> Tensor {
        let mut data = (*self.0).clone();
        change(&mut data);
        Tensor(Arc::new(data))
    }

    /// The same tensor, in this space of a device.
    #[must_use]
    pub fn in_space(&self, space: Space) -> Tensor {
        self.with(|data| data.space = Some(space))
    }

    /// Where it lies on a device, if that is not left to the indices.
    pub fn space(&self) -> Option<Space> {
        self.0.space
    }

    /// The same tensor, which begins at a multiple of `bytes`.
    #[must_use]
    pub fn aligned(&self, bytes: u32) -> Tensor {
        self.with(|data| data.alignment = Some(bytes))
    }

    /// The bytes that the address of the tensor is promised to be a multiple of. Not part of
    /// equality.
    pub fn alignment(&self) -> Option<u32> {
        self.0.alignment
    }

    /// The same tensor of integers, with facts about its elements.
    #[must_use]
    pub fn with_entries(&self, entries: Entries) -> Tensor {
        self.with(|data| data.entries = Some(Arc::new(entries)))
    }

    /// The facts about its elements, if bounds can be read from it.
    pub fn entries(&self) -> Option<&Entries> {
        self.0.entries.as_deref()
    }

    /// The same tensor, whose indices in these dimensions may lie apart in memory.
    #[must_use]
    pub fn strided(&self, strides: Strides) -> Tensor {
        self.with(|data| data.storage = Storage::Strided(strides))
    }

    /// The same tensor, whose rows follow each other in memory.
    #[must_use]
    pub fn dense(&self) -> Tensor {
        self.with(|data| data.storage = Storage::Rows)
    }

    /// The same tensor of rank 0, whose element is passed to functions as a number.
    #[must_use]
    pub fn by_value(&self) -> Tensor {
        self.with(|data| (data.storage, data.alignment) = (Storage::Value, None))
    }

    /// Whether functions get the element as a number. Not part of equality.
    pub fn is_by_value(&self) -> bool {
        self.0.storage == Storage::Value
    }

    /// Whether indices may lie apart in memory. Not part of equality.
    pub fn is_strided(&self) -> bool {
        self.strided_in().is_some()
    }

    /// The dimensions in which indices may lie apart in memory. Not part of equality.
    pub fn strided_in(&self) -> Option<Strides> {
        match self.0.storage {
            Storage::Strided(strides) => Some(strides),
            Storage::Rows | Storage::Value => None,
        }
    }

    /// The tensor as code reads it: elements at any distance are rows of one element.
    #[must_use]
    pub fn in_rows(&self) -> Tensor {
        match self.strided_in() {
            Some(Strides::All) => {
                let extents = self.shape().extents().iter().copied().chain([1]);
                let dims = self.shape().dims().into_iter();
                let shape = Shape::of_extents(extents)
                    .with_dims(dims.chain([Affine::constant(1)]).collect());
                self.stored_as(shape).strided(Strides::Rows)
            }
            Some(Strides::Rows) | None => self.clone(),
        }
    }

    /// The distances in memory, in elements, between consecutive indices of each dimension that
    /// is strided: numbers that a kernel gets when it is called.
    pub fn strides(&self) -> Vec<Name> {
        let dimensions = match self.strided_in() {
            Some(Strides::All) => self.shape().rank(),
            Some(Strides::Rows) => self.shape().rank().saturating_sub(1),
            None => 0,
        };
        let label = self.label();
        let name = |d: usize| match dimensions {
            1 => format!("ld{label}"),
            _ => format!("ld{label}_{}", d + 1),
        };
        let size = |d| Name::trusted(name(d)).with_size(Size::default());
        (0..dimensions).map(size).collect()
    }

    /// The same matrix with zeros outside of a triangle.
    #[must_use]
    pub fn triangular(&self, triangle: Triangle) -> Tensor {
        self.with(|data| data.triangle = Some(triangle))
    }

    /// The triangle that all nonzero elements are known to be in. Not part of equality.
    pub fn triangle(&self) -> Option<Triangle> {
        self.0.triangle
    }

    /// The same tensor in storage of these extents, with zeros behind its elements.
    #[must_use]
    pub fn stored_in(&self, storage: Shape) -> Tensor {
        let inner = self.inner().unwrap_or(self.shape().extents()).to_vec();
        self.stored_as(storage).with_inner(inner)
    }

    /// The same tensor with this shape, all of whose elements may be other than 0.
    #[must_use]
    pub fn stored_as(&self, shape: Shape) -> Tensor {
        self.with(|data| {
            (data.shape, data.triangle, data.inner) = (shape, None, None);
            (data.storage, data.joined) = (Storage::Rows, None);
        })
    }

    /// The same tensor with another shape. All else that is known of it stays.
    #[must_use]
    pub fn with_shape(&self, shape: Shape) -> Tensor {
        self.with(|data| data.shape = shape)
    }

    /// The same tensor with zeros behind these extents.
    #[must_use]
    pub fn with_inner(&self, inner: Vec<u64>) -> Tensor {
        self.with(|data| data.inner = Some(inner.into()))
    }

    /// The extents of the part behind which all elements are known to be 0. Not part of equality.
    pub fn inner(&self) -> Option<&[u64]> {
        self.0.inner.as_deref()
    }

    /// Whether some elements are known to be 0 by the declaration.
    pub fn has_zeros(&self) -> bool {
        self.triangle().is_some() || self.inner().is_some()
    }

    /// Whether the element at a flat index may be other than 0.
    pub fn may_hold(&self, flat: u64) -> bool {
        let index = self.shape().index_of(flat);
        let in_triangle = match (self.triangle(), index.as_slice()) {
            (Some(triangle), [row, column]) => triangle.has(*row, *column),
            _ => true,
        };
        let inner = self.inner().unwrap_or(self.shape().extents());
        in_triangle && index.iter().zip(inner).all(|(k, end)| k < end)
    }

    /// The same tensor. Its dimension `d` and the next one are read as one. Elements stay where
    /// they are in memory, so the extents must be numbers.
    #[must_use]
    pub fn with_joined(&self, d: usize) -> Tensor {
        let extents = self.shape().extents();
        let (mut counts, given) = match self.0.joined.as_deref() {
            Some((counts, given)) => (counts.clone(), given.clone()),
            None => (vec![1; extents.len()], self.shape().clone()),
        };
        let mut dims = extents.to_vec();
        if d + 1 < dims.len() {
            dims[d] = dims[d].saturating_mul(dims.remove(d + 1));
            counts[d] += counts.remove(d + 1);
        }
        self.with(|data| {
            data.shape = Shape::of_extents(dims);
            data.joined = Some(Arc::new((counts, given)));
        })
    }

    /// The tensor as its caller knows it: all its dimensions are apart.
    #[must_use]
    pub fn as_given(&self) -> Tensor {
        match self.0.joined.as_deref() {
            Some((_, given)) => self.with(|data| {
                (data.shape, data.joined) = (given.clone(), None);
            }),
            None => self.clone(),
        }
    }

    /// Whether some dimensions are read as one. Not part of equality.
    pub fn is_joined(&self) -> bool {
        self.0.joined.is_some()
    }

    /// For each dimension, the number of the caller's dimensions up to its end.
    pub fn ends_of_dims(&self) -> Vec<usize> {
        let groups = self.dims_as_given().into_iter();
        let ends = groups.scan(0, |end, group| {
            *end += group.len();
            Some(*end)
        });
        ends.collect()
    }

    /// Each dimension as the dimensions of the caller that it is.
    pub fn dims_as_given(&self) -> Vec<Vec<Affine>> {
        let Some((counts, given)) = self.0.joined.as_deref() else {
            return self
                .shape()
                .dims()
                .into_iter()
                .map(|dim| vec![dim])
                .collect();
        };
        let mut dims = given.dims().into_iter();
        let groups = counts.iter().map(|n| dims.by_ref().take(*n).collect());
        groups.collect()
    }

    /// The same tensor with another extent of its last dimension, if it has one.
    ///
    /// # Errors
    /// The tensor would be too large.
    pub fn with_rows(&self, extent: u64) -> Result<Tensor, ShapeError> {
        let Some((_, outer)) = self.shape().extents().split_last() else {
            return Ok(self.clone());
        };
        let extents = outer.iter().copied().chain([extent]);
        let extents = extents.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        let shape = Shape::new(&extents.collect::<Vec<_>>(), self.elem())?;
        Ok(self.stored_as(shape))
    }

    /// The name, or `None` for □.
    pub fn name(&self) -> Option<&Name> {
        self.0.name.as_ref()
    }

    /// The name as text, or □.
    pub fn label(&self) -> &str {
        self.0.name.as_ref().map_or("□", Name::as_str)
    }

    /// The extents.
    pub fn shape(&self) -> &Shape {
        &self.0.shape
    }

    /// The element type.
    pub fn elem(&self) -> Elem {
        self.0.elem
    }

    /// Whether `scalar()` made the tensor.
    pub fn is_scalar(&self) -> bool {
        self.0.scalar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_positive_and_fit() {
        assert!(Shape::new(&[], Elem::F64).is_ok_and(|s| s.elements() == 1));
        assert!(Shape::new(&[1; 8], Elem::F64).is_ok_and(|s| s.rank() == 8));
        assert!(matches!(
            Shape::new(&[3, 0], Elem::F64),
            Err(ShapeError::NotPositive {
                dimension: 2,
                extent: 0
            })
        ));
        for huge in [vec![i64::MAX, i64::MAX], vec![1 << 45], vec![1 << 40; 8]] {
            assert!(matches!(
                Shape::new(&huge, Elem::F64),
                Err(ShapeError::TooLarge { .. })
            ));
        }
    }
}
