//! Options, and what is refused.

use super::{nest, shown, string};

const PRODUCT: &str = "
    let A = tensor([40, 35]);
    let B = tensor([35, 50]);
    let C = contract(A, B, [2, 1]);
    let l = build(C);";

/// Asserts that a call is refused with a message that contains this part.
#[track_caller]
fn refused(script: &str, call: &str, part: &str) {
    match shown(script, call) {
        Ok(value) => panic!("{value}"),
        Err(message) => assert!(message.contains(part), "{message}"),
    }
}

#[test]
fn sizes_and_switches() {
    let text = |options: &str| nest(PRODUCT, &format!("pluto(l, {options})")).to_string();
    let plain = text(
        "#{tile: false, parallel: false, prevector: false, intratileopt: false, unrolljam: false}",
    );
    assert_eq!(plain, nest(PRODUCT, "l").to_string());
    let sizes = text("#{tile_sizes: [8, 16], unrolljam: false}");
    for part in ["8*i1_o + 8", "16*i2_o + 16", "16*i3_o + 16"] {
        assert!(sizes.contains(part), "{sizes}");
    }
    let twice = text(
        "#{second_level_tile: true, second_level_tile_sizes: [2], tile_sizes: [4], unrolljam: false}",
    );
    for part in ["for i1_o_o in 0..5", "2*i1_o_o + 2", "4*i1_o_i + 4"] {
        assert!(twice.contains(part), "{twice}");
    }
}

/// Two products that share two loops over tiles, after one that shares none.
const PRODUCTS: &str = "
    let A = tensor([40, 50]);
    let B = tensor([50, 45]);
    let C = tensor([45, 60]);
    let D = tensor([60, 55]);
    let E = contract(A, B, [2, 1]);
    let F = contract(C, D, [2, 1]);
    let G = contract(E, F, [2, 1]);
    let l = [build(E), build(F), build(G)];";

#[test]
fn sizes_by_statement() {
    let steps = |options: &str| -> Vec<String> {
        let path = string(PRODUCTS, &format!("`${{path(pluto(l, {options}))}}`"));
        let steps = path.split(".stripmine(").skip(1);
        steps
            .map(|s| s.split(')').next().unwrap_or(s).to_owned())
            .collect()
    };
    let sizes = |options: &str| -> Vec<i64> {
        let size = |s: String| s.split(", ").nth(1).unwrap().parse().unwrap();
        steps(options).into_iter().map(size).collect()
    };
    // F first, then both loops that E and G share, and one of each.
    let by_name = "tile_sizes: #{F: [8, 4], E: [16, 6, 10], G: [16, 6, 5]}";
    let off = "unrolljam: false";
    let expected = [8, 4, 4, 16, 6, 10, 16, 6, 5];
    assert_eq!(sizes(&format!("#{{{off}, {by_name}}}")), expected);
    // A loop gets the tile size of a statement that it contains; the last size is repeated.
    let one = "tile_sizes: #{S3: [16, 6, 5]}";
    let expected = [32, 32, 32, 16, 6, 32, 16, 6, 5];
    assert_eq!(sizes(&format!("#{{{off}, {one}}}")), expected);
    let twice = "second_level_tile: true, second_level_tile_sizes: #{E: [2, 3, 4]}";
    let expected = [
        32, 32, 32, 8, 8, 8, 32, 32, 32, 2, 3, 4, 32, 32, 32, 2, 3, 8,
    ];
    assert_eq!(sizes(&format!("#{{{off}, {twice}}}")), expected);
    for options in [by_name, one, twice] {
        let call = format!("check(pluto(l, #{{{options}}})).message");
        assert_eq!(string(PRODUCTS, &call), "legal", "{options}");
    }
}

#[test]
fn sizes_that_do_not_fit_statements() {
    for (options, part) in [
        (
            "#{tile_sizes: #{H: [8]}}",
            "the option `tile_sizes` has sizes for `H`, which is neither what a statement writes nor \
             `S` and a statement's number: there are statement 1 (of E), statement 2 (of F), \
             statement 3 (of G)",
        ),
        (
            "#{second_level_tile_sizes: #{S4: [8]}}",
            "the option `second_level_tile_sizes` has sizes for `S4`",
        ),
        (
            "#{tile_sizes: #{F: [8, 8, 8, 8]}}",
            "too many sizes for statement 2 (of F): 4, and the number of its tiled loops is 3",
        ),
        (
            "#{tile_sizes: #{E: [8]}, tile: false}",
            "too many sizes for statement 1 (of E): 1, and the number of its tiled loops is 0",
        ),
        (
            "#{second_level_tile_sizes: #{E: [8]}}",
            "too many sizes for statement 1 (of E): 1, and the number of its tiled loops is 0",
        ),
        (
            "#{tile_sizes: #{E: [8, 16], G: [8, 4]}}",
            "statement 1 (of E) and statement 3 (of G) share a loop over tiles, whose size in the \
             option `tile_sizes` is 16 for the one and 4 for the other",
        ),
        (
            "#{tile_sizes: #{E: 8}}",
            "the option `tile_sizes` must be a list of sizes from 1 on",
        ),
        (
            "#{tile_sizes: #{E: []}}",
            "the option `tile_sizes` must be a list of sizes from 1 on",
        ),
    ] {
        refused(PRODUCTS, &format!("pluto(l, {options})"), part);
    }
}

const DIAGONAL: &str = "
    let x = tensor([3, 11, 31]);
    let y = tensor([31]);
    x = eq(vadd(x, y, [[1, i + 1, j + 1], [j]]), [1, i, j], #{i: 0..10, j: 0..30});
    let l = build(x);";

#[test]
fn iterations_side_by_side_take_what_their_loop_carried_inside() {
    // Jammed rows would read elements that other lanes assign.
    let text = nest(DIAGONAL, "pluto(l, #{diamondtile: false})").to_string();
    assert!(text.contains("vector for"), "{text}");
    assert_eq!(text.matches("x[1][").count(), 2, "{text}");
    let options = "#{diamondtile: false, prevector: false, parallel: false}";
    let text = nest(DIAGONAL, &format!("pluto(l, {options})")).to_string();
    assert_eq!(text.matches("x[1][").count(), 18, "{text}");
}

#[test]
fn the_other_side_of_a_diamond_need_not_touch_a_dependence() {
    let text = nest(DIAGONAL, "pluto(l)").to_string();
    assert!(text.contains("j_s"), "{text}");
}

#[test]
fn what_pluto_began_from_does_not_matter() {
    let plan = "l.tile(4).interchange(1, 2).parallelize(1)";
    assert_eq!(
        nest(PRODUCT, &format!("pluto({plan})")),
        nest(PRODUCT, "pluto(l)")
    );
}

#[test]
fn options_that_there_are_not() {
    refused(
        PRODUCT,
        "pluto(l, #{tiles: true})",
        "there is no option `tiles`: the options are tile, tile_sizes",
    );
    for (options, part) in [
        ("#{tile: 3}", "the option `tile` must be true or false"),
        ("#{ufactor: 0}", "the option `ufactor` must be a number"),
        (
            "#{tile_sizes: 32}",
            "the option `tile_sizes` must be a list",
        ),
        (
            "#{tile_sizes: [0]}",
            "the option `tile_sizes` must be a list",
        ),
        ("#{fuse: \"some\"}", "the option `fuse` must be \"nofuse\""),
        ("3", "must be options such as `#{tile: false}`"),
    ] {
        refused(PRODUCT, &format!("pluto(l, {options})"), part);
    }
}

#[test]
fn what_is_out_of_reach() {
    let script = "
        let A = tensor([8]);
        let B = tensor([8]);
        B = eq(vstencil(A, [[-1], [1]], [0.5, 0.5]), [i] -> [i], [8]);
        let first = build(B);
        A = eq(B, [i] -> [i]);
        let steps = fuse_outer(first, build(A), 0).repeat(\"t\", 10);
        let C = eq(A, [i] -> [i]);
        let joined = fuse_outer(steps, build(C), 0);";
    assert_eq!(
        nest(script, "pluto(joined)"),
        nest(script, "pluto([steps, build(C)])")
    );
}

/// Asserts that a call gives nests that are legal.
#[track_caller]
fn legal(script: &str, call: &str) {
    let answer = string(script, &format!("`${{check({call}).legal}}`"));
    assert_eq!(answer, "true", "{call}");
}

#[test]
fn tiles_are_as_small_as_the_skew() {
    let script = "
        let A = tensor([8]);
        let B = tensor([8]);
        B = eq(vstencil(A, [[-1], [1]], [0.5, 0.5]), [i] -> [i], [8]);
        let first = build(B);
        A = eq(B, [i] -> [i]);
        let steps = fuse_outer(first, build(A), 0).repeat(\"t\", 10);";
    legal(
        script,
        "pluto(steps, #{diamondtile: false, tile_sizes: [2]})",
    );
}

/// Loops around `e` would be moved past the statement without loops.
#[test]
fn statements_without_loops_stay_where_they_are() {
    let script = "
        let x = tensor([9, 8]);
        let b = stored(2 * x);
        let c = eq(vmax(vat(b, [j, k]), [j, k]), []);
        let d = eq(vadd(c, c, [[], []]), []);
        let e = stored(3 * x);
        let nests = [build(b), build(c), build(d), build(e)];";
    for fuse in ["typedfuse", "maxfuse", "smartfuse", "hybridfuse"] {
        legal(script, &format!("pluto(nests, #{{fuse: \"{fuse}\"}})"));
    }
}

/// Elements beyond the range of a statement keep their values.
#[test]
fn fills_of_more_than_is_used() {
    let script = "
        let a = tensor([9]);
        let b = stored(2 * a);
        let c = eq(vat(b, [i]), [i + 2], [12], 1.0);
        let nests = [build(b), build(c)];";
    legal(script, "pluto(nests)");
}

/// Local tensors, and initializations in loops, are serial for Pluto, which renames nothing.
#[test]
fn loops_that_have_to_stay_are_parallel_inside() {
    let script = "
        let x = tensor([8]);
        let M = tensor([8, 8]);
        let y = eq(vsum(vmul(M, x, [[i, k], [k]]), [k]), [i]);
        let product = build(y);
        x = eq(0.5 * y, [i] -> [i]);
        let anew = fuse_outer(product, build(x), 0).repeat(\"t\", 3);";
    let text = nest(script, "pluto(anew)").to_string();
    assert!(text.contains("for t in 0..3"), "{text}");
    assert!(text.contains("parallel for i in 0..8"), "{text}");
    // A request for diamonds gets the reason why there are none.
    refused(
        script,
        "pluto(anew, #{diamondtile: true})",
        "the loops keep their order: y is initialized anew in each iteration of a loop",
    );
    let local = "
        let x = tensor([8]);
        let l = nest(`
          ${x}
          for t in 0..4
            local f64 old
            old = x[0]
            for i in 1..8
              x[i - 1] = 0.5 * (x[i] + old)
        `);";
    refused(
        local,
        "pluto(l, #{diamondtile: true})",
        "share the local tensor old, as they share a scalar in Pluto, which renames none",
    );
}

#[test]
fn fusion_that_keeps_loops_parallel() {
    // A recurrence, and a copy of it: Pluto's test of typed fusion.
    let script = "
        let a = tensor([40]);
        let b = tensor([40]);
        let l = nest(`
          ${a}
          ${b}
          for i in 2..40
            a[i] = a[i - 1] + a[i - 2]
          for i in 0..40
            b[i] = a[i]
        `);";
    let text = |fuse: &str| {
        let call = format!("pluto(l, #{{tile: false, fuse: \"{fuse}\"}})");
        nest(script, &call).to_string()
    };
    assert!(
        !text("smartfuse").contains("parallel"),
        "{}",
        text("smartfuse")
    );
    for fuse in ["typedfuse", "hybridfuse"] {
        assert!(text(fuse).contains("parallel"), "{}", text(fuse));
    }
}

/// Rows of a recurrence, and a copy: the rows are parallel in both, what is in them is not.
#[test]
fn fusion_that_keeps_loops_parallel_inside() {
    let script = "
        let a = tensor([40, 40]);
        let b = tensor([40, 40]);
        let l = nest(`
          ${a}
          ${b}
          for i in 0..40
            for j in 1..40
              a[i][j] = a[i][j] + a[i][j - 1]
          for i in 0..40
            for j in 1..40
              b[i][j] = a[i][j]
        `);";
    for (fuse, inner) in [("typedfuse", 2), ("hybridfuse", 1), ("maxfuse", 1)] {
        for tile in [false, true] {
            let call = format!("pluto(l, #{{tile: {tile}, fuse: \"{fuse}\"}})");
            assert_eq!(string(script, &format!("check({call}).message")), "legal");
            if !tile {
                let text = nest(script, &call).to_string();
                assert_eq!(text.matches("parallel for i in").count(), 1, "{text}");
                assert_eq!(text.matches("for j").count(), inner, "{text}");
                assert_eq!(text.contains("vector for j"), inner == 2, "{text}");
            }
        }
    }
}

#[test]
fn wavefronts_of_several_degrees() {
    let script = "
        let A = tensor([12, 12, 12]);
        let l = nest(`
          ${A}
          for i in 1..12
            for j in 1..12
              for k in 1..12
                A[i][j][k] = A[i - 1][j][k] + A[i][j - 1][k] + A[i][j][k - 1]
        `);";
    for multipar in [false, true] {
        let options = format!("#{{tile_sizes: [4], multipar: {multipar}}}");
        let call = format!("pluto(l, {options})");
        assert_eq!(string(script, &format!("check({call}).message")), "legal");
        let text = nest(script, &call).to_string();
        // The loop of the wavefront is the last one that makes it.
        let wave = if multipar { "for k_o" } else { "for j_o" };
        let first = text.lines().find(|line| line.starts_with("for "));
        assert!(first.is_some_and(|l| l.starts_with(wave)), "{text}");
        assert!(text.contains("parallel for i_o"), "{text}");
    }
}

/// Statements that part in tiles have their loops beginning at different numbers, as far apart as
/// tiles are large.
#[test]
fn tiles_of_shifted_statements() {
    let script = "
        let P = tensor([9, 9]); init(P, 0);
        let Q = tensor([9, 9]);
        let E = tensor([3, 3]);
        P = eq(vsum(vmul(vmul(Q, E, [[k + 3, j + 3], [i, k]]), E, [(), [k, j]]), [k]), [i + 3, j + 3]);
        let first = build(P);
        P = add(P, vmul(vadd(Q, P, [[i + 3, j + 3], [i + 2, j + 3]]), E, [(), [i, j]]), [[i + 3, j + 3], ()] -> [i + 3, j + 3]);
        let l = [first, build(P)];";
    for sizes in [
        "tile_sizes: [1]",
        "tile_sizes: [2]",
        "tile_sizes: [1], second_level_tile: true, second_level_tile_sizes: [2]",
        "tile_sizes: [1], second_level_tile: true, second_level_tile_sizes: [1, 3]",
    ] {
        let call = format!("check(pluto(l, #{{fuse: \"maxfuse\", {sizes}}})).message");
        assert_eq!(string(script, &call), "legal", "{sizes}");
    }
}

/// The guard of a single remaining iteration is inside the loop.
#[test]
fn guards_in_vector_loops() {
    let script = "
        let P = tensor([7, 7]);
        let Q = tensor([7, 7]);
        P = eq(vadd(P, Q, [[i + 3, j + 3], [i + 3, j + 3]]), [i + 3, j + 3], #{i: 0..1, j: 0..1});
        let first = sweep(P);
        Q = eq(vadd(Q, P, [[i + 3, j + 3], [i + 4, j + 4]]), [i + 3, j + 3], #{i: 0..1, j: 0..1});
        let l = fuse_outer(first, sweep(Q), 0);";
    let call = "pluto(l, #{tile: false, parallel: false, intratileopt: false, unrolljam: false})";
    let text = nest(script, call).to_string();
    assert!(text.contains("for j_g"), "{text}");
    assert!(text.contains("vector for j"), "{text}");
    assert_eq!(string(script, &format!("check({call}).message")), "legal");
}

/// The remainder of a jammed loop is jammed in the other loops, but not twice.
#[test]
fn factors_that_do_not_divide() {
    let script = r#"
        let B = tensor([11, 12, 10]);
        let C = tensor([12, 13]);
        let D = tensor([10, 13]);
        let A = einsum("ikl,lj,kj->ij", B, D, C);
        let l = build(A);"#;
    for options in [
        "#{}",
        "#{ufactor: 4}",
        "#{ufactor: 3, tile: false}",
        "#{ufactor: 7}",
    ] {
        let message = string(script, &format!("check(pluto(l, {options})).message"));
        assert_eq!(message, "legal", "{options}");
    }
}
