//! Which random cases the tests take.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same programs every time, so that a failure is of the change; `PROPTEST_RNG_SEED` names
/// another seed, and `TEML_RANDOM=1` takes a new one each time. `TEML_CASES` is how many cases each
/// test takes instead of its own number.
pub fn config(cases: u32) -> ProptestConfig {
    let given = std::env::var("TEML_CASES");
    let cases = given.ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    let default = ProptestConfig::default();
    let rng_seed = match (default.rng_seed, std::env::var_os("TEML_RANDOM")) {
        (RngSeed::Random, None) => RngSeed::Fixed(20_181_105),
        (seed, _) => seed,
    };
    ProptestConfig {
        cases,
        rng_seed,
        failure_persistence: None,
        ..default
    }
}
