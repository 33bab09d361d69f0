//! Rerolls unrolled loops, so that proofs do not grow with the unroll factor.
//!
//! Copies of a statement that execute equidistant instances become one statement in a loop over the
//! copies. The same holds for sequences of statements, and for loops that contain such statements.

use crate::ir::{Affine, Fill, Infix, Lookup, Loop, Name, Origin, Range, Segment, Stmt, Tree};
use std::cell::RefCell;
use std::fmt::Write;
use std::sync::Arc;

/// The longest period that is searched for.
const MAX_PERIOD: usize = 64;

/// Rerolls sequences, and counts the loops that it makes.
#[derive(Default)]
pub(super) struct Reroll {
    loops: usize,
}

/// A tree, the key that its copies share, and the numbers in which they differ.
#[derive(Clone)]
struct Item {
    tree: Tree,
    key: String,
    numbers: Vec<i64>,
}

impl Reroll {
    /// The trees of a sequence, with repetitions as loops.
    pub(super) fn sequence(&mut self, trees: &[Tree]) -> Vec<Tree> {
        let inside = trees.iter().map(|tree| match tree {
            Tree::Loop(l) => Tree::of_loop(Loop {
                body: self.sequence(&l.body),
                ..(**l).clone()
            }),
            other => other.clone(),
        });
        let mut items: Vec<Item> = inside.map(Item::of).collect();
        loop {
            let before = items.len();
            items = self.pass(&items);
            if items.len() == before {
                return items.into_iter().map(|item| item.tree).collect();
            }
        }
    }

    fn pass(&mut self, items: &[Item]) -> Vec<Item> {
        let mut result = Vec::with_capacity(items.len());
        let mut rest = items;
        while let [first, others @ ..] = rest {
            let periods = 1..=MAX_PERIOD.min(rest.len() / 2);
            let found = periods
                .map(|period| (period, repetitions(rest, period)))
                .find(|(_, count)| *count > 1);
            match found {
                Some((period, count)) => {
                    result.push(self.roll(&rest[..2 * period], count));
                    rest = &rest[period * count..];
                }
                None => {
                    result.push(first.clone());
                    rest = others;
                }
            }
        }
        result
    }

    /// The loop that runs the first half of `two` `count` times, such that the second iteration is
    /// the other half.
    fn roll(&mut self, two: &[Item], count: usize) -> Item {
        self.loops += 1;
        let counter = Name::generated(self.loops);
        let (block, next) = two.split_at(two.len() / 2);
        let body = block.iter().zip(next).map(|(item, next)| {
            let steps = item.numbers.iter().zip(&next.numbers);
            let mut steps = steps.map(|(a, b)| Affine::iterator(counter.clone()).times(b - a));
            advance(&item.tree, &mut steps)
        });
        let range = Range::constant(0, i64::try_from(count).unwrap_or(i64::MAX));
        let l = Loop::serial(counter.clone(), range, body.collect());
        Item::of(Tree::of_loop(l))
    }
}

/// The number of consecutive equidistant repetitions of the first `period` items.
fn repetitions(items: &[Item], period: usize) -> usize {
    let follows = |k: usize| {
        let Some(blocks) = items.get((k - 1) * period..(k + 1) * period) else {
            return false;
        };
        let (block, next) = blocks.split_at(period);
        let same_step = |(p, (a, b)): (usize, (&Item, &Item))| {
            let (first, second) = (&items[p], &items[period + p]);
            let steps = first.numbers.iter().zip(&second.numbers);
            a.key == b.key
                && steps
                    .zip(a.numbers.iter().zip(&b.numbers))
                    .all(|((x, y), (a, b))| y.wrapping_sub(*x) == b.wrapping_sub(*a))
        };
        block.iter().zip(next).enumerate().all(same_step)
    };
    1 + (1..).take_while(|k| follows(*k)).count()
}

impl Item {
    fn of(tree: Tree) -> Item {
        let mut item = Item {
            tree: tree.clone(),
            key: String::new(),
            numbers: Vec::new(),
        };
        item.describe(&tree, &mut Vec::new());
        item
    }

    /// Splits a tree into the key that copies share and the numbers in which they differ, in the
    /// order of [`advance`]. The key names inner loops by their depth.
    fn describe(&mut self, tree: &Tree, inside: &mut Vec<Name>) {
        match tree {
            Tree::Loop(l) => {
                let Range {
                    lower, upper, step, ..
                } = &l.range;
                let _ = write!(self.key, "for {step} {:?} {} {{", l.mode, lower.len());
                if let Some(Segment { lower, upper, step }) = &l.range.within {
                    let lower = lower.iter().map(Lookup::to_string).collect::<String>();
                    let _ = write!(self.key, "{lower}..{upper} {step} ");
                }
                lower
                    .iter()
                    .chain(upper)
                    .for_each(|a| self.affine(a, inside));
                inside.push(l.name.clone());
                l.body.iter().for_each(|t| self.describe(t, inside));
                inside.pop();
                self.key.push('}');
            }
            Tree::Stmt(s) => {
                let value = s.value.map_indices(&|_| Affine::default());
                let update = s.update.map_or("", |op| op.symbol());
                let _ = write!(
                    self.key,
                    "{} {update}= {} ",
                    s.target.label(),
                    Infix(&value)
                );
                s.index.iter().for_each(|a| self.affine(a, inside));
                s.value.for_each_index(&mut |a| self.affine(a, inside));
                if let Some(origin) = &s.origin {
                    let _ = write!(self.key, "S{} ", origin.assignment);
                    origin.point.iter().for_each(|a| self.affine(a, inside));
                }
            }
            Tree::Fill(fill) => {
                let extents: Vec<&Affine> = fill.region.iter().map(|(_, n)| n).collect();
                let (target, value) = (fill.target.label(), fill.value);
                let assignment = fill.origin.as_ref().map(|o| o.assignment);
                let _ = write!(self.key, "{target} F{assignment:?} {extents:?} {value} ");
                fill.region
                    .iter()
                    .for_each(|(low, _)| self.affine(low, inside));
                let point = fill.origin.iter().flat_map(|o| &o.point);
                point.for_each(|a| self.affine(a, inside));
            }
            Tree::Local(tensor) => {
                let _ = write!(self.key, "local {tensor}");
            }
        }
    }

    fn affine(&mut self, a: &Affine, inside: &[Name]) {
        for (name, c) in a.terms() {
            let _ = match inside.iter().position(|n| n == name) {
                Some(depth) => write!(self.key, "{c}#{depth} "),
                None => write!(self.key, "{c}{name} "),
            };
        }
        self.key.push(',');
        self.numbers.push(a.offset());
    }
}

/// The tree with the next of `steps` added to each of its numbers.
fn advance(tree: &Tree, steps: &mut dyn Iterator<Item = Affine>) -> Tree {
    let steps = RefCell::new(steps);
    let next = |a: &Affine| match steps.borrow_mut().next() {
        Some(step) => a.plus(&step),
        None => a.clone(),
    };
    let all = |index: &[Affine]| index.iter().map(next).collect::<Vec<_>>();
    match tree {
        Tree::Loop(l) => {
            let range = Range {
                lower: all(&l.range.lower),
                upper: all(&l.range.upper),
                ..l.range.clone()
            };
            let body = l.body.iter().map(|t| advance(t, &mut **steps.borrow_mut()));
            Tree::of_loop(Loop {
                range,
                body: body.collect(),
                ..(**l).clone()
            })
        }
        Tree::Stmt(s) => {
            let index = all(&s.index);
            let value = s.value.map_indices(&next);
            let origin = s.origin.as_ref().map(|origin| Origin {
                assignment: origin.assignment,
                point: all(&origin.point),
            });
            Tree::Stmt(Arc::new(Stmt {
                target: s.target.clone(),
                index,
                update: s.update,
                value,
                origin,
            }))
        }
        Tree::Fill(fill) => {
            let region = fill.region.iter().map(|(low, n)| (next(low), n.clone()));
            let region = region.collect();
            let origin = fill.origin.as_ref().map(|origin| Origin {
                assignment: origin.assignment,
                point: all(&origin.point),
            });
            Tree::Fill(Arc::new(Fill {
                region,
                origin,
                ..(**fill).clone()
            }))
        }
        Tree::Local(_) => tree.clone(),
    }
}
