//! The paper's forms, in which lists are left out.

use crate::definitions::printed;

const TENSORS: &str = "let A = tensor([4, 5]); let x = tensor([5]);
    let t = vat(A, [i1, i2]); let v = vat(A, [i, j]);\n";

#[test]
fn lists_can_be_left_out_as_in_the_paper() {
    for (short, long) in [
        ("eq(t, -> [i1, i2])", "eq(t, () -> [i1, i2])"),
        ("t.eq(-> [i1, i2])", "t.eq(() -> [i1, i2])"),
        ("vadd(v, x, [, [j]])", "vadd(v, x, [(), [j]])"),
        ("vadd(v, x, [ , [j]])", "vadd(v, x, [(), [j]])"),
        ("vadd(x, v, [[j], ])", "vadd(x, v, [[j], ()])"),
        (
            "add(v, x, [, [j]] -> [i, j])",
            "add(v, x, [(), [j]] -> [i, j])",
        ),
        ("add(v, v, [, ] -> [i, j])", "add(v, v, [(), ()] -> [i, j])"),
        ("add(v, v, -> [i, j])", "add(v, v, [] -> [i, j])"),
        (
            "vselect(v, \"<\", x, v, x, [, [j], , [j]])",
            "vselect(v, \"<\", x, v, x, [(), [j], (), [j]])",
        ),
        ("tanh(v, -> [j, i])", "tanh(v, () -> [j, i])"),
        ("veq(v, -> [j, i])", "veq(v, () -> [j, i])"),
    ] {
        let of = |form: &str| printed(&format!("{TENSORS}print({form});"));
        assert_eq!(of(short), of(long), "{short}");
    }
}
