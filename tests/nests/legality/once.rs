//! Every instance of the definition is executed exactly once: tails and initializations.

use super::{legal, nest, not_done};
use std::sync::Arc;
use teml::ir::{Affine, Expr, Index, Loop, Nest, Node, Stmt, Tree};
use teml::legality::{Reductions, Verdict, Violation, check};

const MATMUL: &str = "
    let A = tensor([17, 23]);
    let B = tensor([23, 19]);
    let C = contract(A, B, [2, 1]);
    let l = build(C);
";

/// The box of what an iteration uses may be larger than that.
#[test]
fn initializations_stay_inside() {
    let script = "
        let A = tensor([7, 2, 3]);
        let R = sum(A, [3]);
        let l = build(R).place_init(\"i2\").slabs(\"i1\", [\"i2\"], #{i1: 1}, 1);
    ";
    not_done(
        script,
        "l.place_init(\"i2_s\")",
        "is not a box of constant size",
    );
}

#[test]
fn sums_begin_once() {
    let script = "
        let A = tensor([17, 23]);
        let y = sum(A, [2]);
        let l = build(y);
    ";
    not_done(
        script,
        "l.stripmine(\"i2\", 4).place_init(2)",
        "which are initialized once",
    );
    legal(
        script,
        &[
            "l.place_init(\"i1\").distribute(\"i1\")",
            "l.place_init(\"i1\").stripmine(\"i1\", 4).parallelize(\"i1_o\")",
        ],
    );
    // Zero again after some of the terms.
    let placed = nest(script, "l.place_init(\"i1\")");
    let [Tree::Loop(rows)] = placed.trees() else {
        panic!("{placed}");
    };
    let [fill, Tree::Loop(terms)] = &rows.body[..] else {
        panic!("{placed}");
    };
    let late = |body: Vec<Tree>| {
        let mut rows = (**rows).clone();
        rows.body = body;
        placed.with_trees(vec![Tree::of_loop(rows)])
    };
    let terms = Tree::Loop(terms.clone());
    let after = late(vec![terms.clone(), fill.clone()]);
    let reversed = violation(&after);
    assert!(
        matches!(&reversed, Violation::Reversed { by: None, .. }),
        "{reversed}"
    );
    let again = late(vec![fill.clone(), terms, fill.clone()]);
    let twice = violation(&again);
    assert!(matches!(&twice, Violation::Twice { .. }), "{twice}");
}

#[track_caller]
fn violation(nest: &Nest) -> Violation {
    match check(std::slice::from_ref(nest), Reductions::Strict) {
        Verdict::Illegal(violation) => *violation,
        other => panic!("{other:?}\n{nest}"),
    }
}

#[test]
fn tails_run_once() {
    legal(
        MATMUL,
        &[
            "l.stripmine(\"i1\", 4, \"cut\")",
            "l.stripmine(\"i3\", 4, \"cut\").stripmine(\"i3_r\", 2)",
            "l.peel(\"i1\", 1, \"back\").stripmine(\"i1\", 4)",
            "l.unroll(\"i3\", 4)",
            "l.stripmine(\"i3\", 30)",
            "l.stripmine(\"i3\", 23, \"cut\")",
        ],
    );
    let cut = nest(MATMUL, "l.stripmine(\"i1\", 4, \"cut\")");
    let [fill, blocks, rest] = cut.trees() else {
        panic!("{cut}");
    };
    let twice = cut.with_trees(vec![
        fill.clone(),
        blocks.clone(),
        rest.clone(),
        rest.clone(),
    ]);
    let twice = violation(&twice);
    assert!(
        matches!(&twice, Violation::Twice { instance, .. } if instance.contains("C[16][0]")),
        "{twice}"
    );
    let never = violation(&cut.with_trees(vec![fill.clone(), blocks.clone()]));
    assert!(
        matches!(&never, Violation::Missing { instance } if instance.contains("C[16][0]")),
        "{never}"
    );
    // One iteration too many: no such row.
    let Tree::Loop(last) = rest else {
        panic!("{cut}");
    };
    let mut longer = (**last).clone();
    longer.range.upper = vec![Affine::constant(18)];
    let extra =
        violation(&cut.with_trees(vec![fill.clone(), blocks.clone(), Tree::of_loop(longer)]));
    assert!(
        matches!(&extra, Violation::Outside { outside, .. } if outside.why.to_string().contains("is 17")),
        "{extra}"
    );
    // Blocks that begin one iteration early overlap with nothing but themselves.
    let Tree::Loop(outer) = blocks else {
        panic!("{cut}");
    };
    let Some(inner) = outer.body.first().and_then(Tree::as_loop) else {
        panic!("{cut}");
    };
    let mut overlapping = (**inner).clone();
    let last = overlapping.range.upper[0].plus_constant(1);
    overlapping.range.upper = vec![last];
    let mut outer = (**outer).clone();
    outer.body = vec![Tree::of_loop(overlapping)];
    let overlap =
        violation(&cut.with_trees(vec![fill.clone(), Tree::of_loop(outer), rest.clone()]));
    assert!(
        matches!(&overlap, Violation::Twice { at: [first, _], .. } if first.iteration.iter().any(|(name, _)| name.as_str() == "i1_o")),
        "{overlap}"
    );
}

/// Nests that execute nothing leave their assignments out, wherever they are in the list.
#[test]
fn empty_nests_in_lists() {
    let script = "
        let A = tensor([4]);
        let B = eq(vmul(A, 2, [[i], ]), [i]);
        let C = eq(vmul(B, 2, [[i], ]), [i]);
        let D = eq(vmul(C, 2, [[i], ]), [i]);
    ";
    let all = ["build(B)", "build(C)", "build(D)"].map(|built| nest(script, built));
    assert_eq!(check(&all, Reductions::Strict), Verdict::Legal);
    for which in 0..all.len() {
        let mut nests = all.clone();
        nests[which] = nests[which].with_trees(Vec::new());
        let verdict = check(&nests, Reductions::Strict);
        assert!(
            matches!(verdict, Verdict::Illegal(_)),
            "{which}: {verdict:?}"
        );
    }
}

/// A copy that is moved by one element in its buffer, as what reads it is, leaves the buffer.
#[test]
fn local_tensors_are_not_left() {
    fn moved(tree: &Tree) -> Tree {
        match tree {
            Tree::Loop(l) => {
                let mut l = Loop::clone(l);
                l.body = l.body.iter().map(moved).collect();
                Tree::of_loop(l)
            }
            Tree::Stmt(s) if s.target.label() == "B_tile" => Tree::Stmt(Arc::new(Stmt {
                index: s.index.iter().map(|a| a.plus_constant(1)).collect(),
                ..(**s).clone()
            })),
            Tree::Stmt(s) => {
                let Node::Access {
                    tensor,
                    index: Index::At(at),
                } = s.value.node()
                else {
                    panic!("{s}");
                };
                let at = at.iter().map(|a| a.plus_constant(1)).collect();
                let value = Expr::access(tensor.clone(), Index::At(at));
                Tree::Stmt(Arc::new(Stmt {
                    value,
                    ..(**s).clone()
                }))
            }
            other => other.clone(),
        }
    }
    let script = "
        let A = tensor([8]);
        let B = eq(vmul(A, 2, [[i], ]), [i]);
    ";
    let staged = nest(script, "build(B).stripmine(\"i\", 4).stage(\"i_o\", B)");
    let wrong = staged.with_trees(staged.trees().iter().map(moved).collect());
    let violation = violation(&wrong);
    assert!(
        matches!(&violation, Violation::Outside { nest: 0, .. }),
        "{violation}"
    );
}
