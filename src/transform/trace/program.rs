//! Prints paths: as a script that builds the nest again, and in the paper's notation.

use super::assignment::{assignment_text, operator_text};
use super::replay::one_step;
use super::{Calls, NoTrace};
use crate::analysis::position;
use crate::apply::builds;
use crate::ir::{
    Arg, Elem, Expr, Given, Invocation, LoopRef, Name, Nest, Node, Order, Step, Strides, Taken,
    Tensor,
};
use crate::lower::build::written;
use std::sync::Arc;

/// A script whose last expression is the nest: declarations, assignments, and the steps as method
/// calls.
///
/// # Errors
/// The steps that made the nest are not known.
pub fn script(nest: &Nest, calls: Calls) -> Result<String, NoTrace> {
    let mut program = Program {
        lines: Vec::new(),
        nests: 0,
        calls,
    };
    let (mut sizes, mut inner) = (Vec::new(), Vec::new());
    collect_sizes(nest, &mut sizes);
    collect_tensors(nest, &mut inner);
    // A text has sizes that no assignment has.
    for tensor in &inner {
        tensor.shape().for_each_size(&mut |name| {
            let is_derived = name.size().is_some_and(|size| size.of.is_some());
            if !is_derived && !sizes.contains(name) {
                sizes.push(name.clone());
            }
        });
    }
    program.lines.extend(sizes.iter().map(size_declaration));
    // Facts about sorted entries name the tensor of their rows, which comes first.
    inner.sort_by_key(|tensor| {
        tensor
            .entries()
            .is_some_and(|entries| entries.rows.is_some())
    });
    for tensor in &inner {
        program.lines.push(declaration(tensor));
    }
    let last = program.chain(nest)?;
    program.lines.push(last);
    Ok(program.lines.join("\n"))
}

/// The sizes in assignments. Steps that make sizes make them again.
fn collect_sizes(nest: &Nest, found: &mut Vec<Name>) {
    for arg in nest.path().steps().iter().flat_map(|s| &s.args) {
        match arg {
            Arg::Expr(expr) => {
                let new = expr.sizes().into_iter();
                found.extend(new.filter(|name| !found.contains(name)).collect::<Vec<_>>());
            }
            Arg::Nest(nest) => collect_sizes(nest, found),
            _ => {}
        }
    }
}

fn size_declaration(name: &Name) -> String {
    let Some(size) = name.size() else {
        return String::new();
    };
    if let Some(quotient) = &size.of {
        return format!("let {name} = {quotient};");
    }
    let facts = size.facts().into_iter();
    let facts: Vec<String> = facts
        .map(|(fact, value)| format!("{fact}: {value}"))
        .collect();
    match facts.as_slice() {
        [] => format!("let {name} = size(\"{name}\");"),
        facts => format!("let {name} = size(\"{name}\", #{{{}}});", facts.join(", ")),
    }
}

fn collect_tensors(nest: &Nest, found: &mut Vec<Tensor>) {
    // A nest for some sizes was built for all of them.
    let own = match nest.condition().is_empty() {
        true => nest.tensors(),
        false => built_of(nest),
    };
    for tensor in own {
        // A step for some sizes may name a tensor with the shape that it has there.
        let is_narrowed = !nest.condition().is_empty();
        let is_known =
            |known: &Tensor| *known == tensor || (is_narrowed && known.name() == tensor.name());
        if !found.iter().any(is_known) {
            found.push(tensor);
        }
    }
    let steps = nest.path().steps();
    let args = steps
        .iter()
        .flat_map(|s| s.args.iter().filter_map(Arg::as_nest));
    for nest in args {
        collect_tensors(nest, found);
    }
}

/// The tensors of the assignments in a path.
fn built_of(nest: &Nest) -> Vec<Tensor> {
    let mut found = Vec::new();
    for arg in nest.path().steps().iter().flat_map(|s| &s.args) {
        if let Arg::Expr(expr) = arg {
            expr.for_each_tensor(&mut |tensor| found.push(tensor.clone()));
        }
    }
    found
}

fn declaration(tensor: &Tensor) -> String {
    let elem = match tensor.elem() {
        Elem::F64 => String::new(),
        elem => format!("\"{elem}\""),
    };
    let name = tensor.label();
    if tensor.is_scalar() {
        return format!("let {name} = scalar({elem});");
    }
    let separator = if elem.is_empty() { "" } else { ", " };
    if let Some(entries) = tensor.entries() {
        let order = match (entries.order, tensor.elem()) {
            (Order::Any, Elem::I64) => String::new(),
            (order, _) => format!(", \"{}\"", order.word()),
        };
        let elem = match tensor.elem() {
            Elem::I64 => String::new(),
            elem => format!(", \"{elem}\""),
        };
        let (shape, n) = (tensor.shape(), &entries.high);
        let made = format!("indices({shape}, {n}{order}{elem})");
        return match &entries.rows {
            Some(rows) => format!("let {name} = sorted({made}, {rows});"),
            None => format!("let {name} = {made};"),
        };
    }
    let given = tensor.as_given();
    let dense = format!("tensor({}{separator}{elem})", given.shape());
    match tensor.strided_in() {
        Some(Strides::Rows) => format!("let {name} = strided({dense});"),
        Some(Strides::All) => format!("let {name} = strided({dense}, \"all\");"),
        None => format!("let {name} = {dense};"),
    }
}

struct Program {
    lines: Vec<String>,
    nests: usize,
    calls: Calls,
}

impl Program {
    /// The expression that makes `nest`; statements that it needs are added to the script first.
    fn chain(&mut self, nest: &Nest) -> Result<String, NoTrace> {
        let mut text: Option<String> = None;
        let mut taken: Vec<Arc<Step>> = Vec::new();
        for entry in nest.path().entries() {
            let steps = entry.steps();
            text = match (&entry, text) {
                (Taken::Call(call, _), Some(so_far)) if self.folds(call, &taken, steps.len()) => {
                    Some(self.call(call, so_far, &taken)?)
                }
                (entry, mut text) => {
                    let mut remark = match entry {
                        Taken::Call(call, _) => remark(&call.to_string()),
                        Taken::Step(_) => String::new(),
                    };
                    for step in steps {
                        text = Some(match text {
                            None => self.start(step)?,
                            Some(text) => self.then(text, &std::mem::take(&mut remark), step)?,
                        });
                    }
                    text
                }
            };
            taken.extend_from_slice(steps);
        }
        text.ok_or(NoTrace::Unknown)
    }

    /// Whether a call of the library, after the steps `taken`, is printed as a call. It made the
    /// nest by `more` steps from the nest before.
    fn folds(&self, call: &Invocation, taken: &[Arc<Step>], more: usize) -> bool {
        let known = call.nests().into_iter().any(|nest| is_after(nest, taken));
        self.calls == Calls::Folded && known && call.makes(taken.len() + more)
    }

    /// A call of the library on the nest that the text `so_far` makes by the steps `taken`.
    fn call(
        &mut self,
        call: &Invocation,
        so_far: String,
        taken: &[Arc<Step>],
    ) -> Result<String, NoTrace> {
        let mut so_far = Some(so_far);
        let alone = call.nests().len() == 1;
        if let (true, Some(Given::Nest(nest))) = (call.is_method(), call.args.first())
            && is_after(nest, taken)
        {
            let text = so_far.take().unwrap_or_default();
            let args = self.given(&call.args[1..], &mut so_far, taken, alone)?;
            return Ok(format!("{text}\n    .{}({args})", call.function));
        }
        let args = self.given(&call.args, &mut so_far, taken, alone)?;
        Ok(format!("{}({args})", call.function))
    }

    /// The arguments of a call. The first nest that the steps `taken` made is `so_far`. Nests that
    /// are not `alone` are bound in order: later ones may assign the same tensors.
    fn given(
        &mut self,
        args: &[Given],
        so_far: &mut Option<String>,
        taken: &[Arc<Step>],
        alone: bool,
    ) -> Result<String, NoTrace> {
        let mut texts = Vec::with_capacity(args.len());
        for arg in args {
            texts.push(match arg {
                Given::Nest(nest) => {
                    let text = match is_after(nest, taken).then(|| so_far.take()).flatten() {
                        Some(text) => text,
                        None => self.chain(nest)?,
                    };
                    if alone && !text.contains('\n') {
                        text
                    } else {
                        self.bind(text)
                    }
                }
                Given::List(items) => {
                    let items = self.given(items, so_far, taken, alone)?;
                    format!("[{items}]")
                }
                Given::Text(text) => text.clone(),
                Given::Other => return Err(NoTrace::Unknown),
            });
        }
        Ok(texts.join(", "))
    }

    fn start(&mut self, step: &Arc<Step>) -> Result<String, NoTrace> {
        let assignment = match (builds(step), step.args.as_slice()) {
            (true, [Arg::Expr(assignment)]) => assignment,
            (_, [Arg::Operator(_), ..]) => {
                // The loops are the whole definition.
                let made = one_step(None, 1, step)?;
                return Ok(format!("nest({})", Arg::Word(made.to_string()).script()));
            }
            (true, [text @ Arg::Word(_)]) => return Ok(format!("{}({})", step.op, text.script())),
            _ => return Err(NoTrace::Unknown),
        };
        if !is_plain(assignment) {
            // The loops are the whole definition.
            let made = one_step(None, 1, step)?;
            return Ok(format!("nest({})", Arg::Word(made.to_string()).script()));
        }
        let written = written(assignment).map_err(|_| NoTrace::Unknown)?;
        self.lines.push(assignment_text(assignment, &written)?);
        let name = assignment.tensor().map_or("", |t| t.label());
        Ok(format!("{}({name})", step.op))
    }

    /// Appends a step to the expression, after a remark.
    fn then(&mut self, text: String, remark: &str, step: &Step) -> Result<String, NoTrace> {
        let mut receiver = text;
        let mut args = Vec::with_capacity(step.args.len());
        for arg in &step.args {
            match arg {
                // The receiver comes first: later statements may assign the same tensors.
                Arg::Nest(nest) => {
                    receiver = self.bind(receiver);
                    let other = self.chain(nest)?;
                    args.push(self.bind(other));
                }
                Arg::Operator(operator) => {
                    let line = format!("let {} = {};", operator.name, operator_text(operator));
                    if !self.lines.contains(&line) {
                        self.lines.push(line);
                    }
                    args.push(operator.name.to_string());
                }
                other => args.push(other.script()),
            }
        }
        Ok(format!(
            "{receiver}{remark}\n    .{}({})",
            step.op,
            args.join(", ")
        ))
    }

    fn bind(&mut self, text: String) -> String {
        self.nests += 1;
        let name = format!("nest_{}", self.nests);
        self.lines.push(format!("let {name} = {text};"));
        name
    }
}

/// Whether an assignment is one statement in loops.
fn is_plain(assignment: &Expr) -> bool {
    let in_pieces = matches!(assignment.node(), Node::Pieces { .. });
    let statements = written(assignment).map(|nest| nest.steps());
    !in_pieces && statements.is_ok_and(|statements| statements == 1)
}

/// Whether `nest` was made by these steps.
fn is_after(nest: &Nest, taken: &[Arc<Step>]) -> bool {
    let same = |(a, b): (&Arc<Step>, &Arc<Step>)| Arc::ptr_eq(a, b) || a.same(b);
    let path = nest.path();
    path.len() == taken.len() && path.steps().iter().zip(taken).all(same)
}

/// A comment between steps.
fn remark(text: &str) -> String {
    format!("\n    // {}", text.replace(|c: char| c.is_control(), "?"))
}

/// The steps as the paper's Table 2 writes them, `interchange(l, 2, 3)`: with level numbers unless
/// levels are ambiguous.
///
/// # Errors
/// The steps that made the nest are not known.
pub fn paper(nest: &Nest) -> Result<String, NoTrace> {
    let mut lines = Vec::new();
    let mut count = 0;
    paper_lines(nest, "l", &mut count, &mut lines)?;
    Ok(lines.join("\n"))
}

fn paper_lines(
    nest: &Nest,
    name: &str,
    count: &mut usize,
    lines: &mut Vec<String>,
) -> Result<(), NoTrace> {
    let steps = nest.path().steps();
    let [first, rest @ ..] = steps.as_slice() else {
        return Err(NoTrace::Unknown);
    };
    let mut current = one_step(None, 1, first)?;
    for (k, step) in rest.iter().enumerate() {
        let mut args = vec![name.to_owned()];
        // Loops belong to the nest that was named last.
        let mut of = &current;
        for arg in &step.args {
            args.push(match arg {
                Arg::Nest(other) => {
                    *count += 1;
                    let other_name = format!("l{}", *count + 1);
                    paper_lines(other, &other_name, count, lines)?;
                    of = other;
                    other_name
                }
                Arg::Loop(l) => by_level(of, l),
                Arg::Loops(loops) => {
                    let texts: Vec<String> = loops.iter().map(|l| by_level(of, l)).collect();
                    format!("[{}]", texts.join(", "))
                }
                other => other.script(),
            });
        }
        lines.push(format!("{}({})", step.op, args.join(", ")));
        current = one_step(Some(current), k + 2, step)?;
    }
    Ok(())
}

/// The level of the loop, if that level refers to this loop.
fn by_level(nest: &Nest, l: &LoopRef) -> String {
    let level = |name: &str| -> Option<i64> {
        let position = position::named(nest, name).ok()?;
        let level = i64::try_from(position.len()).ok()?;
        (position::at_level(nest, level).ok()? == position).then_some(level)
    };
    match l {
        LoopRef::Name(name) => level(name).map_or_else(|| l.to_string(), |l| l.to_string()),
        LoopRef::Level(_) => l.to_string(),
    }
}
