//! Rules of users: a pattern, and what takes the place of what it matches.
//!
//! Each name matches any value. Under `sum(k: …)`, a value such as `a[k]` may depend on `k`, and a
//! value `a` may not. An iterator matches one or more iterators of a sum.

use super::language::{Algebra, Facts, Graph, Operation};
use crate::ir::{
    BinaryOp, Constant, Elem, Expr, Function, Index, Name, Node, Reduction, parse_expr,
};
use egg::{ConditionalApplier, ENodeOrVar, Id, Pattern, RecExpr, Rewrite, Subst, Var};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// A rule for equal values.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule(Arc<Sides>);

#[derive(Debug, PartialEq)]
struct Sides {
    texts: [String; 2],
    from: Expr,
    to: Expr,
    /// The iterators of all sums on the left.
    iterators: Vec<Name>,
    /// The iterators that each value must not depend on.
    apart: BTreeMap<Name, BTreeSet<Name>>,
}

/// Why two texts do not make a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRule {
    /// The side: 0 for the pattern, 1 for what takes its place.
    pub side: usize,
    /// The problem, in words that follow the side.
    pub what: String,
}

/// A rule with sums becomes at most so many rules over the sums of an expression.
const INSTANCES: usize = 256;

/// The pattern, `=>`, and what takes its place.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, to] = &self.0.texts;
        write!(f, "{from} => {to}")
    }
}

impl Rule {
    /// The rule that values of the form `from` equal values of the form `to`.
    ///
    /// # Errors
    /// A side that is not an expression, or that has other parts than arithmetic, functions and sums; a
    /// pattern that matches everything; values or iterators that only the right side has; a value
    /// that leaves a sum over its iterator.
    pub fn new(from: &str, to: &str) -> Result<Rule, NoRule> {
        let texts = [from, to].map(str::to_owned);
        let wrong = |side: usize| move |what: String| NoRule { side, what };
        let from = read(from).map_err(wrong(0))?;
        let to = read(to).map_err(wrong(1))?;
        let mut left = Scopes::default();
        left.add(&from, &mut Vec::new()).map_err(wrong(0))?;
        if matches!(from.node(), Node::Access { .. }) {
            let what = "matches every value: it needs an operation".to_owned();
            return Err(wrong(0)(what));
        }
        let mut both = left.clone();
        both.add(&to, &mut Vec::new()).map_err(wrong(1))?;
        let new = both
            .values
            .keys()
            .find(|name| !left.values.contains_key(*name));
        if let Some(name) = new {
            let what = format!("has the value {name}, which the first pattern does not have");
            return Err(wrong(1)(what));
        }
        let new = both
            .iterators
            .iter()
            .find(|name| !left.iterators.contains(name));
        if let Some(name) = new {
            let what = format!("sums over {name}, which the first pattern does not");
            return Err(wrong(1)(what));
        }
        Ok(Rule(Arc::new(Sides {
            texts,
            from,
            to,
            iterators: left.iterators,
            apart: both.values,
        })))
    }

    /// The rewrites for the sums that a graph has now.
    pub(super) fn rewrites(&self, facts: &mut Facts) -> Vec<Rewrite<Algebra, Facts>> {
        let mut found = Vec::new();
        let mut chosen = BTreeMap::new();
        self.choose(&sums(&self.0.from), &mut chosen, facts, &mut found);
        found
    }

    /// Chooses iterators of the graph for those of the remaining sums, in all ways.
    fn choose(
        &self,
        sums: &[&[Name]],
        chosen: &mut BTreeMap<Name, Vec<Name>>,
        facts: &mut Facts,
        found: &mut Vec<Rewrite<Algebra, Facts>>,
    ) {
        let Some((first, rest)) = sums.split_first() else {
            found.extend(self.rewrite(chosen, facts));
            return;
        };
        for over in facts.overs.clone() {
            // A sum without iterations loses a NaN or an infinity of its operand.
            if facts.points(&over) == 0.0 {
                continue;
            }
            for parts in partitions(&over, first.len()) {
                if found.len() >= INSTANCES {
                    return;
                }
                let mut all = chosen.clone();
                let fits = first.iter().zip(parts).all(|(name, part)| {
                    let own = all.entry(name.clone()).or_insert_with(|| part.clone());
                    *own == part
                });
                if fits {
                    self.choose(rest, &mut all, facts, found);
                }
            }
        }
    }

    fn rewrite(
        &self,
        chosen: &BTreeMap<Name, Vec<Name>>,
        facts: &mut Facts,
    ) -> Option<Rewrite<Algebra, Facts>> {
        let sides = &*self.0;
        let from = pattern(&sides.from, chosen, facts)?;
        let to = pattern(&sides.to, chosen, facts)?;
        let apart = sides.apart.iter().filter_map(|(name, iterators)| {
            let of = iterators.iter().filter_map(|iterator| chosen.get(iterator));
            let names: BTreeSet<Name> = of.flatten().cloned().collect();
            Some((variable(name)?, names))
        });
        let apart: Vec<(Var, BTreeSet<Name>)> = apart.collect();
        let condition = move |graph: &mut Graph, _: Id, found: &Subst| {
            apart.iter().all(|(value, names)| {
                let class = found.get(*value);
                class.is_none_or(|class| graph[*class].data.free.is_disjoint(names))
            })
        };
        let applier = ConditionalApplier {
            condition,
            applier: to,
        };
        let name = format!("{self} {chosen:?}");
        Rewrite::new(name, from, applier).ok()
    }
}

/// The values of a pattern.
#[derive(Clone, Default)]
struct Scopes {
    iterators: Vec<Name>,
    /// The iterators around each value that it must not depend on.
    values: BTreeMap<Name, BTreeSet<Name>>,
}

impl Scopes {
    fn add(&mut self, expr: &Expr, around: &mut Vec<Name>) -> Result<(), String> {
        match expr.node() {
            Node::Access { tensor, index } => {
                let Some(name) = tensor.name() else {
                    return Err("has a value without a name".to_owned());
                };
                let own = expr.iterators();
                let plain = match index {
                    Index::At(indices) => own.len() == indices.len(),
                    Index::Unset | Index::Forbidden => true,
                };
                if !plain {
                    return Err(format!("has an index of {name} that is not an iterator"));
                }
                if let Some(free) = own.iter().find(|own| !around.contains(own)) {
                    return Err(format!("has {name}[{free}] outside of a sum over {free}"));
                }
                let others = around.iter().filter(|name| !own.contains(name)).cloned();
                self.values.entry(name.clone()).or_default().extend(others);
                Ok(())
            }
            Node::Reduce {
                reduction: Reduction::Sum,
                over,
                within,
                body,
                ..
            } if within.is_empty() => {
                let new = over.iter().filter(|name| !self.iterators.contains(name));
                let new: Vec<Name> = new.cloned().collect();
                self.iterators.extend(new);
                around.extend(over.iter().cloned());
                self.add(body, around)?;
                around.truncate(around.len() - over.len());
                Ok(())
            }
            Node::Constant(_) | Node::Binary { .. } => {
                let mut parts = expr.children().into_iter();
                parts.try_for_each(|part| self.add(part, around))
            }
            Node::Apply { function, args, .. } if !matches!(function, Function::Cast(_)) => {
                args.iter().try_for_each(|part| self.add(part, around))
            }
            _ => Err(
                "may have arithmetic, functions and sums without ranges, and has \
                      something else"
                    .to_owned(),
            ),
        }
    }
}

/// The iterators of each sum, outer first.
fn sums(expr: &Expr) -> Vec<&[Name]> {
    let own = match expr.node() {
        Node::Reduce { over, .. } => Some(over.as_slice()),
        _ => None,
    };
    let inside = expr.children().into_iter().flat_map(sums);
    own.into_iter().chain(inside).collect()
}

/// All ways to part names into so many lists, none of which is empty.
fn partitions(names: &[Name], parts: usize) -> Vec<Vec<Vec<Name>>> {
    if names.len() < parts || names.len() > 8 {
        return Vec::new();
    }
    let mut ways = vec![vec![Vec::new(); parts]];
    for name in names {
        let with = |way: &Vec<Vec<Name>>, part: usize| {
            let mut way = way.clone();
            way[part].push(name.clone());
            way
        };
        let each = ways
            .iter()
            .flat_map(|way| (0..parts).map(move |part| with(way, part)));
        ways = each.collect();
    }
    ways.retain(|way| way.iter().all(|part| !part.is_empty()));
    ways
}

fn variable(name: &Name) -> Option<Var> {
    format!("?{name}").parse().ok()
}

/// A side as a pattern; `None` if its numbers do not exist in the type of the elements.
fn pattern(
    expr: &Expr,
    chosen: &BTreeMap<Name, Vec<Name>>,
    facts: &mut Facts,
) -> Option<Pattern<Algebra>> {
    let mut made = RecExpr::default();
    add(expr, chosen, facts, &mut made)?;
    Some(Pattern::new(made))
}

fn add(
    expr: &Expr,
    chosen: &BTreeMap<Name, Vec<Name>>,
    facts: &mut Facts,
    made: &mut RecExpr<ENodeOrVar<Algebra>>,
) -> Option<Id> {
    let mut parts = Vec::new();
    for part in expr.children() {
        parts.push(add(part, chosen, facts, made)?);
    }
    let node = match (expr.node(), parts.as_slice()) {
        (Node::Access { tensor, .. }, _) => {
            return Some(made.add(ENodeOrVar::Var(variable(tensor.name()?)?)));
        }
        (Node::Constant(value), _) => {
            let value = of_elem(*value, facts.elem)?;
            Algebra::Leaf(facts.item(&Expr::new(Node::Constant(value))))
        }
        (Node::Binary { op, .. }, [a, b]) => match op {
            BinaryOp::Add => Algebra::Add([*a, *b]),
            BinaryOp::Sub => Algebra::Sub([*a, *b]),
            BinaryOp::Mul => Algebra::Mul([*a, *b]),
            BinaryOp::Div if facts.elem.is_float() => Algebra::Div([*a, *b]),
            _ => Algebra::Call(facts.callee(Operation::Binary(*op)), parts),
        },
        (Node::Apply { function, .. }, parts) => match (function, parts) {
            (Function::Neg, [only]) => Algebra::Neg(*only),
            _ => Algebra::Call(facts.callee(Operation::Function(*function)), parts.to_vec()),
        },
        (Node::Reduce { over, .. }, [body]) => {
            let names = over.iter().filter_map(|name| chosen.get(name));
            let names = names.flatten().cloned().collect();
            Algebra::Sum(facts.over(names), *body)
        }
        _ => return None,
    };
    Some(made.add(ENodeOrVar::ENode(node)))
}

fn of_elem(value: Constant, elem: Elem) -> Option<Constant> {
    match value {
        Constant::F64(value) if elem.is_float() => Constant::of_float(elem, value),
        Constant::F64(value) if value.fract() == 0.0 && value.abs() < 1e15 => {
            Constant::of_integer(elem, value as i64)
        }
        _ => None,
    }
}

/// The expression of a side, whose values are tensors of the rank of their indices.
fn read(text: &str) -> Result<Expr, String> {
    let mut declared: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, rank) in values(text) {
        if *declared.entry(name).or_insert(rank) != rank {
            return Err(format!("has {name} with different numbers of indices"));
        }
    }
    let names: Vec<String> = declared
        .iter()
        .map(|(name, rank)| format!("{name}{}", "[2]".repeat(*rank)))
        .collect();
    let head = match names.as_slice() {
        [] => String::new(),
        names => format!("f64 {}\n", names.join(", ")),
    };
    parse_expr(&format!("{head}{text}"))
        .map_err(|error| format!("is not an expression: {}", error.what))
}

/// The values in a text: names that are neither functions nor iterators, with their numbers of
/// indices.
fn values(text: &str) -> Vec<(&str, usize)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut iterators: BTreeSet<&str> = BTreeSet::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let before = rest[..start].chars().next_back();
        let word = &rest[start..];
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let (name, after) = word.split_at(end);
        rest = after;
        if before.is_some_and(|c| c.is_ascii_digit() || c == '.') {
            continue;
        }
        let next = after.trim_start();
        if let Some(inside) = next.strip_prefix('(') {
            if let ("sum", Some((over, body))) = (name, inside.split_once(':')) {
                iterators.extend(over.split(',').map(str::trim));
                rest = body;
            }
        } else if !iterators.contains(name) {
            let mut after = next;
            let mut rank = 0;
            while let Some((_, others)) = after.strip_prefix('[').and_then(|t| t.split_once(']')) {
                after = others.trim_start();
                rank += 1;
            }
            rest = after;
            found.push((name, rank));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(from: &str, to: &str) -> String {
        let error = Rule::new(from, to).unwrap_err();
        format!("{} {}", error.side, error.what)
    }

    #[test]
    fn what_is_no_rule_is_said() {
        assert!(Rule::new("a*b + a*c", "a*(b + c)").is_ok());
        assert!(Rule::new("sum(k: a*b[k])", "a*sum(k: b[k])").is_ok());
        assert!(Rule::new("exp(a)*exp(b)", "exp(a + b)").is_ok());
        assert_eq!(
            wrong("a", "a"),
            "0 matches every value: it needs an operation"
        );
        assert_eq!(
            wrong("a + 0", "b"),
            "1 has the value b, which the first pattern does not have"
        );
        assert_eq!(
            wrong("sum(k: a*b[k])", "a*b[k]"),
            "1 has b[k] outside of a sum over k"
        );
        assert_eq!(
            wrong("2*a", "sum(k: a)"),
            "1 sums over k, which the first pattern does not"
        );
        assert!(wrong("a +", "a").starts_with("0 is not an expression"));
    }
}
