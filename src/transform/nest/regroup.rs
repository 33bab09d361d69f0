//! `regroup` combines the values of a loop by an operator in another order: first those of each
//! iteration, then the results.
//!
//! ```rhai
//! let best = operator("best", ["f64", "i64"],
//!     |a, b| [vmaximum(a[0], b[0]), vselect(a[0], ">=", b[0], a[1], b[1])],
//!     [-1.0 / 0.0, 0]);
//! let A = tensor([4, 60]);
//! let value = tensor([4]);
//! let at = tensor([4], "i64");
//! let naive = fold(best, [vat(A, [i, j]), vindex(j)], [j], [value, at]);
//! print(naive.stripmine("j", 16).regroup("j_o", best).parallelize("j_o"));
//! ```
//!
//! ```text
//! f64 A[4][60], value[4]
//! i64 at[4]
//! for i in 0..4
//!   local f64 best_0[]
//!   local i64 best_1[]
//!   best_0[] = -∞
//!   best_1[] = 0
//!   local f64 best_0_j_o[4]
//!   local i64 best_1_j_o[4]
//!   fill best_0_j_o[0..4] = -∞
//!   fill best_1_j_o[0..4] = 0
//!   parallel for j_o in 0..4
//!     for j_i in 16*j_o..min(16*j_o + 16, 60)
//!       local f64 best_0_next[]
//!       local i64 best_1_next[]
//!       best_0_next[] = max(best_0_j_o[j_o], A[i][j_i])
//!       best_1_next[] = select(best_0_j_o[j_o] >= A[i][j_i], best_1_j_o[j_o], index(j_i))
//!       best_0_j_o[j_o] = best_0_next[]
//!       best_1_j_o[j_o] = best_1_next[]
//!   for j_o_2 in 0..4
//!     local f64 best_0_j_o_next[]
//!     local i64 best_1_j_o_next[]
//!     best_0_j_o_next[] = max(best_0[], best_0_j_o[j_o_2])
//!     best_1_j_o_next[] = select(best_0[] >= best_0_j_o[j_o_2], best_1[], best_1_j_o[j_o_2])
//!     best_0[] = best_0_j_o_next[]
//!     best_1[] = best_1_j_o_next[]
//!   value[i] = best_0[]
//!   at[i] = best_1[]
//! ```
//!
//! `regroup(nest, loop, operator)`: the loop combines an accumulator of one or several scalars with
//! a value in each iteration. Afterwards each iteration has an accumulator of its own: elements of
//! local tensors such as `best_0_j_o`, which begin with the identity. They are combined at the end, in
//! the order of the loop. The iterations are then independent, as far as the accumulator goes. If the
//! operator is also commutative, these accumulators live outside of the loops around that do nothing
//! else. So lanes have accumulators of their own.
//!
//! If the loop also reads the accumulator in each iteration, as running sums do, results before each
//! iteration are computed first, as `scan` does:
//!
//! ```rhai
//! let linear = operator("linear", ["f64", "f64"],
//!     |a, b| [a[0] * b[0], a[1] * b[0] + b[1]], [1, 0]);
//! let f = tensor([40]);
//! let x = tensor([40]);
//! let y = tensor([40]);
//! let filter = nest(`
//!   ${f}
//!   ${x}
//!   ${y}
//!   local f64 p[]
//!   local f64 s[]
//!   p[] = 1
//!   s[] = 0
//!   for i in 0..40
//!     local f64 p_next[]
//!     p_next[] = p[] * f[i]
//!     s[] = s[] * f[i] + x[i]
//!     p[] = p_next[]
//!     y[i] = s[]
//! `);
//! print(filter.stripmine("i", 10).regroup("i_o", linear));
//! ```
//!
//! ```text
//! f64 f[40], x[40], y[40]
//! local f64 p[]
//! local f64 s[]
//! p[] = 1
//! s[] = 0
//! local f64 p_i_o[4]
//! local f64 s_i_o[4]
//! fill p_i_o[0..4] = 1
//! fill s_i_o[0..4] = 0
//! for i_o_2 in 0..4
//!   for i_i_2 in 10*i_o_2..10*i_o_2 + 10
//!     local f64 p_next[]
//!     p_next[] = p_i_o[i_o_2] * f[i_i_2]
//!     s_i_o[i_o_2] = s_i_o[i_o_2] * f[i_i_2] + x[i_i_2]
//!     p_i_o[i_o_2] = p_next[]
//! local f64 p_i_o_before[5]
//! local f64 s_i_o_before[5]
//! p_i_o_before[0] = p[]
//! s_i_o_before[0] = s[]
//! for i_o_3 in 0..4
//!   p_i_o_before[i_o_3 + 1] = p_i_o_before[i_o_3] * p_i_o[i_o_3]
//!   s_i_o_before[i_o_3 + 1] = s_i_o_before[i_o_3] * p_i_o[i_o_3] + s_i_o[i_o_3]
//! for i_o in 0..4
//!   local f64 p_i_o_now[]
//!   local f64 s_i_o_now[]
//!   p_i_o_now[] = p_i_o_before[i_o]
//!   s_i_o_now[] = s_i_o_before[i_o]
//!   for i_i in 10*i_o..10*i_o + 10
//!     local f64 p_next[]
//!     p_next[] = p_i_o_now[] * f[i_i]
//!     s_i_o_now[] = s_i_o_now[] * f[i_i] + x[i_i]
//!     p_i_o_now[] = p_next[]
//!     y[i_i] = s_i_o_now[]
//! p[] = p_i_o_before[4]
//! s[] = s_i_o_before[4]
//! ```
//!
//! Legal when the operator is associative, and its identity is one. No proof about loops shows
//! that. It is tested on 256 random cases of the values that the loop combines, and the report of a
//! comparison says so. The result is the definition that later steps are proved against. Results are
//! still compared with the program that the script wrote. Where the cases round differently, the code
//! needs `reductions("reassoc")`.
//!
//! Refuses: loops that do not combine values by the operator, whose components are the scalars that
//! the loop carries, in any order; values that the loop computes; an operator that breaks a law, with
//! the case in which it does, or that cannot be evaluated; nests that are not proved so far; steps
//! other than 1; loops whose number of iterations is not constant; names that are in use.
//!
//! Source: Blelloch, Prefix Sums and Their Applications, 1990; `rfactor` of tuples: Suriana, Adams and
//! Kamil, Parallel Associative Reductions in Halide, CGO 2017.

use super::inside::Inside;
use super::parts::Names;
use super::resolve::{chain, check_step, find};
use crate::analysis::bounds::Bounds;
use crate::analysis::footprint::uses;
use crate::analysis::position::splice;
use crate::analysis::relative::offset_form;
use crate::analysis::verify::Invalid;
use crate::args::{LOOP, NEST, OPERATOR};
use crate::ir::{
    Affine, Expr, Fill, Index, Infix, Law, Loop, Name, Nest, Operator, Range, Role, Shape, Stmt,
    Tensor, Tree,
};
use crate::legality::{Reductions, Verdict, check, obeyed};
use crate::refusals::{not_constant, unnamed};
use crate::{Error, LoopRef, Op, Returns, Value, refusal};
use std::sync::Arc;

/// `regroup(nest, loop, operator)`.
pub static REGROUP: Op = Op {
    name: "regroup",
    params: &[NEST.any(), LOOP.any(), OPERATOR.any()],
    returns: Returns::Nest,
    file: include_str!("regroup.rs"),
    call: |args| {
        let operator = args.get(&OPERATOR)?;
        regroup(args.get(&NEST)?, args.get(&LOOP)?, operator).map(Value::Nest)
    },
};

/// The nest with an accumulator for each iteration of a loop.
///
/// # Errors
/// As the header says.
pub fn regroup(nest: &Nest, reference: &LoopRef, operator: &Operator) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let loops = chain(nest, &position);
    let l = loops[position.len() - 1];
    let inside = Inside::of(l);
    for l in &inside.loops {
        check_step(nest, l)?;
    }
    let refuse = |error: Error| error.on(nest, [l.name.clone()]);
    let carried = inside.carried(operator).map_err(refuse)?;
    let laws = obeyed(operator, &carried.values).map_err(|why| {
        let text = format!("`{}` {why}", operator.name);
        refuse(refusal(text).help("values can be regrouped by associative operators only"))
            .at(&OPERATOR)
    })?;
    let is_proved = |reductions| {
        let nest = std::slice::from_ref(nest);
        check(nest, reductions) == Verdict::Legal
    };
    let is_exact = laws.is_exact && is_proved(Reductions::Strict);
    if !is_exact && !is_proved(Reductions::Reassociate) {
        let error = refusal("this nest is not proved so far, and a law continues a proof only");
        return Err(refuse(error.help("`check` says why")));
    }

    let around = Bounds::around(nest, loops[..loops.len() - 1].iter().map(|l| &***l));
    let (first, rest) = offset_form(l, &around).ok_or_else(|| not_constant(nest, l))?;
    let slots = Slots::of(operator, &carried, l, (first, rest.saturating_add(1)))?;
    for local in slots.locals() {
        if !uses(nest, local.label()).is_empty() {
            let tensor = local.label().to_owned();
            return Err(Error::from(Invalid::LocalClash { tensor }).on(nest, []));
        }
    }
    let mut names = Names::of(nest);
    let trees = if carried.is_read {
        splice(nest.trees(), &position, slots.running(&inside, &mut names))
    } else {
        // Loops around that only repeat this one share the accumulators.
        let mut depth = position.len() - 1;
        while laws.commutes && depth > 0 && carried.is_alone_in(loops[depth - 1]) {
            depth -= 1;
        }
        let place = &position[..=depth];
        let own = Tree::of_loop(slots.own(&inside));
        let with_own = nest.with_trees(splice(nest.trees(), &position, vec![own]));
        let outermost = Tree::Loop(chain(&with_own, place)[depth].clone());
        splice(nest.trees(), place, slots.around(outermost, &mut names))
    };
    let law = Law {
        is_exact,
        ..laws.law(operator)
    };
    Ok(nest.by_law(trees, law))
}

/// An accumulator that a loop carries.
struct Carried {
    /// Its components: elements that stay the same in all iterations.
    places: Vec<(Tensor, Vec<Affine>)>,
    /// The components of the value that is combined with it.
    values: Vec<Expr>,
    /// The tensors that the body also sets, and that are not local in it.
    others: Vec<Tensor>,
    /// Whether the values of these depend on it.
    is_read: bool,
}

impl Carried {
    /// Whether a loop around does nothing but repeat the next one, for the same accumulator.
    fn is_alone_in(&self, around: &Loop) -> bool {
        let mut indices = self.places.iter().flat_map(|(_, index)| index);
        let is_same = !indices.any(|index| index.mentions(&around.name));
        // Bounds that are read may be entries of the accumulator.
        around.body.len() == 1 && around.range.within.is_none() && is_same
    }
}

/// The value of an element after the statements of a body, in terms of those before it.
struct Known {
    tensor: Tensor,
    index: Vec<Affine>,
    value: Expr,
}

impl Inside<'_> {
    /// The accumulator of the loop.
    fn carried(&self, operator: &Operator) -> Result<Carried, Error> {
        let name = &self.loops[0].name;
        let locals: Vec<&Tensor> = self.body.iter().flat_map(Tree::locals).collect();
        let mut known: Vec<Known> = Vec::new();
        for tree in self.body {
            match tree {
                Tree::Local(_) => {}
                Tree::Stmt(s) => know(&mut known, s),
                Tree::Loop(_) | Tree::Fill(_) => {
                    let text = format!("`{name}` has statements beside other loops");
                    return Err(refusal(text).help("distribute the loop first"));
                }
            }
        }
        let moves = |index: &[Affine]| {
            let mut loops = self.loops.iter();
            loops.any(|l| index.iter().any(|a| a.mentions(&l.name)))
        };
        let is_local = |known: &Known| locals.contains(&&known.tensor);
        let own = known.iter().filter(|k| !is_local(k) && !moves(&k.index));
        let own: Vec<&Known> = own.collect();
        let place = |k: &&Known| (k.tensor.clone(), k.index.clone());
        let orders = match own.len() == operator.left.len() && own.len() <= MAX_COMPONENTS {
            true => orders(&own),
            false => Vec::new(),
        };
        let matched = orders.iter().find_map(|own| {
            let places: Vec<(Tensor, Vec<Affine>)> = own.iter().map(place).collect();
            let before = places
                .iter()
                .map(|(t, index)| Expr::element(t, index.clone()));
            let results: Vec<Expr> = own.iter().map(|k| k.value.clone()).collect();
            let values = operator.matched(&before.collect::<Vec<_>>(), &results)?;
            Some((places, values))
        });
        let (places, values) = matched.ok_or_else(|| no_accumulator(name, operator, &own))?;
        let mut computed: Vec<&str> = Vec::new();
        for value in &values {
            value.for_each_tensor(&mut |tensor| {
                if known.iter().any(|k| k.tensor == *tensor) {
                    computed.push(tensor.label());
                }
            });
        }
        if let [tensor, ..] = computed[..] {
            let text = format!("`{name}` computes {tensor}, which the combined values need first");
            return Err(refusal(text).help("compute it in a loop before"));
        }
        let others = known.iter().filter(|k| !is_local(k) && moves(&k.index));
        let others: Vec<&Known> = others.collect();
        let is_place = |tensor: &Tensor| places.iter().any(|(place, _)| place == tensor);
        if let Some(k) = others.iter().find(|k| is_place(&k.tensor)) {
            let tensor = k.tensor.label();
            let text = format!("`{name}` also sets other elements of {tensor}, its accumulator");
            return Err(refusal(text).help("accumulate in a local tensor"));
        }
        let mut is_read = false;
        for k in &others {
            k.value
                .for_each_tensor(&mut |tensor| is_read |= is_place(tensor));
        }
        Ok(Carried {
            others: others.iter().map(|k| k.tensor.clone()).collect(),
            places,
            values,
            is_read,
        })
    }
}

/// The most components of an accumulator, since all orders of them are tried.
const MAX_COMPONENTS: usize = 6;

/// All orders of a few elements, the given one first.
fn orders<'k>(all: &[&'k Known]) -> Vec<Vec<&'k Known>> {
    let [first, rest @ ..] = all else {
        return vec![Vec::new()];
    };
    let inner = orders(rest);
    let with_first = (0..all.len()).flat_map(|at| {
        inner.iter().map(move |rest| {
            let mut order = rest.clone();
            order.insert(at, first);
            order
        })
    });
    with_first.collect()
}

/// Adds what is known after a statement.
fn know(known: &mut Vec<Known>, s: &Stmt) {
    let old = |tensor: &Tensor, index: &Index| {
        let index: &[Affine] = match index {
            Index::At(index) => index,
            _ => &[],
        };
        let one = known
            .iter()
            .rfind(|k| k.tensor == *tensor && k.index == index);
        one.map(|k| k.value.clone())
    };
    let value = s.result().map_accesses(&old);
    let place = |k: &Known| k.tensor == s.target && k.index == s.index;
    match known.iter_mut().find(|k| place(k)) {
        Some(k) => k.value = value,
        None => known.push(Known {
            tensor: s.target.clone(),
            index: s.index.clone(),
            value,
        }),
    }
}

fn no_accumulator(name: &Name, operator: &Operator, own: &[&Known]) -> Error {
    let form = operator.to_string();
    let text = format!("`{name}` does not combine values by `{}`", operator.name);
    let found: Vec<String> = own
        .iter()
        .map(|k| {
            let target = Expr::element(&k.tensor, k.index.clone());
            format!("{} = {}", Infix(&target), Infix(&k.value))
        })
        .collect();
    let found = match found.is_empty() {
        true => "an iteration sets nothing that stays the same element".to_owned(),
        false => format!("an iteration sets {}", found.join(" and ")),
    };
    refusal(text).help(format!("{found}; the operator is {form}"))
}

/// The accumulators of the iterations of a loop.
struct Slots<'a> {
    operator: &'a Operator,
    carried: &'a Carried,
    /// For each component, the local tensor with the accumulators.
    own: Vec<Tensor>,
    /// The results before each iteration, and after all.
    before: Vec<Tensor>,
    /// The accumulator in an iteration.
    now: Vec<Tensor>,
    /// A component of the combined result, until all are computed.
    next: Vec<Tensor>,
    /// The place of the accumulator of an iteration.
    slot: Affine,
    count: i64,
}

impl<'a> Slots<'a> {
    fn of(
        operator: &'a Operator,
        carried: &'a Carried,
        l: &Loop,
        (first, count): (Affine, i64),
    ) -> Result<Slots<'a>, Error> {
        let locals = |suffix: Option<&str>, extents: &[i64]| -> Result<Vec<Tensor>, Error> {
            let places = carried.places.iter();
            let local = places.map(|(tensor, _)| {
                let name = tensor.name().ok_or_else(unnamed)?.derived(&l.name);
                let name = suffix.map_or(name.clone(), |suffix| name.derived(suffix));
                let shape = Shape::new(extents, tensor.elem())?;
                Ok(Tensor::new(shape, tensor.elem()).named(name))
            });
            local.collect()
        };
        Ok(Slots {
            operator,
            carried,
            own: locals(None, &[count])?,
            before: locals(Some("before"), &[count.saturating_add(1)])?,
            now: locals(Some("now"), &[])?,
            next: locals(Some("next"), &[])?,
            slot: Affine::iterator(l.name.clone()).minus(&first),
            count,
        })
    }

    fn locals(&self) -> impl Iterator<Item = &Tensor> {
        let sets = [&self.own, &self.before, &self.now, &self.next];
        sets.into_iter().flatten()
    }

    /// The loop, in which each iteration updates its own accumulator.
    fn own(&self, inside: &Inside) -> Loop {
        inside.around(
            Vec::new(),
            self.on(&self.own, std::slice::from_ref(&self.slot), inside.body),
        )
    }

    /// A loop in which iterations have their own accumulators, with what begins them before it, and
    /// what combines them after it.
    fn around(&self, inner: Tree, names: &mut Names) -> Vec<Tree> {
        let mut trees = self.begun();
        trees.push(inner);
        let (c, at) = self.counter(names);
        let places = self.carried.places.iter();
        let old: Vec<Expr> = places
            .map(|(t, index)| Expr::element(t, index.clone()))
            .collect();
        let values = self.operator.combined(&old, &elements(&self.own, &at));
        let mut body: Vec<Tree> = Vec::new();
        let targets = self.carried.places.iter().cloned();
        match &values[..] {
            [value] => body.extend(targets.map(|place| set(place, value.clone()))),
            values => {
                body.extend(self.next.iter().cloned().map(Tree::Local));
                let next = self.next.iter().zip(values);
                body.extend(next.map(|(t, value)| set((t.clone(), Vec::new()), value.clone())));
                let next = targets.zip(elements(&self.next, &[]));
                body.extend(next.map(|(place, value)| set(place, value)));
            }
        }
        trees.push(Tree::of_loop(Loop::serial(
            c,
            Range::constant(0, self.count),
            body,
        )));
        trees
    }

    /// The loop as running results: the accumulators of iterations, the results before each, and the
    /// iterations, which continue these.
    fn running(&self, inside: &Inside, names: &mut Names) -> Vec<Tree> {
        let l = inside.loops[0];
        let mut trees = self.begun();
        let is_other = |tree: &Tree| match tree {
            Tree::Stmt(s) => self.carried.others.contains(&s.target),
            _ => false,
        };
        let body: Vec<Tree> = inside
            .body
            .iter()
            .filter(|t| !is_other(t))
            .cloned()
            .collect();
        let slot = [self.slot.clone()];
        let sum = inside.around(Vec::new(), self.on(&self.own, &slot, &body));
        let name = names.number(&l.name);
        trees.push(names.part(&sum, Role::Copy, name, l.range.clone()));

        trees.extend(self.before.iter().cloned().map(Tree::Local));
        let places = || self.carried.places.iter();
        let zero = [Affine::constant(0)];
        trees.extend(
            self.before
                .iter()
                .zip(places())
                .map(|(before, (place, index))| {
                    set(
                        (before.clone(), zero.to_vec()),
                        Expr::element(place, index.clone()),
                    )
                }),
        );
        let (c, at) = self.counter(names);
        let next = vec![at[0].plus_constant(1)];
        let values = self
            .operator
            .combined(&elements(&self.before, &at), &elements(&self.own, &at));
        let before = self.before.iter().zip(values);
        let body = before.map(|(before, value)| set((before.clone(), next.clone()), value));
        let carried = Loop::serial(c, Range::constant(0, self.count), body.collect());
        trees.push(Tree::of_loop(carried));

        let mut opening: Vec<Tree> = self.now.iter().cloned().map(Tree::Local).collect();
        let start = self.now.iter().zip(elements(&self.before, &slot));
        opening.extend(start.map(|(now, value)| set((now.clone(), Vec::new()), value)));
        let body = self.on(&self.now, &[], inside.body);
        trees.push(Tree::of_loop(inside.around(opening, body)));

        let all = [Affine::constant(self.count)];
        let after = places().zip(elements(&self.before, &all));
        trees.extend(after.map(|(place, value)| set(place.clone(), value)));
        trees
    }

    /// The accumulators, which begin with the identity.
    fn begun(&self) -> Vec<Tree> {
        let locals = self.own.iter().cloned().map(Tree::Local);
        let fills = self.own.iter().zip(&self.operator.identity);
        let fills = fills.map(|(own, value)| {
            Tree::Fill(Arc::new(Fill {
                target: own.clone(),
                region: own.shape().whole(),
                value: *value,
                origin: None,
            }))
        });
        locals.chain(fills).collect()
    }

    /// A new iterator that counts the accumulators.
    fn counter(&self, names: &mut Names) -> (Name, [Affine; 1]) {
        let mut mentioned = self.slot.terms().iter().map(|(name, _)| name);
        let of = mentioned
            .next_back()
            .cloned()
            .unwrap_or_else(|| Name::of_level(1));
        let name = names.number(&of);
        (name.clone(), [Affine::iterator(name)])
    }

    /// A body with other tensors in place of the accumulator.
    fn on(&self, tensors: &[Tensor], at: &[Affine], body: &[Tree]) -> Vec<Tree> {
        let image = |tensor: &Tensor, index: &[Affine]| {
            let mut places = self.carried.places.iter().zip(tensors);
            let found = places.find(|((place, own), _)| place == tensor && own == index);
            found.map(|(_, tensor)| tensor)
        };
        let read = |tensor: &Tensor, index: &Index| {
            let index: &[Affine] = match index {
                Index::At(index) => index,
                _ => &[],
            };
            Some(Expr::element(image(tensor, index)?, at.to_vec()))
        };
        let trees = body.iter().map(|tree| {
            let Tree::Stmt(s) = tree else {
                return tree.clone();
            };
            let (target, index) = match image(&s.target, &s.index) {
                Some(tensor) => (tensor.clone(), at.to_vec()),
                None => (s.target.clone(), s.index.clone()),
            };
            Tree::Stmt(Arc::new(Stmt {
                target,
                index,
                value: s.value.map_accesses(&read),
                ..(**s).clone()
            }))
        });
        trees.collect()
    }
}

fn elements(tensors: &[Tensor], index: &[Affine]) -> Vec<Expr> {
    tensors
        .iter()
        .map(|t| Expr::element(t, index.to_vec()))
        .collect()
}

/// `target = value`.
fn set((target, index): (Tensor, Vec<Affine>), value: Expr) -> Tree {
    Tree::Stmt(Arc::new(Stmt {
        target,
        index,
        update: None,
        value,
        origin: None,
    }))
}
