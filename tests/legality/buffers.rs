//! Values that pass through local tensors.

use super::legal;

#[test]
fn sums_in_place_of_partial_sums() {
    legal(
        "let A = tensor([4]); let B = eq(A, [i] -> [i]);",
        &["build(B)"],
    );
}
