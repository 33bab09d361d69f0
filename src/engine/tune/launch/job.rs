//! A job: the data that workers need to try variants of a computation like this machine.

use super::exchange::Exchange;
use super::task::Written;
use crate::ir::Name;
use crate::legality::Reductions;
use crate::runtime::{Array, Control, Data, Random, Scalar};
use crate::trial::{Comparison, Inputs, Settings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// The file name of the job in an exchange.
const FILE: &str = "job";

/// The data that workers need.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// The version of the program that wrote the job.
    teml: String,
    /// A variant with the definition to tune.
    reference: Written,
    inputs: BTreeMap<String, Input>,
    /// Whether sums may be reassociated.
    reassociates: bool,
    threads: usize,
    run_limit: Duration,
    /// A side without a heartbeat for this long is lost.
    pub(super) patience: Duration,
}

/// The initial contents of a tensor.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Input {
    Pattern(u64),
    Random(u64, Option<(Number, Number)>),
    Constant(Number),
    /// In a file of the exchange with this name.
    File(String),
    Unset,
}

/// A number; floats are stored as bits, so that both sides see the same value.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Number {
    Float(u64),
    Integer(i64),
}

impl From<Scalar> for Number {
    fn from(scalar: Scalar) -> Number {
        match scalar {
            Scalar::Float(x) => Number::Float(x.to_bits()),
            Scalar::Integer(n) => Number::Integer(n),
        }
    }
}

impl From<Number> for Scalar {
    fn from(number: Number) -> Scalar {
        match number {
            Number::Float(bits) => Scalar::Float(f64::from_bits(bits)),
            Number::Integer(n) => Scalar::Integer(n),
        }
    }
}

impl Job {
    /// Writes the job of a comparison into an exchange.
    ///
    /// # Errors
    /// The exchange cannot be written, or the nests of the comparison cannot be serialized.
    pub(super) fn put(
        comparison: &Comparison,
        control: &Control,
        patience: Duration,
        exchange: &Exchange,
    ) -> io::Result<()> {
        let first = comparison
            .variants
            .first()
            .ok_or(io::ErrorKind::InvalidInput)?;
        let inputs = comparison.inputs.iter().enumerate();
        let inputs = inputs.map(|(k, (name, data))| {
            let file = format!("input_{k}.npy");
            Ok((name.to_string(), input(data, file, exchange)?))
        });
        let job = Job {
            teml: env!("CARGO_PKG_VERSION").to_owned(),
            reference: Written::new(first).map_err(io::Error::other)?,
            inputs: inputs.collect::<io::Result<_>>()?,
            reassociates: comparison.settings.reductions == Reductions::Reassociate,
            threads: control.threads,
            run_limit: control.run_limit,
            patience,
        };
        exchange.put(FILE, &job)
    }

    /// Reads the job of an exchange.
    ///
    /// # Errors
    /// There is no job, or another version of this program wrote it.
    pub(super) fn get(exchange: &Exchange) -> Result<Job, String> {
        let job: Option<Job> = exchange.get(FILE);
        let job = job.ok_or_else(|| format!("there is no job in {}", exchange.root().display()))?;
        if job.teml == env!("CARGO_PKG_VERSION") {
            Ok(job)
        } else {
            Err(format!(
                "the job is of teml {}, and this is {}",
                job.teml,
                env!("CARGO_PKG_VERSION")
            ))
        }
    }

    /// The comparison of the job.
    ///
    /// # Errors
    /// A path does not replay, or an input file cannot be read.
    pub(super) fn comparison(&self, exchange: &Exchange) -> Result<Comparison, String> {
        let reference = self.reference.variant();
        let mut inputs = Inputs::default();
        for (name, input) in &self.inputs {
            let name = Name::new(name).map_err(|error| error.to_string())?;
            inputs.set(name, data(input, exchange)?);
        }
        let reductions = if self.reassociates {
            Reductions::Reassociate
        } else {
            Reductions::Strict
        };
        Ok(Comparison {
            variants: vec![reference.map_err(|error| error.to_string())?],
            inputs,
            settings: Settings {
                reductions,
                ..Settings::default()
            },
        })
    }

    /// A control with the limits and threads of the search, and the paths of `control`.
    pub(super) fn control(&self, control: &Control) -> Control {
        Control {
            threads: self.threads,
            run_limit: self.run_limit,
            // Several workers may share a machine.
            shares_machine: true,
            ..control.clone()
        }
    }
}

fn input(data: &Data, file: String, exchange: &Exchange) -> io::Result<Input> {
    Ok(match data {
        Data::Pattern(number) => Input::Pattern(*number),
        Data::Random(random) => {
            let range = random.range().map(|(low, high)| (low.into(), high.into()));
            Input::Random(random.seed(), range)
        }
        Data::Constant(value) => Input::Constant((*value).into()),
        Data::Values(values) => {
            let array = Array {
                shape: vec![values.view().len() as u64],
                values: values.clone(),
            };
            array.save(&exchange.root().join(&file))?;
            Input::File(file)
        }
        Data::Unset => Input::Unset,
    })
}

fn data(input: &Input, exchange: &Exchange) -> Result<Data, String> {
    Ok(match input {
        Input::Pattern(number) => Data::Pattern(*number),
        Input::Random(seed, range) => {
            let range = range.map(|(low, high)| (low.into(), high.into()));
            Data::Random(Random::new(*seed, range))
        }
        Input::Constant(value) => Data::Constant((*value).into()),
        Input::File(file) => {
            let array = Array::load(&exchange.root().join(file), None);
            Data::Values(array.map_err(|error| error.to_string())?.values)
        }
        Input::Unset => Data::Unset,
    })
}
