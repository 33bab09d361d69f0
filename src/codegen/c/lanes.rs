//! The vectors that values are written with.

use crate::ir::{Affine, Elem, Name, Stmt, Tensor};
use crate::plan::stream::is_aligned;
use crate::plan::tree::PartialVector;

/// How many neighbors are treated at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// As many as a register of the machine holds that the C is compiled for.
    Natural,
    /// So many: a power of two.
    Fixed(i64),
}

/// The vectors that values are written with.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    /// The iterator that lanes differ in.
    pub(super) iterator: Name,
    pub(super) elem: Elem,
    pub(super) width: Width,
    /// What the iterator is, where it is no variable.
    pub(super) at: Option<i64>,
    /// The number of iterations, where lanes from it on do not count.
    pub(super) end: Option<i64>,
    /// Whether they are shorter ones, for what whole vectors leave of the iterations.
    pub(super) shorter: bool,
    /// How that vector is a part of a whole one.
    pub(super) part: Option<PartialVector>,
    /// How many bytes the iterator is a multiple of: all of a vector, or one element.
    pub(super) multiple: i64,
    /// The bytes of a register.
    pub(super) widest: i64,
}

impl Vectors {
    /// Whether an access is read as a whole where not all lanes count.
    pub(super) fn reads_row(&self, tensor: &Tensor, index: &[Affine]) -> bool {
        let part = self.part.as_ref();
        part.is_some_and(|part| part.reads.iter().any(|(t, i)| t == tensor && i == index))
    }

    /// Whether it is written as a whole there.
    pub(super) fn writes_row(&self, tensor: &Tensor, index: &[Affine]) -> bool {
        let part = self.part.as_ref();
        part.is_some_and(|part| part.writes.iter().any(|(t, i)| t == tensor && i == index))
    }

    /// Whether these are vectors, and no single elements.
    pub(super) fn is_several(&self) -> bool {
        self.width != Width::Fixed(1)
    }

    /// `text`, an element of this type, with its neighbors.
    pub(super) fn of(&self, text: &str, elem: Elem) -> String {
        match self.width {
            Width::Fixed(1) => text.to_owned(),
            _ => format!("{}({text})", self.name_of(elem)),
        }
    }

    /// An index, where lanes are.
    pub(super) fn first(&self, index: &Affine) -> Affine {
        let at = |name: &Name| (*name == self.iterator).then(|| self.at.map(Affine::constant));
        index.substitute(&|name| at(name).flatten())
    }

    /// The values of an index in lanes.
    pub(super) fn index(&self, index: &Affine) -> String {
        let (name, by) = (self.name_of(Elem::I64), index.coefficient(&self.iterator));
        format!("teml_lanes({name}, {}, {by})", self.first(index))
    }

    /// A comparison of two indices of which the lanes of this loop have a mask; `None` where they
    /// are far apart.
    pub(super) fn compared(&self, left: &Affine, symbol: &str, right: &Affine) -> Option<String> {
        let lane = &self.iterator;
        let by = left.coefficient(lane) - right.coefficient(lane);
        let apart = self.first(right).minus(&self.first(left));
        if by.abs() > MAX_STEP || !apart.is_in_limits() {
            return None;
        }
        Some(match self.elem.size() {
            8 => {
                let name = self.name_of(Elem::I64);
                format!("teml_lanes({name}, 0, {by}) {symbol} (int64_t)({apart})")
            }
            _ => {
                let name = self.name_of(Elem::I32);
                format!("teml_steps({name}, {by}) {symbol} teml_near({apart})")
            }
        })
    }

    /// `value`, vectors of another type, converted to this one.
    pub(super) fn converted(&self, value: &str, from: Elem, elem: Elem) -> String {
        if self.width == Width::Natural && (from, elem, self.elem) == WIDENED {
            return format!("teml_widened({value})");
        }
        let name = self.name_of(elem);
        format!("__builtin_convertvector({value}, teml_{name})")
    }

    /// The lanes of `text`, an element with its neighbors, that count.
    pub(super) fn part(&self, text: &str, end: i64) -> String {
        format!("{}_part({text}, {end} - {})", self.name(), self.iterator)
    }

    /// The statement that stores them past the caches: it asks each vector whether it is aligned
    /// unless all are where the tensor is.
    pub(super) fn stream(&self, s: &Stmt, target: &str, value: &str) -> String {
        if self.is_aligned(s) {
            format!("TEML_STREAM_IF({ALIGNED}, {target}, {value});")
        } else {
            format!("TEML_STREAM({target}, {value});")
        }
    }

    /// Whether all vectors that a statement stores are aligned where its tensor is.
    pub(super) fn is_aligned(&self, s: &Stmt) -> bool {
        let vector = match self.width {
            Width::Natural => self.widest,
            Width::Fixed(lanes) => lanes * self.elem.size() as i64,
        };
        let whole = (16..=self.multiple).contains(&vector);
        whole && is_aligned(s, &self.iterator, vector)
    }

    /// The statement that sets the lanes of `text` that count.
    pub(super) fn set(&self, text: &str, end: i64, value: &str) -> String {
        let name = self.name().to_uppercase();
        let one_by_one = self.part.as_ref().is_some_and(|part| part.one_by_one);
        let how = if one_by_one { "PUT" } else { "SET" };
        let iterator = &self.iterator;
        format!("TEML_{name}_{how}({text}, {end} - {iterator}, {value});")
    }

    pub(super) fn name(&self) -> String {
        self.name_of(self.elem)
    }

    /// Of as many elements of this type.
    fn name_of(&self, elem: Elem) -> String {
        match self.width {
            Width::Natural if elem == self.elem => format!("{elem}xn"),
            Width::Natural => format!("{elem}x{}n", self.elem),
            Width::Fixed(lanes) => format!("{elem}x{lanes}"),
        }
    }

    /// A value that is the same in all lanes, as a vector. Taking nothing away changes no number,
    /// -0 included.
    pub(super) fn spread(&self, value: &str, elem: Elem) -> String {
        match self.width {
            Width::Fixed(1) => value.to_owned(),
            _ => format!("{value} - (teml_{}){{0}}", self.name_of(elem)),
        }
    }

    /// A vector of zeros.
    pub(super) fn zeros(&self) -> String {
        format!("(teml_{}){{0}}", self.name())
    }
}

/// What gcc converts in two halves.
const WIDENED: (Elem, Elem, Elem) = (Elem::F32, Elem::F64, Elem::F64);

/// The greatest difference between lanes of which steps in 32 bits are computed.
const MAX_STEP: i64 = 1 << 20;

/// The variable that says whether the tensors that are stored past the caches are aligned.
pub(super) const ALIGNED: &str = "teml_aligned";
