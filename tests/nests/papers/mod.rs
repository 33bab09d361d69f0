//! The notations of the papers: the printed programs, random programs in each notation, and the
//! messages for wrong texts.
//!
//! `TEML_CASES` sets the number of random cases, as in `tests/properties`.

mod arrays;
mod damage;
mod memory;
mod messages;
mod notations;
mod padding;
mod printed;
mod simplify;
mod terms;

use teml::interp::execute;
use teml::interp::store::{Data, Store};
use teml::ir::{Program, Tensor};
use teml::lang::Setting;
use teml::lower::build::build;

/// Sizes by name.
fn sizes(of: &[(&str, u64)]) -> Setting {
    let sizes = of.iter().map(|(name, size)| ((*name).to_owned(), *size));
    Setting {
        sizes: sizes.collect(),
        ..Setting::default()
    }
}

/// Small integers, which sums and products hold exactly.
fn element(tensor: &str, k: u64) -> f64 {
    let salt: u64 = tensor.bytes().map(u64::from).sum();
    ((k * 7 + salt * 13) % 5) as f64 - 2.0
}

/// The contents of the tensors of a program after its nests ran, starting from small integers.
fn computed(program: &Program) -> Store<'static> {
    let mut store: Store<'static> = program
        .variables()
        .iter()
        .map(|variable| {
            let tensor: &Tensor = &variable.tensor;
            let data = Data::generate(tensor, |k| element(tensor.label(), k));
            (tensor.name().unwrap().clone(), data)
        })
        .collect();
    for assignment in program.assignments() {
        let nest = build(assignment).unwrap_or_else(|error| panic!("{assignment}: {error}"));
        execute::run(&nest, &mut store).unwrap();
    }
    store
}

/// The elements of a tensor as floating-point numbers.
fn elements(store: &Store<'_>, name: &str) -> Vec<f64> {
    let (_, data) = store
        .iter()
        .find(|(n, _)| n.as_str() == name)
        .expect("a tensor");
    match data {
        Data::F64(values) => values.to_vec(),
        Data::F32(values) => values.iter().map(|v| f64::from(*v)).collect(),
        Data::I32(values) => values.iter().map(|v| f64::from(*v)).collect(),
        Data::I64(values) => values.iter().map(|v| *v as f64).collect(),
    }
}

/// A sequence of numbers that choices are made from; 0 after its end.
struct Choices<'c>(std::slice::Iter<'c, u32>);

impl Choices<'_> {
    fn below(&mut self, count: usize) -> usize {
        let next = self.0.next().copied().unwrap_or(0);
        next as usize % count.max(1)
    }
}
