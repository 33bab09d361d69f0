//! Diamond tiling: all tiles along a face of the iteration space can start at the same time.
//!
//! If the outermost loop (time) carries all dependences of a band, iterations at one time step can
//! run concurrently. Tiles along the band's hyperplanes cannot: they form a wavefront. Concurrent
//! start requires that time is strictly between the hyperplanes, so one of them is replaced by
//! another on the other side of time. As in Pluto, concurrent start is along one dimension, and
//! time stays the outermost loop within tiles.
//!
//! `slabs` cuts the tiles, so no transformation matrix has to be unimodular. Loops keep their
//! values, and the sides of the tiles become bounds.
//!
//! Source: Bandishti, Pananilath and Bondhugula, Tiling Stencil Computations to Maximize
//! Parallelism, SC 2012; for the choice of bands, `pluto_diamond_tile` of Pluto.

use super::error::NoSchedule;
use super::hyperplane::{opposite, strict};
use super::options::{Code, Options};
use super::problem::{Dependence, Problem, Row};
use super::schedule::{Band, Schedule};
use super::sizes::Tiling;
use super::vector::Strides;
use super::work::{Work, list, named};
use crate::analysis::position;
use crate::ir::{Arg, Name, Nest, Tree};
use crate::nest::fuse::FUSE;
use crate::nest::mode::{PARALLELIZE, VECTORIZE};
use crate::nest::shift::SHIFT;
use crate::nest::slabs::SLABS;
use std::collections::HashMap;

/// A band with diamond tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diamond {
    /// The statements in it, in order.
    pub statements: Vec<usize>,
    /// The hyperplanes that cut the tiles: for each level, one row per statement. Time is between
    /// the first two levels.
    pub levels: Vec<Vec<Row>>,
}

/// The bands of a schedule with diamond tiles, and the reasons why other bands have none.
pub(super) fn diamonds(
    problem: &Problem,
    schedule: &Schedule,
    nest: &Nest,
) -> Result<(Vec<Diamond>, Vec<&'static str>), NoSchedule> {
    let parts = match schedule {
        Schedule::Sequence(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let (mut found, mut reasons) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Schedule::Band(band) => match diamond(problem, band)? {
                Ok(_) if !share(nest, &band.statements) => {
                    reasons.push("its statements are not those of one outermost loop");
                }
                Ok(diamond) => found.push(diamond),
                Err(reason) => reasons.push(reason),
            },
            _ => reasons.push("there are no loops"),
        }
    }
    Ok((found, reasons))
}

fn diamond(problem: &Problem, band: &Band) -> Result<Result<Diamond, &'static str>, NoSchedule> {
    let group = &band.statements;
    let complete = |s: &usize| problem.statements[*s].depth == band.levels.len();
    if band.levels.len() < 2 || !group.iter().all(complete) {
        return Ok(Err(
            "the outermost band has not all loops of its statements, or only one",
        ));
    }
    if band.levels.iter().any(|level| level.coincident) {
        return Ok(Err("the outermost band has a parallel loop as it is"));
    }
    let inside = |d: &&Dependence| group.contains(&d.first) && group.contains(&d.later);
    let dependences: Vec<Dependence> = problem.dependences.iter().filter(inside).cloned().collect();
    let face = strict(problem, group, &dependences)?;
    let is_time = |row: &Row| row.coefficients.iter().skip(1).all(|c| *c == 0);
    let Some(face) = face.filter(|rows| rows.iter().all(is_time)) else {
        return Ok(Err(
            "dependences do not all go forward in the outermost loop",
        ));
    };
    let evicted = band.levels.iter().position(|l| l.rows.iter().all(is_time));
    let (Some(evicted), Some(side)) = (evicted, (0..2).find(|k| Some(*k) != evicted)) else {
        return Ok(Err("the time loop is not in the outermost band"));
    };
    let side = &band.levels[side].rows;
    let Some(other) = opposite(problem, group, &dependences, (&face, side))? else {
        return Ok(Err("no hyperplane is on the other side of time"));
    };
    let others = band.levels.iter().enumerate();
    let others = others
        .filter(|(k, _)| *k != evicted)
        .map(|(_, l)| l.rows.clone());
    let levels: Vec<Vec<Row>> = [other].into_iter().chain(others).collect();
    let signs: Option<Vec<i64>> = levels
        .iter()
        .map(|rows| Some(Slope::of(rows)?.sign))
        .collect();
    let falls = |signs: Vec<i64>| signs[0] == -1 && signs[1..].iter().all(|sign| *sign == 1);
    if !signs.is_some_and(falls) {
        return Ok(Err("hyperplanes are not of time and one other loop each"));
    }
    let statements = group.clone();
    Ok(Ok(Diamond { statements, levels }))
}

/// Whether an outermost loop of the built nest surrounds exactly these statements.
fn share(nest: &Nest, statements: &[usize]) -> bool {
    let is_theirs = |tree: &Tree| {
        let mut inside = Vec::new();
        position::walk(std::slice::from_ref(tree), &mut |_, _, tree| {
            if let Tree::Stmt(s) = tree {
                inside.extend(s.origin.as_ref().map(|origin| origin.assignment));
            }
        });
        inside == statements
    };
    nest.trees().iter().any(is_theirs)
}

/// Hyperplanes `time * t + sign * l + constant`.
struct Slope {
    time: i64,
    sign: i64,
    /// For each statement, the index of its loop `l`, and the constant.
    loops: Vec<(usize, i64)>,
}

impl Slope {
    fn of(rows: &[Row]) -> Option<Slope> {
        let of_row = |row: &Row| {
            let (time, others) = row.coefficients.split_first()?;
            let mut used = others.iter().enumerate().filter(|(_, c)| **c != 0);
            let (l, sign) = used.next().filter(|(_, c)| c.abs() == 1)?;
            used.next()
                .is_none()
                .then_some((*time, *sign, (l + 1, row.constant)))
        };
        let found: Vec<_> = rows.iter().map(of_row).collect::<Option<_>>()?;
        let (time, sign, _) = *found.first()?;
        let same = found.iter().all(|(t, s, _)| (*t, *s) == (time, sign));
        let loops = found.into_iter().map(|(.., of_statement)| of_statement);
        same.then(|| Slope {
            time,
            sign,
            loops: loops.collect(),
        })
    }
}

/// Builds the loops of diamonds.
struct Cutter<'a> {
    work: &'a mut Work,
    diamond: &'a Diamond,
    /// The offset of each loop's iterator from its original value.
    shifts: HashMap<Name, i64>,
}

/// Tiles the loops of a diamond's statements, which share only the outermost one.
pub(super) fn tile(
    work: &mut Work,
    (problem, diamond): (&Problem, &Diamond),
    options: &Options,
    tiling: &mut Tiling,
) -> Result<(), NoSchedule> {
    let slopes: Option<Vec<Slope>> = diamond.levels.iter().map(|rows| Slope::of(rows)).collect();
    let slopes = slopes.unwrap_or_default();
    let ([first, second, others @ ..], Some(one)) = (slopes.as_slice(), diamond.statements.first())
    else {
        return Err(NoSchedule::Unknown);
    };
    let time = work.loops[*one][0].clone();
    // Rounds sizes, so that tiles start and end at whole time steps.
    let unit = first.time + second.time;
    let unit = unit.max(1);
    tiling.note(&diamond.statements, slopes.len());
    let sizes = (0..slopes.len()).map(|k| {
        let size = tiling.size(&diamond.statements, k)?;
        Ok((size - 1) / unit * unit + unit)
    });
    let sizes: Vec<i64> = sizes.collect::<Result<_, NoSchedule>>()?;
    let mut cutter = Cutter {
        work: &mut *work,
        diamond,
        shifts: HashMap::new(),
    };
    let falling = cutter.slabs(&time, first, vec![(time.clone(), first.time)], sizes[0])?;
    for (k, slope) in others.iter().enumerate() {
        cutter.slabs(&time, slope, vec![(time.clone(), slope.time)], sizes[k + 2])?;
    }
    // A wave has one tile in each slab. Two successive waves are one slab apart.
    let wave = [(time.clone(), second.time), (falling.clone(), -sizes[1])];
    for waves in [2, 1] {
        cutter.slabs(&falling, second, wave.to_vec(), waves * sizes[1])?;
    }
    if options.parallel {
        work.step(&PARALLELIZE, vec![named(&falling)])?;
    }
    let before = work.nest.clone();
    match options.code {
        Code::Pluto if together(work, diamond).is_ok() => return Ok(()),
        Code::Pluto => work.nest = before,
        Code::Teml => {}
    }
    for &statement in &diamond.statements {
        within(work, problem, statement, options)?;
    }
    Ok(())
}

/// Fuses the loops of the statements inside of time, as Pluto's code does. Compilers do not
/// vectorize the result.
fn together(work: &mut Work, diamond: &Diamond) -> Result<(), NoSchedule> {
    let Some((&first, others)) = diamond.statements.split_first() else {
        return Ok(());
    };
    let loops = work.loops[first].clone();
    for (level, name) in loops.iter().enumerate().skip(1) {
        for &other in others {
            let Some(second) = work.loops[other].get(level).map(named) else {
                return Err(NoSchedule::Unknown);
            };
            let ends = Arg::Word("guard".to_owned());
            work.step(&FUSE, vec![named(name), second, ends])?;
        }
    }
    Ok(())
}

impl Cutter<'_> {
    /// Makes slabs around a loop and returns the loop over them.
    fn slabs(
        &mut self,
        around: &Name,
        slope: &Slope,
        factors: Vec<(Name, i64)>,
        size: i64,
    ) -> Result<Name, NoSchedule> {
        let mut loops = Vec::with_capacity(slope.loops.len());
        for (&statement, &(l, constant)) in self.diamond.statements.iter().zip(&slope.loops) {
            let name = self.work.loops[statement][l].clone();
            let (known, wanted) = (self.shifts.get(&name).copied(), slope.sign * constant);
            let by = wanted - known.unwrap_or(0);
            if by != 0 {
                self.work.step(&SHIFT, vec![named(&name), Arg::Int(by)])?;
                self.shifts.insert(name.clone(), wanted);
            }
            loops.push(name);
        }
        let factors = factors
            .into_iter()
            .map(|(name, by)| (name.to_string(), Arg::Int(slope.sign * by)));
        let mut factors: Vec<(String, Arg)> = factors.collect();
        factors.sort_by(|(a, _), (b, _)| a.cmp(b));
        let args = [named(around), list(&loops), Arg::Options(factors)];
        let args = args.into_iter().chain([Arg::Int(size)]);
        self.work.step(&SLABS, args.collect())?;
        self.work.parent(around).ok_or(NoSchedule::Unknown)
    }
}

/// Orders a statement's loops inside of time. All of them are parallel there.
fn within(
    work: &mut Work,
    problem: &Problem,
    statement: usize,
    options: &Options,
) -> Result<(), NoSchedule> {
    let now: Vec<Name> = work.loops[statement][1..].to_vec();
    let strides = |k: usize| Strides::along(problem, statement, &unit(k + 1, now.len() + 1));
    let mut then: Vec<usize> = (0..now.len()).collect();
    if options.intratileopt
        && let Some(best) = (0..now.len()).max_by_key(|k| strides(*k).score(true))
    {
        then.retain(|k| *k != best);
        then.push(best);
    }
    let order: Vec<Name> = then.iter().map(|k| now[*k].clone()).collect();
    work.order(&now, &order)?;
    match then.last() {
        Some(&k) if options.prevector && strides(k).all_near() => {
            work.step(&VECTORIZE, vec![named(&now[k])])
        }
        _ => Ok(()),
    }
}

fn unit(k: usize, count: usize) -> Vec<i64> {
    (0..count).map(|q| i64::from(q == k)).collect()
}
