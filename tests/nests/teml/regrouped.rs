//! Operators of the script's own: what folds and regrouped loops refuse, and the laws.

use crate::properties::operators::operator;
use crate::teml::refusals::Case;
use crate::teml::trees::named;
use std::sync::Arc;
use teml::analysis::verify::Invalid;
use teml::ir::{
    Affine, Effects, Elem, Expr, Loop, Mode, Name, Nest, Number, Operator, Path, Shape, Sharing,
    Step, Tensor, Tree, parse_expr,
};
use teml::legality::{Obeyed, Reductions, Unlawful, Verdict, Violation, check, obeyed};
use teml::lower::program::program;
use teml::transform::nest::at::AT;
use teml::transform::nest::mode::PARALLELIZE;
use teml::transform::nest::regroup::{REGROUP, regroup};
use teml::transform::tensor::fold::FOLD;
use teml::transform::tensor::with_shapes;
use teml::transform::{Arg, LoopRef};

fn total(elem: Elem) -> Operator {
    operator("total", &[elem], &["a0[] + b0[]"], &[0])
}

fn value(text: &str) -> Expr {
    let parsed = parse_expr(text).unwrap_or_else(|e| panic!("{e}"));
    with_shapes(&parsed).unwrap_or_else(|e| panic!("{e}"))
}

fn written(lines: &[&str]) -> Nest {
    program(&lines.join("\n")).unwrap_or_else(|faults| panic!("{faults:?}"))
}

#[test]
fn laws_are_tested_on_the_values_that_are_combined() {
    let x = || value("f64 x[9]\nx[i]");
    let index = || value("i64 k[9]\nindex(i)");
    let of = |operator: &Operator, values: &[Expr]| obeyed(operator, values);
    let law = |laws: Result<Obeyed, Unlawful>| match laws {
        Err(Unlawful::Broken { law, .. }) => law,
        other => panic!("{other:?}"),
    };
    let laws = of(&total(Elem::F64), &[x()]).expect("laws");
    assert_eq!((laws.commutes, laws.is_exact), (true, false));
    let laws = of(&total(Elem::I64), &[index()]).expect("laws");
    assert_eq!((laws.commutes, laws.is_exact), (true, true));
    // The first of the greatest values, by their order: ties do not commute.
    let values = ["max(a0[], b0[])", "select(a0[] >= b0[], a1[], b1[])"];
    let best = operator("best", &[Elem::F64, Elem::I64], &values, &[-1000, 0]);
    let laws = of(&best, &[x(), index()]).expect("laws");
    assert_eq!((laws.commutes, laws.is_exact), (false, true));
    // Where the second component is always 1, this is a count.
    let values = ["a0[] * b1[] + b0[]", "a1[]"];
    let odd = operator("odd", &[Elem::I64; 2], &values, &[0, 1]);
    let one = value("i64 k[9]\nmin(1, max(1, k[i]))");
    assert!(of(&odd, &[index(), one]).is_ok());
    assert_eq!(
        law(of(&odd, &[index(), value("i64 k[9]\nk[i]")])),
        "identity op x = x"
    );
    let mean = operator("mean", &[Elem::F64], &["(a0[] + b0[]) / 2"], &[0]);
    assert_eq!(law(of(&mean, &[x()])), "identity op x = x");
    let rounded = operator(
        "step",
        &[Elem::I64],
        &["a0[] + b0[] - a0[] * b0[] * b0[]"],
        &[0],
    );
    assert_eq!(
        law(of(&rounded, &[index()])),
        "(x op y) op z = x op (y op z)"
    );
}

#[test]
fn rounding_needs_the_policy() {
    let naive = written(&["f64 s[], x[12]", "for i in 0..12", "  s[] += x[i]"]);
    let l = LoopRef::Name("i".to_owned());
    let regrouped = regroup(&naive, &l, &total(Elem::F64)).expect("a sum");
    let nests = [regrouped];
    assert_eq!(check(&nests, Reductions::Reassociate), Verdict::Legal);
    let Verdict::Illegal(violation) = check(&nests, Reductions::Strict) else {
        panic!("sums of f64 round");
    };
    assert!(
        matches!(*violation, Violation::Rounded { nest: 0, .. }),
        "{violation}"
    );
    let naive = written(&["i64 s[], x[12]", "for i in 0..12", "  s[] += x[i]"]);
    let regrouped = regroup(&naive, &l, &total(Elem::I64)).expect("a sum");
    assert_eq!(check(&[regrouped], Reductions::Strict), Verdict::Legal);
}

/// A regrouped nest is its own definition. The iterations of its parallel loops still have to be
/// independent.
#[test]
fn parallel_loops_are_still_proved() {
    let naive = written(&["i64 s[], x[12]", "for i in 0..12", "  s[] += x[i]"]);
    let l = LoopRef::Name("i".to_owned());
    let regrouped = regroup(&naive, &l, &total(Elem::I64)).expect("a sum");
    let on = |l: &str| {
        let args = [Arg::Nest(regrouped.clone()), named(l)];
        let nest = teml::transform::apply(&PARALLELIZE, &args, None);
        check(
            &[nest.expect("a loop").nest().expect("a nest")],
            Reductions::Strict,
        )
    };
    assert_eq!(on("i"), Verdict::Legal);
    let Verdict::Illegal(violation) = on("i_2") else {
        panic!("the accumulators are combined in turn");
    };
    assert!(
        matches!(*violation, Violation::Concurrent { .. }),
        "{violation}"
    );
    // Even if the parallel loop is there when the nest becomes its own definition.
    let trees = regrouped.trees().iter().map(parallel).collect();
    let racing = regrouped.by_law(trees, regrouped.laws()[0].clone());
    assert!(matches!(
        check(&[racing], Reductions::Strict),
        Verdict::Illegal(_)
    ));
}

/// The tree, with parallel iterations if it is a loop.
fn parallel(tree: &Tree) -> Tree {
    match tree {
        Tree::Loop(l) => Tree::of_loop(Loop {
            mode: Mode::Parallel {
                sharing: Sharing::default(),
            },
            ..(**l).clone()
        }),
        other => other.clone(),
    }
}

pub fn regrouped() -> Vec<Case> {
    let on = |nest: &Nest, operator: Operator, text: &str| {
        let args = vec![
            Arg::Nest(nest.clone()),
            named("k"),
            Arg::Operator(Arc::new(operator)),
        ];
        Case::new(&REGROUP, args, text)
    };
    let head = "i64 s[], t[], R[9], X[9]";
    let body = |lines: &[&str]| written(&[&[head, "for k in 0..8"], lines].concat());
    let sum = body(&["  s[] += X[k]"]);
    let no = "`k` does not combine values by `total`";
    let integers = || total(Elem::I64);
    let minus = operator("minus", &[Elem::I64], &["a0[] - b0[]"], &[0]);
    let ratio = operator("ratio", &[Elem::I64], &["b0[] / a0[]"], &[1]);
    let ratios = body(&["  s[] = X[k] / s[]"]);
    let fault = "`ratio` cannot be evaluated on random values: integer division by zero";
    let broken = "`minus` breaks a law: identity op x = x: (1) differs from (-1) for x = (-1)";
    let beside = body(&["  s[] += X[k]", "  for l in 0..2", "    t[] += X[l]"]);
    let computed = body(&["  R[k + 1] = 2 * R[k]", "  s[] += R[k]"]);
    let unproved = written(&[head, "for k in 0..8", "  s[] += X[k]"]);
    let unproved = Nest::of_trees(unproved.trees().to_vec());
    let rows = written(&[
        "i64 s[3], X[9]",
        "for i in 0..3",
        "  for k in 0..8",
        "    s[i] += X[k]",
    ]);
    let step = Step {
        op: REGROUP.name,
        args: vec![named("k"), Arg::Operator(Arc::new(integers()))],
        site: None,
    };
    let steps = Path::default().then(Arc::new(step), Effects::default());
    let part = Case::new(
        &AT,
        vec![Arg::Nest(rows), named("i"), Arg::Steps(steps)],
        "a law changes the definition of the whole nest, and this is a part",
    );
    let clash = written(&["i64 s[], s_k[9]", "for k in 0..8", "  s[] += s_k[k]"]);
    let differs = body(&["  s[] -= X[k]"]);
    vec![
        on(&differs, integers(), no).because_of(&["k"]),
        on(&body(&["  R[k] = X[k]"]), integers(), no).because_of(&["k"]),
        on(&differs, minus, broken).at(2).because_of(&["k"]),
        part.at(2),
        on(&ratios, ratio, fault).at(2).because_of(&["k"]),
        on(&beside, integers(), "`k` has statements beside other loops").because_of(&["k"]),
        on(
            &computed,
            integers(),
            "`k` computes R, which the combined values need first",
        )
        .because_of(&["k"]),
        on(
            &body(&["  R[k] = X[k]", "  R[8] += X[k]"]),
            integers(),
            "`k` also sets other elements of R, its accumulator",
        )
        .because_of(&["k"]),
        on(
            &unproved,
            integers(),
            "this nest is not proved so far, and a law continues a proof only",
        )
        .because_of(&["k"]),
        on(
            &clash,
            integers(),
            &Invalid::LocalClash {
                tensor: "s_k".to_owned(),
            }
            .to_string(),
        ),
        on(
            &sum,
            operator("pair", &[Elem::I64; 2], &["a0[]", "b1[]"], &[0, 0]),
            "`k` does not combine values by `pair`",
        )
        .because_of(&["k"]),
    ]
}

pub fn folds() -> Vec<Case> {
    let tensor = |name: &str, extents: &[i64], elem: Elem| {
        let shape = Shape::new(extents, elem).expect("small extents");
        let tensor = Tensor::new(shape, elem);
        Expr::of_tensor(match name {
            "" => tensor,
            name => tensor.named(Name::new(name).expect("a name")),
        })
    };
    let x = || Arg::Expr(value("f64 X[3][9]\nX[i][j]"));
    let of = |values: Vec<Arg>, over: &[&str], results: Vec<Expr>, text: &str| {
        let over = over
            .iter()
            .map(|name| Affine::iterator(Name::new(name).expect("a name")));
        let args = vec![
            Arg::Operator(Arc::new(total(Elem::F64))),
            Arg::Operands(values),
            Arg::Iters(over.collect()),
            Arg::Exprs(results),
        ];
        Case::new(&FOLD, args, text)
    };
    let r = || vec![tensor("R", &[3], Elem::F64)];
    let number = |value: f64| Arg::Number(Number::Float(value));
    let whole = Arg::Expr(tensor("X", &[3, 9], Elem::F64));
    let apart = value("f64 X[3][9], Y[9][3]\nX[i][0] * Y[j][0]");
    vec![
        of(
            vec![],
            &["j"],
            r(),
            "`total` needs a value for each component, which makes 1, and gets 0",
        )
        .at(1),
        of(
            vec![x()],
            &["j"],
            vec![],
            "`total` needs a result for each component, which makes 1, and gets 0",
        )
        .at(3),
        of(
            vec![x()],
            &["j"],
            vec![value("f64 X[3][9]\nX[i][j] + 1")],
            "a result is a tensor",
        )
        .at(3),
        of(vec![x()], &["k"], r(), "no value carries the iterator `k`").at(2),
        of(vec![x()], &["j", "j"], r(), "`j` is listed twice").at(2),
        of(
            vec![number(1.0)],
            &["j"],
            r(),
            "no value carries the iterator `j`",
        )
        .at(2),
        of(vec![whole], &["j"], r(), "X carries no iterators").at(1),
        of(
            vec![Arg::Expr(value("i64 k[9]\nk[j]"))],
            &["j"],
            r(),
            "k is i64, and `total` takes f64 there",
        )
        .at(1),
        of(
            vec![Arg::Expr(apart)],
            &["j"],
            vec![tensor("R", &[4], Elem::F64)],
            "R has the shape [4], and there is a result for i in 0..3",
        )
        .at(3),
        of(
            vec![x()],
            &["i", "j"],
            r(),
            "R has the shape [3], and the result is one value",
        )
        .at(3),
        of(
            vec![x()],
            &["j"],
            vec![tensor("R", &[3], Elem::I64)],
            "R is i64, and this component is f64",
        )
        .at(3),
        of(
            vec![x()],
            &["j"],
            vec![tensor("", &[3], Elem::F64)],
            "this tensor has no name yet",
        )
        .at(3),
    ]
}
