//! Paths as text: a script that makes the nest again, and the list that the paper prints.

use super::NoTrace;
use super::replay::{builds, one_step};
use crate::analysis::position;
use crate::ir::{
    Arg, BinaryOp, Constant, Elem, Expr, Function, Index, LoopRef, Nest, Node, Reduction, Step,
    Stmt, Tensor, Tree,
};
use crate::lower::build::written;
use std::sync::Arc;

/// A script whose last expression is the nest: declarations, assignments, and the steps as
/// method calls.
///
/// # Errors
/// The nest does not know the steps that made it.
pub fn script(nest: &Nest) -> Result<String, NoTrace> {
    let mut program = Program::default();
    let mut inner = Vec::new();
    collect_tensors(nest, &mut inner);
    for tensor in &inner {
        program.lines.push(declaration(tensor));
    }
    let last = program.chain(nest)?;
    program.lines.push(last);
    Ok(program.lines.join("\n"))
}

fn collect_tensors(nest: &Nest, found: &mut Vec<Tensor>) {
    for tensor in nest.tensors() {
        if !found.contains(&tensor) {
            found.push(tensor);
        }
    }
    let steps = nest.path().steps();
    for nest in steps
        .iter()
        .flat_map(|s| s.args.iter().filter_map(Arg::as_nest))
    {
        collect_tensors(nest, found);
    }
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
    format!(
        "let {name} = tensor({:?}{separator}{elem});",
        tensor.shape().extents()
    )
}

#[derive(Default)]
struct Program {
    lines: Vec<String>,
    nests: usize,
}

impl Program {
    /// The expression that makes `nest`, after the statements that it needs.
    fn chain(&mut self, nest: &Nest) -> Result<String, NoTrace> {
        let mut text: Option<String> = None;
        for step in nest.path().steps() {
            text = Some(match text {
                None => self.start(&step)?,
                Some(text) => self.then(text, &step)?,
            });
        }
        text.ok_or(NoTrace::Unknown)
    }

    fn start(&mut self, step: &Step) -> Result<String, NoTrace> {
        let (true, [Arg::Expr(assignment)]) = (builds(step), step.args.as_slice()) else {
            return Err(NoTrace::Unknown);
        };
        let written = written(assignment).map_err(|_| NoTrace::Unknown)?;
        self.lines.push(assignment_text(assignment, &written)?);
        let name = assignment.tensor().map_or("", |t| t.label());
        Ok(format!("{}({name})", step.op))
    }

    fn then(&mut self, text: String, step: &Step) -> Result<String, NoTrace> {
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
                other => args.push(other.script()),
            }
        }
        Ok(format!("{receiver}\n    .{}({})", step.op, args.join(", ")))
    }

    fn bind(&mut self, text: String) -> String {
        self.nests += 1;
        let name = format!("nest_{}", self.nests);
        self.lines.push(format!("let {name} = {text};"));
        name
    }
}

/// `A = eq(…);`, with sums moved outside and iterators named as `build` names them.
fn assignment_text(assignment: &Expr, nest: &Nest) -> Result<String, NoTrace> {
    let loops = nest.loops();
    let statement = nest.lines().into_iter().find_map(|line| match line.tree {
        Tree::Stmt(s) => Some(s.clone()),
        _ => None,
    });
    let Some(s) = statement else {
        return Err(NoTrace::Unknown);
    };
    let reduced: Vec<&str> = loops
        .iter()
        .map(|(_, l)| l.name.as_str())
        .filter(|name| {
            !s.index
                .iter()
                .any(|a| a.terms().iter().any(|(n, _)| n.as_str() == *name))
        })
        .collect();
    let fills = matches!(nest.trees(), [Tree::Fill(_), ..]);
    let elsewhere = match assignment.node() {
        Node::Assign { elsewhere, .. } => *elsewhere,
        _ => None,
    };
    Ok(statement_text(&s, &reduced, fills, elsewhere))
}

fn statement_text(
    s: &Arc<Stmt>,
    reduced: &[&str],
    fills: bool,
    elsewhere: Option<Constant>,
) -> String {
    let name = s.target.label();
    let to = match s.target.is_scalar() {
        true => "[]".to_owned(),
        false => Arg::Iters(s.index.clone()).script(),
    };
    let rest = elsewhere.map_or(String::new(), |value| {
        let extents = s.target.shape().extents();
        format!(", {extents:?}, {}", number(value))
    });
    let value = operand(&s.value);
    let reduction = |reduction: Reduction| {
        let value = match &value {
            (text, None) => text.clone(),
            (text, Some(list)) => format!("vat({text}, {list})"),
        };
        format!("v{}({value}, [{}])", reduction.name(), reduced.join(", "))
    };
    let filled = Reduction::ALL
        .into_iter()
        .find(|r| fills && Some(r.op()) == s.update);
    match s.update {
        None => match value {
            (text, None) => format!("{name} = eq({text}, {to}{rest});"),
            (text, Some(from)) => format!("{name} = eq({text}, {from} -> {to}{rest});"),
        },
        Some(op) => {
            if let Some(filled) = filled {
                return format!("{name} = eq({}, {to}{rest});", reduction(filled));
            }
            let adds = matches!(op, BinaryOp::Add | BinaryOp::Sub);
            let (text, list) = match adds && !reduced.is_empty() {
                true => (reduction(Reduction::Sum), "()".to_owned()),
                false => (value.0, value.1.unwrap_or_else(|| "()".to_owned())),
            };
            let own = if s.target.is_scalar() { "()" } else { &to };
            format!(
                "{name} = {}({name}, {text}, [{own}, {list}] -> {to});",
                op.name()
            )
        }
    }
}

/// An expression, and the iterators that it is to be given.
fn operand(expr: &Expr) -> (String, Option<String>) {
    match expr.node() {
        Node::Access {
            tensor,
            index: Index::At(index),
        } => {
            let list = Arg::Iters(index.clone()).script();
            (tensor.label().to_owned(), Some(list))
        }
        Node::Access { tensor, .. } => (tensor.label().to_owned(), None),
        Node::Constant(value) => (number(*value), None),
        Node::Binary {
            op, left, right, ..
        } => {
            let (operands, lists) = operands(&[left, right]);
            (format!("v{}({operands}, {lists})", op.name()), None)
        }
        Node::Apply { function, args, .. } => (applied(*function, args), None),
        // Built statements hold nothing else.
        _ => (String::new(), None),
    }
}

fn applied(function: Function, args: &[Expr]) -> String {
    match (function, args) {
        (Function::Select(comparison), [left, right, yes, no]) => {
            let [left, right, yes, no] = [left, right, yes, no].map(operand);
            let texts = format!("{}, {}, {}", right.0, yes.0, no.0);
            let lists = [left.1, right.1, yes.1, no.1].map(list).join(", ");
            format!(
                "vselect({}, \"{}\", {texts}, [{lists}])",
                left.0,
                comparison.symbol()
            )
        }
        (function, args) => {
            let args = args.iter().map(|arg| match operand(arg) {
                (text, None) => text,
                (text, Some(list)) => format!("{text}, {list}"),
            });
            let args: Vec<String> = args.collect();
            format!("v{}({})", function.name(), args.join(", "))
        }
    }
}

/// Operands, and the list of their lists.
fn operands(exprs: &[&Expr]) -> (String, String) {
    let (texts, lists): (Vec<String>, Vec<String>) = exprs
        .iter()
        .map(|e| operand(e))
        .map(|(text, own)| (text, list(own)))
        .unzip();
    (texts.join(", "), format!("[{}]", lists.join(", ")))
}

fn list(own: Option<String>) -> String {
    own.unwrap_or_else(|| "()".to_owned())
}

/// A number as scripts write it, which compute with `f64` and `i64`.
fn number(value: Constant) -> String {
    match value {
        _ if value.is_infinite() => {
            let sign = if value.is_negative() { "-" } else { "" };
            format!("{sign}1.0 / 0.0")
        }
        Constant::F64(x) => format!("{x:?}"),
        Constant::F32(x) => {
            let short = format!("{x:?}");
            match short.parse::<f64>() {
                Ok(read) if (read as f32).to_bits() == x.to_bits() => short,
                _ => format!("{:?}", f64::from(x)),
            }
        }
        Constant::I32(x) => x.to_string(),
        Constant::I64(x) => x.to_string(),
    }
}

/// The steps as the paper's Table 2 writes them, with level numbers where levels are not
/// ambiguous: `interchange(l, 2, 3)`.
///
/// # Errors
/// The nest does not know the steps that made it.
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
        // Loops are those of the nest that was named last.
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

/// The loop by its level, where that level means it.
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
