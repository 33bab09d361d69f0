//! Nests that are their own definition, and others that are compared with them.

use crate::dialog::nest;
use teml::ir::{Nest, Tree};
use teml::legality::{Reductions, Verdict, check};

const PRODUCT: &str = "
    let A = tensor([4, 3]);
    let x = tensor([3]);
    let y = contract(A, x, [2, 1]);
    let product = build(y);
";

fn own(text: &str) -> Nest {
    nest(PRODUCT, text).as_definition()
}

fn is_legal(nest: &Nest) -> bool {
    match check(std::slice::from_ref(nest), Reductions::Strict) {
        Verdict::Legal => true,
        Verdict::Illegal(_) => false,
        Verdict::Undecided(why) => panic!("{why}: {nest}"),
    }
}

/// The trees in the body of the only loop of a tree.
fn body(tree: &Tree) -> &[Tree] {
    &tree.as_loop().expect("a loop").body
}

#[test]
fn what_a_nest_does_is_what_it_should_do() {
    for text in [
        "product",
        // More fills than statements, and one in as many loops as its statement.
        r#"product.place_init(1).distribute(1).peel("i1", 2, "front")"#,
        "nest(`f64 y[4], x[4]
for i in 0..4
  local f64 t[2]
  fill t[0..2] = 0
  for k in 0..2
    t[k] += x[i]
  y[i] = t[1]`)",
        "nest(`f64 y[4], x[4]
for i in 0..4
  y[i] = x[i]
parallel for j in 0..4
  y[j] += y[j]`)",
    ] {
        let own = own(text);
        assert!(is_legal(&own), "{text}");
        let reversed: Vec<Tree> = own.trees().iter().rev().cloned().collect();
        if reversed.len() > 1 {
            assert!(!is_legal(&own.with_trees(reversed)), "{text}");
        }
        let less = own.trees()[1..].to_vec();
        assert!(!is_legal(&own.with_trees(less)), "{text}");
    }
}

#[test]
fn local_tensors_in_one_memory_follow_each_other() {
    let two = own("nest(`f64 y[4], x[4], w[4], z[4]
for a in 0..1
  local f64 t[4]
  for i in 0..4
    t[i] = x[i]
  for i_2 in 0..4
    y[i_2] = t[i_2]
for b in 0..1
  local f64 t[4]
  for j in 0..4
    t[j] = z[j]
  for j_2 in 0..4
    w[j_2] = t[j_2]`)");
    let [a, b] = two.trees() else { panic!("{two}") };
    let (a, b) = (body(a), body(b));
    let of = |trees: &[&Tree]| {
        let trees: Vec<Tree> = trees.iter().map(|t| (*t).clone()).collect();
        two.with_trees(trees)
    };
    assert!(is_legal(&of(&[&a[0], &a[1], &a[2], &b[1], &b[2]])));
    assert!(is_legal(&of(&[&a[0], &b[1], &b[2], &a[1], &a[2]])));
    assert!(!is_legal(&of(&[&a[0], &a[1], &b[1], &a[2], &b[2]])));
    assert!(!is_legal(&of(&[&a[0], &b[1], &a[1], &a[2], &b[2]])));
}

#[test]
fn local_tensors_may_have_longer_rows() {
    let own = own("nest(`f64 y[5], x[5]
local f64 t[5]
for i in 0..5
  t[i] = x[i]
for j in 0..5
  y[j] = t[j]`)");
    let padded = |extent: u64| {
        let trees = own.trees().iter().map(|tree| {
            tree.map_tensors(&|tensor| match tensor.label() {
                "t" => tensor.with_rows(extent).expect("a shape"),
                _ => tensor.clone(),
            })
        });
        own.with_trees(trees.collect())
    };
    assert!(is_legal(&padded(8)));
    assert!(!is_legal(&padded(4)));
}
