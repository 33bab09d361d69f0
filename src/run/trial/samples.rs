//! Whether two definitions agree at samples of their inputs.

use crate::analysis::work::flops;
use crate::interp::store::{Data, Store};
use crate::interp::{Fault, definition};
use crate::ir::{Expr, Name, Nest, Tensor};
use crate::runtime::{self, Random, Scalar, Values, compare, default_tolerance};

/// The relation of two definitions at samples.
#[derive(Clone, Debug, PartialEq)]
pub enum Samples {
    /// All elements agree, up to rounding, at so many samples.
    Agree(usize),
    /// An element differs; the text says which, for which inputs.
    Differ(String),
    /// The definitions have more operations than is affordable.
    Large,
}

/// How many samples of the inputs are tried.
const SAMPLES: usize = 4;

/// Definitions with more operations are not executed.
const OPERATIONS: f64 = 2e7;

/// Evaluates the definitions of two lists of nests at the same inputs, and compares the results of
/// the last ones. Inputs are small whole numbers, with which sums and products are exact, and
/// numbers between 0 and 1, for which every function is defined.
///
/// # Errors
/// An index leaves its tensor.
pub fn samples(a: &[Nest], b: &[Nest]) -> Result<Samples, Fault> {
    let work: Option<f64> = a.iter().chain(b).map(flops).sum();
    if work.is_none_or(|work| work > OPERATIONS) {
        return Ok(Samples::Large);
    }
    let definition_of = |nests: &[Nest]| -> Vec<Expr> {
        let all = nests.iter().flat_map(|nest| nest.definition().iter());
        all.cloned().collect()
    };
    let (a, b) = (definition_of(a), definition_of(b));
    let mut tensors: Vec<Tensor> = Vec::new();
    for assignment in a.iter().chain(&b) {
        assignment.for_each_tensor(&mut |tensor| {
            if !tensors.iter().any(|known| known.name() == tensor.name()) {
                tensors.push(tensor.clone());
            }
        });
    }
    for sample in 0..SAMPLES {
        let store = inputs(&tensors, sample);
        let (tensor, first) = value(&a, &store)?;
        let (_, second) = value(&b, &store)?;
        let tolerance = default_tolerance(tensor.elem());
        let found = compare(first.view(), second.view(), tensor.shape(), tolerance);
        let first = match found {
            Ok(found) => found.first,
            Err(error) => return Ok(Samples::Differ(error.to_string())),
        };
        if let Some(place) = first {
            let index: String = place.index.iter().map(|i| format!("[{i}]")).collect();
            let kind = if sample.is_multiple_of(2) {
                "small whole numbers"
            } else {
                "numbers between 0 and 1"
            };
            return Ok(Samples::Differ(format!(
                "for inputs that are {kind}, {}{index} is {} in the first and {} in the second",
                tensor.label(),
                place.expected,
                place.actual,
            )));
        }
    }
    Ok(Samples::Agree(SAMPLES))
}

/// The tensor that the last assignment sets, and its elements.
fn value(assignments: &[Expr], store: &Store<'static>) -> Result<(Tensor, Values), Fault> {
    let mut store = store.clone();
    definition::run(assignments, &mut store)?;
    let tensor = assignments.last().and_then(Expr::tensor).cloned();
    let tensor = tensor.unwrap_or_else(|| Tensor::scalar(Default::default()));
    let data = tensor.name().and_then(|name| store.remove(name));
    let values = match data {
        Some(Data::F64(all)) => Values::F64(all.into_owned()),
        Some(Data::F32(all)) => Values::F32(all.into_owned()),
        Some(Data::I32(all)) => Values::I32(all.into_owned()),
        Some(Data::I64(all)) => Values::I64(all.into_owned()),
        None => Values::F64(Vec::new()),
    };
    Ok((tensor, values))
}

/// The usual entries of tensor number `number`, if bounds are read from it.
fn entries(tensors: &[Tensor], number: usize) -> Option<runtime::Data> {
    let rows_of = |tensor: &Tensor| tensor.entries()?.rows.clone();
    let place = |name: Name| tensors.iter().position(|t| t.name() == Some(&name));
    let tensor = &tensors[number];
    // Where rows begin, entries do not depend on other rows.
    let rows = rows_of(tensor)
        .and_then(place)
        .filter(|k| rows_of(&tensors[*k]).is_none());
    let begins = rows.and_then(|k| Some((&tensors[k], entries(tensors, k)?)));
    let of = |_: &Name| begins.as_ref().map(|(tensor, data)| (*tensor, data));
    runtime::Data::entries(tensor, number as u64, &of)
}

fn inputs(tensors: &[Tensor], sample: usize) -> Store<'static> {
    let filled = tensors.iter().enumerate().filter_map(|(k, tensor)| {
        let is_whole = sample.is_multiple_of(2);
        let bounds = if is_whole || !tensor.elem().is_float() {
            (Scalar::Integer(-4), Scalar::Integer(4))
        } else {
            (Scalar::Float(0.0), Scalar::Float(1.0))
        };
        let random = Random::new((sample * 1000 + k) as u64, Some(bounds));
        let entries = entries(tensors, k);
        let data = Data::generate(tensor, |x| {
            if let Some(entries) = &entries {
                return entries.value(tensor.elem(), x).map_or(0.0, Scalar::as_f64);
            }
            let value = random.value(tensor.elem(), x).as_f64();
            if is_whole { value.round() } else { value }
        });
        Some((tensor.name()?.clone(), data))
    });
    filled.collect()
}
