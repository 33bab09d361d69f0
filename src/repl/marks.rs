//! Remarks behind the loops of a nest: their trip counts, whether a step or the C unrolls them, and
//! why vector loops have no vectors.

use crate::analysis::levels::levels;
use crate::codegen;
use crate::ir::{Arg, Loop, Name, Nest, Role};
use crate::target::Target;
use std::collections::HashMap;

/// The steps that unroll blocks of iterations and leave a loop over blocks.
const UNROLLING: [&str; 2] = ["unroll", "unroll_and_jam"];

/// The remark behind each loop.
pub(super) fn marks(nest: &Nest, target: &Target) -> HashMap<Name, String> {
    let plan = codegen::unproved(std::slice::from_ref(nest), target).ok();
    let outer = plan
        .as_ref()
        .map(|plan| plan.outer_vectors())
        .unwrap_or_default();
    let unrolled = plan.map(|plan| plan.unrolled()).unwrap_or_default();
    let mark = |(of, trips): (&Loop, Option<i64>)| {
        let trips = trips.map(|trips| format!("×{trips}"));
        let by_step = factor(of).map(|count| format!("unrolled by {count}"));
        let in_c = unrolled.contains(&of.name);
        let in_c = in_c.then(|| "unrolled in C".to_owned());
        let left = outer.iter().find(|(name, _)| *name == of.name);
        let left = left.map(|(_, why)| format!("no vectors: {why}"));
        let words: Vec<String> = [trips, by_step, in_c, left].into_iter().flatten().collect();
        (!words.is_empty()).then(|| (of.name.clone(), words.join(", ")))
    };
    let all = levels(nest).into_iter();
    all.filter_map(|level| mark((level.of, level.trips)))
        .collect()
}

/// The factor by which a step unrolled a loop, if this is the loop over blocks.
fn factor(l: &Loop) -> Option<i64> {
    let birth = l.birth().filter(|birth| birth.role == Role::Outer)?;
    let last = birth.step.args.iter().rev().find_map(|arg| match arg {
        Arg::Int(factor) => Some(*factor),
        _ => None,
    });
    last.filter(|_| UNROLLING.contains(&birth.step.op))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Session;
    use crate::verbs::Workbench;

    /// The marks of the nest `n` of a script.
    fn of(script: &str) -> HashMap<Name, String> {
        let mut session = Session::new(Box::new(std::io::sink()), Workbench::default())
            .ok()
            .unwrap();
        session.run_text("script", script).ok().unwrap();
        let (_, nest) = session.nests().into_iter().find(|(n, _)| n == "n").unwrap();
        marks(&nest, &Target::named("avx2").unwrap())
    }

    #[test]
    fn loops_over_unrolled_blocks_and_loops_that_are_unrolled_in_c_say_so() {
        let product = "let A = tensor([9, 8]); let B = tensor([8, 8]);
            let C = einsum(\"ik,kj->ij\", A, B); let naive = build(C);";
        let found = of(&format!(
            "{product} let n = naive.unroll_and_jam(\"i\", 3);"
        ));
        assert_eq!(found["i_o"], "×3, unrolled by 3");
        assert_eq!(found["k"], "×8");
        let found = of(&format!(
            "{product} let n = naive.unroll(\"k\", 2).rename(\"k_o\", \"half\");"
        ));
        assert_eq!(found["half"], "×4, unrolled by 2");
        // A tile in registers, which have no index.
        let tile = "naive.stripmine(\"i\", 3).stripmine(\"j\", 4)
            .reorder([\"i_o\", \"j_o\", \"k\", \"i_i\", \"j_i\"]).stage(\"j_o\", C).vectorize(\"j_i\")";
        let found = of(&format!("{product} let n = {tile};"));
        assert_eq!(found["i_i"], "×3, unrolled in C");
        assert_eq!(found["k"], "×8");
    }
}
