//! Names that scripts give, to tensors and variants made in loops.

use crate::definitions::{fault, printed, teml};

#[test]
fn a_declaration_can_give_the_name() {
    let script = "
        let x = tensor([4], \"f64\", \"input\");
        let layer = x;
        for l in 0..2 {
            let h = tensor([4], \"f64\", `h_${l}`);
            h = tanh(layer, [i] -> [i]);
            print(build(h));
            layer = h;
        }
        layer = tanh(layer, [i] -> [i]);
        print(layer);
        print(tensor(float, [2], \"T\"));
        print(scalar(\"i32\", \"alpha\"));
        fn made(name) { tensor([3], \"f64\", name) }
        let t = made(\"y\");
        t = exp(t, [i] -> [i]);
        t = exp(t, [i] -> [i]);
        print(t);";
    let expected = "\
        f64 h_0[4], input[4]\nfor i in 0..4\n  h_0[i] = tanh(input[i])\n\
        f64 h_1[4], h_0[4]\nfor i in 0..4\n  h_1[i] = tanh(h_0[i])\n\
        f64 layer[4], h_1[4]\nlayer[i] = tanh(h_1[i])\n\
        f32 T[2]\ni32 alpha\n\
        f64 y[3]\ny[i] = exp(y[i])\n";
    assert_eq!(printed(script), expected);
    for (script, at) in [
        ("tensor([4], \"f64\", \"a b\")", "\"a b\""),
        ("scalar(\"f64\", \"2x\")", "\"2x\""),
        ("tensor([4], \"f64\", 3)", "3"),
    ] {
        assert_eq!(fault(script).1, at, "{script}");
    }
}

#[test]
fn variants_are_called_after_variables_or_as_named_says() {
    let script = "
        let A = tensor([16, 16]);
        fn copied(name) { build(name) }
        let B = tensor([16, 16], \"f64\", \"B\");
        let C = @B: eq(A, [i, j] -> [i, j]);
        let opt = [build(C).parallelize(1)];
        let made = [];
        made += build(C).vectorize(2);
        let variants = [];
        for n in [2, 4] { variants.push(named([build(C).tile(n)], `tile_${n}`)); }
        let rows = compare([build(C), opt, made] + variants);
        print(rows.map(|row| row.name));";
    let (code, text, _) = teml(&["check"], script);
    assert_eq!(
        (code, text.lines().last().unwrap()),
        (
            0,
            "[\"variant_1\", \"opt\", \"made\", \"tile_2\", \"tile_4\"]"
        )
    );
}
