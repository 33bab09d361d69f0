//! A cache of answers: searches ask about a nest again on every way that leads from it.

use super::moves::{Moves, moves};
use super::questions::Scope;
use crate::ir::Nest;
use crate::legality::{Inquiry, Reductions, Undecided};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

/// The number of cached answers.
const KEPT: usize = 64;

type Answers = VecDeque<(Inquiry, Scope, Arc<Moves>)>;

thread_local! {
    /// The most recent answers. Each thread has its own, as it has its own polyhedral library.
    static ANSWERS: RefCell<Answers> = const { RefCell::new(VecDeque::new()) };
}

/// The cached result of [`moves`].
///
/// # Errors
/// As [`moves`].
pub fn known(nest: &Nest, scope: &Scope, reductions: Reductions) -> Result<Arc<Moves>, Undecided> {
    let inquiry = Inquiry::of(std::slice::from_ref(nest), reductions);
    let found = ANSWERS.with_borrow(|answers| {
        let mut all = answers.iter().rev();
        let same = all.find(|(asked, of, _)| of == scope && *asked == inquiry);
        same.map(|(.., answer)| answer.clone())
    });
    if let Some(found) = found {
        return Ok(found);
    }
    let answer = Arc::new(moves(nest, scope, reductions)?);
    ANSWERS.with_borrow_mut(|answers| {
        if answers.len() == KEPT {
            answers.pop_front();
        }
        answers.push_back((inquiry, scope.clone(), answer.clone()));
    });
    Ok(answer)
}
