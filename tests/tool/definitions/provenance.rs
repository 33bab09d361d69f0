//! The origin of operands: reading an unset element is refused, and elements that nests leave unset
//! are reported.

use crate::definitions::given::numbers;
use crate::definitions::{fault, printed, teml};

/// Tensors of a number for each element, counted from 0.
const INPUTS: &str = "
let u = tensor([9]); init(u, |i| i * 1.0);
let a = tensor([5]); init(a, |i| i * 1.0);
";

/// The output of a script after the inputs.
fn with_inputs(script: &str) -> String {
    printed(&format!("{INPUTS}{script}"))
}

/// The output of a script that runs kernels.
fn run(script: &str) -> String {
    let (code, printed, messages) = teml(&["run"], script);
    assert_eq!(code, 0, "{messages}");
    printed
}

/// The numbers of an array that a script computes after the inputs.
fn computed(script: &str, array: &str) -> Vec<f64> {
    numbers(&format!("{INPUTS}{script}"), array)
}

#[test]
fn a_tensor_ends_with_what_is_set() {
    let slice = "let f = eq(vat(u, [j]), [j], #{j: 0..4}); let s = eq(vsum(f), []);";
    assert_eq!(with_inputs(&format!("{slice} print(shape(f));")), "[4]\n");
    assert_eq!(computed(slice, "run([build(f), build(s)]).s"), [6.0]);
    let differences = "let d = eq(vat(a, [j]) + vat(a, [j + 1]), [j]);
         let g = eq(vat(d, [i]) + vat(d, [i + 1]), [i]);";
    assert_eq!(
        with_inputs(&format!("{differences} print(shape(d));")),
        "[4]\n"
    );
    let found = computed(differences, "run([build(d), build(g)]).g");
    assert_eq!(found, [4.0, 8.0, 12.0]);
}

/// Definitions that read elements which an earlier one leaves unset, and these elements.
const UNSET: [(&str, &str); 5] = [
    (
        "let f = tensor([9]); f = eq(vat(u, [j]), [j], #{j: 0..4}); let s = eq(vsum(f), []);",
        "f[4..9]",
    ),
    (
        "let f = eq(vat(u, [j]), [j], [9], #{j: 0..4}); let s = eq(vsum(f), []);",
        "f[4..9]",
    ),
    (
        "let f = eq(vat(u, [j]) * 2, [2*j + 1], #{j: 0..3}); let s = eq(f, [i] -> [i]);",
        "f[0]",
    ),
    (
        "let f = tensor([9]); f = stencil(u, [[-1], [1]], [1, 1]); let s = eq(f, [i] -> [i]);",
        "f[0]",
    ),
    (
        "let T = tensor([4, 5]);
         let f = eq(vat(T, [i, j]), [i, j], #{j: 0..i + 1});
         let s = sum(f, [2]);",
        "f[0][1]",
    ),
];

#[test]
fn reading_what_nothing_sets_is_an_error_everywhere() {
    for (definitions, element) in UNSET {
        let nests = "let l = [build(f), build(s)];";
        for act in [
            "compare([l])",
            "run(l)",
            "codegen(l)",
            "measure([l])",
            "export_kernel(l, \"k\")",
        ] {
            let (message, _) = fault(&format!("{INPUTS}{definitions}{nests}{act};"));
            let expected = format!("reads {element}, which nothing sets");
            assert!(message.contains(&expected), "{act}: {message}");
        }
        let out = with_inputs(&format!("{definitions}{nests}print(check(l));"));
        assert!(out.starts_with("illegal: "), "{out}");
        assert!(out.contains("init(f, 0)"), "{out}");
    }
}

#[test]
fn a_range_a_value_or_an_input_sets_the_rest() {
    for ways_out in [
        "let f = tensor([9]); f = eq(vat(u, [j]), [j], #{j: 0..4});
         let s = eq(vsum(vat(f, [i]), [i], #{i: 0..4}), []);",
        "let f = eq(vat(u, [j]), [j], [9], 0, #{j: 0..4}); let s = eq(vsum(f), []);",
        "let f = partition([eq(vat(u, [j]), [j], #{j: 0..4})], 0, [9]); let s = eq(vsum(f), []);",
        "let f = tensor([9]); init(f, 0); f = eq(vat(u, [j]), [j], #{j: 0..4});
         let s = eq(vsum(f), []);",
        // It reads elements that it keeps, so its old contents are an input.
        "let f = tensor([9]); init(f, 0); let u2 = f;
         f = eq(vat(f, [j]) + vat(u, [j]), [j], #{j: 0..4}); let s = eq(vsum(f), []);",
    ] {
        let script = format!("{ways_out} let l = [build(f), build(s)];");
        let checked = with_inputs(&format!("{script} print(check(l));"));
        assert_eq!(checked, "legal\n", "{ways_out}");
        assert_eq!(computed(&script, "run(l).s"), [6.0], "{ways_out}");
    }
}

#[test]
fn time_steps_start_from_what_tensors_hold() {
    let steps = |declared: &str| {
        format!(
            "{declared} b = eq(vat(a, [i - 1]) + vat(a, [i + 1]), [i]);
             let first = build(b);
             a = eq(vat(b, [i - 1]) + vat(b, [i + 1]), [i]);
             let both = fuse_outer(first, build(a), 0);"
        )
    };
    let declared = steps("let b = tensor([5]);");
    assert_eq!(
        with_inputs(&format!("{declared} print(check(both.repeat(\"t\", 3)));")),
        "legal\n"
    );
    let once = with_inputs(&format!("{declared} print(check(both));"));
    assert!(once.contains("reads b[0], which nothing sets"), "{once}");
}

#[test]
fn a_text_computes_what_it_assigns() {
    let text = "let x = eq(2 * vat(a, [i]), [i]);
         let mine = nest(`
           f64 x[5], a[5]
           fill x[0..5] = 0
           for i in 0..5
             x[i] += a[i]
         `);
         codegen(mine);";
    assert_eq!(with_inputs(text), "");
}

#[test]
fn what_nests_leave_out_is_said_and_can_be_had() {
    let chain = "let m = max(a);
let e = exp(vsub(a, m, [[i], ()]), () -> [i]);
let s = sum(e);
let Y = div(e, s, [[i], ()] -> [i]);
";
    let out = run(&format!("let a = tensor([3]);\n{chain}run(build(Y));"));
    let said = "note: `e` and `s` are assigned at lines 3 and 4 and are not computed here: their \
                contents are inputs. `compare(Y)` computes them as well";
    assert!(out.starts_with(said), "{out}");
    let out = with_inputs(&format!(
        "{chain} print(nests(Y).len()); print(check(Y)); print(check(schedules::optimize(Y)));"
    ));
    let said = "schedules::optimize: m: as it is, since its iterations depend on each other; e: \
                elements (schedules::pointwise); s: as it is, since its terms are added in order; \
                `reductions(\"reassoc\")` allows partial sums; Y: elements (schedules::pointwise)";
    assert_eq!(out, format!("4\nlegal\n{said}\nlegal\n"));
    let out = run(&format!(
        "let a = tensor([3]);\n{chain}compare(Y); compare([Y, nests(Y)]);"
    ));
    assert!(out.contains("| Y "), "{out}");
    let checked = out.matches("checked: all").count();
    assert_eq!((checked, out.contains("note:")), (2, false), "{out}");
    let powers = [0, 1, 2, 3, 4].map(|i: i32| f64::from(i - 4).exp());
    let sum: f64 = powers.iter().sum();
    for (found, power) in computed(chain, "run(Y).Y").iter().zip(powers) {
        assert!((found - power / sum).abs() < 1e-12, "{found}");
    }
}

#[test]
fn steps_of_a_loop_are_all_computed() {
    let steps = "let v = tensor([5]); init(v, |i| i * i * 1.0);
for t in 0..3 { v = eq(2 * vat(v, [i]) + 1, [i]); }
";
    let out = run(&format!("{steps}run(build(v));"));
    assert!(
        out.starts_with("note: `v` is assigned 2 times at line 2 and is not computed here"),
        "{out}"
    );
    assert_eq!(printed(&format!("{steps}print(nests(v).len());")), "3\n");
    let expected = [0, 1, 4, 9, 16].map(|v| f64::from(8 * v + 7));
    assert_eq!(computed(steps, "run(v).v"), expected);
}

#[test]
fn tensors_of_a_loop_are_told_apart() {
    let made = "let parts = [];
         for k in 1..4 { let t = eq(k * vat(a, [i]), [i]); parts.push(t); }";
    let both = format!("{made} let s = eq(vadd(parts[0], parts[2], [[i], [i]]), [i]);");
    assert_eq!(computed(&both, "run(s).s"), [0.0, 4.0, 8.0, 12.0, 16.0]);
    let summed = "let s = eq(0 * vat(a, [i]), [i]);
         for k in 1..4 { let t = eq(k * vat(a, [i]), [i]); s = eq(vat(s, [i]) + vat(t, [i]), [i]); }";
    let found = computed(summed, "run(s).s");
    assert_eq!(found, [0.0, 6.0, 12.0, 18.0, 24.0]);
    let all = with_inputs(&format!("{summed} for nest in nests(s) {{ print(nest); }}"));
    assert!(all.contains("t_2[i]") && all.contains("t_3[i]"), "{all}");
}

#[test]
fn a_new_tensor_of_an_old_name_is_an_input() {
    let script = "let e = eq(2 * vat(a, [i]), [i]);
         let e = tensor([5]); init(e, 1);
         let s = eq(vat(e, [i]) + 1, [i]);";
    assert_eq!(computed(script, "run(build(s)).s"), [2.0; 5]);
}
