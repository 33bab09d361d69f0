//! The predicted time of nests, and the share of the machine's peak that it amounts to.

use crate::codegen;
use crate::ir::Nest;
use crate::machine::{self, Demand, Machine, Rates};
use crate::runtime::Control;
use crate::trial::{self, Work};
use crate::tune::Model;

/// The cost model and the rates of this machine.
pub struct Forecast {
    model: Model,
    /// Those of all threads, if they were measured.
    rates: Option<Rates>,
    caches: u64,
}

/// Bounds that another order of operations moves.
const OF_THE_CORE: [&str; 5] = [
    "arithmetic",
    "latency",
    "loads and stores",
    "loop overhead",
    "parallel loops",
];

impl Forecast {
    /// The forecast for the threads of `control`.
    pub fn of(control: &Control) -> Forecast {
        let rates = machine::known_speed(control.threads, control);
        Forecast {
            model: Model::known(control),
            rates: rates.map(|speed| speed.rates),
            caches: Machine::known(control).last_caches(),
        }
    }

    /// The seconds that the cost model expects of nests that run in order; `None` where they are
    /// beyond it.
    pub fn seconds(&self, nests: &[Nest]) -> Option<f64> {
        let prediction = self.model.predict(nests)?;
        Some(prediction.seconds)
    }

    /// Whether it expects that data from memory or a shared cache bounds the nests.
    pub fn is_bound_by_data(&self, nests: &[Nest]) -> bool {
        let prediction = self.model.predict(nests);
        prediction.is_some_and(|p| !OF_THE_CORE.contains(&p.bound.as_str()))
    }

    /// The seconds that it expects of the nests that `nest` makes of each of `variants`.
    pub fn seconds_of_each<T: Sync>(
        &self,
        variants: &[T],
        nest: impl Fn(&T) -> Option<Nest> + Sync,
    ) -> Vec<Option<f64>> {
        let predictions = self.model.predict_each(variants, nest).into_iter();
        predictions.map(|p| Some(p?.seconds)).collect()
    }

    /// The least time that the machine needs over `seconds`, if its rates were measured, and no device
    /// runs the nests.
    pub fn share(&self, nests: &[Nest], seconds: f64) -> Option<f64> {
        if codegen::is_on_device(nests) {
            return None;
        }
        Some(self.least(&trial::work(nests))? / seconds)
    }

    /// A lower bound on the seconds: the time of the operations, or that of moving inputs and
    /// results if they exceed the caches.
    pub fn least(&self, work: &Work) -> Option<f64> {
        let demand = Demand {
            elem: work.elem,
            flops: work.flops,
            read: work.read,
            written: work.written,
        };
        let (_, seconds) = self.rates?.limit(&demand, self.caches)?;
        Some(seconds)
    }
}
