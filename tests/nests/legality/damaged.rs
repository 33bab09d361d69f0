//! Nests with buffers and a single change: their verdicts hold, instance by instance.

use super::nest;
use std::sync::Arc;
use teml::interp::symbolic::{self, Answer, Policy};
use teml::ir::{Affine, Loop, Name, Nest, Range, Stmt, Tree};
use teml::legality::{Reductions, Verdict, Violation, check};

/// The sequence with one change: a tree is missing or done before the one in front of it, a loop
/// runs once less, an index is one further on.
fn damaged(trees: &[Tree]) -> Vec<Vec<Tree>> {
    let mut found = Vec::new();
    let with = |k: usize, tree: Tree| {
        let mut trees = trees.to_vec();
        trees[k] = tree;
        trees
    };
    for (k, tree) in trees.iter().enumerate() {
        if !matches!(tree, Tree::Local(_)) {
            let mut fewer = trees.to_vec();
            fewer.remove(k);
            found.push(fewer);
            if k > 0 && !matches!(trees[k - 1], Tree::Local(_)) {
                let mut swapped = trees.to_vec();
                swapped.swap(k - 1, k);
                found.push(swapped);
            }
        }
        match tree {
            Tree::Loop(l) => {
                let inside = damaged(&l.body).into_iter();
                let inside = inside.map(|body| Loop {
                    body,
                    ..(**l).clone()
                });
                let moved = |bounds: &[Affine], by: i64| -> Vec<Affine> {
                    bounds.iter().map(|a| a.plus_constant(by)).collect()
                };
                let ranges = [(1, 0), (0, -1)].map(|(lower, upper)| Range {
                    lower: moved(&l.range.lower, lower),
                    upper: moved(&l.range.upper, upper),
                    ..l.range.clone()
                });
                let shorter = ranges.into_iter().map(|range| Loop {
                    range,
                    ..(**l).clone()
                });
                found.extend(inside.chain(shorter).map(|l| with(k, Tree::of_loop(l))));
            }
            Tree::Stmt(s) => {
                for d in 0..s.index.len() {
                    let mut index = s.index.clone();
                    index[d] = index[d].plus_constant(1);
                    let stmt = Stmt {
                        index,
                        ..(**s).clone()
                    };
                    found.push(with(k, Tree::Stmt(Arc::new(stmt))));
                }
                let value = s.value.map_indices(&|a| a.plus_constant(1));
                let stmt = Stmt {
                    value,
                    ..(**s).clone()
                };
                found.push(with(k, Tree::Stmt(Arc::new(stmt))));
            }
            Tree::Fill(_) | Tree::Local(_) => {}
        }
    }
    found
}

/// How many of the changed nests are legal all the same; every `nth` is examined.
fn harmless(nest: &Nest, nth: usize) -> usize {
    harmless_if(nest, nth, (Reductions::Strict, Policy::Strict))
}

fn harmless_if(nest: &Nest, nth: usize, (reductions, policy): (Reductions, Policy)) -> usize {
    let nests = std::slice::from_ref(nest);
    assert_eq!(check(nests, reductions), Verdict::Legal, "{nest}");
    let mut count = 0;
    for trees in damaged(nest.trees()).into_iter().step_by(nth) {
        let changed = [nest.with_trees(trees)];
        let is_legal = check(&changed, reductions) == Verdict::Legal;
        let answer = symbolic::compare(&changed, policy, &|| false);
        let is_equal = matches!(answer, Ok(Answer::Equal { .. }));
        assert!(!is_legal || is_equal, "{}\n{answer:?}", changed[0]);
        count += usize::from(is_legal);
    }
    count
}

const MATMUL: &str = "
    let A = tensor([6, 8]);
    let B = tensor([8, 6]);
    let C = contract(A, B, [2, 1]);
    let l = build(C);
    let tiles = l.tile([3, 2, 4]).reorder([\"i3_o\", \"i3_i\", \"i1_i\", \"i2_i\"]);
";

#[test]
fn products_with_packed_and_staged_blocks() {
    for path in [
        "tiles.stage(\"i2_o\", C)",
        "tiles.pack(\"i2_o\", A).pack(\"i3_o\", B, [2, 1])",
        "tiles.pack(\"i1_o\", B).panels(\"B_pack\", 2, 2).stage(\"i2_o\", C)",
        "l.reorder([\"i1\", \"i2\", \"i3\"]).place_init(\"i2\").stage(\"i2\", C)",
    ] {
        let harmless = harmless(&nest(MATMUL, path), 3);
        assert!(harmless < 7, "{path}: {harmless}");
    }
}

#[test]
fn running_sums_in_blocks() {
    let script = "
        let X = tensor([14]);
        let R = tensor([14]);
        let s = tensor([]);
        let plain = nest(`
          ${X}
          ${R}
          R[0] = X[0]
          for i in 1..14
            R[i] = R[i - 1] + X[i]
        `);
        let scalar = nest(`
          ${X}
          ${R}
          ${s}
          s[] = X[13]
          for i in 0..12
            s[] += X[i]
            R[i] = s[] * X[i]
        `);
    ";
    let any_order = (Reductions::Reassociate, Policy::Reassociate);
    for (path, most) in [
        ("plain.stripmine(\"i\", 4).scan(\"i_o\")", 9),
        ("plain.stripmine(\"i\", 4, \"cut\").scan(\"i_o\")", 9),
        (
            "plain.stripmine(\"i\", 6).scan(\"i_o\").stripmine(\"i_i_2\", 2).rfactor(\"i_i_2_i\")",
            9,
        ),
        ("scalar.stripmine(\"i\", 4).scan(\"i_o\")", 9),
    ] {
        let harmless = harmless_if(&nest(script, path), 1, any_order);
        assert!(harmless < most, "{path}: {harmless}");
    }
}

#[test]
fn blocks_of_a_factorization() {
    let script = "
        let A = tensor([14, 14]);
        let naive = nest(`
          ${A}
          for k in 0..14
            for i in k + 1..14
              A[i][k] /= A[k][k]
              for j in k + 1..14
                A[i][j] -= A[i][k] * A[k][j]
        `);
    ";
    let blocks = nest(script, "schedules::lu(naive, #{mr: 2, nr: 4, kc: 4})");
    assert!(harmless(&blocks, 17) < 3);
}

/// Sums whose length is a size, in trees with slots that stay empty: what is legal is right at all
/// sizes, and what is illegal is wrong at the sizes that the refusal names.
#[test]
fn partial_results_of_any_length() {
    let script = "
        let A = tensor([size(\"N\")]);
        let s = sum(A);
        let t = build(s).stripmine(\"i1\", 12).stripmine(\"i1_i\", 4).stripmine(\"i1_i_i\", 2);
        let t = t.reorder([\"i1_i_o\", \"i1_i_i_o\", \"i1_o\"]).rfactor(\"i1_i_o\");
        let t = t.stage(\"i1_i_o\", \"s_i1_i_o\").rfactor(\"i1_i_i_o\");
        let t = t.stripmine(\"i1_i_o_2\", 2).rfactor(\"i1_i_o_2_o\");
    ";
    let (any, policy) = (Reductions::Reassociate, Policy::Reassociate);
    let nest = nest(script, "t");
    assert_eq!(check(std::slice::from_ref(&nest), any), Verdict::Legal);
    let (mut harmless, mut refuted) = (0, 0);
    for trees in damaged(nest.trees()) {
        let changed = nest.with_trees(trees);
        let is_equal = |values: &[(Name, i64)]| {
            let one = [changed.at_sizes(values)];
            let answer = symbolic::compare(&one, policy, &|| false);
            matches!(answer, Ok(Answer::Equal { .. }))
        };
        match check(std::slice::from_ref(&changed), any) {
            Verdict::Legal => {
                let n = Name::new("N").unwrap();
                let wrong = (0..40).find(|value| !is_equal(&[(n.clone(), *value)]));
                assert_eq!(wrong, None, "{changed}");
                harmless += 1;
            }
            Verdict::Illegal(why) => {
                if let Violation::AtSizes { at, .. } = &*why {
                    assert!(!is_equal(at), "{why}\n{changed}");
                    refuted += 1;
                }
            }
            Verdict::Undecided(_) => {}
        }
    }
    assert!(harmless < 4 && refuted > 9, "{harmless} {refuted}");
}
