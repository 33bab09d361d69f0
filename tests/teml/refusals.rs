//! Every refusal: what provokes it, what it says is wrong, and which argument and loops it
//! blames. That no variant is missing is a test, too.

use crate::buffers::buffers;
use crate::locals::locals;
use crate::partials::partials;
use crate::refused_consumers::consumers;
use crate::refused_expressions::expressions;
use crate::refused_hints::hints;
use crate::refused_inits::inits;
use crate::refused_loops::loops;
use crate::refused_nests::nests;
use crate::refused_operands::operands;
use crate::refused_partitions::partitions;
use crate::refused_producers::producers;
use crate::refused_ranges::ranges;
use crate::refused_reuses::reuses;
use crate::refused_slabs::slabs;
use crate::refused_texts::texts;
use crate::trees::*;
use teml::analysis::position::NoLoop;
use teml::analysis::shape::Mismatch;
use teml::analysis::verify::Invalid;
use teml::codegen::{NoCode, generate};
use teml::ir::BinaryOp::Mul;
use teml::ir::{Elem, Name, NameError, Nest, Reduction, ShapeError};
use teml::legality::{Reductions, Undecided, Verdict, check};
use teml::lower::build::{NoNest, build};
use teml::transform::nest::at::focus;
use teml::transform::nest::buffer::NoBuffer;
use teml::transform::nest::place_init::NoInit;
use teml::transform::nest::producer::NoProducer;
use teml::transform::nest::reuse::NoReuse;
use teml::transform::nest::reverse::reverse;
use teml::transform::nest::reverse_compute_at::NoConsumer;
use teml::transform::nest::rfactor::NoPartials;
use teml::transform::tensor::eq::{self, retarget};
use teml::transform::tensor::vreduce::vreduce;
use teml::transform::{Arg, Class, ErrorKind, LoopRef, Op, apply};

/// A call that is refused.
#[derive(Clone)]
pub struct Case {
    pub op: &'static Op,
    pub args: Vec<Arg>,
    pub kind: ErrorKind,
    pub argument: Option<usize>,
    pub culprits: &'static [&'static str],
}

impl Case {
    /// Refused because of no argument and no loop in particular.
    pub fn new(op: &'static Op, args: Vec<Arg>, kind: impl Into<ErrorKind>) -> Case {
        let kind = kind.into();
        let (argument, culprits) = (None, &[] as &[&str]);
        Case {
            op,
            args,
            kind,
            argument,
            culprits,
        }
    }

    /// Which argument is at fault, counted from 0.
    pub fn at(mut self, argument: usize) -> Case {
        self.argument = Some(argument);
        self
    }

    /// Which loops are.
    pub fn because_of(mut self, culprits: &'static [&'static str]) -> Case {
        self.culprits = culprits;
        self
    }
}

fn cases() -> Vec<Case> {
    [
        expressions(),
        operands(),
        partitions(),
        nests(),
        loops(),
        hints(),
        inits(),
        locals(),
        partials(),
        producers(),
        ranges(),
        consumers(),
        buffers(),
        reuses(),
        slabs(),
        texts(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn refusals_say_what_is_wrong_and_where() {
    for case in cases() {
        let Err(error) = apply(case.op, &case.args, None) else {
            panic!("{} was to be refused: {}", case.op.name, case.kind)
        };
        let culprits: Vec<&str> = error.culprits.iter().map(Name::as_str).collect();
        let found = (error.op, &error.kind, error.argument, culprits.as_slice());
        let expected = (case.op.name, &case.kind, case.argument, case.culprits);
        assert_eq!(found, expected, "{}", error.kind);
        // Loops at fault are shown in a nest that has them.
        let has = |name: &Name| error.nest.as_ref().is_some_and(|nest| nest.has_loop(name));
        assert!(error.culprits.iter().all(has), "{}", error.kind);
        let parameters = 0..case.op.params.len();
        assert!(error.argument.is_none_or(|k| parameters.contains(&k)));
    }
}

#[test]
fn only_bugs_are_called_bugs() {
    for case in cases() {
        let bug = matches!(
            case.kind,
            ErrorKind::Misdeclared | ErrorKind::Invalid(Invalid::Malformed(_))
        );
        assert_eq!(case.kind.class() == Class::Bug, bug, "{}", case.kind);
    }
}

/// Gives every variant a name, in a match that the compiler keeps complete, and lists them.
macro_rules! variants {
    ($kind:ident: $($pattern:pat => $name:literal,)*) => {
        fn variant(kind: &$kind) -> &'static str {
            match kind {
                $($pattern => $name,)*
            }
        }
        const VARIANTS: &[&str] = &[$($name,)*];
    };
}

#[test]
fn every_refusal_has_a_case() {
    use ErrorKind as K;
    variants! { ErrorKind:
        K::Shape(Mismatch::Rank { .. }) => "Shape::Rank",
        K::Shape(Mismatch::Extents { .. }) => "Shape::Extents",
        K::Shape(Mismatch::OutOfBounds { .. }) => "Shape::OutOfBounds",
        K::Shape(Mismatch::Leaves { .. }) => "Shape::Leaves",
        K::Shape(Mismatch::Unclear { .. }) => "Shape::Unclear",
        K::Shape(Mismatch::Unlimited { .. }) => "Shape::Unlimited",
        K::Shape(Mismatch::Circle { .. }) => "Shape::Circle",
        K::NotReduced { .. } => "NotReduced",
        K::NoMean { .. } => "NoMean",
        K::NoIterator { .. } => "NoIterator",
        K::Shape(Mismatch::NoRange { .. }) => "Shape::NoRange",
        K::Shape(Mismatch::Unbound { .. }) => "Shape::Unbound",
        K::Shape(Mismatch::Empty { .. }) => "Shape::Empty",
        K::Shape(Mismatch::Cut { .. }) => "Shape::Cut",
        K::Shape(Mismatch::Window { .. }) => "Shape::Window",
        K::Shape(Mismatch::Elems { .. }) => "Shape::Elems",
        K::Shape(Mismatch::TooLarge { .. }) => "Shape::TooLarge",
        K::IteratorsOfOne { .. } => "IteratorsOfOne",
        K::NothingToReduce { .. } => "NothingToReduce",
        K::Extents(ShapeError::NotPositive { .. }) => "Extents::NotPositive",
        K::Extents(ShapeError::TooLarge { .. }) => "Extents::TooLarge",
        K::Loop(NoLoop::NoLevel { .. }) => "Loop::NoLevel",
        K::Loop(NoLoop::TooDeep { .. }) => "Loop::TooDeep",
        K::Loop(NoLoop::Ambiguous { .. }) => "Loop::Ambiguous",
        K::Loop(NoLoop::NoName { .. }) => "Loop::NoName",
        K::Invalid(Invalid::InsideVector { .. }) => "Invalid::InsideVector",
        K::Invalid(Invalid::PrefetchInVector { .. }) => "Invalid::PrefetchInVector",
        K::Invalid(Invalid::NotCollapsible { .. }) => "Invalid::NotCollapsible",
        K::Invalid(Invalid::TooDeep) => "Invalid::TooDeep",
        K::Invalid(Invalid::TooLarge { .. }) => "Invalid::TooLarge",
        K::Invalid(Invalid::IndexTooLarge { .. }) => "Invalid::IndexTooLarge",
        K::Invalid(Invalid::OutOfScope { .. }) => "Invalid::OutOfScope",
        K::Invalid(Invalid::LocalClash { .. }) => "Invalid::LocalClash",
        K::Invalid(Invalid::LocalTooLarge { .. }) => "Invalid::LocalTooLarge",
        K::Invalid(Invalid::Malformed(_)) => "Invalid::Malformed",
        K::Unnamed => "Unnamed",
        K::IteratorsMissing { .. } => "IteratorsMissing",
        K::IteratorsGiven { .. } => "IteratorsGiven",
        K::ScalarIndexed { .. } => "ScalarIndexed",
        K::TooManyLists { .. } => "TooManyLists",
        K::TooComplex => "TooComplex",
        K::NotRepresentable { .. } => "NotRepresentable",
        K::OnlyNumbers => "OnlyNumbers",
        K::NeedsFloat { .. } => "NeedsFloat",
        K::NeedsInteger { .. } => "NeedsInteger",
        K::ShapesDiffer { .. } => "ShapesDiffer",
        K::NoDimension { .. } => "NoDimension",
        K::DimensionTwice { .. } => "DimensionTwice",
        K::ContractedExtents { .. } => "ContractedExtents",
        K::NotFree { .. } => "NotFree",
        K::NotAnIterator { .. } => "NotAnIterator",
        K::NoFormal { .. } => "NoFormal",
        K::NotAMatrix { .. } => "NotAMatrix",
        K::Repeated { .. } => "Repeated",
        K::NoNest(NoNest::NotAnAssignment { .. }) => "NoNest::NotAnAssignment",
        K::NoNest(NoNest::Unnamed) => "NoNest::Unnamed",
        K::NoNest(NoNest::UnassignedIterator { .. }) => "NoNest::UnassignedIterator",
        K::NoNest(NoNest::ReadsTarget { .. }) => "NoNest::ReadsTarget",
        K::NoNest(NoNest::NotInjective { .. }) => "NoNest::NotInjective",
        K::NoNest(NoNest::Scattered { .. }) => "NoNest::Scattered",
        K::NoNest(NoNest::TwoConstants { .. }) => "NoNest::TwoConstants",
        K::NoNest(NoNest::Shape(_)) => "NoNest::Shape",
        K::NoNest(NoNest::Partition(_)) => "NoNest::Partition",
        K::Program(_) => "Program",
        K::Name(_) => "Name",
        K::NotPositive { .. } => "NotPositive",
        K::Negative { .. } => "Negative",
        K::NotPerfect { .. } => "NotPerfect",
        K::NotLanes { .. } => "NotLanes",
        K::NothingToPrefetch { .. } => "NothingToPrefetch",
        K::NothingToStream { .. } => "NothingToStream",
        K::StreamedRead { .. } => "StreamedRead",
        K::Scattered { .. } => "Scattered",
        K::NotARemark { .. } => "NotARemark",
        K::NotNested { .. } => "NotNested",
        K::BoundsDepend { .. } => "BoundsDepend",
        K::NeedsDivision(_) => "NeedsDivision",
        K::Stepped { .. } => "Stepped",
        K::NotConstant { .. } => "NotConstant",
        K::NameClash { .. } => "NameClash",
        K::RangesDiffer { .. } => "RangesDiffer",
        K::ModesDiffer { .. } => "ModesDiffer",
        K::NotPerfectTo { .. } => "NotPerfectTo",
        K::FillConflict { .. } => "FillConflict",
        K::NotALoop { .. } => "NotALoop",
        K::NothingToFuse => "NothingToFuse",
        K::Init(NoInit::NotOne { .. }) => "Init::NotOne",
        K::Init(NoInit::UsedElsewhere { .. }) => "Init::UsedElsewhere",
        K::Init(NoInit::Repeats { .. }) => "Init::Repeats",
        K::Init(NoInit::NoBox { .. }) => "Init::NoBox",
        K::Buffer(NoBuffer::NotUsed { .. }) => "Buffer::NotUsed",
        K::Buffer(NoBuffer::Written { .. }) => "Buffer::Written",
        K::Buffer(NoBuffer::OnlyRead { .. }) => "Buffer::OnlyRead",
        K::Buffer(NoBuffer::NoRead { .. }) => "Buffer::NoRead",
        K::Buffer(NoBuffer::NoOrder { .. }) => "Buffer::NoOrder",
        K::Buffer(NoBuffer::NotLocal { .. }) => "Buffer::NotLocal",
        K::Buffer(NoBuffer::AcrossPanels { .. }) => "Buffer::AcrossPanels",
        K::Buffer(NoBuffer::NoRows { .. }) => "Buffer::NoRows",
        K::Buffer(NoBuffer::NotTemporary { .. }) => "Buffer::NotTemporary",
        K::Buffer(NoBuffer::Unset { .. }) => "Buffer::Unset",
        K::Producer(NoProducer::NotPlain { .. }) => "Producer::NotPlain",
        K::Producer(NoProducer::Reduces { .. }) => "Producer::Reduces",
        K::Producer(NoProducer::ReadsTarget { .. }) => "Producer::ReadsTarget",
        K::Producer(NoProducer::NotRead { .. }) => "Producer::NotRead",
        K::Producer(NoProducer::Overwritten { .. }) => "Producer::Overwritten",
        K::Producer(NoProducer::NotSet { .. }) => "Producer::NotSet",
        K::Producer(NoProducer::ReadElsewhere { .. }) => "Producer::ReadElsewhere",
        K::Producer(NoProducer::NothingOwn { .. }) => "Producer::NothingOwn",
        K::Consumer(NoConsumer::NotOne { .. }) => "Consumer::NotOne",
        K::Consumer(NoConsumer::Several { .. }) => "Consumer::Several",
        K::Consumer(NoConsumer::Nowhere) => "Consumer::Nowhere",
        K::Consumer(NoConsumer::NotWritten { .. }) => "Consumer::NotWritten",
        K::Consumer(NoConsumer::Shared { .. }) => "Consumer::Shared",
        K::Partials(NoPartials::NoUpdate { .. }) => "Partials::NoUpdate",
        K::Partials(NoPartials::Several { .. }) => "Partials::Several",
        K::Partials(NoPartials::Operation { .. }) => "Partials::Operation",
        K::Partials(NoPartials::UsedElsewhere { .. }) => "Partials::UsedElsewhere",
        K::Reuse(NoReuse::Computed { .. }) => "Reuse::Computed",
        K::Reuse(NoReuse::NotTemporary { .. }) => "Reuse::NotTemporary",
        K::Reuse(NoReuse::NotCopied { .. }) => "Reuse::NotCopied",
        K::Reuse(NoReuse::Differs { .. }) => "Reuse::Differs",
        K::Reuse(NoReuse::Needed { .. }) => "Reuse::Needed",
        K::Reuse(NoReuse::NotSpent { .. }) => "Reuse::NotSpent",
        K::Reuse(NoReuse::NotRead { .. }) => "Reuse::NotRead",
        K::Reuse(NoReuse::NoneFree { .. }) => "Reuse::NoneFree",
        K::NotOneOf { .. } => "NotOneOf",
        K::NotDivisible { .. } => "NotDivisible",
        K::NotInside { .. } => "NotInside",
        K::SeveralBounds { .. } => "SeveralBounds",
        K::NotAdjacent { .. } => "NotAdjacent",
        K::NotBeside { .. } => "NotBeside",
        K::OnePath { .. } => "OnePath",
        K::Uncovered { .. } => "Uncovered",
        K::NothingToDistribute { .. } => "NothingToDistribute",
        K::NotGuarded { .. } => "NotGuarded",
        K::NotAnIndex { .. } => "NotAnIndex",
        K::Inseparable { .. } => "Inseparable",
        K::Misdeclared => "Misdeclared",
    }
    let provoked: Vec<&str> = cases().iter().map(|case| variant(&case.kind)).collect();
    let missing: Vec<&&str> = VARIANTS.iter().filter(|v| !provoked.contains(v)).collect();
    assert_eq!(missing, [] as [&&str; 0]);
}

#[test]
fn a_declared_target_of_another_element_type_is_refused() {
    let value = eq("B", &tensor("A", &[4]), "i", "i");
    let declared = teml::transform::tensor::declare::tensor(&[4], Elem::F32).unwrap();
    let declared = bind("B", declared);
    let error = retarget(&value, declared.tensor().unwrap()).unwrap_err();
    let elems = Mismatch::Elems {
        left: "B".to_owned(),
        left_elem: Elem::F32,
        right: "the assigned value".to_owned(),
        right_elem: Elem::F64,
    };
    assert_eq!(error.kind, ErrorKind::Shape(elems));
}

/// Nests and a name for which there is no C, and why.
fn codes() -> Vec<(Vec<Nest>, &'static str, NoCode)> {
    let copy = copy("B", "A", &[4], "i");
    let carried = nest(&["f64 A[4]", "parallel for i in 1..4", "  A[i] = A[i - 1]"]);
    let race = teml::legality::race::race(&carried).unwrap();
    let other = nest(&["f64 A[5]", "for i in 0..5", "  A[i] = A[i]"]);
    let named = nest(&[
        "f64 i[4], B[4]",
        "for i in 0..4",
        "  B[i] = B[i]",
        "  i[0] = B[i]",
    ]);
    let broken = nest(&["f64 A[4]", "A[k] = A[k]"]);
    let inner = teml::transform::LoopRef::Level(2);
    let part = focus(&self::copy("B", "A", &[4, 5], "i j"), &inner).unwrap();
    let x = tensor("x", &[5]);
    let squares = vop(Mul, &x, &x, ["i", "i"]);
    let sum = vreduce(
        Reduction::Sum,
        &squares,
        &list("i"),
        teml::ir::Domain::default(),
    )
    .unwrap();
    let reversed = build(&bind("s", eq::eq(&sum, &arrow(["ε"], "")).unwrap())).unwrap();
    let reversed = reverse(&reversed, &LoopRef::Level(1)).unwrap();
    let Verdict::Illegal(violation) = check(std::slice::from_ref(&reversed), Reductions::Strict)
    else {
        panic!("a reversed sum is not in order")
    };
    // Its statement is another one, and nothing says which of the definition it executes.
    let unknown = nest(&["f64 A[4], B[4]", "for i in 0..4", "  B[i] = A[i] * 1"]);
    let unknown = copy.with_trees(unknown.trees().to_vec());
    let statement = "B[i] = A[i] * 1".to_owned();
    let undecided = Undecided::Unknown { statement };
    vec![
        (vec![reversed], "kernel", NoCode::Illegal(violation)),
        (vec![unknown], "kernel", NoCode::Undecided(undecided)),
        (vec![], "kernel", NoCode::Nothing),
        (
            vec![copy.clone(), carried],
            "kernel",
            NoCode::Race { nest: 1, race },
        ),
        (
            vec![copy.clone(), other],
            "kernel",
            NoCode::TensorsDiffer {
                name: name("A"),
                first: "f64 A[4]".to_owned(),
                second: "f64 A[5]".to_owned(),
            },
        ),
        (
            ["f64 r[]\nr[] = r[]", "f64 r\nr = r"]
                .map(|text| nest(&[text]))
                .to_vec(),
            "kernel",
            NoCode::TensorsDiffer {
                name: name("r"),
                first: "f64 r[]".to_owned(),
                second: "f64 r".to_owned(),
            },
        ),
        (vec![named], "kernel", NoCode::NameClash { name: name("i") }),
        (vec![part], "kernel", NoCode::Part { outer: name("i") }),
        (
            vec![copy],
            "double",
            NoCode::Symbol(NameError::Keyword("double".to_owned())),
        ),
        (
            vec![broken],
            "kernel",
            NoCode::Invalid(Invalid::Malformed(
                "`k` uses `k` outside of its loop".to_owned(),
            )),
        ),
    ]
}

#[test]
fn codegen_says_why_there_is_no_c() {
    for (nests, symbol, why) in codes() {
        assert_eq!(generate(&nests, symbol, Reductions::Strict), Err(why));
    }
}

#[test]
fn every_reason_for_no_c_has_a_case() {
    variants! { NoCode:
        NoCode::Nothing => "Nothing",
        NoCode::Part { .. } => "Part",
        NoCode::Race { .. } => "Race",
        NoCode::Illegal(_) => "Illegal",
        NoCode::Undecided(_) => "Undecided",
        NoCode::TensorsDiffer { .. } => "TensorsDiffer",
        NoCode::NameClash { .. } => "NameClash",
        NoCode::Symbol(_) => "Symbol",
        NoCode::Invalid(_) => "Invalid",
    }
    let provoked: Vec<&str> = codes().iter().map(|(.., why)| variant(why)).collect();
    let missing: Vec<&&str> = VARIANTS.iter().filter(|v| !provoked.contains(v)).collect();
    assert_eq!(missing, [] as [&&str; 0]);
}
