//! Handles: the loops and buffers that steps made, as values that follow them through later steps.

use crate::dialog;
#[allow(dead_code)]
use dialog::{shown, string};

const PRODUCT: &str = "
let A = tensor([64, 60]);
let B = tensor([60, 48]);
let C = eq(vsum(vmul(A, B, [[i, k], [k, j]]), [k]), [i, j]);
let naive = build(C);
";

/// The value of an expression after steps on a product with the loops `i`, `j` and `k`.
fn after(steps: &str, expression: &str) -> String {
    string(&script(steps), expression)
}

/// The message of the last step.
fn message(steps: &str, expression: &str) -> String {
    let error = shown(&script(steps), expression).expect_err("a message");
    error.lines().next().unwrap_or_default().to_owned()
}

fn script(steps: &str) -> String {
    PRODUCT.to_owned() + steps
}

/// The last step of `plan`, as its path shows it.
fn last_step(steps: &str) -> String {
    let path = after(steps, "path(plan).to_string()");
    path.lines().last().unwrap_or_default().trim().to_owned()
}

#[test]
fn steps_say_what_they_made() {
    let made = |steps: &str| {
        after(
            &format!("let plan = naive{steps};"),
            "plan.made().to_string()",
        )
    };
    assert_eq!(made(".stripmine(\"j\", 8)"), "outer: j_o, inner: j_i");
    assert_eq!(
        made(".stripmine(\"j\", 5, \"cut\")"),
        "outer: j_o, inner: j_i, tail: j_r, copy: k_2"
    );
    assert_eq!(
        made(".peel(\"i\", 4, \"back\")"),
        "peeled: i_b, copy: j_2, copy: k_2"
    );
    assert_eq!(
        made(".stage(\"i\", C)"),
        "buffer: C_tile, load: C_load_2, store: C_store_2"
    );
    assert_eq!(
        made(".pack(0, B)"),
        "buffer: B_pack, load: B_pack_1, load: B_pack_2"
    );
    assert_eq!(made(".interchange(\"j\", \"k\")"), "");
    assert_eq!(made(".split_at(\"k\", \"10\")"), "tail: k_b");
    assert_eq!(
        made(".split_at(\"k\", \"10\").distribute(\"j\")"),
        "part: j_2"
    );
    assert_eq!(
        made(".split_at(\"k\", \"10\").distribute(\"j\").fuse(\"j\", \"j_2\")"),
        "fused: j"
    );
    assert_eq!(
        made(".tile([\"i\", \"j\"], [8, 8])"),
        "outer: i_o, outer: j_o, inner: i_i, inner: j_i"
    );
}

#[test]
fn handles_follow_their_loops() {
    let steps = "
        let blocks = naive.stripmine(\"j\", 8);
        let j = blocks.made();
        let k = blocks.handle(\"k\");
        let plan = blocks.reorder([j.outer, \"i\", k, j.inner]).vectorize(j.inner);
    ";
    assert_eq!(
        after(steps, "plan.loops(j.inner).to_string()"),
        after(steps, "plan.loops(\"j_i\").to_string()")
    );
    // Paths have names, and can be replayed.
    assert_eq!(last_step(steps), ".vectorize(\"j_i\")");
    assert_eq!(
        after(steps, "`${plan.undo(1).vectorize(j.inner) == plan}`"),
        "true"
    );
    assert_eq!(
        after(steps, "`${replay(path(plan), naive) == plan}`"),
        "true"
    );
    // Fused loops continue as one.
    let fused = "
        let split = naive.split_at(\"k\", \"10\").distribute(\"j\");
        let part = split.made().parts[0];
        let plan = split.fuse(\"j\", part);
    ";
    assert_eq!(after(fused, "plan.handle(part).name"), "j");
    assert_eq!(after(fused, "plan.handle(split.handle(\"j\")).name"), "j");
    // A handle finds each loop of a part through the loop that it is a copy of.
    let peeled = "
        let k = naive.handle(\"k\");
        let plan = naive.peel(\"i\", 4, \"back\");
        let last = plan.made().copy_of(k);
    ";
    assert_eq!(after(peeled, "last.name"), "k_2");
    assert_eq!(
        after(peeled, "`${last == k}, ${plan.handle(\"k\") == k}`"),
        "false, true"
    );
    // Steps on a part of a nest make loops of the nest.
    let part = "
        let made = ();
        let plan = naive.at(\"j\", |sub| { let s = sub.stripmine(\"k\", 8); made = s.made(); s });
    ";
    assert_eq!(after(part, "plan.handle(made.inner).name"), "k_i");
    assert_eq!(
        after(part, "plan.made().to_string()"),
        "outer: k_o, inner: k_i"
    );
}

#[test]
fn handles_that_ended_say_which_step_ended_them() {
    let steps = "let j = naive.handle(\"j\"); let plan = naive.stripmine(j, 8);";
    assert_eq!(
        message(steps, "plan.vectorize(j)"),
        "error: vectorize: argument 2 `loop` is the loop `j`, which `stripmine(\"j\", 8)` at \
         <line 1>:6 ended: it became `j_o` (outer) and `j_i` (inner)"
    );
    let steps = "let k = naive.stripmine(\"k\", 4).made(); let plan = naive.stripmine(\"k\", 4).unroll(\"k_i\");";
    assert_eq!(
        message(steps, "plan.vectorize(k.inner)"),
        "error: vectorize: argument 2 `loop` is the loop `k_i` of another nest, which \
         `stripmine(\"k\", 4)` at <line 1>:6 made"
    );
    let steps = "
        let staged = naive.stage(\"i\", C);
        let tile = staged.made().buffer;
        let plan = staged.unroll(\"i\");";
    assert_eq!(
        message(steps, "plan.panels(tile, 1, 8)"),
        "error: panels: argument 2 `tensor` is the local tensor `C_tile`, which `unroll(\"i\")` at \
         <line 1>:9 ended: it became `C_tile_u0`, `C_tile_u1`, `C_tile_u2`, `C_tile_u3` and 60 more"
    );
}

#[test]
fn a_mistake_is_named() {
    let steps = "let made = naive.stripmine(\"j\", 8).made();";
    assert_eq!(
        message(steps, "made.middle"),
        "error: no step makes a `middle`"
    );
    assert_eq!(after(steps, "`${made.tail == ()}`"), "true");
}

#[test]
fn indices_and_bounds_are_values() {
    let steps = "
        let plan = naive.stripmine(\"i\", 8);
        let i = plan.made();
        let read = accesses(plan)[1];
    ";
    assert_eq!(after(steps, "`${read.index[0].coefficient(i.inner)}`"), "1");
    assert_eq!(after(steps, "`${read.index[0].coefficient(i.outer)}`"), "0");
    assert_eq!(
        after(
            steps,
            "`${read.index[0] == i.inner}, ${read.index[0] == \"i_i\"}`"
        ),
        "true, true"
    );
    assert_eq!(after(steps, "`${bounds(plan, i.outer).extent}`"), "8");
    assert_eq!(
        after(
            steps,
            "`${bounds(plan, i.inner).lower[0].coefficient(i.outer)}`"
        ),
        "8"
    );
    assert_eq!(
        after(steps, "`${bounds(plan, i.inner).extent == ()}`"),
        "true"
    );
    let split = "let plan = naive.stripmine(\"i\", 8); let i = plan.made();
        plan = plan.split_at(\"j\", 8 * iter(i.outer) + 4);";
    assert_eq!(last_step(split), ".split_at(\"j\", \"8*i_o + 4\")");
}
