//! The value of an index is the one that the definition has, wherever it is computed.

use super::{legal, nest};
use std::sync::Arc;
use teml::interp::symbolic::{self, Answer, Policy};
use teml::ir::{Affine, Expr, Name, Nest, Node, Stmt, Tree};
use teml::legality::{Reductions, Verdict, check};

const MASK: &str = "
    let S = tensor([13, 11]);
    let M = eq(vselect(vindex(j), \"<=\", vindex(2*i - 3), S, 0, [(), (), [i, j]]), [i, j]);
    let N = eq(vadd(M, vcast(vindex(i - j), \"f64\"), [[i, j]]), [i, j]);
    let p = build(M);
    let c = build(N);
";

#[test]
fn it_moves_with_its_loops() {
    legal(
        MASK,
        &[
            "p.stripmine(\"j\", 4).reverse(\"i\").shift(\"j_i\", 3)",
            "p.skew(\"j\", \"i\", 1).interchange(\"i\", \"j\").vectorize(\"i\")",
            "p.unroll_and_jam(\"i\", 2).unroll(\"j\", 3).parallelize(\"i_o\")",
            "p.peel(\"i\", 2, \"front\")",
            "p.inline(c)",
            "p.compute_at(c, \"i\")",
            "p.compute_at(c.stripmine(\"i\", 4), \"i_o\").vectorize(\"j\")",
            "p.inline(c.reverse(\"i\"))",
        ],
    );
}

/// The nest with this added to each of its index values.
fn changed(nest: &Nest, by: &Affine) -> Nest {
    fn value(e: &Expr, by: &Affine) -> Expr {
        match e.node() {
            Node::Index(index) => Expr::new(Node::Index(index.plus(by))),
            Node::Apply {
                function,
                shape,
                args,
            } => Expr::new(Node::Apply {
                function: *function,
                shape: shape.clone(),
                args: args.iter().map(|a| value(a, by)).collect(),
            }),
            Node::Binary {
                op,
                shape,
                left,
                right,
            } => Expr::new(Node::Binary {
                op: *op,
                shape: shape.clone(),
                left: value(left, by),
                right: value(right, by),
            }),
            _ => e.clone(),
        }
    }
    fn tree(t: &Tree, by: &Affine) -> Tree {
        match t {
            Tree::Loop(l) => {
                let mut l = (**l).clone();
                l.body = l.body.iter().map(|t| tree(t, by)).collect();
                Tree::of_loop(l)
            }
            Tree::Stmt(s) => Tree::Stmt(Arc::new(Stmt {
                value: value(&s.value, by),
                ..(**s).clone()
            })),
            other => other.clone(),
        }
    }
    nest.with_trees(nest.trees().iter().map(|t| tree(t, by)).collect())
}

#[test]
fn another_value_is_not_proved() {
    let one = Affine::constant(1);
    let row = Affine::iterator(Name::new("i").unwrap());
    for path in [
        "p",
        "p.interchange(1, 2)",
        "p.inline(c)",
        "p.compute_at(c, \"i\")",
        "c.reverse(\"i\")",
    ] {
        let right = nest(MASK, path);
        for by in [&one, &row] {
            let wrong = changed(&right, by);
            let nests = std::slice::from_ref(&wrong);
            let verdict = check(nests, Reductions::Strict);
            assert!(!matches!(verdict, Verdict::Legal), "{path}\n{wrong}");
            let answer = symbolic::compare(nests, Policy::Strict, &|| false).unwrap();
            assert!(!matches!(answer, Answer::Equal { .. }), "{path}\n{wrong}");
        }
    }
}
