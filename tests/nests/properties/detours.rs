//! Local tensors between statements and their operands or results, correct or not: the copy can be
//! stale, too small, or not stored back.

use proptest::prelude::*;
use std::cell::Cell;
use std::sync::Arc;
use teml::analysis::verify::verify;
use teml::ir::{
    Affine, BinaryOp, Expr, Fill, Index, Loop, Name, Nest, Range, Reduction, Stmt, Tensor, Tree,
    parse_nest,
};

/// Copying more of them again and again takes long.
const MAX_ELEMENTS: u64 = 100;

/// A buffer, as numbers that are fitted to whatever nest it meets.
#[derive(Clone, Debug)]
pub struct Detour {
    /// Before which tree.
    place: usize,
    /// Of which tensor.
    tensor: usize,
    purpose: Purpose,
    /// How many elements are left out at the end of the first dimension.
    missing: u64,
}

#[derive(Clone, Copy, Debug)]
enum Purpose {
    /// Statements read it instead.
    Read,
    /// Statements also write it, and it is copied back.
    Write,
    /// Statements also write it, and it is not copied back.
    Forget,
    /// It begins with the identity of this reduction, and is combined with the tensor.
    Combine(Reduction),
}

/// One or two, for nests with these numbers.
pub fn detours() -> impl Strategy<Value = Vec<(usize, Detour)>> {
    prop::collection::vec((0..3usize, detour()), 1..=2)
}

fn detour() -> impl Strategy<Value = Detour> {
    let purpose = prop_oneof![
        4 => Just(Purpose::Read),
        4 => Just(Purpose::Write),
        1 => Just(Purpose::Forget),
        3 => Just(Purpose::Combine(Reduction::Sum)),
        1 => Just(Purpose::Combine(Reduction::Max)),
    ];
    let missing = prop_oneof![5 => Just(0), 1 => 1..4u64];
    (0..12usize, 0..4usize, purpose, missing).prop_map(|(place, tensor, purpose, missing)| Detour {
        place,
        tensor,
        purpose,
        missing,
    })
}

/// The nest with the buffer, if it has a place for it.
pub fn by_way(nest: &Nest, detour: &Detour) -> Option<Nest> {
    let size: usize = nest.trees().iter().map(Tree::size).sum();
    let countdown = Cell::new(detour.place % size.max(1));
    let locals: Vec<Name> = nest
        .locals()
        .into_iter()
        .filter_map(Tensor::name)
        .cloned()
        .collect();
    let trees = insert(nest.trees(), detour, &countdown, &locals)?;
    let nest = nest.with_trees(trees);
    verify(&nest).is_ok().then_some(nest)
}

fn insert(
    trees: &[Tree],
    detour: &Detour,
    countdown: &Cell<usize>,
    locals: &[Name],
) -> Option<Vec<Tree>> {
    let mut result: Vec<Tree> = Vec::new();
    for (k, tree) in trees.iter().enumerate() {
        if countdown.get() == 0 {
            countdown.set(usize::MAX);
            result.extend(detoured(&trees[k..], detour, locals)?);
            return Some(result);
        }
        countdown.set(countdown.get() - 1);
        result.push(match tree {
            Tree::Loop(l) => Tree::of_loop(Loop {
                body: insert(&l.body, detour, countdown, locals)?,
                ..(**l).clone()
            }),
            other => other.clone(),
        });
    }
    Some(result)
}

/// The trees with the buffer around them.
fn detoured(trees: &[Tree], detour: &Detour, locals: &[Name]) -> Option<Vec<Tree>> {
    let part = Nest::of_trees(trees.to_vec());
    let used: Vec<Tensor> = part
        .tensors()
        .into_iter()
        .filter(|t| t.name().is_some_and(|n| !locals.contains(n)))
        .filter(|t| t.shape().elements() <= MAX_ELEMENTS)
        .collect();
    let tensor = used.get(detour.tensor % used.len().max(1))?;
    let name = format!("buffer{}", locals.len());
    let own = tensor.named(Name::new(&name).ok()?);
    let mut result = vec![Tree::Local(own.clone())];
    match detour.purpose {
        Purpose::Combine(reduction) => {
            let whole = |n| (Affine::constant(0), n);
            result.push(Tree::Fill(Arc::new(Fill {
                target: own.clone(),
                region: own.shape().dims().into_iter().map(whole).collect(),
                value: reduction.identity(own.elem()),
                origin: None,
            })));
        }
        _ => result.push(copy(
            &own,
            tensor,
            None,
            &format!("{name}_in"),
            detour.missing,
        )),
    }
    let writes = !matches!(detour.purpose, Purpose::Read);
    result.extend(trees.iter().map(|t| replaced(t, tensor, &own, writes)));
    match detour.purpose {
        Purpose::Read | Purpose::Forget => {}
        Purpose::Write => result.push(copy(tensor, &own, None, &format!("{name}_out"), 0)),
        Purpose::Combine(reduction) => {
            let op = Some(reduction.op());
            result.push(copy(
                tensor,
                &own,
                op,
                &format!("{name}_out"),
                detour.missing,
            ));
        }
    }
    Some(result)
}

/// Loops that copy one tensor into another one of the same shape.
fn copy(to: &Tensor, from: &Tensor, update: Option<BinaryOp>, tag: &str, missing: u64) -> Tree {
    let rank = to.shape().rank();
    let names: Vec<Name> = (0..rank)
        .map(|d| Name::new(&format!("{tag}{d}")).expect("a name"))
        .collect();
    let index: Vec<Affine> = names.iter().cloned().map(Affine::iterator).collect();
    let stmt = Tree::Stmt(Arc::new(Stmt {
        target: to.clone(),
        index: index.clone(),
        update,
        value: Expr::access(from.clone(), Index::At(index)),
        origin: None,
    }));
    let extents = to.shape().extents().iter().enumerate();
    let ranges = extents.map(|(d, n)| {
        if d == 0 {
            n.saturating_sub(missing)
        } else {
            *n
        }
    });
    let loops = names.into_iter().zip(ranges.collect::<Vec<_>>()).rev();
    loops.fold(stmt, |body, (name, n)| {
        // A loop like any other one, under another name.
        let plain = parse_nest("f64 A[1]\nfor i in 0..1\n  A[i] = 0").expect("a nest");
        let l = plain.trees()[0].as_loop().expect("a loop");
        Tree::of_loop(Loop {
            name,
            range: Range::constant(0, i64::try_from(n).expect("a small extent")),
            body: vec![body],
            ..(**l).clone()
        })
    })
}

/// The tree with one tensor read, and perhaps written, in place of another one.
fn replaced(tree: &Tree, old: &Tensor, new: &Tensor, writes: bool) -> Tree {
    let target = |t: &Tensor| {
        if writes && t == old {
            new.clone()
        } else {
            t.clone()
        }
    };
    match tree {
        Tree::Loop(l) => Tree::of_loop(Loop {
            body: l
                .body
                .iter()
                .map(|t| replaced(t, old, new, writes))
                .collect(),
            ..(**l).clone()
        }),
        Tree::Stmt(s) => Tree::Stmt(Arc::new(Stmt {
            target: target(&s.target),
            value: s.value.map_accesses(&|t, index| {
                (t == old).then(|| Expr::access(new.clone(), index.clone()))
            }),
            ..(**s).clone()
        })),
        Tree::Fill(fill) => Tree::Fill(Arc::new(Fill {
            target: target(&fill.target),
            ..(**fill).clone()
        })),
        Tree::Local(_) => tree.clone(),
    }
}
