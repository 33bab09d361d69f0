//! `rename` gives a loop another name.
//!
//! ```rhai
//! let A = tensor([10]);
//! let B = eq(A, [i] -> [i]);
//! print(build(B).rename("i", "row"));
//! ```
//!
//! ```text
//! f64 B[10], A[10]
//! for row in 0..10
//!   B[row] = A[row]
//! ```
//!
//! Steps derive the names of new loops: `stripmine` refuses to split `j` if another loop is named
//! `j_o`. Without a name, the loop gets the first of `l1`, `l2` … that is free, and that no loop's
//! name is derived from.
//!
//! Always legal: names have no meaning.
//!
//! Refuses: a name that is in use; a text that is not a name.
//!
//! Source: Exo's scheduling operation of that kind.

use super::resolve::{chain, find};
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST};
use crate::ir::{Name, Nest, Tree};
use crate::refusals::name_clash;
use crate::{Error, LoopRef, Op, Param, Returns, Value};

const NAME: Param<Option<Name>> = Param::new("name");

/// `rename(nest, loop, name?)`.
pub static RENAME: Op = Op {
    name: "rename",
    params: &[NEST.any(), LOOP.any(), NAME.any()],
    returns: Returns::Nest,
    file: include_str!("rename.rs"),
    call: |args| {
        let nest = args.get(&NEST)?;
        let name = match args.get(&NAME)? {
            Some(name) => name,
            None => free(nest)?,
        };
        rename(nest, args.get(&LOOP)?, name).map(Value::Nest)
    },
};

/// The nest with a loop renamed to `name`.
///
/// # Errors
/// As the header says.
pub fn rename(nest: &Nest, reference: &LoopRef, name: Name) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let old = chain(nest, &position)[position.len() - 1].name.clone();
    if old == name {
        return Ok(nest.clone());
    }
    if nest.has_loop(&name) || nest.beside().contains(&name) {
        return Err(name_clash(&name).at(&NAME).on(nest, [name, old]));
    }
    let tree = Tree::Loop(chain(nest, &position)[position.len() - 1].clone());
    let renamed = tree.rename_loops(&|n| (*n == old).then(|| name.clone()));
    Ok(nest.with_trees(splice(nest.trees(), &position, vec![renamed])))
}

fn free(nest: &Nest) -> Result<Name, Error> {
    let loops = nest.loops();
    let taken = loops.iter().map(|(_, l)| &l.name);
    let taken = taken.chain(nest.context().iter().map(|l| &l.name));
    let taken: Vec<&Name> = taken.chain(nest.beside()).collect();
    let mut number = 1;
    loop {
        let text = format!("l{number}");
        if !taken
            .iter()
            .any(|name| name.as_str().split('_').next() == Some(&text))
        {
            return Ok(Name::new(&text)?);
        }
        number += 1;
    }
}
