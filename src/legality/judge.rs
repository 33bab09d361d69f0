//! Whether many variants of one nest are legal, with what they have in common worked out once.
//!
//! The dependences are those of the definition, which all variants share. What variants compute
//! one iteration after the other does not depend on their parallel and vector loops, nor whether a
//! loop is independent on how the others are marked.

use super::check::{OPERATIONS, Reductions, Undecided, is_reordered, known, reassociates};
use super::concurrent::{Marked, is_independent, marked};
use super::equal::{self, Operands};
use super::order::Order;
use super::program::{Program, What};
use super::reroll::Reroll;
use crate::ir::{Loop, Name, Nest, Origin, Sharing, Tree};
use crate::poly::{self, Error};

/// Answers for variants of a nest what [`check`](fn@super::check) answers for one.
pub struct Judge<'a> {
    nest: &'a Nest,
    reductions: Reductions,
    order: Option<Order>,
    judged: Vec<Judged>,
}

/// A variant without its parallel and vector loops, and what is known of it.
struct Judged {
    trees: Vec<Tree>,
    /// What its statements and fills execute of the definition, in textual order.
    origins: Vec<Option<Origin>>,
    in_sequence: bool,
    independent: Vec<(Name, Option<i64>, bool)>,
}

impl<'a> Judge<'a> {
    /// A judge of variants of `nest`.
    pub fn of(nest: &'a Nest, reductions: Reductions) -> Judge<'a> {
        Judge {
            nest,
            reductions,
            order: None,
            judged: Vec::new(),
        }
    }

    /// Whether `variant`, which has the definition of the nest, computes what that says.
    ///
    /// # Errors
    /// That is not known.
    pub fn is_legal(&mut self, variant: &Nest) -> Result<bool, Undecided> {
        if variant.originals().is_empty() || variant.originals() != self.nest.originals() {
            return Err(Undecided::NoDefinition);
        }
        let nests = std::slice::from_ref(variant);
        let trees = [variant.trees().to_vec()];
        known(&Program::of(nests, &trees))?;
        let rolled = [Reroll::default().sequence(variant.trees())];
        let program = Program::of(nests, &rolled);
        let bare = bare(&rolled[0]);
        let origins = origins(&program);
        let same = |j: &Judged| j.trees == bare && j.origins == origins;
        let k = match self.judged.iter().position(same) {
            Some(k) => k,
            None => {
                let in_sequence = self.in_sequence(&program)?;
                self.judged.push(Judged {
                    trees: bare,
                    origins,
                    in_sequence,
                    independent: Vec::new(),
                });
                self.judged.len() - 1
            }
        };
        let judged = &mut self.judged[k];
        if !judged.in_sequence {
            return Ok(false);
        }
        for marked in marked(&program) {
            if !judged.is_independent(&program, &marked)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether it is legal if no two iterations run at the same time.
    fn in_sequence(&mut self, program: &Program) -> Result<bool, Undecided> {
        let reductions = self.reductions;
        let reassociates = |a: usize| reassociates(program, a, reductions);
        if !is_reordered(program) {
            let operands = Operands::of(program)?;
            let wrong = || equal::wrong(program, &operands, &reassociates);
            return Ok(poly::bounded(OPERATIONS, wrong)?.is_none());
        }
        let order = match self.order.take() {
            Some(order) => order,
            None => poly::bounded(OPERATIONS, || Order::of(program, &reassociates))?,
        };
        let holds = poly::bounded(OPERATIONS, || order.holds(program));
        self.order = Some(order);
        Ok(holds?)
    }
}

impl Judged {
    fn is_independent(&mut self, program: &Program, marked: &Marked) -> Result<bool, Error> {
        let known = self.independent.iter();
        let mut known =
            known.filter(|(name, lanes, _)| (name, lanes) == (marked.name(), &marked.lanes));
        if let Some((.., independent)) = known.next() {
            return Ok(*independent);
        }
        let independent = poly::bounded(OPERATIONS, || is_independent(program, marked))?;
        let (name, lanes) = (marked.name().clone(), marked.lanes);
        self.independent.push((name, lanes, independent));
        Ok(independent)
    }
}

/// The trees without parallel and vector loops.
fn bare(trees: &[Tree]) -> Vec<Tree> {
    let bare = trees.iter().map(|tree| match tree {
        Tree::Loop(l) => Tree::of_loop(Loop {
            parallel: false,
            sharing: Sharing::default(),
            vector: false,
            lanes: None,
            body: bare(&l.body),
            ..(**l).clone()
        }),
        other => other.clone(),
    });
    bare.collect()
}

fn origins(program: &Program) -> Vec<Option<Origin>> {
    let leaves = program.leaves.iter().map(|leaf| match leaf.what {
        What::Stmt(s) => s.origin.clone(),
        What::Fill(fill) => fill.origin.clone(),
    });
    leaves.collect()
}
