//! Tile sizes: one list for all bands, or a list for each of some statements.
//!
//! Pluto reads its file `tile.sizes` anew for each band, so that all bands have the same sizes.
//! Here statements may have their own sizes, if statements that share a loop over tiles agree on
//! its size.

use super::error::NoSchedule;
use super::problem::Problem;

/// The tile size for each loop of a band. The last one repeats for all further loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// For statements without sizes of their own.
    pub all: Vec<i64>,
    /// For statements by name: the tensor that they write, or `S2` for the second one.
    pub of: Vec<(String, Vec<i64>)>,
}

impl Sizes {
    /// The same sizes for all statements.
    pub fn all(all: Vec<i64>) -> Sizes {
        let of = Vec::new();
        Sizes { all, of }
    }
}

/// The tile sizes of a problem, and its tiled loops.
pub(super) struct Tiling<'a> {
    first: ByStatement<'a>,
    second: ByStatement<'a>,
    /// The number of tiled loops around each statement.
    tiled: Vec<usize>,
    twice: bool,
}

impl Tiling<'_> {
    /// A tiling with these sizes of tiles and of second-level tiles. `twice` enables the second
    /// level.
    pub(super) fn of<'a>(
        problem: &'a Problem,
        [first, second]: [&'a Sizes; 2],
        twice: bool,
    ) -> Result<Tiling<'a>, NoSchedule> {
        Ok(Tiling {
            first: ByStatement::of(problem, "tile_sizes", first)?,
            second: ByStatement::of(problem, "second_level_tile_sizes", second)?,
            tiled: vec![0; problem.statements.len()],
            twice,
        })
    }

    /// The tile size of a loop that statements share, at a level of a band.
    pub(super) fn size(&self, statements: &[usize], level: usize) -> Result<i64, NoSchedule> {
        self.first.size(statements, level)
    }

    /// The number of tiles per second-level tile at that level.
    pub(super) fn second_size(
        &self,
        statements: &[usize],
        level: usize,
    ) -> Result<i64, NoSchedule> {
        self.second.size(statements, level)
    }

    /// Records the number of tiled loops around statements.
    pub(super) fn note(&mut self, statements: &[usize], loops: usize) {
        for &statement in statements {
            self.tiled[statement] = loops;
        }
    }

    /// Checks that no statement has more sizes than tiled loops.
    pub(super) fn fits(&self) -> Result<(), NoSchedule> {
        self.first.fits(&self.tiled)?;
        if self.twice {
            self.second.fits(&self.tiled)
        } else {
            self.second.fits(&vec![0; self.tiled.len()])
        }
    }
}

/// Sizes by the numbers of statements.
struct ByStatement<'a> {
    problem: &'a Problem,
    option: &'static str,
    all: &'a [i64],
    own: Vec<Option<&'a [i64]>>,
}

impl ByStatement<'_> {
    fn of<'a>(
        problem: &'a Problem,
        option: &'static str,
        sizes: &'a Sizes,
    ) -> Result<ByStatement<'a>, NoSchedule> {
        let mut own: Vec<Option<&[i64]>> = vec![None; problem.statements.len()];
        let mut numbered = Vec::new();
        for (name, sizes) in &sizes.of {
            let writes = |s: &usize| problem.statements[*s].target == *name;
            let written: Vec<usize> = (0..own.len()).filter(writes).collect();
            if !written.is_empty() {
                written.iter().for_each(|s| own[*s] = Some(sizes));
                continue;
            }
            let number = name.strip_prefix('S').and_then(|n| n.parse::<usize>().ok());
            let Some(number) = number.filter(|n| (1..=own.len()).contains(n)) else {
                let valid = (0..own.len()).map(|s| problem.name(s)).collect();
                let name = name.clone();
                return Err(NoSchedule::NoStatement {
                    option,
                    name,
                    valid,
                });
            };
            numbered.push((number - 1, sizes));
        }
        // A number is more specific than a tensor, which several statements may write.
        for (statement, sizes) in numbered {
            own[statement] = Some(sizes);
        }
        let all = &sizes.all;
        Ok(ByStatement {
            problem,
            option,
            all,
            own,
        })
    }

    fn size(&self, statements: &[usize], level: usize) -> Result<i64, NoSchedule> {
        let mut found: Option<(usize, i64)> = None;
        for &statement in statements {
            let Some(own) = self.own[statement] else {
                continue;
            };
            let size = at(own, level);
            match found {
                Some((other, known)) if known != size => {
                    return Err(NoSchedule::SharedSize {
                        option: self.option,
                        first: self.problem.name(other),
                        later: self.problem.name(statement),
                        sizes: [known, size],
                    });
                }
                _ => found = Some((statement, size)),
            }
        }
        Ok(found.map_or_else(|| at(self.all, level), |(_, size)| size))
    }

    fn fits(&self, tiled: &[usize]) -> Result<(), NoSchedule> {
        let mut each = self.own.iter().zip(tiled).enumerate();
        let too_many = each.find_map(|(statement, (own, tiled))| {
            let sizes = own.map(<[i64]>::len).filter(|count| count > tiled)?;
            Some(NoSchedule::TooManySizes {
                option: self.option,
                statement: self.problem.name(statement),
                sizes,
                loops: *tiled,
            })
        });
        too_many.map_or(Ok(()), Err)
    }
}

fn at(sizes: &[i64], level: usize) -> i64 {
    let size = sizes.get(level).or(sizes.last());
    size.copied().unwrap_or(32)
}
