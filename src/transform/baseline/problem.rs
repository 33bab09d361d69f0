//! What is to be scheduled: statements, and which of their instances have to stay in order.

use super::error::NoSchedule;
use crate::analysis::position;
use crate::ir::{Affine, Index, Loop, Nest, Stmt, Tensor, Tree};
use crate::legality;
use crate::poly::{Condition, Error, Linear, Map, Piece, Relation};
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

/// An affine function of the iterators around a statement, as they were built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// One for each iterator, the outermost first.
    pub coefficients: Vec<i64>,
    /// What is added.
    pub constant: i64,
}

/// An access of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// The tensor.
    pub(super) tensor: String,
    /// For each dimension, how far a step of each iterator moves.
    pub(super) moves: Vec<Vec<i64>>,
    /// What is added in each dimension.
    offsets: Vec<i64>,
}

impl Access {
    /// Whether another one is to the same elements for the same values of the iterators that both
    /// move with, whatever these are.
    pub(super) fn is_like(&self, other: &Access) -> bool {
        self.tensor == other.tensor && self.offsets == other.offsets
    }
}

/// An initialization of a tensor before all loops: a statement for each of its elements.
#[derive(Debug)]
pub(super) struct Init {
    /// The number of the statement that it stands before.
    pub(super) before: usize,
    /// The number of dimensions.
    pub(super) depth: usize,
    /// The tensor.
    pub(super) target: String,
}

/// A statement of the definition.
#[derive(Debug)]
pub(super) struct Statement {
    /// The number of loops around it.
    pub(super) depth: usize,
    /// The target's first, and an update's twice.
    pub(super) accesses: Vec<Access>,
    /// Whether it may not share loops with the statement before it: its initialization stands
    /// between the two and cannot move.
    pub(super) begins_anew: bool,
    /// Whether an initialization stands before it.
    pub(super) fills: bool,
    /// The tensor that it writes.
    pub(super) target: String,
}

/// Pairs of instances, without alternatives, of which one has to come first.
#[derive(Clone)]
pub(super) struct Dependence {
    /// The statement of the earlier instances.
    pub(super) first: usize,
    /// The statement of the later ones.
    pub(super) later: usize,
    pairs: Map,
    /// Found when they are asked for, since most of what loops leave is not scheduled further.
    conditions: OnceCell<Rc<[Condition]>>,
}

/// All of it.
pub(super) struct Problem {
    pub(super) statements: Vec<Statement>,
    /// In the order in which they stand.
    pub(super) inits: Vec<Init>,
    pub(super) dependences: Vec<Dependence>,
    /// Pairs of reads of one element, if they are asked for: what they have between them is to be
    /// short, in whatever order they are.
    pub(super) inputs: Vec<Dependence>,
    /// The number of parameters of all conditions.
    pub(super) parameters: usize,
}

impl Problem {
    /// The problem of a nest as it was built, with pairs of reads or without.
    pub(super) fn of(nest: &Nest, rar: bool) -> Result<Problem, NoSchedule> {
        let (statements, inits) = statements(nest)?;
        let nests = std::slice::from_ref(nest);
        let dependences = all_parts(legality::dependences(nests)?)?;
        let inputs = if rar {
            all_parts(legality::inputs(nests)?)?
        } else {
            Vec::new()
        };
        let mut parameters = 0;
        for d in dependences.iter().chain(&inputs) {
            let Some(condition) = d.conditions()?.first() else {
                continue;
            };
            let iterators = statements[d.first].depth + statements[d.later].depth;
            let columns = condition.coefficients.len();
            parameters = parameters.max(columns.saturating_sub(iterators + 1));
        }
        Ok(Problem {
            statements,
            inits,
            dependences,
            inputs,
            parameters,
        })
    }

    /// What a statement is called in errors.
    pub(super) fn name(&self, statement: usize) -> String {
        let target = &self.statements[statement].target;
        format!("statement {} (of {target})", statement + 1)
    }
}

fn all_parts(all: Vec<legality::ParametricDependence>) -> Result<Vec<Dependence>, Error> {
    let mut found = Vec::new();
    for asked in all {
        found.extend(parts(asked.first, asked.later, &asked.pairs)?);
    }
    Ok(found)
}

/// The alternatives of a relation, one by one.
fn parts(first: usize, later: usize, pairs: &Map) -> Result<Vec<Dependence>, Error> {
    let mut found = Vec::new();
    for pairs in pairs.parts()? {
        if pairs.is_empty()? {
            continue;
        }
        found.push(Dependence {
            first,
            later,
            pairs,
            conditions: OnceCell::new(),
        });
    }
    Ok(found)
}

impl Dependence {
    /// What holds of affine expressions that are nowhere negative: of the constant, the coefficients
    /// of the parameters, of the first statement's iterators, and of the later one's.
    pub(super) fn conditions(&self) -> Result<&[Condition], Error> {
        if let Some(known) = self.conditions.get() {
            return Ok(known);
        }
        let found = self.pairs.wrap()?.nowhere_negative()?;
        Ok(self.conditions.get_or_init(|| found.into()))
    }

    /// The pairs between which the difference of the later one's value and the first one's
    /// compares like this with a number.
    fn limited(
        &self,
        (first, later): (&Row, &Row),
        relation: Relation,
        number: i64,
    ) -> Result<Map, Error> {
        let names = |prefix: &str, row: &Row| -> Vec<String> {
            let count = row.coefficients.len();
            (0..count).map(|k| format!("{prefix}{k}")).collect()
        };
        let (x, y) = (names("x", first), names("y", later));
        let terms = |row: &Row, names: &[String], sign: i64| -> Vec<(i64, String)> {
            let terms = row.coefficients.iter().zip(names);
            let terms = terms.filter(|(c, _)| **c != 0);
            terms.map(|(c, name)| (sign * c, name.clone())).collect()
        };
        let difference = [terms(later, &y, 1), terms(first, &x, -1)].concat();
        let difference = Linear::new(difference, later.constant - first.constant);
        let (from, to) = self.pairs.tuples();
        let values = y.iter().map(|name| Linear::from(name.as_str()));
        let piece = Piece::set(&from.unwrap_or_default(), x.iter().map(String::as_str))
            .to(&to.unwrap_or_default(), values)
            .constrain(number, relation, difference);
        self.pairs.intersect(&Map::new(&[piece])?)
    }

    /// What is left of it in an iteration of a loop, in which both have the same value.
    pub(super) fn within(&self, rows: (&Row, &Row)) -> Result<Vec<Dependence>, Error> {
        let left = self.limited(rows, Relation::Equal, 0)?;
        parts(self.first, self.later, &left)
    }

    /// Whether a loop with these values runs later instances in earlier iterations.
    pub(super) fn is_reversed(&self, rows: (&Row, &Row)) -> Result<bool, Error> {
        let minus = |row: &Row| Row {
            coefficients: row.coefficients.iter().map(|c| -c).collect(),
            constant: -row.constant,
        };
        let (first, later) = (minus(rows.0), minus(rows.1));
        // `1 <= -difference`
        let reversed = self.limited((&first, &later), Relation::LessOrEqual, 1)?;
        Ok(!reversed.is_empty()?)
    }

    /// Whether a loop with these values, none of which is less later, runs later instances in
    /// later iterations.
    pub(super) fn is_carried(&self, rows: (&Row, &Row)) -> Result<bool, Error> {
        let carried = self.limited(rows, Relation::LessOrEqual, 1)?;
        // `1 <= difference`
        Ok(!carried.is_empty()?)
    }
}

fn statements(nest: &Nest) -> Result<(Vec<Statement>, Vec<Init>), NoSchedule> {
    let filled = fills(nest.trees());
    let mut statements: Vec<Statement> = Vec::new();
    let mut inits: Vec<Init> = Vec::new();
    let mut touched: Vec<String> = Vec::new();
    let mut fill: Option<String> = None;
    let mut known = true;
    let (mut repeated, mut local): (Option<String>, Option<String>) = (None, None);
    let mut steps: Option<NoSchedule> = None;
    position::walk(nest.trees(), &mut |_, loops, tree| match tree {
        Tree::Fill(f) => {
            let target = f.target.label().to_owned();
            if loops.first().is_none_or(|l| sets_alone(&l.body)) {
                known &= fill.is_none()
            } else {
                repeated = Some(target.clone())
            }
            inits.push(Init {
                before: statements.len(),
                depth: f.target.shape().extents().len(),
                target: target.clone(),
            });
            fill = Some(target);
        }
        Tree::Stmt(stmt) => {
            known &= is_plain(stmt, statements.len(), loops);
            steps = steps.take().or_else(|| {
                let l = loops.iter().find(|l| l.range.step != 1)?;
                let (name, step) = (l.name.clone(), l.range.step);
                Some(NoSchedule::Steps { name, step })
            });
            let begins = fill.take();
            let begins_anew = begins.as_ref().is_some_and(|name| {
                touched.contains(name) || filled.iter().filter(|f| *f == name).count() > 1
            });
            let moves = |a: &Affine| loops.iter().map(|l| a.coefficient(&l.name)).collect();
            let access = |tensor: &Tensor, index: &[Affine]| Access {
                tensor: tensor.label().to_owned(),
                moves: index.iter().map(moves).collect(),
                offsets: index.iter().map(Affine::offset).collect(),
            };
            let mut accesses = vec![access(&stmt.target, &stmt.index)];
            if stmt.update.is_some() {
                accesses.push(access(&stmt.target, &stmt.index));
            }
            touched.push(stmt.target.label().to_owned());
            stmt.value.for_each_access(&mut |tensor, index| {
                touched.push(tensor.label().to_owned());
                accesses.push(match index {
                    Index::At(index) => access(tensor, index),
                    _ => access(tensor, &[]),
                });
            });
            statements.push(Statement {
                depth: loops.len(),
                accesses,
                begins_anew,
                fills: begins.is_some(),
                target: stmt.target.label().to_owned(),
            });
        }
        Tree::Local(t) => local = Some(t.label().to_owned()),
        Tree::Loop(_) => {}
    });
    if let Some(tensor) = local {
        return Err(NoSchedule::Local { tensor });
    }
    if let Some(tensor) = repeated {
        return Err(NoSchedule::Initialized { tensor });
    }
    if let Some(refused) = steps {
        return Err(refused);
    }
    if known && statements.len() == nest.definition().len() {
        Ok((statements, inits))
    } else {
        Err(NoSchedule::Unknown)
    }
}

/// Whether the trees in a loop set elements one by one, and do nothing else.
fn sets_alone(body: &[Tree]) -> bool {
    match body {
        [Tree::Loop(l)] => sets_alone(&l.body),
        [Tree::Fill(_)] => true,
        _ => false,
    }
}

/// Whether a statement executes assignment number `k`, and the loops around it are those that its
/// instances are told by.
fn is_plain(stmt: &Stmt, k: usize, loops: &[&Arc<Loop>]) -> bool {
    let Some(origin) = &stmt.origin else {
        return false;
    };
    let point = origin.point.iter().map(Affine::as_iterator);
    origin.assignment == k && point.eq(loops.iter().map(|l| Some(&l.name)))
}

/// The tensors that are initialized, as often as they are.
fn fills(trees: &[Tree]) -> Vec<&str> {
    let fills = trees.iter().filter_map(|tree| match tree {
        Tree::Fill(f) => Some(f.target.label()),
        _ => None,
    });
    fills.collect()
}
