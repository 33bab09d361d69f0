//! The execution that produces the value of each read: exact dataflow, one tensor at a time.
//!
//! Source: Feautrier, Dataflow Analysis of Array and Scalar References, 1991.

use super::clock::Clock;
use super::elements::{elements, whole};
use super::memory::Memory;
use super::program::Leaf;
use super::space::Space;
use crate::ir::Tensor;
use crate::poly::{Accesses, Error, Linear, Piece, UnionMap, UnionSet};

/// The producers of the values that reads get.
pub(super) struct Sources {
    /// From reads to the executions that set the elements.
    pub(super) executions: UnionMap,
    /// From the remaining reads to the elements, whose old values they get.
    pub(super) elements: UnionMap,
}

/// All accesses to one tensor.
struct Touched<'l, 'a> {
    memory: Memory,
    reads: Vec<(Numbered<'l, 'a>, usize, Piece)>,
    writes: Vec<(Numbered<'l, 'a>, Piece)>,
    /// The tensor, if it is live-out.
    result: Option<&'l Tensor>,
}

/// A leaf and its number.
type Numbered<'l, 'a> = (&'l Leaf<'a>, usize);

impl Sources {
    /// The sources in the order of `leaves`, which are numbered from `first` on. Executions in
    /// `skipped` set nothing.
    pub(super) fn of(
        leaves: &[Leaf],
        first: usize,
        results: &[&Tensor],
        skipped: &UnionSet,
    ) -> Result<Sources, Error> {
        let mut touched: Vec<Touched> = Vec::new();
        for numbered in leaves.iter().zip(first..) {
            let (leaf, k) = numbered;
            for (r, tensor, piece) in leaf.reads(k) {
                let reads = &mut at(&mut touched, leaf.memory(tensor)).reads;
                reads.push((numbered, r, piece));
            }
            let writes = &mut at(&mut touched, leaf.memory(leaf.target())).writes;
            writes.push((numbered, leaf.write(k)));
        }
        for tensor in results {
            at(&mut touched, Memory::shared(tensor)).result = Some(tensor);
        }
        let mut sources = Sources {
            executions: UnionMap::new(&[])?,
            elements: UnionMap::new(&[])?,
        };
        for tensor in &touched {
            let own = tensor.sources(skipped)?;
            sources.executions = sources.executions.union(&own.executions)?;
            sources.elements = sources.elements.union(&own.elements)?;
        }
        Ok(sources)
    }
}

/// The accesses to the tensor in this memory; adds an entry if there is none.
fn at<'t, 'l, 'a>(
    touched: &'t mut Vec<Touched<'l, 'a>>,
    memory: Memory,
) -> &'t mut Touched<'l, 'a> {
    let found = touched.iter().position(|t| t.memory == memory);
    let k = found.unwrap_or(touched.len());
    if found.is_none() {
        touched.push(Touched {
            memory,
            reads: Vec::new(),
            writes: Vec::new(),
            result: None,
        });
    }
    &mut touched[k]
}

/// So few writes are not told apart.
const FEW: usize = 4;

/// Writes in groups that touch no element of each other, so that none hides one of another group.
/// The time of the dataflow grows fast with the number of writes, and the parts of a tiled nest set
/// elements of their own.
fn groups(writes: &[Piece]) -> Result<Vec<Vec<Piece>>, Error> {
    if writes.len() <= FEW {
        return Ok(match writes {
            [] => Vec::new(),
            all => vec![all.to_vec()],
        });
    }
    let mut groups: Vec<(UnionSet, Vec<Piece>)> = Vec::new();
    for piece in writes {
        let mut range = UnionMap::new(std::slice::from_ref(piece))?.range()?;
        let mut joined = vec![piece.clone()];
        let mut apart = Vec::new();
        for (other, pieces) in groups {
            if range.intersect(&other)?.is_empty()? {
                apart.push((other, pieces));
            } else {
                range = range.union(&other)?;
                joined.splice(0..0, pieces);
            }
        }
        apart.push((range, joined));
        groups = apart;
    }
    Ok(groups.into_iter().map(|(_, pieces)| pieces).collect())
}

impl Touched<'_, '_> {
    fn sources(&self, skipped: &UnionSet) -> Result<Sources, Error> {
        let mut sinks: Vec<Piece> = self.reads.iter().map(|(.., piece)| piece.clone()).collect();
        sinks.extend(
            self.result
                .map(|t| whole(t).to(&self.memory.space.name(), elements(t))),
        );
        let sinks = UnionMap::new(&sinks)?;
        let writes: Vec<Piece> = self.writes.iter().map(|(_, piece)| piece.clone()).collect();
        let schedule = UnionMap::new(&self.schedule())?;
        let mut executions = UnionMap::new(&[])?;
        let mut elements = UnionMap::new(&[])?;
        let mut rest = sinks.clone();
        let groups = groups(&writes)?;
        for group in &groups {
            let writes = UnionMap::new(group)?;
            let writes = writes.subtract(&writes.intersect_domain(skipped)?)?;
            let sinks = match groups.len() {
                1 => sinks.clone(),
                _ => sinks.intersect_range(&writes.range()?)?,
            };
            let flow = Accesses {
                sink: &sinks,
                must_source: Some(&writes),
                may_source: None,
                kill: None,
                schedule: &schedule,
            }
            .flow()?;
            executions = executions.union(&flow.must.reverse()?)?;
            elements = elements.union(&flow.must_no_source)?;
            rest = rest.subtract(&sinks)?;
        }
        Ok(Sources {
            executions,
            elements: elements.union(&rest)?,
        })
    }

    /// The times of reads and writes. A statement reads before it writes, and results are read at
    /// the end.
    fn schedule(&self) -> Vec<Piece> {
        let readers = self.reads.iter().map(|((leaf, _), ..)| *leaf);
        let writers = self.writes.iter().map(|((leaf, _), _)| *leaf);
        let clock = Clock::inside(self.memory.loops, readers.chain(writers));
        let end = self.result.map(|_| Linear::from(0));
        let at = |leaf: &Leaf, domain: Piece, writes: i64| {
            let moment = end.clone().into_iter().chain(clock.moment(leaf));
            domain.to("", moment.chain([Linear::from(writes)]))
        };
        let reads = self.reads.iter().map(|((leaf, k), r, _)| {
            at(
                leaf,
                leaf.domain(
                    &Space::Read {
                        leaf: *k,
                        access: *r,
                    }
                    .name(),
                ),
                0,
            )
        });
        let writes = self
            .writes
            .iter()
            .map(|((leaf, k), _)| at(leaf, leaf.domain(&Space::Write(*k).name()), 1));
        let results = self.result.map(|tensor| {
            let mut end = vec![Linear::from(1)];
            end.resize(clock.coordinates() + 2, Linear::from(0));
            whole(tensor).to("", end)
        });
        reads.chain(writes).chain(results).collect()
    }
}
