//! Evaluates a definition, in full or at samples, and compares the results of a run with it.

use super::variant::{definition, naive};
use super::{Blame, Inputs, TrialError, Variant};
use crate::analysis::count;
use crate::interp::Fault;
use crate::interp::definition::{Span, Statement, run};
use crate::interp::execute;
use crate::interp::store::{Data as Elements, Number, Store};
use crate::ir::{Elem, Expr, Name, Nest, Tensor};
use crate::runtime::{self, Buffer, Control, Outputs, Place, RuntimeError, View};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;

/// The evidence for the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Every element was evaluated by definition.
    Definition { elements: u64 },
    /// Every element of the untransformed nest was compared, and samples of it were evaluated by
    /// definition.
    Samples {
        /// How many samples.
        samples: u64,
        /// How many elements.
        elements: u64,
    },
    /// Every element of the untransformed nest was compared. A tensor is assigned several times or
    /// in order, so that single elements have no definition, and evaluating all of them is too
    /// costly.
    Naive { elements: u64 },
}

impl Evidence {
    /// How much was compared if the results themselves were evaluated at samples.
    pub(super) fn of_samples(&self) -> String {
        match self {
            Evidence::Samples { samples, elements } => {
                format!("{samples} samples of {elements} elements equal the definition")
            }
            all => all.to_string(),
        }
    }
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Evidence::Definition { elements } => {
                write!(f, "all {elements} elements equal the definition")
            }
            Evidence::Samples { samples, elements } => write!(
                f,
                "all {elements} elements equal the untransformed nest, and {samples} samples of \
                 it the definition"
            ),
            Evidence::Naive { elements } => {
                write!(f, "all {elements} elements equal the untransformed nest")
            }
        }
    }
}

/// A definition and the contents of its tensors.
pub(super) struct Reference<'a> {
    pub variant: &'a Variant,
    pub inputs: &'a Inputs,
    pub tensors: &'a [Tensor],
    pub control: &'a Control,
}

impl Reference<'_> {
    /// Compares the outputs of the untransformed nests with the definition. Reads about `loads`
    /// elements of its operands at most.
    pub(super) fn check(&self, outputs: &Outputs, loads: f64) -> Result<Evidence, TrialError> {
        let initial = self.initial()?;
        let store = stored(&initial);
        let statements: Vec<&Expr> = definition(self.variant).collect();
        let parts: Vec<Nest> = naive(self.variant).nests;
        let results = self.results(outputs, &|_| true);
        let elements = elements_of(&results);
        if self.costs(&parts, &store)? <= loads {
            self.compare_all(&parts, &results, store, outputs)?;
            return Ok(Evidence::Definition { elements });
        }
        if results.len() < statements.len() || parts.iter().any(in_order) {
            return Ok(Evidence::Naive { elements });
        }
        let (mut samples, mut store) = (0, store);
        for statement in &statements {
            samples += self.compare_samples(statement, &store, outputs, loads)?;
            // Later statements read the results of this one.
            if let Some((name, buffer)) = self.output(statement, outputs) {
                store.insert(name, self::elements(buffer.view()));
            }
        }
        Ok(Evidence::Samples { samples, elements })
    }

    /// Compares the `names` among the outputs of a kernel with the definition, in all elements.
    /// `None` if nothing is among them, or if the evaluation would read more than about `loads`
    /// elements of operands.
    pub(super) fn check_all(
        &self,
        names: &[String],
        outputs: &Outputs,
        loads: f64,
    ) -> Result<Option<Evidence>, TrialError> {
        let results = self.results(outputs, &|label| names.iter().any(|name| name == label));
        // So many elements are not even filled.
        let most = elements_of(&self.tensors.iter().collect::<Vec<_>>());
        if results.is_empty() || most as f64 > loads {
            return Ok(None);
        }
        let initial = self.initial()?;
        let store = stored(&initial);
        let parts: Vec<Nest> = naive(self.variant).nests;
        if self.costs(&parts, &store)? > loads {
            return Ok(None);
        }
        self.compare_all(&parts, &results, store, outputs)?;
        let elements = elements_of(&results);
        Ok(Some(Evidence::Definition { elements }))
    }

    /// The tensors that the definition assigns, among the outputs. Local tensors leave no outputs.
    fn results(&self, outputs: &Outputs, is_wanted: &dyn Fn(&str) -> bool) -> Vec<&Tensor> {
        let assigned = definition(self.variant).filter_map(|e| e.tensor());
        let mut results: Vec<&Tensor> = assigned.collect();
        results.sort_by_key(|t| t.label());
        results.dedup_by_key(|t| t.label());
        results.retain(|t| outputs.get(t.label()).is_some() && is_wanted(t.label()));
        results
    }

    /// About how many elements the evaluation of all parts reads.
    fn costs(&self, parts: &[Nest], store: &Store) -> Result<f64, TrialError> {
        parts.iter().map(|part| self.cost(part, store)).sum()
    }

    fn initial(&self) -> Result<HashMap<Name, Buffer>, TrialError> {
        let mut buffers = HashMap::new();
        for expr in definition(self.variant) {
            let mut tensors = Vec::new();
            expr.for_each_tensor(&mut |tensor| tensors.push(tensor));
            for tensor in tensors {
                let Some(name) = tensor.name() else { continue };
                if !buffers.contains_key(name) {
                    let data = self.inputs.data(tensor, self.tensors);
                    let place = Place::Input(buffers.len());
                    buffers.insert(name.clone(), Buffer::filled(tensor, &data, place)?);
                }
            }
        }
        Ok(buffers)
    }

    fn output<'o>(&self, statement: &Expr, outputs: &'o Outputs) -> Option<(Name, &'o Buffer)> {
        let name = statement.tensor()?.name()?;
        Some((name.clone(), outputs.get(name.as_str())?))
    }

    fn fault(&self, fault: Fault) -> TrialError {
        let label = self.variant.label.clone();
        match fault {
            Fault::Stopped => TrialError::Runtime(RuntimeError::Interrupted {
                during: "evaluating the reference".to_owned(),
            }),
            fault => TrialError::Fault { label, fault },
        }
    }

    /// About how many elements the evaluation of a part reads.
    fn cost(&self, part: &Nest, store: &Store) -> Result<f64, TrialError> {
        fn of<T: Number>(s: &Expr, store: &Store) -> Result<f64, Fault> {
            Statement::<T>::new(s, store).map(|s| s.cost() * s.count())
        }
        if in_order(part) {
            let executed = count::total(part.trees(), &|_| STATEMENT_COST);
            return Ok(executed.unwrap_or(f64::INFINITY));
        }
        let mut cost = 0.0;
        for statement in part.definition().iter() {
            cost += match statement.elem() {
                Elem::F64 => of::<f64>(statement, store),
                Elem::F32 => of::<f32>(statement, store),
                Elem::I32 => of::<i32>(statement, store),
                Elem::I64 => of::<i64>(statement, store),
            }
            .map_err(|fault| self.fault(fault))?;
        }
        Ok(cost)
    }

    fn compare_all(
        &self,
        parts: &[Nest],
        results: &[&Tensor],
        mut store: Store,
        outputs: &Outputs,
    ) -> Result<(), TrialError> {
        for part in parts {
            if in_order(part) {
                execute::run(part, &mut store)
            } else {
                run(part.definition(), &mut store)
            }
            .map_err(|fault| self.fault(fault))?;
        }
        for tensor in results {
            let Some(name) = tensor.name() else { continue };
            let (Some(buffer), Some(expected)) = (outputs.get(name.as_str()), store.get(name))
            else {
                continue;
            };
            let shape = buffer.tensor().shape();
            let tolerance = runtime::default_tolerance(buffer.tensor().elem());
            let comparison = runtime::compare(view(expected), buffer.view(), shape, tolerance)?;
            if !comparison.agrees() {
                return Err(self.wrong(name, comparison.to_string()));
            }
        }
        Ok(())
    }

    fn wrong(&self, name: &Name, comparison: String) -> TrialError {
        let (label, tensor) = (self.variant.label.clone(), name.to_string());
        TrialError::Wrong {
            label,
            tensor,
            comparison,
            // They were compiled without optimizations.
            blame: Blame::Teml,
        }
    }

    fn compare_samples(
        &self,
        statement: &Expr,
        store: &Store,
        outputs: &Outputs,
        loads: f64,
    ) -> Result<u64, TrialError> {
        match statement.elem() {
            Elem::F64 => self.samples::<f64>(statement, store, outputs, loads),
            Elem::F32 => self.samples::<f32>(statement, store, outputs, loads),
            Elem::I32 => self.samples::<i32>(statement, store, outputs, loads),
            Elem::I64 => self.samples::<i64>(statement, store, outputs, loads),
        }
    }

    fn samples<T: Number + Into<Approximate>>(
        &self,
        statement: &Expr,
        store: &Store,
        outputs: &Outputs,
        loads: f64,
    ) -> Result<u64, TrialError> {
        let Some((name, buffer)) = self.output(statement, outputs) else {
            return Ok(0);
        };
        let stop = || self.control.interrupted();
        let code = Statement::<T>::new(statement, store).map_err(|fault| self.fault(fault))?;
        let code = code.stopped_by(&stop);
        let actual_elements = elements(buffer.view());
        let Some(actual) = T::slice(&actual_elements) else {
            return Ok(0);
        };
        let count = (loads / code.cost()).max(MIN_SAMPLES).min(code.count()) as u64;
        let points: Vec<Vec<i64>> = (0..count)
            .filter_map(|k| sample(code.domain(), k, count))
            .collect();
        let evaluated: Result<Vec<(usize, T)>, _> = points
            .par_iter()
            .map(|point| code.at(point).map_err(|fault| self.fault(fault)))
            .collect();
        let evaluated = evaluated?;
        let expected: Vec<T> = evaluated.iter().map(|(_, value)| *value).collect();
        let found: Vec<T> = evaluated.iter().map(|(k, _)| actual[*k]).collect();
        let scale = expected
            .iter()
            .map(|v| (*v).into().0.abs())
            .fold(0.0, f64::max);
        let tolerance = runtime::default_tolerance(statement.elem());
        for (point, (expected, found)) in points.iter().zip(expected.into_iter().zip(found)) {
            let (expected, found): (Approximate, Approximate) = (expected.into(), found.into());
            let same = expected.0 == found.0
                || expected.0.is_nan() && found.0.is_nan()
                || (expected.0 - found.0).abs() <= tolerance * scale;
            if !same {
                let index: String = point.iter().map(|x| format!("[{x}]")).collect();
                let (expected, found) = (expected.0, found.0);
                let text =
                    format!("at the iterators {index} it is {found}, and by definition {expected}");
                return Err(self.wrong(&name, text));
            }
        }
        Ok(count)
    }
}

/// The cost of a statement executed in order, in elements of operands that a definition reads.
const STATEMENT_COST: f64 = 8.0;

/// Fewer samples than this are weak evidence, whatever they cost.
const MIN_SAMPLES: f64 = 16.0;

/// An element as `f64`.
pub(super) struct Approximate(f64);

impl From<f64> for Approximate {
    fn from(x: f64) -> Approximate {
        Approximate(x)
    }
}

impl From<f32> for Approximate {
    fn from(x: f32) -> Approximate {
        Approximate(f64::from(x))
    }
}

impl From<i32> for Approximate {
    fn from(x: i32) -> Approximate {
        Approximate(f64::from(x))
    }
}

impl From<i64> for Approximate {
    fn from(x: i64) -> Approximate {
        Approximate(x as f64)
    }
}

/// Point number `k` of `count` in a domain: its first and last corners, and points that fill it
/// evenly (the additive recurrence of irrational steps). `None` if the domain has no values of
/// inner iterators.
fn sample(domain: &[Span], k: u64, count: u64) -> Option<Vec<i64>> {
    const STEPS: [f64; 8] = [
        0.618_033_988_749_895,
        0.414_213_562_373_095,
        0.732_050_807_568_877,
        0.236_067_977_499_79,
        0.645_751_311_064_591,
        0.316_624_790_355_4,
        0.605_551_275_463_989,
        0.123_105_625_617_661,
    ];
    let mut point = Vec::with_capacity(domain.len());
    for (d, span) in domain.iter().enumerate() {
        let fraction = match k {
            0 => 0.0,
            _ if k + 1 == count => 1.0 - f64::EPSILON,
            _ => (k as f64 * STEPS[d % STEPS.len()]).fract(),
        };
        point.push(span.value(&point, fraction)?);
    }
    Some(point)
}

/// Whether a part of a definition is executed in the order of its loops.
fn in_order(part: &Nest) -> bool {
    part.originals().iter().any(|p| p.in_order)
}

/// The initial contents of tensors, as the evaluation of definitions reads them.
fn stored(initial: &HashMap<Name, Buffer>) -> Store<'_> {
    let all = initial.iter();
    all.map(|(name, buffer)| (name.clone(), elements(buffer.view())))
        .collect()
}

fn elements_of(tensors: &[&Tensor]) -> u64 {
    tensors.iter().map(|t| t.shape().elements()).sum()
}

fn elements(view: View<'_>) -> Elements<'_> {
    match view {
        View::F64(d) => Elements::F64(Cow::Borrowed(d)),
        View::F32(d) => Elements::F32(Cow::Borrowed(d)),
        View::I32(d) => Elements::I32(Cow::Borrowed(d)),
        View::I64(d) => Elements::I64(Cow::Borrowed(d)),
    }
}

fn view<'a>(elements: &'a Elements<'_>) -> View<'a> {
    match elements {
        Elements::F64(d) => View::F64(d),
        Elements::F32(d) => View::F32(d),
        Elements::I32(d) => View::I32(d),
        Elements::I64(d) => View::I64(d),
    }
}
