//! `unroll` replaces a loop by one copy of its body per iteration.
//!
//! ```rhai
//! let A = tensor([3]);
//! let B = eq(A, [i] -> [i]);
//! print(build(B).unroll("i"));
//! ```
//!
//! ```text
//! f64 B[3], A[3]
//! B[0] = A[0]
//! B[1] = A[1]
//! B[2] = A[2]
//! ```
//!
//! The copies of a loop `j` inside are named `j_u0`, `j_u1` … Unrolling the outermost loop
//! leaves a sequence.
//!
//! Always legal: iterations keep their order.
//!
//! Refuses: bounds that are not constant; results that are too large; new names that are in use.
//!
//! Source: TeML eq. 25.

use super::resolve::{chain, find};
use crate::analysis::position::splice;
use crate::analysis::verify::{Invalid, MAX_TREES};
use crate::ir::{Affine, Loop, Name, Nest, Tree};
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};

/// `unroll(nest, loop)`.
pub static UNROLL: Op = Op {
    name: "unroll",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("loop", Kind::Loop),
    ],
    returns: Returns::Nest,
    file: include_str!("unroll.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l)] => unroll(nest, l).map(Value::Nest),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest with a loop fully unrolled.
///
/// # Errors
/// As the header says.
pub fn unroll(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    let position = find(nest, reference, 1)?;
    let l = chain(nest, &position)[position.len() - 1];
    let refuse = |kind: ErrorKind| Error::from(kind).on(nest, [l.name.clone()]);
    let Some((lower, upper)) = l.range.as_constant() else {
        let (name, range) = (l.name.clone(), l.range.to_string());
        return Err(refuse(ErrorKind::NotConstant { name, range }));
    };
    let values = (lower..upper).step_by(usize::try_from(l.range.step).unwrap_or(1));
    let body: usize = l.body.iter().map(Tree::size).sum();
    let copies = values.clone().count();
    let trees = copies.saturating_mul(body);
    if trees > MAX_TREES {
        return Err(refuse(ErrorKind::Invalid(Invalid::TooLarge { trees })));
    }

    let inner: Vec<&Name> = l.body.iter().flat_map(names).collect();
    let mut unrolled = Vec::with_capacity(trees);
    for (copy, value) in values.enumerate() {
        let renamed = |name: &Name| {
            (copies > 1 && inner.contains(&name)).then(|| name.derived(format!("u{copy}")))
        };
        if let Some(clash) = inner
            .iter()
            .filter_map(|n| renamed(n))
            .find(|n| nest.has_loop(n))
        {
            return Err(refuse(ErrorKind::NameClash { name: clash }));
        }
        let fixed = |name: &Name| (*name == l.name).then(|| Affine::constant(value));
        let copy = l
            .body
            .iter()
            .map(|tree| tree.substitute(&fixed).rename_loops(&renamed));
        unrolled.extend(copy);
    }
    Ok(nest.with_trees(splice(nest.trees(), &position, unrolled)))
}

fn names(tree: &Tree) -> Vec<&Name> {
    fn collect<'a>(tree: &'a Tree, found: &mut Vec<&'a Name>) {
        if let Tree::Loop(l) = tree {
            let l: &Loop = l;
            found.push(&l.name);
            l.body.iter().for_each(|t| collect(t, found));
        }
    }
    let mut found = Vec::new();
    collect(tree, &mut found);
    found
}
