//! Single executions of statements and fills.

use super::answer::Instance;
use crate::ir::{Affine, Fill, Name, Stmt};

/// One execution of a statement or fill.
pub(super) struct Executed<'a> {
    pub(super) what: What<'a>,
    pub(super) point: Vec<(&'a Name, i64)>,
}

#[derive(Clone, Copy)]
pub(super) enum What<'a> {
    Stmt(&'a Stmt),
    Fill(&'a Fill),
}

impl Executed<'_> {
    pub(super) fn instance(&self) -> Instance {
        let value = |name: &Name| {
            let known = self.point.iter().find(|(n, _)| *n == name);
            known.map(|(_, value)| Affine::constant(*value))
        };
        let statement = match self.what {
            What::Stmt(s) => s.substitute(&value).to_string(),
            What::Fill(fill) => Fill {
                region: fill
                    .region
                    .iter()
                    .map(|(low, n)| (low.substitute(&value), n.substitute(&value)))
                    .collect(),
                ..fill.clone()
            }
            .to_string(),
        };
        Instance {
            statement,
            iteration: self.point.iter().map(|(n, v)| ((*n).clone(), *v)).collect(),
        }
    }
}
