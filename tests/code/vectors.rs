//! Vector loops in C: the vectors, masks and fences of scripts, and that they compute the same on
//! all targets.

use crate::dialog;
use crate::folder::scripts;
use crate::worker;
use dialog::nest;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use teml::codegen::{self, Kernel, Param};
use teml::interp::store::{Data as Values, Store};
use teml::interp::{definition, execute};
use teml::ir::{Nest, Tensor};
use teml::legality::Reductions;
use teml::runtime::{Compiler, Control, Data, Options, run_once};
use teml::script::Session;
use teml::target::Target;
use teml::trial::Collect;
use teml::verbs::Workbench;
use worker::view;

fn kernel(nest: &Nest) -> Kernel {
    let nests = std::slice::from_ref(nest);
    codegen::generate(nests, "kernel", Reductions::Strict).unwrap()
}

const ROWS: &str = "
    let A = tensor([5, 30]);
    let x = tensor([5]);
    let y = tensor([30]);
    let B = eq(vadd(vmul(A, x, [[i, j], [i]]), y, [(), [j]]), [i, j]);
    let l = build(B);
";

/// The C that a script generates for 32 registers of 64 bytes, whatever this machine has.
fn functions(script: &Path) -> String {
    let mut workbench = Workbench {
        runner: Arc::new(Collect),
        ..Workbench::default()
    };
    workbench.settings.options.target = Target::named("avx512").unwrap();
    let mut session = Session::new(Box::new(std::io::sink()), workbench).unwrap();
    if let Err(error) = session.run_file(script) {
        panic!("{}", error.render(false));
    }
    let bench = session.bench().lock();
    let functions = bench
        .generated
        .iter()
        .map(|kernel| kernel.function.as_str());
    functions.collect::<Vec<_>>().join("\n")
}

/// Each script in `tests/code/c` says what its C shows. The C is kept beside it.
/// `INSTA_UPDATE=always` accepts other C: read it first.
#[test]
fn vector_loops_have_this_c() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("c/functions");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let scripts = scripts("tests/code/c");
    settings.bind(|| {
        for script in scripts {
            let name = script.file_stem().unwrap().to_str().unwrap();
            insta::assert_snapshot!(name, functions(&script));
        }
    });
}

fn control() -> Control {
    Control {
        cache_dir: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("vectors")),
        ..worker::control()
    }
}

/// Two stencils on an image of these extents.
macro_rules! blur {
    ($extents:literal) => {
        concat!(
            "let A = tensor(",
            $extents,
            ");
             let rows = vstencil(A, [[0, -1], [0, 0], [0, 1]], [1, 2, 1]);
             let B = eq(rows / 4, [y, x] -> [y, x - 1]);
             let columns = vstencil(B, [[-1, 0], [0, 0], [1, 0]], [1, 2, 1]);
             let R = eq(columns / 4, [y, x - 1] -> [y, x], ",
            $extents,
            ");
             let first = build(B);
             let second = build(R);"
        )
    };
}

const BLUR: &str = blur!("[13, 43]");

const WIDE_BLUR: &str = blur!("[22, 112]");

/// Runs the C of a nest, compiled with these flags, and compares it with the definition. A program
/// is its own definition, in the order of its loops.
fn computes(
    (nest, kernel): (&Nest, &Kernel),
    (compiler, openmp): (&Compiler, bool),
    is_program: bool,
    flags: &[&str],
) {
    let mut store: Store = HashMap::new();
    // An intermediate tensor may be local, and not an argument.
    let targets = nest.definition().iter().filter_map(|e| e.tensor().cloned());
    for (k, tensor) in nest.tensors().into_iter().chain(targets).enumerate() {
        let value = move |x: u64| ((x * 7 + k as u64 * 5) % 9) as f64 - 4.0;
        store.insert(
            tensor.name().unwrap().clone(),
            Values::generate(&tensor, value),
        );
    }
    let options = Options {
        openmp,
        extra: flags.iter().map(|f| (*f).to_owned()).collect(),
        ..Options::default()
    };
    let control = control();
    let compiled = compiler.compile(kernel, &options, &control).unwrap();
    let name = |t: &Tensor| t.name().unwrap().clone();
    let values = |p: &Param| Data::Values(Arc::new(view(&store[&name(&p.tensor)]).into()));
    let inputs: Vec<Data> = kernel.params.iter().map(values).collect();
    let run = run_once(&compiled, &inputs, &control).unwrap();
    if is_program {
        execute::run(nest, &mut store).unwrap();
    } else {
        definition::run(nest.definition(), &mut store).unwrap();
    }
    for (tensor, expected) in &store {
        let Some(found) = run.outputs.get(tensor.as_str()) else {
            continue;
        };
        for x in 0..expected.len() {
            let (a, b) = (view(expected).get(x), found.view().get(x));
            assert_eq!(
                a.map(|a| a.to_string()),
                b.map(|b| b.to_string()),
                "{} {flags:?} {tensor}",
                compiler.version()
            );
        }
    }
}

/// A product whose elements get a matrix factor and a bias per column.
const EPILOGUE: &str = "
    let A = tensor([21, 35]); let B = tensor([35, 43]); let b = tensor([43]); let M = tensor([21, 43]);
    let T = contract(A, B, [2, 1]);
    let S = eq(vadd(vmul(T, M, [[i, j], [i, j]]), b, [(), [j]]), [i, j]);
";

/// Odd extents, offsets, lanes that a script chooses, single precision, and one number in all
/// lanes. Also bounds that depend on other loops, and a register tile that divides no extent.
const VARIETY: &[(&str, &str)] = &[
    (ROWS, "l.vectorize(\"j\")"),
    (ROWS, "l.vectorize(\"j\", 4)"),
    (ROWS, "l.stripmine(\"j\", 7).vectorize(\"j_i\")"),
    (ROWS, "l.skew(\"j\", \"i\", 1).vectorize(\"j\")"),
    (ROWS, "l.shift(\"j\", -3).vectorize(\"j\")"),
    (
        "let A = tensor([3, 53], \"f32\"); let x = tensor([3], \"f32\");
         let B = eq(vdiv(vneg(A, [i, j]), x, [(), [i]]), [i, j]); let l = build(B);",
        "l.vectorize(\"j\")",
    ),
    (
        "let x = tensor([3]); let B = tensor([3, 21]); let E = tensor([21]);
         B = eq(vmul(x, 2, [[i], ()]), [i, j], [3, 21]); let l = build(B);",
        "l.vectorize(\"j\")",
    ),
    (
        "let A = tensor([11, 13]); let B = tensor([13, 19]); let C = contract(A, B, [2, 1]);
         let l = build(C).tile([\"i2\", \"i1\"], [16, 4]);
         l = l.reorder([\"i2_o\", \"i1_o\", \"i3\", \"i1_i\", \"i2_i\"]);",
        "l.stage(\"i1_o\", C).vectorize(\"i2_i\")",
    ),
    // Rows that end within a vector, in arguments and in tiles.
    (
        "let A = tensor([9, 5]); let B = tensor([5, 13]); let C = contract(A, B, [2, 1]);
         let l = build(C).stripmine(\"i1\", 3).reorder([\"i1_o\", \"i3\", \"i1_i\", \"i2\"]);",
        "l.stage(\"i1_o\", C).vectorize(\"i2\")",
    ),
    (
        "let A = tensor([7, 5], \"f32\"); let B = tensor([5, 27], \"f32\");
         let C = contract(A, B, [2, 1]); let l = build(C).reorder([\"i3\", \"i1\", \"i2\"]);",
        "l.stage(\"i3\", C).vectorize(\"i2\")",
    ),
    (
        "let A = tensor([9, 5]); let B = tensor([5, 14]); let C = contract(A, B, [2, 1]);
         let l = build(C).stripmine(\"i1\", 3).reorder([\"i1_o\", \"i3\", \"i1_i\", \"i2\"]);",
        "l.stage(\"i1_o\", C).peel(\"i2\", 1, \"back\").vectorize(\"i2\")",
    ),
    (
        "let A = tensor([4, 3]); let B = eq(vdiv(1, A, [(), [i, j]]), [i, j]); let l = build(B);",
        "l.vectorize(\"j\")",
    ),
    (
        ROWS,
        "l.stripmine(\"j\", 8).vectorize(\"j_i\").peel(\"j_o\", 1, \"back\")",
    ),
    (
        ROWS,
        "l.stripmine(\"i\", 1).stripmine(\"j\", 29).parallelize(\"i_o\").vectorize(\"j_i\")",
    ),
    (
        ROWS,
        "l.stripmine(\"j\", 30).parallelize(\"i\", #{collapse: 2}).vectorize(\"j_i\")",
    ),
    // Streaming stores: aligned rows and others, numbers of lanes that no register holds, single
    // precision, and from a register tile.
    (ROWS, "l.vectorize(\"j\").stream(\"j\", B)"),
    (
        ROWS,
        "l.parallelize(\"i\").vectorize(\"j\", 8).stream(\"i\", B)",
    ),
    (
        ROWS,
        "l.skew(\"j\", \"i\", 1).vectorize(\"j\").stream(\"j\", B)",
    ),
    (
        ROWS,
        "l.stripmine(\"j\", 8).parallelize(\"i\", #{collapse: 2, threshold: 3}).vectorize(\"j_i\").stream(\"i\", B)",
    ),
    (
        "let A = tensor([7, 299]); let B = eq(A, [i, j] -> [i, j]); let l = build(B);",
        "l.vectorize(\"j\").stream(\"j\", B)",
    ),
    (
        "let A = tensor([3, 304], \"f32\"); let B = eq(A, [i, j] -> [i, j]); let l = build(B);",
        "l.vectorize(\"j\", 16).stream(\"j\", B).parallelize(\"i\")",
    ),
    (
        "let A = tensor([3, 301], \"f32\"); let B = eq(A, [i, j] -> [i, j]); let l = build(B);",
        "l.vectorize(\"j\", 2).stream(\"j\", B)",
    ),
    (
        "let A = tensor([4, 16]); let B = tensor([4, 16]); let n = eq(2 * A, [i, j] -> [i, j]);
         let l = build(n).tile([2, 8]).stage(\"j_o\", n);",
        "l.stream(\"i_o\", n)",
    ),
    // Rows that are not whole cache lines, collected and stored past the caches as blocks.
    (
        "let A = tensor([6, 21, 7]); let B = tensor([6, 7, 43]); let C = einsum(\"bik,bkj->bij\", A, B);",
        "schedules::small_gemm(build(C), #{lanes: 8, mr: 8, nr: 16, l2: 1, l3: 1, threads: 2})",
    ),
    (
        "let A = tensor([4, 19, 5], \"f32\"); let B = tensor([4, 5, 83], \"f32\");
         let C = einsum(\"bik,bkj->bij\", A, B);",
        "schedules::small_gemm(build(C), #{lanes: 16, mr: 10, nr: 32, l2: 1, l3: 1, threads: 1})",
    ),
    // Stencils in blocks that begin at multiples of vectors, with rows and columns left over.
    (
        BLUR,
        "schedules::stencil([first, second], #{rows: 3, lanes: 8, l2: 1, l3: 1})",
    ),
    (
        BLUR,
        "schedules::stencil([first, second], #{rows: 6, lanes: 4})",
    ),
    (
        BLUR,
        "schedules::stencil([first, second], #{rows: 50, lanes: 64, l2: 1, l3: 1})",
    ),
    // Blocks of several vectors whose rows are whole cache lines, and in which each row is used
    // right away.
    (
        WIDE_BLUR,
        "schedules::stencil([first, second], #{lanes: 8, registers: 32, l2: 4096, l3: 1, rows: 6})",
    ),
    (
        WIDE_BLUR,
        "schedules::stencil([first, second], #{lanes: 4, registers: 16, l2: 1, l3: 1, rows: 7})",
    ),
    (
        "let A = tensor([3, 15, 160], \"f32\");
         let rows = vstencil(A, [[0, 0, -1], [0, 0, 2]], [1, 3]);
         let B = eq(rows, [c, y, x] -> [c, y, x - 1]);
         let columns = vstencil(B, [[0, -1, 0], [0, 2, 0]], [1, 2]);
         let C = eq(columns, [c, y, x - 1] -> [c, y, x], [3, 15, 160]);",
        "schedules::stencil([build(B), build(C)], #{lanes: 16, registers: 32, l2: 1, l3: 1, rows: 4})",
    ),
    (
        "let A = tensor([3, 11, 23], \"f32\");
         let B = eq(vadd(A, A, [[c, y, x - 1], [c, y + 1, x + 1]]), [c, y, x], [3, 11, 23]);",
        "schedules::stencil([build(B)], #{rows: 4, lanes: 16, l2: 1, l3: 1})",
    ),
    (
        "let A = tensor([7, 21], \"f32\"); let R = 2 * A - A / (1 + A * A); let R = stored(R);",
        "schedules::pointwise(build(R), #{l2: 1, l3: 1})",
    ),
    (
        "let x = tensor([1001]); let y = eq(x * x, [i] -> [i]);",
        "schedules::pointwise(build(y), #{l2: 800, l3: 1})",
    ),
    // Schedules of the library, with tiles that divide no extent, and packed operands.
    (
        "let A = tensor([13, 21]); let B = tensor([21, 43]); let C = contract(A, B, [2, 1]);",
        "schedules::gemm(build(C), #{mr: 4, nr: 16, kc: 8, l1: 64})",
    ),
    (
        "let A = tensor([21, 13]); let B = tensor([43, 21]); let C = contract(A, B, [1, 2]);",
        "schedules::gemm(build(C), #{mr: 4, nr: 16, kc: 8})",
    ),
    (
        "let A = tensor([21, 13]); let B = tensor([13, 71]); let C = contract(A, B, [2, 1]);",
        "schedules::gemm(build(C), #{mr: 4, nr: 8, mc: 8, nc: 32, kc: 5, l1: 64, l2: 64, threads: 3})",
    ),
    (
        "let A = tensor([1, 9]); let B = tensor([9, 33]); let C = contract(A, B, [2, 1]);",
        "schedules::gemm(build(C), #{kc: 4})",
    ),
    (
        "let A = tensor([23, 9]); let B = tensor([9, 1]); let C = contract(A, B, [2, 1]);",
        "schedules::gemm(build(C), #{mc: 8, kc: 4, l1: 64})",
    ),
    (
        "let A = tensor([23, 1]); let B = tensor([1, 33]); let C = contract(A, B, [2, 1]);",
        "schedules::gemm(build(C), #{mc: 8, nc: 16})",
    ),
    (
        "let A = tensor([3, 11, 5], \"f32\"); let B = tensor([3, 5, 37], \"f32\");
         let C = einsum(\"bik,bkj->bij\", A, B);",
        "schedules::gemm(build(C), #{mr: 4, lanes: 16})",
    ),
    (
        "let A = tensor([4, 9, 3, 5]); let B = tensor([5, 3, 6, 18]);
         let C = einsum(\"aikl,lkbj->ibaj\", A, B);",
        "schedules::gemm(build(C), #{mr: 4, nr: 16, l1: 64})",
    ),
    (
        "let B = tensor([3, 11, 7]); let C = tensor([11, 19]); let D = tensor([7, 19]);
         let T = contract(B, D, [3, 1]); let A = einsum(\"ikj,kj->ij\", T, C);",
        "schedules::gemm_at(build(T), build(A), #{mr: 4, nr: 8, l1: 64})",
    ),
    (
        "let B = tensor([3, 23, 7]); let C = tensor([23, 26]); let D = tensor([7, 26]);
         let T = contract(B, D, [3, 1]); let A = einsum(\"ikj,kj->ij\", T, C);",
        "schedules::gemm_at(build(T), build(A), #{mr: 4, nr: 16, l1: 64})",
    ),
    (
        "let B = tensor([3, 23, 7], \"f32\"); let C = tensor([23, 33], \"f32\");
         let D = tensor([7, 33], \"f32\");
         let T = contract(B, D, [3, 1]); let A = einsum(\"ikj,kj->ij\", T, C);",
        "schedules::gemm_at(build(T), build(A), #{mr: 4, nr: 32, l1: 64, l3: 64})",
    ),
    // Epilogues of products, inside the tiles: with one block of terms, two, and several.
    (
        EPILOGUE,
        "schedules::gemm_at(build(T), build(S), #{mr: 4, nr: 8, l1: 64})",
    ),
    (
        EPILOGUE,
        "schedules::gemm_at(build(T), build(S), #{mr: 4, nr: 16, mc: 8, kc: 20, l1: 64, threads: 2})",
    ),
    (
        EPILOGUE,
        "schedules::gemm_at(build(T), build(S), #{mr: 8, nr: 16, kc: 9, nc: 16, l1: 64, l2: 64})",
    ),
    (EPILOGUE, "schedules::optimize([build(T), build(S)])"),
    (
        "let A = tensor([2, 11, 9]); let B = tensor([2, 9, 17]); let v = tensor([2, 11]);
         let T = einsum(\"bik,bkj->bij\", A, B);
         let S = sub(T, v, [[n, i, j], [n, i]] -> [n, i, j]);",
        "schedules::gemm_at(build(T), build(S), #{mr: 4, nr: 16})",
    ),
    (
        "let I = tensor([2, 3, 23]); let W = tensor([2, 5, 3, 3]);
         let O = eq(vsum(vmul(I, W, [[g, c, w + k], [g, f, c, k]]), [c, k]), [g, f, w]);",
        "schedules::conv(build(O), #{mr: 4, nr: 16})",
    ),
    (
        "let A = tensor([7, 7]); let u = tensor([5, 7, 7]);
         let t = einsum(\"il,elm->eim\", A, u); let v = einsum(\"jm,eim->eij\", A, t);",
        "schedules::element_operators([build(t), build(v)], \"e\")",
    ),
    (
        "let A = tensor([13, 13]); let u = tensor([3, 13, 13]); let D = tensor([3, 13, 13]);
         let t = einsum(\"il,elm->eim\", A, u);
         let q = mul(t, D, [[e, i, m], [e, i, m]] -> [e, i, m]);
         let v = einsum(\"jm,eim->eij\", A, q);",
        "schedules::element_operators([t, q, v].map(|x| build(x)), \"e\")",
    ),
    (
        "let I = tensor([2, 11, 40]); let W = tensor([2, 3, 3]);
         let O = eq(vsum(vmul(I, W, [[c, y + p, x + q], [c, p, q]]), [p, q]), [c, y, x]);",
        "schedules::filters(build(O), #{mr: 4, nr: 16, lanes: 8})",
    ),
    (
        "let I = tensor([11, 58], \"f32\"); let W = tensor([3, 3], \"f32\");
         let O = eq(vsum(vmul(I, W, [[y + p, x + q], [p, q]]), [p, q]), [y, x]);",
        "schedules::filters(build(O), #{mr: 4, nr: 32, lanes: 16, l2: 64, l3: 64})",
    ),
    (
        "let A = tensor([16, 13]); let B = tensor([13, 32]); let C = contract(A, B, [2, 1]);
         let l = build(C).tile([\"i2\", \"i1\"], [16, 4]);
         l = l.reorder([\"i2_o\", \"i1_o\", \"i3\", \"i1_i\", \"i2_i\"]).pack(\"i2_o\", B);",
        "l.stage(\"i1_o\", C).vectorize(\"i2_i\")",
    ),
    // Integers: in tiles with rests, past the caches, and in accumulators of each lane.
    (
        INTEGERS,
        "schedules::gemm(product(\"i32\"), #{mr: 4, nr: 32, kc: 8, l1: 64})",
    ),
    (
        INTEGERS,
        "schedules::gemm(product(\"i64\"), #{mr: 4, nr: 16, kc: 8, l1: 64})",
    ),
    (
        INTEGERS,
        "schedules::stencil([stencil(\"i32\")], #{rows: 3, lanes: 16, l2: 1, l3: 1})",
    ),
    (
        INTEGERS,
        "schedules::stencil([stencil(\"i64\")], #{rows: 3, lanes: 8, l2: 1, l3: 1})",
    ),
    (
        INTEGERS,
        "schedules::optimize(reduced(|A| vmin(vat(A, [i, j]), [j]), \"i32\", 333))",
    ),
    (
        INTEGERS,
        "schedules::optimize(reduced(|A| vmax(vat(A, [i, j]), [j]), \"i64\", 1001))",
    ),
    (
        INTEGERS,
        "schedules::optimize(reduced(|A| vsum(vat(A, [i, j]), [j]), \"i32\", 1))",
    ),
];

/// A product of matrices, sums and extremes of integers.
const INTEGERS: &str = "
    fn product(elem) {
        let A = tensor([13, 21], elem); let B = tensor([21, 43], elem);
        build(contract(A, B, [2, 1]))
    }
    fn stencil(elem) {
        let A = tensor([7, 53], elem);
        let R = eq(vsub(vmul(A, 4, [[y, x], ()]), vadd(A, A, [[y, x - 1], [y, x + 1]])), [y, x], [7, 53]);
        build(R)
    }
    fn reduced(function, elem, n) {
        let A = tensor([5, n], elem);
        build(eq(function.call(A), [i]))
    }
";

/// The number of steps that points stay near.
const ORBITS: &str = "
    fn orbits(n, elem, count) {
        let m = max(n, 1);
        nest(`
          ${count} c[3][${m}]
          ${elem} p[${m}], q[3]
          for y in 0..3
            for x in 0..${n}
              local ${elem} a
              local ${elem} b
              local ${elem} t
              local ${count} k
              a = 0
              b = 0
              k = 0
              for s in 0..3
                t = a * a - b * b + p[x]
                b = 2 * a * b + q[y]
                a = t
                k += select(a * a + b * b < 4, 1, 0)
              c[y][x] = k
        `)
    }
";

/// The greatest element of each row or column, and where it is.
const GREATEST: &str = "
    fn greatest(elem, rows, columns, order) {
        let A = tensor(order.call(rows, columns), elem);
        let most = tensor([rows], elem);
        let at = tensor([rows], `i64`);
        let argmax = operators::argmax(elem);
        schedules::optimize(fold(argmax, [vat(A, order.call(i, j)), vindex(j)], [j], [most, at]))
    }
";

/// Many small matrices, factored in place.
const FACTORS: &str = "
    fn factors(order, elem) {
        let at = |b, i, j| { let t = order; t.replace(`[i]`, `[${i}]`); t.replace(`[j]`, `[${j}]`); t.replace(`[b]`, `[${b}]`); t };
        let e = |i, j| `A` + at.call(`b`, i, j);
        let shape = at.call(21, 3, 3);
        nest(`
          ${elem} A${shape}
          for b in 0..21
            for k in 0..3
              for i in k + 1..3
                ${e.call(`i`, `k`)} = ${e.call(`i`, `k`)} / select(${e.call(`k`, `k`)} < 0, 2, 4)
                for j in k + 1..3
                  ${e.call(`i`, `j`)} -= ${e.call(`i`, `k`)} * ${e.call(`k`, `j`)}
        `)
    }
    let A = tensor([21, 3, 3], `f32`);
";

/// Programs, which are their own definition.
const PROGRAMS: &[(&str, &str)] = &[
    // Lanes with loops, local tensors and selections inside: blocks of several vectors and of one,
    // with parts behind them, and extents of 1 and 0.
    (ORBITS, "orbits(13, \"f64\", \"f64\").vectorize(\"x\")"),
    (ORBITS, "orbits(77, \"f64\", \"f64\").vectorize(\"x\")"),
    (ORBITS, "orbits(45, \"f32\", \"f32\").vectorize(\"x\")"),
    (ORBITS, "orbits(21, \"f32\", \"i64\").vectorize(\"x\")"),
    (ORBITS, "orbits(22, \"f64\", \"i32\").vectorize(\"x\", 4)"),
    (ORBITS, "orbits(1, \"f64\", \"f64\").vectorize(\"x\")"),
    (ORBITS, "orbits(0, \"f64\", \"f64\").vectorize(\"x\")"),
    (
        ORBITS,
        "orbits(50, \"f64\", \"f64\").parallelize(\"x\").vectorize(\"x\")",
    ),
    (
        ORBITS,
        "orbits(50, \"f64\", \"f64\").stripmine(\"x\", 16).vectorize(\"x_i\")",
    ),
    (ORBITS, "orbits(45, \"i32\", \"i32\").vectorize(\"x\")"),
    (ORBITS, "orbits(77, \"i64\", \"i64\").vectorize(\"x\")"),
    (ORBITS, "orbits(29, \"i64\", \"i32\").vectorize(\"x\")"),
    (ORBITS, "orbits(1, \"i32\", \"i64\").vectorize(\"x\")"),
    (ORBITS, "orbits(0, \"i64\", \"i64\").vectorize(\"x\")"),
    // Operators that combine numbers with their indices, along rows and columns of any length.
    (GREATEST, "greatest(\"f64\", 9, 43, |i, j| [i, j])"),
    (GREATEST, "greatest(\"f32\", 5, 333, |i, j| [i, j])"),
    (GREATEST, "greatest(\"f32\", 5, 77, |i, j| [j, i])"),
    (GREATEST, "greatest(\"f64\", 12, 77, |i, j| [j, i])"),
    (GREATEST, "greatest(\"i64\", 3, 101, |i, j| [i, j])"),
    (GREATEST, "greatest(\"i32\", 1, 1001, |i, j| [i, j])"),
    (GREATEST, "greatest(\"i32\", 6, 1, |i, j| [j, i])"),
    // Elements of several types and sizes in one loop.
    (
        "",
        "nest(`
           f64 a[37]
           i64 b[37], c[37]
           f32 d[37]
           i32 e[37], f[37]
           vector for i in 0..37
             a[i] = a[i] * 2 + f64(c[i])
             b[i] = select(a[i] < 1, index(3*i - 5), c[i] * b[i])
             d[i] = f32(e[i]) - d[i]
             e[i] = i32(b[i]) + f[i] * max(e[i], -2)
             f[i] min= e[i]
         `)",
    ),
    (
        "",
        "nest(`
           f32 d[5][21]
           i32 e[5][21], n[]
           for k in 0..5
             vector for i in k..21 - k
               e[k][i] += select(d[k][i] > 0.5, n[] - e[k][i], mod(e[k][i], 16))
               d[k][i] max= f32(e[k][i])
         `)",
    ),
    // Elements that are apart are gathered and scattered, in place and by copies.
    (FACTORS, "factors(\"[i][j][b]\", \"f64\").vectorize(\"b\")"),
    (FACTORS, "factors(\"[b][i][j]\", \"f64\").vectorize(\"b\")"),
    (FACTORS, "factors(\"[b][i][j]\", \"f32\").vectorize(\"b\")"),
    (
        FACTORS,
        "factors(\"[b][i][j]\", \"f64\").parallelize(\"b\").vectorize(\"b\")",
    ),
    (
        FACTORS,
        "factors(\"[b][i][j]\", \"f32\").stage(\"b\", A).vectorize(\"b\")",
    ),
    (
        "let A = tensor([30, 3]); let x = tensor([30]); let s = tensor([30]);",
        "nest(`
           ${s}
           ${A}
           ${x}
           vector for i in 2..21
             local f64 w[3]
             fill w[0..3] = 1
             for k in 0..3
               w[k] += A[i][k] * x[29 - i]
             for k_2 in 0..3
               s[i] max= w[k_2] / 2
         `)",
    ),
];

/// Compiler flags for the targets that this machine supports.
fn targets() -> Vec<Vec<&'static str>> {
    let mut targets = vec![vec![]];
    #[cfg(target_arch = "x86_64")]
    {
        targets.push(vec!["-march=x86-64"]);
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            targets.push(vec!["-march=x86-64", "-mavx2", "-mfma"]);
        }
        if is_x86_feature_detected!("avx512f") {
            targets.push(vec!["-march=x86-64", "-mavx512f"]);
        }
    }
    targets
}

#[test]
fn vectors_compute_the_same_on_all_targets() {
    let compiler = Compiler::find(&control()).unwrap();
    all_compute_the_same((compiler, true));
}

/// Runs all nests with the flags of each target.
fn all_compute_the_same(compiler: (&Compiler, bool)) {
    let all = VARIETY.iter().map(|one| (one, false));
    let all: Vec<_> = all.chain(PROGRAMS.iter().map(|one| (one, true))).collect();
    all.par_iter()
        .for_each(|((script, expression), is_program)| {
            let nest = nest(script, expression);
            for flags in targets() {
                computes((&nest, &kernel(&nest)), compiler, *is_program, &flags);
            }
        });
}

/// Blocks of lanes depend on the target.
#[test]
fn programs_compute_the_same_in_lanes_of_all_targets() {
    let compiler = Compiler::find(&control()).unwrap();
    PROGRAMS.par_iter().for_each(|(script, expression)| {
        let nest = nest(script, expression);
        for target in ["sse2", "avx2", "avx512"] {
            let (target, nests) = (Target::named(target).unwrap(), std::slice::from_ref(&nest));
            let kernel = codegen::generate_for(nests, "kernel", Reductions::Strict, &target);
            computes((&nest, &kernel.unwrap()), (compiler, true), true, &[]);
        }
    });
}

/// A clang from version 16 on, if one is installed, and whether it has OpenMP.
fn clang() -> Option<(Compiler, bool)> {
    let versions = (16..=30).rev().map(|version| format!("clang-{version}"));
    let mut compilers =
        versions.filter_map(|name| Compiler::from_path(Path::new(&name), &control()).ok());
    let compiler = compilers.next()?;
    let probe = kernel(&nest(ROWS, "l.parallelize(\"i\")"));
    let with = compiler.compile(&probe, &Options::default(), &control());
    Some((compiler, with.is_ok()))
}

#[test]
fn vectors_compute_the_same_with_clang() {
    let Some((compiler, openmp)) = clang() else {
        return;
    };
    all_compute_the_same((&compiler, openmp));
}
