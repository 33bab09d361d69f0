//! A nest that is not decided within a budget is neither legal nor illegal, and has no C.

use super::{nest, string};
use teml::codegen::{NoCode, generate};
use teml::ir::Nest;
use teml::legality::{BatchProver, Question, Reductions, Undecided, Verdict, check, within};
use teml::transform::trace;

const SCRIPT: &str = "
    let A = tensor([20, 12]);
    A = eq(vadd(A, A, [[t - 1, i - 1], [t - 1, i + 1]]), [t, i]);
    let l = sweep(A);
    let B = tensor([20, 12]);
    let p = eq(vmul(B, 2, [[i, j], ]), [i, j]);
    let q = eq(vadd(p, p, [[i, j], [i, j - 1]]), [i, j]);
    let rows = build(p).compute_at(build(q), \"i\");
";

/// This many operations of the polyhedral library do not suffice to find a witness.
const FEW: u64 = 300;

fn question(verdict: &Option<Verdict>) -> &Question {
    match verdict {
        Some(Verdict::Undecided(Undecided::Budget { question, .. })) => question,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_asked_is_said() {
    let asked = |expression: &str, operations: u64| {
        let nests = [nest(SCRIPT, expression)];
        let verdict = within(operations, || check(&nests, Reductions::Strict));
        let judged = within(operations, || {
            BatchProver::of(&nests, Reductions::Strict).is_legal(&nests)
        });
        assert!(matches!(judged, Some(Err(_) | Ok(false))), "{judged:?}");
        let code = within(operations, || generate(&nests, "f", Reductions::Strict));
        let error = code.unwrap().unwrap_err();
        assert!(matches!(error, NoCode::Undecided(_)), "{error}");
        let (said, help) = (error.to_string(), error.help().unwrap());
        assert!(said.starts_with("there is no proof that"), "{said}");
        assert!(
            said.contains(&format!("more than {operations} operations")),
            "{said}"
        );
        assert!(!said.contains("cannot be"), "{said}");
        assert!(help.contains("assume(nest, why)"), "{help}");
        question(&verdict).clone()
    };
    assert_eq!(asked("l.skew(2, 1, 1).tile(4)", 1), Question::Instances);
    let order = asked("l.interchange(1, 2)", FEW);
    let statement = "A[t][i] = A[t - 1][i - 1] + A[t - 1][i + 1]".to_owned();
    assert_eq!(order, Question::Order([statement.clone(), statement]));
    assert_eq!(asked("rows", FEW), Question::Values);
    for (expression, name, parallel) in [
        ("l.parallelize(\"t\")", "t", true),
        (
            "l.skew(2, 1, 1).interchange(1, 2).vectorize(\"t\")",
            "t",
            false,
        ),
    ] {
        let by = teml::ir::Name::new(name).unwrap();
        let independence = Question::Independence { by, parallel };
        assert_eq!(asked(expression, FEW), independence);
    }
}

/// With enough of them there is an answer.
#[test]
fn what_is_wrong_is_found_with_more() {
    for expression in ["l.interchange(1, 2)", "l.parallelize(1)"] {
        let nests = [nest(SCRIPT, expression)];
        let verdict = within(1 << 20, || check(&nests, Reductions::Strict));
        assert!(matches!(verdict, Some(Verdict::Illegal(_))), "{verdict:?}");
    }
}

/// LU of a matrix as a list of nests, with these steps on each nest of two loops.
fn lu(n: usize, steps: &str) -> Vec<Nest> {
    let script = format!(
        "
        let A = tensor([{n}, {n}]);
        let one = tensor([{n}]);
        let nests = [];
        for step in 0..{n} - 1 {{
            A = eq(vdiv(vmul(A, one, [[i + step + 1, step], [i]]), A, [(), [step, step]]), [i + step + 1, step]);
            nests += build(A);
            let column = vmul(A, one, [[i + step + 1, step], [i]]);
            let row = vmul(A, one, [[step, j + step + 1], [j]]);
            let product = vmul(column, row, [(), ()]);
            A = eq(vsub(A, product, [[i + step + 1, j + step + 1], ()]), [i + step + 1, j + step + 1]);
            nests += build(A){steps};
        }}
        let all = \"\";
        for nest in nests {{ all += json(nest) + \"@\"; }}
        "
    );
    let all = string(&script, "all");
    let all = all.split_terminator('@').map(trace::from_json);
    all.collect::<Result<_, _>>().unwrap()
}

/// A list is proved nest by nest: it takes as many operations as its nests, and no more.
#[test]
fn lists_take_no_more_than_their_nests() {
    let verdict =
        |nests: &[Nest], operations: u64| within(operations, || check(nests, Reductions::Strict));
    // The positions of statements prove these legal.
    let vector = lu(12, ".vectorize(\"j\")");
    assert_eq!(verdict(&vector, 1), Some(Verdict::Legal));
    for steps in [
        ".tile(4).parallelize(1)",
        ".pack(1, one)",
        ".interchange(1, 2)",
    ] {
        let (few, many) = (lu(5, steps), lu(13, steps));
        let needed = (1..)
            .map(|k| k * 500)
            .find(|operations| verdict(&few, *operations) == Some(Verdict::Legal));
        let needed = needed.unwrap();
        let most = needed * many.len() as u64 / few.len() as u64 * 2;
        assert_eq!(
            verdict(&many, most),
            Some(Verdict::Legal),
            "{steps} {needed}"
        );
    }
}
