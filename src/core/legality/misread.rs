//! Finds a counterexample with numbers: one execution that certainly reads the value of the wrong
//! instance of the definition.
//!
//! If a step reverses two executions, one of them mostly reads what the other writes. With constant
//! indices the last write before a read is a lexicographic maximum. It takes a fraction of the time
//! of a full dataflow analysis.
//!
//! Source: Feautrier, Dataflow Analysis of Array and Scalar References, 1991.

use super::memory::{Memory, element, iterator, read_accesses};
use super::program::{Access, Leaf, What};
use crate::ir::{Affine, Fill, Name, Origin};
use crate::poly::{Error, Linear, Piece, Relation};

/// An execution of a leaf, by its number, at values of the iterators around it. For a fill, the
/// indices of an element follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Execution {
    pub(super) leaf: usize,
    pub(super) at: Vec<i64>,
}

/// An instance of a definition: the assignment, whether it is an initialization, and the
/// coordinates.
type Instance = (usize, bool, Vec<i64>);

/// A nest before and after a step.
pub(super) struct Readings<'p, 'a> {
    /// The leaves before the step.
    pub(super) before: &'p [Leaf<'a>],
    /// The instances of the definition that these execute.
    pub(super) origins: &'p [Option<Origin>],
    /// The leaves after the step.
    pub(super) after: &'p [Leaf<'a>],
}

impl Readings<'_, '_> {
    /// Whether an execution after the step certainly reads a wrong value. `free` tells whether the
    /// updates of a leaf before the step may run in any order.
    pub(super) fn are_wrong(
        &self,
        reader: &Execution,
        free: &dyn Fn(usize) -> bool,
    ) -> Result<bool, Error> {
        let Some(meant) = self.meant(reader) else {
            return Ok(false);
        };
        let [What::Stmt(found), What::Stmt(s)] =
            [self.after[reader.leaf].what, self.before[meant.leaf].what]
        else {
            return Ok(false);
        };
        // A copy may be wrong without harm if its value is dead.
        if self.instance(&meant).is_none() {
            return Ok(false);
        }
        let before = |k: usize| self.origins.get(k).is_some_and(Option::is_none);
        let after = |k: usize| self.after[k].assignment.is_none_or(before);
        let [own, others] = [found, s].map(read_accesses);
        for ((_, read), (_, expected)) in own.iter().zip(&others) {
            let expected = value(self.before, &meant, expected, &before)?;
            let found = value(self.after, reader, read, &after)?;
            let (Some(expected), Some(found)) = (expected, found) else {
                continue;
            };
            let found = match found {
                Some(execution) => match self.meant(&execution) {
                    Some(execution) => Some(execution),
                    None => continue,
                },
                None => None,
            };
            if expected != found && self.differ([expected, found], free) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The execution before the step that corresponds to this one after it.
    fn meant(&self, execution: &Execution) -> Option<Execution> {
        let leaf = &self.after[execution.leaf];
        let at = leaf.instance_at(leaf.origin()?, &execution.at)?;
        let leaf = leaf.assignment.filter(|k| *k < self.before.len())?;
        Some(Execution { leaf, at })
    }

    /// The instance of the definition that an execution before the step executes.
    fn instance(&self, execution: &Execution) -> Option<Instance> {
        let leaf = &self.before[execution.leaf];
        let origin = self.origins.get(execution.leaf)?.as_ref()?;
        let at = leaf.instance_at(origin, &execution.at)?;
        Some((origin.assignment, matches!(leaf.what, What::Fill(_)), at))
    }

    /// Whether two writes, one of which may be missing, certainly have different values.
    fn differ(&self, writes: [Option<Execution>; 2], free: &dyn Fn(usize) -> bool) -> bool {
        let mut instances = Vec::new();
        for write in writes.iter().flatten() {
            match self.instance(write).filter(|_| !free(write.leaf)) {
                Some(instance) => instances.push(instance),
                None => return false,
            }
        }
        match instances.as_slice() {
            // Initializations set many elements to one value.
            [one, other] => one != other && !(one.1 && other.1),
            _ => true,
        }
    }
}

/// The most copies along the path of a value.
const COPIES: usize = 8;

/// The execution that computed the value which an execution reads. It follows copies by leaves that
/// `may` copy. `Some(None)` is an input; `None` means unknown.
fn value(
    leaves: &[Leaf],
    reader: &Execution,
    read: &Access,
    may: &dyn Fn(usize) -> bool,
) -> Result<Option<Option<Execution>>, Error> {
    let mut found = source(leaves, reader, read)?;
    for _ in 0..COPIES {
        let Some(Some(write)) = &found else {
            return Ok(found);
        };
        let leaf = &leaves[write.leaf];
        let What::Stmt(s) = leaf.what else {
            return Ok(found);
        };
        if !may(write.leaf) || !leaf.copies() {
            return Ok(found);
        }
        let Some((_, copied)) = read_accesses(s).into_iter().next() else {
            return Ok(None);
        };
        found = source(leaves, write, &copied)?;
    }
    Ok(None)
}

/// The last write before an execution reads. `Some(None)` is an input; `None` means that an index
/// is unknown.
fn source(
    leaves: &[Leaf],
    reader: &Execution,
    read: &Access,
) -> Result<Option<Option<Execution>>, Error> {
    let own = &leaves[reader.leaf];
    let memory = own.memory(read.tensor);
    let index = read.index.iter().map(|a| own.number(a, &reader.at));
    let Some(index) = index.collect::<Option<Vec<i64>>>() else {
        return Ok(None);
    };
    let mut latest: Option<(Vec<i64>, Execution)> = None;
    for (leaf, writer) in leaves.iter().enumerate() {
        if writer.memory(writer.target()) != memory {
            continue;
        }
        let Some(at) = last_before(writer, own, &reader.at, (&memory, &index))? else {
            continue;
        };
        let time = writer.time_of(&at);
        if latest.as_ref().is_none_or(|(known, _)| *known < time) {
            latest = Some((time, Execution { leaf, at }));
        }
    }
    Ok(Some(latest.map(|(_, execution)| execution)))
}

/// The last execution of `writer`, before `reader` runs at `at`, that writes this element.
fn last_before(
    writer: &Leaf,
    reader: &Leaf,
    at: &[i64],
    (memory, index): (&Memory, &[i64]),
) -> Result<Option<Vec<i64>>, Error> {
    let coordinates = writer.coordinates("");
    let negated: Vec<String> = coordinates.iter().map(|x| format!("-{x}")).collect();
    let all = Piece::set("", negated.iter().map(String::as_str));
    // The first negated point is the last point.
    let both = negated.iter().zip(&coordinates);
    let all = both.fold(all, |piece, (n, x)| {
        let negative = Linear::new([(-1, x.as_str())], 0);
        piece
            .exists(x)
            .constrain(n.as_str(), Relation::Equal, negative)
    });
    let all = writer.bound(all, "");
    let fixed =
        |piece: Piece, d: usize| piece.constrain(iterator(d).as_str(), Relation::Equal, at[d]);
    let all = (0..memory.loops).fold(all, fixed);
    let written = writer.written_index();
    let mut all = written.iter().zip(index).fold(all, |piece, (a, i)| {
        piece.constrain(a.clone(), Relation::Equal, *i)
    });
    let (shared, is_first) = writer.around_both(reader);
    let mut candidates = Vec::new();
    for (d, x) in at.iter().enumerate().take(shared) {
        candidates.push(
            all.clone()
                .constrain(iterator(d).as_str(), Relation::Less, *x),
        );
        all = fixed(all, d);
    }
    candidates.extend(is_first.then_some(all));
    // Candidates that share more loops with the reader come later.
    for candidate in candidates.iter().rev() {
        if let Some(point) = candidate.first()? {
            return Ok(Some(point.coordinates.iter().map(|x| -x).collect()));
        }
    }
    Ok(None)
}

impl Leaf<'_> {
    /// The value of an index in one execution.
    fn number(&self, a: &Affine, at: &[i64]) -> Option<i64> {
        a.evaluate(&|name| {
            let depth = self.loops.iter().position(|l| l.name == *name)?;
            at.get(depth).copied()
        })
    }

    /// The coordinates of the instance that one execution executes.
    fn instance_at(&self, origin: &Origin, at: &[i64]) -> Option<Vec<i64>> {
        let point = origin.point.iter().map(|a| self.number(a, at));
        let elements = at.get(self.loops.len()..)?.iter().map(|x| Some(*x));
        point.chain(elements).collect()
    }

    /// The indices of the written element, in the coordinates of the executions.
    fn written_index(&self) -> Vec<Linear> {
        match self.what {
            What::Stmt(s) => {
                let variable = |name: &Name| self.variable(name);
                let index = s.index.iter();
                index
                    .map(|a| super::constraints::linear(a, &variable))
                    .collect()
            }
            What::Fill(Fill { region, .. }) => {
                let elements = 0..region.len();
                elements.map(|d| element(d).as_str().into()).collect()
            }
        }
    }
}
