//! The candidates that are legal.

use super::candidates::{Answer, Candidates};
use super::questions::{Question, Scope};
use super::step::Move;
use crate::ir::Nest;
use crate::legality::{BatchProver, Numbered, Reductions, Undecided, remembered, together, within};
use rayon::prelude::*;

/// What is legal next.
#[derive(Clone)]
pub struct Moves {
    /// The nest that is asked about.
    pub nest: Nest,
    /// What is asked of it.
    pub scope: Scope,
    /// Whether it is legal itself. If it is not, the moves make it so.
    pub legal: bool,
    /// By loop, in the order in which loops are printed.
    pub list: Vec<Move>,
    /// How many candidates no proof decided.
    pub undecided: usize,
}

/// How much of the polyhedral library one band may take where steps change the nest.
const OF_A_BAND: u64 = 100_000;

/// How much proofs from the definition may take together where all loops are asked about, and one of
/// them: somebody waits for them. Those at one loop have the limit of a single proof.
const OF_ALL_LOOPS: u64 = 200_000;
const OF_ONE: u64 = 80_000;

/// The same where the nest is not legal: nothing else decides there, and little makes it legal.
const OF_ALL_LOOPS_AND_MORE: u64 = 1_000_000;
const OF_ONE_AND_MORE: u64 = 300_000;

/// The moves that are legal now. To ask for few of them is quicker. Where proofs take long, some
/// candidates are left undecided.
///
/// First all candidates are looked at where they change the nest, which mostly decides. What is left is
/// proved from the definition.
///
/// # Errors
/// Nothing is known of the nest: it has no definition, or there is no proof.
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
    // Most nests are legal, and to know it takes as long as all the rest.
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

/// The stack of a thread that asks.
const STACK: usize = 16 << 20;

/// What `one` returns in this thread. `others` runs on all cores meanwhile, on threads of its own:
/// those that the process shares may be waiting for this one.
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

/// What is decided where steps change the nest, in order. Each band has a limit of its own, so that
/// nothing depends on how many cores ask.
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

/// Proves from the definition what is open, in order, within limits for all and for one question.
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
