//! A notation for trees as brief as the paper's.

use teml::interp::execute;
use teml::interp::store::{Data, Store};
use teml::ir::{Affine, Elem, Expr, Name, Nest, parse_nest};
use teml::lower::build::build;
use teml::transform::tensor::{declare, eq, op, vop};
use teml::transform::{Arg, Arrow, Error, Iters, LoopRef, Op, Value, apply};

pub fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

/// `tensor(extents)`, bound to `name`.
pub fn tensor(name: &str, extents: &[i64]) -> Expr {
    bind(name, declare::tensor(extents, Elem::F64).unwrap())
}

/// `name = expr` where nothing of that name was declared: eq. 17.
pub fn bind(text: &str, expr: Expr) -> Expr {
    expr.fill_placeholder(&name(text))
}

pub fn it(iterator: &str) -> Affine {
    Affine::iterator(name(iterator))
}

/// `[i1, i2]` from `"i1 i2"`.
pub fn list(iterators: &str) -> Vec<Affine> {
    iterators.split_whitespace().map(it).collect()
}

/// A list that may be absent: ε.
pub fn iters(iterators: &str) -> Iters {
    (iterators != "ε").then(|| list(iterators))
}

pub fn lists<const N: usize>(of: [&str; N]) -> Vec<Iters> {
    of.map(iters).to_vec()
}

/// `from -> to`.
pub fn arrow<const N: usize>(from: [&str; N], to: &str) -> Arrow {
    Arrow {
        from: lists(from),
        to: list(to),
    }
}

/// `name = eq(value, from -> to)`.
pub fn eq(name: &str, value: &Expr, from: &str, to: &str) -> Expr {
    bind(name, eq::eq(value, &arrow([from], to)).unwrap())
}

/// `vop(left, right, [of])`.
pub fn vop(op: teml::ir::BinaryOp, left: &Expr, right: &Expr, of: [&str; 2]) -> Expr {
    vop::vop(op, left, right, &lists(of)).unwrap()
}

/// `name = op(left, right, [from] -> to)`.
pub fn op(
    name: &str,
    op: teml::ir::BinaryOp,
    [left, right]: [&Expr; 2],
    from: [&str; 2],
    to: &str,
) -> Expr {
    bind(name, op::op(op, left, right, &arrow(from, to)).unwrap())
}

/// `build(B)` for `B = eq(A, iterators -> iterators)`, with a dimension per extent.
pub fn copy(target: &str, source: &str, extents: &[i64], iterators: &str) -> Nest {
    let source = tensor(source, extents);
    build(&eq(target, &source, iterators, iterators)).unwrap()
}

/// The statement of a copy, with the same indices on both sides, as the paper writes it.
pub fn copying(target: &str, source: &str, shape: &str, index: &str) -> String {
    format!(
        "⟨(=, •, •), [⟨({target}, {shape}, [{index}]), []⟩, ⟨({source}, {shape}, [{index}]), []⟩]⟩"
    )
}

/// A nest from the lines of its canonical text.
pub fn nest(lines: &[&str]) -> Nest {
    parse_nest(&lines.join("\n")).unwrap()
}

pub fn level(level: i64) -> Arg {
    Arg::Loop(LoopRef::Level(level))
}

pub fn named(name: &str) -> Arg {
    Arg::Loop(LoopRef::Name(name.to_owned()))
}

pub fn loops(names: &[&str]) -> Arg {
    let names = names.iter().map(|name| LoopRef::Name((*name).to_owned()));
    Arg::Loops(names.collect())
}

/// The result of an operation on a nest, which the operation also checks.
pub fn transform(op: &'static Op, args: &[Arg]) -> Result<Nest, Error> {
    match apply(op, args, None)? {
        Value::Nest(nest) => Ok(nest),
        Value::Expr(_) => panic!("{} returns an expression", op.name),
    }
}

/// As [`transform`], after which the nest must still compute the same numbers, at several sizes if it
/// has sizes.
pub fn transformed(op: &'static Op, nest: &Nest, args: &[Arg]) -> Nest {
    let args: Vec<Arg> = [Arg::Nest(nest.clone())]
        .iter()
        .chain(args)
        .cloned()
        .collect();
    let result = transform(op, &args).unwrap_or_else(|e| panic!("{}: {e}", op.name));
    let sizes = nest.sizes();
    let points: &[i64] = if sizes.is_empty() { &[0] } else { &[0, 1, 9] };
    for point in points {
        let values: Vec<_> = sizes.iter().map(|size| (size.clone(), *point)).collect();
        let [after, before] = [&result, nest].map(|nest| results(&nest.at_sizes(&values)));
        assert_eq!(after, before, "{result} at {values:?}");
    }
    result
}

/// The contents of all tensors after the nest ran.
pub fn results(nest: &Nest) -> Store<'static> {
    let mut store = initial(nest);
    execute::run(nest, &mut store).unwrap();
    store
}

/// The contents of all tensors of a nest before it runs. Every element starts out different, and
/// in the same way for all nests.
pub fn initial(nest: &Nest) -> Store<'static> {
    let mut store = Store::new();
    for tensor in nest.tensors() {
        let first: u32 = tensor.label().bytes().map(|b| 1000 * u32::from(b)).sum();
        let data = Data::generate(&tensor, |element| f64::from(first) + element as f64);
        store.insert(name(tensor.label()), data);
    }
    store
}

/// Applies `op`, checks the numbers, and compares the loops and statements as they print.
pub fn becomes(op: &'static Op, before: &[&str], args: &[Arg], after: &[&str]) {
    let result = transformed(op, &nest(before), args);
    let lines: Vec<String> = result.lines().iter().map(ToString::to_string).collect();
    assert_eq!(lines, after, "{} of\n{}", op.name, before.join("\n"));
}

pub fn word(text: &str) -> Arg {
    Arg::Word(text.to_owned())
}

/// As [`becomes`], for a copy of the elements in `range`.
pub fn line_becomes(op: &'static Op, range: &str, args: &[Arg], after: &[&str]) {
    let head = format!("for i in {range}");
    // The statement after the loop stays when the loop disappears.
    let before = ["f64 B[10], A[10]", &head, "  B[i] = A[i]", "B[0] = A[1]"];
    let args: Vec<Arg> = [level(1)].iter().chain(args).cloned().collect();
    becomes(op, &before, &args, &[after, &before[3..]].concat());
}

/// The nest computes what a producer and its consumer do one after the other.
pub fn computes_both(result: &Nest, producer: &Nest, consumer: &Nest) {
    let mut expected = initial(consumer);
    expected.extend(initial(producer));
    execute::run(producer, &mut expected).unwrap();
    execute::run(consumer, &mut expected).unwrap();
    let found = results(result);
    expected.retain(|name, _| found.contains_key(name));
    assert_eq!(found, expected, "{result}");
}
