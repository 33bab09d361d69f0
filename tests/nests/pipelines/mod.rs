//! Everyday pipelines, whose nests copy, transpose, pad and slice the results of other nests.
//! `schedules::optimize` succeeds, and its result is legal.

use crate::dialog;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use teml::script::Session;
use teml::verbs::Workbench;

/// The output of a script.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn printed(script: &str) -> String {
    let output = Output::default();
    let session = Session::new(Box::new(output.clone()), Workbench::default());
    let run = session.and_then(|mut session| session.run_text("script", script));
    run.unwrap_or_else(|error| panic!("{script}\n{}", error.render(false)));
    let bytes = output.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

/// Declarations, and the nests.
const PIPELINES: &[(&str, &str)] = &[
    // An activation, a border, a convolution.
    (
        "let x = tensor([1, 3, 12, 12], \"f32\"); let w = tensor([4, 3, 3, 3], \"f32\");
         let r = relu(x, [a, b, c, d] -> [a, b, c, d]); let p = padded(r, [0, 0, 1, 1]);
         let y = conv(p, w);",
        "[build(r), build(p), build(y)]",
    ),
    // Scaled, transposed, multiplied.
    (
        "let x = tensor([12, 7]); let w = tensor([12, 9]);
         let s = eq(2 * x, [i, j] -> [i, j]); let t = eq(s, [i, j] -> [j, i]);
         let y = einsum(\"ik,kj->ij\", t, w);",
        "[build(s), build(t), build(y)]",
    ),
    // A softmax, transposed.
    (
        "reductions(\"reassoc\"); let x = tensor([12, 40]);
         let m = max(x, [2]); let e = exp(vsub(x, m, [[i, j], [i]]), [i, j]);
         let s = sum(e, [2]); let q = eq(vdiv(e, s, [[i, j], [i]]), [i, j]);
         let t = eq(q, [i, j] -> [j, i]);",
        "[m, e, s, q, t].map(|x| build(x))",
    ),
    // The diagonal of what is computed, and all of it backwards.
    (
        "let x = tensor([12, 12]); let s = eq(2 * x, [i, j] -> [i, j]);
         let d = eq(vat(s, [i, i]), [i]); let r = eq(vat(d, [11 - i]), [i]);",
        "[s, d, r].map(|x| build(x))",
    ),
    // Two stencils, and the elements between their columns.
    (
        "let x = tensor([12, 14]);
         let a = eq(vat(x, [i, j]) + vat(x, [i, j + 2]), [i, j], [12, 12]);
         let b = eq(vat(a, [i, j]) + vat(a, [i + 2, j]), [i, j], [10, 12]);
         let c = eq(b, [i, j] -> [i, 2*j + d], [10, 24], #{d: 0..2});",
        "[a, b, c].map(|x| build(x))",
    ),
    // Heads that are merged, alone and after a product.
    (
        "let o = tensor([4, 10, 8], \"f32\"); let m = eq(vat(o, [h, t, e]), [t, 8*h + e]);",
        "[build(m)]",
    ),
    (
        "let a = tensor([4, 10, 6]); let v = tensor([4, 6, 8]);
         let o = einsum(\"htk,hke->hte\", a, v); let m = eq(vat(o, [h, t, e]), [t, 8*h + e]);",
        "[build(o), build(m)]",
    ),
    // Patches and pixels.
    (
        "let x = tensor([4, 4, 3, 4, 4], \"f32\");
         let s = eq(2 * x, [i, j, c, a, b] -> [i, j, c, a, b]);
         let y = eq(vat(s, [i, j, c, a, b]), [c, 4*i + a, 4*j + b]);",
        "[build(s), build(y)]",
    ),
    (
        "let x = tensor([12, 12]); let v = stored(2 * x);
         let u = eq(v, [i, j] -> [2*i + di, 2*j + dj], [24, 24], #{di: 0..2, dj: 0..2});",
        "[build(v), build(u)]",
    ),
    // A text that addresses its elements itself.
    (
        "let p = nest(`
           f64 a[12][16], b[12][16], flat[192]
           for i in 0..12
             for j in 0..16
               flat[16*i + j] = a[i][j] + b[i][j]
         `);",
        "[p]",
    ),
];

/// The value of an expression after declarations.
fn value(declared: &str, expression: &str) -> String {
    dialog::shown(declared, expression).unwrap_or_else(|error| panic!("{declared}\n{error}"))
}

#[test]
fn pipelines_of_all_kinds_are_optimized() {
    for (declared, nests) in PIPELINES {
        let verdict = value(
            declared,
            &format!("check(schedules::optimize({nests})).message"),
        );
        assert_eq!(verdict, "=> \"legal\"", "{declared}");
    }
    // Nests with several iterators in one index are also vectorized.
    let declared = "let o = tensor([4, 10, 64]); let m = eq(vat(o, [h, t, e]), [t, 64*h + e]);";
    let lanes = value(declared, "schedules::optimize(build(m)).to_string()");
    assert!(lanes.contains("vector for e in 0..64"), "{lanes}");
}

#[test]
fn optimize_returns_what_it_got_where_there_is_no_schedule() {
    let script = "
        let A = tensor([4, 5]);
        let y = sum(A, [2]);
        let illegal = build(y).parallelize(2);
        let B = eq(2 * A, [i, j] -> [i, j]);";
    for (nests, same) in [
        ("illegal", "made == illegal"),
        ("[illegal]", "made.len() == 1 && made[0] == illegal"),
        (
            "[illegal, build(B)]",
            "made.len() == 2 && made[0] == illegal",
        ),
    ] {
        let made = format!("let made = schedules::optimize({nests});");
        let text = printed(&format!("{script}\n{made}\nprint({same});"));
        let [why, is_same] = text.lines().collect::<Vec<_>>()[..] else {
            panic!("{nests}: {text}");
        };
        assert!(
            why.starts_with("schedules::optimize: leaves "),
            "{nests}: {why}"
        );
        assert_eq!(is_same, "true", "{nests}");
    }
}

/// Contractions of the papers: of small tensors, with some indices shared, and element by element.
const SMALL: &[&str] = &[
    "let A = tensor([n, n]); let B = tensor([n, n]); let C = einsum(\"ik,kj->ij\", A, B);
     let l = [build(C)];",
    "let A = tensor([n, 3, n]); let D = tensor([3, 3, 3]);
     let O = einsum(\"ijk,jmp->impk\", A, D); let l = [build(O)];",
    "let X = tensor([4, n, 4, n]); let Y = tensor([4, n, 4, n]);
     let Z = einsum(\"abcd,ebfd->aecf\", X, Y); let l = [build(Z)];",
    "let A = tensor([n, n]); let u = tensor([n, n, n]);
     let t = contract(A, u, [2, 3]); let v = contract(A, t, [2, 3]); let l = [build(t), build(v)];",
    "let A = tensor([1, 512 * n]); let B = stored(2 * A); let l = [build(B)];",
    "let I = tensor([n + 2, n + 2]); let R = stencil(I, [[0, 1], [1, 0], [2, 1]], [1, 2, 1]); let l = [build(R)];",
];

#[test]
fn threads_share_no_loop_that_is_done_before_they_begin() {
    for (script, n) in SMALL.iter().flat_map(|script| [2, 5].map(|n| (script, n))) {
        let made = "let made = schedules::optimize(l);
            for nest in (if type_of(made) == \"array\" { made } else { [made] }) { print(nest); }";
        let text = printed(&format!(
            "reductions(\"reassoc\"); let n = {n}; {script} {made}"
        ));
        assert!(!text.contains("parallel"), "{n}: {text}");
    }
    for (script, n) in [
        (SMALL[1], 13),
        (SMALL[1], 40),
        (SMALL[1], 64),
        (SMALL[2], 24),
        (SMALL[4], 4096),
    ] {
        let made = "print(schedules::optimize(l)[0]);";
        let text = printed(&format!(
            "reductions(\"reassoc\"); let n = {n}; {script} {made}"
        ));
        let once = |line: &str| line.contains("parallel ") && line.ends_with(" in 0..1");
        assert!(!text.lines().any(once), "{n}: {text}");
    }
}
