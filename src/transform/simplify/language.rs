//! The language of the e-graph, the facts known of its classes, and its cost function.

use crate::ir::{Constant, Elem, Expr, Name, Node};
use egg::{Analysis, CostFunction, DidMerge, EGraph, Id, Language, RecExpr, define_language};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

define_language! {
    /// Element-wise arithmetic, sums, and opaque expressions.
    pub(super) enum Algebra {
        Leaf(Item),
        "+" = Add([Id; 2]),
        "-" = Sub([Id; 2]),
        "*" = Mul([Id; 2]),
        "/" = Div([Id; 2]),
        "neg" = Neg(Id),
        "pow" = Pow([Id; 2]),
        Sum(Over, Id),
    }
}

/// The number of an opaque expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Item(pub usize);

/// The number of a list of iterators that a sum runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Over(pub usize);

/// Items that rules name: 0, 1 and 2.
pub(super) const NUMBERS: [i8; 3] = [0, 1, 2];

macro_rules! numbered {
    ($type:ident, $sign:literal) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $sign, self.0)
            }
        }
        impl FromStr for $type {
            type Err = ();

            fn from_str(text: &str) -> Result<$type, ()> {
                let number = text.strip_prefix($sign).ok_or(())?;
                number.parse().map($type).map_err(|_| ())
            }
        }
    };
}
numbered!(Item, "#");
numbered!(Over, "sum");

/// The opaque expressions, iterators and ranges that the numbers in an expression refer to.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// The opaque expressions.
    pub items: Vec<Expr>,
    /// The lists of iterators, each in alphabetical order.
    pub overs: Vec<Vec<Name>>,
    /// The range of each iterator.
    pub ranges: BTreeMap<Name, (i64, i64)>,
    /// The type of the elements.
    pub elem: Elem,
}

impl Facts {
    /// The number of an opaque expression; a new one if it is not known.
    pub fn item(&mut self, expr: &Expr) -> Item {
        let found = self.items.iter().position(|item| item == expr);
        Item(found.unwrap_or_else(|| {
            self.items.push(expr.clone());
            self.items.len() - 1
        }))
    }

    /// The number of a list of iterators; a new one if it is not known.
    pub fn over(&mut self, mut names: Vec<Name>) -> Over {
        names.sort();
        let found = self.overs.iter().position(|over| *over == names);
        Over(found.unwrap_or_else(|| {
            self.overs.push(names);
            self.overs.len() - 1
        }))
    }

    /// The number of points over which iterators run together.
    pub fn points<'n>(&self, names: impl IntoIterator<Item = &'n Name>) -> f64 {
        let extent = |name: &Name| {
            let range = self.ranges.get(name);
            range.map_or(1.0, |(low, high)| (high - low).max(0) as f64)
        };
        names.into_iter().map(extent).product()
    }
}

/// Facts about a class of equal expressions.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// The iterators that their value depends on.
    pub free: BTreeSet<Name>,
}

pub(super) type Graph = EGraph<Algebra, Facts>;

/// The iterators that the value of a node depends on.
fn free(graph: &Graph, node: &Algebra) -> BTreeSet<Name> {
    let facts = &graph.analysis;
    let mut free: BTreeSet<Name> = match node {
        Algebra::Leaf(Item(k)) => facts
            .items
            .get(*k)
            .map_or_else(BTreeSet::new, |item| item.iterators().into_iter().collect()),
        _ => BTreeSet::new(),
    };
    for child in node.children() {
        free.extend(graph[*child].data.free.iter().cloned());
    }
    if let Algebra::Sum(Over(k), _) = node {
        let over = facts.overs.get(*k).map_or(&[][..], Vec::as_slice);
        free.retain(|name| !over.contains(name));
    }
    free
}

impl Analysis<Algebra> for Facts {
    type Data = Known;

    fn make(graph: &mut Graph, node: &Algebra, _: Id) -> Known {
        Known {
            free: free(graph, node),
        }
    }

    fn merge(&mut self, a: &mut Known, b: Known) -> DidMerge {
        // A value depends only on iterators that all of its equal forms depend on.
        let (of_a, of_b) = (a.free.len(), b.free.len());
        a.free.retain(|name| b.free.contains(name));
        DidMerge(a.free.len() != of_a, a.free.len() != of_b)
    }
}

/// Counts operations.
pub(super) struct Count<'g>(pub &'g Graph);

/// The cost of an expression's values.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    /// Operations of inner sums, which are computed before.
    sums: f64,
    /// Operations at each point.
    each: f64,
    /// The number of points that have a value.
    points: f64,
    /// Elements of all sums.
    memory: f64,
    /// The number of nodes.
    size: f64,
}

impl Cost {
    fn key(&self) -> [f64; 3] {
        let all = self.sums + self.each * self.points;
        [all, self.memory, self.size]
    }
}

impl PartialEq for Cost {
    fn eq(&self, other: &Cost) -> bool {
        self.key() == other.key()
    }
}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Cost) -> Option<Ordering> {
        self.key().partial_cmp(&other.key())
    }
}

impl Count<'_> {
    pub fn of(graph: &Graph, expr: &RecExpr<Algebra>) -> Cost {
        Count(graph).cost_rec_in(expr)
    }

    fn cost_rec_in(&self, expr: &RecExpr<Algebra>) -> Cost {
        let mut costs: Vec<(Cost, BTreeSet<Name>)> = Vec::new();
        for node in expr.as_ref() {
            let mut names = match node {
                Algebra::Leaf(_) => free(self.0, node),
                _ => BTreeSet::new(),
            };
            for child in node.children() {
                names.extend(costs[usize::from(*child)].1.iter().cloned());
            }
            let cost = self.count(node, &names, |id| costs[usize::from(id)].0.clone());
            if let Algebra::Sum(Over(k), _) = node {
                names.retain(|name| !self.0.analysis.overs[*k].contains(name));
            }
            costs.push((cost, names));
        }
        let last = costs.pop().map(|(cost, _)| cost);
        last.unwrap_or(Cost {
            sums: 0.0,
            each: 0.0,
            points: 1.0,
            memory: 0.0,
            size: 0.0,
        })
    }

    /// The cost of a node; `names` are the iterators of its operands.
    fn count(&self, node: &Algebra, names: &BTreeSet<Name>, of: impl Fn(Id) -> Cost) -> Cost {
        let facts = &self.0.analysis;
        let children: Vec<Cost> = node.children().iter().map(|id| of(*id)).collect();
        let total = |of: fn(&Cost) -> f64| -> f64 { children.iter().map(of).sum() };
        let (sums, each) = (total(|c| c.sums), total(|c| c.each));
        let (memory, size) = (total(|c| c.memory), total(|c| c.size) + 1.0);
        let points = facts.points(names);
        match node {
            Algebra::Sum(Over(k), _) => {
                let over = facts.overs.get(*k).map_or(&[][..], Vec::as_slice);
                let idle = over.iter().filter(|name| !names.contains(*name));
                let own = names.iter().filter(|name| !over.contains(name));
                let elements = facts.points(own);
                Cost {
                    sums: sums + (each + 1.0) * points * facts.points(idle),
                    each: 0.0,
                    points: elements,
                    memory: memory + elements,
                    size,
                }
            }
            Algebra::Leaf(_) => Cost {
                sums,
                each,
                points,
                memory,
                size,
            },
            _ => Cost {
                sums,
                each: each + 1.0,
                points,
                memory,
                size,
            },
        }
    }
}

impl CostFunction<Algebra> for Count<'_> {
    type Cost = Cost;

    fn cost<C>(&mut self, node: &Algebra, mut costs: C) -> Cost
    where
        C: FnMut(Id) -> Cost,
    {
        let mut names = match node {
            Algebra::Leaf(_) => free(self.0, node),
            _ => BTreeSet::new(),
        };
        let mut known: BTreeMap<Id, Cost> = BTreeMap::new();
        for child in node.children() {
            names.extend(self.0[*child].data.free.iter().cloned());
            known.insert(*child, costs(*child));
        }
        self.count(node, &names, |id| known[&id].clone())
    }
}

/// The opaque expression for one of [`NUMBERS`].
pub(super) fn number(elem: Elem, value: i8) -> Expr {
    Expr::new(Node::Constant(Constant::small(elem, value)))
}
