//! The results of variants: which tensors these are, and how they are compared.

use super::variant::{definition, naive};
use super::{TrialError, Variant};
use crate::analysis::count;
use crate::codegen::{Param, Role};
use crate::ir::{Expr, Name, Nest, Node, Part, Tensor, Tree};
use crate::legality;
use crate::runtime::{self, Agreement, Outputs, RuntimeError};

/// The tensors of a variant that are compared: its results, and all that programs assign.
pub(super) fn compared(variant: &Variant) -> Vec<String> {
    let mut names = results(variant);
    for nest in &variant.nests {
        let programs = nest.originals().iter().filter(|part| part.is_program);
        let assigned = programs.flat_map(Part::assigned);
        let kept = assigned.filter(|t| !nest.donated().iter().any(|n| t.name() == Some(n)));
        names.extend(kept.map(|t| t.label().to_owned()));
    }
    names.sort();
    names.dedup();
    names
}

/// The results of a variant. The outputs of a program are results, and its temporaries are not. Any
/// other tensor is a result if nothing reads it afterwards. If nothing is a result by these rules,
/// temporaries are treated like other tensors.
pub fn results(variant: &Variant) -> Vec<String> {
    let statements: Vec<&Expr> = definition(variant).collect();
    let reads = |statement: &Expr, name: &str| {
        let mut found = false;
        if let Node::Assign { value, .. } = statement.node() {
            value.for_each_tensor(&mut |t| found |= t.label() == name);
        }
        found
    };
    let locals = variant.nests.iter().flat_map(Nest::originals);
    let locals = locals.flat_map(|part| part.trees.iter().flat_map(Tree::locals));
    let locals: Vec<&str> = locals.map(Tensor::label).collect();
    let declared = |name: &str| {
        let name = Name::new(name).ok()?;
        variant.nests.iter().find_map(|nest| nest.is_output(&name))
    };
    let (mut results, mut unread) = (Vec::new(), Vec::new());
    for (k, statement) in statements.iter().enumerate() {
        let Some(name) = statement.tensor().map(|t| t.label()) else {
            continue;
        };
        if locals.contains(&name) {
            continue;
        }
        // A statement that updates the tensor reads it and assigns it anew.
        let is_read = statements[k + 1..].iter().any(|later| reads(later, name));
        if declared(name).unwrap_or(!is_read) {
            results.push(name.to_owned());
        }
        if !is_read {
            unread.push(name.to_owned());
        }
    }
    if results.is_empty() {
        results = unread;
    }
    results.sort();
    results.dedup();
    results
}

/// Whether the function of a variant has space for a tensor itself, so that its callers do not see
/// it: the variant sets it first, and it is not a result. `outputs` are results as well.
pub fn is_own(variant: &Variant, outputs: &[String]) -> impl Fn(&Param) -> bool {
    let mut results = results(variant);
    results.extend_from_slice(outputs);
    move |param| {
        let is_result = results.iter().any(|r| r == param.tensor.label());
        let name = param.tensor.name();
        let sets_first = || name.is_some_and(|n| legality::sets_first(&variant.nests, n));
        match param.role {
            Role::In => false,
            Role::Out => !is_result,
            Role::InOut => !is_result && sets_first(),
            Role::Workspace => true,
        }
    }
}

/// Refuses variants that compute different tensors.
pub(super) fn check_results(first: &Variant, second: &Variant) -> Result<(), TrialError> {
    let (a, b) = (results(first), results(second));
    if a == b {
        Ok(())
    } else {
        Err(TrialError::ResultsDiffer {
            first: first.label.clone(),
            first_results: a.join(", "),
            second: second.label.clone(),
            second_results: b.join(", "),
        })
    }
}

/// A result that differs from the reference.
pub(super) struct Difference {
    pub tensor: String,
    pub comparison: String,
}

/// The relative error that counts as rounding in a tensor that a variant sets.
pub(super) fn tolerance(variant: &Variant, tensor: &Tensor) -> f64 {
    let sets = |tree: &Tree| match tree {
        Tree::Stmt(s) if s.target.label() == tensor.label() => 1.0,
        _ => 0.0,
    };
    let nests = naive(variant).nests;
    let executed = nests.iter().filter_map(|n| count::total(n.trees(), &sets));
    let elements = tensor.shape().elements().max(1) as f64;
    runtime::sum_tolerance(tensor.elem(), executed.sum::<f64>() / elements)
}

/// Compares all results of a variant with those of `defined`, the untransformed nests. Returns the
/// largest relative error, or the first difference.
pub(super) fn compare_outputs(
    results: &[String],
    (defined, reference): (&Variant, &Outputs),
    own: &Outputs,
) -> Result<Result<f64, Difference>, RuntimeError> {
    let mut worst = 0.0f64;
    for name in results {
        let (Some(expected), Some(actual)) = (reference.get(name), own.get(name)) else {
            continue;
        };
        let tensor = expected.tensor();
        let agreement =
            |tolerance| runtime::compare(expected.view(), actual.view(), tensor.shape(), tolerance);
        let mut comparison: Agreement = agreement(runtime::default_tolerance(tensor.elem()))?;
        if !comparison.agrees() {
            comparison = agreement(tolerance(defined, tensor))?;
        }
        if !comparison.agrees() {
            return Ok(Err(Difference {
                tensor: name.clone(),
                comparison: comparison.to_string(),
            }));
        }
        worst = worst.max(comparison.relative_error);
    }
    Ok(Ok(worst))
}
