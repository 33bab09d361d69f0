//! The function of a script that makes nests of points.

use crate::actions::space::{Failed, halt, to_map};
use crate::actions::strategy::refusal;
use crate::binding::call::Call;
use crate::ir::Nest;
use crate::messages::fail::Failure;
use crate::tune::{self, Halt, Made, Maker, Model, Point};
use crate::values;
use rhai::{Array, Dynamic, FnPtr};

/// The function that makes nests of points.
pub(super) struct Closure<'a> {
    /// The call of `tune`.
    pub(super) call: &'a Call<'a>,
    /// The function.
    pub(super) closure: FnPtr,
    /// Gets its first failure.
    pub(super) failed: &'a Failed,
    /// Predicts the time of nests.
    pub(super) model: Model,
}

impl Maker for Closure<'_> {
    fn make(&mut self, point: &Point) -> Result<Made, Halt> {
        let point = Dynamic::from(to_map(point));
        let made = self.closure.call_raw(self.call.context(), None, [point]);
        let made: Dynamic = match made {
            Ok(made) => made,
            Err(error) => match refusal(&error) {
                Some(why) => return Ok(Made::Refused(tune::reason(&why))),
                None => return Err(halt(self.failed, Failure::inside(error))),
            },
        };
        if made.is_unit() {
            return Ok(Made::Refused("the function returns `()`".to_owned()));
        }
        let nest = |value: &Dynamic| value.read_lock::<Nest>().map(|nest| nest.clone());
        let list = || {
            let list = made.read_lock::<Array>()?;
            list.iter().map(nest).collect::<Option<Vec<Nest>>>()
        };
        let nests = nest(&made).map(|nest| vec![nest]).or_else(list);
        match nests.filter(|nests| !nests.is_empty()) {
            Some(nests) => Ok(Made::Nests(nests)),
            None => {
                let given = values::describe(&made);
                let what = format!("must return a nest or a list of nests, not {given}");
                Err(halt(self.failed, self.call.fail(1, &what)))
            }
        }
    }

    fn predict(&mut self, nests: &[Nest]) -> Option<f64> {
        self.model
            .predict(nests)
            .map(|prediction| prediction.seconds)
    }
}
