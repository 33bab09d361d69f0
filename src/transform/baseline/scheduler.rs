//! Pluto's algorithm, which finds a schedule level by level.
//!
//! A band takes all independent hyperplanes that keep the dependences of its statements, and
//! settles the dependences that it carries. If there is none, the fusion policy cuts apart strongly
//! connected components. A complete statement in a component gets further, linearly dependent
//! hyperplanes, until all of its statements have equally many.
//!
//! Source: Bondhugula et al., PLDI 2008, §3.5 and §3.6; the policies are those of Pluto's code.

use super::carried::{crossed, edges, keeps, within};
use super::error::NoSchedule;
use super::hyperplane::hyperplane;
use super::options::Fuse;
use super::order::{self, in_order};
use super::problem::{Dependence, Problem, Row};
use super::schedule::{Band, Level, Schedule};

impl Problem {
    /// Finds the schedule by Pluto's algorithm.
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

/// The depth of a statement or an initialization, and the number of the statement.
type Node = (usize, Option<usize>);

/// The effect of the loops around.
#[derive(Clone, Default)]
struct Around {
    /// Whether statements part directly inside of the loops around.
    parts: bool,
    /// The dependences that the loops outside of the surrounding band leave. They are between
    /// statements with common loops in that band.
    open: Option<Vec<Dependence>>,
}

impl Scheduler<'_> {
    /// Separates statements that no loop may join, then statements that the policy separates
    /// beforehand. Initializations count as statements there.
    fn all(&mut self, dependences: Vec<Dependence>) -> Result<Schedule, NoSchedule> {
        let all: Vec<usize> = (0..self.problem.statements.len()).collect();
        let apart = |a: Option<usize>, b: Option<usize>| match self.fuse {
            Fuse::No => true,
            Fuse::Smart => a != b,
            Fuse::Max | Fuse::Typed | Fuse::Hybrid => false,
        };
        if self.is_fixed() {
            let depth = |c: &[usize]| self.depth(c);
            let anew = |c: &[usize]| self.problem.statements[c[0]].begins_anew;
            let components = self.components(&all, &dependences);
            let apart = |a: &[usize], b: &[usize]| apart(depth(a), depth(b)) || anew(b);
            let groups = self.around_scalars(joined_unless(components, apart));
            return self.sequence(groups, dependences, &Around::default());
        }
        let (nodes, edges) = self.nodes(&dependences);
        let depth = |c: &[usize]| c.iter().map(|n| nodes[*n].0).max();
        let components = order::components(nodes.len(), &edges);
        let groups = joined_unless(components, |a, b| apart(depth(a), depth(b)));
        let statements = |group: Vec<usize>| -> Vec<usize> {
            let mut own: Vec<usize> = group.iter().filter_map(|n| nodes[*n].1).collect();
            own.sort_unstable();
            own
        };
        let groups = groups.into_iter().map(statements).filter(|g| !g.is_empty());
        let groups = self.around_scalars(groups.collect());
        self.sequence(groups, dependences, &Around::default())
    }

    /// Splits groups at each statement without loops. Steps only move loops, so nothing moves
    /// across such a statement.
    fn around_scalars(&self, groups: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let is_scalar = |s: usize| self.problem.statements[s].depth == 0;
        let apart = |a: usize, b: usize| (a..=b).any(is_scalar);
        let split = groups.into_iter().flat_map(|mut group| {
            group.sort_unstable();
            let runs = group.chunk_by(|a, b| !apart(*a, *b));
            runs.map(<[usize]>::to_vec).collect::<Vec<_>>()
        });
        split.collect()
    }

    /// Initializations and statements in the order of the definition, and the edges between them.
    fn nodes(&self, dependences: &[Dependence]) -> (Vec<Node>, Vec<(usize, usize)>) {
        let (mut nodes, mut places, mut inits) = (Vec::new(), Vec::new(), Vec::new());
        for (k, statement) in self.problem.statements.iter().enumerate() {
            for init in self.problem.inits.iter().filter(|init| init.before == k) {
                inits.push((nodes.len(), init));
                nodes.push((init.depth, None));
            }
            places.push(nodes.len());
            nodes.push((statement.depth, Some(k)));
        }
        let mut edges: Vec<(usize, usize)> = Vec::new();
        edges.extend(
            dependences
                .iter()
                .map(|d| (places[d.first], places[d.later])),
        );
        for (node, init) in inits {
            for (k, statement) in self.problem.statements.iter().enumerate() {
                let touches = statement.accesses.iter().any(|a| a.tensor == init.target);
                match k < init.before {
                    true if touches => edges.push((places[k], node)),
                    false if touches => edges.push((node, places[k])),
                    _ => {}
                }
            }
        }
        (nodes, edges)
    }

    /// Whether initializations between statements fix the order of all statements.
    fn is_fixed(&self) -> bool {
        self.problem.statements.iter().any(|s| s.begins_anew)
    }

    /// The greatest depth of statements.
    fn depth(&self, statements: &[usize]) -> Option<usize> {
        let depths = statements.iter().map(|s| self.problem.statements[*s].depth);
        depths.max()
    }

    /// The strongly connected components of statements.
    fn components(&self, group: &[usize], dependences: &[Dependence]) -> Vec<Vec<usize>> {
        let edges = edges(group, dependences);
        let found = if self.is_fixed() {
            order::intervals(group.len(), &edges)
        } else {
            order::components(group.len(), &edges)
        };
        let named = |c: Vec<usize>| c.into_iter().map(|k| group[k]).collect();
        found.into_iter().map(named).collect()
    }

    fn sequence(
        &mut self,
        groups: Vec<Vec<usize>>,
        mut dependences: Vec<Dependence>,
        around: &Around,
    ) -> Result<Schedule, NoSchedule> {
        let edges: Vec<(usize, usize)> = dependences.iter().map(|d| (d.first, d.later)).collect();
        let groups = if self.is_fixed() {
            groups
        } else {
            in_order(groups, &edges)
        };
        let place = |s: usize| groups.iter().position(|g| g.contains(&s));
        let back = |d: &Dependence| place(d.first) > place(d.later);
        let open = around.open.as_ref().filter(|open| !open.iter().any(back));
        let mut parts = Vec::with_capacity(groups.len());
        for group in &groups {
            let inside = |d: &Dependence| group.contains(&d.first) && group.contains(&d.later);
            let (own, others) = dependences.into_iter().partition(&inside);
            dependences = others;
            let around = Around {
                parts: groups.len() > 1,
                open: open.map(|open| open.iter().filter(|d| inside(d)).cloned().collect()),
            };
            parts.push(self.group(group, own, &around)?);
        }
        match parts.len() {
            1 => Ok(parts.remove(0)),
            _ => Ok(Schedule::Sequence(parts)),
        }
    }

    fn is_complete(&self, statement: usize) -> bool {
        self.found[statement].len() >= self.problem.statements[statement].depth
    }

    fn group(
        &mut self,
        group: &[usize],
        dependences: Vec<Dependence>,
        around: &Around,
    ) -> Result<Schedule, NoSchedule> {
        let components = self.components(group, &dependences);
        self.keeps_order(&components, &dependences)?;
        if group.iter().all(|s| self.is_complete(*s)) {
            let is_open = |d: &Dependence| d.first == d.later;
            if components.iter().any(|c| c.len() > 1) || dependences.iter().any(is_open) {
                return Err(self.stuck(group));
            }
            let edges: Vec<_> = dependences.iter().map(|d| (d.first, d.later)).collect();
            let sorted = if self.is_fixed() {
                components
            } else {
                in_order(components, &edges)
            };
            let statements = sorted.concat().into_iter().map(Schedule::Statement);
            let mut statements: Vec<Schedule> = statements.collect();
            return Ok(match statements.len() {
                1 => statements.remove(0),
                _ => Schedule::Sequence(statements),
            });
        }
        let complete = |c: &[usize]| c.iter().all(|s| self.is_complete(*s));
        let groups = joined_unless(components.clone(), |a, b| complete(a) != complete(b));
        if groups.len() > 1 {
            return self.sequence(groups, dependences, around);
        }
        let typed = match self.fuse {
            Fuse::Typed => true,
            Fuse::Hybrid => group.iter().all(|s| self.found[*s].is_empty()),
            _ => false,
        };
        if typed && components.len() > 1 {
            let groups = self.typed(&components, &dependences)?;
            if groups.len() > 1 {
                return self.sequence(groups, dependences, around);
            }
        }
        let (mut levels, left) = self.band(group, &dependences)?;
        if levels.is_empty() {
            let groups = self.cut(components, &dependences);
            return match groups.len() {
                1 => Err(self.stuck(group)),
                _ => self.sequence(groups, dependences, around),
            };
        }
        let joined = match &around.open {
            Some(open) if around.parts => keeps(open, group, &levels)?,
            _ => false,
        };
        let open = match &around.open {
            Some(open) if joined => {
                // Dependences carried by the loops around count if these are tiled with this band.
                for level in &mut levels {
                    level.crossed[0].extend(crossed(open, group, &level.rows)?);
                    level.coincident = level.crossed[0].is_empty();
                }
                open.clone()
            }
            _ => dependences,
        };
        let around = Around {
            parts: false,
            open: Some(open),
        };
        let inside = Box::new(self.group(group, left, &around)?);
        Ok(Schedule::Band(Band {
            statements: group.to_vec(),
            levels,
            joined,
            inside,
        }))
    }

    /// All independent loops that keep the dependences, and the dependences that they do not carry.
    fn band(
        &mut self,
        group: &[usize],
        dependences: &[Dependence],
    ) -> Result<(Vec<Level>, Vec<Dependence>), NoSchedule> {
        let mut levels: Vec<Level> = Vec::new();
        let mut left: Option<Vec<Dependence>> = None;
        let inputs = self.inputs(group)?;
        let all = (dependences, inputs.as_slice());
        while let Some(rows) = hyperplane(self.problem, group, &self.found, all)? {
            if self.fuse == Fuse::Typed && self.parts_here(group, left.as_deref())? {
                break;
            }
            for (statement, row) in group.iter().zip(&rows) {
                self.found[*statement].push(row.clone());
            }
            let before = left.as_deref().unwrap_or(dependences);
            let there = crossed(before, group, &rows)?;
            let anywhere = if left.is_some() {
                crossed(dependences, group, &rows)?
            } else {
                there.clone()
            };
            left = Some(within(before, group, &rows)?);
            levels.push(Level {
                rows,
                coincident: anywhere.is_empty(),
                parallel: there.is_empty(),
                crossed: [anywhere, there],
            });
        }
        Ok((levels, left.unwrap_or_else(|| dependences.to_vec())))
    }

    /// The pairs of reads that the loops of a group so far leave.
    fn inputs(&self, group: &[usize]) -> Result<Vec<Dependence>, NoSchedule> {
        let inside = |d: &&Dependence| group.contains(&d.first) && group.contains(&d.later);
        let mut left = Vec::new();
        for input in self.problem.inputs.iter().filter(inside) {
            let rows = self.found[input.first].iter().zip(&self.found[input.later]);
            let mut pairs = vec![input.clone()];
            for rows in rows {
                let within: Result<Vec<_>, _> = pairs.iter().map(|d| d.within(rows)).collect();
                pairs = within?.concat();
            }
            left.extend(pairs);
        }
        Ok(left)
    }

    /// Whether the next shared loop, inside of loops that leave these dependences, would serialize
    /// a parallel loop of some statements.
    fn parts_here(&self, group: &[usize], left: Option<&[Dependence]>) -> Result<bool, NoSchedule> {
        let Some(left) = left else {
            return Ok(false);
        };
        let components = self.components(group, left);
        Ok(self.typed(&components, left)?.len() > 1)
    }

    /// Joins consecutive components if their shared loop is as parallel as the loop of each one
    /// alone.
    fn typed(
        &self,
        components: &[Vec<usize>],
        dependences: &[Dependence],
    ) -> Result<Vec<Vec<usize>>, NoSchedule> {
        let mut joined: Vec<Vec<usize>> = Vec::new();
        for component in components {
            if let Some(open) = joined.last_mut() {
                let both = [open.clone(), component.clone()].concat();
                let alone = self.is_parallel(open, dependences)?;
                if alone == self.is_parallel(component, dependences)?
                    && alone == self.is_parallel(&both, dependences)?
                {
                    open.extend(component);
                    continue;
                }
            }
            joined.push(component.clone());
        }
        Ok(joined)
    }

    /// Whether the next loop of statements is parallel; `None` if there is none.
    fn is_parallel(
        &self,
        group: &[usize],
        dependences: &[Dependence],
    ) -> Result<Option<bool>, NoSchedule> {
        let inside = |d: &&Dependence| group.contains(&d.first) && group.contains(&d.later);
        let own: Vec<Dependence> = dependences.iter().filter(inside).cloned().collect();
        let inputs = self.inputs(group)?;
        let all = (own.as_slice(), inputs.as_slice());
        let Some(rows) = hyperplane(self.problem, group, &self.found, all)? else {
            return Ok(None);
        };
        Ok(Some(crossed(&own, group, &rows)?.is_empty()))
    }

    /// Without a loop for all: the groups to schedule one after the other instead.
    fn cut(&self, components: Vec<Vec<usize>>, dependences: &[Dependence]) -> Vec<Vec<usize>> {
        let depth = |c: &[usize]| self.depth(c);
        let differ = components.windows(2).any(|w| depth(&w[0]) != depth(&w[1]));
        if self.fuse == Fuse::No || components.len() < 3 {
            return components;
        }
        if self.fuse == Fuse::Smart && differ {
            return joined_unless(components, |a, b| depth(a) != depth(b));
        }
        // Cuts between dependent components: smart near the center, otherwise as late as possible.
        let crossed = |k: &usize| {
            let before = components[..*k].concat();
            let crosses = |d: &Dependence| before.contains(&d.first) != before.contains(&d.later);
            dependences.iter().any(crosses)
        };
        let mut places = (1..components.len()).filter(crossed);
        let center = components.len().div_ceil(2);
        let place = match self.fuse {
            Fuse::Smart => places.min_by_key(|k| k.abs_diff(center)),
            _ => places.next_back(),
        };
        match place {
            Some(k) => vec![components[..k].concat(), components[k..].concat()],
            None => components,
        }
    }

    /// Checks that dependences which the loops around do not carry follow the order of the
    /// definition. Steps fuse loops, and keep that order inside.
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
                let [first, later] = [d.later, d.first].map(|k| self.problem.name(k));
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

/// Joins consecutive groups, unless `apart` separates them.
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
