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
//! first. A variant with variants of its own brings them, in their order. Later steps are refused,
//! but for `specialize`: take them before.
//!
//! Legal when both nests are, each at its sizes. `check` proves it.
//!
//! Refuses: a variant that would always or never run, or that computes something else; one for a size
//! or scalar that the nest does not have.
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
    let refused = |text: String| refusal(text).at(&VARIANT).on(variant, []);
    let (own, condition) = (nest.condition(), variant.condition());
    if own.implies(condition) {
        let help = "`specialize(variant, \"N <= 32\")` makes it a plan for some sizes";
        let text = "the variant is for all sizes, so the nest would never run".to_owned();
        return Err(refused(text).help(help));
    }
    let runs = |plan: &Nest| {
        own.and(plan.condition())
            .is_some_and(|both| !both.is_never())
    };
    if !runs(variant) {
        let text = format!("the variant would never run: `{own}`, and `{condition}`");
        return Err(refused(text));
    }
    let (sizes, scalars) = (nest.sizes(), nest.scalars());
    let has = |name: &Name| {
        sizes.contains(name) || scalars.iter().any(|scalar| scalar.name() == Some(name))
    };
    let plans = variant.variants().iter().cloned();
    let mut plans: Vec<Nest> = plans.chain([variant.fallback()]).collect();
    plans.retain(runs);
    for plan in &plans {
        let asked = plan.condition().beyond(own);
        if let Some((name, _)) = asked.of().iter().find(|(name, _)| !has(name)) {
            let text = format!("the variant is for some `{name}`, and the nest has none");
            return Err(refused(text));
        }
        if !computes(nest, plan) {
            let text = "the variant computes something else: its definition is another one";
            let help = "make both from one nest, and specialize one of them";
            return Err(refused(text.to_owned()).help(help));
        }
    }
    Ok(nest.preferring(plans))
}

/// Whether a plan has the definition of a nest, at the sizes that the plan is for.
fn computes(nest: &Nest, plan: &Nest) -> bool {
    let in_order = |nest: &Nest| -> Vec<(usize, bool)> {
        let parts = nest.originals().iter();
        let parts = parts.map(|part| (part.assignments, part.in_order));
        parts.collect()
    };
    nest.fallback()
        .narrowed(plan.condition())
        .is_ok_and(|narrowed| {
            narrowed.definition() == plan.definition() && in_order(&narrowed) == in_order(plan)
        })
}
