//! Derived sizes in C, such as the number of blocks of a size.

use crate::ir::{Affine, Name, Quotient};

/// The declaration of a derived size in C. Empty for any other size.
pub fn definition_of_size(size: &Name) -> String {
    let quotient = size.size().and_then(|size| size.of.as_ref());
    quotient.map_or_else(String::new, |quotient| {
        format!("const int64_t {size} = {};", divided(quotient))
    })
}

/// A quotient in C, rounded down.
fn divided(quotient: &Quotient) -> String {
    let sum = quotient.terms.iter();
    let sum = sum.fold(Affine::constant(quotient.offset), |sum, (name, c)| {
        sum.plus(&Affine::iterator(name.clone()).times(*c))
    });
    let by = quotient.divisor;
    match (
        sum.ends().is_some_and(|(least, _)| least >= 0),
        sum.as_iterator(),
    ) {
        (true, Some(name)) => format!("{name}/{by}"),
        (true, None) => format!("({sum})/{by}"),
        // C rounds towards zero.
        (false, _) => format!("({sum})/{by} - (({sum})%{by} < 0)"),
    }
}
