//! Many kernels in one worker, which reuses the memory of the previous kernel.

use crate::runtime::workshop::*;
use std::time::Duration;
use teml::codegen::Role;
use teml::ir::Elem;
use teml::runtime::{Data, Screen, View, Workload};

/// Writes `value` to the first `count` elements of `name[16]`.
fn writes(name: &str, value: i32, count: usize) -> Workload {
    let symbol = format!("writes_{name}_{count}");
    let source = format!(
        "void {symbol}(double *{name}) {{ for (int i = 0; i < {count}; i++) {name}[i] = {value}; }}"
    );
    let params = vec![param(name, &[16], Elem::F64, Role::Out)];
    Workload {
        label: symbol.clone(),
        kernel: compiled(&kernel(&symbol, &source, params)),
        data: vec![Data::Unset],
        threads: 1,
        apart: false,
        checked: None,
    }
}

/// More kernels than one worker gets. A kernel does not see what another wrote.
#[test]
fn no_kernel_finds_what_another_wrote() {
    let variants = [writes("x", 1, 16), writes("x", 2, 8), writes("y", 3, 4)];
    let control = control();
    let mut screen = Screen::new(&control);
    for (name, value, count, variant) in (0..60).map(|k| match k % 3 {
        0 => ("x", 1.0, 16, &variants[0]),
        1 => ("x", 2.0, 8, &variants[1]),
        _ => ("y", 3.0, 4, &variants[2]),
    }) {
        let mut loaded = screen.load(variant).unwrap();
        let right = |loaded: &teml::runtime::Loaded<'_, '_>| {
            let View::F64(found) = loaded.outputs().unwrap().get(name).unwrap().view() else {
                panic!("not f64")
            };
            let (written, rest) = found.split_at(count);
            written.iter().all(|x| *x == value) && rest.iter().all(|x| x.is_nan())
        };
        assert!(right(&loaded));
        let runs = loaded.run(&|runs| runs.all.len() < 2).unwrap();
        assert!(runs.all.len() == 2 && runs.all.iter().all(|time| *time > Duration::ZERO));
        assert!(right(&loaded));
    }
}

/// A failing kernel ends the worker, not the screening.
#[test]
fn a_screen_outlives_a_crash() {
    let control = control();
    let mut screen = Screen::new(&control);
    let good = writes("x", 1, 16);
    let bad = Workload {
        kernel: compiled(&kernel(
            "crashes",
            "void crashes(double *x) { *(volatile double *)8 = x[0]; }",
            vec![param("x", &[16], Elem::F64, Role::Out)],
        )),
        ..good.clone()
    };
    for _ in 0..2 {
        assert!(screen.load(&good).is_ok());
        assert!(screen.load(&bad).is_err());
    }
    assert!(screen.load(&good).unwrap().outputs().is_some());
}
