//! The vectors that values are computed in.
//!
//! Lanes of another size have as many elements as those of the loop (`casts.h`).

use crate::ir::{Affine, Elem, Name, Stmt, Tensor};
use crate::plan::lanes::neighbors;
use crate::plan::stream::is_aligned;
use crate::plan::tree::PartialVector;

/// The number of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// As many as a register of the target machine holds.
    Natural,
    /// A fixed power of two.
    Fixed(i64),
}

/// The end of the iterations of a loop whose last vector has dead lanes.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// A number, in the last vector.
    At(i64),
    /// The C variable that has it. It may be before the vector.
    Before(&'static str),
}

/// The vectors of a loop.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    /// The iterator of the lanes.
    pub(super) iterator: Name,
    /// The largest elements that the loop sets.
    pub(super) elem: Elem,
    pub(super) width: Width,
    /// The iterator's value if it is constant.
    pub(super) at: Option<i64>,
    /// The end of the iterations, for a vector whose lanes from there on are dead.
    pub(super) end: Option<End>,
    /// Whether this is one of the shorter vectors for the remainder of the iterations.
    pub(super) shorter: bool,
    /// How the last vector is computed in part.
    pub(super) part: Option<PartialVector>,
    /// The number of elements that divides the iterator: those of a whole vector, or one.
    pub(super) multiple: i64,
    /// The bytes of a register.
    pub(super) widest: i64,
}

impl Vectors {
    /// Whether an access in a partial vector reads all lanes.
    pub(super) fn reads_row(&self, tensor: &Tensor, index: &[Affine]) -> bool {
        let part = self.part.as_ref();
        part.is_some_and(|part| part.reads.iter().any(|(t, i)| t == tensor && i == index))
    }

    /// Whether an access in a partial vector writes all lanes.
    pub(super) fn writes_row(&self, tensor: &Tensor, index: &[Affine]) -> bool {
        let part = self.part.as_ref();
        part.is_some_and(|part| part.writes.iter().any(|(t, i)| t == tensor && i == index))
    }

    /// Whether elements of this type fill the registers.
    pub(super) fn has(&self, elem: Elem) -> bool {
        elem.size() == self.elem.size()
    }

    /// Whether there are several lanes.
    pub(super) fn is_several(&self) -> bool {
        self.width != Width::Fixed(1)
    }

    /// The vector that begins at `text`, an element of type `elem`.
    pub(super) fn of(&self, text: &str, elem: Elem) -> String {
        match self.width {
            Width::Fixed(1) => text.to_owned(),
            _ => format!("{}({text})", self.name_of(elem)),
        }
    }

    /// Whether the lanes of an index are apart in memory.
    pub(super) fn are_apart(&self, index: &[Affine]) -> bool {
        self.is_several() && neighbors(index, &self.iterator).is_none()
    }

    /// The lanes that are apart, as arguments: the type, and the elements of the first two lanes.
    pub(super) fn apart(
        &self,
        elem: Elem,
        index: &[Affine],
        element: &dyn Fn(&[Affine]) -> String,
    ) -> String {
        let next = Affine::iterator(self.iterator.clone()).plus_constant(1);
        let at = |name: &Name| (*name == self.iterator).then(|| next.clone());
        let first: Vec<Affine> = index.iter().map(|a| self.first(a)).collect();
        let second = index.iter().map(|a| self.first(&a.substitute(&at)));
        let second: Vec<Affine> = second.collect();
        let name = self.name_of(elem);
        format!("{name}, {}, {}", element(&first), element(&second))
    }

    /// The lanes at entries that are read, as arguments: the type, and the element of a lane.
    pub(super) fn gathered(
        &self,
        elem: Elem,
        index: &[Affine],
        element: &dyn Fn(&[Affine]) -> String,
    ) -> String {
        let first = self.first(&Affine::iterator(self.iterator.clone()));
        let lane = Name::new(LANE).map(Affine::iterator).unwrap_or_default();
        let lane = first.plus(&lane);
        let at = |name: &Name| (*name == self.iterator).then(|| lane.clone());
        let index: Vec<Affine> = index.iter().map(|a| a.substitute_all(&at)).collect();
        format!("{}, {}", self.name_of(elem), element(&index))
    }

    /// The index in the first lane.
    pub(super) fn first(&self, index: &Affine) -> Affine {
        let at = |name: &Name| (*name == self.iterator).then(|| self.at.map(Affine::constant));
        index.substitute(&|name| at(name).flatten())
    }

    /// The vector of an index's values.
    pub(super) fn index(&self, index: &Affine) -> String {
        let (name, by) = (self.name_of(Elem::I64), index.coefficient(&self.iterator));
        format!("teml_lanes({name}, {}, {by})", self.first(index))
    }

    /// The vector of an index's values modulo 2^32.
    pub(super) fn short_index(&self, index: &Affine) -> String {
        let (name, by) = (self.name_of(Elem::I32), index.coefficient(&self.iterator));
        let (by, first) = (by as i32, self.first(index));
        format!("(teml_steps({name}, {by}) + (int32_t)({first}))")
    }

    /// The mask of a comparison of two indices, for lanes of type `elem`; `None` if they may be too
    /// far apart to subtract.
    pub(super) fn compared(
        &self,
        (left, symbol, right): (&Affine, &str, &Affine),
        elem: Elem,
    ) -> Option<String> {
        let lane = &self.iterator;
        let by = left.coefficient(lane) - right.coefficient(lane);
        let apart = self.first(right).minus(&self.first(left));
        if by.abs() > MAX_STEP || !apart.is_in_limits() {
            return None;
        }
        Some(match elem.size() {
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

    /// Converts the vector `value` to another element type.
    pub(super) fn converted(&self, value: &str, from: Elem, elem: Elem) -> String {
        if self.width == Width::Natural && (from, elem, self.elem.size()) == WIDENED {
            return format!("teml_widened({value})");
        }
        if self.width == Width::Natural && (from, elem, self.elem.size()) == WIDENED_INTEGER {
            return format!("teml_iwidened({value})");
        }
        let name = self.name_of(elem);
        format!("__builtin_convertvector({value}, teml_{name})")
    }

    /// Loads the live lanes of the vector that begins at `text`; other lanes are zero.
    pub(super) fn part(&self, text: &str, elem: Elem, end: &End) -> String {
        format!("{}_part({text}, {})", self.name_of(elem), self.live(end))
    }

    /// The number of live lanes; more than there are means all.
    pub(super) fn live(&self, end: &End) -> String {
        match end {
            End::At(end) => format!("{end} - {}", self.iterator),
            End::Before(end) => format!("TEML_LEFT({end} - {})", self.iterator),
        }
    }

    /// Stores vectors past the caches. The C tests the alignment of each vector, unless an aligned
    /// tensor implies it.
    pub(super) fn stream(&self, s: &Stmt, target: &str, value: &str) -> String {
        if self.is_aligned(s) {
            format!("TEML_STREAM_IF({ALIGNED}, {target}, {value});")
        } else {
            format!("TEML_STREAM({target}, {value});")
        }
    }

    /// Whether all vectors that a statement stores are aligned if its tensor is.
    pub(super) fn is_aligned(&self, s: &Stmt) -> bool {
        let size = s.target.elem().size() as i64;
        let lanes = match self.width {
            Width::Natural => self.widest / self.elem.size() as i64,
            Width::Fixed(lanes) => lanes,
        };
        let vector = lanes * size;
        let whole = vector >= 16 && lanes <= self.multiple;
        whole && is_aligned(s, &self.iterator, vector)
    }

    /// Stores the live lanes of the vector that begins at `text`, an element of type `elem`.
    pub(super) fn set(&self, text: &str, elem: Elem, end: &End, value: &str) -> String {
        let name = self.name_of(elem).to_uppercase();
        let one_by_one = self.part.as_ref().is_some_and(|part| part.one_by_one);
        let how = if one_by_one { "PUT" } else { "SET" };
        format!("TEML_{name}_{how}({text}, {}, {value});", self.live(end))
    }

    /// The name of vectors with as many elements of this type.
    pub(super) fn name_of(&self, elem: Elem) -> String {
        match (self.width, self.elem.size()) {
            (Width::Natural, size) if elem.size() == size => format!("{elem}xn"),
            (Width::Natural, 8) => format!("{elem}xf64n"),
            (Width::Natural, _) => format!("{elem}xf32n"),
            (Width::Fixed(lanes), _) => format!("{elem}x{lanes}"),
        }
    }

    /// Broadcasts a value to all lanes, as `value - 0`: this changes no number, not even -0.
    pub(super) fn spread(&self, value: &str, elem: Elem) -> String {
        match self.width {
            Width::Fixed(1) => value.to_owned(),
            _ => format!("{value} - (teml_{}){{0}}", self.name_of(elem)),
        }
    }

    /// A vector of zeros.
    pub(super) fn zeros(&self, elem: Elem) -> String {
        format!("(teml_{}){{0}}", self.name_of(elem))
    }
}

/// The conversions that gcc does in two halves: their source, their target, and the bytes of an element
/// of the loop.
const WIDENED: (Elem, Elem, usize) = (Elem::F32, Elem::F64, 8);

const WIDENED_INTEGER: (Elem, Elem, usize) = (Elem::I32, Elem::I64, 8);

/// The greatest difference between lanes for which steps are computed in 32 bits.
const MAX_STEP: i64 = 1 << 20;

/// The C variable that counts lanes (`apart.h`).
const LANE: &str = "teml_k";

/// The C variable that says whether the streamed tensors are aligned.
pub(super) const ALIGNED: &str = "teml_aligned";
