//! `load` and `random`: numbers for `init`, from a file or from a seed.

use super::{Shown, register_shown};
use crate::call::{Call, Effect, Function, Parameter};
use crate::fail::Failure;
use crate::ir::Elem;
use crate::runtime::{Array, Random, Scalar, Values};
use rhai::{Dynamic, Engine};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Elements with a shape, as scripts see them: from a file, or the result of a nest.
#[derive(Clone, Debug)]
pub struct Numbers {
    array: Array,
    /// The file; empty for a result.
    file: String,
}

impl Numbers {
    /// The elements of a result.
    pub fn of_result(array: Array) -> Numbers {
        Numbers {
            array,
            file: String::new(),
        }
    }

    /// The elements in row-major order.
    pub fn values(&self) -> Arc<Values> {
        self.array.values.clone()
    }

    /// Writes an `.npy` file.
    ///
    /// # Errors
    /// The error of the system.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        self.array.save(path)
    }

    /// The extents.
    pub fn shape(&self) -> &[u64] {
        &self.array.shape
    }

    /// The type of the elements.
    pub fn elem(&self) -> Elem {
        self.array.values.view().elem()
    }
}

/// How many elements are shown.
const SHOWN: usize = 6;

/// The type, the shape and the first elements.
impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.elem())?;
        self.shape().iter().try_for_each(|e| write!(f, "[{e}]"))?;
        if !self.file.is_empty() {
            write!(f, " from {}", self.file)?;
        }
        Ok(())
    }
}

pub(super) fn number(value: &Dynamic) -> Option<Scalar> {
    let integer = value.as_int().ok().map(Scalar::Integer);
    integer.or_else(|| value.as_float().ok().map(Scalar::Float))
}

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
        let numbers = Numbers::of_result(array);
        Ok(Dynamic::from(Numbers { file, ..numbers }))
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

/// The printing and the properties of numbers.
pub fn register(engine: &mut Engine) {
    register_shown::<Numbers>(engine);
    register_shown::<Random>(engine);
    engine
        .register_get("elem", |n: &mut Numbers| n.elem().to_string())
        .register_get("shape", |n: &mut Numbers| -> rhai::Array {
            let extents = n.shape().iter().map(|e| Dynamic::from_int(e.cast_signed()));
            extents.collect()
        });
}

impl Shown for Numbers {
    const NAME: &'static str = "numbers";

    fn full(&self) -> String {
        let view = self.array.values.view();
        let first: Vec<String> = (0..SHOWN)
            .filter_map(|x| Some(view.get(x)?.to_string()))
            .collect();
        let more = if view.len() > SHOWN { ", …" } else { "" };
        format!("{self}: {}{more}", first.join(", "))
    }

    fn brief(&self) -> String {
        self.to_string()
    }
}

impl Shown for Random {
    const NAME: &'static str = "random numbers";

    fn full(&self) -> String {
        let seed = self.seed().cast_signed();
        format!("random numbers with the seed {seed}")
    }

    fn brief(&self) -> String {
        self.full()
    }
}
