//! The types of values that are [`Shown`](super::shown::Shown).

use super::code::Code;
use super::handle::{Handle, Made};
use super::moves::{Listed, One};
use super::numbers::Numbers;
use super::path::Path;
use super::shown::Shows;
use crate::ir::{Operator, Program};
use crate::runtime::Random;
use crate::transform::simplify::Rule;
use crate::tune::Prediction;
use crate::verbs::{Checked, Equal};
use rhai::{Dynamic, Engine};

static KINDS: &[Shows] = &[
    Shows::of::<Checked>(),
    Shows::of::<Equal>(),
    Shows::of::<Rule>(),
    Shows::of::<Code>(),
    Shows::of::<Numbers>(),
    Shows::of::<Handle>(),
    Shows::of::<Made>(),
    Shows::of::<Random>(),
    Shows::of::<Listed>(),
    Shows::of::<One>(),
    Shows::of::<Path>(),
    Shows::of::<Prediction>(),
    Shows::of::<Program>(),
    Shows::of::<Operator>(),
];

/// A value of these functions in full or in brief.
pub fn shown(value: &Dynamic, full: bool) -> Option<String> {
    KINDS.iter().find_map(|kind| (kind.text)(value, full))
}

/// The type of a value of these functions, in a user's words.
pub fn name_of(value: &Dynamic) -> Option<&'static str> {
    let is = |kind: &&Shows| (kind.text)(value, false).is_some();
    KINDS.iter().find(is).map(|kind| kind.name)
}

/// Registers these types, how they print, and what scripts can ask of them.
pub fn register(engine: &mut Engine) {
    KINDS.iter().for_each(|kind| (kind.register)(engine));
    super::reductions::register(engine);
}
