//! `equal`: whether two definitions compute the same, as a value.

use super::provenance::built;
use super::refusal::Refusal;
use super::workbench::Bench;
use crate::ir::{Affine, Arrow, Expr, Nest, Node, Tensor, fresh_name};
use crate::transform::Error;
use crate::transform::simplify::{Rule, proves_equal};
use crate::transform::tensor::eq::{eq, eq_all};
use crate::trial::{self, Equality, Samples, samples};
use std::fmt;

/// Whether two definitions compute the same.
#[derive(Clone, Debug, PartialEq)]
pub enum Equal {
    /// Rules of sums and products prove it, up to rounding.
    ByRules,
    /// They do if the rules of the user hold, which are believed.
    IfRulesHold,
    /// Each of so many elements is the same expression of the inputs.
    ByExecution(usize),
    /// So many elements agree at so many samples of the inputs, which proves nothing.
    AtSamples { samples: usize, elements: u64 },
    /// They differ; the text says where.
    Different(String),
}

impl Equal {
    /// Whether they compute the same, as far as is known.
    pub fn holds(&self) -> bool {
        !matches!(self, Equal::Different(_))
    }

    /// Whether that is proved.
    pub fn is_proved(&self) -> bool {
        matches!(self, Equal::ByRules | Equal::ByExecution(_))
    }
}

impl fmt::Display for Equal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Equal::ByRules => f.write_str("equal, by the rules of sums and products"),
            Equal::IfRulesHold => f.write_str("equal, if the given rules hold"),
            Equal::ByExecution(elements) => {
                write!(f, "equal: all {elements} elements are the same expressions")
            }
            Equal::AtSamples { samples, elements } => write!(
                f,
                "equal at {samples} samples of {elements} elements each, which proves nothing"
            ),
            Equal::Different(why) => write!(f, "different: {why}"),
        }
    }
}

/// Whether two lists of assignments compute the same in their last ones. `rules` of a user are
/// believed.
///
/// # Errors
/// A definition has no nest; two tensors of one name are not the same; the rules do not decide, and
/// an execution would take too long.
pub fn equal(bench: &Bench, a: &[Expr], b: &[Expr], rules: &[Rule]) -> Result<Equal, Refusal> {
    let (Some(one), Some(two)) = (
        a.last().and_then(Expr::tensor),
        b.last().and_then(Expr::tensor),
    ) else {
        return Err(Refusal::new("there is no definition to compare"));
    };
    alike(a, b)?;
    if (one.shape(), one.elem()) != (two.shape(), two.elem()) {
        let kind = |tensor: &Tensor| format!("{}{}", tensor.elem(), tensor.shape());
        let why = format!("one is {}, the other {}", kind(one), kind(two));
        return Ok(Equal::Different(why));
    }
    if proves_equal(a, b, &[]) {
        return Ok(Equal::ByRules);
    }
    if !rules.is_empty() && proves_equal(a, b, rules) {
        return Ok(Equal::IfRulesHold);
    }
    let nests = |all: &[Expr]| -> Result<Vec<Nest>, Refusal> {
        let each = all.iter().map(|assignment| built(assignment, None));
        let all: Result<_, Error> = each.collect();
        all.map_err(|error| Refusal::new(error.to_string()))
    };
    let (of_a, of_b) = (nests(a)?, nests(b)?);
    if let Some(elements) = executed(bench, &of_a, b, one) {
        return Ok(Equal::ByExecution(elements));
    }
    match samples(&of_a, &of_b) {
        Ok(Samples::Agree(samples)) => Ok(Equal::AtSamples {
            samples,
            elements: one.shape().elements(),
        }),
        Ok(Samples::Differ(why)) => Ok(Equal::Different(why)),
        Ok(Samples::Large) => Err(Refusal::new(
            "the rules do not decide it, and the tensors are large",
        )
        .help("compare the same definitions of smaller tensors")),
        Err(fault) => Err(Refusal::new(fault.to_string())),
    }
}

/// The expression as a definition over the iterators of another one.
///
/// # Errors
/// The expressions have different iterators, or no ranges.
pub fn as_definition(expr: &Expr, like: &Expr) -> Result<Expr, Refusal> {
    let name = fresh_name(|name| expr.mentions(name) || like.mentions(name));
    if expr.is_assignment() {
        return Ok(expr.fill_placeholder(&name));
    }
    let own = expr.iterators();
    if own.is_empty() {
        let made = eq_all(expr).map_err(|error| Refusal::new(error.to_string()))?;
        return Ok(made.fill_placeholder(&name));
    }
    let order = if like.is_assignment() {
        own.clone()
    } else {
        like.iterators()
    };
    if own.len() != order.len() || !own.iter().all(|name| order.contains(name)) {
        let what = "the expressions have different iterators";
        let help = "`eq` assigns them to tensors with the same dimensions";
        return Err(Refusal::new(what).help(help));
    }
    let to = order.into_iter().map(Affine::iterator).collect();
    let arrow = Arrow {
        from: Vec::new(),
        to,
    };
    let made = eq(expr, &arrow).map_err(|error| Refusal::new(error.to_string()))?;
    Ok(made.fill_placeholder(&name))
}

/// Refuses tensors of one name that have different shapes or elements.
fn alike(a: &[Expr], b: &[Expr]) -> Result<(), Refusal> {
    let mut known: Vec<&Tensor> = Vec::new();
    let mut clash = None;
    for assignment in a.iter().chain(b) {
        let Node::Assign { value, .. } = assignment.node() else {
            continue;
        };
        value.for_each_tensor(&mut |tensor| {
            let same = known.iter().find(|known| known.name() == tensor.name());
            match same {
                Some(one) if (one.shape(), one.elem()) != (tensor.shape(), tensor.elem()) => {
                    clash.get_or_insert_with(|| tensor.label().to_owned());
                }
                Some(_) => {}
                None => known.push(tensor),
            }
        });
    }
    match clash {
        Some(name) => Err(Refusal::new(format!(
            "both read `{name}`, but not the same tensor"
        ))),
        None => Ok(()),
    }
}

/// The number of elements, if both definitions make the same expression of each.
fn executed(bench: &Bench, a: &[Nest], b: &[Expr], target: &Tensor) -> Option<usize> {
    let (last, before) = b.split_last()?;
    let other = last.tensor()?;
    let is_read = |tensor: &Tensor| {
        let mut read = false;
        let all = b.iter().filter_map(|assignment| match assignment.node() {
            Node::Assign { value, .. } => Some(value),
            _ => None,
        });
        all.for_each(|value| value.for_each_tensor(&mut |t| read |= t.name() == tensor.name()));
        read
    };
    let is_made = before
        .iter()
        .any(|made| made.tensor().is_some_and(|t| t.name() == target.name()));
    if is_read(other) || is_made || (other.name() != target.name() && is_read(target)) {
        return None;
    }
    let moved = |tensor: &Tensor| (tensor.name() == other.name()).then(|| target.clone());
    let last = last.map_tensors(&moved);
    let b: Vec<Nest> = before
        .iter()
        .chain([&last])
        .map(|made| built(made, None))
        .collect::<Result<_, _>>()
        .ok()?;
    let (reductions, control) = {
        let bench = bench.lock();
        (bench.reductions(), bench.control.clone())
    };
    match trial::equality(a, &b, reductions, &control) {
        Equality::Proved(elements) => Some(elements),
        Equality::Refuted(_) | Equality::Open(_) => None,
    }
}
