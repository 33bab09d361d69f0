//! Translates trees to expressions of an e-graph, and back.
//!
//! Iterators of sums are renamed by their ranges, so that sums that differ only in names are equal.
//! The iterators of a sum never have the name of an iterator around it.

use super::language::{Algebra, Callee, Facts, Item, NUMBERS, Operation, Over, number};
use crate::analysis::shape::{self, IteratorRange};
use crate::ir::{BinaryOp, Domain, Expr, Function, Name, Node, Range, Reduction, Shape};
use egg::{Id, RecExpr};
use std::collections::BTreeMap;

/// Translates a value to an expression of an e-graph.
pub(super) struct Reader<'r> {
    facts: Facts,
    /// The ranges of all iterators, under their original names.
    ranges: &'r [IteratorRange],
    /// The names in the original value.
    taken: Vec<Name>,
    /// Names by range, in the order in which sums take them.
    pool: Vec<((i64, i64), Name)>,
    made: RecExpr<Algebra>,
}

impl<'r> Reader<'r> {
    pub fn new(value: &Expr, ranges: &'r [IteratorRange]) -> Reader<'r> {
        let elem = value.elem();
        let own = ranges.iter().map(|r| (r.name.clone(), (r.low, r.high)));
        Reader {
            facts: Facts {
                items: NUMBERS.map(|value| number(elem, value)).to_vec(),
                overs: Vec::new(),
                operations: Vec::new(),
                ranges: own.collect(),
                elem,
            },
            ranges,
            taken: value.iterators(),
            pool: Vec::new(),
            made: RecExpr::default(),
        }
    }

    /// The facts about everything that was read; `None` if an iterator around an opaque expression
    /// might capture the iterators of a sum in it.
    pub fn facts(self) -> Option<Facts> {
        let is_hidden = |item: &Expr| {
            let free = item.iterators();
            let bound = item.all_names().into_iter().filter(|n| !free.contains(n));
            let mut bound = bound.filter(|n| self.pool.iter().any(|(_, known)| known == n));
            bound.next().is_some()
        };
        let any = self.facts.items.iter().any(is_hidden);
        (!any).then_some(self.facts)
    }

    /// Reads values whose iterators have these ranges from now on.
    pub fn over(&mut self, ranges: &'r [IteratorRange]) -> &mut Reader<'r> {
        self.ranges = ranges;
        self
    }

    /// The value as an expression of an e-graph, beside the values read before.
    pub fn read(&mut self, value: &Expr) -> RecExpr<Algebra> {
        self.add(value, &BTreeMap::new());
        self.made.clone()
    }

    /// Adds an expression with its bound iterators renamed.
    fn add(&mut self, expr: &Expr, names: &BTreeMap<Name, Name>) -> Id {
        match expr.node() {
            Node::Binary {
                op, left, right, ..
            } => {
                let operands = [self.add(left, names), self.add(right, names)];
                let node = match op {
                    BinaryOp::Add => Algebra::Add(operands),
                    BinaryOp::Sub => Algebra::Sub(operands),
                    BinaryOp::Mul => Algebra::Mul(operands),
                    // Integer division rounds toward zero, so the rules of fields do not hold for it.
                    BinaryOp::Div if self.facts.elem.is_float() => Algebra::Div(operands),
                    _ => {
                        let callee = self.facts.callee(Operation::Binary(*op));
                        Algebra::Call(callee, operands.to_vec())
                    }
                };
                self.made.add(node)
            }
            Node::Apply { function, args, .. } => {
                // The rules are those of one type: a conversion, or numbers that are compared, may have
                // another one.
                if args.iter().any(|arg| arg.elem() != self.facts.elem) {
                    return self.opaque(expr, names);
                }
                let args: Vec<Id> = args.iter().map(|arg| self.add(arg, names)).collect();
                match (function, args.as_slice()) {
                    (Function::Neg, [only]) => self.made.add(Algebra::Neg(*only)),
                    _ => {
                        let callee = self.facts.callee(Operation::Function(*function));
                        self.made.add(Algebra::Call(callee, args))
                    }
                }
            }
            Node::Reduce {
                reduction: Reduction::Sum,
                over,
                within,
                body,
                ..
            } => {
                let Some(ranges) = constant_ranges(self.ranges, over, within) else {
                    return self.opaque(expr, names);
                };
                let mut names = names.clone();
                let mut own = Vec::new();
                for (name, range) in over.iter().zip(ranges) {
                    let mut used = body.all_names();
                    used.retain(|n| n != name);
                    used.extend(names.values().chain(&own).cloned());
                    let new = self.pooled(name, range, &used);
                    own.push(new.clone());
                    names.insert(name.clone(), new);
                }
                let of = self.add(body, &names);
                let over = self.facts.over(own);
                self.made.add(Algebra::Sum(over, of))
            }
            _ => self.opaque(expr, names),
        }
    }

    fn opaque(&mut self, expr: &Expr, names: &BTreeMap<Name, Name>) -> Id {
        let item = self.facts.item(&renamed(expr, names));
        self.made.add(Algebra::Leaf(item))
    }

    /// The first name for a range that is not used around the sum; a new one is derived from the
    /// iterator's own name.
    fn pooled(&mut self, name: &Name, range: (i64, i64), used: &[Name]) -> Name {
        let fits = |(of, known): &&((i64, i64), Name)| *of == range && !used.contains(known);
        if let Some((_, known)) = self.pool.iter().find(fits) {
            return known.clone();
        }
        let numbered = (2..).map(|k: u32| name.derived(k));
        let mut free = [name.clone()].into_iter().chain(numbered);
        let is_free = |n: &Name| {
            !self.taken.contains(n)
                && !used.contains(n)
                && self.pool.iter().all(|(_, known)| known != n)
        };
        let new = free.find(is_free).unwrap_or_else(|| name.clone());
        self.facts.ranges.insert(new.clone(), range);
        self.pool.push((range, new.clone()));
        new
    }
}

/// The constant ranges of a reduction's iterators; `None` if one is not constant.
pub(super) fn constant_ranges(
    ranges: &[IteratorRange],
    over: &[Name],
    within: &Domain,
) -> Option<Vec<(i64, i64)>> {
    let of = |name: &Name| {
        let range = ranges.iter().find(|r| r.name == *name)?;
        let given = within.get(name).is_none_or(|r| r.as_constant().is_some());
        let is_constant = given && range.range().as_constant().is_some();
        is_constant.then_some((range.low, range.high))
    };
    over.iter().map(of).collect()
}

fn renamed(expr: &Expr, names: &BTreeMap<Name, Name>) -> Expr {
    if names.iter().all(|(from, to)| from == to) {
        expr.clone()
    } else {
        expr.rename_iterators(&|name| names.get(name).cloned())
    }
}

/// Translates an expression back to a tree; `ranges` says whether sums state their ranges.
pub(super) fn written(expr: &RecExpr<Algebra>, facts: &Facts, ranges: bool) -> Expr {
    let nodes = expr.as_ref();
    match nodes.len().checked_sub(1) {
        Some(last) => tree(nodes, last, facts, ranges, &BTreeMap::new()),
        None => number(facts.elem, 0),
    }
}

fn tree(
    nodes: &[Algebra],
    at: usize,
    facts: &Facts,
    ranges: bool,
    names: &BTreeMap<Name, Name>,
) -> Expr {
    let of = |id: &Id| tree(nodes, usize::from(*id), facts, ranges, names);
    let binary = |op: BinaryOp, [left, right]: &[Id; 2]| {
        Expr::new(Node::Binary {
            op,
            shape: Shape::of_extents([]),
            left: of(left),
            right: of(right),
        })
    };
    match &nodes[at] {
        Algebra::Leaf(Item(k)) => renamed(&facts.items[*k], names),
        Algebra::Add(operands) => binary(BinaryOp::Add, operands),
        Algebra::Sub(operands) => binary(BinaryOp::Sub, operands),
        Algebra::Mul(operands) => binary(BinaryOp::Mul, operands),
        Algebra::Div(operands) => binary(BinaryOp::Div, operands),
        Algebra::Neg(operand) => Expr::new(Node::Apply {
            function: Function::Neg,
            shape: Shape::of_extents([]),
            args: vec![of(operand)],
        }),
        Algebra::Call(Callee(k), args) => match (facts.operations[*k], args.as_slice()) {
            (Operation::Binary(op), [left, right]) => binary(op, &[*left, *right]),
            (Operation::Binary(_), _) => number(facts.elem, 0),
            (Operation::Function(function), args) => Expr::new(Node::Apply {
                function,
                shape: Shape::of_extents([]),
                args: args.iter().map(of).collect(),
            }),
        },
        Algebra::Sum(Over(k), body) => {
            let mut names = names.clone();
            let mut over = Vec::new();
            let mut within = Vec::new();
            for name in &facts.overs[*k] {
                // A name from around the sum would be hidden.
                let is_taken = |n: &Name| names.contains_key(n) || names.values().any(|v| v == n);
                let numbered = (2..).map(|k: u32| name.derived(k));
                let mut all = [name.clone()].into_iter().chain(numbered);
                let new = all.find(|n| !is_taken(n)).unwrap_or_else(|| name.clone());
                if let Some((low, high)) = facts.ranges.get(name) {
                    within.push((new.clone(), Range::constant(*low, *high)));
                }
                names.insert(name.clone(), new.clone());
                over.push(new);
            }
            let within = if ranges {
                Domain::new(within)
            } else {
                Domain::default()
            };
            Expr::new(Node::Reduce {
                reduction: Reduction::Sum,
                over,
                within,
                shape: Shape::of_extents([]),
                body: tree(nodes, usize::from(*body), facts, ranges, &names),
            })
        }
    }
}

/// Whether the iterators of all sums have the ranges that `given` says.
pub(super) fn has_ranges_of(assignment: &Expr, given: &Expr) -> bool {
    let Ok(ranges) = shape::all_ranges(assignment) else {
        return false;
    };
    let mut open = vec![given];
    while let Some(expr) = open.pop() {
        open.extend(expr.children());
        let Node::Reduce { over, within, .. } = expr.node() else {
            continue;
        };
        let is_same = |name: &Name| {
            let found = ranges.iter().find(|r| r.name == *name);
            found.is_some_and(|r| within.get(name) == Some(&r.range()))
        };
        if !within.is_empty() && !over.iter().all(is_same) {
            return false;
        }
    }
    true
}
