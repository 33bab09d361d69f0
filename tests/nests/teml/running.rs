//! Running reductions in blocks: what becomes of each form, and refusals.

use crate::teml::refusals::Case;
use crate::teml::trees::{becomes, level, named, nest};
use teml::transform::Arg;
use teml::transform::nest::scan::SCAN;

#[test]
fn the_first_block_starts_where_the_loop_does() {
    // From the last element down, in rows.
    becomes(
        &SCAN,
        &[
            "f64 R[3][9], X[3][9]",
            "for i in 0..3",
            "  for b in 0..2",
            "    for k in max(1, 4*b)..4*b + 4",
            "      R[i][8 - k] = X[i][k] * R[i][9 - k]",
        ],
        &[named("b")],
        &[
            "for i in 0..3",
            "  local f64 R_b[2]",
            "  fill R_b[0..2] = 1",
            "  for b_2 in 0..2",
            "    for k_2 in max(1, 4*b_2)..4*b_2 + 4",
            "      R_b[b_2] *= X[i][k_2]",
            "  local f64 R_b_before[3]",
            "  R_b_before[0] = R[i][8]",
            "  for b_3 in 0..2",
            "    R_b_before[b_3 + 1] = R_b_before[b_3]",
            "    R_b_before[b_3 + 1] *= R_b[b_3]",
            "  for b in 0..2",
            "    local f64 R_b_now[]",
            "    R_b_now[] = R_b_before[b]",
            "    for k in max(1, 4*b)..4*b + 4",
            "      R_b_now[] *= X[i][k]",
            "      R[i][8 - k] = R_b_now[]",
        ],
    );
}

#[test]
fn what_is_read_before_the_update_leaves_the_operand_out() {
    becomes(
        &SCAN,
        &[
            "f64 s, R[8], X[8]",
            "for b in 1..3",
            "  for k in 4*b - 4..4*b",
            "    R[k] = 2 * s",
            "    s += X[k] * X[7 - k]",
        ],
        &[named("b")],
        &[
            "local f64 s_b[2]",
            "fill s_b[0..2] = 0",
            "for b_2 in 1..3",
            "  for k_2 in 4*b_2 - 4..4*b_2",
            "    s_b[b_2 - 1] += X[k_2] * X[7 - k_2]",
            "local f64 s_b_before[3]",
            "s_b_before[0] = s",
            "for b_3 in 0..2",
            "  s_b_before[b_3 + 1] = s_b_before[b_3]",
            "  s_b_before[b_3 + 1] += s_b[b_3]",
            "for b in 1..3",
            "  local f64 s_b_now[]",
            "  s_b_now[] = s_b_before[b - 1]",
            "  for k in 4*b - 4..4*b",
            "    R[k] = 2 * s_b_now[]",
            "    s_b_now[] += X[k] * X[7 - k]",
            "s = s_b_before[2]",
        ],
    );
}

pub fn running() -> Vec<Case> {
    let case = |lines: &[&str], kind: &str| {
        let head = ["f64 s, t, R[9], Q[9], X[9]"];
        let nest = nest(&[&head, lines].concat());
        Case::new(&SCAN, vec![Arg::Nest(nest), named("k")], kind.to_owned()).because_of(&["k"])
    };
    let none = "`k` carries no running sum: no statement updates the result of the iteration before \
                and keeps what it gets";
    let clash = nest(&[
        "f64 R[9], R_k[9]",
        "for k in 1..9",
        "  R[k] = R[k - 1] + R_k[k]",
    ]);
    vec![
        case(&["for k in 1..9", "  s += X[k]"], none),
        case(
            &["for k in 2..9", "  R[k] = R[k - 2] + X[k]"],
            "`k` continues the result of another iteration: R[k] = R[k - 2] + X[k]",
        ),
        case(
            &["for k in 1..9", "  R[k] = R[k - 1] - X[k]"],
            "`k` subtracts from the result of the iteration before: R[k] = R[k - 1] - X[k]",
        ),
        case(
            &["for k in 1..9", "  R[k] = 2 * R[k - 1] + X[k]"],
            "`k` computes more than a running sum: R[k] = 2 * R[k - 1] + X[k]",
        ),
        case(
            &["for k in 1..9", "  R[k] += R[k - 1]"],
            "`k` overwrites the operands of its running result: R[k] += R[k - 1]",
        ),
        case(&["for k in 1..9", "  R[k] = X[k - 1] + X[k]"], none),
        case(
            &[
                "for k in 1..9",
                "  R[k] = R[k - 1] + X[k]",
                "  Q[k] = Q[k - 1] + X[k]",
            ],
            "`k` carries the running results R and Q",
        ),
        case(
            &[
                "for k in 1..9",
                "  R[k] = R[k - 1] + X[k]",
                "  R[k] = 2 * R[k]",
            ],
            "R is written in `k` by more than its running update",
        ),
        case(
            &[
                "for k in 1..9",
                "  t = X[k] * X[k]",
                "  R[k] = R[k - 1] + t",
            ],
            "`k` computes t, which the sums of blocks need first: R[k] = R[k - 1] + t",
        ),
        case(
            &[
                "for k in 1..9",
                "  t = 0",
                "  for l in 0..2",
                "    R[k] = R[k - 1] + X[k]",
            ],
            "`k` has statements beside other loops",
        ),
        case(
            &[
                "for k in 1..9",
                "  local f64 u[]",
                "  u[] = X[k]",
                "  R[k] = R[k - 1] + u[]",
            ],
            "each iteration of `k` has a local tensor, u",
        ),
        case(
            &["for k in 1..9 step 2", "  R[k] = R[k - 1] + X[k]"],
            "`k` has the step 2, and this is for loops of step 1",
        ),
        Case::new(
            &SCAN,
            vec![Arg::Nest(clash), level(1)],
            teml::analysis::verify::Invalid::LocalClash {
                tensor: "R_k".to_owned(),
            }
            .to_string(),
        ),
    ]
}
