//! How far the tuner's cost model orders variants as their measured times do.

use super::kernels::Script;
use crate::runtime::Control;
use crate::script::{ScriptError, Session, Size, Tuning, Workbench};
use crate::trial::Tune;
use crate::tune::Strategy;
use std::sync::Arc;

/// The model and the times of one kernel.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The kernel.
    pub kernel: String,
    /// How many variants have times.
    pub variants: usize,
    /// Their rank correlation with what the model expects; `None` if there are too few.
    pub correlation: Option<f64>,
    /// Why nothing was measured.
    pub why: Option<String>,
}

/// Measures random variants of the first nests that a script compares, `trials` of them.
pub fn agreement(
    script: &Script,
    parameters: &[(String, String)],
    size: Size,
    trials: usize,
    control: &Control,
) -> Agreement {
    let workbench = Workbench {
        runner: Arc::new(Tune),
        control: control.clone(),
        parameters: parameters.to_vec().into(),
        size,
        tuning: Tuning {
            trials: Some(trials),
            strategy: Some(Strategy::Random),
            ..Tuning::default()
        },
        ..Workbench::default()
    };
    let measure = || -> Result<(usize, Option<f64>), ScriptError> {
        let mut session = Session::new(Box::new(std::io::sink()), workbench)?;
        script.run(&mut session)?;
        session.tune_what_was_compared()?;
        let state = session.shared().lock();
        Ok(state.workbench.tuning.agreement.unwrap_or_default())
    };
    let (measured, why) = match measure() {
        Ok(measured) => (measured, None),
        Err(error) => ((0, None), Some(error.to_string())),
    };
    Agreement {
        kernel: script.name.clone(),
        variants: measured.0,
        correlation: measured.1,
        why,
    }
}

/// The line of a kernel.
pub fn agreement_line(agreement: &Agreement) -> String {
    let Agreement {
        kernel, variants, ..
    } = agreement;
    match (agreement.correlation, &agreement.why) {
        (Some(rank), _) => format!("{kernel}: rank correlation {rank:.2} over {variants} variants"),
        (None, Some(why)) => format!("{kernel}: failed: {why}"),
        (None, None) => format!("{kernel}: too few variants ({variants})"),
    }
}

/// The median of all kernels, in a line.
pub fn agreement_summary(all: &[Agreement]) -> String {
    let known: Vec<f64> = all.iter().filter_map(|a| a.correlation).collect();
    match crate::tune::median(&known) {
        Some(median) => format!("median of {} kernels: {median:.2}", known.len()),
        None => "no kernel was measured".to_owned(),
    }
}
