//! Whether every statement computes the value that the definition gives, wherever operands are kept
//! in between.
//!
//! A statement that executes an instance has the definition's expression. Its operands may come
//! from local tensors, or be the inlined expression of another assignment. The statement is correct
//! if each operand has the value that it has in the definition. If all statements are correct, all
//! results are. An instance may be executed several times, if it computes the same value each time.
//!
//! If the definition only copies an operand, and a statement computes it instead, the statement's
//! result is the operand's value. Partial results of a reduction may be combined in any tree, if
//! the reduction may be reassociated; those of a running reduction may be carried from block to
//! block ([`super::running`]). The value of an index is compared with that of the original
//! in the same iteration ([`Original::at`]).

use super::dataflow::Values;
use super::elements::{elements, whole};
use super::program::{Definition, Leaf, Original, Program, What, results};
use super::reduction::{Trees, through};
use super::relations::instances;
use super::running::Running;
use super::space::Space;
use super::verdict::Undecided;
use crate::analysis::recurrence::recurrence;
use crate::ir::{Affine, BinaryOp, Expr, Index, Name, Node, Stmt, Tensor};
use crate::poly::{Error, Piece, Point, UnionMap, UnionSet};

/// An operand whose value differs from the definition's.
pub(super) struct Wrong {
    /// The reader of the operand, or the point of a final result.
    pub(super) reader: Point,
    /// The value that it has.
    pub(super) found: Option<Point>,
    /// The value that it should have.
    pub(super) expected: Option<Point>,
}

/// Why nests are not known to compute the right values.
pub(super) enum Unequal {
    /// A value is wrong.
    Wrong(Wrong),
    /// A chain of copies is too long to follow.
    Unresolved,
    /// The leaf with this number adds what the definition subtracts, but not to partial results.
    Opposed(usize),
}

/// The origin of a statement's operand in the definition: a chain of accesses, each an operand of
/// the assignment before.
type Chain = Vec<(usize, usize)>;

/// The operands of the leaves that execute instances of the definition.
pub(super) struct Operands {
    /// The leaf, the number of the access, and its origin.
    all: Vec<(usize, usize, Chain)>,
    /// The copying assignments whose operand a leaf computes instead, and the assignment whose
    /// expression it has.
    computed: Vec<(usize, usize)>,
}

impl Operands {
    /// # Errors
    /// [`Undecided`] if a statement is not the definition's.
    pub(super) fn of(program: &Program) -> Result<Operands, Undecided> {
        let (mut operands, mut computed) = (Vec::new(), Vec::new());
        for (k, leaf) in program.leaves.iter().enumerate() {
            let What::Stmt(s) = leaf.what else {
                continue;
            };
            let Some(a) = leaf.assignment else {
                if leaf.copies() || leaf.combines() {
                    continue;
                }
                let statement = s.to_string();
                return Err(Undecided::Unknown { statement });
            };
            let rewritten = |original: String| Undecided::Rewritten {
                statement: s.to_string(),
                original,
            };
            let Some(original) = program.originals.get(a) else {
                let statement = s.to_string();
                return Err(Undecided::Unknown { statement });
            };
            let mut matching = Matching {
                program,
                next: 1,
                found: Vec::new(),
                points: vec![executed(s, original)],
            };
            // An update of another element computes a recurrence.
            let meant = recurrence(original.stmt).filter(|r| s.update == Some(r.op));
            let (value, mut access) = match &meant {
                Some(r) => (r.operand, r.first),
                None => (&original.stmt.value, 1),
            };
            let updates = s.update == original.stmt.update || opposes(s, original);
            let same = (updates || meant.is_some())
                && matching.walk(&s.value, value, &mut Vec::new(), a, &mut access);
            if !same {
                return Err(rewritten(original.stmt.to_string()));
            }
            if s.update.is_some() {
                operands.push((k, 0, vec![(a, meant.map_or(0, |r| r.access))]));
            }
            if !leaf.copies() {
                computed.extend(copied_from(program, a).map(|producer| (a, producer)));
            }
            let found = matching.found.into_iter().map(|(r, chain)| (k, r, chain));
            operands.extend(found);
        }
        computed.sort_unstable();
        computed.dedup();
        Ok(Operands {
            all: operands,
            computed,
        })
    }

    /// From copying instances that leaves compute to the copied values, if these are the ones that
    /// the leaves compute.
    fn copied(
        &self,
        program: &Program,
        definition: &Definition,
        meant: &UnionMap,
    ) -> Result<UnionMap, Error> {
        let mut copied = UnionMap::new(&[])?;
        for (a, producer) in &self.computed {
            let Some(of) = definition.statement(*a) else {
                continue;
            };
            let leaf = &definition.leaves[of - definition.first];
            let Some((space, point)) = leaf.instance() else {
                continue;
            };
            let reads = leaf.domain(&read(of, 1)).to(&space.name(), point);
            let reads = UnionMap::new(&[reads])?;
            let values = reads.reverse()?.apply_range(meant)?;
            let computed = instances(*producer, &program.originals[*producer]);
            let values = values.intersect_range(&UnionSet::new(&[computed])?)?;
            copied = copied.union(&values)?;
        }
        Ok(copied)
    }
}

/// The assignment whose expression has the value that assignment `a` copies; `None` if `a`
/// computes.
fn copied_from(program: &Program, a: usize) -> Option<usize> {
    let mut from = None;
    loop {
        let stmt = program.originals[from.unwrap_or(a)].stmt;
        let Node::Access { tensor, .. } = stmt.value.node() else {
            return from;
        };
        if stmt.update.is_some() {
            return from;
        }
        let of = |o: &Original| o.stmt.target.name() == tensor.name();
        from = Some(
            program.originals[..from.unwrap_or(a)]
                .iter()
                .rposition(of)?,
        );
    }
}

/// Whether a statement adds up what the definition subtracts. Partial results of a difference do: a
/// - b - c is a - (b + c).
fn opposes(s: &Stmt, original: &Original) -> bool {
    (s.update, original.stmt.update) == (Some(BinaryOp::Add), Some(BinaryOp::Sub))
}

/// The leaves that add up what the definition subtracts.
fn opposed(program: &Program) -> Vec<usize> {
    let leaves = program.leaves.iter().enumerate();
    let opposed = leaves.filter(|(_, leaf)| {
        let original = leaf.assignment.and_then(|a| program.originals.get(a));
        match (leaf.what, original) {
            (What::Stmt(s), Some(original)) => opposes(s, original),
            _ => false,
        }
    });
    opposed.map(|(k, _)| k).collect()
}

struct Matching<'p, 'a> {
    program: &'p Program<'a>,
    /// The number of the statement's next access.
    next: usize,
    found: Vec<(usize, Chain)>,
    /// The iterators of the current assignment, and of the assignments that it is inlined into.
    /// They are expressed in the loops around the statement.
    points: Vec<Vec<(Name, Affine)>>,
}

/// The iterators of an original in the iteration that a statement executes.
fn executed(s: &Stmt, original: &Original) -> Vec<(Name, Affine)> {
    let point = s.origin.iter().flat_map(|origin| &origin.point);
    let names = original.loops.iter().map(|l| l.name.clone());
    names.zip(point.cloned()).collect()
}

impl Matching<'_, '_> {
    /// Whether a value is the one of assignment `a`, whose next access has the number `access`.
    fn walk(
        &mut self,
        value: &Expr,
        original: &Expr,
        around: &mut Chain,
        a: usize,
        access: &mut usize,
    ) -> bool {
        match (value.node(), original.node()) {
            (Node::Access { .. }, Node::Access { .. }) => {
                let chain = around.iter().copied().chain([(a, *access)]);
                self.found.push((self.next, chain.collect()));
                self.next += 1;
                *access += 1;
                true
            }
            (_, Node::Access { tensor, index }) => {
                // The expression of the assignment that computes the operand.
                let of = |o: &Original| o.stmt.target.name() == tensor.name();
                let Some(b) = self.program.originals[..a].iter().rposition(of) else {
                    return false;
                };
                around.push((a, *access));
                let producer = self.program.originals[b].stmt;
                self.points.push(self.read_at(producer, index));
                let same = producer.update.is_none()
                    && self.walk(value, &producer.value, around, b, &mut 1);
                self.points.pop();
                around.pop();
                *access += 1;
                same
            }
            (Node::Constant(x), Node::Constant(y)) => x == y,
            (Node::Index(x), Node::Index(y)) => self.meant(y).as_ref() == Some(x),
            (
                Node::Binary {
                    op, left, right, ..
                },
                Node::Binary {
                    op: other,
                    left: l,
                    right: r,
                    ..
                },
            ) => {
                op == other
                    && self.walk(left, l, around, a, access)
                    && self.walk(right, r, around, a, access)
            }
            (
                Node::Apply { function, args, .. },
                Node::Apply {
                    function: other,
                    args: originals,
                    ..
                },
            ) => {
                let mut both = args.iter().zip(originals);
                function == other
                    && args.len() == originals.len()
                    && both.all(|(x, y)| self.walk(x, y, around, a, access))
            }
            _ => false,
        }
    }

    /// An index of the definition, expressed in the loops around the statement. `None` if one of
    /// its iterators is unknown.
    fn meant(&self, index: &Affine) -> Option<Affine> {
        let point = self.points.last()?;
        let value = |name: &Name| {
            let known = point.iter().find(|(n, _)| n == name);
            let size = || name.size().map(|_| Affine::iterator(name.clone()));
            known.map(|(_, value)| value.clone()).or_else(size)
        };
        let is_known = index.terms().iter().all(|(name, _)| value(name).is_some());
        is_known.then(|| index.substitute(&value))
    }

    /// The iterators of `producer` that alone index its target, in the iteration that sets the
    /// element at `index`.
    fn read_at(&self, producer: &Stmt, index: &Index) -> Vec<(Name, Affine)> {
        let Index::At(index) = index else {
            return Vec::new();
        };
        let both = producer.index.iter().zip(index);
        both.filter_map(|(own, at)| Some((own.as_iterator()?.clone(), self.meant(at)?)))
            .collect()
    }
}

/// The first operand or result whose value differs from the definition's. `reassociates` tells
/// whether an assignment's partial results may be combined in any order.
pub(super) fn wrong(
    program: &Program,
    operands: &Operands,
    reassociates: &dyn Fn(usize) -> bool,
) -> Result<Option<Unequal>, Error> {
    let first = program.leaves.len();
    let results = results(program);
    let none = UnionSet::new(&[])?;
    let values = Values::of(&program.leaves, 0, &results, &none)?;
    let found = values.named(&program.leaves, 0, &|_| false)?;
    let meant = Values::of(&program.definition, first, &results, &none)?;
    let meant = meant.named(&program.definition, first, &|_| false)?;
    let definition = Definition {
        leaves: &program.definition,
        first,
    };
    let copied = operands.copied(program, &definition, &meant)?;
    let found = through(&found, &copied)?;
    let mismatch = |found: &UnionMap, meant: &UnionMap, skips: &dyn Fn(usize, usize) -> bool| {
        let expected = expected(program, operands, &definition, meant, &results, skips)?;
        let read = UnionMap::new(&reads(program, operands, &results, skips))?;
        let found = found.intersect_domain(&read.domain()?)?;
        let unresolved = read.domain()?.subtract(&found.domain()?)?;
        let wrong = found.subtract(&expected)?;
        Ok::<_, Error>((wrong, expected, unresolved))
    };
    let (wrong, expected, unresolved) = mismatch(&found, &meant, &|_, _| false)?;
    let opposed = opposed(program);
    if opposed.is_empty() && wrong.is_empty()? && unresolved.is_empty()? {
        return Ok(None);
    }
    let wrongly_read = expected.intersect_domain(&wrong.domain()?)?;
    let mut reordered = reordered(program, &wrongly_read, &found)?;
    reordered.retain(|a| reassociates(*a));
    let named = |apart: &dyn Fn(&Leaf) -> bool, skipped: &UnionSet| {
        let without = match skipped.is_empty()? {
            true => None,
            false => Some(Values::of(&program.leaves, 0, &results, skipped)?),
        };
        let values = without.as_ref().unwrap_or(&values);
        let found = values.named(&program.leaves, 0, apart)?;
        through(&found, &copied)
    };
    let is_update = |a: &&usize| program.originals[**a].stmt.update.is_some();
    let updates: Vec<usize> = reordered.iter().filter(is_update).copied().collect();
    let trees = Trees::of(
        program,
        &definition,
        (&updates, reassociates),
        &|skipped| {
            let is_own = |leaf: &Leaf| leaf.assignment.is_some_and(|a| updates.contains(&a));
            named(&is_own, skipped)
        },
        &meant,
    )?;
    let uncovered = opposed.iter().find(|k| !trees.covers(&program.leaves[**k]));
    if !trees.is_empty()? && uncovered.is_none() {
        let skips = |k: usize, r: usize| r == 0 && trees.covers(&program.leaves[k]);
        let (found, meant) = trees.rooted(&meant)?;
        let (again, _, open) = mismatch(&found, &meant, &skips)?;
        if again.is_empty()? {
            let resolved = open.is_empty()?;
            return Ok((!resolved).then_some(Unequal::Unresolved));
        }
    }
    for a in reordered {
        let Some(running) = Running::of(program, &definition, a, &named, &meant)? else {
            continue;
        };
        let skips = |k: usize, r: usize| r == 0 && running.partial.contains(&k);
        let (again, _, open) = mismatch(&running.values, &meant, &skips)?;
        if opposed.is_empty() && again.is_empty()? && open.is_empty()? {
            return Ok(None);
        }
    }
    let Some(reader) = earliest(program, &wrong.domain()?)? else {
        let opposed = uncovered.map(|k| Unequal::Opposed(*k));
        return Ok(Some(opposed.unwrap_or(Unequal::Unresolved)));
    };
    let at = crate::poly::UnionSet::new(&[super::concurrent::at(&reader)])?;
    let value = |values: &UnionMap| values.intersect_domain(&at)?.range()?.sample();
    Ok(Some(Unequal::Wrong(Wrong {
        found: value(&found)?,
        expected: value(&expected)?,
        reader,
    })))
}

/// The reductions that are reordered or combine partial results. In a reordered reduction an update
/// does not read the result of its predecessor in the definition.
fn reordered(
    program: &Program,
    expected: &UnionMap,
    found: &UnionMap,
) -> Result<Vec<usize>, Error> {
    let updated = |values: UnionMap| -> Result<Vec<usize>, Error> {
        let sets = values.range()?.sets()?.into_iter();
        let updates = sets.filter_map(|set| match Space::of(set.tuple().as_deref()) {
            Some(Space::Statement(a)) => Some(a),
            _ => None,
        });
        Ok(updates.collect())
    };
    let mut reordered = Vec::new();
    for (k, leaf) in program.leaves.iter().enumerate() {
        let reads = |access| UnionSet::new(&[leaf.domain(&read(k, access))]);
        if leaf.combines() {
            reordered.extend(updated(found.intersect_domain(&reads(1)?)?)?);
        } else if let Some(a) = leaf.assignment {
            let before = updated(expected.intersect_domain(&reads(0)?)?)?;
            reordered.extend(before.into_iter().filter(|b| *b == a));
        }
    }
    reordered.sort_unstable();
    reordered.dedup();
    Ok(reordered)
}

/// All reads of operands, and all results, as maps to an empty tuple.
fn reads(
    program: &Program,
    operands: &Operands,
    results: &[&Tensor],
    skips: &dyn Fn(usize, usize) -> bool,
) -> Vec<Piece> {
    let kept = operands.all.iter().filter(|(k, r, _)| !skips(*k, *r));
    let reads = kept.map(|(k, r, _)| program.leaves[*k].domain(&read(*k, *r)).to("", []));
    let results = results.iter().map(|t| whole(t).to("", []));
    reads.chain(results).collect()
}

/// The values of operands and results in the definition.
fn expected(
    program: &Program,
    operands: &Operands,
    definition: &Definition,
    meant: &UnionMap,
    results: &[&Tensor],
    skips: &dyn Fn(usize, usize) -> bool,
) -> Result<UnionMap, Error> {
    let ends: Vec<Piece> = results
        .iter()
        .map(|t| whole(t).to(&Space::result(t).name(), elements(t)))
        .collect();
    let mut all = UnionMap::new(&ends)?.apply_range(meant)?;
    for (k, r, chain) in operands.all.iter().filter(|(k, r, _)| !skips(*k, *r)) {
        let leaf = &program.leaves[*k];
        let Some((_, point)) = leaf.instance() else {
            continue;
        };
        let mut steps = chain.iter();
        let Some((a, access)) = steps.next() else {
            continue;
        };
        let Some(of) = definition.statement(*a) else {
            continue;
        };
        let direct = leaf.domain(&read(*k, *r)).to(&read(of, *access), point);
        let mut values = UnionMap::new(&[direct])?.apply_range(meant)?;
        for (b, access) in steps {
            let Some(of) = definition.statement(*b) else {
                continue;
            };
            // The previous value already looks through copies.
            if definition.leaves[of - definition.first].copies() {
                continue;
            }
            let original = &program.originals[*b];
            let coordinates = (0..original.loops.len()).map(|d| format!("x{d}").as_str().into());
            let into = instances(*b, original).to(&read(of, *access), coordinates);
            values = values
                .apply_range(&UnionMap::new(&[into])?)?
                .apply_range(meant)?;
        }
        all = all.union(&values)?;
    }
    Ok(all)
}

/// The name of the reads of a leaf by an access.
fn read(leaf: usize, access: usize) -> String {
    Space::Read { leaf, access }.name()
}

/// The reader that is executed first; results come last.
fn earliest(program: &Program, readers: &crate::poly::UnionSet) -> Result<Option<Point>, Error> {
    let mut found: Option<(Vec<i64>, Point)> = None;
    for set in readers.sets()? {
        let Some(point) = set.lexmin()?.sample()? else {
            continue;
        };
        let time = match Space::of_point(&point).and_then(|s| s.leaf()) {
            Some((k, _)) => program.leaves[k].time_of(&point.coordinates),
            None => vec![i64::MAX],
        };
        if found.as_ref().is_none_or(|(earlier, _)| time < *earlier) {
            found = Some((time, point));
        }
    }
    Ok(found.map(|(_, point)| point))
}
