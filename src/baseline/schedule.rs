//! The schedule: bands of permutable loops, level by level, and cuts between statements.
//!
//! A band takes as many hyperplanes as there are that keep all dependences of its statements; what
//! they order is settled then. Where there is none, statements that do not depend on each other in
//! circles are cut apart, as the policy of fusion says.
//!
//! Source: Bondhugula et al., PLDI 2008, §3.5 and §3.6; the policies are those of Pluto's code.

use super::error::NoSchedule;
use super::hyperplane::hyperplane;
use super::options::Fuse;
use super::problem::{Dependence, Problem, Row};

/// What runs in which order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// One after the other.
    Sequence(Vec<Schedule>),
    /// Loops around something.
    Band(Band),
    /// A statement of the definition, counted from 0.
    Statement(usize),
}

/// Loops in a row that may be interchanged and tiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// The statements in it, in order.
    pub statements: Vec<usize>,
    /// The outermost first.
    pub levels: Vec<Level>,
    /// What is in the innermost one.
    pub inside: Box<Schedule>,
}

/// A loop that statements share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// What the loop's iterator is for each statement of the band.
    pub rows: Vec<Row>,
    /// Whether none of the dependences that the loops around the band leave crosses iterations, so
    /// that it is parallel wherever it stands in the band and in the loops inside of it.
    pub coincident: bool,
    /// Whether it is parallel where it stands.
    pub parallel: bool,
}

impl Schedule {
    /// The statements in it, in order.
    pub fn statements(&self) -> Vec<usize> {
        match self {
            Schedule::Sequence(parts) => parts.iter().flat_map(Schedule::statements).collect(),
            Schedule::Band(band) => band.statements.clone(),
            Schedule::Statement(k) => vec![*k],
        }
    }

    /// What is left without bands of these statements.
    pub(super) fn without(&self, statements: &[usize]) -> Schedule {
        let parts = match self {
            Schedule::Sequence(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        let stays = |part: &&Schedule| part.statements().iter().all(|s| !statements.contains(s));
        let mut left: Vec<Schedule> = parts.iter().filter(stays).cloned().collect();
        match left.len() {
            1 => left.remove(0),
            _ => Schedule::Sequence(left),
        }
    }

    /// The hyperplanes of a statement, the outermost first.
    pub fn rows(&self, statement: usize) -> Vec<Row> {
        match self {
            Schedule::Statement(_) => Vec::new(),
            Schedule::Sequence(parts) => {
                let part = parts.iter().find(|p| p.statements().contains(&statement));
                part.map_or(Vec::new(), |p| p.rows(statement))
            }
            Schedule::Band(band) => {
                let k = band.statements.iter().position(|s| *s == statement);
                let own = band.levels.iter().filter_map(|l| l.rows.get(k?).cloned());
                own.chain(band.inside.rows(statement)).collect()
            }
        }
    }
}

impl Problem {
    /// The schedule, by Pluto's algorithm.
    pub(super) fn schedule(&self, fuse: Fuse) -> Result<Schedule, NoSchedule> {
        let mut scheduler = Scheduler {
            found: vec![Vec::new(); self.statements.len()],
            problem: self,
            fuse,
        };
        scheduler.all(self.dependences.clone())
    }
}

struct Scheduler<'a> {
    problem: &'a Problem,
    /// The rows of each statement so far.
    found: Vec<Vec<Row>>,
    fuse: Fuse,
}

impl Scheduler<'_> {
    /// Statements that no loop may join, then those that the policy separates beforehand.
    fn all(&mut self, dependences: Vec<Dependence>) -> Result<Schedule, NoSchedule> {
        let statements: Vec<usize> = (0..self.problem.statements.len()).collect();
        let components = components(&statements, &dependences);
        let depth = |c: &[usize]| c.iter().map(|s| self.problem.statements[*s].depth).max();
        let apart = |a: &[usize], b: &[usize]| {
            let cut = match self.fuse {
                Fuse::No => true,
                Fuse::Smart => depth(a) != depth(b),
                Fuse::Max => false,
            };
            cut || self.problem.statements[b[0]].begins_anew
        };
        let groups = joined_unless(components, apart);
        self.sequence(groups, dependences)
    }

    fn sequence(
        &mut self,
        groups: Vec<Vec<usize>>,
        mut dependences: Vec<Dependence>,
    ) -> Result<Schedule, NoSchedule> {
        let mut parts = Vec::with_capacity(groups.len());
        for group in groups {
            let inside = |d: &Dependence| group.contains(&d.first) && group.contains(&d.later);
            let (own, others) = dependences.into_iter().partition(inside);
            dependences = others;
            parts.push(self.group(&group, own)?);
        }
        match parts.len() {
            1 => Ok(parts.remove(0)),
            _ => Ok(Schedule::Sequence(parts)),
        }
    }

    fn is_complete(&self, statement: usize) -> bool {
        self.found[statement].len() == self.problem.statements[statement].depth
    }

    fn group(
        &mut self,
        group: &[usize],
        dependences: Vec<Dependence>,
    ) -> Result<Schedule, NoSchedule> {
        if group.iter().all(|s| self.is_complete(*s)) {
            return match group {
                [one] if dependences.is_empty() => Ok(Schedule::Statement(*one)),
                several if dependences.iter().all(|d| d.first < d.later) => {
                    let parts = several.iter().map(|s| Schedule::Statement(*s));
                    Ok(Schedule::Sequence(parts.collect()))
                }
                _ => Err(self.stuck(group)),
            };
        }
        let components = components(group, &dependences);
        self.keeps_order(&components, &dependences)?;
        let complete = |c: &[usize]| c.iter().all(|s| self.is_complete(*s));
        let mixed = |c: &[usize]| !complete(c) && c.iter().any(|s| self.is_complete(*s));
        if components.iter().any(|c| mixed(c)) {
            return Err(self.stuck(group));
        }
        let groups = joined_unless(components.clone(), |a, b| complete(a) != complete(b));
        if groups.len() > 1 {
            return self.sequence(groups, dependences);
        }
        let levels = self.band(group, &dependences)?;
        if levels.is_empty() {
            let groups = self.cut(components, &dependences);
            return match groups.len() {
                1 => Err(self.stuck(group)),
                _ => self.sequence(groups, dependences),
            };
        }
        let mut left = dependences;
        for level in &levels {
            left = within(&left, group, &level.rows)?;
        }
        let inside = Box::new(self.group(group, left)?);
        Ok(Schedule::Band(Band {
            statements: group.to_vec(),
            levels,
            inside,
        }))
    }

    /// As many loops as there are that keep all dependences.
    fn band(
        &mut self,
        group: &[usize],
        dependences: &[Dependence],
    ) -> Result<Vec<Level>, NoSchedule> {
        let mut levels: Vec<Level> = Vec::new();
        let mut left: Option<Vec<Dependence>> = None;
        while let Some(rows) = hyperplane(self.problem, group, &self.found, dependences)? {
            for (statement, row) in group.iter().zip(&rows) {
                self.found[*statement].push(row.clone());
            }
            let crosses = |dependences: &[Dependence]| -> Result<bool, NoSchedule> {
                for dependence in dependences {
                    if dependence.is_carried(of(dependence, group, &rows))? {
                        return Ok(true);
                    }
                }
                Ok(false)
            };
            let before = left.as_deref().unwrap_or(dependences);
            let parallel = !crosses(before)?;
            let coincident = parallel && !crosses(dependences)?;
            left = Some(within(before, group, &rows)?);
            levels.push(Level {
                rows,
                coincident,
                parallel,
            });
        }
        Ok(levels)
    }

    /// Where there is no loop for all: what is scheduled one after the other instead.
    fn cut(&self, components: Vec<Vec<usize>>, dependences: &[Dependence]) -> Vec<Vec<usize>> {
        let depth = |c: &[usize]| c.iter().map(|s| self.problem.statements[*s].depth).max();
        let differ = components.windows(2).any(|w| depth(&w[0]) != depth(&w[1]));
        if self.fuse == Fuse::No || components.len() < 3 {
            return components;
        }
        if self.fuse == Fuse::Smart && differ {
            return joined_unless(components, |a, b| depth(a) != depth(b));
        }
        // Between components that depend on each other: smart in the center, otherwise as late as
        // possible.
        let crossed = |k: &usize| {
            let before = components[..*k].concat();
            let crosses = |d: &Dependence| before.contains(&d.first) != before.contains(&d.later);
            dependences.iter().any(crosses)
        };
        let mut places = (1..components.len()).filter(crossed);
        let center = components.len().div_ceil(2);
        let place = match self.fuse {
            Fuse::Smart => places.min_by_key(|k| k.abs_diff(center)),
            Fuse::Max | Fuse::No => places.next_back(),
        };
        match place {
            Some(k) => vec![components[..k].concat(), components[k..].concat()],
            None => components,
        }
    }

    /// Steps fuse loops, and leave what is in them in the order of the definition: what loops around
    /// do not order has to follow that.
    fn keeps_order(
        &self,
        components: &[Vec<usize>],
        dependences: &[Dependence],
    ) -> Result<(), NoSchedule> {
        let place = |statement: usize| components.iter().position(|c| c.contains(&statement));
        let backward = |d: &&Dependence| place(d.first) > place(d.later);
        match dependences.iter().find(backward) {
            None => Ok(()),
            Some(d) => {
                let [first, later] = [d.later, d.first].map(|k| {
                    let target = &self.problem.statements[k].target;
                    format!("statement {} (of {target})", k + 1)
                });
                Err(NoSchedule::Order { first, later })
            }
        }
    }

    fn stuck(&self, group: &[usize]) -> NoSchedule {
        let targets = group.iter().map(|s| &self.problem.statements[*s].target);
        NoSchedule::NoHyperplane {
            targets: targets.cloned().collect(),
        }
    }
}

/// The rows of a dependence's statements among those of a group.
fn of<'a>(dependence: &Dependence, group: &[usize], rows: &'a [Row]) -> (&'a Row, &'a Row) {
    let row = |statement| {
        let k = group.iter().position(|s| *s == statement);
        &rows[k.unwrap_or(0)]
    };
    (row(dependence.first), row(dependence.later))
}

fn within(
    dependences: &[Dependence],
    group: &[usize],
    rows: &[Row],
) -> Result<Vec<Dependence>, NoSchedule> {
    let mut left = Vec::new();
    for dependence in dependences {
        left.extend(dependence.within(of(dependence, group, rows))?);
    }
    Ok(left)
}

/// Statements that depend on each other in circles, and those between them: in the order of the
/// definition, which all other dependences follow.
fn components(group: &[usize], dependences: &[Dependence]) -> Vec<Vec<usize>> {
    let at = |statement: usize| group.iter().position(|s| *s == statement);
    let count = group.len();
    // What each one reaches.
    let mut reaches = vec![vec![false; count]; count];
    for d in dependences {
        if let (Some(a), Some(b)) = (at(d.first), at(d.later)) {
            reaches[a][b] = true;
        }
    }
    for k in 0..count {
        for a in 0..count {
            if reaches[a][k] {
                let further = reaches[k].clone();
                let row = reaches[a].iter_mut().zip(further);
                row.for_each(|(reached, more)| *reached |= more);
            }
        }
    }
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut end = 0;
    for k in 0..count {
        let last = (k..count).rfind(|other| reaches[k][*other] && reaches[*other][k]);
        if k >= end {
            found.push(Vec::new());
        }
        end = end.max(last.unwrap_or(k) + 1).max(k + 1);
        if let Some(component) = found.last_mut() {
            component.push(group[k]);
        }
    }
    found
}

/// Groups in a row joined, but for those that are to be apart.
fn joined_unless(
    groups: Vec<Vec<usize>>,
    apart: impl Fn(&[usize], &[usize]) -> bool,
) -> Vec<Vec<usize>> {
    let mut joined: Vec<Vec<usize>> = Vec::new();
    let mut last: Vec<usize> = Vec::new();
    for group in groups {
        match joined.last_mut() {
            Some(open) if !apart(&last, &group) => open.extend(&group),
            _ => joined.push(group.clone()),
        }
        last = group;
    }
    joined
}
