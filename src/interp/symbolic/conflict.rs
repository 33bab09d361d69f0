//! Which iterations of parallel and vector loops touched an element.

use super::machine::Executed;
use crate::ir::Loop;
use std::rc::Rc;

/// An iteration of a loop whose iterations may run at the same time.
pub(super) struct Iteration<'a> {
    pub(super) of: &'a Loop,
    /// Which execution of the loop: each one, of whatever loop, has another number.
    pub(super) execution: u64,
    pub(super) value: i64,
}

/// Two iterations, and what touches the element in them.
pub(super) type Pair<'a> = [(i64, Rc<Executed<'a>>); 2];

/// What touched an element, for each loop around it whose iterations may run at the same time,
/// outermost first. As long as there is no conflict, an element that is written is touched by one
/// iteration alone, and any number may read it otherwise.
#[derive(Clone, Default)]
pub(super) struct Touches<'a>(Vec<Touch<'a>>);

#[derive(Clone)]
struct Touch<'a> {
    execution: u64,
    first: (i64, Rc<Executed<'a>>),
    /// Another iteration that reads it.
    another: Option<(i64, Rc<Executed<'a>>)>,
    written: bool,
}

impl<'a> Touches<'a> {
    /// Adds an access; on a conflict, the loop that has it, and the two iterations.
    pub(super) fn touch(
        &mut self,
        around: &[Iteration<'a>],
        by: &Rc<Executed<'a>>,
        writes: bool,
    ) -> Result<(), (&'a Loop, Pair<'a>)> {
        for (level, iteration) in around.iter().enumerate() {
            let own = (iteration.value, by.clone());
            match self.0.get_mut(level) {
                Some(touch) if touch.execution == iteration.execution => {
                    touch
                        .add(own, writes)
                        .map_err(|pair| (iteration.of, pair))?;
                }
                _ => {
                    // What is further in belongs to another iteration.
                    self.0.truncate(level);
                    self.0.push(Touch {
                        execution: iteration.execution,
                        first: own,
                        another: None,
                        written: writes,
                    });
                }
            }
        }
        Ok(())
    }
}

impl<'a> Touch<'a> {
    fn add(&mut self, own: (i64, Rc<Executed<'a>>), writes: bool) -> Result<(), Pair<'a>> {
        let is_first = own.0 == self.first.0;
        if self.written && !is_first {
            return Err([self.first.clone(), own]);
        }
        if writes {
            let other = match (&self.another, is_first) {
                (None, true) => None,
                (Some(another), true) => Some(another),
                (_, false) => Some(&self.first),
            };
            if let Some(other) = other {
                return Err([other.clone(), own]);
            }
            self.written = true;
            self.first = own;
        } else if !is_first {
            self.another.get_or_insert(own);
        }
        Ok(())
    }
}
