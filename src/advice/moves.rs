//! The candidates that are legal.

use super::candidates::{Answer, Candidates};
use super::questions::{Question, Scope};
use super::step::Move;
use crate::ir::{Name, Nest};
use crate::legality::{Judge, Numbered, Reductions, Undecided, remembered, together, within};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is legal next.
#[derive(Clone)]
pub struct Moves {
    /// The nest that is asked about.
    pub nest: Nest,
    /// The loop that is asked about; `None` for all of them.
    pub at: Option<Name>,
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
    let mut judge = Judge::of(nests, reductions);
    let mut bands = Question::by_band(nest, scope);
    if !judge.regroups() {
        for band in &mut bands {
            band.retain(|question| !question.regroups());
        }
    }
    let numbered = Numbered::of(nest);
    let candidates = |legal: bool| Candidates::of(nest, legal, &numbered, reductions);
    let (legal, answered) = match remembered(nests, reductions) {
        Some(legal) => (legal, None),
        // Most nests are legal, and to know it takes as long as all the rest.
        None => {
            let (legal, answered) = beside(
                || judge.is_legal(nests),
                || decided(&bands, || candidates(true)),
            );
            let legal = legal?;
            (legal, legal.then_some(answered))
        }
    };
    let mut answered = answered.unwrap_or_else(|| decided(&bands, || candidates(legal)));
    answered.sort_by_key(|(question, _)| (question.regroups(), question.place()));
    let limits = match (scope, legal) {
        (Scope::At(_), _) => None,
        (_, true) => Some((OF_ALL_LOOPS, OF_ONE)),
        (_, false) => Some((OF_ALL_LOOPS_AND_MORE, OF_ONE_AND_MORE)),
    };
    prove(&mut answered, candidates(legal), limits);
    answered.sort_by_key(|(question, _)| question.place());
    let at = match scope {
        Scope::At(name) => Some(name.clone()),
        Scope::All | Scope::Of(_) => None,
    };
    Ok(Moves {
        undecided: answered.iter().map(|(_, answer)| answer.open).sum(),
        nest: nest.clone(),
        at,
        legal,
        list: answered
            .into_iter()
            .flat_map(|(_, answer)| answer.moves)
            .collect(),
    })
}

/// The stack of a thread that asks.
const STACK: usize = 16 << 20;

/// Both at the same time, the second one in a thread of its own if there can be one.
fn beside<A, B: Send>(one: impl FnOnce() -> A, other: impl Fn() -> B + Send + Sync) -> (A, B) {
    std::thread::scope(|threads| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let thread = thread.spawn_scoped(threads, &other);
        let one = one();
        let other = match thread.map(|thread| thread.join()) {
            Ok(done) => done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => other(),
        };
        (one, other)
    })
}

/// What is decided where steps change the nest. Each band has a limit of its own, so that nothing
/// depends on how many cores ask.
fn decided<'n, 'a>(
    bands: &[Vec<Question<'n>>],
    candidates: impl Fn() -> Candidates<'a> + Sync,
) -> Vec<(Question<'n>, Answer)> {
    let next = AtomicUsize::new(0);
    let ask = || {
        let mut candidates = candidates();
        let mut answered = Vec::new();
        while let Some(band) = bands.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut decide = || candidates.decided(band);
            // Without the polyhedral library nothing takes long.
            answered.extend(within(OF_A_BAND, &mut decide).unwrap_or_else(decide));
        }
        answered
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // Not on threads that others share: one of them may wait for this one.
    std::thread::scope(|threads| {
        let others = (1..cores.min(bands.len())).filter_map(|_| {
            let thread = std::thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(threads, ask).ok()
        });
        let others: Vec<_> = others.collect();
        let mut answered = ask();
        for other in others {
            match other.join() {
                Ok(own) => answered.extend(own),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        answered
    })
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
