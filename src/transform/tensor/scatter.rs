//! `scatter(value, indices, ranges?)` adds each value to the element that an index names, where
//! indices are read from tensors: the sums of all values that go to one place.
//!
//! ```rhai
//! let bin = indices([9], 4);
//! let w = tensor([9]);
//! let h = scatter(w[e], [bin[e]]);
//! print(build(h));
//! print(check(build(h).parallelize("e")).legal);
//! ```
//!
//! ```text
//! f64 h[4], w[9]
//! i64 bin[9] in 0..4
//! fill h[0..4] = 0
//! for e in 0..9
//!   let bin_e = bin[e]
//!     h[bin_e] += w[e]
//! false
//! ```
//!
//! Every element of the result is a sum: of all values whose index it has, or of none, which is 0.
//! A value may go to elements of several dimensions, `[row[e], k]`. Iterators that no index has by
//! itself are summed over, so that only they may index the tensors that are read.
//!
//! The facts about the entries decide the extents: `indices(…, n)` gives n elements.
//!
//! Ranges may be read as well. So the entries of a sparse matrix that row i has get values of that
//! row, `scatter(V[e] * a[i], [e], #{e: ptr[i]..ptr[i + 1]})`.
//!
//! Refuses: indices and ranges that read no tensor; what `eq` refuses.
//!
//! Source: histograms and assemblies, as in NumPy's `add.at` and in JAX's `segment_sum`.

use super::eq::assign;
use super::gather::gathered;
use crate::analysis::shape;
use crate::args::Iterators;
use crate::ir::{Affine, Domain, Expr, Name, Node, Reduction, Shape};
use crate::{Error, Op, Param, Returns, Value, refusal};

const VALUE: Param<Expr> = Param::new("value");
const INDICES: Param<Iterators> = Param::new("indices");
const RANGES: Param<Option<Domain>> = Param::new("ranges");

/// `scatter(value, indices, ranges?)`.
pub static SCATTER: Op = Op {
    name: "scatter",
    params: &[VALUE.any(), INDICES.any(), RANGES.any()],
    returns: Returns::Expr,
    file: include_str!("scatter.rs"),
    call: |args| {
        let ranges = args.get(&RANGES)?.unwrap_or_default();
        scatter(args.get(&VALUE)?, args.get(&INDICES)?, ranges).map(Value::Expr)
    },
};

/// The assignment of the sums of all values that go to one place.
///
/// # Errors
/// As the header says.
pub fn scatter(value: &Expr, indices: &[Affine], ranges: Domain) -> Result<Expr, Error> {
    let gathered = gathered(indices, &value.all_names()).map_err(|error| error.at(&INDICES))?;
    let read = gathered.ranges().map_err(|error| error.at(&INDICES))?;
    if read.is_empty() && ranges.lookups().next().is_none() {
        let error = refusal("none of these indices, and no range, is read from a tensor");
        let help = "`eq(value, [i, j])` assigns to the elements that iterators name";
        return Err(error.help(help).at(&INDICES));
    }
    let own: Vec<&Name> = gathered.index.iter().flat_map(Affine::iterators).collect();
    let used = value.iterators();
    let used = used.iter().chain(read.mentioned());
    let mut over: Vec<Name> = Vec::new();
    for name in used.chain(ranges.mentioned()) {
        if !own.contains(&name) && !over.contains(name) {
            over.push(name.clone());
        }
    }
    let sum = |shape| {
        Expr::new(Node::Reduce {
            reduction: Reduction::Sum,
            over: over.clone(),
            within: ranges.with(&read),
            shape,
            body: value.clone(),
        })
    };
    let shape = shape::virtual_shape(&sum(Shape::of_extents([])))?;
    let assigned = assign(sum(shape), &gathered.index, &INDICES)?;
    let Node::Assign {
        target,
        value,
        within,
        ..
    } = assigned.node()
    else {
        return Ok(assigned);
    };
    // Elements that no entry can name are sums of no values.
    Ok(Expr::new(Node::Assign {
        target: target.clone(),
        value: value.clone(),
        within: within.clone(),
        elsewhere: Some(Reduction::Sum.identity(value.elem())),
    }))
}
