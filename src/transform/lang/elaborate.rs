//! Makes a program of declarations and statements, and reports every problem in them.

use super::lower::{Iterators, Lowering};
use super::setting::Setting;
use super::stage::staged;
use super::term::{Declaration, Extent, Statement, Unit};
use super::typing::{Context, shown};
use crate::ir::{Elem, Expr, Name, Program, Shape, Tensor, Variable};
use crate::problem::Problem;
use crate::tensor::with_shapes;
use std::collections::BTreeMap;

/// The program of a unit.
///
/// # Errors
/// All problems of the unit.
pub(super) fn program(
    unit: &Unit,
    setting: &Setting,
    mut problems: Vec<Problem>,
) -> Result<Program, Vec<Problem>> {
    let mut missing = Vec::new();
    let declarations = with_sizes(&unit.declarations, &setting.sizes, &mut missing);
    if !missing.is_empty() {
        // Without their extents, nothing else has a type.
        problems.extend(missing);
        return Err(sorted(problems));
    }
    let statements = unit.statements.clone();
    let sized = Unit {
        declarations,
        statements,
    };
    let Unit {
        declarations,
        statements,
    } = staged(&sized, &Context::of(&sized.declarations, setting.elem));
    let context = Context::of(&declarations, setting.elem);
    let tensors = tensors(&declarations, setting.elem, &mut problems);
    let names = tensors.keys().map(String::as_str);
    let iterators = Iterators::beside(names);
    let mut assignments = Vec::with_capacity(unit.statements.len());
    for statement in &statements {
        match assignment(statement, &context, &tensors, &iterators) {
            Ok(assignment) => assignments.extend(assignment),
            Err(problem) => problems.push(problem),
        }
    }
    let mut variables = Vec::with_capacity(declarations.len());
    for declaration in &declarations {
        let is_new = |v: &&Variable| v.tensor.label() == declaration.name.0;
        if let (Some(tensor), None) = (
            tensors.get(&declaration.name.0),
            variables.iter().find(is_new),
        ) {
            variables.push(Variable {
                tensor: tensor.clone(),
                is_input: declaration.is_input,
                is_output: declaration.is_output,
            });
        }
    }
    if problems.is_empty() {
        uninitialized(unit, &mut problems);
    }
    if problems.is_empty() && variables.is_empty() {
        problems.push(Problem::new(&(0..0), "the text declares nothing"));
    }
    if problems.is_empty() {
        Ok(Program::new(variables, assignments))
    } else {
        Err(sorted(problems))
    }
}

/// Problems in the order of the text, without duplicates.
pub(super) fn sorted(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
    problems.dedup();
    problems
}

/// The declarations with numbers as extents.
fn with_sizes(
    declarations: &[Declaration],
    sizes: &BTreeMap<String, u64>,
    problems: &mut Vec<Problem>,
) -> Vec<Declaration> {
    let mut unknown: Vec<&str> = Vec::new();
    let mut found = declarations.to_vec();
    for (extent, span) in found.iter_mut().flat_map(|d| &mut d.extents) {
        let Extent::Name(name) = extent else {
            continue;
        };
        match sizes.get(name) {
            Some(size) => *extent = Extent::Number(*size),
            None => {
                let known = declarations.iter().flat_map(|d| &d.extents);
                let name = known.into_iter().find_map(|(e, _)| match e {
                    Extent::Name(n) if n == name => Some(n.as_str()),
                    _ => None,
                });
                if let Some(name) = name
                    && !unknown.contains(&name)
                {
                    unknown.push(name);
                    problems.push(Problem::no_size(span, name));
                }
            }
        }
    }
    found
}

/// The tensors of the declarations, whose elements are of type `elem`.
fn tensors(
    declarations: &[Declaration],
    elem: Elem,
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, Tensor> {
    let mut found: BTreeMap<String, Tensor> = BTreeMap::new();
    for (k, declaration) in declarations.iter().enumerate() {
        let (text, span) = &declaration.name;
        if let Some(first) = declarations[..k].iter().find(|d| d.name.0 == *text) {
            let problem = Problem::new(span, format!("`{text}` is declared twice")).rule("s-var");
            problems.push(problem.see(&first.name.1, "the first declaration"));
            continue;
        }
        let name = match Name::new(text) {
            Ok(name) => name,
            Err(error) => {
                problems.push(Problem::new(span, error.to_string()));
                continue;
            }
        };
        let extents = declaration
            .extents
            .iter()
            .map(|(extent, span)| match extent {
                Extent::Number(0) => Err(Some(Problem::new(
                    span,
                    "an extent of 0: extents are 1 or more",
                ))),
                Extent::Number(value) => {
                    let too_large =
                        || Problem::new(span, format!("an extent of {value} is too large"));
                    i64::try_from(*value).map_err(|_| Some(too_large()))
                }
                // Already reported.
                Extent::Name(_) => Err(None),
            });
        let shape = match extents.collect::<Result<Vec<i64>, _>>() {
            Ok(extents) => Shape::new(&extents, elem),
            Err(problem) => {
                problems.extend(problem);
                continue;
            }
        };
        let tensor = match shape {
            Ok(shape) if shape.rank() == 0 => Tensor::scalar(elem),
            Ok(shape) => Tensor::new(shape, elem),
            Err(error) => {
                problems.push(Problem::new(span, error.to_string()));
                continue;
            }
        };
        found.insert(text.clone(), tensor.named(name));
    }
    found
}

/// The tree of a statement; `None` if its variable has a problem of its own.
fn assignment(
    statement: &Statement,
    context: &Context,
    tensors: &BTreeMap<String, Tensor>,
    iterators: &Iterators,
) -> Result<Option<Expr>, Problem> {
    let (name, span) = &statement.target;
    let value = context.type_of(&statement.value)?;
    let Some((target, declared)) = context.get(name) else {
        return Err(context.undeclared(name, span).rule("ok-stmt"));
    };
    if *target != value {
        let (target, value) = (shown(target), shown(&value));
        let what = format!("a value of type {value} is assigned to `{name}` of type {target}");
        let problem = Problem::new(&statement.value.span, what).rule("ok-stmt");
        return Err(problem
            .label(format!("of type {value}"))
            .see(declared, format!("`{name}` is declared with type {target}")));
    }
    let Some(tensor) = tensors.get(name) else {
        return Ok(None);
    };
    let mut lowering = Lowering {
        context,
        tensors,
        iterators: iterators.again(),
    };
    let Some(assignment) = lowering.assignment(tensor, &statement.value) else {
        return Ok(None);
    };
    let shaped = with_shapes(&assignment);
    let shaped = shaped.map_err(|error| Problem::new(&statement.value.span, error.to_string()))?;
    Ok(Some(shaped))
}

/// Reports variables that are used before anything sets them, if the program declares inputs or
/// outputs (§5 of the model language: undefined values, Fig. 15).
fn uninitialized(unit: &Unit, problems: &mut Vec<Problem>) {
    if !unit.declarations.iter().any(|d| d.is_input || d.is_output) {
        return;
    }
    let declaration = |name: &str| unit.declarations.iter().find(|d| d.name.0 == name);
    let has_inputs = unit.declarations.iter().any(|d| d.is_input);
    let assigned: Vec<&str> = unit
        .statements
        .iter()
        .map(|s| s.target.0.as_str())
        .collect();
    for (k, statement) in unit.statements.iter().enumerate() {
        let mut open = vec![&statement.value];
        while let Some(term) = open.pop() {
            open.extend(term.operands());
            let super::term::Kind::Variable(name) = &term.kind else {
                continue;
            };
            let is_input = declaration(name).is_some_and(|d| d.is_input);
            let is_set = assigned[..k].contains(&name.as_str());
            let is_ever_set = assigned.contains(&name.as_str());
            if is_set || is_input || !(has_inputs || is_ever_set) {
                continue;
            }
            let problem = Problem::new(
                &term.span,
                format!("`{name}` is used before it has a value"),
            );
            let declared = declaration(name).map(|d| d.name.1.clone());
            let problem = match declared {
                Some(span) => problem.see(&span, "it is not an input"),
                None => problem,
            };
            problems.push(problem.help(format!("declare it as an input: `var input {name}`")));
        }
    }
    for declaration in unit.declarations.iter().filter(|d| d.is_output) {
        let name = &declaration.name.0;
        if !assigned.contains(&name.as_str()) && !declaration.is_input {
            let what = format!("the output `{name}` is never assigned");
            problems.push(Problem::new(&declaration.name.1, what));
        }
    }
}
