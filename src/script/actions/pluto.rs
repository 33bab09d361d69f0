//! `pluto`: what Pluto's algorithm makes of nests.

use crate::baseline::{self, NoSchedule, Options, Setting};
use crate::ir::Name;
use crate::script::call::{Call, Function, Parameter};
use crate::script::fail::Failure;
use rhai::{Array, Dynamic, ImmutableString, Map};

pub(super) static PLUTO: Function = Function {
    name: "pluto",
    params: &[Parameter::new("nests"), Parameter::optional("options")],
    returns: "nest",
    doc: "\
The baseline: applies Pluto's algorithm to a nest, or to nests that run in order.

`pluto(naive)` or `pluto([first, second], #{tile: false})` is a nest with a path of operations.
Print it as a script with `print(path(pluto(naive)))`, check it, edit it, time it beside your
own.

It starts from what `build` makes of the definition, whatever steps the nests have taken.
Reductions keep their order, since Pluto knows no associativity. Initializations come before
the loops.

Partially fused bands (2mm, 3mm) are slower than Pluto's own code: only the shared loops are tiled
together. The loops that a statement has inside of them are tiled and ordered for that statement
alone, so a strided loop may stay innermost (2mm), and parallel loops may end up inside a serial
one (3mm). Pluto tiles and orders all loops of each statement. Fused statements with different
ranges (deriche) are also slower: their guards stay in the innermost loops.

Options have Pluto's names and the defaults of its code:

- `tile` (true), `tile_sizes` (`[32]`: one for each loop of a band, the last one for all that
  follow)
- `l2tile` (false), `l2tile_sizes` (`[8]`)
- `parallel` (true), `prevector` (true), `intratileopt` (true)
- `unrolljam` (true), `ufactor` (8)
- `fuse`: `\"smartfuse\"` (the default), `\"nofuse\"` or `\"maxfuse\"`
- `diamondtile`: diamond tiles along one dimension, for stencils whose loops all depend on each
  other. All tiles of a wave then start at the same time. On by default, as in Pluto after
  0.11.4, and without effect elsewhere. `true` insists on diamonds, and reports why there are
  none; `false` turns them off.

`pluto_best(nests)` tries many of them.",
    call: |call| {
        let nests = call.nests(0)?;
        let options = options(call)?;
        match baseline::pluto(&nests, &options) {
            Ok(nest) => Ok(Dynamic::from(match Name::new("pluto") {
                Ok(name) => nest.labelled(name),
                Err(_) => nest,
            })),
            Err(error) => Err(call.refuse(&error.to_string()).argument(0).refusal()),
        }
    },
};

fn options(call: &Call) -> Result<Options, Failure> {
    let mut options = Options::default();
    if call.count() < 2 {
        return Ok(options);
    }
    let given: Map = call.get(1, "options such as `#{tile: false}`")?;
    for (name, value) in &given {
        options = options
            .with(name, &setting(value))
            .map_err(|error| match &error {
                NoSchedule::NoOption { name, .. } => {
                    let failure = call.refuse(&error.to_string()).argument(1);
                    failure.misspelt(name.clone())
                }
                _ => call.refuse(&error.to_string()).argument(1),
            })?;
    }
    Ok(options)
}

fn setting(value: &Dynamic) -> Setting {
    if let Ok(on) = value.as_bool() {
        return Setting::Switch(on);
    }
    if let Ok(number) = value.as_int() {
        return Setting::Number(number);
    }
    if let Some(word) = value.read_lock::<ImmutableString>() {
        return Setting::Word(word.to_string());
    }
    let list = value.read_lock::<Array>();
    let numbers = list.and_then(|list| {
        let numbers = list.iter().map(Dynamic::as_int);
        numbers.collect::<Result<Vec<i64>, _>>().ok()
    });
    numbers.map_or(Setting::Other, Setting::Numbers)
}
