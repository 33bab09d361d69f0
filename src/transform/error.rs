//! What can be wrong with what was asked of an operation: values, rendered in one place (`diag`).

use super::nest::buffer::NoBuffer;
use super::nest::place_init::NoInit;
use super::nest::producer::NoProducer;
use super::nest::reuse::NoReuse;
use super::nest::reverse_compute_at::NoConsumer;
use super::nest::rfactor::NoPartials;
use crate::analysis::position::NoLoop;
use crate::analysis::project::Division;
use crate::analysis::shape::{Mismatch, Place};
use crate::analysis::verify::Invalid;
use crate::ir::{Affine, Elem, MAX_DEPTH, MAX_SIZE, Name, NameError, Shape, ShapeError};
use crate::lower::build::NoNest;
use crate::lower::program::NoProgram;

/// The classes of errors, which strategies and messages keep apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The operation is not possible on this tree; on another it would be.
    Refusal,
    /// The call itself is wrong: no tree would make it right.
    Mistake,
    /// It is possible, but beyond what the tool supports.
    Limitation,
    /// The tool is at fault.
    Bug,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    /// Shapes, ranks, ranges or element types that do not fit.
    #[error(transparent)]
    Shape(#[from] Mismatch),
    /// Extents that do not make a shape.
    #[error(transparent)]
    Extents(#[from] ShapeError),
    /// A loop that does not exist.
    #[error(transparent)]
    Loop(#[from] NoLoop),
    /// The result would be no nest.
    #[error(transparent)]
    Invalid(#[from] Invalid),

    /// A tensor is used before anything named it.
    #[error("this tensor has no name yet")]
    Unnamed,
    /// An operand is an access or a virtual tensor without iterators (I = I' = ε in eq. 14).
    #[error("{what} has no iterators yet, and none are given for its {}", dimensions(*.rank))]
    IteratorsMissing {
        /// The operand.
        what: String,
        /// Its rank.
        rank: usize,
    },
    /// One operand of an operator carries iterators, and the other one would need some.
    #[error("{without} has no iterators yet, and {with} carries [{}]", list(.has))]
    IteratorsOfOne {
        /// The operand without.
        without: String,
        /// Its rank.
        rank: usize,
        /// The other one.
        with: String,
        /// Its iterators.
        has: Vec<Name>,
    },
    /// Iterators are given for an operand that has them (I ≠ ε and I' ≠ ε in eq. 14).
    #[error("this operand carries iterators already: [{}]", list(.has))]
    IteratorsGiven {
        /// Its iterators.
        has: Vec<Name>,
    },
    /// Iterators are given for a scalar (• in eq. 12).
    #[error("{scalar} is a scalar and takes no iterators")]
    ScalarIndexed {
        /// The scalar.
        scalar: String,
    },
    /// More lists of iterators than operands.
    #[error("{given} lists of iterators are given for {operands} operand{}", if *.operands == 1 { "" } else { "s" })]
    TooManyLists {
        /// The number of lists.
        given: usize,
        /// The number of operands.
        operands: usize,
    },
    /// The expression is too deep or too large.
    #[error("the expression would be deeper than {MAX_DEPTH} operations or larger than {MAX_SIZE}")]
    TooComplex,
    /// A number that the element type of the other operands does not hold.
    #[error("{number} is not a value of type {elem}, the element type of the other operand")]
    NotRepresentable {
        /// The number.
        number: String,
        /// The element type.
        elem: Elem,
    },
    /// Operands of which none is a tensor, so that nothing says what type they have.
    #[error("all operands are numbers, and at least one has to be a tensor")]
    OnlyNumbers,
    /// A function that integers do not have.
    #[error("`{function}` takes floating-point numbers, and these elements are of type {elem}")]
    NeedsFloat {
        /// The function.
        function: &'static str,
        /// The element type.
        elem: Elem,
    },
    /// A function that floating-point numbers do not have.
    #[error("`{function}` takes integers, and these elements are of type {elem}")]
    NeedsInteger {
        /// The function.
        function: &'static str,
        /// The element type.
        elem: Elem,
    },
    /// An operator between tensors of different shapes.
    #[error("{left} has the shape {left_shape} and {right} {right_shape}, and entries are paired")]
    ShapesDiffer {
        /// Left operand.
        left: String,
        /// Its shape.
        left_shape: Shape,
        /// Right operand.
        right: String,
        /// Its shape.
        right_shape: Shape,
    },
    /// A dimension that the operand does not have.
    #[error("{what} has no dimension {dimension}: {}", counted(*.rank))]
    NoDimension {
        /// The operand.
        what: String,
        /// Its rank.
        rank: usize,
        /// The dimension asked for.
        dimension: i64,
    },
    /// A dimension is in two pairs of a contraction, or twice in a list.
    #[error("dimension {dimension} of {what} is listed twice")]
    DimensionTwice {
        /// The operand.
        what: String,
        /// Counted from 1.
        dimension: i64,
    },
    /// Contracted dimensions have different extents.
    #[error("{first} cannot be contracted with {second}")]
    ContractedExtents {
        /// The first operand's dimension.
        first: Place,
        /// The second operand's.
        second: Place,
    },
    /// A reduction over something that is not an iterator of the expression.
    #[error("`{iterator}` is not an iterator of the expression, whose iterators are [{}]", list(.has))]
    NotFree {
        /// What was to be reduced over.
        iterator: String,
        /// The free iterators.
        has: Vec<Name>,
    },
    /// A reduction over no iterators and no dimensions.
    #[error("nothing is left to reduce over: {}", nothing(.what, *.rank))]
    NothingToReduce {
        /// The operand.
        what: String,
        /// Its rank.
        rank: usize,
    },
    /// An index that should be an iterator of its own.
    #[error("`{index}` is not a single iterator, and a virtual tensor has one per dimension")]
    NotAnIterator {
        /// The index.
        index: Affine,
    },
    /// An iterator of a value that is not a dimension of the virtual tensor.
    #[error("`{iterator}` indexes the value but is not a dimension of the virtual tensor")]
    NoFormal {
        /// The iterator.
        iterator: Name,
    },
    /// A range of an iterator that is not reduced over.
    #[error(
        "gives a range to `{iterator}`, which is not among the iterators that are reduced over"
    )]
    NotReduced {
        /// The iterator.
        iterator: String,
    },
    /// A mean of numbers of values that differ.
    #[error("the mean over `{iterator}` has no fixed number of values")]
    NoMean {
        /// The iterator.
        iterator: Name,
    },
    /// A range of an iterator that an assignment does not have.
    #[error("gives a range to `{iterator}`, which the assignment does not have: its iterators are [{}]", list(.has))]
    NoIterator {
        /// The iterator.
        iterator: Name,
        /// Those that it has.
        has: Vec<Name>,
    },
    /// What only a matrix can be.
    #[error("{what} is not a tensor with 2 dimensions")]
    NotAMatrix {
        /// What was given.
        what: String,
    },
    /// An iterator is listed twice.
    #[error("`{iterator}` is listed twice")]
    Repeated {
        /// The iterator.
        iterator: Name,
    },

    /// An expression that has no nest.
    #[error(transparent)]
    NoNest(#[from] NoNest),
    /// A text that is no program.
    #[error(transparent)]
    Program(Box<NoProgram>),

    /// A text that is not a name.
    #[error(transparent)]
    Name(#[from] NameError),

    /// A number that must be positive.
    #[error("`{parameter}` must be at least 1, and {value} is not")]
    NotPositive {
        /// The parameter.
        parameter: &'static str,
        /// The value given.
        value: i64,
    },
    /// A number that must not be negative.
    #[error("`{parameter}` must be at least 0, and {value} is not")]
    Negative {
        /// The parameter.
        parameter: &'static str,
        /// The value given.
        value: i64,
    },
    /// Loops that are not directly nested.
    #[error(
        "`{outer}` and `{inner}` are not perfectly nested: `{culprit}` has more in it than a single loop"
    )]
    NotPerfect {
        /// The outer loop.
        outer: Name,
        /// The inner loop.
        inner: Name,
        /// The loop with more than one child.
        culprit: Name,
    },
    /// A number of lanes that no vector has.
    #[error("`lanes` must be 2, 4, 8, 16, 32 or 64, not {value}")]
    NotLanes {
        /// The number given.
        value: i64,
    },
    /// No access to a tensor moves with a loop.
    #[error("no access to {tensor} in `{name}` moves from one iteration of it to the next")]
    NothingToPrefetch {
        /// The loop.
        name: Name,
        /// The tensor.
        tensor: String,
    },
    /// A loop stores nothing to a tensor in memory.
    #[error("`{name}` stores nothing to {tensor} in memory")]
    NothingToStream {
        /// The loop.
        name: Name,
        /// The tensor.
        tensor: String,
    },
    /// A loop reads what it would store past the caches.
    #[error("`{name}` reads {tensor}, and should find it in the caches")]
    StreamedRead {
        /// The loop.
        name: Name,
        /// The tensor.
        tensor: String,
    },
    /// What an iteration touches of a tensor is not a part of memory.
    #[error("what an iteration of `{name}` touches of {tensor} lies here and there in memory")]
    Scattered {
        /// The loop.
        name: Name,
        /// The tensor.
        tensor: String,
    },
    /// A text that a comment cannot hold.
    #[error("{text:?} cannot be a remark")]
    NotARemark {
        /// The text.
        text: String,
    },
    /// Loops of which neither is inside the other.
    #[error("neither of `{first}` and `{second}` is inside the other")]
    NotNested {
        /// One loop.
        first: Name,
        /// The other.
        second: Name,
    },
    /// A loop would move out of a loop that its bounds depend on.
    #[error("the bounds of `{inner}` depend on `{outer}`, so `{inner}` cannot move outside of it")]
    BoundsDepend {
        /// The loop with the bounds.
        inner: Name,
        /// The loop that they mention.
        outer: Name,
    },
    /// A loop would move inside of one whose bounds hold a multiple of its iterator.
    #[error(
        "the bounds of `{}` hold {}*{}: with `{}` inside of it, new bounds would need division",
        .0.of, .0.factor, .0.by, .0.by
    )]
    NeedsDivision(Division),
    /// A loop whose step is not 1.
    #[error("`{name}` has the step {step}, and this is for loops of step 1")]
    Stepped {
        /// The loop.
        name: Name,
        /// Its step.
        step: i64,
    },
    /// A loop whose number of iterations varies.
    #[error("the number of iterations of `{name}` is not constant: {range}")]
    NotConstant {
        /// The loop.
        name: Name,
        /// Its range.
        range: String,
    },
    /// A derived name that is in use.
    #[error("the new loop would be named `{name}`, and there is a loop of that name")]
    NameClash {
        /// The name.
        name: Name,
    },
    /// Loops to be fused have different ranges.
    #[error("`{first}` runs over {first_range} and `{second}` over {second_range}")]
    RangesDiffer {
        /// The first loop.
        first: Name,
        /// Its range.
        first_range: String,
        /// The second loop.
        second: Name,
        /// Its range.
        second_range: String,
    },
    /// Loops to be fused differ in how they are run.
    #[error(
        "`{first}` and `{second}` are not parallel or vector in the same way, or have different \
         hints"
    )]
    ModesDiffer {
        /// The first loop.
        first: Name,
        /// The second loop.
        second: Name,
    },
    /// The outer levels of a nest to be fused are not perfectly nested.
    #[error("the {which} nest is not perfect down to level {level}: {found}")]
    NotPerfectTo {
        /// `first` or `second`.
        which: &'static str,
        /// The level down to which it has to be.
        level: i64,
        /// What is there.
        found: String,
    },
    /// The second nest initializes what the first one uses.
    #[error("the second nest initializes {tensor}, which the first one uses")]
    FillConflict {
        /// The tensor.
        tensor: String,
    },
    /// A statement or fill between loops to be fused.
    #[error("`{text}` is beside the loops at this level and is not a loop")]
    NotALoop {
        /// The statement.
        text: String,
    },
    /// Fewer than two loops.
    #[error("there is only one loop at this level, so there is nothing to fuse")]
    NothingToFuse,
    /// A word that a parameter does not take.
    #[error("`{parameter}` must be one of {}, not \"{word}\"", words(.allowed))]
    NotOneOf {
        /// The parameter.
        parameter: &'static str,
        /// The word given.
        word: String,
        /// Those that it takes.
        allowed: &'static [&'static str],
    },
    /// A factor that leaves a remainder.
    #[error("{factor} does not divide the {extent} iterations of `{name}`")]
    NotDivisible {
        /// The loop.
        name: Name,
        /// Its number of iterations.
        extent: String,
        /// The factor.
        factor: i64,
    },
    /// A loop that should be inside of another one.
    #[error("`{inner}` is not inside of `{outer}`")]
    NotInside {
        /// The loop that should be inside.
        inner: Name,
        /// The other one.
        outer: Name,
    },
    /// Loops of which one is inside the other, where each statement belongs to one of them.
    #[error("`{first}` and `{second}` are around the same statements, and one loop cuts each")]
    OnePath {
        /// One loop.
        first: Name,
        /// The other.
        second: Name,
    },
    /// A statement in none of the loops that are to be cut.
    #[error("`{text}` is in `{outer}`, and in none of the loops that are listed")]
    Uncovered {
        /// The loop around it.
        outer: Name,
        /// The statement.
        text: String,
    },
    /// A loop that does not start, or end, at a single bound.
    #[error("`{name}` has several bounds at its {end}: {range}")]
    SeveralBounds {
        /// The loop.
        name: Name,
        /// `front` or `back`.
        end: &'static str,
        /// Its range.
        range: String,
    },
    /// Loops that do not follow each other in one body.
    #[error("`{first}` and `{second}` are not adjacent")]
    NotAdjacent {
        /// One loop.
        first: Name,
        /// The other.
        second: Name,
    },
    /// Loops that are not in one body.
    #[error("`{first}` and `{second}` are not two loops of one body")]
    NotBeside {
        /// One loop.
        first: Name,
        /// The other.
        second: Name,
    },
    /// A loop whose body is a single tree.
    #[error("there is only one loop or statement in `{name}`, so there is nothing to distribute")]
    NothingToDistribute {
        /// The loop.
        name: Name,
    },
    /// A loop in which nothing is guarded.
    #[error("`{name}` holds no loop of one iteration or none that `fuse` made for it")]
    NotGuarded {
        /// The loop.
        name: Name,
    },
    /// A text that is not an index expression.
    #[error("{text:?} is not an index expression such as \"8*k + 8\": {what}")]
    NotAnIndex {
        /// The text.
        text: String,
        /// What was expected or found.
        what: String,
    },
    /// Guards that begin and end where loops inside say.
    #[error("all guards in `{name}` begin and end where loops further in say")]
    Inseparable {
        /// The loop.
        name: Name,
    },
    /// An initialization that stays where it is.
    #[error(transparent)]
    Init(#[from] NoInit),
    /// A tensor that is not computed where it is read.
    #[error(transparent)]
    Producer(#[from] NoProducer),
    /// A nest that is not computed where what it reads is finished.
    #[error(transparent)]
    Consumer(#[from] NoConsumer),
    /// A reduction without partial results.
    #[error(transparent)]
    Partials(#[from] NoPartials),
    /// A tensor that is not kept in a buffer.
    #[error(transparent)]
    Buffer(#[from] NoBuffer),
    /// Values that are not kept in the place of others.
    #[error(transparent)]
    Reuse(#[from] NoReuse),
    /// A bug in the table of operations.
    #[error("arguments do not match the declared parameters")]
    Misdeclared,
}

fn dimensions(rank: usize) -> String {
    match rank {
        1 => "1 dimension".to_owned(),
        rank => format!("{rank} dimensions"),
    }
}

/// The dimensions of an operand.
fn counted(rank: usize) -> String {
    match rank {
        0 => "it has none".to_owned(),
        1 => "its only dimension is 1 (dimensions count from 1)".to_owned(),
        2 => "its dimensions are 1 and 2 (counted from 1)".to_owned(),
        rank => format!("its dimensions are 1 to {rank} (counted from 1)"),
    }
}

fn nothing(what: &str, rank: usize) -> String {
    match rank {
        0 => format!("{what} has no dimensions"),
        _ => "the list is empty".to_owned(),
    }
}

fn words(allowed: &[&str]) -> String {
    let quoted: Vec<String> = allowed.iter().map(|w| format!("\"{w}\"")).collect();
    quoted.join(", ")
}

fn list(names: &[Name]) -> String {
    let texts: Vec<&str> = names.iter().map(Name::as_str).collect();
    texts.join(", ")
}

impl ErrorKind {
    /// The class.
    pub fn class(&self) -> Class {
        use ErrorKind as K;
        match self {
            K::Misdeclared | K::Invalid(Invalid::Malformed(_)) => Class::Bug,
            K::Program(why) if why.is_limitation() => Class::Limitation,
            K::NoNest(NoNest::Partition(why)) if why.is_limitation() => Class::Limitation,
            K::Invalid(Invalid::TooDeep | Invalid::TooLarge { .. })
            | K::Invalid(Invalid::IndexTooLarge { .. } | Invalid::LocalTooLarge { .. })
            | K::TooComplex
            | K::NoNest(NoNest::ReadsTarget { .. })
            | K::NoNest(NoNest::Scattered { .. } | NoNest::TwoConstants { .. }) => {
                Class::Limitation
            }
            K::Loop(NoLoop::TooDeep { .. } | NoLoop::Ambiguous { .. })
            | K::Invalid(Invalid::InsideVector { .. } | Invalid::NotCollapsible { .. })
            | K::Invalid(Invalid::PrefetchInVector { .. })
            | K::Invalid(Invalid::OutOfScope { .. } | Invalid::LocalClash { .. })
            | K::NotPerfect { .. }
            | K::NotNested { .. }
            | K::NothingToPrefetch { .. }
            | K::NothingToStream { .. }
            | K::StreamedRead { .. }
            | K::Scattered { .. }
            | K::BoundsDepend { .. }
            | K::NeedsDivision(_)
            | K::Stepped { .. }
            | K::NotConstant { .. }
            | K::NameClash { .. }
            | K::RangesDiffer { .. }
            | K::ModesDiffer { .. }
            | K::NotPerfectTo { .. }
            | K::FillConflict { .. }
            | K::NotALoop { .. }
            | K::NotDivisible { .. }
            | K::NotInside { .. }
            | K::SeveralBounds { .. }
            | K::NotAdjacent { .. }
            | K::NotBeside { .. }
            | K::NothingToDistribute { .. }
            | K::NotGuarded { .. }
            | K::Inseparable { .. }
            | K::Init(_)
            | K::Producer(_)
            | K::Consumer(_)
            | K::Partials(_)
            | K::Reuse(_)
            | K::Buffer(
                NoBuffer::NotUsed { .. }
                | NoBuffer::Written { .. }
                | NoBuffer::OnlyRead { .. }
                | NoBuffer::NotLocal { .. }
                | NoBuffer::NoRows { .. }
                | NoBuffer::AcrossPanels { .. }
                | NoBuffer::NotTemporary { .. }
                | NoBuffer::Unset { .. },
            )
            | K::NothingToFuse => Class::Refusal,
            _ => Class::Mistake,
        }
    }
}
