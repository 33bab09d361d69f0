//! `i / 5` and `i % 5` as indices of scripts.

use super::{fault, printed, teml};

const INPUTS: &str = "let A = tensor([3, 4]); let B = tensor([5, 6]);
    init(A, |i, j| 4 * i + j + 1); init(B, |i, j| 10 * i - j);\n";

#[test]
fn products_of_blocks_have_several_spellings() {
    let of_blocks = "let K = eq(vmul(A, B, [[i, j], [k, l]]), [5*i + k, 6*j + l]);";
    let script = format!("{INPUTS}{of_blocks} print(run(K).K);");
    let (code, expected, err) = teml(&["run"], &script);
    assert_eq!(code, 0, "{err}");
    for other in [
        "let K = eq(vmul(A, B, [[i / 5, j / 6], [i % 5, j % 6]]), [i, j], [15, 24]);",
        "let K = eq(vmul(A, B, [[i / 5, j / 6], [i % 5, j % 6]]), [i, j]);",
        "let K = stored(veq(vmul(A, B, [[i, j], [k, l]]), [5*i + k, 6*j + l]));",
        "let V = veq(vmul(A, B, [[i / 5, j / 6], [i % 5, j % 6]]), [i, j]);
         let K = eq(V, [n, m] -> [n, m]);",
    ] {
        let script = format!("{INPUTS}{other} print(run(K).K);");
        let (code, text, err) = teml(&["run"], &script);
        assert_eq!((code, text), (0, expected.clone()), "{other}{err}");
    }
}

#[test]
fn virtual_and_inlined_products_are_never_stored() {
    let twice = "let L = eq(vmul(B, A, [[k, l], [i, j]]), [5*i + k, 6*j + l]);
        let K = eq(vmul(A, B, [[i, j], [k, l]]), [5*i + k, 6*j + l]);
        let H = entrywise_mul(K, L); let nests = [build(K), build(L), build(H)];";
    let inlined = "let plan = inline(nests[1], inline(nests[0], nests[2]));
        print(check([plan]).legal); compare([nests, plan]);
        print(accesses(plan).filter(|a| a.tensor == \"K\").len());";
    let (code, text, err) = teml(&["check"], &format!("{INPUTS}{twice}{inlined}"));
    assert_eq!(code, 0, "{text}{err}");
    assert!(
        text.starts_with("true\n") && text.contains("\n0\n"),
        "{text}"
    );
    let virtual_product = "fn vkron(A, B) {
          veq(vmul(A, B, [[i, j], [k, l]]), [value(shape(B)[0]) * i + k, value(shape(B)[1]) * j + l])
        }
        let H = stored(vkron(A, B) * vkron(A, B)); print(run(H).H);";
    let stored = format!("{INPUTS}{twice} print(run(H).H);");
    let (_, expected, _) = teml(&["run"], &stored);
    let (code, text, err) = teml(&["run"], &format!("{INPUTS}{virtual_product}"));
    assert_eq!((code, text), (0, expected), "{err}");
}

#[test]
fn quotients_print_and_simplify() {
    let script = "print(i / 5); print((i - 1) % 5); print(2 * (i / 5) + 1); print((10*i + 7) / 5);
        print((5*i + k) / 5); print((5*i + k) % 5); print(i % 15 / 5); print(i / 3 / 2);
        print(iterators(vat(A, [i / 5, i % 4])));";
    let expected = "i/5\n(i + 4)%5\n2*(i/5) + 1\n2*i + 1\ni + k/5\nk%5\ni%15/5\ni/6\n[i]\n";
    assert_eq!(printed(&format!("{INPUTS}{script}")), expected);
}

#[test]
fn other_quotients_are_refused() {
    for (script, message) in [
        ("(i + j) / 5", "the quotient of `i + j` by 5 is not affine"),
        (
            "(14 - i) % 5",
            "the remainder of `14 - i` by 5 is not affine",
        ),
        (
            "i / 0",
            "`i` can be divided by a positive integer, not by 0",
        ),
        (
            "i % -3",
            "`i` can be divided by a positive integer, not by -3",
        ),
        (
            "i / j",
            "`/` cannot be applied to an iterator and an iterator",
        ),
        (
            "veq(A, [i, j] -> [i / 2, j])",
            "veq: `i/2` indexes the target but not the value, so its range is unknown",
        ),
        (
            "vsum(vat(A, [i / 5, j]), [i / 5])",
            "vsum: `i/5` is not an iterator of the expression, whose iterators are [i, j]",
        ),
    ] {
        let (found, _) = fault(&format!("{INPUTS} {script};"));
        assert!(found.contains(message), "{script}: {found}");
    }
}
