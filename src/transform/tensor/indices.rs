//! `indices(extents, n)` declares a tensor of integers from 0 to n - 1, which index other tensors.
//!
//! ```rhai
//! let ptr = indices([5], 9 + 1, "increasing");
//! let col = indices([9], 6);
//! let V = tensor([9]); let x = tensor([6]);
//! let y = sum(V[e] * x[col[e]], [e], #{e: ptr[i]..ptr[i + 1]});
//! print(build(y));
//! ```
//!
//! ```text
//! f64 y[4], V[9], x[6]
//! i64 ptr[5] increasing in 0..10, col[9] in 0..6
//! fill y[0..4] = 0
//! for i in 0..4
//!   for e in ptr[i]..ptr[i + 1]
//!     let col_e = col[e]
//!       y[i] += V[e] * x[col_e]
//! ```
//!
//! An entry is an index wherever an iterator is: `x[col[e]]` gathers elements of `x`. It is also a
//! bound: row i of a sparse matrix in the CSR format has the entries `ptr[i]..ptr[i + 1]`. In a
//! nest, each entry that is read as an index is a loop of one iteration, `let col_e = col[e]`.
//!
//! The order says more about the entries. `"increasing"`: none is less than the one before it, so
//! that rows do not overlap. `"distinct"`: no two are equal. `sorted` says that those of each row increase.
//! Proofs use these facts, and every run
//! checks them on the data. Without an order, nothing but the bounds is known.
//!
//! Entries are of type `i64` unless `elem` says `"i32"`.
//!
//! Refuses: element types that are not integers; extents as `tensor` does.
//!
//! Source: the index arrays of TACO (Kjolstad et al., 2017), and the facts of sparse polyhedral
//! compilers (Mohammadi et al., 2019).

use super::declare::sized_tensor;
use crate::args::{Extent, Extents};
use crate::ir::{Affine, Elem, Entries, Expr, Name, Order};
use crate::words::Word;
use crate::{Error, Op, Param, Returns, Value, mistake};

const EXTENTS: Param<Extents> = Param::new("extents");
const N: Param<Extent> = Param::new("n");
const ORDER: Param<Option<Order>> = Param::new("order");
const ELEM: Param<Option<Elem>> = Param::new("elem");
const NAME: Param<Option<Name>> = Param::new("name");

/// `indices(extents, n, order?, elem?, name?)`.
pub static INDICES: Op = Op {
    name: "indices",
    params: &[EXTENTS.any(), N.any(), ORDER.any(), ELEM.any(), NAME.any()],
    returns: Returns::Expr,
    file: include_str!("indices.rs"),
    call: |args| {
        let (order, elem) = (args.get(&ORDER)?, args.get(&ELEM)?);
        let tensor = indices(
            args.get(&EXTENTS)?,
            args.get(&N)?,
            order.unwrap_or_default(),
            elem.unwrap_or(Elem::I64),
        )?;
        let name = args.get(&NAME)?;
        Ok(Value::Expr(match name {
            Some(name) => tensor.fill_placeholder(&name),
            None => tensor,
        }))
    },
};

impl Word for Order {
    const WORDS: &'static [&'static str] = Order::WORDS;

    fn from_word(word: &str) -> Option<Order> {
        Order::from_word(word)
    }
}

/// A tensor of the given extents, with entries from 0 to before `n`.
///
/// # Errors
/// As the header says.
pub fn indices(extents: &[Affine], n: &Affine, order: Order, elem: Elem) -> Result<Expr, Error> {
    if elem.is_float() {
        let error = mistake(format!("entries of type {elem} cannot be indices"));
        return Err(error.help("`\"i64\"` and `\"i32\"` are integers").at(&ELEM));
    }
    let tensor = sized_tensor(extents, elem)?;
    let entries = Entries {
        low: Affine::constant(0),
        high: n.clone(),
        order,
        rows: None,
    };
    let known = tensor.tensor().map(|t| t.with_entries(entries));
    Ok(known.map_or(tensor, Expr::of_tensor))
}
