//! Which loops share a parallel region in C.

use crate::teml::trees::nest;
use teml::codegen::generate;
use teml::legality::Reductions;

/// The C of a nest from the start of its function, without comments.
fn c(lines: &[&str]) -> String {
    let kernel = generate(&[nest(lines)], "kernel", Reductions::Strict).unwrap();
    let body = kernel.function.split_once("\n{\n").unwrap().1.to_owned();
    body.replace(" {  // build", " {")
}

const HEAD: &str = "f64 B[8][8], A[8][8], C[8][8]";

#[test]
fn loops_in_a_row_share_a_region() {
    let text = c(&[
        HEAD,
        "parallel for i in 0..8",
        "  for j in 0..8",
        "    B[i][j] = A[i][j]",
        "parallel for k in 0..8",
        "  for l in 0..8",
        "    C[k][l] = B[l][k]",
    ]);
    assert_eq!(text.matches("#pragma omp parallel\n").count(), 1, "{text}");
    assert_eq!(text.matches("#pragma omp for\n").count(), 2, "{text}");
    assert!(!text.contains("parallel for"), "{text}");
}

#[test]
fn threads_do_not_wait_for_what_uses_other_elements() {
    let shared = |second: &str| {
        c(&[
            HEAD,
            "parallel for i in 0..6",
            "  for j in 0..8",
            "    B[i][j] = A[i][j]",
            "parallel for k in 6..8",
            "  for l in 0..8",
            second,
        ])
    };
    for (second, free) in [
        ("    B[k][l] = A[k][l]", true),
        ("    B[k][l] = A[l][k]", true),
        // Any thread may have written the element.
        ("    B[k][l] = B[k - 6][l]", false),
        // The element is written twice.
        ("    B[k - 1][l] = A[k][l]", false),
        // Another thread may have read the element before.
        ("    A[l][k] = B[k][l]", false),
        ("    C[l][k] = C[l][k] + A[l][k]", true),
    ] {
        let text = shared(second);
        assert_eq!(text.contains("#pragma omp for nowait\n"), free, "{text}");
    }
    // The third loop needs what the first one does.
    let text = c(&[
        HEAD,
        "parallel for i in 0..8",
        "  B[i][0] = A[i][0]",
        "parallel for k in 0..8",
        "  B[k][1] = A[k][1]",
        "parallel for l in 0..7",
        "  C[l][0] = B[l + 1][0]",
    ]);
    assert_eq!(
        text.matches("#pragma omp for nowait\n").count(),
        1,
        "{text}"
    );
    assert_eq!(text.matches("#pragma omp for\n").count(), 2, "{text}");
}

#[test]
fn each_thread_runs_the_serial_loop_around_them() {
    let text = c(&[
        HEAD,
        "for o in 0..2",
        "  local f64 A_pack[4][8]",
        "  parallel for i in 0..4",
        "    for j in 0..8",
        "      A_pack[i][j] = A[i + 4*o][j]",
        "  parallel for k in 0..4",
        "    for l in 0..8",
        "      B[k + 4*o][l] = A_pack[k][l]",
    ]);
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}\n{text}"));
    // There is one buffer, of the thread that calls the others.
    assert!(at("A_pack, [4][8]);") < at("#pragma omp parallel\n"));
    assert!(at("#pragma omp parallel\n") < at("for (int64_t o"));
    assert_eq!(text.matches("#pragma omp for\n").count(), 2, "{text}");
}

#[test]
fn what_one_thread_does_is_outside() {
    let text = c(&[
        HEAD,
        "for o in 0..2",
        "  C[o][0] = A[o][0]",
        "  parallel for i in 0..8",
        "    B[i][o] = C[o][0]",
    ]);
    assert!(text.contains("#pragma omp parallel for\n"), "{text}");
    assert!(!text.contains("#pragma omp for"), "{text}");
}

#[test]
fn a_loop_with_a_threshold_has_its_own_region() {
    let text = c(&[
        HEAD,
        "parallel from(5) for i in 0..8",
        "  B[i][0] = A[i][0]",
        "parallel for k in 0..8",
        "  C[k][0] = A[k][0]",
    ]);
    assert_eq!(
        text.matches("#pragma omp parallel for").count(),
        2,
        "{text}"
    );
}

#[test]
fn the_work_of_a_nest_decides_for_all_loops_of_a_region() {
    let shared = c(&[
        HEAD,
        "parallel work(70) for i in 0..8",
        "  B[i][0] = A[i][0]",
        "parallel work(50) for k in 0..8",
        "  C[k][0] = A[k][0]",
    ]);
    assert!(
        shared.contains("if (16.0 >= 50) {\n        #pragma omp parallel\n"),
        "{shared}"
    );
    assert_eq!(shared.matches("#pragma omp for").count(), 2, "{shared}");
    // One loop asks for threads in any case.
    let always = c(&[
        HEAD,
        "parallel work(70) for i in 0..8",
        "  B[i][0] = A[i][0]",
        "parallel for k in 0..8",
        "  C[k][0] = A[k][0]",
    ]);
    assert!(always.contains("#pragma omp parallel\n"), "{always}");
}

#[test]
fn loops_inside_of_a_shared_one_are_as_they_were() {
    let text = c(&[
        HEAD,
        "parallel for i in 0..8",
        "  parallel for j in 0..8",
        "    B[i][j] = A[i][j]",
        "  parallel for k in 0..8",
        "    C[i][k] = A[i][k]",
    ]);
    assert_eq!(
        text.matches("#pragma omp parallel for").count(),
        3,
        "{text}"
    );
    assert!(!text.contains("#pragma omp for"), "{text}");
}
