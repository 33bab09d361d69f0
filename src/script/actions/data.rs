//! `load` and `random`: numbers for `init`, from a file or from a seed.

use crate::binding::call::{Call, Effect, Function, Parameter};
use crate::messages::fail::Failure;
use crate::runtime::{Array, Random, Scalar};
use crate::values::{Numbers, number};
use rhai::Dynamic;
use std::path::Path;

pub(super) static LOAD: Function = Function {
    name: "load",
    topic: "results",
    effect: Effect::None,
    params: &[Parameter::new("path"), Parameter::optional("array")],
    returns: "numbers",
    doc: "\
The array in a file: `load(\"a.npy\")`, or one of several, `load(\"data.npz\", \"A\")`.

`init(A, load(\"a.npy\"))` sets the contents of a tensor, which must have the array's shape and
element type. `a.shape` and `a.elem` say what these are: `let A = tensor(a.shape, a.elem)`.
Elements are f8, f4, i8 or i4, big- or little-endian, in C or Fortran order. Paths are relative
to the current directory.",
    call: |call| {
        let file = call.text(0)?;
        let member = (call.count() == 2).then(|| call.text(1)).transpose()?;
        let array = Array::load(Path::new(&file), member.as_deref());
        let array = array.map_err(|error| call.refuse(&error.to_string()).argument(0))?;
        Ok(Dynamic::from(Numbers::of_file(file, array)))
    },
};

pub(super) static RANDOM: Function = Function {
    name: "random",
    topic: "results",
    effect: Effect::None,
    params: &[
        Parameter::new("seed"),
        Parameter::optional("low"),
        Parameter::optional("high"),
    ],
    returns: "numbers",
    doc: "\
Pseudo-random numbers from a seed, the same on every machine: `init(A, random(42))`.

They are uniformly distributed between -0.5 and 0.5, and from -50 to 50 for integers.
`random(42, 1, 2)` sets other bounds, which integers can reach. Element x is made from output x
of the generator SplitMix64 that starts with the seed. Tensors with the same seed hold the same
numbers.",
    call: |call| {
        let seed = call.int(0)?.cast_unsigned();
        let range = match call.count() {
            1 => None,
            2 => return Err(call.expected(2, "a number")),
            _ => Some((bound(call, 1)?, bound(call, 2)?)),
        };
        Ok(Dynamic::from(Random::new(seed, range)))
    },
};

fn bound(call: &Call, k: usize) -> Result<Scalar, Failure> {
    let value = call.value(k).unwrap_or(Dynamic::UNIT);
    number(&value).ok_or_else(|| call.expected(k, "a number"))
}
