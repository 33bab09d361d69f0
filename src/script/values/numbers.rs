//! Numbers: arrays from files and results, and random ones.

use super::grid;
use super::shown::Shown;
use crate::ir::Elem;
use crate::messages::fail::Failure;
use crate::runtime::{Array, Random, Scalar, Values};
use rhai::{Dynamic, Engine, EvalAltResult, NativeCallContext, Variant};
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

    /// The array in a file.
    pub fn of_file(file: String, array: Array) -> Numbers {
        Numbers { array, file }
    }

    /// The elements of an array that a script lists.
    pub fn listed(shape: Vec<u64>, values: Values) -> Numbers {
        let values = Arc::new(values);
        Numbers::of_result(Array { shape, values })
    }

    /// The elements in row-major order; none if nothing ran.
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

    /// The number of elements, also if nothing ran.
    pub fn count(&self) -> u64 {
        let extents = self.shape().iter();
        extents.fold(1, |count, extent| count.saturating_mul(*extent))
    }

    /// The element at a flat index; 0 if nothing ran.
    fn element(&self, x: usize) -> Dynamic {
        let zero = if self.elem().is_float() {
            Scalar::Float(0.0)
        } else {
            Scalar::Integer(0)
        };
        value_of(self.array.values.view().get(x).unwrap_or(zero))
    }

    /// The element at an index, a number for each dimension, counted from 0.
    fn at(&self, index: &[Dynamic]) -> Result<Dynamic, Failure> {
        let (rank, given) = (self.shape().len(), index.len());
        if given != rank {
            let numbers = |n: usize| match n {
                1 => "1 number".to_owned(),
                n => format!("{n} numbers"),
            };
            let (takes, given) = (numbers(rank), numbers(given));
            let place = ["i", "j", "k", "l", "m", "n"].get(..rank);
            let place = place.map_or("i, j, …".to_owned(), |names| names.join(", "));
            let place = match rank {
                1 => place,
                _ => format!("[{place}]"),
            };
            return Err(Failure::new(format!(
                "an index of {self} has {takes}, and this one has {given}"
            ))
            .help(format!("`x[{place}]` is an element of it")));
        }
        let mut flat = 0u64;
        for (d, (item, extent)) in index.iter().zip(self.shape()).enumerate() {
            let Ok(x) = item.as_int() else {
                return Err(Failure::new(format!(
                    "an index is `{item}`, not an integer"
                )));
            };
            match u64::try_from(x) {
                Ok(x) if x < *extent => flat = flat.saturating_mul(*extent).saturating_add(x),
                _ => {
                    let what = match rank {
                        1 => "the index".to_owned(),
                        _ => format!("index {}", d + 1),
                    };
                    let range = match extent {
                        0 => "there are no elements".to_owned(),
                        1 => "it can only be 0".to_owned(),
                        extent => format!("it counts from 0 to {}", extent - 1),
                    };
                    return Err(Failure::new(format!(
                        "{what} of {self} is {x}, but {range}"
                    )));
                }
            }
        }
        Ok(self.element(usize::try_from(flat).unwrap_or(usize::MAX)))
    }
}

/// An element as a value of scripts.
fn value_of(scalar: Scalar) -> Dynamic {
    match scalar {
        Scalar::Float(value) => Dynamic::from_float(value),
        Scalar::Integer(value) => Dynamic::from_int(value),
    }
}

/// The elements of numbers in row-major order.
pub struct Elements {
    of: Numbers,
    next: usize,
}

impl Iterator for Elements {
    type Item = Dynamic;

    fn next(&mut self) -> Option<Dynamic> {
        let found = self.of.array.values.view().get(self.next)?;
        self.next += 1;
        Some(value_of(found))
    }
}

impl IntoIterator for Numbers {
    type Item = Dynamic;
    type IntoIter = Elements;

    fn into_iter(self) -> Elements {
        Elements { of: self, next: 0 }
    }
}

/// The type and the shape.
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

/// A number of a script.
pub fn number(value: &Dynamic) -> Option<Scalar> {
    let integer = value.as_int().ok().map(Scalar::Integer);
    integer.or_else(|| value.as_float().ok().map(Scalar::Float))
}

impl Shown for Numbers {
    const NAME: &'static str = "numbers";

    fn full(&self) -> String {
        let elements = grid::text(self.array.values.view(), self.shape());
        if elements.is_empty() {
            self.to_string()
        } else {
            format!("{self}:{elements}")
        }
    }

    fn brief(&self) -> String {
        self.to_string()
    }

    fn members(engine: &mut Engine) {
        type Fallible = Result<Dynamic, Box<EvalAltResult>>;
        engine
            .register_get("elem", |n: &mut Numbers| n.elem().to_string())
            .register_get("shape", |n: &mut Numbers| -> rhai::Array {
                let extents = n.shape().iter().map(|e| Dynamic::from_int(e.cast_signed()));
                extents.collect()
            })
            .register_iterator::<Numbers>()
            .register_get("len", |n: &mut Numbers| n.count().cast_signed())
            .register_fn("len", |n: &mut Numbers| n.count().cast_signed())
            .register_indexer_get(
                |context: NativeCallContext, n: &mut Numbers, index: rhai::Array| -> Fallible {
                    let found = n.at(&index);
                    found.map_err(|failure| failure.raise(context.call_position()))
                },
            )
            .register_indexer_get(
                |context: NativeCallContext, n: &mut Numbers, index: i64| -> Fallible {
                    let found = n.at(&[Dynamic::from_int(index)]);
                    found.map_err(|failure| failure.raise(context.call_position()))
                },
            );
        for symbol in ["==", "!="] {
            // Rhai takes values of different types as unequal without asking anyone.
            refused::<Numbers, Numbers>(engine, symbol);
            refused::<Numbers, Dynamic>(engine, symbol);
            refused::<Dynamic, Numbers>(engine, symbol);
        }
    }
}

/// Refuses a comparison for equality: rounding makes equal computations differ.
fn refused<A: Variant + Clone, B: Variant + Clone>(engine: &mut Engine, symbol: &'static str) {
    engine.register_fn(symbol, move |context: NativeCallContext, _: A, _: B| {
        let failure = Failure::new(format!("`{symbol}` does not compare arrays of numbers"))
            .note("the elements of equal computations may be rounded differently");
        let not = if symbol == "==" { "" } else { "!" };
        let failure = failure.help(format!(
            "`{not}close(a, b)` asks whether they agree up to rounding, and `difference(a, b)` is \
             how far they are apart"
        ));
        Err::<bool, Box<EvalAltResult>>(failure.raise(context.call_position()))
    });
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
