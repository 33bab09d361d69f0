//! PolyBench's kernels, `scripts/polybench`, at tiny sizes. Every variant is compared with loops in
//! order, written here from the mathematics.

// Loops as they are in C.
#![allow(clippy::needless_range_loop, clippy::many_single_char_names)]

mod linear;
mod others;
mod stencils;

use crate::folder;
use std::collections::HashMap;
use std::ops::{Index, IndexMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use teml::ir::{Nest, Tensor};
use teml::runtime::{Buffer, Control, Data, Scalar, View};
use teml::script::Session;
use teml::trial::{self, Collect, Comparison};
use teml::verbs::{Size, Workbench};

/// A tensor of the test, row-major.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    extents: Vec<usize>,
    data: Vec<f64>,
}

impl Array {
    pub(crate) fn zero(extents: &[usize]) -> Array {
        Array {
            extents: extents.to_vec(),
            data: vec![0.0; extents.iter().product()],
        }
    }

    pub(crate) fn size<const N: usize>(&self) -> [usize; N] {
        self.extents.as_slice().try_into().expect("the rank")
    }

    fn flat<const N: usize>(&self, index: [usize; N]) -> usize {
        assert_eq!(N, self.extents.len());
        index
            .iter()
            .zip(&self.extents)
            .fold(0, |flat, (x, extent)| {
                assert!(x < extent, "{index:?} in {:?}", self.extents);
                flat * extent + x
            })
    }
}

impl<const N: usize> Index<[usize; N]> for Array {
    type Output = f64;

    fn index(&self, index: [usize; N]) -> &f64 {
        &self.data[self.flat(index)]
    }
}

impl<const N: usize> IndexMut<[usize; N]> for Array {
    fn index_mut(&mut self, index: [usize; N]) -> &mut f64 {
        let k = self.flat(index);
        &mut self.data[k]
    }
}

/// The initial contents of the tensors of a kernel.
pub(crate) struct Arrays(HashMap<String, Array>);

impl Arrays {
    pub(crate) fn get<const N: usize>(&self, names: [&str; N]) -> [Array; N] {
        names.map(|name| self.0[name].clone())
    }
}

fn path(kernel: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/polybench");
    directory.join(kernel).with_extension("rhai")
}

/// The comparison of a script, at its mini size.
fn comparison(kernel: &str) -> Comparison {
    let workbench = Workbench {
        runner: Arc::new(Collect),
        size: Size::Mini,
        ..Workbench::default()
    };
    let mut session = Session::new(Box::new(std::io::sink()), workbench)
        .ok()
        .unwrap();
    if let Err(error) = session.run_file(&path(kernel)) {
        panic!("{}", error.render(false));
    }
    let comparisons = std::mem::take(&mut session.bench().lock().kept.comparisons);
    let [comparison] = <[Comparison; 1]>::try_from(comparisons).expect("one comparison");
    comparison
}

fn number(scalar: Scalar) -> f64 {
    match scalar {
        Scalar::Integer(value) => value as f64,
        Scalar::Float(value) => value,
    }
}

fn initial(tensor: &Tensor, data: &Data) -> Array {
    let extents = tensor.shape().extents().iter().map(|e| *e as usize);
    let values = 0..tensor.shape().elements();
    let value = |x| number(data.value(tensor.elem(), x).unwrap());
    Array {
        extents: extents.collect(),
        data: values.map(value).collect(),
    }
}

fn written(buffer: &Buffer) -> Vec<f64> {
    match buffer.view() {
        View::F64(data) => data.to_vec(),
        View::F32(data) => data.iter().map(|x| f64::from(*x)).collect(),
        View::I32(data) => data.iter().map(|x| f64::from(*x)).collect(),
        View::I64(data) => data.iter().map(|x| *x as f64).collect(),
    }
}

/// Compares the results of every variant with those of `compute` on the same inputs.
pub(crate) fn check(kernel: &str, compute: impl Fn(&Arrays) -> Vec<(&'static str, Array)>) {
    let mut comparison = comparison(kernel);
    let mut arrays = HashMap::new();
    let tensors: Vec<Tensor> = comparison.variants[0]
        .nests
        .iter()
        .flat_map(Nest::tensors)
        .collect();
    for (k, tensor) in tensors.iter().enumerate() {
        let name = tensor.name().unwrap().clone();
        let data = comparison.inputs.get(&name).cloned();
        let data = data.unwrap_or(Data::Pattern(k as u64));
        arrays.entry(name.to_string()).or_insert_with(|| {
            comparison.inputs.set(name.clone(), data.clone());
            initial(tensor, &data)
        });
    }
    let expected = compute(&Arrays(arrays));
    let control = Control {
        worker: PathBuf::from(env!("CARGO_BIN_EXE_teml")),
        cache_dir: Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cache")),
        ..Control::default()
    };
    for variant in &comparison.variants {
        let (inputs, settings) = (&comparison.inputs, &comparison.settings);
        let outputs = trial::run(variant, inputs, settings, &control, &|_| {});
        let (outputs, _) = outputs.unwrap_or_else(|e| panic!("{kernel}, {}: {e}", variant.label));
        for (name, expected) in &expected {
            let found = written(outputs.get(name).expect("an output"));
            assert_eq!(found.len(), expected.data.len());
            let largest = expected.data.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            assert!(largest.is_finite() && largest > 0.0, "{kernel}: {name}");
            for (x, (a, b)) in found.iter().zip(&expected.data).enumerate() {
                assert!(
                    (a - b).abs() <= 1e-9 * largest,
                    "{kernel}, {}: {name} at {x} is {a} instead of {b}",
                    variant.label
                );
            }
        }
    }
}

#[test]
fn every_kernel_is_here() {
    let directory = path("gemm");
    let scripts = folder::scripts(directory.parent().unwrap());
    let sources = ["linear", "others", "stencils"].map(|module| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/code/polybench")
            .join(module);
        std::fs::read_to_string(file.with_extension("rs")).unwrap()
    });
    let listed = std::fs::read_to_string(directory.with_file_name("README.md")).unwrap();
    let mut count = 0;
    for script in scripts {
        let name = script.file_stem().unwrap().to_string_lossy().into_owned();
        let checked = format!("check(\"{name}\"");
        assert!(sources.iter().any(|s| s.contains(&checked)), "{name}");
        assert!(listed.contains(&format!("`{name}`")), "{name}");
        count += 1;
    }
    assert_eq!(count, 30);
}
