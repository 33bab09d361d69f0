//! Ranges of iterators: `0..i + 1`, `max(0, i - 2)..min(n, i + 3)`, `0..n by 2`, and maps of them.
//!
//! Rhai's own ranges have integers as bounds. Here bounds may also be index expressions, and the
//! greatest or the least of several.

use crate::binding::call::Call;
use crate::binding::captured;
use crate::ir::{Affine, Domain, Lookup, Name, Range, Segment};
use crate::messages::fail::Failure;
use crate::values::{self, Index};
use rhai::{Dynamic, Engine, EvalAltResult, Map, NativeCallContext};
use std::collections::BTreeSet;
use std::fmt;

/// Describes a map of ranges in messages.
pub const RANGES: &str = "a map of ranges such as `#{i: 1..9, j: 0..i + 1}`";

/// A range with a bound that Rhai's ranges do not have, or with a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IterRange(pub Range);

/// The greatest or the least of several index expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Several {
    greatest: bool,
    of: Vec<Affine>,
}

impl fmt::Display for Several {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.of.iter().map(Affine::to_string).collect();
        let name = if self.greatest { "max" } else { "min" };
        write!(f, "{name}({})", texts.join(", "))
    }
}

type Result<T> = std::result::Result<T, Box<EvalAltResult>>;

/// Registers the types and operators.
pub fn register(engine: &mut Engine) {
    engine
        .register_type_with_name::<IterRange>("range")
        .register_type_with_name::<Several>("bound")
        .register_fn("to_string", |x: &mut IterRange| x.0.to_string())
        .register_fn("to_debug", |x: &mut IterRange| x.0.to_string())
        .register_fn("==", |a: IterRange, b: IterRange| a == b)
        .register_fn("!=", |a: IterRange, b: IterRange| a != b)
        .register_fn("to_string", |x: &mut Several| x.to_string())
        .register_fn("to_debug", |x: &mut Several| x.to_string())
        .register_fn("by", by);
    bound::<Index, Index>(engine);
    bound::<Index, i64>(engine);
    bound::<i64, Index>(engine);
    bound::<Several, Index>(engine);
    bound::<Several, i64>(engine);
    bound::<Index, Several>(engine);
    bound::<i64, Several>(engine);
    bound::<Several, Several>(engine);
}

/// A value that can be a bound.
trait Bound: Clone + Send + Sync + 'static {
    fn into_several(self, greatest: bool) -> std::result::Result<Vec<Affine>, Failure>;
}

impl Bound for Index {
    fn into_several(self, _: bool) -> std::result::Result<Vec<Affine>, Failure> {
        Ok(vec![self.affine])
    }
}

impl Bound for i64 {
    fn into_several(self, _: bool) -> std::result::Result<Vec<Affine>, Failure> {
        Ok(vec![Affine::constant(self)])
    }
}

impl Bound for Several {
    fn into_several(self, greatest: bool) -> std::result::Result<Vec<Affine>, Failure> {
        if self.greatest == greatest {
            return Ok(self.of);
        }
        let failure = Failure::new(format!("`{self}` is not affine here"));
        Err(failure.help(
            "a range starts at the greatest of several bounds and ends before the least: \
             max(…)..min(…)",
        ))
    }
}

/// Registers the operators on two bounds: the range, the maximum, the minimum.
fn bound<A: Bound, B: Bound>(engine: &mut Engine) {
    for (symbol, more) in [("..", 0), ("..=", 1)] {
        engine.register_fn(
            symbol,
            move |c: NativeCallContext, a: A, b: B| -> Result<IterRange> {
                let raise = |failure: Failure| failure.raise(c.call_position());
                let (lower, upper) = (a.into_several(true), b.into_several(false));
                let (lower, upper) = (lower.map_err(raise)?, upper.map_err(raise)?);
                let upper: Vec<Affine> = upper.iter().map(|b| b.plus_constant(more)).collect();
                let mut all = lower.iter().chain(&upper).flat_map(Affine::terms);
                if all.any(|(name, _)| name.is_read()) {
                    return within(&lower, &upper).map(IterRange).map_err(raise);
                }
                Ok(IterRange(Range {
                    lower,
                    upper,
                    step: 1,
                    within: None,
                }))
            },
        );
    }
    for (name, greatest) in [("max", true), ("min", false)] {
        engine.register_fn(
            name,
            move |c: NativeCallContext, a: A, b: B| -> Result<Several> {
                let raise = |failure: Failure| failure.raise(c.call_position());
                let mut of = a.into_several(greatest).map_err(raise)?;
                for bound in b.into_several(greatest).map_err(raise)? {
                    if !of.contains(&bound) {
                        of.push(bound);
                    }
                }
                Ok(Several { greatest, of })
            },
        );
    }
}

/// The range between bounds that are read from tensors.
fn within(lower: &[Affine], upper: &[Affine]) -> std::result::Result<Range, Failure> {
    let single = |bounds: &[Affine]| match bounds {
        [bound] => Lookup::of(bound),
        _ => None,
    };
    let (Some(lower), Some(upper)) = (single(lower), single(upper)) else {
        let text = "both bounds of such a range are read: one element, or one and a number";
        return Err(Failure::new(text.to_owned()).help("`ptr[i]..ptr[i + 1]`"));
    };
    let unknown = lower.tensor.label().to_owned();
    let range = Range::of_segment(&Segment::between(lower, upper));
    range.ok_or_else(|| {
        let text = format!("nothing is known of the entries of {unknown}");
        Failure::new(text).help("`indices(extents, n, \"increasing\")` says what they are")
    })
}

fn by(c: NativeCallContext, range: Dynamic, step: Dynamic) -> Result<IterRange> {
    let raise = |failure: Failure| failure.raise(c.call_position());
    let Some(range) = as_range(&range) else {
        let given = values::describe(&range);
        return Err(raise(Failure::new(format!(
            "`by` must follow a range such as `0..n`, not {given}"
        ))));
    };
    match step.flatten_clone().as_int() {
        Ok(step) if step >= 1 && range.lower.len() == 1 => Ok(IterRange(Range { step, ..range })),
        Ok(step) if step >= 1 => Err(raise(Failure::new(
            "a range with a step must have a single lower bound".to_owned(),
        ))),
        _ => {
            let given = values::describe(&step);
            let what = format!("the step of a range must be an integer of at least 1, not {given}");
            Err(raise(Failure::new(what)))
        }
    }
}

fn as_range(value: &Dynamic) -> Option<Range> {
    if let Some(range) = value.read_lock::<IterRange>() {
        return Some(range.0.clone());
    }
    if let Some(range) = value.read_lock::<std::ops::Range<i64>>() {
        return Some(Range::constant(range.start, range.end));
    }
    let range = value.read_lock::<std::ops::RangeInclusive<i64>>()?;
    Some(Range::constant(*range.start(), range.end().checked_add(1)?))
}

/// Argument `k` as ranges; `in_play` are the iterators that the call is about.
///
/// # Errors
/// Something else, and bounds with a variable that reads as one of the iterators.
pub fn ranges(call: &Call, k: usize, in_play: &[Name]) -> std::result::Result<Domain, Failure> {
    let map: Map = call.get(k, RANGES)?;
    let mut ranges = Vec::with_capacity(map.len());
    for (key, value) in &map {
        // `iterators(2)` are `_1` and `_2`, which no script can name otherwise.
        let generated = key.strip_prefix('_').and_then(|number| number.parse().ok());
        let name = match generated {
            Some(number) => Ok(Name::generated(number)),
            None => Name::new(key),
        };
        let name = name.map_err(|e| call.fail(k, &format!("must be {RANGES}: {e}")))?;
        let Some(range) = as_range(value) else {
            let expected = format!("{RANGES}; `{key}` must be a range");
            return Err(call.expected_but(k, &expected, value));
        };
        if !range.bounds().all(Affine::is_in_limits) {
            return Err(call.fail(k, "has a bound that is too large"));
        }
        ranges.push((name, range));
    }
    let domain = Domain::new(ranges);
    let names: BTreeSet<&Name> = in_play
        .iter()
        .chain(domain.iter().map(|(n, _)| n))
        .collect();
    let state = call.state();
    for (key, position) in state.places.in_ranges(call.context().call_position()) {
        let Some(name) = captured::name(&state.places, *position) else {
            continue;
        };
        let range = domain.iter().find(|(n, _)| n.as_str() == key);
        let is_iterator = range.is_some_and(|(_, r)| {
            r.bounds()
                .any(|b| b.terms().iter().any(|(n, _)| n.as_str() == name))
        });
        if !is_iterator && names.iter().any(|n| n.as_str() == name) {
            return Err(captured::refuse(
                &state.places,
                *position,
                &Dynamic::from_int(0),
            ));
        }
    }
    Ok(domain)
}
