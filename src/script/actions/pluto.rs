//! `pluto`: what Pluto's algorithm makes of nests.

use crate::baseline::{self, Code, NoSchedule, Options, Setting};
use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::{NESTS, Param};
use crate::ir::Name;
use crate::messages::fail::Failure;
use rhai::{Array, Dynamic, ImmutableString, Map};

const OPTIONS: Param<Option<Map>> = Param::new("options").being("options such as `#{tile: false}`");

pub(super) static PLUTO: Function = Function {
    name: "pluto",
    topic: "results",
    effect: Effect::None,
    params: &[NESTS.any(), OPTIONS.any()],
    returns: "nest",
    doc: "\
The baseline: applies Pluto's algorithm to a nest, or to nests that run in order.

`pluto(naive)` or `pluto([first, second], #{tile: false})` is a nest with a path of operations.
Print it as a script with `print(path(pluto(naive)))`, check it, edit it, time it beside your
own.

It starts from what `build` makes of the definition, whatever steps the nests have taken.
Reductions keep their order, since Pluto knows no associativity. Initializations count as statements
when statements are cut apart, and come before the loops.

There are two baselines with one schedule, which is Pluto's:

- `pluto(naive)` has the code generator of this tool below it: explicit vectors, and arguments that
  do not alias. Where fusing made a loop serial that is parallel in a part of its iterations, that
  part is vectorized as well. Statements in diamond tiles share time and no loop inside, so that
  stencils are faster with it than Pluto's own C.
- `pluto(naive, #{code: \"pluto\"})` becomes plain loops with the pragmas that Pluto emits, `omp
  parallel for`, `ivdep` and `vector always`, and `GCC ivdep`. Pluto's arrays are variables that
  cannot overlap. gcc does not see that of parameters in parallel regions, so iterations of parallel
  loops are functions. Statements share the loops that they share in Pluto.
  The compiler does with them what it does with Pluto's C. `teml bench` calls it `pluto_c`.

In both, loops whose statements have different ranges are cut into parts without guards, as Pluto's
code generator does. Iterations and parts that execute nothing are left out (`tighten`), and tiles
that alone run some statements are cut off (`isolate`).

Both are proved, and compared with the reference before they are timed. Errors of Pluto are not
copied: at its defaults it puts a wavefront across two products in a row (atax), and shares an
iterator among threads that needs to be private (gconv).

Where a definition has local tensors, or initializations in loops, the loops keep their order:
Pluto renames no scalar, so that the loops around stay serial, and loops inside may be parallel.

Options have Pluto's names and the defaults of its code:

- `tile` (true), `tile_sizes` (`[32]`: one for each loop of a band, the last one for all that
  follow). Statements may have sizes of their own, by what they write or by their number:
  `#{E: [16, 64], S3: [32]}`. Statements that share a loop over tiles share its size.
- `second_level_tile` (false: tiles of tiles), `second_level_tile_sizes` (`[8]`: in tiles, also by
  statement)
- `parallel` (true), `multipar` (false: a wavefront of tiles has one parallel loop; with `true`, as
  many as there are), `prevector` (true), `intratileopt` (true)
- `unrolljam` (true), `ufactor` (8): up to three loops whose iterations share operands, if Pluto's
  estimate fits 32 registers, which is its constant for all processors; the remainder stays in the
  tile
- `fuse`: `\"smartfuse\"` (the default), `\"nofuse\"`, `\"maxfuse\"`, `\"typedfuse\"` (no
  parallel loop becomes serial) or `\"hybridfuse\"` (the same for outermost loops, and `maxfuse`
  inside)
- `rar` (false): reads of one element count as well. They ask for no order, but loops that run them
  close to each other are preferred.
- `diamondtile`: diamond tiles along one dimension, for stencils whose loops all depend on each
  other. All tiles of a wave then start at the same time. On by default, as in Pluto after
  0.11.4, and without effect elsewhere. `true` insists on diamonds, and reports why there are
  none; `false` turns them off.
- `code`: `\"teml\"` (the default) or `\"pluto\"`

`pluto_best(nests)` tries many of them.",
    call: |call| {
        let nests = call.arg(&NESTS)?;
        let options = options(call)?;
        let name = match options.code {
            Code::Teml => "pluto",
            Code::Pluto => "pluto_c",
        };
        match baseline::pluto(&nests, &options) {
            Ok(nest) => Ok(Dynamic::from(match Name::new(name) {
                Ok(name) => nest.labelled(name),
                Err(_) => nest,
            })),
            Err(error) => Err(call.blame(&NESTS, &error.to_string()).refusal()),
        }
    },
};

fn options(call: &Call) -> Result<Options, Failure> {
    let mut options = Options::default();
    for (name, value) in &call.arg(&OPTIONS)?.unwrap_or_default() {
        options = options.with(name, &setting(value)).map_err(|error| {
            let failure = call.blame(&OPTIONS, &error.to_string());
            match &error {
                NoSchedule::NoOption { name, .. } => failure.misspelt(name.clone()),
                _ => failure,
            }
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
    if let Some(map) = value.read_lock::<Map>() {
        let lists = map.iter();
        let lists = lists.map(|(name, list)| Some((name.to_string(), numbers(list)?)));
        let lists = lists.collect::<Option<Vec<_>>>();
        return lists.map_or(Setting::Other, Setting::ByName);
    }
    numbers(value).map_or(Setting::Other, Setting::Numbers)
}

fn numbers(value: &Dynamic) -> Option<Vec<i64>> {
    let list = value.read_lock::<Array>()?;
    let numbers = list.iter().map(Dynamic::as_int);
    numbers.collect::<Result<Vec<i64>, _>>().ok()
}
