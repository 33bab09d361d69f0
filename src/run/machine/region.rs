//! Measures the overhead of a parallel loop: the time to begin and end loops with almost no work,
//! and the operations that one thread executes in that time.
//!
//! Source: from which sizes threads pay; Ullrich, Detection and Exploitation of Data-Parallelism in
//! Assignments of Multi-Dimensional Tensors, 2018, §7.

use super::Machine;
use super::kernels;
use super::measured::Region;
use super::memo::{self, Probed, are_quiet, forget};
use crate::ir::Elem;
use crate::runtime::{
    self, Budget, Control, Data, Options, RuntimeError, Scalar, Workload, cache_file,
    key_of_processor,
};
use std::path::PathBuf;

impl Probed for Region {
    fn is_quiet(&self) -> bool {
        self.quiet
    }

    fn is_faster(&self, other: &Region) -> bool {
        self.seconds < other.seconds
    }
}

impl Region {
    /// The remembered cost.
    pub(super) fn known(machine: &Machine, control: &Control) -> Option<Region> {
        memo::known(file(machine, control).as_deref())
    }

    /// The remembered cost, or a new measurement; `None` if loops run on one thread.
    ///
    /// # Errors
    /// As [`runtime::compile`] and [`runtime::measure`].
    pub(super) fn measured(
        machine: &Machine,
        control: &Control,
    ) -> Result<Option<Region>, RuntimeError> {
        let file = file(machine, control);
        memo::measured(file.as_deref(), || probe(machine, control))
    }

    pub(super) fn forget(machine: &Machine, control: &Control) {
        forget(file(machine, control).as_deref());
    }
}

/// The file that remembers the cost. Like that of the capacity of caches, it does not depend on a
/// compiler.
fn file(machine: &Machine, control: &Control) -> Option<PathBuf> {
    let key = key_of_processor(&format!("{} {:?}", machine.threads, machine.vector));
    cache_file(control, &format!("region-{key}.json"))
}

fn probe(machine: &Machine, control: &Control) -> Result<Option<Region>, RuntimeError> {
    if machine.threads < 2 {
        return Ok(None);
    }
    let compile = |kernel| runtime::compile(&kernel, &Options::default(), control);
    let (loops, fma) = (kernels::region(machine), kernels::fma(machine, Elem::F64));
    let (loops, fma) = (compile(loops)?, compile(fma)?);
    if loops.is_serial() {
        return Ok(None);
    }
    let variant = |label: &str, kernel, threads| Workload {
        label: label.to_owned(),
        kernel,
        data: vec![Data::Unset, Data::Constant(Scalar::Float(0.5))],
        threads,
        apart: false,
        checked: None,
    };
    let variants = [
        variant("parallel loops", loops, machine.threads),
        variant("arithmetic", fma, 1),
    ];
    let each = control.probe_time / 4;
    let budget = Budget::of(5..=50, each);
    let timings = match runtime::measure(&variants, &budget, &kernels::bounded(control)) {
        Ok(timings) => timings,
        Err(RuntimeError::TimedOut { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let quiet = are_quiet(&timings);
    let [loops, fma] = timings.as_slice() else {
        return Ok(None);
    };
    let seconds = loops.median.as_secs_f64() / kernels::LOOPS as f64;
    // A fused multiply-add is one vector operation, and two operations on each element.
    let lanes = machine.vector.as_ref().map_or(16, |v| v.bytes) / Elem::F64.size();
    let all = kernels::operations(machine, Elem::F64, 1) / (2 * lanes) as f64;
    let rate = all / fma.min.as_secs_f64().max(1e-9);
    Ok(Some(Region {
        seconds,
        operations: seconds * rate,
        quiet,
    }))
}
