//! The moves that `moves` lists, as scripts see them.

use teml::advice::{self, Move, Scope};
use teml::legality::Reductions;
use teml::script::Session;
use teml::verbs::Workbench;

struct Dialog(Session);

impl Dialog {
    fn new(script: &str) -> Dialog {
        let output = Box::new(std::io::sink());
        let mut dialog = Dialog(Session::new(output, Workbench::default()).unwrap());
        dialog.show(script);
        dialog
    }

    fn show(&mut self, line: &str) -> String {
        match self.0.eval_line(line) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => panic!("{}", error.render(false)),
        }
    }

    fn fails(&mut self, line: &str) -> String {
        self.0.eval_line(line).unwrap_err().render(false)
    }
}

const PRODUCT: &str = "
    let A = tensor([8, 6]);
    let B = tensor([6, 9]);
    let C = eq(vsum(vmul(A, B, [[i, k], [k, j]]), [k]), [i, j]);
    let l = build(C);
";

/// A copy of y that lags `by` iterations behind.
fn lagging(by: i64) -> String {
    format!(
        "let x = tensor([20]);
         let y = eq(x, [i] -> [i]);
         let z = eq(y, [i] -> [i]);
         let apart = fuse_outer(build(y), build(z), 0);
         let l = apart.shift(\"i_2\", {by}).fuse(\"i\", \"i_2\");"
    )
}

/// A table with the predicted speed-up of each move, and the best moves.
#[test]
fn expected_speed_ups_are_shown() {
    let dialog = Dialog::new(PRODUCT);
    let (_, nest) = dialog.0.nests().pop().unwrap();
    let moves = advice::known(&nest, &Scope::All, Reductions::Strict).unwrap();
    let list: Vec<&Move> = moves.list.iter().collect();
    let speed_up = |m: &Move| match m.op {
        "vectorize" => Some(12.4),
        "parallelize" => Some(1.96),
        "interchange" => Some(1.04),
        "reverse" => Some(0.5),
        _ => None,
    };
    insta::assert_snapshot!(teml::report::moves(&moves, &list, &speed_up));
    let none = teml::report::moves(&moves, &list, &|_| Some(1.0));
    assert!(
        none.ends_with("expects none of these to be faster by itself"),
        "{none}"
    );
}

/// Deeper loops are counted, but not examined.
#[test]
fn outer_levels_alone() {
    let mut dialog = Dialog::new(PRODUCT);
    let table = dialog.show("moves(l, #{levels: 2})");
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("| "))
        .collect();
    assert_eq!(rows.len(), 4, "{table}");
    assert!(rows[2].starts_with("| · j "), "{table}");
    assert!(rows[3].starts_with("| · · … 1 loop "), "{table}");
    assert!(
        table.contains("1 loop further inside is left out"),
        "{table}"
    );
    let of_outer = "moves(l).filter(|m| m.at != \"k\").len";
    assert_eq!(
        dialog.show("moves(l, #{levels: 2}).len"),
        dialog.show(of_outer)
    );
    let table = dialog.show("moves(l, #{levels: 1})");
    assert!(
        table.contains("2 loops further inside are left out"),
        "{table}"
    );
    assert!(!dialog.show("moves(l, #{levels: 3})").contains("left out"));
    for options in ["#{levels: 0}", "#{levels: \"i\"}", "#{level: 1}", "#{}"] {
        let refused = dialog.fails(&format!("moves(l, {options})"));
        assert!(
            refused.contains("argument 2") && refused.contains("levels"),
            "{refused}"
        );
    }
}

/// The call of each move, as text, does what the move does.
#[test]
fn calls_do_what_moves_do() {
    for script in [
        PRODUCT,
        &format!("{PRODUCT} reductions(\"reassoc\");"),
        &lagging(0),
    ] {
        let mut dialog = Dialog::new(script);
        let count: usize = dialog.show("moves(l).len")[3..].parse().unwrap();
        assert!(count > 3, "{count}");
        for k in 0..count {
            let shown = dialog.show(&format!("moves(l)[{k}].text"));
            let text = shown[4..shown.len() - 1].replace('\\', "");
            let applied = dialog.show(&format!("moves(l)[{k}].apply(l)"));
            assert_eq!(applied, dialog.show(&format!("l.{text}")), "{text}");
        }
    }
}

#[test]
fn vector_loops_have_as_many_lanes_as_are_legal() {
    for (by, text) in [
        (0, "[vectorize(\"i\")]"),
        (1, "[]"),
        (3, "[vectorize(\"i\", 2)]"),
        (4, "[vectorize(\"i\", 4)]"),
        (7, "[vectorize(\"i\", 4)]"),
    ] {
        let mut dialog = Dialog::new(&lagging(by));
        let line = "moves(l, \"i\").filter(|m| m.op == \"vectorize\").list";
        assert_eq!(dialog.show(line), format!("=> {text}"), "{by}");
        let parallel = dialog.show("moves(l, \"i\").filter(|m| m.op == \"parallelize\").len");
        assert_eq!(parallel, format!("=> {}", i64::from(by == 0)));
    }
}

#[test]
fn the_policy_decides_on_reductions() {
    let mut dialog = Dialog::new(PRODUCT);
    let of_k = "let ops = []; for m in moves(l, \"k\") { ops.push(m.op); } ops";
    assert_eq!(dialog.show(of_k), "=> [\"interchange\", \"interchange\"]");
    dialog.show("reductions(\"reassoc\")");
    let ops = dialog.show(of_k);
    assert!(ops.contains("rfactor") && ops.contains("reverse"), "{ops}");
    assert!(!ops.contains("parallelize"), "{ops}");
}

#[test]
fn what_is_illegal_can_be_made_legal() {
    let mut dialog = Dialog::new(PRODUCT);
    dialog.show("let wrong = l.reverse(\"k\");");
    let table = dialog.show("moves(wrong)");
    assert!(
        table.starts_with("the nest is not legal as it is"),
        "{table}"
    );
    let only = "moves(wrong).list";
    assert_eq!(dialog.show(only), "=> [reverse(\"k\")]");
    let again = dialog.show("check(moves(wrong)[0].apply(wrong)).legal");
    assert_eq!(again, "=> true");
}

/// Those of some operations are those of the whole list.
#[test]
fn operations_are_chosen() {
    let mut dialog = Dialog::new(PRODUCT);
    assert_eq!(
        dialog.show("moves(l, [\"tile\"]).list"),
        "=> [tile([\"i\", \"j\", \"k\"], [32, 32, 32])]"
    );
    assert_eq!(dialog.show("moves(l, []).len"), "=> 0");
    for op in teml::advice::OPERATIONS {
        let own = dialog.show(&format!("moves(l, [{op:?}]).list"));
        let of_all = format!("moves(l).filter(|m| m.op == {op:?}).list");
        assert_eq!(dialog.show(&of_all), own);
    }
}

#[test]
fn mistakes_are_told() {
    let mut dialog = Dialog::new(PRODUCT);
    for (line, part) in [
        ("moves(C)", "`build` wraps an assignment"),
        ("moves(l, \"m\")", "`m`"),
        (
            "moves(l, [\"til\"])",
            "a list of operations, of \"parallelize\"",
        ),
        ("moves(l, [1])", "a list of operations"),
        ("moves(l)[99]", "99"),
        ("apply(1, l)", "one of the moves"),
        ("moves(l)[0].apply(A)", "must be a nest"),
        (
            "let T = eq(A, [r, s] -> [s, r]); moves(l)[0].apply(build(T))",
            "`i`",
        ),
    ] {
        let shown = dialog.fails(line);
        assert!(shown.contains(part), "{line}: {shown}");
    }
}
