//! `read_entries` and `random_entries`: the arrays of sparse tensors, from files or at random.

use crate::binding::call::{Call, Effect, Function, Parameter};
use crate::messages::fail::Failure;
use crate::runtime::sparse::{Arranged, Coordinates, Layout, pattern};
use crate::values::Numbers;
use rhai::{Array, Dynamic, Map};
use std::path::Path;

pub(super) static READ_ENTRIES: Function = Function {
    name: "read_entries",
    topic: "results",
    effect: Effect::None,
    params: &[Parameter::new("path"), Parameter::optional("format")],
    returns: "map",
    doc: "\
The arrays of a sparse tensor in a file, as `load_sparse` takes them: SciPy's `.npz` (csr, csc or
coo), Matrix Market's `.mtx`, or FROSTT's `.tns`.

The map has `shape`, `nodes` (indices, for each dimension or each level of a tree), `pointers` and
`values`. The format is \"csr\", \"csc\", \"coo\" or \"csf\", and by default \"csr\" for matrices and
\"csf\" for other tensors. Entries at one place are added up. Indices from 1 become indices from 0, of
32 bits if they fit. A file that is wrong is refused, with the line.",
    call: |call| {
        let file = call.text(0)?;
        let entries = Coordinates::load(Path::new(&file));
        let entries = entries.map_err(|error| call.refuse(&error.to_string()).argument(0))?;
        arranged(call, 1, &entries)
    },
};

pub(super) static RANDOM_ENTRIES: Function = Function {
    name: "random_entries",
    topic: "results",
    effect: Effect::None,
    params: &[
        Parameter::new("columns"),
        Parameter::new("lengths"),
        Parameter::optional("format"),
        Parameter::optional("seed"),
    ],
    returns: "map",
    doc: "\
The arrays of a random sparse matrix, as `random_sparse` takes them: row i has `lengths[i]` entries,
in distinct columns.

The map is that of `read_entries`. The same seed gives the same columns on every machine.",
    call: |call| {
        let columns = call.int(0)?;
        let columns = u64::try_from(columns).map_err(|_| call.fail(0, "must not be negative"))?;
        let given: Array = call.get(1, "a list of the numbers of entries")?;
        let length = |(row, length): (usize, &Dynamic)| {
            let length = length.as_int().ok().and_then(|n| u64::try_from(n).ok());
            length.ok_or_else(|| call.fail(1, &format!("has no number of entries for row {row}")))
        };
        let lengths: Vec<u64> = given
            .iter()
            .enumerate()
            .map(length)
            .collect::<Result<_, _>>()?;
        let seed = if call.count() > 3 { call.int(3)? } else { 1 };
        let entries = pattern(columns, &lengths, seed.cast_unsigned());
        let entries = entries.map_err(|reason| call.refuse(&reason).argument(1))?;
        arranged(call, 2, &entries)
    },
};

/// The arrays of the format that argument `k` names.
fn arranged(call: &Call, k: usize, entries: &Coordinates) -> Result<Dynamic, Failure> {
    let rank = entries.shape.len();
    let format = match call.value(k).filter(|value| !value.is_unit()) {
        None if rank == 2 => "csr".to_owned(),
        None => "csf".to_owned(),
        Some(_) => call.text(k)?,
    };
    let known = || format!("must be one of {}", Layout::WORDS.join(", "));
    let layout = Layout::from_word(&format).ok_or_else(|| call.fail(k, &known()))?;
    let Some(made) = entries.arranged(layout) else {
        let what = format!("is a format of matrices, and this tensor has {rank} dimensions");
        return Err(call
            .fail(k, &what)
            .help("\"csf\" and \"coo\" have any number of dimensions"));
    };
    let Arranged {
        nodes,
        pointers,
        values,
    } = made;
    let numbers = |array| Dynamic::from(Numbers::of_result(array));
    let list = |arrays: Vec<_>| arrays.into_iter().map(numbers).collect::<Array>();
    let shape = entries
        .shape
        .iter()
        .map(|n| Dynamic::from_int(n.cast_signed()));
    let map: Map = [
        ("format".into(), format.into()),
        ("shape".into(), shape.collect::<Array>().into()),
        ("nodes".into(), list(nodes).into()),
        ("pointers".into(), list(pointers).into()),
        ("values".into(), numbers(values)),
    ]
    .into_iter()
    .collect();
    Ok(map.into())
}
