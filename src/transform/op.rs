//! What an operation is: a name, parameters, documentation and a function on values.
//!
//! Scripts, help, documentation tests and replay all read the table in this room; none of them
//! knows a single operation by itself.

use super::failure::Error;
use crate::analysis::verify::verify;
use crate::ir::{Arg, Expr, Nest, Site, Step};
use std::sync::Arc;

/// An operation.
pub struct Op {
    /// The name in scripts.
    pub name: &'static str,
    /// The parameters; the first one is the receiver in method form.
    pub params: &'static [Param],
    /// What it returns.
    pub returns: Returns,
    /// The text of the operation's file, whose header is its documentation.
    pub file: &'static str,
    /// The operation on arguments that match `params`, optional ones at the end left out or not.
    pub call: fn(&[Arg]) -> Result<Value, Error>,
}

/// A parameter.
#[derive(Debug, PartialEq, Eq)]
pub struct Param {
    /// The name in signatures and messages.
    pub name: &'static str,
    /// What it accepts.
    pub kind: Kind,
    /// Whether it may be left out; only parameters at the end may.
    pub optional: bool,
}

impl Param {
    /// A parameter that must be given.
    pub const fn new(name: &'static str, kind: Kind) -> Param {
        Param {
            name,
            kind,
            optional: false,
        }
    }

    /// A parameter that may be left out.
    pub const fn optional(name: &'static str, kind: Kind) -> Param {
        Param {
            name,
            kind,
            optional: true,
        }
    }
}

/// What a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A loop nest.
    Nest,
    /// A tensor expression.
    Expr,
    /// A list of tensor expressions.
    Exprs,
    /// A tensor by its name, or a tensor expression that has one. Local tensors have only names.
    Tensor,
    /// A tensor expression, or a number.
    Operand,
    /// A number.
    Number,
    /// A comparison: `"<"`, `"<="`, `">"`, `">="`, `"=="`, `"!="`.
    Comparison,
    /// A loop, by level (counted from 1) or by name.
    Loop,
    /// A list of loops such as `["k", "i"]`.
    Loops,
    /// A loop, or a list of loops.
    LoopOrLoops,
    /// One of these words; the operation itself refuses others.
    Word(&'static [&'static str]),
    /// An integer.
    Int,
    /// A list of extents such as `[250, 250]`.
    Extents,
    /// An element type: `"f64"`, `"f32"`, `"i32"`, `"i64"`.
    Elem,
    /// An index expression such as `2*i + j`, as a list of one.
    Index,
    /// An index expression such as `8*k + 8`, or its text.
    Place,
    /// A list of iterators such as `[i, j]`.
    Iters,
    /// A list of iterators such as `[i, j]`, or of dimensions, counted from 1, such as `[1, 2]`.
    Over,
    /// Two lists of iterators, `[[i, k], [k, j]]`, each of which may be absent.
    IterLists,
    /// `[i, j] -> [j, i]`, or `[j, i]` alone: TeML's `iters? -> iters`.
    Arrow,
    /// `[[i, k], [k, j]] -> [i, j]`: TeML's `[iters?, iters?] -> iters`.
    ListsArrow,
    /// Two dimensions, counted from 1, such as `[3, 1]`, or a list of such pairs.
    Dimensions,
    /// All dimensions of a tensor in some order, counted from 1, such as `[2, 1]`.
    Order,
    /// Steps on the loop that the parameter before names: a function of a nest, or a path.
    Steps,
    /// Options by name, such as `#{collapse: 2}`: integers and words.
    Options(&'static [Param]),
    /// Integers by the names of loops, such as `#{t: 2}`.
    Factors,
    /// Ranges of iterators, such as `#{i: 1..9, j: 0..i + 1}`. The last parameter of an operation;
    /// optional ones before it may be left out all the same.
    Ranges,
    /// A text.
    Text,
}

/// What an operation returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// A loop nest.
    Nest,
    /// A tensor expression.
    Expr,
}

/// A result.
#[derive(Clone, Debug)]
pub enum Value {
    /// A loop nest.
    Nest(Nest),
    /// A tensor expression.
    Expr(Expr),
}

impl Op {
    /// The signature, as messages and help show it: `stripmine(nest, loop, factor) -> nest`.
    pub fn signature(&self) -> String {
        let params: Vec<String> = self
            .params
            .iter()
            .map(|p| match p.optional {
                true => format!("{}?", p.name),
                false => p.name.to_owned(),
            })
            .collect();
        let returns = match self.returns {
            Returns::Nest => "nest",
            Returns::Expr => "tensor",
        };
        format!("{}({}) -> {returns}", self.name, params.join(", "))
    }

    /// The header of the operation's file, which is its contract: one sentence, before and
    /// after, legality, refusals, source.
    pub fn doc(&self) -> String {
        let header = self.file.lines().map_while(|line| line.strip_prefix("//!"));
        let lines: Vec<&str> = header
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        lines.join("\n")
    }

    /// The number of arguments that it takes at least.
    pub fn required(&self) -> usize {
        self.params.iter().filter(|p| !p.optional).count()
    }
}

/// Applies `op`: the one door through which scripts, tuner and baseline transform.
///
/// `site` says where a script asked for it. The step is recorded in the path of a resulting
/// nest, new loops are born of it, and the result is verified.
///
/// # Errors
/// The operation's own refusals and mistakes.
pub fn apply(op: &'static Op, args: &[Arg], site: Option<Site>) -> Result<Value, Error> {
    applied(op, args, &|op, args| {
        let args = args.iter().map(Arg::within_limits).collect();
        let site = site.clone();
        Arc::new(Step { op, args, site })
    })
}

/// Applies `op` as a step that was taken before: what it makes has the births that it had then.
///
/// # Errors
/// As [`apply`].
pub fn apply_again(op: &'static Op, args: &[Arg], step: &Arc<Step>) -> Result<Value, Error> {
    applied(op, args, &|_, _| step.clone())
}

fn applied(
    op: &'static Op,
    args: &[Arg],
    step: &dyn Fn(&'static str, &[Arg]) -> Arc<Step>,
) -> Result<Value, Error> {
    let value = (op.call)(args).map_err(|e| e.in_op(op.name))?;
    let Value::Nest(nest) = value else {
        return Ok(value);
    };
    if let Err(invalid) = verify(&nest) {
        let culprits = invalid.culprits();
        let has_all = |nest: &&Nest| culprits.iter().all(|name| nest.has_loop(name));
        let given = args.iter().filter_map(Arg::as_nest).find(has_all);
        let error = Error::new(invalid.into()).in_op(op.name);
        return Err(error.on(given.unwrap_or(&nest), culprits));
    }
    let receiver = usize::from(matches!(args, [Arg::Nest(_), ..]));
    let before: Vec<&Nest> = args.iter().filter_map(Arg::as_nest).collect();
    let step = step(op.name, &args[receiver..]);
    Ok(Value::Nest(nest.made_by(&step, &before)))
}
