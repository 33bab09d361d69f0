//! The cost model's predictions for nests whose order is known on any machine.

use super::stub::session;

/// A matrix product, and its plan with tiles of sums in registers.
const PRODUCT: &str = "
let A = tensor([512, 512]);
let B = tensor([512, 512]);
let C = contract(A, B, [2, 1]);
let naive = build(C);
let tile = |rows| naive
    .stripmine(\"i1\", rows).stripmine(\"i2\", 2 * machine().vector_bytes / 8)
    .reorder([\"i1_o\", \"i2_o\", \"i3\", \"i1_i\", \"i2_i\"]).stage(\"i2_o\", \"C\").vectorize(\"i2_i\");
";

fn prints(script: &str) -> String {
    let (result, printed) = session(script);
    assert_eq!(result, Ok(()), "{printed}");
    printed
}

#[test]
fn tiles_in_registers_are_faster_the_more_sums_they_have() {
    let script = format!(
        "{PRODUCT}print(predict(tile.call(4)).seconds < predict(tile.call(1)).seconds);\n\
         print(predict(tile.call(1)).seconds < predict(naive).seconds);"
    );
    assert_eq!(prints(&script), "true\ntrue\n");
}

#[test]
fn a_sum_waits_for_its_last_term() {
    let script = "
let a = tensor([8, 1024]);
let b = tensor([8, 1024]);
let many = einsum(\"ji,ji->j\", a, b);
print(predict(build(many)).bound);
";
    assert_eq!(prints(script), "latency\n");
}

#[test]
fn walking_along_columns_brings_more_than_along_rows() {
    let script = "
let A = tensor([4096, 4096]);
let B = stored(2 * A);
let rows = build(B);
print(predict(rows).seconds < predict(rows.interchange(1, 2)).seconds);
print(predict(rows).bound);
";
    // The measured rates of this machine decide which takes longer.
    let said = prints(script);
    assert!(
        ["true\nmemory\n", "true\nL3\n"].contains(&said.as_str()),
        "{said}"
    );
}
