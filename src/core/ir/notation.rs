//! The notation of the TeML paper for trees (§3.1): `⟨node, [subtree, …]⟩`.
//!
//! ```text
//! ⟨i1, [⟨i2, [⟨(=, •, •), [⟨(B, [5, 4], [i2, i1]), []⟩, ⟨(A, [4, 5], [i1, i2]), []⟩]⟩]⟩]⟩
//! ```
//!
//! Nodes that the paper lacks are written in its style:
//!
//! - an update is `(+=, •, •)`, with the target and the value as subtrees;
//! - a sum over j is `(sum [j], S, •)`, and `prod`, `min` and `max` are written alike. A given
//!   range follows its iterator, `(sum [j in 0..4], S, •)`;
//! - a function of elements is `(exp, S, •)`, a choice `(select <, S, •)`, a conversion
//!   `(f64, S, •)`, a number `(2, [], •)`, the value of an index `(index 2*i + j, [], •)`;
//! - a virtual tensor without iterators is `(λ [i, j], S, ε)`, with the body as subtree. It is the
//!   only inner node whose iterators are ε, since operations give it iterators as they do to
//!   leaves;
//! - an initialization is `(fill 0, •, •)` over the tensor, indexed by the part that it sets.
//!
//! A loop shows its name, as in the paper. Its range is the triple of [`Range::notation`]. Its mode
//! (parallel, vector) is not part of the tree (§3.3.3).

use super::affine::Affine;
use super::expr::{Expr, Index, Node};
use super::function::{BinaryOp, Function};
use super::name::Name;
use super::nest::{Loop, Nest, Tree};
use super::range::Range;
use super::statement::{Fill, Stmt};
use super::tensor::Tensor;
use super::text::{ranged, region_texts};

impl Expr {
    /// The tree in the notation of TeML eq. 1.
    pub fn notation(&self) -> String {
        expr(self, &|e| match e.shape() {
            Some(shape) => shape.to_string(),
            None => "•".to_owned(),
        })
    }
}

impl Nest {
    /// The tree in the notation of TeML eqs. 2 and 3. A single outermost loop is written as itself,
    /// anything else as a sequence `⟨•, […]⟩`.
    pub fn notation(&self) -> String {
        let trees = trees(self.trees(), &mut Vec::new());
        match self.trees() {
            [Tree::Loop(_)] => trees,
            _ => node("•", &[trees]),
        }
    }
}

impl Range {
    /// The triple (lb, ub, st) of TeML §3.1. Its upper bound is the last value.
    pub fn notation(&self) -> String {
        let last: Vec<Affine> = self.upper.iter().map(|b| b.plus_constant(-1)).collect();
        let (lower, upper) = (bound("max", &self.lower), bound("min", &last));
        format!("({lower}, {upper}, {})", self.step)
    }
}

fn bound(function: &str, bounds: &[Affine]) -> String {
    match bounds {
        [bound] => bound.to_string(),
        _ => format!("{function}({})", list(bounds)),
    }
}

fn node(root: &str, subtrees: &[String]) -> String {
    format!("⟨{root}, [{}]⟩", subtrees.join(", "))
}

/// Formats an expression. `shape` formats the shapes of operations; tensors have their own.
fn expr(e: &Expr, shape: &dyn Fn(&Expr) -> String) -> String {
    let root = match e.node() {
        Node::Access { tensor, index } => return leaf(tensor, &iterators(index)),
        Node::Binary { op, .. } => format!("({}, {}, •)", op.symbol(), shape(e)),
        Node::Constant(value) => format!("({value}, [], •)"),
        Node::Index(index) => format!("(index {index}, [], •)"),
        Node::Apply { function, .. } => match function {
            Function::Select(c) => format!("(select {}, {}, •)", c.symbol(), shape(e)),
            function => format!("({}, {}, •)", function.name(), shape(e)),
        },
        Node::Reduce {
            reduction,
            over,
            within,
            ..
        } => {
            let over: Vec<String> = over.iter().map(|n| ranged(n, within)).collect();
            let (name, over) = (reduction.name(), over.join(", "));
            format!("({name} [{over}], {}, •)", shape(e))
        }
        Node::Virtual { formals, .. } => format!("(λ [{}], {}, ε)", list(formals), shape(e)),
        Node::Assign {
            elsewhere: Some(value),
            ..
        } => format!("(= elsewhere {value}, •, •)"),
        Node::Assign { within, .. } if !within.is_empty() => {
            let ranges: Vec<String> = within.iter().map(|(n, _)| ranged(n, within)).collect();
            format!("(= where {}, •, •)", ranges.join(", "))
        }
        Node::Assign { .. } => "(=, •, •)".to_owned(),
        Node::Pieces {
            otherwise: Some(_), ..
        } => "(pieces otherwise, •, •)".to_owned(),
        Node::Pieces { .. } => "(pieces, •, •)".to_owned(),
    };
    let subtrees: Vec<String> = e.children().into_iter().map(|c| expr(c, shape)).collect();
    node(&root, &subtrees)
}

fn leaf(tensor: &Tensor, iterators: &str) -> String {
    node(
        &format!("({}, {}, {iterators})", tensor.label(), tensor.shape()),
        &[],
    )
}

fn iterators(index: &Index) -> String {
    match index {
        Index::Unset => "ε".to_owned(),
        Index::Forbidden => "•".to_owned(),
        Index::At(index) => format!("[{}]", list(index)),
    }
}

fn trees<'a>(siblings: &'a [Tree], outer: &mut Vec<&'a Loop>) -> String {
    let texts = siblings.iter().map(|tree| match tree {
        Tree::Loop(l) => {
            outer.push(l);
            let body = trees(&l.body, outer);
            outer.pop();
            node(l.name.as_str(), &[body])
        }
        Tree::Stmt(s) => stmt(s, outer),
        Tree::Fill(f) => fill(f),
        Tree::Local(tensor) => node("(local, •, •)", &[leaf(tensor, "ε")]),
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn stmt(s: &Stmt, outer: &[&Loop]) -> String {
    let index = if s.target.is_scalar() {
        Index::Forbidden
    } else {
        Index::At(s.index.clone())
    };
    let target = leaf(&s.target, &iterators(&index));
    // Statements keep no shapes. The extents come from the loops around them.
    let value = expr(&s.value, &|e| {
        let extents: Vec<String> = e.iterators().iter().map(|n| extent(n, outer)).collect();
        format!("[{}]", extents.join(", "))
    });
    let root = format!("({}=, •, •)", s.update.map_or("", BinaryOp::symbol));
    node(&root, &[target, value])
}

/// The trip count of an iterator, as text. For the last block of a stripmined loop, it is an upper
/// bound.
fn extent(name: &Name, outer: &[&Loop]) -> String {
    let range = outer.iter().find(|l| l.name == *name).map(|l| &l.range);
    let bounds = range.and_then(|r| Some((r.lower.first()?, r.upper.first()?)));
    bounds.map_or_else(String::new, |(low, high)| high.minus(low).to_string())
}

fn fill(f: &Fill) -> String {
    let iterators = if f.target.is_scalar() {
        "•".to_owned()
    } else {
        format!("[{}]", region_texts(f).join(", "))
    };
    node(
        &format!("(fill {}, •, •)", f.value),
        &[leaf(&f.target, &iterators)],
    )
}

fn list<T: ToString>(items: &[T]) -> String {
    let texts: Vec<String> = items.iter().map(T::to_string).collect();
    texts.join(", ")
}
