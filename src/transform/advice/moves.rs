//! Finds the legal candidates.

use super::candidates::{Answer, Candidates};
use super::questions::{Question, Scope};
use super::step::Move;
use crate::ir::Nest;
use crate::legality::{BatchProver, Numbered, Reductions, Undecided, remembered, together, within};
use rayon::prelude::*;

/// The legal next steps of a nest.
#[derive(Clone)]
pub struct Moves {
    pub nest: Nest,
    /// The scope of the question.
    pub scope: Scope,
    /// Whether the nest is legal. If not, the moves make it legal.
    pub legal: bool,
    /// The moves by loop, in the order in which loops are printed.
    pub list: Vec<Move>,
    /// The number of undecided candidates.
    pub undecided: usize,
}

/// The budget of polyhedral operations of a band, for judging the changed parts.
const OF_A_BAND: u64 = 100_000;

/// The shared budget of proofs from the definition if all loops are in scope, and the budget of one
/// question. A user waits for them. A question about one loop has the budget of a single proof.
const OF_ALL_LOOPS: u64 = 200_000;
const OF_ONE: u64 = 80_000;

/// The same if the nest is illegal. Then nothing else decides, and few steps make the nest legal.
const OF_ALL_LOOPS_AND_MORE: u64 = 1_000_000;
const OF_ONE_AND_MORE: u64 = 300_000;

/// The legal next steps. A narrower scope is faster. Some candidates stay undecided if proofs take
/// long.
///
/// All candidates are first judged where they change the nest, which decides most of them. The
/// definition decides the rest.
///
/// # Errors
/// Nothing is known of the nest: it has no definition, or the proof is undecided.
pub fn moves(nest: &Nest, scope: &Scope, reductions: Reductions) -> Result<Moves, Undecided> {
    let nests = std::slice::from_ref(nest);
    let mut prover = BatchProver::of(nests, reductions);
    let mut bands = Question::by_band(nest, scope);
    if !prover.regroups() {
        for band in &mut bands {
            band.retain(|question| !question.regroups());
        }
    }
    let numbered = Numbered::of(nest);
    let candidates = |legal: bool| Candidates::of(nest, legal, &numbered, reductions);
    let known = remembered(nests, reductions);
    // Most nests are legal, and the proof takes as long as everything else.
    let supposed = known.unwrap_or(true);
    let mut answered = Vec::new();
    let legal = beside(
        || known.map_or_else(|| prover.is_legal(nests), Ok),
        || answered = decided(&bands, || candidates(supposed)),
    )?;
    if legal != supposed {
        let again = || answered = decided(&bands, || candidates(legal));
        beside(|| (), again);
    }
    answered.sort_by_key(|(question, _)| (question.regroups(), question.place()));
    let limits = match (scope, legal) {
        (Scope::At(_), _) => None,
        (_, true) => Some((OF_ALL_LOOPS, OF_ONE)),
        (_, false) => Some((OF_ALL_LOOPS_AND_MORE, OF_ONE_AND_MORE)),
    };
    prove(&mut answered, candidates(legal), limits);
    answered.sort_by_key(|(question, _)| question.place());
    Ok(Moves {
        undecided: answered.iter().map(|(_, answer)| answer.open).sum(),
        nest: nest.clone(),
        scope: scope.clone(),
        legal,
        list: answered
            .into_iter()
            .flat_map(|(_, answer)| answer.moves)
            .collect(),
    })
}

/// The stack size of a worker thread.
const STACK: usize = 16 << 20;

/// Runs `one` in this thread, and `others` on all cores at the same time. It uses separate threads,
/// since the threads of the global pool may be waiting for this one.
fn beside<T>(one: impl FnOnce() -> T, others: impl FnOnce() + Send) -> T {
    match rayon::ThreadPoolBuilder::new().stack_size(STACK).build() {
        Ok(threads) => threads.in_place_scope(|scope| {
            scope.spawn(|_| others());
            one()
        }),
        Err(_) => {
            others();
            one()
        }
    }
}

/// The answers that follow from the changed parts, in order. Each band has its own budget, so that
/// answers do not depend on the number of cores.
fn decided<'n, 'a>(
    bands: &[Vec<Question<'n>>],
    candidates: impl Fn() -> Candidates<'a> + Send + Sync,
) -> Vec<(Question<'n>, Answer)> {
    let ask = |candidates: &mut Candidates<'a>, band: &Vec<Question<'n>>| {
        let mut decide = || candidates.decided(band);
        // Without the polyhedral library nothing takes long.
        within(OF_A_BAND, &mut decide).unwrap_or_else(decide)
    };
    let answered = bands.par_iter().map_init(candidates, ask);
    answered.flatten_iter().collect()
}

/// Proves the open questions from the definition, in order, within a shared budget and one for each
/// question.
fn prove(
    answered: &mut [(Question, Answer)],
    mut candidates: Candidates,
    limits: Option<(u64, u64)>,
) {
    let mut ask = |limit: u64| {
        for (question, answer) in answered.iter_mut().filter(|(_, answer)| answer.open > 0) {
            let proved = within(limit, || candidates.proved(question));
            match proved {
                Some(proved) if proved.open <= answer.open => *answer = proved,
                Some(_) | None => {}
            }
        }
    };
    match limits {
        None => together(&mut || ask(u64::MAX)),
        Some((all, one)) => _ = within(all, || ask(one)),
    }
}
