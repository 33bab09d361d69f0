//! `prefer` runs another plan in place of a nest at the sizes and scalars that the plan is for.
//!
//! ```rhai
//! let n = size("N");
//! let x = tensor([n]);
//! let y = eq(2 * x, [i] -> [i]);
//! let plan = build(y);
//! let small = plan.specialize("N == 2").unroll("i");
//! print(plan.prefer(small));
//! ```
//!
//! ```text
//! size N
//! f64 y[N], x[N]
//! where N == 2:
//!   y[0] = 2 * x[0]
//!   y[1] = 2 * x[1]
//! otherwise:
//!   for i in 0..N
//!     y[i] = 2 * x[i]
//! ```
//!
//! The C is one function, which chooses when it is called. A plan that is preferred later is tried
//! first. Steps on the result are refused: make them before.
//!
//! Legal when both nests are, each at its sizes. `check` proves it.
//!
//! Refuses: a variant that is for all sizes, has variants of its own, or computes something else.
//!
//! Source: Halide's `specialize`, as a choice between whole plans.

use crate::args::NEST;
use crate::ir::{Name, Nest};
use crate::{Error, Op, Param, Returns, Value, refusal};

const VARIANT: Param<Nest> = Param::new("variant");

/// `prefer(nest, variant)`.
pub static PREFER: Op = Op {
    name: "prefer",
    params: &[NEST.any(), VARIANT.any()],
    returns: Returns::Nest,
    file: include_str!("prefer.rs"),
    call: |args| prefer(args.get(&NEST)?, args.get(&VARIANT)?).map(Value::Nest),
};

/// The nest that runs `variant` at the sizes that it is for.
///
/// # Errors
/// As the header says.
pub fn prefer(nest: &Nest, variant: &Nest) -> Result<Nest, Error> {
    let wrong = |text: &str| refusal(text).at(&VARIANT).on(variant, []);
    if !variant.variants().is_empty() {
        return Err(wrong("the variant has variants of its own").help("prefer them one by one"));
    }
    let (condition, sizes, scalars) = (variant.condition(), nest.sizes(), nest.scalars());
    let has = |name: &Name| {
        sizes.contains(name) || scalars.iter().any(|scalar| scalar.name() == Some(name))
    };
    let mut names = condition.of().iter().map(|(name, _)| name);
    if condition.is_empty() || !names.any(has) {
        let help = "`specialize(variant, \"N <= 32\")` makes it a plan for some sizes";
        return Err(wrong("the variant is for all sizes, so the nest would never run").help(help));
    }
    let same = nest.narrowed(condition).is_ok_and(|narrowed| {
        let in_order = |nest: &Nest| -> Vec<(usize, bool)> {
            let parts = nest.originals().iter();
            parts
                .map(|part| (part.assignments, part.in_order))
                .collect()
        };
        narrowed.definition() == variant.definition() && in_order(&narrowed) == in_order(variant)
    });
    if !same {
        let text = "the variant computes something else: its definition is another one";
        return Err(wrong(text).help("make both from one nest, and specialize one of them"));
    }
    Ok(nest.preferring(variant.clone()))
}
