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

const OUTPUTS: &str = "let p = model(`
        var input A : [5 7]
        var input B : [5 7]
        var input s : []
        var output C : [5 7]
        var t : [5 7]
        var output D : [7 5]
        t = A / B
        C = t / s
        D = C ^ [1 2]
        t = A + B
    `);\n";

/// An output that a later statement reads is a result, and a temporary is none, whether the nests
/// are in a list, transformed or joined.
#[test]
fn nests_keep_what_a_program_declares() {
    for variant in [
        "p",
        "optimized(p)",
        "nests(padded_storage(p, 4))",
        "[one_nest(without_dead_code(p))]",
        "nests(p).map(|l| l.stripmine(1, 2))",
        "schedules::optimize(nests(p))",
        "[fuse_outer(fuse_outer(nests(p)[0], nests(p)[1], 0), fuse_outer(nests(p)[2], nests(p)[3], 0), 0)]",
    ] {
        let script =
            format!("{OUTPUTS}for row in compare([nests(p), {variant}]) {{ print(row.ok); }}");
        let (code, out, err) = teml(&["run"], &script);
        assert_eq!(code, 0, "{variant}: {out}{err}");
        assert!(out.ends_with("true\ntrue\n"), "{variant}: {out}");
    }
    let (message, _) = fault(&format!(
        "{OUTPUTS}let all = nests(p); compare([all, [all[0], inline(all[1], all[2]), all[3]]]);"
    ));
    assert_eq!(message, "compare: C[0][0] is wrong in the end");
    let (message, _) = fault(&format!(
        "{OUTPUTS}let both = fuse_outer(nests(p)[1], nests(p)[2], 0); both.localize(\"C\");"
    ));
    assert_eq!(
        message,
        "localize: C is an output of the program, not a temporary"
    );
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
