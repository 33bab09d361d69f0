//! Programs whose temporaries share memory with other tensors: avoid-copy and reduce-cache-miss.
//!
//! ```text
//! t[i] = s * x[i]           x[i] = s * x[i]          avoid-copy: t is computed in x
//! x[i] = t[i]
//!
//! t[i] = x[i] * x[i]        x[i] = x[i] * x[i]       reduce-cache-miss: t is computed over x,
//! y[i] = t[i] + z[i]        y[i] = x[i] + z[i]       a temporary that nothing else reads
//! ```
//!
//! Legal when nothing needs what the other tensor held, from the assignment of the temporary to its
//! last use. That assignment may read the other tensor only at the element that it sets.
//!
//! Refuses: nothing. Temporaries for which that does not hold remain.
//!
//! Source: Ullrich, Detection and Exploitation of Data-Parallelism in Assignments of
//! Multi-Dimensional Tensors, 2018, §6.1 and §6.2.1.

use crate::analysis::program::{reads, target, temporaries};
use crate::ir::{Expr, Index, Name, Node, Program, Tensor};
use crate::legality::{assigns_all, is_compatible};

/// A temporary that is computed in the memory of another tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The temporary, which the program no longer has.
    pub temporary: Name,
    /// The tensor that holds its values.
    pub holder: Name,
}

/// The program whose temporaries are computed directly in the tensors that they are copied to.
#[must_use]
pub fn without_copied_temporaries(program: &Program) -> (Program, Vec<Placed>) {
    repeated(program, &|program, name| {
        let copies = program.assignments().iter().enumerate();
        let mut copies = copies.filter_map(|(k, a)| Some((k, copy(a, name)?)));
        let (at, holder) = copies.next()?;
        let begin = sole_assignment(program, name)?;
        let last = last_read(program, name)?.max(at);
        let mut needed = program.assignments().iter().enumerate().skip(begin + 1);
        let is_free = needed.all(|(k, a)| {
            let sets = k <= last && k != at && target(a) == holder.name();
            let needs = k < at && holder.name().is_some_and(|name| reads(a).contains(name));
            !sets && !needs
        });
        (begin < at && is_free).then(|| (holder.clone(), begin, Some(at)))
    })
}

/// The program in which temporaries of `names` are computed over tensors that they are the last to
/// read.
#[must_use]
pub fn over_last_operands(program: &Program, names: &[Name]) -> (Program, Vec<Placed>) {
    repeated(program, &|program, name| {
        if !names.contains(name) {
            return None;
        }
        let begin = sole_assignment(program, name)?;
        let own = temporaries(program);
        let variable = program.variable(name)?;
        let is_dead = |operand: &Name| {
            let mut later = program.assignments().iter().skip(begin + 1);
            own.contains(operand)
                && !later.any(|a| reads(a).contains(operand) || target(a) == Some(operand))
        };
        let operands = reads(program.assignments().get(begin)?);
        let mut operands = operands.iter().filter(|operand| is_dead(operand));
        let holder = operands.find_map(|operand| {
            let tensor = &program.variable(operand)?.tensor;
            is_alike(tensor, &variable.tensor).then_some(tensor)
        });
        Some((holder?.clone(), begin, None))
    })
}

/// The tensor that holds a temporary, the assignment that computes the temporary, and the copy that
/// disappears.
type Plan = (Tensor, usize, Option<usize>);

/// Applies what `plan` finds for each temporary, as often as it finds something.
fn repeated(
    program: &Program,
    plan: &dyn Fn(&Program, &Name) -> Option<Plan>,
) -> (Program, Vec<Placed>) {
    let mut program = program.clone();
    let mut placed = Vec::new();
    let next = |program: &Program| {
        temporaries(program).into_iter().find_map(|name| {
            let plan = plan(program, &name)?;
            let holder = plan.0.name()?.clone();
            let changed = held(program, &name, plan)?;
            let temporary = name;
            Some((changed, Placed { temporary, holder }))
        })
    };
    while let Some((changed, found)) = next(&program) {
        program = changed;
        placed.push(found);
    }
    (program, placed)
}

/// The program in which the holder replaces a temporary. `None` if its assignment then reads elements
/// that it sets before.
fn held(program: &Program, name: &Name, (holder, begin, copy): Plan) -> Option<Program> {
    let in_holder = |assignment: &Expr| {
        assignment.replace(&|part| match part.node() {
            Node::Access { tensor, index } if tensor.name() == Some(name) => {
                Some(Expr::access(holder.clone(), index.clone()))
            }
            _ => None,
        })
    };
    let all = program.assignments().iter().enumerate();
    let kept = all.filter(|(k, _)| Some(*k) != copy);
    let assignments: Vec<Expr> = kept.map(|(_, a)| in_holder(a)).collect();
    let computed = assignments.get(begin)?;
    let overwrites = reads(computed).contains(holder.name()?);
    if overwrites && !matches!(is_compatible(computed), Ok(Some(true))) {
        return None;
    }
    let variables = program.variables().iter();
    let variables = variables.filter(|v| v.tensor.name() != Some(name));
    Some(Program::new(variables.cloned().collect(), assignments))
}

/// The tensor that an assignment sets to the elements of tensor `name`.
fn copy<'a>(assignment: &'a Expr, name: &Name) -> Option<&'a Tensor> {
    let Node::Assign {
        target: to,
        value,
        within,
        elsewhere: None,
    } = assignment.node()
    else {
        return None;
    };
    let (
        Node::Access { tensor, index },
        Node::Access {
            tensor: from,
            index: read,
        },
    ) = (to.node(), value.node())
    else {
        return None;
    };
    let fits = is_alike(tensor, from);
    let is_it = from.name() == Some(name) && index == read && matches!(index, Index::At(_));
    (is_it && fits && within.is_empty() && assigns_all(assignment)).then_some(tensor)
}

/// Whether two tensors differ in their names alone, and no declaration says which elements are 0.
fn is_alike(first: &Tensor, second: &Tensor) -> bool {
    let renamed = second.name().map(|name| first.named(name.clone()));
    renamed.as_ref() == Some(second) && !first.has_zeros() && !second.has_zeros()
}

/// The assignment of a tensor, if there is one alone and it sets all elements.
fn sole_assignment(program: &Program, name: &Name) -> Option<usize> {
    let all = program.assignments().iter().enumerate();
    let mut own = all.filter(|(_, a)| target(a) == Some(name));
    let (k, assignment) = own.next()?;
    let is_whole = matches!(
        assignment.node(),
        Node::Assign {
            elsewhere: None,
            ..
        }
    ) && assigns_all(assignment);
    (own.next().is_none() && is_whole).then_some(k)
}

fn last_read(program: &Program, name: &Name) -> Option<usize> {
    let mut all = program.assignments().iter();
    all.rposition(|a| reads(a).contains(name))
}
