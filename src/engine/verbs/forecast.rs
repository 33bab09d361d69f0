//! The predicted time of nests, and the share of the machine's peak that it amounts to.

use crate::codegen;
use crate::ir::Nest;
use crate::machine::{self, Demand, Machine, Rates, Resource};
use crate::runtime::Control;
use crate::target::Device;
use crate::trial::{self, Work};
use crate::tune::{Model, Prediction};

/// The cost model and the rates of this machine.
pub struct Forecast {
    model: Model,
    /// Those of all threads, if they were measured.
    rates: Option<Rates>,
    caches: u64,
    /// The rates of the device, and its cache, if they are known.
    device: Option<(Rates, u64)>,
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
    /// The forecast for the threads of `control`, and the device of this machine.
    pub fn of(control: &Control) -> Forecast {
        Forecast::with_device(control, &Device::here())
    }

    /// The forecast for the threads of `control`, and a device.
    pub fn with_device(control: &Control, device: &Device) -> Forecast {
        let of_device = machine::device_rates(device, control);
        let cache = || machine::known_device(device.api, control)?.l2;
        let rates = machine::known_speed(control.threads, control);
        Forecast {
            model: Model::known(control),
            rates: rates.map(|speed| speed.rates),
            caches: Machine::known(control).last_caches(),
            device: of_device.map(|rates| (rates, device.l2.or_else(cache).unwrap_or(0))),
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

    /// The least time that the machine, or the device that runs the nests, needs over `seconds`, if its
    /// rates were measured.
    pub fn share(&self, nests: &[Nest], seconds: f64) -> Option<f64> {
        let (_, least) = self.limit(nests)?;
        Some(least / seconds)
    }

    /// The least time that a device needs for nests, and the resource that limits them. `None` if its
    /// rates are not known.
    pub fn on_device(&self, nests: &[Nest]) -> Option<Prediction> {
        let (resource, seconds) = self.limit(nests)?;
        let (bound, why) = match resource {
            Resource::Arithmetic => ("arithmetic", "the device does no more operations at once"),
            Resource::Memory => (
                "memory",
                "inputs and results pass the memory of the device once",
            ),
        };
        Some(Prediction {
            seconds,
            bound: bound.to_owned(),
            why: why.to_owned(),
            parts: vec![(bound.to_owned(), seconds)],
        })
    }

    /// A lower bound on the seconds on the processor: the time of the operations, or that of moving
    /// inputs and results if they exceed the caches.
    pub fn least(&self, work: &Work) -> Option<f64> {
        let (_, seconds) = self.rates?.limit(&demand(work), self.caches)?;
        Some(seconds)
    }

    /// The same for nests, where they run, with the limiting resource.
    fn limit(&self, nests: &[Nest]) -> Option<(Resource, f64)> {
        let (rates, caches) = match codegen::is_on_device(nests) {
            true => self.device?,
            false => (self.rates?, self.caches),
        };
        rates.limit(&demand(&trial::work(nests)), caches)
    }
}

fn demand(work: &Work) -> Demand {
    Demand {
        elem: work.elem,
        flops: work.flops,
        read: work.read,
        written: work.written,
    }
}
