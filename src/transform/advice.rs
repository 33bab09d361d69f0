//! What is legal instead of what was refused.

use super::error::ErrorKind;
use super::nest::buffer::NoBuffer;
use super::nest::place_init::NoInit;
use crate::analysis::position::NoLoop;
use crate::analysis::shape::Mismatch;
use crate::analysis::verify::Invalid;
use crate::ir::Name;
use crate::lower::build::NoNest;

impl ErrorKind {
    /// What would be legal instead, or how to find out.
    pub fn help(&self) -> Option<String> {
        use ErrorKind as K;
        let help = match self {
            K::Unnamed => "bind it to a variable first: `let A = tensor([2, 3])`",
            K::IteratorsMissing { .. } => "give one iterator per dimension, such as `[i, j]`",
            K::IteratorsOfOne {
                without, rank, has, ..
            } => {
                let own: Vec<&str> = has.iter().map(Name::as_str).collect();
                let own = match own.len() == *rank {
                    true => own.join(", "),
                    false => "…".to_owned(),
                };
                return Some(format!(
                    "give it iterators as well: `vat({without}, [{own}])`"
                ));
            }
            K::NothingToReduce { rank, .. } if *rank > 0 => {
                "without a list, all dimensions are reduced over"
            }
            K::IteratorsGiven { .. } => {
                "leave its list out: `[[i, j], ]`, `[, [i, j]]`, `-> [i, j]`"
            }
            K::ScalarIndexed { .. } => "leave its list out: `[[i, j], ]`, or `()` in its place",
            K::TooComplex => "assign a part of it to a tensor and use that tensor",
            K::NotFree { .. } => "reduce over iterators that index the expression",
            K::NotRepresentable { elem, .. } if !elem.is_float() => {
                "integers take whole numbers within their range"
            }
            K::OnlyNumbers => "scripts compute with numbers alone as they are: `2 * 3`",
            K::NeedsFloat { .. } => "declare the tensor with `\"f64\"` or `\"f32\"`",
            K::NeedsInteger { .. } => "convert the elements first: `vcast(x, \"i64\")`",
            K::Shape(Mismatch::Unlimited { iterator }) => {
                return Some(format!(
                    "give it a range, `#{{{iterator}: 0..n}}`, or the target its extents"
                ));
            }
            K::Shape(Mismatch::Elems {
                left_elem,
                right_elem,
                ..
            }) => {
                let [left, right] = [left_elem, right_elem];
                let to = if right.is_float() && !left.is_float() {
                    right
                } else {
                    left
                };
                return Some(format!("convert one of them: `vcast(…, \"{to}\")`"));
            }
            K::ShapesDiffer { .. } => {
                "say which entries meet: `vadd(A, x, [[i, j], [j]])`, and likewise vsub, vmul, vdiv"
            }
            K::Shape(Mismatch::Cut { iterator, .. } | Mismatch::Window { iterator, .. }) => {
                return Some(format!(
                    "give `{iterator}` its range, as in `vsum(x, [{iterator}], \
                     #{{{iterator}: 0..9}})`, or for an iterator of the target in `eq`; where an \
                     index would leave a tensor, `padded` adds a border of zeros"
                ));
            }
            K::Shape(Mismatch::Leaves { index, place, .. }) => {
                let iterator = index.terms().first().map(|(name, _)| name)?;
                return Some(format!(
                    "narrow the range of `{iterator}` or of an iterator that it depends on: \
                     `{index}` must be in 0..{}, and bounds such as `min({}, i + 2)` cut a range \
                     at the border",
                    place.extent, place.extent
                ));
            }
            K::Shape(Mismatch::Circle { .. }) => {
                "the bounds of a range may depend on iterators whose ranges do not depend on it"
            }
            K::Shape(Mismatch::Unclear { .. }) => {
                "give ranges whose bounds depend on fewer iterators, or smaller extents"
            }
            K::NoMean { .. } => {
                "divide the sum by numbers of your own: a tensor with the number of values for \
                 each element"
            }
            K::NotReduced { .. } => "ranges of iterators of the target are an argument of `eq`",
            K::NoIterator { .. } => {
                "ranges of reduced iterators are an argument of the reduction, as in \
                 `vsum(x, [k], #{k: 0..i})`"
            }
            K::Shape(Mismatch::Extents { .. }) => {
                "dimensions with the same index need the same extent, unless another index, such \
                 as `i + 1`, limits the iterator"
            }
            K::NotAMatrix { .. } => "declare it: `let L = triangular(tensor([9, 9]), \"lower\")`",
            K::NoFormal { .. } => "list it after `->`, or sum over it with `vsum`",
            K::NoNest(NoNest::NotAnAssignment { .. }) => {
                "assign it to a tensor: `let A = eq(x, [i, j])`, or use add, sub, mul, div"
            }
            K::NoNest(NoNest::Unnamed) => "bind it to a variable first: `let C = add(…)`",
            K::NoNest(NoNest::UnassignedIterator { iterator, .. }) => {
                return Some(format!(
                    "for a reduction, sum over it with `vsum(x, [{iterator}])`, or accumulate \
                     onto the target itself: `C = add(C, x, [[i, j], ] -> [i, j])`"
                ));
            }
            K::NoNest(NoNest::ReadsTarget { .. }) => {
                "assign to another tensor; `build` computes all elements of the old ones"
            }
            K::NoNest(NoNest::NotInjective { .. }) => {
                "give each iterator a dimension of its own in the target"
            }
            K::NoNest(NoNest::Scattered { .. } | NoNest::TwoConstants { .. }) => {
                "reduce into a tensor of its own, then assign that"
            }
            K::NoNest(NoNest::Partition(why)) => return why.help().map(str::to_owned),
            K::Program(why) => return why.help(),
            K::Loop(NoLoop::NoName { name, have }) => return derived(name, have),
            K::Loop(NoLoop::Ambiguous { .. }) => "name the loop instead of giving its level",
            K::NotPerfect { .. } => "only loops with nothing beside them change places",
            K::NeedsDivision(_) => {
                "blocks stay inside of the loop over blocks; skew by 1 or -1, and change the \
                 order before stripmine"
            }
            K::Stepped { .. } => "transform the loop before its step changes",
            K::NotConstant { .. } => {
                "choose factors that divide the extents, or stripmine with the tail \"cut\" or \
                 \"grid\", or unroll the loop outside first"
            }
            K::NotDivisible { .. } => "the tails \"guard\" and \"cut\" take any factor",
            K::Init(NoInit::NotOne { found }) if !found.is_empty() => {
                "say which tensor: `place_init(\"i\", y)`; place it before steps that copy its loops"
            }
            K::Init(NoInit::NoBox { .. }) => {
                "choose factors that divide the extents, or a loop further in or out"
            }
            K::Buffer(NoBuffer::Written { .. }) => "`stage` keeps what is written in a buffer",
            K::Buffer(NoBuffer::OnlyRead { .. }) => "`pack` keeps what is read in a buffer",
            K::Buffer(NoBuffer::NoOrder { .. }) => "dimensions count from 1, as in `[2, 1]`",
            K::Buffer(NoBuffer::NoRead { .. }) => "without a number, all reads use the buffer",
            K::Buffer(NoBuffer::NotLocal { .. }) => {
                "`pack`, `stage` and `localize` make local tensors; `padded` stores a larger copy"
            }
            K::Buffer(NoBuffer::NotTemporary { .. }) => {
                "join the nest that computes it and the one that reads it with fuse_outer"
            }
            K::Buffer(NoBuffer::AcrossPanels { .. }) => {
                "tile the loops that index it with the size of the panels first"
            }
            K::Buffer(NoBuffer::Unset { .. }) => {
                "move what sets it into the same iteration: fuse the loops, or use place_init"
            }
            K::Producer(why) => return why.help().map(str::to_owned),
            K::Consumer(why) => return why.help().map(str::to_owned),
            K::Partials(why) => return why.help().map(str::to_owned),
            K::Reuse(why) => return why.help().map(str::to_owned),
            K::NotBeside { .. } => "move the loops around them, or distribute them, first",
            K::NotAdjacent { .. } => "fuse_outer brings loops of two nests side by side",
            K::NameClash { .. } => "transform the loop of that name first, or name iterators apart",
            K::RangesDiffer { .. } => {
                "only loops over the same range fuse; `fuse` peels what does not coincide where \
                 bounds differ by constants and overlap"
            }
            K::ModesDiffer { .. } => {
                "fuse first, then parallelize, vectorize, prefetch and annotate"
            }
            K::FillConflict { .. } => "keep the nests apart and pass both to codegen",
            K::Invalid(Invalid::NotCollapsible { .. }) => {
                "parallelize when the loops inside are in place, vectorize further in, and prefetch \
                 in the last of them"
            }
            K::Invalid(Invalid::InsideVector { .. }) => {
                "vectorize the innermost loops and parallelize outer ones"
            }
            K::Invalid(Invalid::PrefetchInVector { .. }) => {
                "stripmine the loop and prefetch in the loop over blocks"
            }
            K::NothingToPrefetch { .. } => "prefetch in a loop whose iterator indexes the tensor",
            K::NothingToStream { .. } => {
                "stream a result in a loop that assigns its elements; local tensors stay in the \
                 caches"
            }
            K::StreamedRead { .. } => {
                "stream what no iteration reads or updates, in a loop around nothing but its \
                 assignment"
            }
            K::Scattered { .. } => {
                "fetch for a loop whose iterations touch whole rows, or pack the tensor first"
            }
            K::NotARemark { .. } => {
                "a remark is one line of letters, digits, spaces and punctuation, without \
                 backslashes, `/*`, `*/` and `??`"
            }
            K::Invalid(Invalid::TooLarge { .. }) => "stripmine first and unroll the inner loop",
            K::Invalid(Invalid::OutOfScope { .. } | Invalid::LocalClash { .. }) => {
                "rearrange the loops first, and introduce local tensors at the end"
            }
            K::Misdeclared | K::Invalid(Invalid::Malformed(_)) => "please report this",
            _ => return None,
        };
        Some(help.to_owned())
    }
}

/// The loops that steps made of the loop `name`, which is gone.
fn derived(name: &str, have: &[Name]) -> Option<String> {
    let is_part = |n: &&Name| {
        n.as_str()
            .strip_prefix(name)
            .is_some_and(|s| s.starts_with('_'))
    };
    let parts: Vec<String> = have
        .iter()
        .filter(is_part)
        .map(|n| format!("`{n}`"))
        .collect();
    match parts.as_slice() {
        [] => None,
        [one] => Some(format!("`{name}` became {one}")),
        [all @ .., last] => Some(format!("`{name}` became {} and {last}", all.join(", "))),
    }
}
