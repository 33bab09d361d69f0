//! Numbers: arrays from files and results, and random ones.

use super::shown::Shown;
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

    /// The array in a file.
    pub fn of_file(file: String, array: Array) -> Numbers {
        Numbers { array, file }
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

/// A number of a script.
pub fn number(value: &Dynamic) -> Option<Scalar> {
    let integer = value.as_int().ok().map(Scalar::Integer);
    integer.or_else(|| value.as_float().ok().map(Scalar::Float))
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

    fn members(engine: &mut Engine) {
        engine
            .register_get("elem", |n: &mut Numbers| n.elem().to_string())
            .register_get("shape", |n: &mut Numbers| -> rhai::Array {
                let extents = n.shape().iter().map(|e| Dynamic::from_int(e.cast_signed()));
                extents.collect()
            });
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
