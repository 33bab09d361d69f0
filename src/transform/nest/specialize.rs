//! `specialize` makes a nest for some values of its sizes and scalars.
//!
//! ```rhai
//! let n = size("N");
//! let x = tensor([n]);
//! let y = eq(2 * x, [i] -> [i]);
//! let plan = build(y);
//! print(plan.specialize("N <= 64 && N % 8 == 0").stripmine("i", 8));
//! print(plan.specialize(#{N: 10}));
//! ```
//!
//! ```text
//! size N most 64 multiple 8
//! size N_8 = N / 8
//! f64 y[8*N_8], x[8*N_8]
//! for i_o in 0..N_8
//!   for i_i in 8*i_o..8*i_o + 8
//!     y[i_i] = 2 * x[i_i]
//! f64 y[10], x[10]
//! for i in 0..10
//!   y[i] = 2 * x[i]
//! ```
//!
//! A condition compares sizes with numbers: `<`, `<=`, `>`, `>=`, `==`, and `% … == 0`, joined by
//! `&&`. It may add a number to a size, as in `N - 1 >= 8`. The later steps and the proof rely on
//! it, and a size with one value is a number. The C is for these sizes alone. `dispatch` makes one
//! function of several such plans and of one for all sizes.
//!
//! Of a scalar that the nest reads, a condition says which integer it is. A choice that then always
//! falls the same way is made, and factors of 1 are left out. Nothing else is simplified: `0 * x` is
//! not 0 where `x` is a NaN. As in BLAS, the result may be said not to depend on `C` if `beta` is 0:
//!
//! ```rhai
//! let beta = scalar("f64", "beta");
//! let C = tensor([4], "f64", "C");
//! let x = tensor([4]);
//! let D = eq(vselect(beta, "==", 0, 0, beta * C) + x, [i] -> [i]);
//! print(build(D).specialize("beta == 0"));
//! print(build(D).specialize("beta == 1"));
//! ```
//!
//! ```text
//! f64 D[4], x[4]
//! for i in 0..4
//!   D[i] = 0 + x[i]
//! f64 D[4], C[4], x[4]
//! for i in 0..4
//!   D[i] = C[i] + x[i]
//! ```
//!
//! Of a nest with variants, each plan is specialized. Those that never run then are dropped:
//!
//! ```rhai
//! let n = size("N");
//! let x = tensor([n]);
//! let y = eq(2 * x, [i] -> [i]);
//! let plan = build(y);
//! let eights = plan.specialize("N % 8 == 0").stripmine("i", 8);
//! let long = plan.specialize("N >= 1000").parallelize("i");
//! print(plan.prefer(long).prefer(eights).specialize("N <= 32"));
//! ```
//!
//! ```text
//! size N most 32
//! f64 y[N], x[N]
//! where N <= 32 && N % 8 == 0:
//!   size N_8 = N / 8
//!   for i_o in 0..N_8
//!     for i_i in 8*i_o..8*i_o + 8
//!       y[i_i] = 2 * x[i_i]
//! otherwise:
//!   for i in 0..N
//!     y[i] = 2 * x[i]
//! ```
//!
//! Always legal: what holds for all sizes and scalars holds for some.
//!
//! Refuses: sizes and scalars that the nest does not have, or that it writes; conditions that no size
//! fulfills, or that do not say which integer a scalar is; parts of nests.
//!
//! Source: Halide's `specialize`.

use crate::args::NEST;
use crate::ir::{Condition, Name, Nest};
use crate::{Error, Op, Param, Returns, Value, mistake, refusal};

const CONDITION: Param<Condition> = Param::new("condition");

/// `specialize(nest, condition)`.
pub static SPECIALIZE: Op = Op {
    name: "specialize",
    params: &[NEST.any(), CONDITION.any()],
    returns: Returns::Nest,
    file: include_str!("specialize.rs"),
    call: |args| specialize(args.get(&NEST)?, &args.get(&CONDITION)?).map(Value::Nest),
};

/// The nest for the sizes and scalars at which a condition holds.
///
/// # Errors
/// As the header says.
pub fn specialize(nest: &Nest, condition: &Condition) -> Result<Nest, Error> {
    if let Some(l) = nest.outer_loops().last() {
        let text = format!("this is a part of a nest, inside loop `{}`", l.name);
        return Err(refusal(text).help("specialize the whole nest"));
    }
    let sizes = nest.sizes().into_iter();
    let given = |name: &Name| name.size().is_some_and(|size| size.of.is_none());
    let sizes: Vec<Name> = sizes.filter(given).collect();
    let scalars = nest.scalars().into_iter();
    let scalars: Vec<Name> = scalars
        .filter_map(|scalar| scalar.name().cloned())
        .collect();
    for (name, accepted) in condition.of() {
        if scalars.contains(name) && accepted.single().is_none() {
            let text = format!("`{name}` is a scalar: a condition says which integer it is");
            let help = format!("such as `{name} == 0`");
            return Err(refusal(text).help(help).at(&CONDITION));
        }
        if !sizes.contains(name) && !scalars.contains(name) {
            let known: Vec<&str> = sizes.iter().chain(&scalars).map(Name::as_str).collect();
            let known = match known.as_slice() {
                [] => "it has none".to_owned(),
                names => format!("it has {}", names.join(", ")),
            };
            let text = format!("the nest has no size or scalar `{name}`: {known}");
            return Err(mistake(text).at(&CONDITION));
        }
    }
    nest.under(condition).map_err(|name| {
        let own = sizes.iter().find(|known| **known == name);
        let own = own.and_then(|known| known.size());
        let values = own.map(|size| Condition::of_facts(name.clone(), size));
        let values = values.filter(|values| !values.to_string().is_empty());
        let values = values.map_or_else(String::new, |values| format!(", and {values}"));
        let text = format!("no `{name}` is left: `{condition}`{values}");
        refusal(text).at(&CONDITION).on(nest, [])
    })
}
