//! From sets of violations to the first witness, with numbers.

use super::concurrent::{Conflict, at};
use super::memory::read_accesses;
use super::program::{Access, Leaf, Program, What, accesses};
use super::relations::iterations;
use super::space::Space;
use super::values::Wrong;
use super::violation::{Dependence, DependenceKind, Instance, Place, Violation};
use super::written::written;
use crate::ir::{Affine, Mode, Name};
use crate::poly::{Error, Point, UnionMap, UnionSet};
use std::collections::HashMap;

/// The leaf of the definition that executes an instance.
fn original<'p, 'a>(program: &'p Program<'a>, point: &Point) -> Option<&'p Leaf<'a>> {
    let (assignment, fill) = Space::of_point(point)?.assignment()?;
    program.original_leaf(assignment, fill)
}

/// The time at which the definition executes an instance.
fn moment(program: &Program, point: &Point) -> Option<Vec<i64>> {
    Some(original(program, point)?.time_of(&point.coordinates))
}

/// The first of the instances.
pub(super) fn first(program: &Program, instances: &UnionSet) -> Result<Option<Point>, Error> {
    let mut found: Option<(Option<Vec<i64>>, Point)> = None;
    for set in instances.sets()? {
        let Some(point) = set.lexmin()?.sample()? else {
            continue;
        };
        let moment = moment(program, &point);
        if found.as_ref().is_none_or(|(earlier, _)| moment < *earlier) {
            found = Some((moment, point));
        }
    }
    Ok(found.map(|(_, point)| point))
}

/// The pair with the first source, and among these the one with the first sink.
pub(super) fn first_pair(
    program: &Program,
    pairs: &UnionMap,
) -> Result<Option<(Point, Point)>, Error> {
    let Some(source) = first(program, &pairs.domain()?)? else {
        return Ok(None);
    };
    let sinks = pairs.intersect_domain(&singleton(&source)?)?.range()?;
    Ok(first(program, &sinks)?.map(|sink| (source, sink)))
}

fn singleton(point: &Point) -> Result<UnionSet, Error> {
    UnionSet::new(&[at(point)])
}

/// An execution of an instance: the leaf, and the iteration of the loops around it.
struct Execution<'p, 'a> {
    leaf: &'p Leaf<'a>,
    iteration: Vec<i64>,
}

impl Execution<'_, '_> {
    fn place(&self) -> Place {
        // Users do not know the loops of rerolled sequences.
        let names = self.leaf.loops.iter().map(|l| l.name.clone());
        let values = names.zip(self.iteration.iter().copied());
        Place {
            nest: self.leaf.place[0],
            iteration: values.filter(|(name, _)| !name.is_generated()).collect(),
        }
    }

    /// Positions in sequences alternate with values of iterators.
    fn time(&self) -> Vec<(i64, Option<&Name>)> {
        let mut time = vec![(self.leaf.place[0] as i64, None)];
        for (k, place) in self.leaf.place[1..].iter().enumerate() {
            time.push((*place as i64, None));
            if let (Some(value), Some(l)) = (self.iteration.get(k), self.leaf.loops.get(k)) {
                time.push((*value, Some(&l.name)));
            }
        }
        time
    }
}

/// All executions of an instance, in order.
fn executions<'p, 'a>(
    program: &'p Program<'a>,
    point: &Point,
) -> Result<Vec<Execution<'p, 'a>>, Error> {
    let instance = Space::of_point(point);
    let singleton = singleton(point)?;
    let mut found = Vec::new();
    for leaf in &program.leaves {
        if leaf.instances() != instance {
            continue;
        }
        let Some(piece) = iterations(leaf, leaf.loops.len()) else {
            continue;
        };
        let iterations = UnionMap::new(&[piece])?;
        let here = iterations.intersect_domain(&singleton)?.range()?;
        for set in here.sets()? {
            // Two suffice to show that there are several.
            let first = set.lexmin()?.sample()?;
            let last = set.lexmax()?.sample()?;
            let mut points: Vec<Point> = first.into_iter().chain(last).collect();
            points.dedup();
            found.extend(points.into_iter().map(|p| Execution {
                leaf,
                iteration: p.coordinates,
            }));
        }
    }
    found.sort_by_key(|e| e.time().iter().map(|(t, _)| *t).collect::<Vec<_>>());
    Ok(found)
}

/// The statement of an instance of the definition, with numbers.
fn text(program: &Program, point: &Point) -> String {
    let leaf = original(program, point);
    leaf.map_or_else(String::new, |leaf| leaf.at(&point.coordinates))
}

pub(super) fn missing(program: &Program, instance: &Point) -> Violation {
    let instance = text(program, instance);
    Violation::Missing { instance }
}

pub(super) fn extra(program: &Program, instance: &Point) -> Violation {
    let instance = text(program, instance);
    Violation::Extra { instance }
}

/// An instance that is executed twice, if any.
pub(super) fn twice(program: &Program, time: &UnionMap) -> Result<Option<Violation>, Error> {
    // Two different times of one instance.
    let several = time.reverse()?.apply_range(time)?;
    let times = time.range()?.identity()?;
    let Some((at, _)) = several.subtract(&times)?.sample()? else {
        return Ok(None);
    };
    let there = time.reverse()?.intersect_domain(&singleton(&at)?)?;
    let Some(instance) = first(program, &there.range()?)? else {
        return Ok(None);
    };
    let executions = executions(program, &instance)?;
    let [one, .., two] = executions.as_slice() else {
        return Ok(None);
    };
    Ok(Some(Violation::Twice {
        instance: text(program, &instance),
        at: [one.place(), two.place()],
    }))
}

/// A dependence with the places of its two instances. Also the first loop in which they differ,
/// unless their positions differ before.
fn dependence(
    program: &Program,
    (source, sink): &(Point, Point),
) -> Result<(Dependence, Option<Name>), Error> {
    let first_of = |point| Ok(executions(program, point)?.into_iter().next());
    let ends = [first_of(source)?, first_of(sink)?];
    let by = match &ends {
        [Some(a), Some(b)] => {
            let (a, b) = (a.time(), b.time());
            let differs = a.iter().zip(&b).find(|(a, b)| a.0 != b.0);
            differs.and_then(|(a, _)| a.1.filter(|name| !name.is_generated()).cloned())
        }
        _ => None,
    };
    let [at, sink_at] = ends.map(|e| {
        e.map_or_else(
            || Place {
                nest: 0,
                iteration: Vec::new(),
            },
            |e| e.place(),
        )
    });
    let (kind, element) = shared(program, source, sink);
    let instance = |point, at| Instance {
        text: text(program, point),
        at,
    };
    let dependence = Dependence {
        kind,
        element,
        source: instance(source, at),
        sink: instance(sink, sink_at),
    };
    Ok((dependence, by))
}

pub(super) fn reversed(program: &Program, pair: &(Point, Point)) -> Result<Violation, Error> {
    let (dependence, by) = dependence(program, pair)?;
    Ok(Violation::Reversed { dependence, by })
}

/// The conflict of two executions, as the dependence between them.
pub(super) fn concurrent(program: &Program, conflict: &Conflict) -> Violation {
    let (source, sink) = &conflict.pair;
    let access = |point: &Point| Space::of_point(point)?.leaf();
    let (first, second) = (access(source), access(sink));
    let instance = |of: Option<(usize, Option<usize>)>, point: &Point| {
        let leaf = of.and_then(|(k, _)| program.leaves.get(k));
        leaf.map_or_else(Instance::unknown, |leaf| Instance {
            text: leaf.at(&point.coordinates),
            at: leaf.place_at(&point.coordinates),
        })
    };
    let writes = matches!(second, Some((_, None)));
    let (kind, element) = match first.and_then(|(k, _)| program.leaves.get(k)) {
        Some(leaf) => {
            let updates = matches!(leaf.what, What::Stmt(s) if s.update.is_some());
            let same = first.map(|(k, _)| k) == second.map(|(k, _)| k);
            let kind = match (updates && same, writes) {
                (true, _) => DependenceKind::Reduction,
                (false, true) => DependenceKind::Output,
                (false, false) => DependenceKind::Flow,
            };
            (kind, leaf.written_at(&source.coordinates))
        }
        None => (DependenceKind::Output, String::new()),
    };
    Violation::Concurrent {
        dependence: Dependence {
            kind,
            element,
            source: instance(first, source),
            sink: instance(second, sink),
        },
        by: conflict.by.name.clone(),
        parallel: !matches!(conflict.by.mode, Mode::Vector { .. }),
        axis: conflict.by.axis(),
    }
}

/// The wrong value of an operand or a result.
pub(super) fn wrong(program: &Program, wrong: &Wrong) -> Violation {
    let value = |point: &Option<Point>| match point {
        Some(point) => value(program, point),
        None => "nothing".to_owned(),
    };
    let (found, expected) = (value(&wrong.found), value(&wrong.expected));
    let point = &wrong.reader;
    let space = Space::of_point(point);
    match space.as_ref().and_then(Space::leaf) {
        Some((k, access)) => {
            let leaf = program.leaves.get(k);
            let reader = leaf.map_or_else(Instance::unknown, |leaf| Instance {
                text: leaf.at(&point.coordinates),
                at: leaf.place_at(&point.coordinates),
            });
            let element = leaf.map_or_else(String::new, |leaf| {
                leaf.read_at(access.unwrap_or_default(), &point.coordinates)
            });
            Violation::Operand {
                reader,
                element,
                found,
                expected,
            }
        }
        None => {
            let tensor = match space {
                Some(Space::Result(tensor)) => tensor,
                _ => String::new(),
            };
            Violation::Result {
                element: indexed(&tensor, &point.coordinates),
                found,
                expected,
            }
        }
    }
}

fn indexed(tensor: &str, index: &[i64]) -> String {
    let index: String = index.iter().map(|x| format!("[{x}]")).collect();
    format!("{tensor}{index}")
}

/// Describes a value in words.
fn value(program: &Program, point: &Point) -> String {
    let result = |text: &str| format!("the result of `{text}`");
    match Space::of_point(point) {
        Some(Space::Constant(number)) => format!("the initial {number}"),
        Some(Space::Memory(tensor)) => {
            let element = indexed(&tensor, &point.coordinates);
            format!("what {element} held at the start")
        }
        Some(Space::Local { .. }) => "nothing, since it is set later or never".to_owned(),
        Some(Space::Write(k) | Space::Read { leaf: k, .. }) => match program.leaves.get(k) {
            Some(leaf) => result(&leaf.at(&point.coordinates)),
            None => "a partial result".to_owned(),
        },
        Some(Space::Statement(_) | Space::Fill(_)) => result(&text(program, point)),
        Some(Space::Result(_) | Space::Executed { .. } | Space::Element { .. }) | None => {
            "a partial result".to_owned()
        }
    }
}

impl Leaf<'_> {
    /// The values of the iterators around the leaf, by name.
    fn values(&self, iteration: &[i64]) -> HashMap<&Name, i64> {
        let names = self.loops.iter().map(|l| &l.name);
        names.zip(iteration.iter().copied()).collect()
    }

    /// The text with numbers for iterators.
    fn at(&self, iteration: &[i64]) -> String {
        let values = self.values(iteration);
        let map = |name: &Name| values.get(name).map(|v| Affine::constant(*v));
        match self.what {
            What::Stmt(s) => written(s).substitute(&map).to_string(),
            What::Fill(fill) => {
                let element = iteration.get(self.loops.len()..).unwrap_or_default();
                format!("{} = {}", indexed(fill.target.label(), element), fill.value)
            }
        }
    }

    fn place_at(&self, iteration: &[i64]) -> Place {
        let iteration = iteration.iter().copied().take(self.loops.len()).collect();
        Execution {
            leaf: self,
            iteration,
        }
        .place()
    }

    /// The written element.
    fn written_at(&self, iteration: &[i64]) -> String {
        match self.what {
            What::Stmt(s) => self.element(&accesses(s)[0], iteration),
            What::Fill(fill) => {
                let element = iteration.get(self.loops.len()..).unwrap_or_default();
                indexed(fill.target.label(), element)
            }
        }
    }

    /// The element that an access reads.
    fn read_at(&self, access: usize, iteration: &[i64]) -> String {
        let What::Stmt(s) = self.what else {
            return String::new();
        };
        let reads = read_accesses(s);
        let read = reads.iter().find(|(r, _)| *r == access);
        read.map_or_else(String::new, |(_, access)| self.element(access, iteration))
    }

    fn element(&self, access: &Access, iteration: &[i64]) -> String {
        let values = self.values(iteration);
        let value = |name: &Name| values.get(name).copied();
        let index = access
            .index
            .iter()
            .map(|a| a.evaluate(&value).unwrap_or_default());
        indexed(access.tensor.label(), &index.collect::<Vec<_>>())
    }
}

/// The elements that an instance touches, and whether it writes them.
fn touched(program: &Program, point: &Point) -> Vec<(String, bool)> {
    let Some(leaf) = original(program, point) else {
        return Vec::new();
    };
    match leaf.what {
        What::Fill(_) => vec![(leaf.written_at(&point.coordinates), true)],
        What::Stmt(s) => accesses(s)
            .iter()
            .map(|access| (leaf.element(access, &point.coordinates), access.write))
            .collect(),
    }
}

/// The element that makes one instance depend on another one, and the kind of the dependence.
fn shared(program: &Program, source: &Point, sink: &Point) -> (DependenceKind, String) {
    let (first, later) = (touched(program, source), touched(program, sink));
    let pairs = |writes: (bool, bool)| {
        let matching = first.iter().filter(|a| a.1 == writes.0);
        matching
            .filter(|a| later.iter().any(|b| b.1 == writes.1 && a.0 == b.0))
            .map(|a| a.0.clone())
            .next()
    };
    let reduction = source.tuple == sink.tuple
        && Space::of_point(source)
            .and_then(|space| program.originals.get(space.assignment()?.0))
            .is_some_and(|o| o.stmt.update.is_some());
    let kinds = [
        (DependenceKind::Flow, (true, false)),
        (DependenceKind::Anti, (false, true)),
        (DependenceKind::Output, (true, true)),
    ];
    let both = pairs((true, true));
    if let (true, Some(element)) = (reduction, both) {
        return (DependenceKind::Reduction, element);
    }
    let found = kinds
        .into_iter()
        .find_map(|(kind, writes)| Some((kind, pairs(writes)?)));
    found.unwrap_or((DependenceKind::Output, String::new()))
}
