//! Loops written with explicit vectors.

use super::emit::Emitter;
use super::kernel::{Header, Role};
use super::lanes::{elem_of, trips, widest};
use super::part::Part;
use super::stream::is_aligned;
use crate::ir::{Affine, Elem, Loop, Name, Stmt};

/// How many neighbors are treated at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// As many as a register of the machine holds that the C is compiled for.
    Natural,
    /// So many: a power of two.
    Fixed(i64),
}

/// The vectors that values are written with.
#[derive(Clone, Debug)]
pub(super) struct Vectors {
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
    /// Whether lanes are set one by one where not all count.
    one_by_one: bool,
    /// How many bytes the iterator is a multiple of: all of a vector, or one element.
    multiple: i64,
    /// The bytes of a register.
    widest: i64,
}

impl Vectors {
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
        match self.is_aligned(s) {
            true => format!("TEML_STREAM_IF({ALIGNED}, {target}, {value});"),
            false => format!("TEML_STREAM({target}, {value});"),
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
        let how = if self.one_by_one { "PUT" } else { "SET" };
        let iterator = &self.iterator;
        format!("TEML_{name}_{how}({text}, {end} - {iterator}, {value});")
    }

    fn name(&self) -> String {
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

/// The fewest bytes of a register: C for wider ones is also compiled for these.
const SMALLEST: i64 = 16;

/// The most vectors in a row that are unrolled.
const MAX_UNROLLED_VECTORS: i64 = 8;

impl Emitter<'_> {
    /// A loop written with vectors.
    pub(super) fn vector_loop(&mut self, l: &Loop, origin: &str) {
        let Some(elem) = elem_of(l, self.target) else {
            return;
        };
        let widest = widest(self.target);
        self.values
            .headers
            .extend([Header::Integers, Header::Vectors]);
        let longest = widest / elem.size() as i64;
        let mut vectors = Vectors {
            iterator: l.name.clone(),
            elem,
            width: l.lanes.map_or(Width::Natural, Width::Fixed),
            at: None,
            end: None,
            shorter: false,
            one_by_one: false,
            multiple: elem.size() as i64,
            widest,
        };
        // A natural width divides the largest one.
        let block = l.lanes.unwrap_or(longest);
        let lanes = match l.lanes {
            Some(lanes) => lanes.to_string(),
            None => format!("TEML_{}XN", elem.to_string().to_uppercase()),
        };
        let unaligned = self.unaligned(l, block);
        match (trips(l), l.range.lower.as_slice()) {
            (Some(trips), [lower]) if lower.as_constant() == Some(0) && unaligned.is_none() => {
                self.constant_trips(l, &mut vectors, trips, block, &lanes, origin);
            }
            _ => self.any_trips(l, &mut vectors, unaligned, block, &lanes, origin),
        }
    }

    /// Whole vectors, and the rest: a part of one, or cut into shorter ones.
    fn constant_trips(
        &mut self,
        l: &Loop,
        vectors: &mut Vectors,
        trips: i64,
        block: i64,
        lanes: &str,
        origin: &str,
    ) {
        let name = &l.name;
        let whole = trips - trips % block;
        if whole > 0 {
            if whole / block <= MAX_UNROLLED_VECTORS {
                self.unroll(whole / block);
            }
            vectors.multiple = block * vectors.elem.size() as i64;
            let head =
                format!("for (int64_t {name} = 0; {name} < {whole}; {name} += {lanes}) {{{origin}");
            self.block(&head, l, Some(vectors));
        }
        if let Some(part) = Part::of(l, &self.values.rows, &self.streams) {
            let rest = part.rest;
            vectors.one_by_one = part.one_by_one;
            self.values.headers.insert(Header::Parts);
            let narrowest = SMALLEST / vectors.elem.size() as i64;
            self.unroll((rest + narrowest - 1) / narrowest);
            vectors.end = Some(trips);
            let head =
                format!("for (int64_t {name} = {whole}; {name} < {trips}; {name} += {lanes}) {{");
            return self.block(&head, l, Some(vectors));
        }
        let (mut done, mut lanes) = (whole, block / 2);
        vectors.shorter = true;
        while done < trips {
            if lanes <= trips - done {
                vectors.at = Some(done);
                vectors.width = Width::Fixed(lanes);
                self.lanes(l, Some(vectors));
                done += lanes;
            } else {
                lanes /= 2;
            }
        }
    }

    /// Whole vectors, then shorter ones as long as there are enough elements.
    fn any_trips(
        &mut self,
        l: &Loop,
        vectors: &mut Vectors,
        unaligned: Option<&Stmt>,
        block: i64,
        lanes: &str,
        origin: &str,
    ) {
        let name = &l.name;
        let lower = self.bound("max", &l.range.lower);
        let upper = self.bound("min", &l.range.upper);
        self.line("{");
        self.depth += 1;
        self.line(&format!("int64_t {name} = {lower};{origin}"));
        // No script can name anything like this, so nothing is hidden.
        let upper = match l.range.upper.len() {
            1 => upper,
            _ => {
                self.line(&format!("const int64_t teml_end = {upper};"));
                "teml_end".to_owned()
            }
        };
        if let Some(s) = unaligned {
            self.values.vectors = Some(vectors.clone());
            let target = self.values.access(&s.target, &s.index);
            let head = format!("for (; {name} < {upper} && !TEML_ALIGNED({target}); {name}++) {{");
            self.block(&head, l, None);
        }
        let head = format!("for (; {name} + {lanes} <= {upper}; {name} += {lanes}) {{");
        self.block(&head, l, Some(vectors));
        let mut lanes = block / 2;
        vectors.shorter = true;
        while lanes > 1 {
            vectors.width = Width::Fixed(lanes);
            let head = format!("for (; {name} + {lanes} <= {upper}; {name} += {lanes}) {{");
            self.block(&head, l, Some(vectors));
            lanes /= 2;
        }
        self.block(&format!("if ({name} < {upper}) {{"), l, None);
        self.depth -= 1;
        self.line("}");
    }

    /// The statements of a loop below a head.
    fn block(&mut self, head: &str, l: &Loop, vectors: Option<&Vectors>) {
        self.line(head);
        self.depth += 1;
        self.lanes(l, vectors);
        self.depth -= 1;
        self.line("}");
    }

    /// The statements of a loop, as vectors or element by element.
    fn lanes(&mut self, l: &Loop, vectors: Option<&Vectors>) {
        self.values.vectors = vectors.cloned();
        l.body.iter().for_each(|tree| self.tree(tree));
        self.values.vectors = None;
    }

    /// The value of a statement, loaded here if registers hold it for several others.
    pub(super) fn held(&mut self, s: &Stmt) -> String {
        let value = self.values.value(&s.value, 0);
        match &self.values.vectors {
            Some(v) if v.width == Width::Natural && self.is_held(s, &v.iterator) => {
                self.values.headers.insert(Header::Registers);
                format!("teml_{}_held({value})", v.name())
            }
            _ => value,
        }
    }

    /// Whether a statement copies to registers what does not change in memory, so that compilers may
    /// read it there again.
    fn is_held(&self, s: &Stmt, lane: &Name) -> bool {
        let mut constant = self.values.rows.are_copied(s, lane);
        s.value.for_each_access(&mut |tensor, _| {
            let mut params = self.params.iter();
            constant &= params.any(|p| p.role == Role::In && p.tensor.name() == tensor.name());
        });
        constant
    }

    /// The first statement of a vector loop that stores past the caches, if its vectors may begin
    /// where no such store can, and there are enough of them to look for a better place.
    fn unaligned<'l>(&self, l: &'l Loop, block: i64) -> Option<&'l Stmt> {
        let extents = l.range.upper.iter().flat_map(|upper| {
            let extents = l.range.lower.iter().map(|lower| upper.minus(lower));
            extents.filter_map(|e| Some(self.bounds.interval(&e)?.1))
        });
        if extents
            .min()
            .is_some_and(|most| most / block <= MAX_UNROLLED_VECTORS)
        {
            return None;
        }
        let first = self.streams.first_of(l)?;
        (!is_aligned(first, &l.name, widest(self.target))).then_some(first)
    }
}
