//! Diamond tiles: the published hyperplanes, and nests that compute the definition.

use super::{classics, nest, shown, string};
use teml::baseline::{Diamond, Fuse, diamonds};
use teml::interp::execute;
use teml::interp::store::{Data, Store};
use teml::ir::{Name, Nest};
use teml::legality::{Reductions, Verdict, check};

/// The hyperplanes of the only band, level by level, as texts.
fn hyperplanes(script: &str) -> Vec<Vec<String>> {
    let found = diamonds(&[nest(script, "l")], Fuse::Smart);
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    let [Diamond { levels, .. }] = found.as_slice() else {
        panic!("{found:?}")
    };
    let statements = 0..levels[0].len();
    let text = |row: &teml::baseline::Row| {
        let mut text = String::new();
        for (c, name) in row.coefficients.iter().zip(["t", "i", "j", "k"]) {
            text += &match c {
                0 => String::new(),
                1 => format!("+{name}"),
                -1 => format!("-{name}"),
                c => format!("{c:+}{name}"),
            };
        }
        match row.constant {
            0 => text,
            constant => format!("{text}{constant:+}"),
        }
    };
    let of = |s: usize| levels.iter().map(|rows| text(&rows[s])).collect();
    statements.map(of).collect()
}

/// The contents of the tensors of a nest after it ran.
fn results(nest: &Nest) -> Vec<(String, Data<'static>)> {
    let tensors = nest.tensors().into_iter();
    let mut store: Store<'static> = tensors
        .filter_map(|t| {
            let data = Data::generate(&t, |x| ((x * 7) % 101) as f64 / 101.0 - 0.5);
            Some((t.name()?.clone(), data))
        })
        .collect();
    execute::run(nest, &mut store).unwrap_or_else(|fault| panic!("{fault:?}"));
    let mut all: Vec<_> = store.into_iter().collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    let all = all.into_iter();
    all.map(|(name, data)| (name.to_string(), data)).collect()
}

/// Asserts that diamonds of several sizes are proved, and give the results of the definition.
#[track_caller]
fn holds(script: &str, sizes: &[&str]) {
    let before = results(&nest(script, "l"));
    for size in sizes {
        let call = format!("pluto(l, #{{diamondtile: true, tile_sizes: {size}}})");
        let tiled = nest(script, &call);
        assert!(tiled.to_string().contains("parallel for i_s"), "{tiled}");
        assert_eq!(results(&tiled), before, "{tiled}");
        assert_eq!(check(&[tiled], Reductions::Strict), Verdict::Legal);
    }
}

#[test]
fn jacobi_1d() {
    let script = classics::JACOBI_1D;
    let expected = [["+2t-i", "+2t+i"], ["+2t-i+1", "+2t+i+1"]];
    assert_eq!(hyperplanes(script), expected);
    holds(script, &["[1]", "[4]", "[8]", "[32]", "[8, 16]"]);
}

#[test]
fn jacobi_2d() {
    let script = classics::JACOBI_2D;
    let first = ["+2t-i", "+2t+i", "+2t+j"];
    let second = ["+2t-i+1", "+2t+i+1", "+2t+j+1"];
    assert_eq!(hyperplanes(script), [first, second]);
    holds(script, &["[4]", "[8, 4, 12]"]);
}

#[test]
fn heat_3d() {
    let script = classics::HEAT_3D;
    let first = ["+2t-i", "+2t+i", "+2t+j", "+2t+k"];
    let second = ["+2t-i+1", "+2t+i+1", "+2t+j+1", "+2t+k+1"];
    assert_eq!(hyperplanes(script), [first, second]);
    holds(script, &["[4]"]);
}

/// Three statements, one of which runs a part of a step later.
#[test]
fn fdtd_2d() {
    let script = classics::FDTD_2D;
    let fields = ["+t-i", "+t+i", "+t+j"];
    let magnetic = ["+t-i", "+t+i+1", "+t+j+1"];
    assert_eq!(hyperplanes(script), [fields, fields, magnetic]);
    holds(script, &["[4]", "[2, 6]"]);
}

/// All tiles of a wave along the face start at the same time: there are as many as fit there from
/// the first wave on.
#[test]
fn the_path_is_short_and_needs_no_wavefront() {
    let added = string(
        classics::JACOBI_2D,
        "`${diff(l, pluto(l, #{tile_sizes: [8]}))}`",
    );
    let added: Vec<&str> = added.lines().filter(|l| l.starts_with('+')).collect();
    assert_eq!(
        added,
        [
            "+ shift(\"i_2\", -1)",
            "+ slabs(\"t\", [\"i\", \"i_2\"], #{t: -2}, 8)",
            "+ shift(\"j_2\", 1)",
            "+ slabs(\"t\", [\"j\", \"j_2\"], #{t: 2}, 8)",
            "+ shift(\"i_2\", 2)",
            "+ slabs(\"i_s\", [\"i\", \"i_2\"], #{i_s: -8, t: 2}, 16)",
            "+ slabs(\"i_s\", [\"i\", \"i_2\"], #{i_s: -8, t: 2}, 8)",
            "+ parallelize(\"i_s\")",
            "+ vectorize(\"j\")",
            "+ vectorize(\"j_2\")",
        ]
    );
}

/// Asserts that diamonds are refused for this reason, and that there is no message without the
/// option.
#[track_caller]
fn none(script: &str, options: &str, reason: &str) {
    let call = format!("pluto(l, #{{diamondtile: true{options}}})");
    let message = match shown(script, &call) {
        Ok(value) => panic!("{value}"),
        Err(message) => message,
    };
    let expected = format!("there are no diamond tiles: {reason}");
    assert!(message.contains(&expected), "{message}");
    let plain = format!("pluto(l, #{{diamondtile: false{options}}})");
    let silent = format!("pluto(l, #{{tile: true{options}}})");
    assert_eq!(nest(script, &silent), nest(script, &plain));
}

#[test]
fn where_there_are_none() {
    let product = "
        let A = tensor([12, 13]);
        let B = tensor([13, 14]);
        let C = contract(A, B, [2, 1]);
        let l = build(C);";
    none(
        product,
        "",
        "the outermost band has a parallel loop as it is",
    );
    // Elements depend on others of the same step.
    none(
        classics::SEIDEL_2D,
        "",
        "dependences do not all go forward in the outermost loop",
    );
    let line = "
        let A = tensor([9]);
        A = eq(vadd(A, 1, [[i - 1], ]), [i], [9]);
        let l = sweep(A);";
    none(
        line,
        "",
        "the outermost band has not all loops of its statements, or only one",
    );
    none(
        classics::JACOBI_1D,
        ", second_level_tile: true",
        "tiles are off, or have a second level",
    );
    // A statement after the time steps is scheduled separately.
    let and_more = format!(
        "{}
        let C = eq(A, [i] -> [i]);
        let l = fuse_outer(l, build(C), 0);",
        classics::JACOBI_1D
    );
    let both = nest(&and_more, "pluto(l)").to_string();
    assert!(
        both.contains("parallel for i_s") && both.contains("C["),
        "{both}"
    );
    assert_eq!(string(&and_more, "check(pluto(l)).message"), "legal");
}

#[test]
fn all_sizes() {
    let jacobi_1d = "
        let n = size(\"N\"); let steps = size(\"T\");
        let A = tensor([n]);
        let B = tensor([n]);
        let l = nest(`
          ${A}
          ${B}
          for t in 0..${steps}
            for i in 1..${n} - 1
              B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1])
            for i2 in 1..${n} - 1
              A[i2] = 0.3 * (B[i2 - 1] + B[i2] + B[i2 + 1])
        `);";
    let jacobi_2d = "
        let n = size(\"N\"); let steps = size(\"T\");
        let A = tensor([n, n]);
        let B = tensor([n, n]);
        let l = nest(`
          ${A}
          ${B}
          for t in 0..${steps}
            for i in 1..${n} - 1
              for j in 1..${n} - 1
                B[i][j] = 0.2 * (A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j])
            for i2 in 1..${n} - 1
              for j2 in 1..${n} - 1
                A[i2][j2] = 0.2 * (B[i2][j2 - 1] + B[i2][j2 + 1] + B[i2 - 1][j2] + B[i2 + 1][j2])
        `);";
    for (script, size) in [
        (jacobi_1d, "[4]"),
        (jacobi_1d, "[8, 16]"),
        (jacobi_2d, "[8, 4, 12]"),
    ] {
        let plain = nest(script, "l");
        let call = format!("pluto(l, #{{diamondtile: true, tile_sizes: {size}}})");
        let tiled = nest(script, &call);
        assert!(tiled.to_string().contains("parallel for i_s"), "{tiled}");
        // A bound that only the greatest value of a size explains says nothing.
        assert!(!tiled.to_string().contains("0000"), "{tiled}");
        assert_eq!(
            check(std::slice::from_ref(&tiled), Reductions::Strict),
            Verdict::Legal
        );
        for (n, t) in [(0, 3), (1, 0), (2, 5), (3, 1), (7, 4), (17, 6), (24, 9)] {
            let values =
                [("N", n), ("T", t)].map(|(name, value)| (Name::new(name).unwrap(), value));
            let [expected, found] = [&plain, &tiled].map(|l| results(&l.at_sizes(&values)));
            assert_eq!(found, expected, "N = {n}, T = {t}\n{tiled}");
        }
        let narrowed = nest(
            script,
            &call.replace("(l,", "(l.specialize(\"N - 1 >= 8\"),"),
        );
        assert_eq!(narrowed.condition().to_string(), "N >= 9");
    }
}
