//! `read_entries` and `random_entries`: the arrays of sparse tensors, from files or at random.

use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::Param;
use crate::messages::fail::Failure;
use crate::runtime::sparse::{Arranged, Coordinates, Layout, pattern};
use crate::values::Numbers;
use rhai::{Array, Dynamic, Map};
use std::path::Path;

const PATH: Param<String> = Param::new("path");
const COLUMNS: Param<i64> = Param::new("columns");
const LENGTHS: Param<Dynamic> = Param::new("lengths");
const FORMAT: Param<Option<Dynamic>> = Param::new("format");
const SEED: Param<Option<i64>> = Param::new("seed");

pub(super) static READ_ENTRIES: Function = Function {
    name: "read_entries",
    topic: "results",
    effect: Effect::None,
    params: &[PATH.any(), FORMAT.any()],
    returns: "map",
    doc: "\
The arrays of a sparse tensor in a file, as `load_sparse` takes them: SciPy's `.npz` (csr, csc or
coo), Matrix Market's `.mtx`, or FROSTT's `.tns`.

The map has `shape`, `nodes` (indices, for each dimension or each level of a tree), `pointers` and
`values`. The format is \"csr\", \"csc\", \"coo\" or \"csf\", and by default \"csr\" for matrices and
\"csf\" for other tensors. Entries at one place are added up. Indices from 1 become indices from 0, of
32 bits if they fit. A file that is wrong is refused, with the line.",
    call: |call| {
        let file = call.arg(&PATH)?;
        let entries = Coordinates::load(Path::new(&file));
        let entries = entries.map_err(|error| call.blame(&PATH, &error.to_string()))?;
        arranged(call, &entries)
    },
};

pub(super) static RANDOM_ENTRIES: Function = Function {
    name: "random_entries",
    topic: "results",
    effect: Effect::None,
    params: &[COLUMNS.any(), LENGTHS.any(), FORMAT.any(), SEED.any()],
    returns: "map",
    doc: "\
The arrays of a random sparse matrix, as `random_sparse` takes them: row i has `lengths[i]` entries,
in distinct columns.

The map is that of `read_entries`. The same seed gives the same columns on every machine.",
    call: |call| {
        let columns = u64::try_from(call.arg(&COLUMNS)?);
        let columns = columns.map_err(|_| call.fail(&COLUMNS, "must not be negative"))?;
        let given = call.arg(&LENGTHS)?.into_array();
        let given = given.map_err(|_| call.expected(&LENGTHS, "a list of numbers of entries"))?;
        let length = |(row, length): (usize, &Dynamic)| {
            let length = length.as_int().ok().and_then(|n| u64::try_from(n).ok());
            length.ok_or_else(|| {
                call.fail(&LENGTHS, &format!("has no number of entries for row {row}"))
            })
        };
        let lengths: Vec<u64> = given
            .iter()
            .enumerate()
            .map(length)
            .collect::<Result<_, _>>()?;
        let seed = call.arg(&SEED)?.unwrap_or(1);
        let entries = pattern(columns, &lengths, seed.cast_unsigned());
        let entries = entries.map_err(|reason| call.blame(&LENGTHS, &reason))?;
        arranged(call, &entries)
    },
};

/// The arrays of the format that the argument names.
fn arranged(call: &Call, entries: &Coordinates) -> Result<Dynamic, Failure> {
    let rank = entries.shape.len();
    let usual = if rank == 2 { "csr" } else { "csf" };
    let given = call.arg(&FORMAT)?.filter(|value| !value.is_unit());
    let format = given.map_or_else(|| usual.to_owned(), |value| value.to_string());
    let known = || format!("must be one of {}", Layout::WORDS.join(", "));
    let layout = Layout::from_word(&format).ok_or_else(|| call.fail(&FORMAT, &known()))?;
    let Some(made) = entries.arranged(layout) else {
        let what = format!("is a format of matrices, and this tensor has {rank} dimensions");
        return Err(call
            .fail(&FORMAT, &what)
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
