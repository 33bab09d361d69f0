//! Functions, numbers and reductions in C on unusual numbers: fractions, zeros of both signs,
//! infinities, NaN, the ends of the integers.

use super::compiled::{compiles_without_warnings, runs_as_defined};
use proptest::prelude::*;
use teml::codegen;
use teml::interp::execute;
use teml::interp::store::{Data, Store};
use teml::ir::{Elem, Expr, Nest, Tensor, parse_expr, parse_nest};
use teml::legality::Reductions;
use teml::lower::build::build;
use teml::transform::tensor::with_shapes;

const FLOATS: [f64; 12] = [
    0.5,
    -1.25,
    2.0,
    3.75,
    0.0,
    -0.0,
    1e-3,
    -7.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    9.0,
];

/// `x` and `y` hold every pair of the numbers, `z` one number and NaN, `w` nothing but NaN.
fn store(elem: Elem) -> Store<'static> {
    let n = FLOATS.len();
    let pairs = |k: u64| (k as usize / n, k as usize % n);
    let number = |k: usize| {
        if elem.is_float() {
            FLOATS[k]
        } else {
            [
                f64::from(i32::MIN),
                f64::from(i32::MAX),
                0.0,
                1.0,
                -1.0,
                7.0,
            ][k % 6]
        }
    };
    let mut store = Store::new();
    let mut add = |name: &str, value: &dyn Fn(u64) -> f64| {
        let shape = teml::ir::Shape::new(&[(n * n) as i64], elem).expect("small extents");
        let name = teml::ir::Name::new(name).expect("a name");
        let tensor = Tensor::new(shape, elem).named(name.clone());
        store.insert(name, Data::generate(&tensor, value));
    };
    add("x", &|k| number(pairs(k).0));
    add("y", &|k| number(pairs(k).1));
    if elem.is_float() {
        add("z", &|k| if k == 77 { -3.5 } else { f64::NAN });
        add("w", &|_| f64::NAN);
    }
    store
}

fn definition(elem: Elem, k: usize, value: &str) -> Expr {
    let target = if value.contains("(i: ") {
        format!("r{k}")
    } else {
        format!("r{k}[144]")
    };
    let index = if target.ends_with(']') { "[i]" } else { "" };
    let text = format!("{elem} {target}, x[144], y[144], z[144], w[144]\nr{k}{index} = {value}");
    let expr = parse_expr(&text).expect("an expression");
    with_shapes(&expr).expect("shapes fit")
}

fn computes(elem: Elem, values: &[&str], tolerance: f64) -> Result<(), TestCaseError> {
    let definitions: Vec<Expr> = (0..)
        .zip(values)
        .map(|(k, v)| definition(elem, k, v))
        .collect();
    let nests: Vec<Nest> = definitions
        .iter()
        .map(|d| build(d).expect("builds"))
        .collect();
    let kernel = codegen::generate(&nests, "kernel", Reductions::Reassociate).expect("code");
    compiles_without_warnings(&kernel)?;
    let mut old = store(elem);
    for definition in &definitions {
        let target = definition.tensor().expect("an assignment");
        let name = target.name().expect("a name").clone();
        old.insert(name, Data::generate(target, |_| 42.0));
    }
    // The nests are also read back and executed, so that the text is as exact as the tree.
    let mut executed = old.clone();
    let mut defined = old.clone();
    for nest in &nests {
        let read = parse_nest(&nest.to_string()).expect("a nest");
        prop_assert_eq!(&read, nest);
        execute::run(&read, &mut executed).expect("a value");
    }
    teml::interp::definition::run(&definitions, &mut defined).expect("a value");
    for (name, data) in &defined {
        prop_assert_eq!(
            format!("{data:?}"),
            format!("{:?}", executed[name]),
            "{}",
            name
        );
    }
    runs_as_defined(&definitions, kernel, &[], old, |_| tolerance)
}

#[test]
fn what_is_exact_is_exactly_what_c_computes() -> Result<(), TestCaseError> {
    let values = [
        "neg(x[i])",
        "neg(-2.5) * neg(neg(x[i] - 1))",
        "x[i] - -2",
        "abs(x[i])",
        "sqrt(x[i])",
        "floor(x[i])",
        "ceil(x[i])",
        "round(x[i] + y[i])",
        "min(x[i], y[i])",
        "max(x[i], y[i])",
        "max(min(x[i], 0.5), -∞)",
        "select(x[i] < y[i], 1, 0.25)",
        "select(x[i] <= y[i], x[i], y[i] + 1)",
        "select(x[i] > 0, ∞, -0) / 2",
        "select(x[i] >= y[i], 1, -1) * select(x[i] == y[i], 2, 3)",
        "select(x[i] + 1 != y[i], x[i] * (y[i] + 1), -1 * 3)",
        "min(i: x[i])",
        "max(i: x[i])",
        "min(i: z[i])",
        "max(i: z[i])",
        "min(i: w[i])",
        "max(i: w[i])",
        "prod(i: select(x[i] < y[i], 2, 1))",
        "min(i: min(x[i], 1e300) + 0.1)",
        "select(index(i) < 70, x[i], 0.5)",
        "select(mod(index(3*i - 7), 5) >= 2, 1, y[i])",
        "select(index(141 - 2*i) != index(i), x[i], select(index(i) == 3, 1, 2))",
    ];
    computes(Elem::F64, &values, 0.0)?;
    let single: Vec<&str> = values
        .iter()
        .filter(|v| !v.contains("1e300"))
        .copied()
        .collect();
    computes(Elem::F32, &single, 0.0)
}

#[test]
fn conversions_are_defined_for_every_number() -> Result<(), TestCaseError> {
    let wide = [
        "f64(f32(x[i] * 1e-3))",
        "f64(f32(x[i] * 1e300))",
        "f64(i32(x[i]))",
        "f64(i32(x[i] * 1e9))",
        "f64(i64(x[i] * 1e9))",
        "f64(i64(x[i] * 1e19))",
        "f64(i32(i64(x[i] * 1e9)))",
        "f64(f32(i64(x[i] * 12345678912345678)))",
        "f64(i64(x[i] * 1234567891234567890) + 1)",
        "f64(i64(i32(x[i])) * 4294967297)",
        "f64(mod(i64(x[i] * 1e9), 1000) - 3)",
        "f64(index(7*i - 500))",
        "x[i] * f64(select(x[i] < y[i], i32(y[i]), 3))",
        "sum(i: f64(f32(index(i))) + select(x[i] == 0, 0, 1))",
        "select(f32(x[i]) == f32(y[i]) - 0.5, f64(i32(x[i])), 0.5)",
    ];
    computes(Elem::F64, &wide, 0.0)?;
    let single = [
        "f32(i32(x[i]))",
        "f32(i32(x[i] * 1000000000))",
        "f32(i64(x[i] * 1e18))",
        "f32(i64(f64(x[i]) * 1e15 + 0.5) - 1)",
        "f32(f64(x[i]) * 1e-42)",
        "f32(f64(x[i]) * 1e300)",
        "f32(index(-i))",
        "f32(mod(index(i), 2))",
        "select(i64(x[i]) < index(i - 100), 1, y[i])",
    ];
    computes(Elem::F32, &single, 0.0)
}

#[test]
fn functions_of_the_c_library_agree_up_to_rounding() -> Result<(), TestCaseError> {
    let values = [
        "exp(x[i])",
        "log(x[i])",
        "tanh(x[i])",
        "sin(x[i])",
        "cos(x[i])",
        "pow(x[i], y[i])",
        "pow(abs(x[i]), 0.5)",
        "pow(x[i], 2) + pow(x[i], 3) * pow(y[i], 1)",
        "pow(x[i], 0.5)",
        "1 / pow(pow(x[i], 4), 0.5)",
        "pow(x[i] - y[i], 8) - pow(min(abs(x[i]), 2), 7) * pow(min(abs(y[i]), 2), 5)",
        "pow(1 + abs(x[i]), -2) * pow(1 + abs(y[i]), -1.5)",
        "pow(x[i], -0.5)",
        "pow(x[i], 6)",
        "exp(neg(x[i] * x[i])) / (1 + exp(x[i]))",
        "sum(i: tanh(min(abs(x[i]), 3)) / 144)",
    ];
    computes(Elem::F64, &values, 1e-13)?;
    computes(Elem::F32, &values, 1e-5)
}

#[test]
fn integers_wrap_and_end_where_they_do_in_c() -> Result<(), TestCaseError> {
    let values = [
        "neg(x[i])",
        "abs(x[i])",
        "min(x[i], y[i]) + 1",
        "max(x[i], -2147483648) - 1",
        "max(x[i], 0)",
        "select(x[i] < y[i], x[i], -1)",
        "x[i] * 2147483647 - -2147483648",
        "y[i] / -3",
        "x[i] / -1",
        "x[i] / select(y[i] == 0, 1, y[i])",
        "min(i: x[i])",
        "max(i: y[i])",
        "prod(i: select(x[i] == 1, 3, 1))",
        "sum(i: x[i])",
        "mod(x[i], 8)",
        "mod(x[i], -3)",
        "mod(x[i], -1)",
        "mod(x[i] - 1, select(y[i] == 0, 1, y[i]))",
        "select(index(i) < 7, x[i], 2)",
    ];
    computes(Elem::I32, &values, 0.0)?;
    let narrow = [
        "i32(index(3*i - 100))",
        "i32(f64(x[i]) * 1.5)",
        "i32(f32(x[i]) - 0.5)",
        "i32(i64(x[i]) * 3)",
        "max(i: i32(index(i)) - x[i])",
        "min(i: select(x[i] == 7, i32(index(i)), 2147483647))",
    ];
    computes(Elem::I32, &narrow, 0.0)?;
    let mut wide = values.to_vec();
    wide.push("sum(i: i64(i32(x[i])))");
    wide.push("index(1099511627775*i) * index(i - 144) + x[i]");
    wide.push("i64(f64(x[i]) * 1e10 - 0.5)");
    wide.push("min(x[i] * 4611686018427387904, -9223372036854775808) + 1");
    wide.push("max(x[i] * -9223372036854775807, 3000000000 * 3000000000)");
    wide.push("x[i] * 4294967296 / select(y[i] == 0, 1, y[i])");
    computes(Elem::I64, &wide, 0.0)
}
