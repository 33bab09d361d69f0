//! `load` and `random`: numbers for `init`, from a file or from a seed.

use crate::binding::function::{Effect, Function};
use crate::binding::param::Param;
use crate::runtime::{Array, Random, Scalar};
use crate::values::Numbers;
use rhai::Dynamic;
use std::path::Path;

const PATH: Param<String> = Param::new("path");
const ARRAY: Param<Option<String>> = Param::new("array");
const SEED: Param<i64> = Param::new("seed");
const LOW: Param<Option<Scalar>> = Param::new("low");
const HIGH: Param<Option<Scalar>> = Param::new("high");

pub(super) static LOAD: Function = Function {
    name: "load",
    topic: "results",
    effect: Effect::None,
    params: &[PATH.any(), ARRAY.any()],
    returns: "numbers",
    doc: "\
The array in a file: `load(\"a.npy\")`, or one of several, `load(\"data.npz\", \"A\")`.

`init(A, load(\"a.npy\"))` sets the contents of a tensor, which must have the array's shape and
element type. `a.shape` and `a.elem` say what these are: `let A = tensor(a.shape, a.elem)`.
Elements are f8, f4, i8 or i4, big- or little-endian, in C or Fortran order. Paths are relative
to the current directory.",
    call: |call| {
        let (file, member) = (call.arg(&PATH)?, call.arg(&ARRAY)?);
        let array = Array::load(Path::new(&file), member.as_deref());
        let array = array.map_err(|error| call.blame(&PATH, &error.to_string()))?;
        Ok(Dynamic::from(Numbers::of_file(file, array)))
    },
};

pub(super) static RANDOM: Function = Function {
    name: "random",
    topic: "results",
    effect: Effect::None,
    params: &[SEED.any(), LOW.any(), HIGH.any()],
    returns: "numbers",
    doc: "\
Pseudo-random numbers from a seed, the same on every machine: `init(A, random(42))`.

They are uniformly distributed between -0.5 and 0.5, and from -50 to 50 for integers.
`random(42, 1, 2)` sets other bounds, which integers can reach. Element x is made from output x
of the generator SplitMix64 that starts with the seed. Tensors with the same seed hold the same
numbers.",
    call: |call| {
        let seed = call.arg(&SEED)?.cast_unsigned();
        let range = match (call.arg(&LOW)?, call.arg(&HIGH)?) {
            (Some(_), None) => return Err(call.expected(&HIGH, "a number")),
            (low, high) => low.zip(high),
        };
        Ok(Dynamic::from(Random::new(seed, range)))
    },
};
