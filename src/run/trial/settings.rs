//! Settings of trials.

use crate::legality::Reductions;
use crate::runtime::{Budget, Options};

/// How trials are run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How often each variant runs.
    pub budget: Budget,
    /// How the C is compiled.
    pub options: Options,
    /// Whether reductions may be reordered.
    pub reductions: Reductions,
    /// The number of elements between rows of strided tensors.
    pub gap: i64,
    /// How many tensor elements the reference may read before it samples.
    pub reference_loads: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        let (budget, options) = (Budget::default(), Options::default());
        Settings {
            budget,
            options,
            reductions: Reductions::default(),
            gap: 0,
            reference_loads: 5e7,
        }
    }
}
