//! The scheduling problem: statements, and the dependences between their instances.

use super::error::NoSchedule;
use crate::analysis::position;
use crate::ir::{Affine, Index, Loop, Nest, Stmt, Tensor, Tree};
use crate::legality;
use crate::poly::{Condition, Error, Linear, Map, Piece, Relation};
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

/// An affine function of the original iterators around a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// One for each iterator, outermost first.
    pub coefficients: Vec<i64>,
    /// The constant term.
    pub constant: i64,
}

/// An access of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) tensor: String,
    /// For each dimension, the coefficients of the iterators.
    pub(super) moves: Vec<Vec<i64>>,
    /// For each dimension, the constant term.
    offsets: Vec<i64>,
}

impl Access {
    /// Whether both accesses have the same tensor and constant terms. Then equal values of shared
    /// iterators give the same element.
    pub(super) fn is_like(&self, other: &Access) -> bool {
        self.tensor == other.tensor && self.offsets == other.offsets
    }
}

/// An initialization of a tensor before all loops: a statement for each of its elements.
#[derive(Debug)]
pub(super) struct Init {
    /// The number of the statement that follows it.
    pub(super) before: usize,
    /// The number of dimensions.
    pub(super) depth: usize,
    pub(super) target: String,
}

/// A statement of the definition.
#[derive(Debug)]
pub(super) struct Statement {
    /// The number of loops around it.
    pub(super) depth: usize,
    /// The target's access comes first; an update has it twice.
    pub(super) accesses: Vec<Access>,
    /// Whether it may not share loops with the previous statement: an initialization between the
    /// two cannot move.
    pub(super) begins_anew: bool,
    /// Whether an initialization precedes it.
    pub(super) fills: bool,
    /// The tensor that it writes.
    pub(super) target: String,
}

/// A dependence: pairs of instances in a fixed order, as one basic map.
#[derive(Clone)]
pub(super) struct Dependence {
    /// The statement of the source instances.
    pub(super) first: usize,
    /// The statement of the sink instances.
    pub(super) later: usize,
    pairs: Map,
    /// Computed on demand, since most of the remaining dependences are not scheduled further.
    conditions: OnceCell<Rc<[Condition]>>,
}

/// The scheduling problem of a nest.
pub(super) struct Problem {
    pub(super) statements: Vec<Statement>,
    /// In textual order.
    pub(super) inits: Vec<Init>,
    pub(super) dependences: Vec<Dependence>,
    /// Pairs of reads of one element, if requested. Their distance should be short, in either
    /// order.
    pub(super) inputs: Vec<Dependence>,
    /// The number of parameters of all conditions.
    pub(super) parameters: usize,
}

impl Problem {
    /// The problem of a built nest, with or without pairs of reads.
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

    /// The name of a statement in errors.
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

/// Splits a relation into basic maps.
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
    /// The conditions on affine expressions that are nonnegative on the pairs. The coefficients are
    /// the constant, the parameters, the first statement's iterators and the later one's.
    pub(super) fn conditions(&self) -> Result<&[Condition], Error> {
        if let Some(known) = self.conditions.get() {
            return Ok(known);
        }
        let found = self.pairs.wrap()?.nowhere_negative()?;
        Ok(self.conditions.get_or_init(|| found.into()))
    }

    /// The pairs for which a number compares like this with the difference of values, later minus
    /// first.
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

    /// The part of the dependence that remains within an iteration of a loop: both values are
    /// equal.
    pub(super) fn within(&self, rows: (&Row, &Row)) -> Result<Vec<Dependence>, Error> {
        let left = self.limited(rows, Relation::Equal, 0)?;
        parts(self.first, self.later, &left)
    }

    /// Whether a loop with these values reverses the dependence for some pair.
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

    /// Whether a loop with these values, which reverses no pair, carries the dependence for some
    /// pair.
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
                if let Some(l) = loops.iter().find(|l| l.range.within.is_some()) {
                    let name = l.name.clone();
                    return Some(NoSchedule::Read { name });
                }
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

/// Whether the trees in a loop only set elements one by one.
fn sets_alone(body: &[Tree]) -> bool {
    match body {
        [Tree::Loop(l)] => sets_alone(&l.body),
        [Tree::Fill(_)] => true,
        _ => false,
    }
}

/// Whether a statement executes assignment number `k`, and the loops around it are the coordinates
/// of its instances.
fn is_plain(stmt: &Stmt, k: usize, loops: &[&Arc<Loop>]) -> bool {
    let Some(origin) = &stmt.origin else {
        return false;
    };
    let point = origin.point.iter().map(Affine::as_iterator);
    origin.assignment == k && point.eq(loops.iter().map(|l| Some(&l.name)))
}

/// The initialized tensors, once per initialization.
fn fills(trees: &[Tree]) -> Vec<&str> {
    let fills = trees.iter().filter_map(|tree| match tree {
        Tree::Fill(f) => Some(f.target.label()),
        _ => None,
    });
    fills.collect()
}
