//! Hints about loops in the C: prefetches, remarks, lanes, thresholds.

use crate::teml::trees::{becomes, level, nest};
use teml::codegen::generate;
use teml::legality::Reductions;
use teml::transform::Arg;
use teml::transform::nest::reverse::REVERSE;
use teml::transform::nest::stripmine::STRIPMINE;

/// The lines of the C that start like this, of a nest whose tensors are declared here.
fn lines(start: &str, loops: &[&str]) -> Vec<String> {
    let declared = ["f64 A[9][20], B[9][20], R[100]"];
    let nest = nest(&[&declared, loops].concat());
    let kernel = generate(&[nest], "kernel", Reductions::Strict).unwrap_or_else(|e| panic!("{e}"));
    let lines = kernel.function.lines().map(str::trim);
    let lines = lines.filter(|l| l.starts_with(start));
    lines.map(str::to_owned).collect()
}

/// Where sizes decide how much a later iteration touches, each iteration fetches lines until all are.
#[test]
fn lines_of_tensors_with_sizes() {
    let text = |dims: &str, loops: &[&str]| {
        let begin = ["size B, N, M".to_owned(), format!("f64 A{dims}, C{dims}")];
        let lines = begin
            .into_iter()
            .chain(loops.iter().map(|l| (*l).to_owned()));
        let lines: Vec<String> = lines.collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let kernel = generate(&[nest(&lines)], "kernel", Reductions::Strict);
        kernel.unwrap_or_else(|e| panic!("{e}")).function
    };
    let loops = [
        "parallel for b in 0..B",
        "  for i in 0..N prefetch(A, 2 of b)",
        "    for j in 0..M",
        "      C[b][i][j] = A[b][i][j]",
    ];
    let all = text("[B][N][M]", &loops);
    let expected = "__builtin_prefetch((const char *)&A[((teml_min64(b + 2, B - 1))*N)*M] + \
                    64*teml_min64(125*(i) + teml_line, (8*(N)*(M) - 1)/64));";
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain(&all).contains(&plain(expected)), "{all}");
    // Only some of the rows of the later iteration.
    let part = loops.map(|line| line.replace("0..N", "1..N"));
    let part = text("[B][N][M]", &part.each_ref().map(String::as_str));
    assert!(!part.contains("__builtin_prefetch"), "{part}");
}

#[test]
fn shares_are_all_that_a_later_iteration_touches() {
    // 27 rows of 9 elements are 31 lines, for 4 * 3 iterations: 3 for each.
    let kernel = |lines: &[&str]| {
        let kernel = generate(&[nest(lines)], "kernel", Reductions::Strict);
        kernel.unwrap_or_else(|e| panic!("{e}")).function
    };
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let fetches = |lines: &[&str], expected: &str| {
        let text = kernel(lines);
        assert!(plain(&text).contains(&plain(expected)), "{text}");
    };
    let batches = [
        "f64 A[5][27][9], B[5][27][9]",
        "for b in 0..5",
        "  for i in 0..4",
        "    for j in 2..5 prefetch(A, 1 of b)",
        "      for k in 0..27",
        "        for l in 0..9",
        "          B[b][k][l] += A[b][k][l]",
    ];
    let expected = "TEML_UNROLL(3)
                for (int64_t teml_line = 0; teml_line < 3; teml_line++) {
                    __builtin_prefetch((const char *)&A[teml_min64(b + 1, 4)][0][0] + \
                    teml_min64(576*i + 192*j - 384 + 64*teml_line, 1943));
                }";
    fetches(&batches, expected);

    // Four lines for twelve iterations, prefetched at a steady pace up to the last element.
    let few = batches.map(|line| line.replace("[27][9]", "[4][8]").replace("0..27", "0..4"));
    let few = few.each_ref().map(|line| line.replace("0..9", "0..8"));
    fetches(
        &few.each_ref().map(String::as_str),
        "[0][0] + teml_min64(72*i + 24*j - 48, 255));",
    );

    // Rows of blocks with a tail, which share nothing with the iterations of other loops.
    let blocks = [
        "f64 A[10][8], B[10][8]",
        "for o in 0..3",
        "  for i in 4*o..min(4*o + 4, 10) prefetch(A, 2 of o)",
        "    for j in 0..8",
        "      B[i][j] = A[i][j]",
    ];
    // Four rows that do not fit behind the sixth one are the last four.
    let expected = "__builtin_prefetch((const char *)&A[teml_min64(4*o + 8, 6)][0] + 64*i);";
    fetches(&blocks, expected);

    // Two lines with five shares each.
    fetches(
        &[
            "f64 A[5][9], B[5][9]",
            "for b in 0..5",
            "  for i in 0..10 prefetch(A, 1 of b)",
            "    for k in 0..9",
            "      B[b][k] += A[b][k]",
        ],
        "&A[teml_min64(b + 1, 4)][0] + teml_min64(8*i, 71));",
    );

    // Columns of several rows, which each iteration that reads one fetches of it: two lines.
    fetches(
        &[
            "f64 A[10][90], B[10][90]",
            "for o in 0..10",
            "  for y in 0..10 prefetch(A, 2 of o)",
            "    for x in 0..9",
            "      B[y][9*o + x] = A[y][9*o + x]",
        ],
        "TEML_UNROLL(2)
            for (int64_t teml_line = 0; teml_line < 2; teml_line++) {
                __builtin_prefetch((const char *)&A[y][teml_min64(9*o + 18, 81)] + 64*teml_line);
            }",
    );

    // Overlapping blocks: fetches only elements that the previous block has not fetched. Here it is
    // the line of the last of ten elements, and four iterations further ahead with each row.
    fetches(
        &[
            "f64 A[10][90], B[10][90]",
            "for o in 0..10",
            "  for y in 3..10 prefetch(A, 2 by 4 of o)",
            "    for x in 0..8",
            "      B[y][8*o + x] = A[y][8*o + x] + A[y][8*o + x + 1] + A[y][8*o + x + 2]",
        ],
        "__builtin_prefetch(&A[y][teml_min64(8*o + 32*y - 71, 89)]);",
    );

    // Two more lines with each block.
    fetches(
        &[
            "f64 A[10][90], B[10][90]",
            "for o in 0..5",
            "  for y in 0..10 prefetch(A, 1 of o)",
            "    for x in 0..16",
            "      B[y][16*o + x] = A[y][16*o + x] + A[y][16*o + x + 2]",
        ],
        "TEML_UNROLL(2)
            for (int64_t teml_line = 0; teml_line < 2; teml_line++) {
                __builtin_prefetch((const char *)&A[y][teml_min64(16*o + 25, 81)] + 64*teml_line);
            }",
    );

    // Blocks that leave something out between them are fetched from their first element on.
    fetches(
        &[
            "f64 A[10][190], B[10][190]",
            "for o in 0..3",
            "  for y in 0..10 prefetch(A, 1 of o)",
            "    for x in 0..50",
            "      B[y][56*o + x] = A[y][56*o + x]",
        ],
        "__builtin_prefetch((const char *)&A[y][teml_min64(56*o + 56, 140)] + 64*teml_line);",
    );

    // After the last blocks of a row come the first ones of the next.
    let rows = [
        "f64 A[10][90], B[10][90]",
        "for y in 0..10",
        "  for o in 1..11",
        "    for i in 0..2 prefetch(A, 3 of o)",
        "      for x in 0..8",
        "        B[y][8*o + x] = A[y][8*o + x]",
    ];
    fetches(
        &rows,
        "__builtin_prefetch((const char *)(o + 3 < 11 ? &A[y][8*o + 24] : \
         &A[teml_min64(y + 1, 9)][8*o - 56]) + 63*i);",
    );
    // A tensor that is local to each outer iteration has no next iteration to fetch for.
    let own = rows.map(|line| {
        line.replace("= A[y]", "= T[y]")
            .replace("fetch(A", "fetch(T")
    });
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let local = [
        "  local f64 T[10][90]",
        "  for k in 0..90",
        "    T[y][k] = A[y][k]",
    ];
    fetches(
        &[&own[..2], &local, &own[2..]].concat(),
        "__builtin_prefetch((const char *)&T[y][teml_min64(8*o + 24, 82)] + 63*i);",
    );

    // Rows of a block, which a loop fetches that does not use them: six of two lines, in five
    // parts.
    fetches(
        &[
            "f64 A[12][90], B[12][90], R[5]",
            "for o in 0..10",
            "  for t in 0..2",
            "    for s in 0..5 prefetch(A, 1 of o)",
            "      R[s] += 1",
            "    for y in 6*t..6*t + 6",
            "      for x in 0..9",
            "        B[y][9*o + x] = A[y][9*o + x]",
        ],
        "TEML_UNROLL(3)
            for (int64_t teml_line = 0; teml_line < 3; teml_line++) {
                __builtin_prefetch((const char *)\
                &A[6*t + teml_min64(3*s + teml_line, 11)/2][teml_min64(9*o + 9, 81)] \
                + 64*(teml_min64(3*s + teml_line, 11)%2));
            }",
    );

    // If the loop is gone, nothing is prefetched.
    let gone = batches.map(|line| line.replace("of b", "of q"));
    let text = kernel(&gone.each_ref().map(String::as_str));
    assert!(!text.contains("prefetch"), "{text}");
}

#[test]
fn fetched_elements_exist() {
    let fetched = |head: &str, statement: &str| {
        let lines = lines(
            "__builtin",
            &[head, "  for j in 3..9", &format!("    {statement}")],
        );
        lines.join(" ")
    };
    assert_eq!(
        fetched("for i in 0..9 prefetch(A, 2)", "B[i][j] = A[i][j]"),
        "__builtin_prefetch(&A[teml_min64(i + 2, 8)][3]);"
    );
    // In range, so that nothing is cut off.
    assert_eq!(
        fetched("for i in 0..7 prefetch(A, 2)", "B[i][j] = A[i][j]"),
        "__builtin_prefetch(&A[i + 2][3]);"
    );
    // Written, backwards, in steps.
    assert_eq!(
        fetched(
            "for i in 0..9 step 2 prefetch(B, 3)",
            "B[8 - i][j] = A[i][j]"
        ),
        "__builtin_prefetch(&B[teml_max64(2 - i, 0)][3], 1);"
    );
    assert_eq!(
        fetched("for i in 0..9 prefetch(B, 99)", "B[8 - i][j] = A[i][j]"),
        "__builtin_prefetch(&B[teml_max64(-i - 91, 0)][3], 1);"
    );
    // One fetch for accesses that may share a cache line of 64 bytes.
    assert_eq!(
        fetched(
            "for i in 0..7 prefetch(A, 2)",
            "B[i][j] = A[i][j] + A[i][j - 3] + A[i + 1][j]"
        ),
        "__builtin_prefetch(&A[i + 2][3]); __builtin_prefetch(&A[teml_min64(i + 3, 8)][3]);"
    );
    // One fetch per element, and none for invariant elements.
    assert_eq!(
        fetched(
            "for i in 0..9 prefetch(R, 1)",
            "B[i][j] = R[i] + R[i] + R[j] + R[50 + i - j]"
        ),
        "__builtin_prefetch(&R[i + 1]); __builtin_prefetch(&R[i + 48]);"
    );
    // Loops inside start where their bounds say.
    let skewed = [
        "for i in 0..9 prefetch(R, 4)",
        "  for j in 2*i..2*i + 5",
        "    for k in max(j, i)..j + 3",
        "      R[k] = A[i][0]",
    ];
    assert_eq!(
        lines("__builtin", &skewed),
        ["__builtin_prefetch(&R[2*i + 8], 1);"]
    );
    // Beyond 32 bits nothing wraps around.
    let far = 1i64 << 39;
    let head = format!("for i in 0..9 prefetch(A, {far})");
    assert_eq!(
        fetched(&head, "B[i][j] = A[i][j]"),
        format!("__builtin_prefetch(&A[teml_min64(i + {far}, 8)][3]);")
    );
}

#[test]
fn thresholds_count_what_is_shared() {
    // The loop follows once more, for one thread.
    let threads = |heads: [&str; 2]| {
        let statement = "    B[i][j] = A[i][j]";
        let nest = [heads[0], &format!("  {}", heads[1]), statement];
        let (tests, pragmas) = (lines("if (", &nest), lines("#pragma", &nest));
        (
            tests.join(" "),
            pragmas.join(" ").replace("#pragma omp ", ""),
        )
    };
    let pair = |test: &str, pragma: &str| (format!("if ({test}) {{"), pragma.to_owned());
    assert_eq!(
        threads(["parallel from(7) for i in 2..9", "for j in 0..20"]),
        pair("7 >= 7", "parallel for")
    );
    assert_eq!(
        threads(["parallel from(7) work(200) for i in 2..9", "for j in 0..20"]),
        pair("7 >= 7 && 140.0 >= 200", "parallel for")
    );
    assert_eq!(
        threads([
            "parallel collapse(2) dynamic(4) from(7) for i in 0..9 step 2",
            "for j in 0..20"
        ]),
        pair("100 >= 7", "parallel for collapse(2) schedule(dynamic, 4)")
    );
    assert_eq!(
        threads(["for i in 0..9", "parallel guided from(7) for j in i..20"]),
        pair("20 - i >= 7", "parallel for schedule(guided)")
    );
    assert_eq!(
        threads([
            "for i in 0..19",
            "parallel from(7) for j in i..min(20, 2*i) step 3"
        ]),
        pair("(teml_min64(20, 2*i) - (i) + 2) / 3 >= 7", "parallel for")
    );
    assert_eq!(
        threads([
            "for i in 0..9",
            "parallel from(7) vector lanes(4) for j in max(i, 3)..20"
        ]),
        pair(
            "20 - teml_max64(i, 3) >= 7",
            "parallel for simd safelen(4) simdlen(4) simd safelen(4) simdlen(4)"
        )
    );
}

#[test]
fn stripmine_keeps_what_is_stored_past_the_caches() {
    becomes(
        &STRIPMINE,
        &[
            "f64 R[100], S[100]",
            "vector for i in 0..100 stream(R)",
            "  R[i] = S[i]",
        ],
        &[level(1), Arg::Int(8)],
        &[
            "for i_o in 0..13",
            "  vector for i_i in 8*i_o..min(8*i_o + 8, 100) stream(R)",
            "    R[i_i] = S[i_i]",
        ],
    );
}

#[test]
fn remarks_are_comments() {
    let loops = ["for i in 0..9 // rows; \"A\" // B", "  B[i][0] = A[i][0]"];
    let comments = lines("//", &loops);
    assert_eq!(comments.last().unwrap(), "// rows; \"A\" // B");
}

#[test]
fn stripmine_hands_on_what_is_said_of_a_loop() {
    let (tensors, statement) = ("f64 R[100], S[100]", "  R[i] = S[i]");
    becomes(
        &STRIPMINE,
        &[
            tensors,
            "parallel dynamic(9) from(50) vector lanes(4) for i in 0..100 // hot",
            statement,
        ],
        &[level(1), Arg::Int(8)],
        &[
            "parallel dynamic(2) from(7) for i_o in 0..13",
            "  vector lanes(4) for i_i in 8*i_o..min(8*i_o + 8, 100) // hot",
            "    R[i_i] = S[i_i]",
        ],
    );
    for axis in ["grid.y", "block.x", "lane"] {
        let before = format!("{axis} for i in 0..100");
        let after = format!("{axis} for i_o in 0..13");
        let within = "  for i_i in 8*i_o..min(8*i_o + 8, 100)";
        becomes(
            &STRIPMINE,
            &[tensors, &before, statement],
            &[level(1), Arg::Int(8)],
            &[&after, within, "    R[i_i] = S[i_i]"],
        );
    }
    // A reversed loop prefetches lower indices.
    let before = [tensors, "for i in 0..100 prefetch(S, 8)", statement];
    let after = ["for i in 0..100 prefetch(S, 8)", "  R[99 - i] = S[99 - i]"];
    becomes(&REVERSE, &before, &[level(1)], &after);
}

#[test]
fn a_local_tensor_of_an_iteration_is_not_fetched_before_it() {
    let own = [
        "for i in 0..9 prefetch(t, 1)",
        "  local f64 t[9]",
        "  t[i] = A[i][0]",
        "  B[i][0] = t[i]",
    ];
    assert_eq!(lines("__builtin", &own), [] as [&str; 0]);
}

#[test]
fn iterations_worth_a_call_are_functions() {
    let calls = |head: &str, inner: &str| {
        let statement = "      B[i][j] = A[i][k] * R[k]";
        let loops = [
            "for i in 0..9",
            &format!("  {head}"),
            &format!("    {inner}"),
            statement,
        ];
        lines("teml_kernel_1(", &loops)
    };
    let columns = "parallel for j in 0..20";
    // Too little to do.
    assert_eq!(calls(columns, "for k in 0..20"), [] as [&str; 0]);
    // The iterators and tensors that an iteration mentions.
    let called = ["teml_kernel_1(i, j, B, A, R);"];
    assert_eq!(calls(columns, "for k in 0..40"), called);
    assert_eq!(calls(columns, "for k in i..i + 40"), called);
    // Lanes are inside of the call.
    assert_eq!(
        calls("parallel vector for j in 0..20", "for k in 0..40"),
        ["teml_kernel_1(i, j_o, B, A, R);"]
    );
    // All loops that share their iterations are around the call.
    let shared = [
        "parallel collapse(2) for i in 0..9",
        "  for j in 0..20",
        "    for k in 0..50",
        "      B[i][j] = R[k]",
    ];
    assert_eq!(
        lines("teml_kernel_1(", &shared),
        ["teml_kernel_1(i, j, B, R);"]
    );
}
