//! Assignments that read what they overwrite: the examples of Ullrich's thesis and others. They are
//! computed in place if that is correct, and through a temporary otherwise. Either way, values are
//! those of the expression over the old store.

use super::{illegal, legal};
use teml::interp::store::{Data, Store};
use teml::interp::symbolic::{Answer, Policy};
use teml::interp::{definition, execute, symbolic};
use teml::ir::{Nest, Tree, parse_expr};
use teml::legality::{self, Reductions, Verdict};
use teml::lower::build::build;
use teml::transform::tensor::with_shapes;

/// The nest of an assignment, which computes what that says and is proved to.
fn built(text: &str) -> Nest {
    let assignment = parse_expr(text).map_err(|e| e.to_string());
    let assignment = assignment.and_then(|e| with_shapes(&e).map_err(|e| e.to_string()));
    let nest = assignment.and_then(|e| build(&e).map_err(|e| e.to_string()));
    let nest = nest.unwrap_or_else(|error| panic!("{text}\n{error}"));
    let mut expected = Store::new();
    for expr in nest.definition().iter() {
        expr.for_each_access(&mut |tensor, _| {
            let name = tensor.name().unwrap().clone();
            let salt = u64::from(name.as_str().as_bytes()[0]);
            let value = move |k: u64| ((k * 5 + salt) % 7) as f64 - 3.0;
            expected.insert(name, Data::generate(tensor, value));
        });
    }
    let mut found = expected.clone();
    definition::run(nest.definition(), &mut expected).unwrap();
    execute::run(&nest, &mut found).unwrap();
    assert_eq!(format!("{expected:?}").len(), format!("{found:?}").len());
    for (name, data) in &expected {
        assert_eq!(data, &found[name], "{nest}");
    }
    let nests = std::slice::from_ref(&nest);
    assert_eq!(
        legality::check(nests, Reductions::Strict),
        Verdict::Legal,
        "{nest}"
    );
    let equal = symbolic::compare(nests, Policy::Strict, &|| false);
    assert!(
        matches!(equal, Ok(Answer::Equal { .. })),
        "{nest}\n{equal:?}"
    );
    nest
}

/// Whether a nest keeps all of what it assigns in a temporary first.
fn has_temporary(nest: &Nest) -> bool {
    nest.trees().iter().any(|t| matches!(t, Tree::Local(_)))
}

/// Asserts that assignments run in place, as these lines.
#[track_caller]
fn in_place(assignment: &str, lines: &str) {
    let nest = built(assignment);
    assert!(!has_temporary(&nest), "{nest}");
    let text = nest.to_string();
    let (_, body) = text.split_once('\n').unwrap();
    let lines: Vec<&str> = lines.lines().map(str::trim).collect();
    let body: Vec<&str> = body.lines().map(str::trim).collect();
    assert_eq!(body, lines, "{nest}");
}

#[track_caller]
fn through_temporary(assignment: &str) {
    let nest = built(assignment);
    assert!(has_temporary(&nest), "{nest}");
}

/// §3 and Figs. 8 and 10 to 13: scalar and element-wise operations, whatever else is in them.
#[test]
fn compatible_assignments_of_the_thesis_run_in_place() {
    in_place("f64 x[5]\nx[i] = 3 * x[i]", "for i in 0..5\n x[i] *= 3");
    in_place("f64 x[5], s\nx[i] = s * x[i]", "for i in 0..5\n x[i] *= s");
    in_place(
        "f64 x[5], v[5]\nx[i] = x[i] * v[i]",
        "for i in 0..5\n x[i] *= v[i]",
    );
    // A linear combination (§6.1).
    in_place(
        "f64 x[5], u[5], v[5], r, s, t\nx[i] = r * x[i] + s * u[i] + t * v[i]",
        "for i in 0..5\n x[i] = r * x[i] + s * u[i] + t * v[i]",
    );
    // x = (x # y) . [2 3], Fig. 8: x times the trace of y.
    in_place(
        "f64 x[5], y[4][4]\nx[i] = sum(k: x[i] * y[k][k])",
        "for i in 0..5
         local f64 x_tmp[]
         fill x_tmp[] = 0
         for k in 0..4
         x_tmp[] += x[i] * y[k][k]
         x[i] = x_tmp[]",
    );
    // x = u v * x, Fig. 13: the product of a matrix and a vector, element by element.
    in_place(
        "f64 x[5], u[5][4], v[4]\nx[i] = sum(k: u[i][k] * v[k]) * x[i]",
        "for i in 0..5
         local f64 x_tmp[]
         fill x_tmp[] = 0
         for k in 0..4
         x_tmp[] += u[i][k] * v[k] * x[i]
         x[i] = x_tmp[]",
    );
    // x = x + w * (u v * x), §3.1: u v is a number.
    in_place(
        "f64 x[5], w[5], u[4], v[4]\nx[i] = x[i] + w[i] * (sum(k: u[k] * v[k]) * x[i])",
        "for i in 0..5
         local f64 x_tmp[]
         x_tmp[] = x[i]
         for k in 0..4
         x_tmp[] += w[i] * (u[k] * v[k] * x[i])
         x[i] = x_tmp[]",
    );
    // An activation (§9) passes the index on.
    in_place(
        "f64 x[5]\nx[i] = max(x[i], 0)",
        "for i in 0..5\n x[i] max= 0",
    );
}

/// §3, §3.1 and Figs. 9, 19, 27 and 28: elements are needed after they are assigned.
#[test]
fn incompatible_assignments_of_the_thesis_have_a_temporary() {
    // x = (u # x) . [2 3], Fig. 9 with y for u: the product of a matrix and x.
    through_temporary("f64 x[5], u[5][5]\nx[i] = sum(k: u[i][k] * x[k])");
    // The first statement of Fig. 19.
    through_temporary("f64 u[3][3][3], C[3][3]\nu[i][j][k] = sum(l: C[i][l] * u[j][k][l])");
    // M1 = M1 M2, Fig. 28.
    through_temporary("f64 M1[4][4], M2[4][4]\nM1[i][j] = sum(k: M1[i][k] * M2[k][j])");
    // A transposition (§2.1) onto itself.
    through_temporary("f64 x[4][4]\nx[i][j] = x[j][i]");
    // Contraction of x with itself (§9: more than one element).
    through_temporary("f64 x[4][4]\nx[i][j] = sum(k: x[i][k] * x[k][j])");
}

/// Fig. 27 computes a stencil through `atmp`. Its reads lie ahead, so no copy is needed: with a
/// number for each element, the elements may be assigned in order.
#[test]
fn stencil_of_the_thesis_needs_no_copy() {
    in_place(
        "f64 a[2][7][7], S[3][3], z[2][4][4]\n\
         a[k][i + 1][j + 1] = sum(p, q: z[k][i][j] * a[k][i + p + 1][j + q + 1] * S[p][q])",
        "for k in 0..2
         for i in 0..4
         for j in 0..4
         local f64 a_tmp[]
         fill a_tmp[] = 0
         for p in 0..3
         for q in 0..3
         a_tmp[] += z[k][i][j] * a[k][i + p + 1][j + q + 1] * S[p][q]
         a[k][i + 1][j + 1] = a_tmp[]",
    );
}

#[test]
fn orders_that_read_first_are_found() {
    in_place(
        "f64 x[6]\nx[i] = x[i + 1] * 2",
        "for i in 0..5\n x[i] = x[i + 1] * 2",
    );
    in_place(
        "f64 x[6]\nx[i] = x[i - 1] + x[i - 2]",
        "for i in 2..6\n x[7 - i] = x[6 - i] + x[5 - i]",
    );
    in_place(
        "f64 A[5][5]\nA[i][j] = A[i - 1][j + 1]",
        "for i in 1..5\n for j in 0..4\n A[5 - i][j] = A[4 - i][j + 1]",
    );
    // The inner loop has to be the outer one.
    in_place(
        "f64 A[5][6]\nA[i][j] = A[i + 1][j - 1] + A[i - 1][j - 2]",
        "for j in 2..6\n for i in 1..4\n A[i][7 - j] = A[i + 1][6 - j] + A[i - 1][5 - j]",
    );
    // The element that all read comes last.
    in_place(
        "f64 x[6]\nx[i] = x[i] + x[0]",
        "for i in 0..6\n x[5 - i] += x[0]",
    );
    // Even elements are assigned, odd ones are read.
    in_place(
        "f64 x[9]\nx[2*i] = x[2*i + 1]",
        "for i in 0..4\n x[2*i] = x[2*i + 1]",
    );
    // A sum from the upper triangle, which is not set anew before it is read.
    in_place(
        "f64 x[7], z[4], w[3]\nx[i] = x[i] + z[i - 3] * sum(k: w[k] * x[i - k - 1])",
        "for i in 3..7\n for k in 0..3\n x[9 - i] += z[6 - i] * (w[k] * x[8 - i - k])",
    );
}

#[test]
fn elements_that_are_needed_on_both_sides_have_a_temporary() {
    through_temporary("f64 x[6]\nx[i] = x[i - 1] + x[i + 1]");
    through_temporary("f64 x[6]\nx[i] = x[5 - i]");
    through_temporary("f64 x[6], y[6][6]\nx[i] = x[i] + sum(k: y[i][k] * x[k])");
    through_temporary("f64 x[6], y[6][6]\nx[i] = x[i] * (y[i][k] + x[k])");
    through_temporary("f64 x[6]\nx[i] = x[i] + x[2]");
}

/// The order depends on the extents, not on the form of indices.
#[test]
fn few_elements_are_read_for_themselves() {
    in_place(
        "f64 x[1]\nx[i] = x[-i] * 2",
        "for i in 0..1\n x[i] = x[-i] * 2",
    );
    in_place(
        "f64 x[1][3]\nx[i][j] = x[0][j] * 2",
        "for i in 0..1\n for j in 0..3\n x[i][j] = x[0][j] * 2",
    );
    in_place("f64 x[]\nx[] = x[] * 2", "x[] *= 2");
    // One element at a time of one element is all of it.
    through_temporary("f64 x, y[3]\nx = sum(k: y[k] * x)");
}

const SHIFTS: &str = "
    let x = tensor([30]);
    x = eq(vadd(x, x, [[i], [i + 2]]), [i]);
    let shift = build(x);
    let y = tensor([30]);
    y = eq(vadd(y, y, [[i - 1], [i + 1]]), [i]);
    let both = build(y);
    let z = tensor([30]);
    let w = tensor([30, 30]);
    z = eq(vsum(vmul(w, z, [[k, k], [i]]), [k]), [i]);
    let traced = build(z);
";

#[test]
fn what_runs_in_place_keeps_its_order() {
    legal(
        SHIFTS,
        &[
            "shift",
            "shift.stripmine(\"i\", 4)",
            "shift.unroll(\"i\", 4)",
        ],
    );
    illegal(
        SHIFTS,
        "shift.reverse(\"i\")",
        &["loop `i` reverses two statements"],
    );
    illegal(
        SHIFTS,
        "shift.parallelize(\"i\")",
        &["loop `i` cannot be parallelized: its iterations share x["],
    );
    illegal(SHIFTS, "shift.vectorize(\"i\")", &["x["]);
}

#[test]
fn with_a_temporary_and_element_by_element_any_order_is_legal() {
    legal(
        SHIFTS,
        &[
            "both",
            "both.parallelize(\"i\").reverse(\"i_2\").vectorize(\"i_2\")",
            "traced",
            "traced.reverse(\"i\").parallelize(\"i\")",
        ],
    );
    // The second loop overwrites what the first one still reads.
    illegal(SHIFTS, "both.fuse(\"i\", \"i_2\")", &["y["]);
    legal(SHIFTS, &["both.shift(\"i_2\", 1).fuse(\"i\", \"i_2\")"]);
}

#[test]
fn nests_with_temporaries_are_parts_of_programs() {
    legal(
        SHIFTS,
        &[
            "fuse_outer(both, shift, 0)",
            "fuse_outer(fuse_outer(shift, both, 0), traced, 0).parallelize(\"i_2\")",
            "[traced, both, shift.stripmine(1, 3)]",
            "fuse_outer(both, both, 0)",
        ],
    );
}

/// Sums of what is overwritten, in place: element by element, or with the triangle that is left.
const SUMS: &str = "
    let w = tensor([5, 5], \"i32\");
    let x = tensor([8], \"i32\");
    x = eq(vsum(vmul(w, x, [[k, k], [i]]), [k]), [i]);
    let element = build(x);
    let v = tensor([5, 5]);
    let z = tensor([10]);
    let step = tensor([4]);
    let later = vmul(step, vsum(vmul(v, z, [[k, k], [i + k + 2]]), [k]), [[i], ]);
    z = eq(vadd(z, later, [[i + 1], ]), [i + 1]);
    let ahead = build(z);
";

#[test]
fn sums_of_what_is_overwritten_may_have_another_order() {
    legal(
        SUMS,
        &[
            "element",
            "element.reverse(\"k\")",
            "element.rfactor(\"k\").reverse(\"i\")",
        ],
    );
    illegal(SUMS, "ahead.reverse(\"k\")", &["in another order"]);
    let reassoc = format!("{SUMS} reductions(\"reassoc\");");
    legal(&reassoc, &["ahead", "ahead.reverse(\"k\")"]);
    // Not that of the elements.
    illegal(&reassoc, "ahead.reverse(\"i\")", &["two statements"]);
    illegal(&reassoc, "ahead.interchange(1, 2)", &["two statements"]);
}
