//! Schedules of the library: the choice among them, that they are legal, and their results at sizes
//! that no tile divides.

use crate::computations;
use crate::dialog;

use computations::KERNELS;
use dialog::nest;
use std::collections::HashMap;
use teml::interp::store::{Data, Store};
use teml::interp::{definition, execute};

#[test]
fn the_schedule_follows_from_the_computation() {
    for (declared, nests, expected) in KERNELS {
        let shown = dialog::shown(
            declared,
            &format!(
                "let chosen = schedules::optimize({nests});
                 if type_of(chosen) != \"array\" {{ chosen = [chosen]; }}
                 let expected = {expected};
                 if type_of(expected) != \"array\" {{ expected = [expected]; }}
                 let verdict = check(chosen);
                 `${{chosen.len() == expected.len()}} ${{chosen == expected}} ${{verdict.legal}}`"
            ),
        );
        assert_eq!(shown.unwrap(), "=> \"true true true\"", "{expected}");
    }
}

/// Asserts that the nest computes its definition, element by element, by the reference interpreter.
fn computes(declared: &str, expression: &str) {
    let nest = nest(declared, expression);
    let mut store: Store = HashMap::new();
    let targets = nest.definition().iter().filter_map(|e| e.tensor().cloned());
    for (k, tensor) in nest.tensors().into_iter().chain(targets).enumerate() {
        let value = move |x: u64| ((x * 7 + k as u64 * 5) % 9) as f64 - 4.0;
        let name = tensor.name().unwrap().clone();
        store.insert(name, Data::generate(&tensor, value));
    }
    let mut expected = store.clone();
    definition::run(nest.definition(), &mut expected).unwrap();
    execute::run(&nest, &mut store).unwrap();
    for tensor in nest.tensors() {
        let name = tensor.name().unwrap();
        assert_eq!(store[name], expected[name], "{name}: {expression}\n{nest}");
    }
}

/// A window has one dimension for terms and columns, so that no panel holds it.
#[test]
fn windows_are_read_in_place_whatever_the_sizes() {
    let declared = "
        let I = tensor([1, 2, 2, 7, 9]);
        let W = tensor([2, 3, 2, 3, 4]);
        let IW = vmul(I, W, [[n, g, c, h + kh, w + kw], [g, f, c, kh, kw]]);
        let O = eq(vsum(IW, [c, kh, kw]), [n, g, f, h, w]);";
    for sizes in ["mr: 1, nr: 4, kc: 4096", "mr: 2, nr: 2, kc: 1024, mc: 2"] {
        let schedule = format!("schedules::gemm(build(O), #{{{sizes}}})");
        computes(declared, &schedule);
        let legal = dialog::shown(declared, &format!("check({schedule}).legal"));
        assert_eq!(legal.unwrap(), "=> true");
    }
}

#[test]
fn triangles_of_all_sizes_are_computed() {
    for n in [5, 32, 41] {
        for range in ["0..i + 1".to_owned(), format!("i..{n}")] {
            for (operands, shape) in [("ik,jk->ij", [n, 9]), ("ki,kj->ij", [9, n])] {
                let declared = format!(
                    "let A = tensor({shape:?}); let B = tensor({shape:?}); let C = tensor([{n}, {n}]);
                     C = eq(C + veinsum(\"{operands}\", A, B), [i, j] -> [i, j], #{{j: {range}}});"
                );
                let options = "#{nb: 8, mr: 4, kc: 4, lanes: 4, threads: 2}";
                let schedule = format!("schedules::triangle(build(C), {options})");
                computes(&declared, &schedule);
                let legal = dialog::shown(&declared, &format!("check({schedule}).legal"));
                assert_eq!(legal.unwrap(), "=> true");
            }
        }
    }
}

/// Blocks that do not divide the matrix, that are as large as it, and larger ones.
#[test]
fn factorizations_of_all_sizes_are_legal() {
    let blocks = [
        [4, 8, 16],
        [8, 8, 8],
        [1, 1, 1],
        [2, 4, 4],
        [1, 8, 8],
        [3, 6, 12],
    ];
    for n in [1, 2, 7, 8, 9, 12, 16, 17, 25, 40] {
        let texts = [
            (
                "cholesky",
                format!(
                    "for k in 0..{n}
                       A[k][k] = sqrt(A[k][k])
                       for i in k + 1..{n}
                         A[i][k] /= A[k][k]
                         for j in k + 1..i + 1
                           A[i][j] -= A[i][k] * A[j][k]"
                ),
            ),
            (
                "lu",
                format!(
                    "for k in 0..{n}
                       for i in k + 1..{n}
                         A[i][k] /= A[k][k]
                         for j in k + 1..{n}
                           A[i][j] -= A[i][k] * A[k][j]"
                ),
            ),
        ];
        for ((name, text), [mr, nr, kc]) in texts.iter().flat_map(|t| blocks.map(|b| (t, b))) {
            let declared = format!("let naive = nest(`f64 A[{n}][{n}]\n{text}`);");
            let options = format!("#{{mr: {mr}, nr: {nr}, kc: {kc}, threads: 2}}");
            let plan =
                format!("{declared} let verdict = check(schedules::{name}(naive, {options}));");
            let legal = dialog::string(&plan, "verdict.message");
            assert_eq!(legal, "legal", "{name} {n} {options}");
        }
    }
}

#[test]
fn products_of_all_sizes_are_computed() {
    let options = [
        // In place, and in copies.
        "#{l1: 64, l2: 65536}",
        "#{l1: 64, mc: 64}",
        "#{mr: 4, nr: 8, mc: 8, nc: 16, kc: 4, l1: 64, l2: 64, threads: 3}",
    ];
    for m in [1, 3, 8, 21] {
        for n in [1, 5, 16, 35] {
            for k in [1, 2, 9] {
                let declared = format!(
                    "let A = tensor([{m}, {k}]); let B = tensor([{k}, {n}]);
                     let C = contract(A, B, [2, 1]);"
                );
                for options in options {
                    computes(&declared, &format!("schedules::gemm(build(C), {options})"));
                }
            }
        }
    }
}

#[test]
fn products_of_a_tensor_with_itself_are_computed() {
    for (kind, extents) in [
        ("contract(A, A, [2, 1])", [(1, 1), (9, 9), (35, 35)]),
        ("einsum(\"ik,jk->ij\", A, A)", [(1, 9), (21, 1), (35, 11)]),
        ("einsum(\"ki,kj->ij\", A, A)", [(9, 1), (1, 21), (11, 35)]),
    ] {
        for (m, n) in extents {
            let declared = format!("let A = tensor([{m}, {n}]); let C = {kind};");
            let options = "#{mr: 4, nr: 8, mc: 8, nc: 16, kc: 4, l1: 64, l2: 64, threads: 3}";
            computes(&declared, &format!("schedules::gemm(build(C), {options})"));
        }
    }
    // Rows have a panel of `A`, and columns one of its copy.
    let schedule = "schedules::gemm(build(C), #{mr: 8, nr: 8, kc: 16, l1: 64, l2: 4096})";
    let of = |kind: &str| {
        let declared = format!("let A = tensor([64, 64]); let C = einsum({kind:?}, A, A);");
        nest(&declared, schedule).to_string()
    };
    let shown = of("ki,kj->ij");
    assert!(
        shown.contains("A_pack_pack") && shown.contains("A_pack2"),
        "{shown}"
    );
    // Rows of terms are read in place.
    let shown = of("ik,jk->ij");
    assert!(
        shown.contains("+= A[i_i_2][k_i_2_i] * A_pack_pack["),
        "{shown}"
    );
}

#[test]
fn products_one_after_the_other_have_schedules_of_their_own() {
    let declared = "let A = tensor([17, 19]); let B = tensor([19, 23]); let x = tensor([17]);
         let T = contract(A, B, [2, 1]);";
    for (second, schedule) in [
        // Each element of `T` is needed for a whole row, or vectors of it are summed.
        ("contract(T, vtranspose(B, [[1, 2]]), [2, 1])", "gemm"),
        ("einsum(\"ij->i\", T)", "reduction"),
    ] {
        let shown = dialog::shown(
            &format!("{declared} let D = {second}; let l = [build(T), build(D)];"),
            &format!(
                "schedules::optimize(l) == [schedules::gemm(l[0]), schedules::{schedule}(l[1])]"
            ),
        );
        assert_eq!(shown.unwrap(), "=> true", "{second}");
    }
    let rows = "let y = einsum(\"ij,i->j\", T, x); let l = [build(T), build(y)];";
    let shown = dialog::shown(
        &format!("{declared}{rows}"),
        "schedules::optimize(l) == schedules::gemm_at(l[0], l[1])",
    );
    assert_eq!(shown.unwrap(), "=> true");
}

/// Element-wise epilogues of products: of matrices, of many small ones, of windows. The last one
/// has filters in its lanes, and two nests.
const AFTER_PRODUCTS: &[(&str, bool)] = &[
    ("let A = tensor([21, 35]); let B = tensor([35, 43]); let T = contract(A, B, [2, 1]);
      let v = tensor([43]); let S = add(T, v, [[i, j], [j]] -> [i, j]);", true),
    ("let A = tensor([7, 9, 5]); let B = tensor([7, 5, 16]); let T = einsum(\"bik,bkj->bij\", A, B);
      let S = eq(vadd(T, 0.5, [[n, i, j], ()]), [n, i, j]);", true),
    ("let A = tensor([2, 3, 9, 11]); let W = tensor([5, 3, 3, 3]); let T = conv(A, W, #{});
      let v = tensor([5]); let S = mul(T, v, [[n, f, y, x], [f]] -> [n, f, y, x]);", true),
    ("let A = tensor([2, 16, 18, 34]); let W = tensor([32, 16, 3, 3]);
      let T = conv(A, W, #{stride: 2}); let v = tensor([32]);
      let S = add(T, v, [[n, f, y, x], [f]] -> [n, f, y, x]);", false),
];

#[test]
fn what_comes_after_products_is_computed_in_their_tiles() {
    for (declared, together) in AFTER_PRODUCTS {
        let schedule = "schedules::optimize([build(T), build(S)])";
        if *together {
            computes(declared, schedule);
        }
        let found = dialog::shown(declared, &format!("type_of({schedule}) != \"array\""));
        assert_eq!(found.unwrap(), format!("=> {together}"), "{declared}");
        let verdict = dialog::shown(declared, &format!("check({schedule}).legal"));
        assert_eq!(verdict.unwrap(), "=> true", "{declared}");
    }
}

/// Programs for schedules by rows, with rows of `n` elements and exact numbers: the steps of a
/// softmax in two and in three dimensions, scaled rows, recurrences along rows, and sums of
/// columns.
const BY_ROWS: &[&str] = &[
    "let A = tensor([35, n]); let m = max(A, [2]);
     let e = abs(vsub(A, m, [[i, j], [i]]), () -> [i, j]); let s = sum(e, [2]);
     let y = sub(e, s, [[i, j], [i]] -> [i, j]); let l = [m, e, s, y].map(|x| build(x));",
    "let A = tensor([5, 64, n], \"f32\"); let m = max(A, [3]);
     let e = abs(vsub(A, m, [[b, i, j], [b, i]]), () -> [b, i, j]); let s = sum(e, [3]);
     let y = sub(e, s, [[b, i, j], [b, i]] -> [b, i, j]); let l = [m, e, s, y].map(|x| build(x));",
    "let A = tensor([35, n]); let s = eq(vsum(vmul(A, A, [[i, j], [i, j]]), [j]), [i]);
     let r = eq(vadd(s, 0.5, [[i], ()]), [i]);
     let y = mul(A, r, [[i, j], [i]] -> [i, j]); let l = [s, r, y].map(|x| build(x));",
    "let A = tensor([35, n]); let z = eq(A * A, [i, j] -> [i, j]);
     let y = abs(vsub(z, A, [[i, j], [i, j]]), () -> [i, j]); let l = [build(z), build(y)];",
    "let A = tensor([11, 6, n]); let s = sum(A, [2]);
     let y = sub(A, s, [[b, i, j], [b, j]] -> [b, i, j]); let l = [build(s), build(y)];",
];

#[test]
fn rows_are_computed_at_once() {
    for program in BY_ROWS {
        for n in [1, 3, 16, 45] {
            for order in ["strict", "reassoc"] {
                let declared = format!("reductions(\"{order}\"); let n = {n}; {program}");
                for options in [
                    "#{lanes: 2, threads: 1}",
                    "#{lanes: 8, threads: 2, l2: 1, l3: 1}",
                ] {
                    let schedule = format!("schedules::rows(l, {options})");
                    computes(&declared, &schedule);
                    let verdict = dialog::shown(&declared, &format!("check({schedule}).legal"));
                    assert_eq!(verdict.unwrap(), "=> true", "{schedule}: {declared}");
                }
            }
        }
    }
}

#[test]
fn rows_are_chosen_where_nothing_else_is_needed() {
    let chosen = |declared: &str, expected: &str| {
        let shown = dialog::shown(
            declared,
            &format!("[{expected}].contains(schedules::optimize(l))"),
        );
        assert_eq!(shown.unwrap(), "=> true", "{declared}");
    };
    let each = "l.map(|x| schedules::optimize(x))";
    for program in BY_ROWS {
        let declared = format!("reductions(\"reassoc\"); let n = 45; {program}");
        // An intermediate that is used once is inlined.
        let expected = if program.contains("let z") {
            "schedules::pointwise(l[0].inline(l[1])), \
             schedules::pointwise(l[0].collapse(\"i\").inline(l[1].collapse(\"i\")))"
        } else {
            "schedules::rows(l)"
        };
        chosen(&declared, expected);
    }
    // Sums that keep their order have lanes in several rows.
    chosen(&format!("let n = 45; {}", BY_ROWS[0]), each);
    for program in [
        // The sum of a column needs all rows.
        "let A = tensor([40, 50]); let s = sum(A, [1]);
         let y = div(A, s, [[i, j], [j]] -> [i, j]); let l = [build(s), build(y)];",
        // Two results.
        "let A = tensor([40, 50]); let s = sum(A, [2]); let m = max(A, [2]);
         let l = [build(s), build(m)];",
        // A row of the result is needed for another one, as it was.
        "let A = tensor([40, 40]); let B = eq(vadd(A, A, [[i, j], [j, i]]), [i, j]);
         A = eq(B, [i, j] -> [i, j]); let l = [build(B), build(A)];",
        // No cache holds two rows.
        "let A = tensor([3, 9000000]); let s = sum(A, [2]);
         let y = div(A, s, [[i, j], [i]] -> [i, j]); let l = [build(s), build(y)];",
    ] {
        chosen(&format!("reductions(\"reassoc\"); {program}"), each);
    }
}

#[test]
fn threads_share_products_in_place() {
    let declared = "let A = tensor([41, 17]); let B = tensor([17, 43]);
         let C = contract(A, B, [2, 1]);";
    let options = "#{lanes: 2, threads: 2, l2: 65536, region: 1000}";
    let shown = nest(declared, &format!("schedules::gemm(build(C), {options})")).to_string();
    assert!(shown.contains("parallel"), "{shown}");
    assert!(!shown.contains("_pack"), "{shown}");
    computes(declared, &format!("schedules::gemm(build(C), {options})"));
    // Rows that are a power of two apart conflict in a cache, and are copied.
    let apart = "let A = tensor([41, 17]); let B = tensor([17, 1024]);
         let C = contract(A, B, [2, 1]);";
    let shown = nest(apart, "schedules::gemm(build(C), #{l1: 2048, l2: 131072})").to_string();
    assert!(shown.contains("B_pack"), "{shown}");
    // Small work stays on one thread.
    let few = "let A = tensor([9, 9]); let C = contract(A, A, [2, 1]);";
    let shown = nest(few, "schedules::gemm(build(C), #{threads: 2})").to_string();
    assert!(!shown.contains("parallel"), "{shown}");
}

/// A nest that does more than copy is not taken for a copy.
#[test]
fn threads_share_products_behind_copies() {
    let declared = "let A = tensor([72, 72]); let B = tensor([68, 68, 68, 72]);
         let C = einsum(\"ae,dcbe->dcba\", A, B);";
    let shown = nest(declared, "schedules::optimize(build(C))").to_string();
    // None where the machine has one core.
    let shared = shown.contains("parallel for c in 0..68");
    assert!(shared || !shown.contains("parallel"), "{shown}");
}

#[test]
fn threads_share_the_tiles_of_few_batches() {
    for (batches, shared) in [(5, "parallel collapse(3) for b"), (8, "parallel for b")] {
        let declared = format!(
            "let A = tensor([{batches}, 17, 9]); let B = tensor([{batches}, 9, 43]);
             let C = einsum(\"bik,bkj->bij\", A, B);"
        );
        let schedule = "schedules::small_gemm(build(C), #{lanes: 2, threads: 2, region: 500})";
        let shown = nest(&declared, schedule).to_string();
        assert!(shown.contains(shared), "{shown}");
        computes(&declared, schedule);
    }
}

#[test]
fn results_that_caches_cannot_hold_go_past_them() {
    let declared = "let A = tensor([64, 8, 4]); let B = tensor([64, 4, 16]);
         let C = einsum(\"bik,bkj->bij\", A, B);";
    for (l3, streamed) in [(65536, true), (131072, false)] {
        let schedule = format!("schedules::small_gemm(build(C), #{{l2: 1024, l3: {l3}}})");
        let shown = nest(declared, &schedule).to_string();
        assert_eq!(shown.contains("stream(C)"), streamed, "{shown}");
    }
}

#[test]
fn tiles_that_go_past_the_caches_have_whole_lines() {
    // Tiles of three rows and three vectors take as long as tiles of six and two. The wider ones
    // have 96 contiguous bytes per row.
    let declared = "let A = tensor([6, 72, 7]); let B = tensor([6, 7, 72]);
         let C = einsum(\"bik,bkj->bij\", A, B);";
    for (l3, tile) in [(1024, "[6][8]"), (1 << 30, "[3][12]")] {
        let sizes = format!("#{{lanes: 4, registers: 16, l2: 1024, l3: {l3}, threads: 2}}");
        let schedule = format!("schedules::small_gemm(build(C), {sizes})");
        let shown = nest(declared, &schedule).to_string();
        assert!(
            shown.contains(&format!("local f64 C_tile{tile}")),
            "{shown}"
        );
        computes(declared, &schedule);
    }
}

#[test]
fn rows_of_results_that_are_no_whole_lines_are_collected() {
    for (columns, collected) in [(43, true), (48, false), (13, false)] {
        let declared = format!(
            "let A = tensor([6, 21, 7]); let B = tensor([6, 7, {columns}]);
             let C = einsum(\"bik,bkj->bij\", A, B);"
        );
        let sizes = "#{lanes: 8, mr: 8, nr: 16, l2: 1024, l3: 1024, threads: 2}";
        let schedule = format!("schedules::small_gemm(build(C), {sizes})");
        let shown = nest(&declared, &schedule).to_string();
        let rows = format!("local f64 C_tile[8][{columns}]");
        assert!(shown.contains("stream(C)"), "{shown}");
        assert_eq!(shown.contains(&rows) && columns > 16, collected, "{shown}");
        computes(&declared, &schedule);
    }
}

#[test]
fn operators_with_more_rows_than_registers_hold_are_computed() {
    let declared = "let A = tensor([5, 5]); let u = tensor([3, 5, 5, 5]);
         let t = einsum(\"il,elmn->eimn\", A, u);
         let s = einsum(\"jm,eimn->eijn\", A, t);
         let v = einsum(\"kn,eijn->eijk\", A, s);
         let l = [t, s, v].map(|x| build(x));";
    for registers in [8, 12, 16] {
        let options = format!("#{{registers: {registers}, lanes: 2}}");
        computes(
            declared,
            &format!("schedules::element_operators(l, \"e\", {options})"),
        );
    }
}

#[test]
fn a_few_terms_too_many_are_no_further_block() {
    // A panel takes a sixteenth of the cache for 128 terms.
    for (terms, blocks) in [(128, 1), (144, 1), (145, 2), (272, 2), (273, 3)] {
        let declared = format!(
            "let A = tensor([64, {terms}]); let B = tensor([{terms}, 64]);
             let C = contract(A, B, [2, 1]);"
        );
        let nest = nest(
            &declared,
            "schedules::gemm(build(C), #{mr: 8, nr: 8, mc: 64, l1: 64, l2: 131072})",
        );
        let size = (terms + blocks - 1) / blocks;
        let buffer = format!("B_pack[8][{size}][8]");
        assert!(nest.to_string().contains(&buffer), "{terms}: {nest}");
    }
}

#[test]
fn what_only_the_last_cache_holds_is_fetched_before_it_is_used() {
    let declared = "let A = tensor([32, 32]); let B = tensor([32, 64]);
                    let C = contract(A, B, [2, 1]);";
    for (l2, fetches) in [(4096, true), (65536, false)] {
        let options = format!("#{{mr: 4, nr: 8, mc: 16, kc: 16, l1: 64, l2: {l2}, threads: 1}}");
        let text = nest(declared, &format!("schedules::gemm(build(C), {options})")).to_string();
        for fetched in [
            "for i3_i_2_o in 0..2 prefetch(C, 1 of i2_o_2)",
            "for i3_i_o in 0..2 prefetch(C, 1 of i2_o)",
            "for i3_i_i in 8*i3_i_o + 16*i3_o..8*i3_i_o + 16*i3_o + 8 prefetch(B_pack, 1 of i2_o)",
        ] {
            assert_eq!(text.contains(fetched), fetches, "{text}");
        }
    }
    // All terms of the next block of rows, which follow each other in memory.
    let options = "#{mr: 4, nr: 8, mc: 16, kc: 32, l1: 64, l2: 8192, threads: 1}";
    let text = nest(declared, &format!("schedules::gemm(build(C), {options})")).to_string();
    assert!(text.contains("prefetch(A, 1 of i1_o_o)"), "{text}");
    assert!(!text.contains("A_pack"), "{text}");
}

#[test]
fn products_are_computed_where_they_are_used() {
    // Rows that the result keeps and others, columns that the cache holds and others.
    for options in [
        "#{}",
        "#{lanes: 4, l1: 64, l3: 64, threads: 3}",
        "#{mr: 4, nr: 2, l1: 64}",
        "#{mr: 4, nr: 8, l1: 64}",
    ] {
        for (i, j, k, l) in [
            (1, 1, 1, 1),
            (9, 35, 3, 4),
            (2, 18, 20, 3),
            (24, 11, 13, 1),
            (8, 33, 9, 19),
        ] {
            for used in ["ikj,kj->ij", "ikj,kj->kj", "ikj,ij->j", "ikj,kj->ikj"] {
                let c = if used.contains(",ij") { i } else { k };
                let declared = format!(
                    "let B = tensor([{i}, {k}, {l}]); let D = tensor([{l}, {j}]);
                     let C = tensor([{c}, {j}]); let T = contract(B, D, [3, 1]);
                     let A = einsum(\"{used}\", T, C);"
                );
                let made = format!("schedules::gemm_at(build(T), build(A), {options})");
                computes(&declared, &made);
            }
        }
    }
}

#[test]
fn reductions_of_all_sizes_are_computed() {
    let kinds = [
        "einsum(\"ij,j->i\", A, x)",
        "einsum(\"ij,i->j\", A, z)",
        "einsum(\"ij,i,j->\", A, z, x)",
        "einsum(\"ij->\", A)",
        "einsum(\"ij->i\", A)",
        "max(A, [1])",
        "eq(vmin(vat(A, [2*i, j]), [j]), [i])",
    ];
    let options = [
        "#{threads: 1, lanes: 4}",
        "#{threads: 3, lanes: 1}",
        "#{threads: 2, lanes: 2, l1: 64}",
    ];
    for (m, n) in [
        (1, 1),
        (1, 70),
        (70, 1),
        (7, 9),
        (3, 1500),
        (1500, 3),
        (150, 121),
    ] {
        for order in ["strict", "reassoc"] {
            for kind in kinds {
                let declared = format!(
                    "reductions(\"{order}\");
                     let A = tensor([{m}, {n}]); let x = tensor([{n}]); let z = tensor([{m}]);
                     let y = {kind};"
                );
                for options in options {
                    computes(
                        &declared,
                        &format!("schedules::reduction(build(y), {options})"),
                    );
                }
            }
        }
    }
}

#[test]
fn terms_are_shared_where_partial_results_are_allowed() {
    let schedule = "schedules::reduction(build(y), #{lanes: 2, threads: 2, region: 64})";
    for (kind, order, regrouped) in [
        ("einsum(\"i,i->\", x, x)", "strict", false),
        ("einsum(\"i,i->\", x, x)", "reassoc", true),
        ("max(x, [1])", "strict", true),
    ] {
        let declared = format!("reductions(\"{order}\"); let x = tensor([40000]); let y = {kind};");
        let shown = nest(&declared, schedule).to_string();
        assert_eq!(shown.contains("parallel"), regrouped, "{shown}");
        assert_eq!(shown.contains("vector"), regrouped, "{shown}");
        computes(&declared, schedule);
        let mode = format!("{declared} let verdict = check({schedule});");
        assert_eq!(dialog::shown(&mode, "verdict.legal").unwrap(), "=> true");
    }
}

#[test]
fn transpositions_of_all_sizes_are_computed() {
    for (m, n) in [(1, 20), (7, 8), (8, 8), (16, 41), (83, 70)] {
        for kind in [
            "transpose(A, [[1, 2]])",
            "eq(vadd(A, B, [[i, j], [j, i]]), [j, i])",
            "eq(vat(A, [i, j]), [j + 2, i])",
        ] {
            let declared =
                format!("let A = tensor([{m}, {n}]); let B = tensor([{n}, {m}]); let R = {kind};");
            for options in ["#{lanes: 8}", "#{lanes: 4, l2: 64, l3: 64}"] {
                computes(
                    &declared,
                    &format!("schedules::pointwise(build(R), {options})"),
                );
            }
        }
    }
}

#[test]
fn transpositions_of_many_dimensions_are_read_in_their_order() {
    let declared = "let A = tensor([17, 3, 5, 18]); let R = eq(A, [a, b, c, d] -> [d, c, b, a]);";
    for options in ["#{lanes: 8}", "#{lanes: 4, threads: 3, l2: 64, l3: 64}"] {
        let schedule = format!("schedules::pointwise(build(R), {options})");
        computes(declared, &schedule);
        let text = nest(declared, &schedule).to_string();
        let place = |name: &str| text.find(&format!("for {name} in")).unwrap();
        assert!(place("b") < place("c"), "{text}");
        assert!(text.contains("R_tile"), "{text}");
    }
}

#[test]
fn few_rows_are_computed_while_columns_are_read_once() {
    // More or shorter rows have tiles, as have operands that fit in the caches.
    for (rows, columns, l3, at_once) in [
        (3, 1024, 1 << 16, true),
        (8, 2056, 1 << 16, true),
        (9, 1024, 1 << 16, false),
        (3, 1016, 1 << 16, false),
        (3, 1025, 1 << 16, false),
        (3, 1024, 1 << 20, false),
    ] {
        let declared = format!(
            "let A = tensor([{rows}, 19]); let B = tensor([19, {columns}]);
             let C = contract(A, B, [2, 1]);"
        );
        let options = format!("#{{lanes: 8, threads: 1, l2: 65536, l3: {l3}}}");
        let schedule = format!("schedules::gemm(build(C), {options})");
        computes(&declared, &schedule);
        let text = nest(&declared, &schedule).to_string();
        assert_eq!(text.contains("C_tile"), !at_once, "{text}");
        let last = format!("A[{rows}*i1_o + {}][8*i3_o + 7]", rows - 1);
        assert_eq!(text.contains(&last), at_once, "{text}");
        let mode = format!("{declared} let verdict = check({schedule});");
        assert_eq!(dialog::shown(&mode, "verdict.legal").unwrap(), "=> true");
    }
}

#[test]
fn lanes_are_products_where_these_are_neighbors() {
    for (rows, columns, terms, products) in
        [(2, 2, 1, 3), (3, 5, 4, 8), (9, 4, 3, 21), (5, 17, 2, 150)]
    {
        for (spec, a, b) in [
            (
                "ikb,kjb->ijb",
                format!("{rows}, {terms}"),
                format!("{terms}, {columns}"),
            ),
            (
                "kib,kjb->jib",
                format!("{terms}, {rows}"),
                format!("{terms}, {columns}"),
            ),
            (
                "eilkb,kljb->eijb",
                format!("2, {rows}, 2, {terms}"),
                format!("{terms}, 2, {columns}"),
            ),
        ] {
            let declared = format!(
                "let A = tensor([{a}, {products}]); let B = tensor([{b}, {products}]);
                 let C = einsum(\"{spec}\", A, B);"
            );
            let chosen = "schedules::optimize(build(C)) == schedules::small_gemm(build(C))";
            assert_eq!(
                dialog::shown(&declared, chosen).unwrap(),
                "=> true",
                "{declared}"
            );
            for options in [
                "#{lanes: 8, threads: 1}",
                "#{lanes: 4, threads: 2, registers: 8, l2: 2048, l3: 64}",
            ] {
                let schedule = format!("schedules::small_gemm(build(C), {options})");
                computes(&declared, &schedule);
                let text = nest(&declared, &schedule).to_string();
                assert!(text.contains("C_tile"), "{text}");
                // Columns are in four tiles or more.
                let copied = columns == 17;
                assert_eq!(text.contains("local f64 A_pack"), copied, "{text}");
                let mode = format!("{declared} let verdict = check({schedule});");
                assert_eq!(dialog::shown(&mode, "verdict.legal").unwrap(), "=> true");
            }
        }
    }
    // A vector for each product is read once.
    let declared = "let A = tensor([9, 8, 40]); let x = tensor([8, 40]);
         let y = einsum(\"ikb,kb->ib\", A, x);";
    let chosen = "schedules::optimize(build(y)) == schedules::reduction(build(y))";
    assert_eq!(dialog::shown(declared, chosen).unwrap(), "=> true");
}

#[test]
fn what_tiles_of_products_read_again_is_packed() {
    // A copy pays off if it is read eight times or more, and if the cache does not hold the tensor.
    for (i, l1, packed) in [(8, 64, true), (7, 64, false), (8, 65536, false)] {
        let declared = format!(
            "let B = tensor([{i}, 20, 9]); let D = tensor([9, 33]); let C = tensor([20, 33]);
             let T = contract(B, D, [3, 1]); let A = einsum(\"ikj,kj->ij\", T, C);"
        );
        let options = format!("#{{mr: 4, nr: 8, l1: {l1}, threads: 2}}");
        let made = format!("schedules::gemm_at(build(T), build(A), {options})");
        let text = nest(&declared, &made).to_string();
        assert_eq!(
            text.contains("local f64 C_pack[5][20][8]"),
            packed,
            "{text}"
        );
        assert!(
            text.contains("for i4 in 0..9 prefetch(B, 1 of k_o)"),
            "{text}"
        );
    }
}

#[test]
fn convolutions_of_all_sizes_are_computed() {
    for (images, groups, filters, channels, width) in [
        (1, 1, 1, 1, 1),
        (2, 1, 5, 2, 9),
        (1, 3, 9, 1, 17),
        (3, 2, 4, 2, 35),
    ] {
        let declared = format!(
            "let I = tensor([{images}, {groups}, {channels}, {width} + 2]);
             let W = tensor([{groups}, {filters}, {channels}, 3]);
             let IW = vmul(I, W, [[n, g, c, w + k], [g, f, c, k]]);
             let O = eq(vsum(IW, [c, k]), [n, g, f, w]);"
        );
        for options in ["#{}", "#{mr: 4, nr: 8, l2: 64}"] {
            computes(&declared, &format!("schedules::conv(build(O), {options})"));
        }
    }
}

/// Sums over windows of an image, with one filter for all of it or for each channel. Also with a
/// further sum, with rows apart, across rows alone, along rows alone, and maxima.
const FILTERS: &[&str] = &[
    "eq(vsum(vmul(I, W, [[c, y + p, x + q], [0, p, q]]), [p, q]), [c, y, x])",
    "eq(vsum(vmul(I, W, [[c, y + p, x + q], [c, p, q]]), [p, q]), [c, y, x])",
    "eq(vsum(vmul(I, W, [[c, y + p, x + q], [c, p, q]]), [c, p, q]), [y, x])",
    "eq(vsum(vmul(I, W, [[c, y + p, x + q], [c, p, q]]), [p, q]), [y, c, x])",
    "eq(vsum(vmul(I, W, [[c, y + p, x], [c, p, 0]]), [p]), [c, y, x])",
    "eq(vsum(vmul(I, W, [[c, y, x + q], [c, 0, q]]), [q]), [c, y, x])",
    "eq(vmax(vadd(I, W, [[c, y + p, x + q], [0, p, q]]), [p, q]), [c, y, x])",
];

#[test]
fn filters_of_all_sizes_are_computed() {
    for filter in FILTERS {
        for (height, width) in [(2, 5), (9, 8), (13, 19)] {
            let declared = format!(
                "let I = tensor([3, {height} + 2, {width} + 1]); let W = tensor([3, 3, 2]);
                 let O = {filter};"
            );
            // Rows without a window may be read as one.
            let chosen = "let f = schedules::optimize(build(O)); f == schedules::filters(build(O)) \
                          || f == schedules::reduction(build(O).collapse(\"y\"))";
            let shown = dialog::shown(&declared, chosen);
            assert_eq!(shown.unwrap(), "=> true", "{declared}");
            for options in [
                "#{lanes: 4}",
                "#{mr: 3, nr: 8, lanes: 8, l2: 64, l3: 64, threads: 3}",
            ] {
                let schedule = format!("schedules::filters(build(O), {options})");
                computes(&declared, &schedule);
                let mode = format!("{declared} let verdict = check({schedule});");
                assert_eq!(dialog::shown(&mode, "verdict.legal").unwrap(), "=> true");
            }
        }
    }
}

#[test]
fn images_that_no_cache_holds_are_fetched_and_results_stored_past_it() {
    let declared = "let I = tensor([26, 210]); let W = tensor([3, 3]);
         let O = eq(vsum(vmul(I, W, [[y + p, x + q], [p, q]]), [p, q]), [y, x]);";
    for (l3, far) in [(1 << 10, true), (1 << 20, false)] {
        let options = format!("#{{lanes: 8, l2: 1024, l3: {l3}, threads: 2}}");
        let shown = nest(
            declared,
            &format!("schedules::filters(build(O), {options})"),
        )
        .to_string();
        assert_eq!(shown.contains("stream(O)"), far, "{shown}");
        assert_eq!(shown.contains("prefetch(I, 16)"), far, "{shown}");
        // One vector of more rows, or two of fewer.
        assert_eq!(shown.contains("local f64 O_tile[8][8]"), far, "{shown}");
        assert_eq!(shown.contains("local f64 O_tile[4][16]"), !far, "{shown}");
    }
}

#[test]
fn windows_that_are_no_filters_have_other_schedules() {
    let declared = "let I = tensor([3, 23, 37]); let W = tensor([5, 3, 3, 3]);
         let R = tensor([21, 3]); let L = tensor([9, 9]); let S = tensor([50]);";
    for (result, expected) in [
        // Several filters.
        (
            "eq(vsum(vmul(I, W, [[c, y + p, x + q], [f, c, p, q]]), [c, p, q]), [f, y, x])",
            "conv",
        ),
        // Neighbors in the result are not neighbors in the image, or there are no rows.
        (
            "eq(vsum(vmul(I, W, [[c, y + p, 2*x + q], [0, c, p, q]]), [p, q]), [c, y, x], [3, 21, 18])",
            "reduction",
        ),
        (
            "eq(vsum(vmul(S, L, [[x + q], [0, q]]), [q]), [x])",
            "reduction",
        ),
        // Rows have filters of their own.
        (
            "eq(vsum(vmul(I, R, [[c, y + p, x], [y, p]]), [p]), [c, y, x])",
            "reduction",
        ),
        // The window is too large.
        (
            "eq(vsum(vmul(I, L, [[c, y + p, x + q], [p, q]]), [p, q]), [c, y, x])",
            "reduction",
        ),
    ] {
        let declared = format!("{declared} let O = {result};");
        let chosen = format!("schedules::optimize(build(O)) == schedules::{expected}(build(O))");
        assert_eq!(
            dialog::shown(&declared, &chosen).unwrap(),
            "=> true",
            "{result}"
        );
    }
}

#[test]
fn recurrences_are_scheduled_as_programs_alone() {
    let declared = "let x = tensor([20, 30]); x = eq(vat(x, ";
    for (value, script) in [
        ("[i - 1, j]", "build(x)"),
        ("[i, j - 1]", "build(x)"),
        ("[19 - i, j]", "sweep(x)"),
    ] {
        let declared = format!("{declared}{value}), [i, j]);");
        for schedule in ["pointwise", "stencil"] {
            let nests = match schedule {
                "stencil" => format!("[{script}]"),
                _ => script.to_owned(),
            };
            let error = dialog::shown(&declared, &format!("schedules::{schedule}({nests})"));
            let error = error.unwrap_err();
            assert!(error.contains("must read no elements of `x`"), "{error}");
        }
        let legal = format!("check(schedules::optimize({script})).legal");
        assert_eq!(dialog::shown(&declared, &legal).unwrap(), "=> true");
    }
    // Only itself: any order will do.
    let own = "let x = tensor([20, 30]); x = eq(x * 2, [i, j] -> [i, j]);";
    let legal = dialog::shown(own, "check(schedules::optimize(build(x))).legal");
    assert_eq!(legal.unwrap(), "=> true");
}

#[test]
fn filters_are_lanes_where_neighbors_are_none() {
    // Strides, and rows that would leave vectors half empty, with weights that fit in a cache or
    // not.
    for (filters, width, stride, in_lanes) in [
        (8, 9, 2, true),
        (11, 7, 2, true),
        (8, 5, 1, true),
        (3, 9, 2, false),
        (8, 8, 1, false),
    ] {
        for l2 in [64, 65536] {
            let declared = format!(
                "let I = tensor([2, 3, {stride} * 4 + 3, {stride} * {width} + 3]);
                 let W = tensor([{filters}, 3, 3, 3]);
                 let IW = vmul(I, W, [[n, c, {stride}*h + p, {stride}*w + q], [f, c, p, q]]);
                 let O = eq(vsum(IW, [c, p, q]), [n, f, h, w], [2, {filters}, 4, {width}]);"
            );
            let schedule = format!("schedules::conv(build(O), #{{lanes: 8, l2: {l2}}})");
            computes(&declared, &schedule);
            let text = nest(&declared, &schedule).to_string();
            assert_eq!(text.contains("W_pack"), in_lanes, "{text}");
            let mode = format!("{declared} let verdict = check({schedule});");
            assert_eq!(dialog::shown(&mode, "verdict.legal").unwrap(), "=> true");
        }
    }
}

#[test]
fn sums_of_terms_of_several_tensors_have_tiles() {
    for (m, n, k) in [(2, 1, 1), (9, 35, 7), (21, 16, 40), (33, 8, 3)] {
        let declared = format!(
            "let A = tensor([{m}, {k}]); let B = tensor([{k}, {n}]); let w = tensor([{k}]);
             let P = tensor([{n}, {k}]); let T = tensor([{m}, 3, {k}]); let D = tensor([3, {n}]);
             let E = tensor([{m}, {n}]); let d = vsub(A, P, [[i, k], [j, k]]);"
        );
        for value in [
            "einsum(\"ik,k,kj->ij\", A, w, B)",
            "einsum(\"ilk,lj,kj->ij\", T, D, B)",
            "einsum(\"ilk,kj,ij->lj\", T, B, E)",
            "eq(vsum(vmul(d, d, [(), ()]), [k]), [i, j])",
            "eq(vmin(vadd(A, B, [[i, k], [k, j]]), [k]), [i, j])",
        ] {
            let declared = format!("{declared} let C = {value};");
            let options = "#{mr: 4, nr: 8, mc: 8, nc: 16, kc: 4, l1: 64, l2: 64, threads: 3}";
            for schedule in [
                "schedules::gemm(build(C))".to_owned(),
                format!("schedules::gemm(build(C), {options})"),
            ] {
                computes(&declared, &schedule);
                let mode = format!("{declared} let verdict = check({schedule});");
                assert_eq!(dialog::shown(&mode, "verdict.legal").unwrap(), "=> true");
            }
        }
    }
    // A tensor that is read by rows and by columns has a copy for the columns, made at each read.
    let declared = "let A = tensor([33, 16]); let d = vsub(A, A, [[i, k], [j, k]]);
         let C = eq(vsum(vmul(d, d, [(), ()]), [k]), [i, j]);";
    let text = nest(declared, "schedules::optimize(build(C))").to_string();
    assert!(text.contains("C_tile"), "{text}");
    computes(declared, "schedules::optimize(build(C))");
    // One row is not tiled.
    let declared = "let A = tensor([1, 300]); let B = tensor([300, 40]);
         let C = contract(A, B, [2, 1]);";
    let shown = dialog::shown(
        declared,
        "schedules::optimize(build(C)) == schedules::reduction(build(C))",
    );
    assert_eq!(shown.unwrap(), "=> true");
}

#[test]
fn operands_that_batches_read_again_have_their_terms_in_rows() {
    for (batches, copied) in [(8, true), (7, false)] {
        let declared = format!(
            "let A = tensor([9, 3, {batches}, 5]); let B = tensor([5, 11, 3, 4]);
             let C = einsum(\"aebf,fdec->abcd\", A, B);"
        );
        let text = nest(&declared, "schedules::gemm(build(C))").to_string();
        let copy = "local f64 B_pack[4][3][5][11]";
        assert_eq!(text.contains(copy), copied, "{text}");
        computes(&declared, "schedules::gemm(build(C))");
        let mode = format!("{declared} let verdict = check(schedules::gemm(build(C)));");
        assert_eq!(dialog::shown(&mode, "verdict.legal").unwrap(), "=> true");
    }
}

#[test]
fn what_is_added_to_a_tensor_begins_with_what_that_holds() {
    let declared = "reductions(\"reassoc\");
         let A = tensor([41, 17]); let B = tensor([17, 43]); let C = tensor([41, 43]);
         let AB = vsum(vmul(A, B, [[i, k], [k, j]]), [k]);
         C = eq(vadd(C, AB, [[i, j], ()]), [i, j]);";
    for options in [
        "#{}",
        "#{mr: 4, nr: 8, mc: 8, nc: 16, kc: 4, l1: 64, l2: 64}",
    ] {
        let schedule = format!("schedules::gemm(build(C), {options})");
        computes(declared, &schedule);
        let mode = format!("{declared} let verdict = check({schedule});");
        assert_eq!(dialog::shown(&mode, "verdict.legal").unwrap(), "=> true");
    }
    // It is read, so that it is not stored past the caches.
    let axpy = "let x = tensor([5000]); let y = tensor([5000]);
         y = eq(vadd(2 * x, y, [[i], [i]]), [i]);";
    let text = nest(axpy, "schedules::pointwise(build(y), #{l2: 64, l3: 64})").to_string();
    assert!(!text.contains("stream"), "{text}");
    computes(axpy, "schedules::pointwise(build(y), #{l2: 64, l3: 64})");
}

#[test]
fn chains_are_computed_at_once_where_each_element_is_used_once() {
    for (declared, nests, expected) in [
        (
            "let x = tensor([20, 64]); let y = tensor([20, 64]); let w = tensor([64, 9]);
             let a = stored(x + y); let b = stored(a * x); let c = stored(b - y);",
            "[build(a), build(b), build(c)]",
            "schedules::pointwise(build(a).inline(build(b)).inline(build(c)))",
        ),
        // Rows are one dimension, and a tensor that two nests read is stored.
        (
            "let x = tensor([500]);
             let a = eq(vadd(x, x, [[i], [i + 1]]), [i]); let b = eq(vmul(a, a, [[i], [i + 1]]), [i]);",
            "[build(a), build(b)]",
            "[schedules::pointwise(build(a)), schedules::pointwise(build(b))]",
        ),
        // A product reads its operands again and again.
        (
            "let x = tensor([20, 30]); let w = tensor([30, 9]);
             let a = stored(2 * x); let b = contract(a, w, [2, 1]);",
            "[build(a), build(b)]",
            "[schedules::pointwise(build(a)), schedules::gemm(build(b))]",
        ),
        // The first nest does not set all elements that the second one reads.
        (
            "let x = tensor([40, 50]); let a = tensor([40, 50]); let b = tensor([40, 50]);
             init(a, 0);
             a = eq(vadd(x, x, [[i, j], [i, j + 1]]), [i, j], [40, 50]);
             let l = build(a);
             b = eq(vadd(a, a, [[i, j], [i, j + 1]]), [i, j], [40, 50]);",
            "[l, build(b)]",
            "[schedules::stencil([l]), schedules::stencil([build(b)])]",
        ),
    ] {
        let shown = dialog::shown(
            declared,
            &format!(
                "let list = {nests}; let chosen = schedules::optimize(list);
                 `${{chosen == {expected}}} ${{check(chosen).legal}}`"
            ),
        );
        assert_eq!(shown.unwrap(), "=> \"true true\"", "{expected}");
    }
}

#[test]
fn operators_of_all_sizes_are_computed() {
    for elements in [1, 5] {
        for n in [1, 2, 7, 17] {
            for (between, last) in [
                // Each sum has its own place: rows of a matrix, lanes of a matrix.
                ("eij", "einsum(\"ki,eij->ekj\", A, q)"),
                ("eij", "einsum(\"kj,eij->eik\", A, q)"),
                // Lanes that are not contiguous, and elements that are.
                ("eji", "einsum(\"ki,eji->ekj\", A, q)"),
                ("ije", "einsum(\"ki,ije->kje\", A, q)"),
                // The last one sums nothing, or everything.
                ("eij", "eq(q, [e, i, j] -> [e, j, i])"),
                ("eij", "einsum(\"ij,eij->e\", A, q)"),
            ] {
                let [a, b, c] = between
                    .split("")
                    .filter(|x| !x.is_empty())
                    .collect::<Vec<_>>()[..]
                else {
                    panic!("{between}");
                };
                let declared = format!(
                    "let A = tensor([{n}, {n}]); let u = tensor([{elements}, {n}, {n}]);
                     let D = tensor([{elements}, {n}, {n}]);
                     let t = einsum(\"il,elm->eim\", A, u);
                     let s = einsum(\"jm,eim->{between}\", A, t);
                     let q = mul(s, D, [[{a}, {b}, {c}], [e, i, j]] -> [{a}, {b}, {c}]);
                     let v = {last};"
                );
                // Registers for all rows, and for some of them; copies of blocked loops are blocked
                // as well.
                for options in ["#{lanes: 4}", "#{lanes: 2, registers: 7}"] {
                    let list = "[t, s, q, v].map(|x| build(x))";
                    computes(
                        &declared,
                        &format!("schedules::element_operators({list}, \"e\", {options})"),
                    );
                }
            }
        }
    }
}

#[test]
fn few_rows_of_a_stencil_are_several_vectors_wide() {
    let stencil = |reads: &str, weights: &str| {
        let declared = format!(
            "let A = tensor([40, 128]); let B = eq(2 * A, [y, x] -> [y, x]);
             let R = eq(vstencil(B, {reads}, {weights}), [y, x] -> [y, x]);"
        );
        let options = "#{lanes: 8, registers: 32, l2: 1048576, threads: 1}";
        let call = format!("schedules::stencil([build(B), build(R)], {options})");
        nest(&declared, &call).to_string()
    };
    let three = stencil("[[-1, 0], [0, 0], [1, 0]]", "[1, 1, 1]");
    assert!(three.contains("local f64 B[8][32]"), "{three}");
    // Five rows would leave four of eight that are not computed twice.
    let five = stencil("[[-2, 0], [0, 0], [2, 0]]", "[1, 1, 1]");
    assert!(five.contains("local f64 B[12][8]"), "{five}");
}

/// A product of matrices from which the same statement computes its value.
const WITH_SUMS: &str = "
    let A = tensor([40, 52]); let B = tensor([52, 46]); let C = tensor([40, 46]); let b = tensor([46]);
    let product = veinsum(\"ik,kj\", A, B);
    C = eq(1.5 * vat(product, [i, j]) + 1.2 * vat(C, [i, j]), [i, j]);
    let biased = eq(vrelu(vat(product, [i, j]) + vat(b, [j])), [i, j]);
    let divided = eq(vat(product, [i, j]) / vat(b, [j]), [i, j]);";

#[test]
fn values_of_sums_are_computed_in_tiles() {
    for (of, tile) in [
        ("C", "C_sum_tile"),
        ("biased", "biased_tile"),
        ("divided", "divided_tile"),
    ] {
        let call = format!("schedules::optimize(build({of}))");
        computes(WITH_SUMS, &call);
        let made = nest(WITH_SUMS, &call);
        let text = made.to_string();
        assert!(text.contains(&format!("local f64 {tile}[")), "{text}");
        // No tensor between the sum and the value is an argument, or in memory.
        let tensors = made.tensors();
        let names: Vec<&str> = tensors.iter().map(|t| t.label()).collect();
        assert!(
            !names.contains(&"AB") && !names.contains(&"C_sum"),
            "{text}"
        );
        assert!(!text.contains("C_sum["), "{text}");
    }
    // The definition is that of the nest as it was built.
    let shown = dialog::shown(
        WITH_SUMS,
        "let made = schedules::optimize(build(C)); `${check(made, build(C)).legal}`",
    );
    assert_eq!(shown.unwrap(), "=> \"true\"");
}

#[test]
fn sums_compute_nothing_again() {
    let declared = "
        let A = tensor([9, 8]); let B = tensor([8, 7]); let C = tensor([7, 6]); let x = tensor([6]);
        let far = einsum(\"ij,jk,kl,l->i\", A, B, C, x);
        let repeated = eq(vsum(vexp(vat(A, [i, k])) * vat(B, [k, j]), [k]), [i, j]);";
    let count = |before: &str, of: &str| {
        let expression = format!("operations(schedules::optimize(build({of})))");
        let shown = dialog::shown(&format!("{before}{declared}"), &expression).unwrap();
        shown.trim_start_matches("=> ").parse::<u64>().unwrap()
    };
    let reassociated = "reductions(\"reassoc\");";
    // In the order in which it is written, only the first product does not depend on `l`.
    assert_eq!(count("", "far"), 9 * 8 * 7 + 3 * 9 * 8 * 7 * 6);
    assert_eq!(count(reassociated, "far"), 2 * (7 * 6 + 8 * 7 + 9 * 8));
    assert_eq!(count("", "repeated"), 9 * 8 + 2 * 9 * 8 * 7);
}

#[test]
fn symmetric_results_are_computed_once() {
    let declared = "
        let A = tensor([600, 600]); let C = einsum(\"ik,jk->ij\", A, A);
        let plan = schedules::optimize(build(C));";
    let shown = dialog::shown(declared, "`${operations(plan)} ${check(plan).legal}`").unwrap();
    assert_eq!(shown, format!("=> \"{} true\"", 600 * 601 / 2 * 600 * 2));
    // Small ones take longer in halves.
    let small = declared.replace("600", "40");
    let shown = dialog::shown(&small, "operations(plan)").unwrap();
    assert_eq!(shown, format!("=> {}", 40 * 40 * 40 * 2));
    // Halves that do not touch, and elements that change places.
    for ranges in ["j: 0..i", "j: i + 1..9", "i: 0..5, j: 5..9"] {
        let declared =
            format!("let C = tensor([9, 9]); C = eq(C, [i, j] -> [j, i], #{{{ranges}}});");
        computes(&declared, "schedules::optimize(build(C))");
    }
    computes(
        "let C = tensor([9, 9]); C = eq(C, [i, j] -> [j, i]);",
        "schedules::optimize(build(C))",
    );
}

#[test]
fn sums_are_divided_instead_of_their_terms() {
    let declared = "
        let E = tensor([40, 30]); let V = tensor([30, 20]);
        let s = tensor([40]); let c = tensor([30]);
        let Q = eq(vat(E, [i, j]) / vat(s, [i]), [i, j]);
        let O = einsum(\"ij,jd->id\", Q, V);
        let alone = eq(vsum(vat(E, [i, j]) / vat(s, [i]) * vat(V, [j, d]), [j]), [i, d]);
        let R = eq(vat(alone, [i, d]) + 1, [i, d]);
        let other = eq(vat(E, [i, j]) / vat(c, [j]), [i, j]);
        let P = einsum(\"ij,jd->id\", other, V);
        let steps = |given| {
            let made = schedules::optimize(given.map(|t| build(t)));
            if type_of(made) == \"nest\" { made = [made]; }
            `${made.reduce(|sum, n| sum + operations(n), 0)} ${check(made).legal}`
        };";
    let product = 2 * 40 * 30 * 20;
    let count = |before: &str, of: &str| {
        dialog::shown(&format!("{before}{declared}"), &format!("steps.call({of})")).unwrap()
    };
    let reassociated = "reductions(\"reassoc\");";
    let shown = |operations: i32| format!("=> \"{operations} true\"");
    assert_eq!(count(reassociated, "[Q, O]"), shown(product + 40 * 20));
    assert_eq!(
        count(reassociated, "[alone, R]"),
        shown(product + 2 * 40 * 20)
    );
    // Numbers may not be rounded otherwise, and divisors differ.
    assert_eq!(count("", "[Q, O]"), shown(product + 40 * 30));
    assert_eq!(count(reassociated, "[other, P]"), shown(product + 40 * 30));
}
