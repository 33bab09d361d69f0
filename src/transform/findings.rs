//! Turns findings of the rooms below into errors of operations: adds their class and help.

use super::failure::{Class, Error};
use super::problem::Problem;
use crate::analysis::position::NoLoop;
use crate::analysis::shape::Mismatch;
use crate::analysis::verify::Invalid;
use crate::ir::{Name, NameError, ShapeError};
use crate::lower::build::NoNest;
use crate::lower::partition::NoPartition;
use crate::lower::program::{Faults, NoProgram};
use std::fmt::Display;

/// A finding of a room below.
pub trait Finding: Display {
    /// Whose fault it is.
    fn class(&self) -> Class {
        Class::Mistake
    }

    /// A legal alternative.
    fn help(&self) -> Option<String> {
        None
    }

    /// Where a text is wrong.
    fn places(&self) -> Vec<Problem> {
        Vec::new()
    }
}

impl<T: Finding> From<T> for Error {
    fn from(found: T) -> Error {
        Error {
            help: found.help(),
            places: found.places(),
            ..Error::new(found.class(), found.to_string())
        }
    }
}

impl Finding for NameError {}

impl Finding for ShapeError {}

impl Finding for Mismatch {
    fn help(&self) -> Option<String> {
        Some(match self {
            Mismatch::Unlimited { iterator } => {
                format!("give it a range, `#{{{iterator}: 0..n}}`, or the target its extents")
            }
            Mismatch::NoRange { iterator, .. } => format!(
                "give `{iterator}` its range, `#{{{iterator}: 0..5}}`, as the last argument of the \
                 reduction over it, or of `eq` for an iterator of the target; `sac {{ … }}` writes \
                 windows and slices with their ranges"
            ),
            Mismatch::IteratorIsSize(name) => {
                let upper = name.as_str().to_uppercase();
                format!("give the size another name, for example `size(\"{upper}\")`")
            }
            Mismatch::NotAffine { iterator, .. } | Mismatch::Omits { iterator, .. } => format!(
                "give `{iterator}` its range in terms of sizes, `#{{{iterator}: 1..n}}`, as the last \
                 argument of the reduction over it, or of `eq`"
            ),
            Mismatch::Elems {
                left_elem: left,
                right_elem: right,
                ..
            } => format!("convert one of them: `vcast(…, \"{}\")`", left.or_float(*right)),
            Mismatch::Cut { iterator, .. } | Mismatch::Window { iterator, .. } => format!(
                "give `{iterator}` its range, as in `vsum(x, [{iterator}], #{{{iterator}: 0..9}})`, \
                 or for an iterator of the target in `eq`; where an index would leave a tensor, \
                 `padded` adds a border of zeros"
            ),
            Mismatch::Leaves { index, place, .. } => {
                let (iterator, _) = index.terms().first()?;
                format!(
                    "narrow the range of `{iterator}` or of an iterator that it depends on: \
                     `{index}` must be in 0..{}, and bounds such as `min({}, i + 2)` cut a range at \
                     the border",
                    place.extent, place.extent
                )
            }
            Mismatch::Circle { .. } => {
                "the bounds of a range may depend on iterators whose ranges do not depend on it"
                    .to_owned()
            }
            Mismatch::Unclear { .. } => {
                "give ranges whose bounds depend on fewer iterators, or smaller extents".to_owned()
            }
            Mismatch::Extents { .. } => {
                "dimensions with the same index need the same extent, unless another index, such as \
                 `i + 1`, limits the iterator"
                    .to_owned()
            }
            _ => return None,
        })
    }
}

impl Finding for NoLoop {
    fn class(&self) -> Class {
        match self {
            NoLoop::TooDeep { .. } | NoLoop::Ambiguous { .. } => Class::Refusal,
            NoLoop::NoLevel { .. } | NoLoop::NoName { .. } => Class::Mistake,
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            NoLoop::NoName { name, have } => derived(name, have),
            NoLoop::Ambiguous { .. } => {
                Some("name the loop instead of giving its level".to_owned())
            }
            NoLoop::NoLevel { .. } | NoLoop::TooDeep { .. } => None,
        }
    }
}

/// The loops that steps made of the loop `name`, which no longer exists.
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

impl Finding for Invalid {
    fn class(&self) -> Class {
        match self {
            Invalid::Malformed(_) => Class::Bug,
            Invalid::TooDeep | Invalid::TooLarge { .. } => Class::Limitation,
            Invalid::IndexTooLarge { .. } | Invalid::LocalTooLarge { .. } => Class::Limitation,
            Invalid::InsideVector { .. }
            | Invalid::NotCollapsible { .. }
            | Invalid::PrefetchInVector { .. }
            | Invalid::OutOfScope { .. }
            | Invalid::LocalSized { .. }
            | Invalid::LoopIsSize { .. }
            | Invalid::ReadOnDevice { .. }
            | Invalid::LocalClash { .. } => Class::Refusal,
        }
    }

    fn help(&self) -> Option<String> {
        let help = match self {
            Invalid::NotCollapsible { .. } => {
                "parallelize when the loops inside are in place, vectorize further in, and prefetch \
                 in the last of them"
            }
            Invalid::InsideVector { .. } => {
                "vectorize the innermost loops and parallelize outer ones"
            }
            Invalid::PrefetchInVector { .. } => {
                "stripmine the loop and prefetch in the loop over blocks"
            }
            Invalid::TooLarge { .. } => "stripmine first and unroll the inner loop",
            Invalid::OutOfScope { .. } | Invalid::LocalClash { .. } => {
                "rearrange the loops first, and introduce local tensors at the end"
            }
            Invalid::LocalSized { .. } => {
                "block the loops of these dimensions first, so that a block has a number of elements"
            }
            Invalid::LoopIsSize { .. } => "give the loop another name",
            Invalid::ReadOnDevice { .. } => "parallelize its outer loops on the processor instead",
            Invalid::Malformed(_) => "please report this",
            Invalid::TooDeep | Invalid::IndexTooLarge { .. } | Invalid::LocalTooLarge { .. } => {
                return None;
            }
        };
        Some(help.to_owned())
    }
}

impl Finding for NoNest {
    fn class(&self) -> Class {
        match self {
            NoNest::Partition(why) => why.class(),
            NoNest::ReadsTarget { .. } | NoNest::Scattered { .. } | NoNest::TwoConstants { .. } => {
                Class::Limitation
            }
            _ => Class::Mistake,
        }
    }

    fn help(&self) -> Option<String> {
        let help = match self {
            NoNest::NotAnAssignment { .. } => {
                "assign it to a tensor: `let A = eq(x, [i, j])`, or use add, sub, mul, div"
            }
            NoNest::Unnamed => "bind it to a variable first: `let C = add(…)`",
            NoNest::UnassignedIterator { iterator, .. } => {
                return Some(format!(
                    "for a reduction, sum over it with `vsum(x, [{iterator}])`, or accumulate onto \
                     the target itself: `C = add(C, x, [[i, j], ] -> [i, j])`"
                ));
            }
            NoNest::ReadsTarget { .. } => {
                "assign to another tensor; `build` computes all elements of the old ones"
            }
            NoNest::NotInjective { .. } => {
                "give each iterator a dimension of its own in the target"
            }
            NoNest::Scattered { .. } | NoNest::TwoConstants { .. } => {
                "reduce into a tensor of its own, then assign that"
            }
            NoNest::Partition(why) => return Finding::help(why),
            NoNest::Shape(mismatch) => return mismatch.help(),
        };
        Some(help.to_owned())
    }
}

impl Finding for NoPartition {
    fn class(&self) -> Class {
        if self.is_limitation() {
            Class::Limitation
        } else {
            Class::Mistake
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            NoPartition::Shape(mismatch) => mismatch.help(),
            why => why.help().map(str::to_owned),
        }
    }
}

impl Finding for Faults {
    fn class(&self) -> Class {
        let mut classes = self.0.iter().map(|fault| class(&fault.why));
        let all_limits = classes.all(|class| class == Class::Limitation);
        if all_limits {
            Class::Limitation
        } else {
            Class::Mistake
        }
    }

    fn help(&self) -> Option<String> {
        let mut helps: Vec<String> = Vec::new();
        for help in self.0.iter().filter_map(|fault| fault.why.help()) {
            if !helps.contains(&help) {
                helps.push(help);
            }
        }
        (!helps.is_empty()).then(|| helps.join("\n"))
    }

    fn places(&self) -> Vec<Problem> {
        let places = self.0.iter().map(|fault| Problem {
            rule: Some(class(&fault.why).name()),
            label: fault.why.label(),
            help: fault.why.help(),
            ..Problem::new(&fault.span, fault.why.to_string())
        });
        places.collect()
    }
}

fn class(why: &NoProgram) -> Class {
    if why.is_limitation() {
        Class::Limitation
    } else {
        Class::Mistake
    }
}
