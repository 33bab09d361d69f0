//! All points, in lexical order: the last parameter changes first.

use super::outlook::{Outlook, Proposed, Search};
use crate::tune::space::{ConfigIndex, Halt};

#[derive(Default)]
pub struct Exhaustive {
    /// The next digits; `None` before the first.
    next: Option<ConfigIndex>,
    is_done: bool,
}

impl Search for Exhaustive {
    fn fill(&mut self, outlook: &mut Outlook<'_, '_>, proposed: &mut Proposed) -> Result<(), Halt> {
        while !proposed.is_full() && !self.is_done {
            let digits = match self.next.take() {
                Some(digits) => digits,
                None => outlook.space.first(),
            };
            proposed.add(outlook, &digits)?;
            self.next = outlook.space.after(&digits)?;
            self.is_done = self.next.is_none();
        }
        Ok(())
    }
}
