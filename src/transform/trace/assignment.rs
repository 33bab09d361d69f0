//! Assignments as scripts write them.

use super::NoTrace;
use crate::ir::{
    Affine, Arg, BinaryOp, Constant, Domain, Expr, Function, Index, Lookup, Loop, Name, Nest, Node,
    Operator, Reduction, Stmt, Tensor, Tree,
};
use std::sync::Arc;

/// `A = eq(…);`, with sums moved outside and iterators named as by `build`.
pub fn assignment_text(assignment: &Expr, nest: &Nest) -> Result<String, NoTrace> {
    // Statements before the loops, in loops of their own or not, are fills.
    let fills = nest.trees().len() > 1;
    let mut loops: Vec<&Loop> = Vec::new();
    let mut inner = nest.trees().last();
    while let Some(Tree::Loop(l)) = inner {
        loops.push(l);
        inner = l.body.last();
    }
    let Some(Tree::Stmt(s)) = inner else {
        return Err(NoTrace::Unknown);
    };
    let (read, s) = with_entries(&loops, s);
    loops.retain(|l| l.range.single().is_none());
    let reduced: Vec<&str> = loops
        .iter()
        .map(|l| l.name.as_str())
        .filter(|name| {
            !s.index
                .iter()
                .any(|a| a.terms().iter().any(|(n, _)| n.as_str() == *name))
        })
        .collect();
    let elsewhere = match assignment.node() {
        Node::Assign { elsewhere, .. } => *elsewhere,
        _ => None,
    };
    let named = given(assignment);
    let ranges = |of_sum: bool| {
        let own = loops.iter().filter(|l| named.contains(&l.name));
        let own = own.filter(|l| reduced.contains(&l.name.as_str()) == of_sum);
        let domain = Domain::new(own.map(|l| (l.name.clone(), l.range.clone())));
        if domain.is_empty() {
            String::new()
        } else {
            format!(", {}", domain.script())
        }
    };
    let is_limited = |l: &&Loop| !reduced.contains(&l.name.as_str()) && l.range.within.is_some();
    let to = s.index.iter().flat_map(Affine::terms);
    let names_entries = to.into_iter().any(|(name, _)| name.is_read());
    if read && (names_entries || loops.iter().any(is_limited)) {
        let (value, to) = (value_text(&s.value), Arg::Iters(s.index.clone()).script());
        let own = loops.iter().filter(|l| named.contains(&l.name));
        let domain = Domain::new(own.map(|l| (l.name.clone(), l.range.clone())));
        let ranges = match domain.is_empty() {
            true => String::new(),
            false => format!(", {}", domain.script()),
        };
        return Ok(format!(
            "{} = scatter({value}, {to}{ranges});",
            s.target.label()
        ));
    }
    let ranges = Ranges {
        target: ranges(false),
        sum: ranges(true),
    };
    Ok(statement_text(&s, &reduced, fills, elsewhere, &ranges))
}

/// Whether loops read bounds, and the statement with entries in place of the iterators that have
/// their value alone.
fn with_entries(loops: &[&Loop], s: &Arc<Stmt>) -> (bool, Arc<Stmt>) {
    let mut entries: Vec<(&Name, Affine)> = Vec::new();
    for l in loops {
        let Some(lookup) = l.range.single() else {
            continue;
        };
        let known = |name: &Name| {
            let mut known = entries.iter();
            known.find_map(|(of, entry)| (*of == name).then(|| entry.clone()))
        };
        let index = lookup.index.iter().map(|a| a.substitute(&known)).collect();
        let lookup = Lookup::new(lookup.tensor.clone(), index).plus(&lookup.plus);
        entries.push((&l.name, lookup.as_index()));
    }
    let entry = |name: &Name| {
        let mut known = entries.iter();
        known.find_map(|(of, entry)| (*of == name).then(|| entry.clone()))
    };
    let read = loops.iter().any(|l| l.range.within.is_some());
    match entries.is_empty() {
        true => (read, s.clone()),
        false => (read, Arc::new(s.substitute(&entry))),
    }
}

/// An operator, as a call of `operator`.
pub(super) fn operator_text(operator: &Operator) -> String {
    let list = |texts: Vec<String>| format!("[{}]", texts.join(", "));
    let elems = operator.left.iter().map(|t| format!("\"{}\"", t.elem()));
    let values = operator.values.iter().map(value_text);
    let identity = operator.identity.iter().map(|n| number(*n));
    let operand = |letter: &str, tensors: &[Tensor]| -> String {
        let parts = tensors.iter().enumerate();
        parts
            .map(|(k, t)| format!("let {} = {letter}[{k}]; ", t.label()))
            .collect()
    };
    format!(
        "operator(\"{}\", {}, |a, b| {{ {}{}{} }}, {})",
        operator.name,
        list(elems.collect()),
        operand("a", &operator.left),
        operand("b", &operator.right),
        list(values.collect()),
        list(identity.collect()),
    )
}

/// An expression with its iterators.
fn value_text(value: &Expr) -> String {
    match operand(value) {
        (text, None) => text,
        (text, Some(list)) => format!("vat({text}, {list})"),
    }
}

/// Given ranges as arguments, after a comma.
struct Ranges {
    /// The ranges of the target's iterators.
    target: String,
    /// The ranges of the reduced iterators.
    sum: String,
}

/// The iterators whose ranges the assignment gives.
fn given(assignment: &Expr) -> Vec<Name> {
    let mut found = Vec::new();
    let mut open = vec![assignment];
    while let Some(e) = open.pop() {
        if let Node::Assign { within, .. } | Node::Reduce { within, .. } = e.node() {
            found.extend(within.iter().map(|(name, _)| name.clone()));
        }
        open.extend(e.children());
    }
    found
}

fn statement_text(
    s: &Arc<Stmt>,
    reduced: &[&str],
    fills: bool,
    elsewhere: Option<Constant>,
    ranges: &Ranges,
) -> String {
    let name = s.target.label();
    let to = if s.target.is_scalar() {
        "[]".to_owned()
    } else {
        Arg::Iters(s.index.clone()).script()
    };
    let extents = s.target.shape().to_string();
    let rest = match elsewhere {
        Some(value) => format!(", {extents}, {}", number(value)),
        // The extents limit iterators, which the value of an index does not.
        None if has_index(&s.value) && !s.target.is_scalar() => format!(", {extents}"),
        None => String::new(),
    };
    let rest = format!("{rest}{}", ranges.target);
    let value = operand(&s.value);
    let reduction = |reduction: Reduction| {
        let value = value_text(&s.value);
        let (name, over) = (reduction.name(), reduced.join(", "));
        format!("v{name}({value}, [{over}]{})", ranges.sum)
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
            // A sum of one term that is read is that term.
            if filled.is_some() && reduced.is_empty() {
                return match value {
                    (text, None) => format!("{name} = eq({text}, {to}{rest});"),
                    (text, Some(from)) => format!("{name} = eq({text}, {from} -> {to}{rest});"),
                };
            }
            if let Some(filled) = filled {
                return format!("{name} = eq({}, {to}{rest});", reduction(filled));
            }
            let adds = matches!(op, BinaryOp::Add | BinaryOp::Sub);
            let (text, list) = if adds && !reduced.is_empty() {
                (reduction(Reduction::Sum), "()".to_owned())
            } else {
                (value.0, value.1.unwrap_or_else(|| "()".to_owned()))
            };
            let own = if s.target.is_scalar() { "()" } else { &to };
            let op = op.name();
            match ranges.target.as_str() {
                "" => format!("{name} = {op}({name}, {text}, [{own}, {list}] -> {to});"),
                ranges => {
                    format!("{name} = eq(v{op}({name}, {text}, [{own}, {list}]), {to}{ranges});")
                }
            }
        }
    }
}

/// Whether the value of an index is part of an expression.
fn has_index(expr: &Expr) -> bool {
    let own = matches!(expr.node(), Node::Index(_));
    own || expr.children().into_iter().any(has_index)
}

/// An expression, and the iterators to pass with it.
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
        Node::Index(index) => (format!("vindex({index})"), None),
        Node::Binary {
            op, left, right, ..
        } => {
            let (operands, lists) = operands(&[left, right]);
            (format!("v{}({operands}, {lists})", op.name()), None)
        }
        Node::Apply { function, args, .. } => (applied(*function, args), None),
        // Built statements contain no other nodes.
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
        (Function::Cast(elem), [arg]) => match operand(arg) {
            (text, None) => format!("vcast({text}, \"{elem}\")"),
            (text, Some(list)) => format!("vcast({text}, \"{elem}\", {list})"),
        },
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

/// Operands, and the list of their iterator lists.
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

/// A number as a script writes it: scripts compute with `f64` and `i64`.
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
