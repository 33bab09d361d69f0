//! What `teml check` says of each variant that a script gives to `compare`, `measure`, `run` or
//! `codegen`.

use crate::interp::symbolic::{self, Answer, Policy};
use crate::ir::Nest;
use crate::legality::{Proof, Reductions, Refused, prove};
use crate::script::call::Call;
use crate::script::workbench::Mode;

/// Prints whether nests compute what their definition says, if that is what the session is for.
pub(super) fn report(call: &Call, label: &str, nests: &[Nest]) {
    let (mode, reductions, control) = {
        let state = call.state();
        let bench = &state.workbench;
        (bench.mode, bench.settings.reductions, bench.control.clone())
    };
    let Mode::Check { exhaustive } = mode else {
        return;
    };
    let proof = prove(nests, reductions);
    let mut is_wrong = proof.is_err();
    let mut text = match &proof {
        Ok(Proof::Proved) => "legal".to_owned(),
        Ok(other) => other.to_string(),
        Err(Refused::Violation(violation)) => format!("illegal: {violation}"),
        Err(Refused::Race(_, race)) => format!("illegal: {race}"),
        Err(Refused::Undecided(why)) => format!("undecided: {why}"),
    };
    if exhaustive {
        let policy = match reductions {
            Reductions::Strict => Policy::Strict,
            Reductions::Reassociate => Policy::Reassociate,
        };
        let answer = symbolic::compare(nests, policy, &|| control.interrupted());
        let is_equal = matches!(answer, Ok(Answer::Equal { .. }));
        match &proof {
            Ok(Proof::Assumed(_)) => {}
            Err(Refused::Undecided(_)) => is_wrong = !is_equal,
            _ => is_wrong |= !is_equal,
        }
        match answer {
            Ok(answer) => text.push_str(&format!("; {answer}")),
            Err(fault) => text.push_str(&format!("; not executed: {fault}")),
        }
    }
    let mut state = call.state();
    state.print(&format!("{label}: {text}"));
    state.workbench.checked += 1;
    state.workbench.wrong += usize::from(is_wrong);
}
