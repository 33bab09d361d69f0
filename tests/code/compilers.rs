//! C that compilers have to read as intended: patterns that gcc's vectorizer miscompiles, names
//! that C and C++ reserve, and loops shared by threads. Everything runs and is compared with the
//! interpreter, which executes nests loop by loop.

use crate::worker;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use teml::codegen::{self, Kernel, symbol};
use teml::interp::execute;
use teml::interp::store::{Data as Values, Store};
use teml::ir::{Name, Nest, parse_nest};
use teml::legality::Reductions;
use teml::runtime::{self, Data, Options, run_once};
use worker::{control, view};

fn nest(lines: &[String]) -> Nest {
    let text = lines.join("\n");
    parse_nest(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Runs the C of nests, and interprets them; both must give the same results.
fn computes(nests: &[Nest]) {
    let kernel = codegen::generate(nests, "kernel", Reductions::Reassociate);
    let kernel = kernel.unwrap_or_else(|e| panic!("{e}"));
    let mut store: Store = HashMap::new();
    for (k, param) in kernel.params.iter().enumerate() {
        let value = move |x: u64| ((x * 7 + k as u64 * 5) % 9) as f64 - 4.0;
        let name = param.tensor.name().unwrap().clone();
        store.insert(name, Values::generate(&param.tensor, value));
    }
    let inputs: Vec<Data> = kernel
        .params
        .iter()
        .map(|p| Data::Values(Arc::new(view(&store[p.tensor.name().unwrap()]).into())))
        .collect();
    let control = control();
    let compiled = runtime::compile(&kernel, &Options::default(), &control).unwrap();
    let run = run_once(&compiled, &inputs, &control).unwrap();
    nests
        .iter()
        .for_each(|nest| execute::run(nest, &mut store).unwrap());
    for (tensor, expected) in &store {
        let Some(found) = run.outputs.get(tensor.as_str()) else {
            continue;
        };
        for x in 0..expected.len() {
            let (a, b) = (view(expected).get(x), found.view().get(x));
            let (a, b) = (a.map(|a| a.to_string()), b.map(|b| b.to_string()));
            assert_eq!(a, b, "{tensor} at {x}\n{}", kernel.function);
        }
    }
}

/// Statements of one tensor whose operands are neighbors or far apart, in the same order or exchanged.
#[test]
fn groups_of_statements_are_compiled_right() {
    let mut nests = Vec::new();
    for elem in ["f64", "f32"] {
        for (n, apart) in [4, 8, 12, 16, 32].into_iter().flat_map(|n| {
            let aparts = [1, 2, n - 1, n, n + 3];
            aparts.map(|apart| (n, apart))
        }) {
            for loops in [
                format!("vector for p in 0..{n}"),
                format!("for p in 0..{n}"),
            ] {
                let size = n + apart;
                let text = format!(
                    "{elem} R#[{n}][2], S#[{}], X#[{size}], Y#[{size}], W#[2], V#[{n}]\n{loops}\n  \
                     R#[p][0] = (X#[p] - X#[p + {apart}]) * W#[0] - Y#[p] * W#[1]\n  \
                     R#[p][1] = (X#[p] - X#[p + {apart}]) * W#[1] + Y#[p] * W#[0]\n\
                     {loops}_2\n  S#[2*p_2] = X#[p_2] + X#[p_2 + {apart}]\n  \
                     S#[2*p_2 + 1] = (X#[p_2 + {apart}] - X#[p_2]) * V#[p_2]",
                    2 * n
                );
                let text = text.replace(&format!("p in 0..{n}_2"), &format!("p_2 in 0..{n}"));
                nests.push(nest(&numbered(&text, nests.len())));
            }
        }
    }
    computes(&nests);
}

/// Gives all tensors of one pattern distinct names.
fn numbered(pattern: &str, number: usize) -> Vec<String> {
    pattern
        .lines()
        .map(|line| line.replace('#', &number.to_string()))
        .collect()
}

#[test]
fn short_loops_over_what_was_just_written_are_compiled_right() {
    let mut nests = Vec::new();
    for elem in ["f64", "f32", "i32"] {
        for m in [2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 17, 33] {
            for (read, from, to) in [
                ("x#[i - 1][j - 1] + 1", (1, 1), (0, 0)),
                ("x#[i - 1][j + 1] + 1", (1, 0), (0, 1)),
                ("x#[i - 1][j - 1] + x#[i + 1][j]", (1, 1), (1, 0)),
                ("x#[i][j - 1] + x#[i - 1][j]", (1, 1), (0, 0)),
            ] {
                let text = format!(
                    "{elem} x#[10][{m}]\nfor i in {}..{}\n  for j in {}..{}\n    x#[i][j] = {read}",
                    from.0,
                    10 - to.0,
                    from.1,
                    m - to.1,
                );
                nests.push(nest(&numbered(&text, nests.len())));
            }
        }
    }
    computes(&nests);
}

#[test]
fn sums_of_neighbors_are_compiled_right_however_short() {
    let mut nests = Vec::new();
    for n in [6, 9, 12, 16, 18, 20, 21, 34] {
        for value in [
            "A#[i - 1] + A#[i - 2] + A#[i + 2]",
            "A#[i - 1] * A#[i + 1] + A#[i]",
            "max(A#[i - 2], A#[i + 1])",
        ] {
            let text = format!(
                "f64 A#[{n}], B#[{n}]\nfor t in 0..2\n  for i in 2..{}\n    B#[i] = {value}\n  \
                 for k in 0..{n}\n    A#[k] = B#[k]",
                n - 2
            );
            nests.push(nest(&numbered(&text, nests.len())));
        }
    }
    computes(&nests);
}

#[test]
fn sums_of_neighbors_are_compiled_right_around_registers() {
    let mut nests = Vec::new();
    for n in [12, 14, 16, 20, 24, 33] {
        for value in [
            "A#[i - 2] + A#[i - 1] + A#[i + 2]",
            "A#[i - 1] + A#[i - 2] + A#[i + 2]",
            "A#[i + 1] * A#[i - 1] + A#[i]",
        ] {
            let end = n - 2;
            let tile = format!(
                "local f64 T#[{n}]\nvector for l in 0..{n}\n  T#[l] = B#[l]\n\
                 for i in 2..{end}\n  T#[i] = {value}\n\
                 vector for s in 0..{n}\n  B#[s] = T#[s]\n\
                 vector for r in 0..{n}\n  A#[r] = T#[r]"
            );
            let lines = tile.lines().map(|line| format!("\n  {line}"));
            let in_loop = format!(
                "f64 A#[{n}], B#[{n}]\nfor t in 0..3{}",
                lines.collect::<String>()
            );
            nests.push(nest(&numbered(&in_loop, nests.len())));
            let in_none = format!("f64 A#[{n}], B#[{n}]\n{tile}");
            nests.push(nest(&numbered(&in_none, nests.len())));
            let copies = (2..end).map(|i| {
                let at = |k: i64| format!("A#[{}]", i64::from(i) + k);
                let value =
                    ["- 2", "- 1", "+ 2", "+ 1"]
                        .iter()
                        .fold(value.to_owned(), |text, by| {
                            let by_number: i64 = by.replace(' ', "").parse().unwrap();
                            text.replace(&format!("A#[i {by}]"), &at(by_number))
                        });
                format!("\nB#[{i}] = {}", value.replace("A#[i]", &at(0)))
            });
            let unrolled = format!("f64 A#[{n}], B#[{n}]{}", copies.collect::<String>());
            nests.push(nest(&numbered(&unrolled, nests.len())));
        }
    }
    computes(&nests);
}

#[test]
fn reductions_may_read_backwards() {
    let mut nests = Vec::new();
    for n in 2..18 {
        for value in ["A#[i][last - j]", "A#[i][last - j] * B#[j]", "B#[last - j]"] {
            let value = value.replace("last", &(n - 1).to_string());
            let text = format!(
                "f64 A#[9][{n}], B#[{n}], s#[]\nfor i in 0..9\n  for j in 0..{n}\n    s#[] += {value}"
            );
            nests.push(nest(&numbered(&text, nests.len())));
        }
    }
    computes(&nests);
}

#[test]
fn what_is_rounded_stays_so_when_it_is_widened() {
    let pattern =
        "f64 B#[N], A#[N]\nf32 C#[N]\nfor i in 0..N\n  C#[i] = f32(A#[i] / 3)\n  B#[i] = f64(C#[i])
  B#[i] += f64(f32(A#[i] / 7))";
    let nests: Vec<Nest> = (1..8)
        .map(|n| nest(&numbered(&pattern.replace('N', &n.to_string()), n)))
        .collect();
    computes(&nests);
}

#[test]
fn statements_that_were_unrolled_are_compiled_right() {
    let mut nests = Vec::new();
    for m in [3, 4, 5, 8, 9] {
        let columns = 1..m;
        let rows: String = columns
            .map(|j| format!("\n  x#[i][{j}] = x#[i - 1][{}] + 1", j - 1))
            .collect();
        let text = format!("f64 x#[10][{m}]\nfor i in 1..10{rows}");
        nests.push(nest(&numbered(&text, nests.len())));
        let columns = (0..m).rev();
        let sums: String = columns.map(|j| format!("\n  s#[] += A#[i][{j}]")).collect();
        let text = format!("f64 s#[], A#[9][{m}]\nfor i in 0..9{sums}");
        nests.push(nest(&numbered(&text, nests.len())));
        let row: String = (2..m + 2)
            .map(|j| {
                format!(
                    "\n  B#[i][{j}] = A#[i][{}] + A#[i][{}] + A#[i][{}]",
                    j - 1,
                    j - 2,
                    j + 2
                )
            })
            .collect();
        let text = format!("f64 A#[9][{0}], B#[9][{0}]\nfor i in 0..9{row}", m + 4);
        nests.push(nest(&numbered(&text, nests.len())));
    }
    computes(&nests);
}

/// Words with a meaning in C, C++, OpenMP, their libraries or the support code of kernels.
fn words() -> BTreeSet<String> {
    let directory = tempfile::tempdir().unwrap();
    let everything = directory.path().join("all.c");
    let includes = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n";
    std::fs::write(&everything, includes).unwrap();
    let mut words = BTreeSet::new();
    // Macros, in C and as g++ has them.
    for (compiler, language) in [("cc", "c"), ("c++", "c++")] {
        let output = Command::new(compiler)
            .args(["-x", language, "-dM", "-E"])
            .arg(&everything)
            .output();
        let Ok(output) = output else { continue };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let names = text.lines().filter_map(|l| l.strip_prefix("#define "));
        let end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        words.extend(names.filter_map(|n| n.split(end).next().map(str::to_owned)));
    }
    let codegen = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codegen");
    for entry in std::fs::read_dir(codegen).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "h") {
            let text = std::fs::read_to_string(path).unwrap();
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let found = code.flat_map(|line| line.split(|c| !is_part(c)));
            words.extend(found.map(str::to_owned));
        }
    }
    let others = "class template typename new delete this operator namespace private public \
        protected virtual friend using try catch throw explicit export mutable bool true false \
        and or not xor bitand bitor compl and_eq or_eq xor_eq not_eq wchar_t char16_t char32_t \
        nullptr constexpr decltype noexcept static_assert thread_local alignas alignof asm typeof \
        concept requires co_await linux unix i386 main exit abs labs index y0 j1 gamma exp expf \
        log sin cos tanh sqrt sqrtf pow powf fabs fabsf memset memcpy malloc free printf errno \
        stdin stdout omp_get_num_threads omp_get_max_threads omp parallel simd collapse schedule \
        size_t ptrdiff_t int64_t uint8_t INT64_MAX NULL NAN INFINITY HUGE_VAL M_PI args teml_x \
        TEML_F64XN f64xn f64x8 f32x4 C_tile void_";
    words.extend(others.split_whitespace().map(str::to_owned));
    words.retain(|word| Name::new(word).is_ok());
    words
}

#[test]
fn every_word_of_c_and_its_libraries_can_name_a_tensor_a_loop_and_a_kernel() {
    let words = words();
    assert!(words.len() > 300, "{words:?}");
    assert!(words.contains("TEML_F64XN") && words.contains("M_PI") && words.contains("class"));
    // As tensors and as loops, with vectors, functions and a fill around them.
    let (mut nests, mut loops) = (Vec::new(), Vec::new());
    for word in &words {
        let text = format!(
            "f64 {word}[4][19], zz_in[4][19]\nfill {word}[0..4][0..19] = 0\nfor zz_i in 0..4\n  \
             vector for zz_j in 0..19\n    {word}[zz_i][zz_j] += \
             max(exp(zz_in[zz_i][zz_j]), sqrt(4) * {word}[zz_i][zz_j])"
        );
        nests.push(nest(&numbered(&text, 0)));
        let text = format!(
            "i64 zz_{word}[9], zz_u[9]\nparallel for {word} in 0..9\n  zz_{word}[{word}] = zz_u[{word}] + 1"
        );
        loops.push(nest(&numbered(&text, 0)));
    }
    // A process has a limited number of files, and so of buffers.
    nests.chunks(250).for_each(computes_about);
    loops.chunks(250).for_each(computes_about);
    // As kernels, all in one unit, in C and in C++.
    let copy = nest(&numbered("f64 A[3], B[3]\nfor i in 0..3\n  A[i] = B[i]", 0));
    let symbols: BTreeSet<String> = words.iter().map(|w| symbol::from_label(w)).collect();
    let kernels: Vec<Kernel> = symbols
        .iter()
        .map(|s| codegen::generate(std::slice::from_ref(&copy), s, Reductions::Strict).unwrap())
        .collect();
    let unit = codegen::unit(&kernels);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("kernels.c");
    std::fs::write(&file, unit).unwrap();
    for (compiler, flags) in [
        ("cc", ["-std=c11", "-x", "c"]),
        ("c++", ["-std=c++17", "-x", "c++"]),
    ] {
        let output = Command::new(compiler)
            .args(flags)
            .args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only"])
            .arg(&file)
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{shown}");
    }
}

/// Like [`computes`], up to the rounding of vector functions.
fn computes_about(nests: &[Nest]) {
    let kernel = codegen::generate(nests, "kernel", Reductions::Strict).unwrap();
    let control = control();
    // Names need no optimizations.
    let options = Options::default().plain();
    let compiled = runtime::compile(&kernel, &options, &control);
    let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
    let mut store: Store = HashMap::new();
    for param in &kernel.params {
        let name = param.tensor.name().unwrap().clone();
        let value = |x: u64| (x % 5) as f64 / 4.0;
        store.insert(name, Values::generate(&param.tensor, value));
    }
    let inputs: Vec<Data> = kernel
        .params
        .iter()
        .map(|p| Data::Values(Arc::new(view(&store[p.tensor.name().unwrap()]).into())))
        .collect();
    let run = run_once(&compiled, &inputs, &control).unwrap();
    nests
        .iter()
        .for_each(|nest| execute::run(nest, &mut store).unwrap());
    for (tensor, expected) in &store {
        let Some(found) = run.outputs.get(tensor.as_str()) else {
            continue;
        };
        let shape = found.tensor().shape();
        let comparison = runtime::compare(view(expected), found.view(), shape, 1e-12).unwrap();
        assert!(comparison.agrees(), "{tensor}: {comparison}");
    }
}

#[test]
fn lanes_with_tensors_of_their_own_store_pairs() {
    let lines = [
        "f64 B[19][7][15], A[19][7][15]",
        "vector lanes(8) for k in 0..14",
        "  local f64 t[19][7][2]",
        "  for x in 0..19",
        "    for w in 0..7",
        "      for p in 0..2",
        "        t[x][w][p] = A[x][w][p + k]",
        "  for w_2 in 1..7",
        "    for x_2 in 0..19",
        "      B[x_2][w_2][k] = t[x_2][w_2][1] - (t[x_2][w_2][0] + t[x_2][w_2 - 1][1])",
    ];
    computes(&[nest(&lines.map(str::to_owned))]);
}

#[test]
fn collapsed_loops_have_nothing_between_them() {
    for lines in [
        // A small local tensor is in registers, and copied in vector lanes.
        [
            "f64 A[2][9], B[2][9]",
            "local f64 B_store[2][9]",
            "for i in 0..2",
            "  for j in 0..9",
            "    B_store[i][j] = A[i][j]",
            "parallel collapse(2) for k in 0..2",
            "  for l in 0..9",
            "    B[k][l] = B_store[k][l]",
        ],
        [
            "f64 A[2][9], B[2][9]",
            "local f64 A_pack[2][9]",
            "parallel collapse(2) for i in 0..2",
            "  for j in 0..9",
            "    A_pack[i][j] = A[i][j]",
            "for k in 0..2",
            "  for l in 0..9",
            "    B[k][l] = A_pack[k][l]",
        ],
        [
            "f64 A[2][9], B[2][9]",
            "local f64 A_pack[2][9]",
            "for i in 0..2",
            "  for j in 0..9",
            "    A_pack[i][j] = A[i][j]",
            "parallel collapse(2) for k in 0..2",
            "  for l in 0..9",
            "    B[k][l] = A_pack[k][l]",
        ],
    ] {
        computes(&[nest(&lines.map(str::to_owned))]);
    }
}

#[test]
fn chunks_may_be_larger_than_any_loop() {
    for schedule in ["static", "dynamic", "guided"] {
        let lines = format!(
            "f64 A[16][7], B[16][7]
parallel {schedule}(4611686018427387904) for i in 0..16
  for j in 0..7
    B[i][j] = A[i][j] * 2"
        );
        computes(&[nest(&numbered(&lines, 0))]);
    }
}

#[test]
fn collapsed_loops_are_in_order_inside() {
    let lines = "\
f32 A[9][2], B[2][3][15], C[15][3][9]
parallel collapse(3) for w in 0..15
  for j in 0..3
    for h in 0..9
      for c in 0..2
        C[w][j][8 - h] min= A[8 - h][c] * B[c][j][w]";
    computes(&[nest(&numbered(lines, 0))]);
}

#[test]
fn compilers_that_fail_are_asked_again() {
    // gcc 12.2 fails with an internal error.
    let lines = "\
i32 A[2][2]
for o in 0..1
  local i32 A_tile[2][2]
  for i in 0..2
    for j in 0..2
      A_tile[i][j] = A[i][j]
  for t in 0..4
    for k in 16*o..min(16*o + 16, 2)
      for u in 1..2
        A_tile[k][u] = min(A_tile[1 - k][u], A_tile[1 - k][u - 1]) + 0
  for i_2 in 0..2
    for j_2 in 0..2
      A[i_2][j_2] = A_tile[i_2][j_2]";
    let nest = nest(&numbered(lines, 0));
    computes(&[nest]);
}

#[test]
fn loops_may_walk_through_a_tensor_both_ways() {
    for inside in ["1", "3", "22"] {
        let lines = format!(
            "\
f64 A[32][23]
for o in 0..{inside}
  for b in 1..23
    for c in max(32*o + 32, 31*b + 1)..min(32*o + 64, 31*b + 32)
      A[31*b - c + 32][23 - b] = A[31*b - c + 31][22 - b] + A[c - 31*b - 1][22 - b]"
        );
        computes(&[nest(&numbered(&lines, 0))]);
    }
}

#[test]
fn iterations_that_are_functions_get_what_they_fetch() {
    for lines in [
        // A parallel loop of one iteration, whose function also needs the arguments of the
        // prefetch.
        [
            "f64 A[8][1], B[8][4][8], C[4][1]",
            "for i in 0..8",
            "  parallel for j in 0..1",
            "    for k in 0..4",
            "      for l in 0..8 prefetch(A, 1 of i)",
            "        A[i][j] += B[i][k][l] * C[k][j]",
        ],
        // The body does not use the fetched data.
        [
            "f64 A[8], B[4][80], C[4][80]",
            "for i in 0..8",
            "  A[i] = A[i] + 1",
            "  parallel for j in 0..4",
            "    for k in 0..80 prefetch(A, 1 of i)",
            "      B[j][k] += C[j][k]",
        ],
    ] {
        computes(&[nest(&lines.map(str::to_owned))]);
    }
}
