//! The sizes of a nest, the nest at numbers for them, and its variants for some of them.
//!
//! Proofs and bounds see sizes as loops around the nest, outermost. Their ranges are what is known
//! of the sizes. A derived size comes before the sizes that it is made of, so that bounds are
//! affine: for `M_8 = M / 8` the loops are `M_8 in 0..` and `M in 8*M_8..8*M_8 + 8`.

use super::{Data, Instance, Loop, Nest, Part, Tree};
use crate::ir::affine::Affine;
use crate::ir::condition::Condition;
use crate::ir::constant::Constant;
use crate::ir::expr::{Expr, Index};
use crate::ir::name::Name;
use crate::ir::range::Range;
use crate::ir::statement::{Fill, Origin, Stmt};
use crate::ir::tensor::Tensor;
use std::collections::HashSet;
use std::sync::Arc;

impl Nest {
    /// The sizes of the nest, in the order of their first use. Derived sizes come last, each after
    /// the sizes that it is made of.
    pub fn sizes(&self) -> Vec<Name> {
        let around = self.context().iter().map(|l| &l.name);
        let known: HashSet<&Name> = around.filter(|name| name.size().is_some()).collect();
        let mut found = Vec::new();
        let mut add = |name: &Name| {
            if known.contains(name) && !found.contains(name) {
                found.push(name.clone());
            }
        };
        for assignment in self.definition().iter() {
            assignment.for_each_size(&mut add);
        }
        for l in self.context() {
            add(&l.name);
        }
        found.sort_by_key(Name::derivation);
        found
    }

    /// Whether the nest has sizes.
    pub fn is_sized(&self) -> bool {
        let mut around = self.context().iter();
        around.any(|l| l.name.size().is_some())
    }

    /// The nest with numbers for all sizes. Derived sizes follow from the others, and sizes without
    /// a number are the likely ones. Of variants, it is the one that runs at these sizes. The new
    /// nest knows that it is an instance of this one.
    #[must_use]
    pub fn at_sizes(&self, values: &[(Name, i64)]) -> Nest {
        if !self.is_sized() {
            return self.clone();
        }
        let value = |name: &Name| value_of(name, values);
        let sizes = self.sizes().into_iter();
        let values: Vec<(Name, i64)> = sizes
            .filter_map(|name| Some((name.clone(), value(&name)?)))
            .collect();
        let known = |name: &Name| {
            let mut values = values.iter();
            values.find_map(|(known, value)| (known == name).then_some(*value))
        };
        let mut choices = self.choices();
        let fits = choices.find(|(condition, _)| condition.holds(&known));
        let fits = fits.map(|(_, variant)| variant);
        let number = |name: &Name| value_of(name, &values).map(Affine::constant);
        let mut data = fits.unwrap_or(self).with_sizes_as(&number);
        data.instance = Some(Arc::new(Instance {
            nest: self.clone(),
            values,
        }));
        Nest(Arc::new(data))
    }

    /// The contents with other expressions in place of sizes.
    fn with_sizes_as(&self, value: &dyn Fn(&Name) -> Option<Affine>) -> Data {
        let at = |trees: &[Tree]| -> Vec<Tree> { trees.iter().map(|t| at(t, value)).collect() };
        let parts_at = |parts: &[Part]| -> Arc<[Part]> {
            let parts = parts.iter().map(|part| Part {
                trees: at(&part.trees).into(),
                ..part.clone()
            });
            parts.collect()
        };
        let parts = parts_at(&self.0.parts);
        let lawful = self.lawful_as(&parts_at);
        let definition = self.0.definition.iter().map(|e| e.at_sizes(value));
        let (trees, definition) = (at(&self.0.trees), definition.collect::<Vec<_>>());
        let outer = self.outer_loops().iter().cloned();
        let sizes = Nest::loops_of_sizes(&trees, &definition, &[]);
        Data {
            trees,
            definition: definition.into(),
            parts,
            lawful,
            context: sizes.into_iter().chain(outer).collect(),
            variants: Arc::new([]),
            ..(*self.0).clone()
        }
    }

    /// The scalars that the nest reads and does not write: numbers that a kernel gets when it is
    /// called.
    pub fn scalars(&self) -> Vec<Tensor> {
        let lines = self.lines();
        let is_written = |tensor: &Tensor| {
            lines.iter().any(|line| match line.tree {
                Tree::Stmt(s) => s.target == *tensor,
                Tree::Fill(fill) => fill.target == *tensor,
                Tree::Loop(_) | Tree::Local(_) => false,
            })
        };
        let mut scalars = self.tensors();
        scalars.retain(|tensor| tensor.shape().rank() == 0 && !is_written(tensor));
        scalars
    }

    /// The nest for the sizes and scalars at which a condition holds: its facts about sizes are
    /// narrower, and sizes and scalars with one value are numbers. Variants that never run then are
    /// dropped. One that always runs replaces the nest.
    ///
    /// # Errors
    /// The size or the scalar that has no value then, or that the nest does not have.
    pub fn under(&self, condition: &Condition) -> Result<Nest, Name> {
        let mut data = self.plan_under(condition)?;
        let mut variants = Vec::new();
        for variant in self.variants() {
            let both = variant.condition().and(condition);
            let Some(narrowed) = both
                .filter(|both| !both.is_never())
                .and_then(|_| variant.narrowed(condition).ok())
            else {
                continue;
            };
            if data.condition.implies(variant.condition()) {
                data = Data {
                    path: data.path,
                    condition: data.condition,
                    ..(*narrowed.0).clone()
                };
                break;
            }
            variants.push(narrowed);
        }
        data.variants = variants.into();
        (data.label, data.remark, data.instance) = (None, None, None);
        Ok(Nest(Arc::new(data)))
    }

    /// The plan for the sizes that no variant is for, where a condition holds.
    fn plan_under(&self, condition: &Condition) -> Result<Data, Name> {
        let (sizes, scalars) = (self.sizes(), self.scalars());
        let mut narrowed: Vec<Name> = Vec::new();
        let mut numbers = Vec::new();
        for (name, accepted) in condition.of() {
            let wrong = || name.clone();
            let known = sizes.iter().find(|known| *known == name);
            if let Some(size) = known.and_then(Name::size) {
                let facts = accepted.within(size).ok_or_else(wrong)?;
                narrowed.push(name.with_size(facts));
                continue;
            }
            let scalar = scalars.iter().find(|scalar| scalar.name() == Some(name));
            let scalar = scalar.ok_or_else(wrong)?;
            let number = accepted.single();
            let number = number.and_then(|number| Constant::of_integer(scalar.elem(), number));
            numbers.push((scalar.clone(), number.ok_or_else(wrong)?));
        }
        let value = |name: &Name| narrower(name, &narrowed);
        let mut data = self.with_sizes_as(&value);
        if !numbers.is_empty() {
            let at = |trees: &[Tree]| -> Vec<Tree> {
                trees.iter().map(|t| t.at_numbers(&numbers)).collect()
            };
            data.trees = at(&data.trees);
            let parts_at = |parts: &[Part]| -> Arc<[Part]> {
                let parts = parts.iter().map(|part| Part {
                    trees: at(&part.trees).into(),
                    ..part.clone()
                });
                parts.collect()
            };
            data.lawful = Nest(Arc::new(data.clone())).lawful_as(&parts_at);
            data.parts = parts_at(&data.parts);
            let definition = data.definition.iter().map(|e| e.at_numbers(&numbers));
            data.definition = definition.collect();
        }
        let both = self.0.condition.and(&condition.naming(&narrowed));
        data.condition = both.ok_or_else(|| condition.of()[0].0.clone())?;
        Ok(data)
    }

    /// The values of sizes and scalars that the nest is for. Empty if it is for all.
    pub fn condition(&self) -> &Condition {
        &self.0.condition
    }

    /// The plans that run in place of the nest where their conditions hold. The first one that fits
    /// runs.
    pub fn variants(&self) -> &[Nest] {
        &self.0.variants
    }

    /// The variants, each with what its condition says beyond that of the nest.
    pub fn choices(&self) -> impl Iterator<Item = (Condition, &Nest)> {
        let variants = self.variants().iter();
        variants.map(|variant| (variant.condition().beyond(self.condition()), variant))
    }

    /// The nest with variants before its other ones.
    #[must_use]
    pub fn preferring(&self, variants: Vec<Nest>) -> Nest {
        let mut data = (*self.0).clone();
        let others = self.variants().iter().cloned();
        data.variants = variants.into_iter().chain(others).collect();
        (data.label, data.remark, data.instance) = (None, None, None);
        Nest(Arc::new(data))
    }

    /// The nest without variants: the plan for the sizes that none of them is for.
    #[must_use]
    pub fn fallback(&self) -> Nest {
        let mut data = (*self.0).clone();
        data.variants = Arc::new([]);
        Nest(Arc::new(data))
    }

    /// The nest with sizes that this is an instance of, with their values.
    pub fn instance_of(&self) -> Option<(&Nest, &[(Name, i64)])> {
        let instance = self.0.instance.as_ref()?;
        Some((&instance.nest, &instance.values))
    }

    /// The nest with sizes that this is an instance of. Any other nest is its own.
    pub fn with_sizes(&self) -> &Nest {
        self.instance_of().map_or(self, |(nest, _)| nest)
    }

    /// The plans of nests that run in order, each with the condition under which it runs: the first
    /// one that fits does. The last one has no condition. All nests of a plan are for the sizes of
    /// its condition.
    pub fn plans(nests: &[Nest]) -> Vec<(Condition, Vec<Nest>)> {
        let mut plans = vec![(Condition::default(), Vec::new())];
        for nest in nests {
            let choices = nest.choices();
            let choices = choices.map(|(condition, variant)| (condition, variant.clone()));
            let own: Vec<_> = choices
                .chain([(Condition::default(), nest.fallback())])
                .collect();
            let longer = plans
                .iter()
                .flat_map(|(condition, before): &(Condition, Vec<Nest>)| {
                    own.iter().filter_map(|(own, next)| {
                        let plan = before.iter().chain([next]).cloned();
                        Some((condition.and(own)?, plan.collect()))
                    })
                });
            let longer: Vec<_> = longer.collect();
            plans = Vec::new();
            for (condition, plan) in longer {
                // An earlier plan runs wherever this one could.
                let is_hidden = plans.iter().any(|(earlier, _)| condition.implies(earlier));
                if !condition.is_never() && !is_hidden {
                    plans.push((condition, plan));
                }
            }
        }
        // A condition is tested when the kernel is called, and must still hold when the nest runs.
        let scalars = |nest: &Nest| -> Vec<Name> {
            let scalars = nest.scalars().into_iter();
            scalars
                .filter_map(|scalar| scalar.name().cloned())
                .collect()
        };
        let changed = |name: &Name| {
            let is_of = |tensor: &Tensor| tensor.name() == Some(name);
            let mut uses = nests.iter().filter(|nest| nest.tensors().iter().any(is_of));
            uses.any(|nest| !scalars(nest).contains(name))
        };
        plans.retain(|(condition, _)| !condition.scalars().any(|(name, _)| changed(name)));
        let plans = plans.into_iter().filter_map(|(condition, nests)| {
            let nests = nests.iter().map(|nest| nest.narrowed(&condition).ok());
            Some((condition.clone(), nests.collect::<Option<Vec<Nest>>>()?))
        });
        plans.collect()
    }

    /// The nest for the sizes and scalars at which what a condition says of them holds.
    ///
    /// # Errors
    /// The size or scalar that has no value then.
    pub fn narrowed(&self, condition: &Condition) -> Result<Nest, Name> {
        let (sizes, scalars) = (self.sizes(), self.scalars());
        let is_scalar = |name: &Name| scalars.iter().any(|scalar| scalar.name() == Some(name));
        let own = condition.of().iter();
        let own = own.filter(|(name, _)| sizes.contains(name) || is_scalar(name));
        let mut own = own.map(|(name, accepted)| Condition::on(name.clone(), *accepted));
        let own = own.try_fold(Condition::default(), |all, one| all.and(&one));
        match own.filter(|own| !own.is_empty()) {
            Some(own) => Ok(self.under(&own)?.labelled_as(self)),
            None => Ok(self.clone()),
        }
    }

    fn labelled_as(self, other: &Nest) -> Nest {
        match other.label() {
            Some(label) => self.labelled(label.clone()),
            None => self,
        }
    }

    /// The sizes in trees and definitions as loops, outermost first.
    pub(super) fn loops_of_sizes(trees: &[Tree], definition: &[Expr], known: &[Loop]) -> Vec<Loop> {
        let mut found: Vec<Name> = known.iter().map(|l| l.name.clone()).collect();
        let mut add = |name: &Name| {
            if !found.contains(name) {
                found.push(name.clone());
            }
        };
        definition.iter().for_each(|e| e.for_each_size(&mut add));
        trees.iter().for_each(|tree| for_each_size(tree, &mut add));
        if found.len() == known.len() {
            return known.to_vec();
        }
        Nest::size_loops(found)
    }

    /// Sizes, and the sizes that they are derived from, as loops, outermost first.
    pub fn size_loops(mut found: Vec<Name>) -> Vec<Loop> {
        Name::add_parts(&mut found);
        let divisor = |name: &Name| {
            let of = name.size().and_then(|size| size.of.as_ref());
            of.map_or(0, |quotient| quotient.divisor)
        };
        found.sort_by_key(|name| std::cmp::Reverse((name.derivation(), divisor(name))));
        let ranges: Vec<Range> = (0..found.len()).map(|k| range(&found, k)).collect();
        let loops = found.into_iter().zip(ranges);
        loops
            .map(|(name, range)| Loop::serial(name, range, Vec::new()))
            .collect()
    }
}

/// The value of a size: a given one, that of its quotient, or the likely one.
fn value_of(name: &Name, values: &[(Name, i64)]) -> Option<i64> {
    let size = name.size()?;
    let given = values.iter().find(|(known, _)| known == name);
    match (&size.of, given) {
        (Some(quotient), _) => quotient.at(&|name| value_of(name, values)),
        (None, Some((_, value))) => Some(*value),
        (None, None) => Some(size.likely),
    }
}

/// A size with narrower facts, as an expression. `None` if the facts are the same.
fn narrower(name: &Name, narrowed: &[Name]) -> Option<Affine> {
    if let Some(of) = &name.size()?.of {
        let is_narrower = |(part, _): &(Name, i64)| narrower(part, narrowed).is_some();
        if !of.terms.iter().any(is_narrower) {
            return None;
        }
        let sum = Affine::constant(of.offset);
        let sum = of.terms.iter().fold(sum, |sum, (part, c)| {
            let own = narrower(part, narrowed);
            let own = own.unwrap_or_else(|| Affine::iterator(part.clone()));
            sum.plus(&own.times(*c))
        });
        return sum.quotient_of_sizes(of.divisor);
    }
    let own = narrowed.iter().find(|known| *known == name)?;
    Some(match own.size() {
        Some(size) if size.least == size.most => Affine::constant(size.least),
        _ => Affine::size(own.clone()),
    })
}

fn at(tree: &Tree, value: &dyn Fn(&Name) -> Option<Affine>) -> Tree {
    match tree.substitute(value) {
        Tree::Loop(l) => Tree::of_loop(Loop {
            // Bounds that are equal to others at these numbers are dropped.
            range: l.range.map_tensors(&|tensor| tensor.at_sizes(value)),
            body: l.body.iter().map(|tree| at(tree, value)).collect(),
            ..(*l).clone()
        }),
        Tree::Stmt(s) => Tree::Stmt(Arc::new(Stmt {
            target: s.target.at_sizes(value),
            value: s.value.at_sizes(value),
            ..(*s).clone()
        })),
        Tree::Fill(fill) => Tree::Fill(Arc::new(Fill {
            target: fill.target.at_sizes(value),
            ..(*fill).clone()
        })),
        Tree::Local(tensor) => Tree::Local(tensor.at_sizes(value)),
    }
}

/// The range of size `k`, whose bounds have only sizes before it.
fn range(sizes: &[Name], k: usize) -> Range {
    let name = &sizes[k];
    let mut range = match name.size() {
        Some(size) => Range::constant(size.least, size.most.saturating_add(1)),
        None => Range::constant(0, 0),
    };
    let own = name.size().and_then(|size| size.of.as_ref());
    for quotient in &sizes[..k] {
        let Some(of) = quotient.size().and_then(|size| size.of.as_ref()) else {
            continue;
        };
        // Of one sum, a quotient by 4 is twice the quotient by 8, or one more. With a greater sum, it
        // is greater by at most the quotient of the difference, rounded up.
        if let Some(own) = own
            && own.terms == of.terms
            && of.divisor % own.divisor == 0
        {
            let times = of.divisor / own.divisor;
            let low = Affine::iterator(quotient.clone()).times(times);
            let more = own.offset.saturating_sub(of.offset);
            let up = more
                .saturating_neg()
                .div_euclid(own.divisor)
                .saturating_neg();
            range
                .upper
                .push(low.plus_constant(times.saturating_add(up)));
            range
                .lower
                .push(low.plus_constant(more.div_euclid(own.divisor)));
        }
        // divisor*quotient <= terms + offset < divisor*quotient + divisor bounds its last term.
        let place = |part: &Name| sizes.iter().position(|size| size == part);
        let last = of.terms.iter().max_by_key(|(part, _)| place(part));
        let Some((_, sign @ (1 | -1))) = last.filter(|(part, _)| part == name) else {
            continue;
        };
        let others = of.terms.iter().filter(|(part, _)| part != name);
        let others = others.fold(Affine::constant(of.offset), |sum, (part, c)| {
            sum.plus(&Affine::iterator(part.clone()).times(*c))
        });
        let low = Affine::iterator(quotient.clone()).times(of.divisor);
        let low = low.minus(&others);
        let end = low.plus_constant(of.divisor);
        if *sign == 1 {
            range.lower.push(low);
            range.upper.push(end);
        } else {
            range.lower.push(end.times(-1).plus_constant(1));
            range.upper.push(low.times(-1).plus_constant(1));
        }
    }
    range
}

fn for_each_size(tree: &Tree, see: &mut dyn FnMut(&Name)) {
    let of_all = |indices: &[Affine], see: &mut dyn FnMut(&Name)| {
        indices.iter().flat_map(Affine::sizes).for_each(see);
    };
    let of_origin = |origin: &Option<Origin>, see: &mut dyn FnMut(&Name)| {
        let points = origin.iter().flat_map(|origin| &origin.point);
        points.flat_map(Affine::sizes).for_each(see);
    };
    match tree {
        Tree::Loop(l) => {
            l.range.for_each_size(&mut *see);
            l.body.iter().for_each(|tree| for_each_size(tree, see));
        }
        Tree::Stmt(s) => {
            s.target.shape().for_each_size(see);
            of_all(&s.index, see);
            s.value.for_each_access(&mut |tensor, index| {
                tensor.shape().for_each_size(see);
                if let Index::At(index) = index {
                    of_all(index, see);
                }
            });
            of_origin(&s.origin, see);
        }
        Tree::Fill(fill) => {
            fill.target.shape().for_each_size(see);
            let sides = fill.region.iter().flat_map(|(low, count)| [low, count]);
            sides.flat_map(Affine::sizes).for_each(&mut *see);
            of_origin(&fill.origin, see);
        }
        Tree::Local(tensor) => tensor.shape().for_each_size(see),
    }
}
