//! Partial results of reductions: their place, and refusals.

use crate::teml::refusals::Case;
use crate::teml::trees::{becomes, level, named, nest};
use teml::ir::{Nest, ShapeError};
use teml::transform::Arg;
use teml::transform::nest::rfactor::RFACTOR;

#[test]
fn they_live_outside_of_the_whole_reduction() {
    becomes(
        &RFACTOR,
        &[
            "f64 s, A[3][4], x[4]",
            "for i in 0..3",
            "  for j in -2..2",
            "    s -= A[i][j + 2] * x[1 - j]",
        ],
        &[named("j")],
        &[
            "local f64 s_j[4]",
            "fill s_j[0..4] = 0",
            "for i in 0..3",
            "  for j in -2..2",
            "    s_j[j + 2] += A[i][j + 2] * x[1 - j]",
            "for j_2 in 0..4",
            "  s -= s_j[j_2]",
        ],
    );
}

#[test]
fn loops_inside_give_them_dimensions() {
    becomes(
        &RFACTOR,
        &[
            "f64 y[10][3][1], A[10][7]",
            "for o in 0..3",
            "  for k in o..7",
            "    for i in 4*o..min(4*o + 4, 10)",
            "      for l in 0..1",
            "        y[i][2][l] *= A[i][k]",
        ],
        &[named("k")],
        &[
            "for o in 0..3",
            "  local f64 y_k[7][4]",
            "  fill y_k[0..7][0..4] = 1",
            "  for k in o..7",
            "    for i in 4*o..min(4*o + 4, 10)",
            "      for l in 0..1",
            "        y_k[k - o][i - 4*o] *= A[i][k]",
            "  for k_2 in 0..7",
            "    for i_2 in 4*o..min(4*o + 4, 10)",
            "      y[i_2][2][0] *= y_k[k_2][i_2 - 4*o]",
        ],
    );
    // Blocks of a loop that is moved outward, and the loop within them.
    let blocks = [
        "f64 y[3], A[3][10]",
        "for o in 0..3",
        "  for i in 0..3",
        "    for k in 4*o..min(4*o + 4, 10)",
        "      y[i] max= A[i][k]",
    ];
    let each_block = [
        "local f64 y_o[3][3]",
        "fill y_o[0..3][0..3] = -∞",
        "for o in 0..3",
        "  for i in 0..3",
        "    for k in 4*o..min(4*o + 4, 10)",
        "      y_o[o][i] max= A[i][k]",
        "for o_2 in 0..3",
        "  for i_2 in 0..3",
        "    y[i_2] max= y_o[o_2][i_2]",
    ];
    becomes(&RFACTOR, &blocks, &[named("o")], &each_block);
    let within_blocks = [
        "for o in 0..3",
        "  for i in 0..3",
        "    local f64 y_k[4]",
        "    fill y_k[0..4] = -∞",
        "    for k in 4*o..min(4*o + 4, 10)",
        "      y_k[k - 4*o] max= A[i][k]",
        "    for k_2 in 0..4",
        "      y[i] max= y_k[k_2]",
    ];
    becomes(&RFACTOR, &blocks, &[named("k")], &within_blocks);
}

#[test]
fn other_statements_keep_their_place() {
    becomes(
        &RFACTOR,
        &[
            "i32 y[4], z[4][3], A[4][3]",
            "for i in 0..4",
            "  fill y[i..+1] = -2147483648",
            "  for k in 0..3",
            "    z[i][k] = A[i][k] * 2",
            "    y[i] max= z[i][k]",
            "  z[i][0] = y[i]",
        ],
        &[level(2)],
        &[
            "for i in 0..4",
            "  fill y[i..+1] = -2147483648",
            "  local i32 y_k[3]",
            "  fill y_k[0..3] = -2147483648",
            "  for k in 0..3",
            "    z[i][k] = A[i][k] * 2",
            "    y_k[k] max= z[i][k]",
            "  for k_2 in 0..3",
            "    y[i] max= y_k[k_2]",
            "  z[i][0] = y[i]",
        ],
    );
}

#[test]
fn local_targets_stay_in_scope() {
    becomes(
        &RFACTOR,
        &[
            "f64 y[4], A[4][3]",
            "for i in 0..4",
            "  local f64 t[]",
            "  fill t[] = 0",
            "  for k in 0..3",
            "    t[] += A[i][k]",
            "  y[i] = t[]",
        ],
        &[named("k")],
        &[
            "for i in 0..4",
            "  local f64 t[]",
            "  fill t[] = 0",
            "  local f64 t_k[3]",
            "  fill t_k[0..3] = 0",
            "  for k in 0..3",
            "    t_k[k] += A[i][k]",
            "  for k_2 in 0..3",
            "    t[] += t_k[k_2]",
            "  y[i] = t[]",
        ],
    );
}

pub fn partials() -> Vec<Case> {
    let case = |nest: &Nest, l: &str, kind: String| {
        Case::new(&RFACTOR, vec![Arg::Nest(nest.clone()), named(l)], kind)
    };
    let body = |lines: &[&str]| {
        let head = [
            "f64 y[4], z[4], A[4][5]",
            "for i in 0..4",
            "  for k in 0..5",
        ];
        nest(&[&head, lines].concat())
    };
    let no_update = |l: &str| {
        format!("`{l}` carries no reduction: no update is of the same elements in all iterations")
    };
    let plain = body(&["    y[i] += A[i][k]"]);
    let set = body(&["    y[i] = A[i][k]"]);
    let both = body(&["    y[i] += A[i][k]", "    z[i] += A[i][k]"]);
    let several = "`k` carries 2 updates, and partial results are those of one".to_owned();
    let used = |lines: &[&str]| {
        let kind = "y is used in `k` by more than its update".to_owned();
        case(&body(lines), "k", kind).because_of(&["k"])
    };
    let divided = body(&["    y[i] /= A[i][k]"]);
    let stepped = nest(&["f64 y, A[5]", "for k in 0..5 step 2", "  y += A[k]"]);
    let step = "`k` has the step 2, and this is for loops of step 1".to_owned();
    let huge = nest(&[
        "f64 y[1000000000], A[1]",
        "for k in 0..1000000000",
        "  for i in 0..1000000000",
        "    y[i] += A[0]",
    ]);
    let too_large = ShapeError::TooLarge {
        shape: "[1000000000, 1000000000]".to_owned(),
    }
    .to_string();
    let clash = nest(&["f64 y[1], y_k[5]", "for k in 0..5", "  y[0] += y_k[k]"]);
    vec![
        case(&plain, "i", no_update("i")).because_of(&["i"]),
        case(&set, "k", no_update("k")).because_of(&["k"]),
        case(&both, "k", several).because_of(&["k"]),
        case(
            &divided,
            "k",
            "partial results of `/=` cannot be combined".to_owned(),
        )
        .because_of(&["k"]),
        used(&["    y[i] += A[i][k]", "    z[i] = y[i]"]),
        used(&["    fill y[i..+1] = 0", "    y[i] += A[i][k]"]),
        used(&["    y[i] += A[i][k] * y[i]"]),
        Case::new(&RFACTOR, vec![Arg::Nest(stepped), level(1)], step).because_of(&["k"]),
        Case::new(&RFACTOR, vec![Arg::Nest(huge), level(1)], too_large),
        Case::new(
            &RFACTOR,
            vec![Arg::Nest(clash), level(1)],
            teml::analysis::verify::Invalid::LocalClash {
                tensor: "y_k".to_owned(),
            }
            .to_string(),
        ),
    ]
}
