//! `program(outputs)`: everything that tensors need, in the order of the script.

use super::{fault, printed, teml};

const CHAIN: &str = "let A = tensor([4, 5]); let x = tensor([5]);
    let y = einsum(\"ij,j->i\", A, x); let s = einsum(\"i,i->\", y, y);
    let unused = eq(2 * y, [i] -> [i]);\n";

#[test]
fn a_program_has_what_its_outputs_need() {
    let whole = "input f64 A[4][5]\ninput f64 x[5]\nf64 y[4]\noutput f64 s[]\n\
                 y[i] = sum(j: A[i][j] * x[j])\ns[] = sum(i: y[i] * y[i])\n";
    assert_eq!(printed(&format!("{CHAIN}print(program(s));")), whole);
    let both = whole.replace("\nf64 y[4]", "\noutput f64 y[4]");
    assert_eq!(printed(&format!("{CHAIN}print(program([s, y]));")), both);
}

/// The order of the list does not matter: a tensor that is assigned twice has its value of then.
#[test]
fn assignments_keep_the_order_of_the_script() {
    let script = "let z = tensor([3]); z = eq(z + 1, [i] -> [i]);
        let w = eq(2 * z, [i] -> [i]); z = eq(z + 1, [i] -> [i]);
        print(program([w, z])); init(z, [1, 2, 3]);
        let out = run(program([z, w])); print(out.w); print(out.z);";
    let (code, out, err) = teml(&["run"], script);
    let text = "input output f64 z[3]\noutput f64 w[3]\nz[i] = z[i] + 1\nw[i] = 2 * z[i]\n\
                z[i] = z[i] + 1\nf64[3]: 4.0, 6.0, 8.0\nf64[3]: 3.0, 4.0, 5.0\n";
    assert_eq!((code, out.as_str()), (0, text), "{err}");
}

#[test]
fn verbs_take_programs() {
    let script = format!(
        "{CHAIN}let p = program(s); compare([p, optimized(p)]); print(check(p).legal);
         export_kernel(p, \"k\"); print(close(run(p).s, run(s).s));"
    );
    let (code, out, err) = teml(&["check"], &script);
    assert_eq!(code, 0, "{out}{err}");
    for (call, message) in [
        ("program(A)", "nothing computes `A`"),
        ("program([])", "argument 1 `outputs` is an empty list"),
        (
            "program([s, 3])",
            "argument 1 `outputs` must be a list of tensors",
        ),
    ] {
        let (text, _) = fault(&format!("{CHAIN}{call};"));
        assert!(text.contains(message), "{call}: {text}");
    }
}

#[test]
fn nests_takes_lists_of_tensors() {
    let nests = "for n in nests([s, y]) { print(n); }";
    let of_program = nests.replace("[s, y]", "program([s, y])");
    let printed_of = |last: &str| printed(&format!("{CHAIN}{last}"));
    assert_eq!(printed_of(nests), printed_of(&of_program));
    assert_eq!(
        printed_of(&nests.replace("[s, y]", "[s]")),
        printed_of(&nests.replace("[s, y]", "s"))
    );
    assert_eq!(
        printed_of("print(nests([einsum(\"i,i->\", y, y), y]).len());"),
        "2\n"
    );
    for (call, message) in [
        ("nests([A])", "nothing computes `A`"),
        ("nests([])", "argument 1 `of` is an empty list"),
        ("nests([s, 3])", "argument 1 `of` must be a list of tensors"),
        ("nests(3)", "argument 1 `of` must be a program"),
    ] {
        let (text, _) = fault(&format!("{CHAIN}{call};"));
        assert!(text.contains(message), "{call}: {text}");
    }
}
