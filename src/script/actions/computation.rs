//! `computation`: the kind of computation that a nest performs, with the roles of its loops.

use super::look::access;
use crate::analysis::computation::{
    self, Access, Assignment, Computation, Interleaved, Product, Triangle, Unlike, Window,
};
use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::{NEST, Param, Words};
use crate::ir::{Name, Nest, Operator};
use crate::messages::fail::Failure;
use rhai::{Array, Dynamic, Map};

const KIND: Param<Option<Kind>> = Param::new("kind");

/// The kinds that a call can ask for.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Product,
    Interleaved,
    Window,
    Triangle,
}

impl Words for Kind {
    const WORDS: &'static [(&'static str, Kind)] = &[
        ("product", Kind::Product),
        ("interleaved", Kind::Interleaved),
        ("window", Kind::Window),
        ("triangle", Kind::Triangle),
    ];
}

pub(super) static COMPUTATION: Function = Function {
    name: "computation",
    topic: "queries",
    effect: Effect::None,
    params: &[NEST.any(), KIND.any()],
    returns: "map",
    doc: "\
The computation of a nest and the roles of its loops, as a map. `kind` is one of these:

- `\"product\"`: a sum of terms of several tensors. The loop over `rows` moves the result and the
  operands in `left`; the loop over `columns`, the result and the operands in `right`. `terms` is the
  innermost sum, and `sums` lists the others; `batch` lists all other loops. `main_left` and
  `main_right` are the largest operands. `has_windows` says whether an index is a sum of iterators.
- `\"interleaved\"`: products side by side. The loop `lanes` is the last index of the result and of
  `left` and `right`; `rows`, `columns`, `sums` and `batch` are as above.
- `\"window\"`: a sum over neighbors in the operand `image`, with the loops `window`, the one across
  rows first if `is_across`; `rows`, `columns`, `sums` and `batch` are as above.
- `\"triangle\"`: a product below the diagonal of a matrix, or above it unless `is_lower`. It has
  `size` rows and `depth` terms; `rows`, `columns`, `terms` and `right` are as above.
- `\"sparse\"`: anything in loops whose bounds are read from tensors; `reads` lists these loops.
- `\"reduction\"`: another sum, with the loops `sums`.
- `\"stencil\"`: elements that depend on neighbors, with loops over `rows` and `columns`.
- `\"elementwise\"`: other elements, each assigned once.
- `\"recurrence\"`: anything else; `why` says which property is missing. `operators` lists those of the
  script's own that its steps name, such as `fold`.

Loops are names, and operands are as `accesses` lists them; `target` is the element that is assigned.
The names of iterators and tensors never decide.

A second argument, `\"product\"`, `\"interleaved\"`, `\"window\"` or `\"triangle\"`, asks for the roles of
that kind; the call is refused if the nest is not one, with the property that is missing.",
    call: |call| {
        let nest = call.arg(&NEST)?;
        if let Some(kind) = call.arg(&KIND)? {
            return as_kind(call, &nest, kind);
        }
        let assignment = Assignment::of(&nest).ok();
        let found = computation::computation(&nest);
        let mut map = match (&found, &assignment) {
            (Computation::Sparse { reads }, _) => pairs([("reads", names(reads))]),
            (Computation::Triangle(t), _) => triangle(&nest, t),
            (Computation::Product(p), Some(a)) => product(a, p),
            (Computation::Interleaved(p), Some(a)) => interleaved(a, p),
            (Computation::Window(w), Some(a)) => window(a, w),
            (Computation::Reduction { sums }, Some(a)) => {
                with_target(a, [("sums", names(sums))])
            }
            (Computation::Stencil { rows, columns }, Some(a)) => {
                with_target(a, [("rows", name(rows)), ("columns", name(columns))])
            }
            (_, Some(a)) => with_target(a, []),
            (Computation::Recurrence(why), None) => pairs([("why", why.to_string().into())]),
            (_, None) => Map::new(),
        };
        if let Computation::Recurrence(_) = found {
            let operators = nest.path().operators().into_iter();
            let operators = operators.map(|one| Dynamic::from(Operator::clone(&one)));
            map.insert("operators".into(), operators.collect::<Array>().into());
        }
        map.insert("kind".into(), found.kind().into());
        Ok(map.into())
    },
};

fn as_kind(call: &Call, nest: &Nest, kind: Kind) -> Result<Dynamic, Failure> {
    let assignment = || Assignment::of(nest);
    let found: Result<Map, Unlike> = match kind {
        Kind::Product => assignment().and_then(|a| Ok(product(&a, &computation::product(&a)?))),
        Kind::Interleaved => {
            assignment().and_then(|a| Ok(interleaved(&a, &computation::interleaved(&a)?)))
        }
        Kind::Window => assignment().and_then(|a| Ok(window(&a, &computation::window(&a)?))),
        Kind::Triangle => computation::triangle(nest).map(|t| triangle(nest, &t)),
    };
    let mut map = found.map_err(|why| {
        let failure = call.fail(&NEST, &why.to_string()).refusal();
        match kind {
            Kind::Product => failure.help("`schedules::reduction` schedules other sums"),
            Kind::Triangle => failure.help("`schedules::gemm` schedules whole matrices"),
            _ => failure,
        }
    })?;
    let word = Kind::WORDS.iter().find(|(_, k)| *k == kind);
    map.insert("kind".into(), word.map_or("", |(word, _)| word).into());
    Ok(map.into())
}

fn product(a: &Assignment, p: &Product) -> Map {
    let operands = |numbers: &[usize]| -> Dynamic {
        let found = numbers.iter().map(|&k| read(&a.reads, k));
        found.collect::<Array>().into()
    };
    with_target(
        a,
        [
            ("rows", name(&p.rows)),
            ("columns", name(&p.columns)),
            ("terms", name(&p.terms)),
            ("sums", names(&p.sums)),
            ("batch", names(&p.batch)),
            ("left", operands(&p.left)),
            ("right", operands(&p.right)),
            ("main_left", read(&a.reads, p.main_left)),
            ("main_right", read(&a.reads, p.main_right)),
            ("has_windows", p.has_windows.into()),
        ],
    )
}

fn interleaved(a: &Assignment, p: &Interleaved) -> Map {
    with_target(
        a,
        [
            ("rows", name(&p.rows)),
            ("columns", name(&p.columns)),
            ("lanes", name(&p.lanes)),
            ("sums", names(&p.sums)),
            ("batch", names(&p.batch)),
            ("left", read(&a.reads, 0)),
            ("right", read(&a.reads, 1)),
        ],
    )
}

fn window(a: &Assignment, w: &Window) -> Map {
    with_target(
        a,
        [
            ("rows", name(&w.rows)),
            ("columns", name(&w.columns)),
            ("window", names(&w.window)),
            ("is_across", w.is_across.into()),
            ("sums", names(&w.sums)),
            ("batch", names(&w.batch)),
            ("image", read(&a.reads, w.image)),
        ],
    )
}

fn triangle(nest: &Nest, t: &Triangle) -> Map {
    let all = computation::accesses(nest.trees());
    let (target, reads) = all.split_at(1.min(all.len()));
    let right = t.right.iter().map(|&(k, dimension)| -> Dynamic {
        let mut operand = pairs([("access", read(reads, k))]);
        operand.insert("dimension".into(), count(dimension + 1));
        operand.into()
    });
    pairs([
        ("target", read(target, 0)),
        ("rows", name(&t.rows)),
        ("columns", name(&t.columns)),
        ("terms", name(&t.terms)),
        ("is_lower", t.is_lower.into()),
        ("size", t.size.into()),
        ("depth", t.depth.into()),
        ("right", right.collect::<Array>().into()),
    ])
}

fn with_target<const N: usize>(a: &Assignment, roles: [(&str, Dynamic); N]) -> Map {
    let mut map = pairs(roles);
    map.insert("target".into(), read(std::slice::from_ref(&a.target), 0));
    map
}

fn pairs<const N: usize>(roles: [(&str, Dynamic); N]) -> Map {
    let pairs = roles.into_iter();
    pairs.map(|(key, value)| (key.into(), value)).collect()
}

fn name(l: &Name) -> Dynamic {
    l.to_string().into()
}

fn names(loops: &[Name]) -> Dynamic {
    loops.iter().map(name).collect::<Array>().into()
}

fn count(n: usize) -> Dynamic {
    i64::try_from(n).unwrap_or(i64::MAX).into()
}

fn read(reads: &[Access], k: usize) -> Dynamic {
    let found = reads.get(k);
    found.map_or(Dynamic::UNIT, |a| {
        access(&a.tensor, &a.index, a.write, a.update).into()
    })
}
