//! Trees as values: `tree`, `untree`, and what the library makes of them.

use crate::output::Output;
use std::sync::Arc;
use teml::script::Session;
use teml::trial::Collect;
use teml::verbs::Workbench;

fn printed(script: &str) -> String {
    let output = Output::default();
    let session = Session::new(Box::new(output.clone()), Workbench::default());
    if let Err(error) = session.unwrap().run_text("test.rhai", script) {
        panic!("{}", error.render(false));
    }
    output.text()
}

fn message(script: &str) -> String {
    let session = Session::new(Box::new(std::io::sink()), Workbench::default());
    let error = session.unwrap().run_text("test.rhai", script).unwrap_err();
    error.diagnostic.message
}

#[test]
fn expressions_have_fields() {
    let script = format!(
        "{PRODUCT}
        print(`${{C.kind}} ${{C.name}} ${{C.shape}} ${{C.elem}}`);
        print(`${{C.value.op}} over ${{C.value.iterators}}`);
        let product = C.value.operands[0];
        switch product.op {{ \"*\" => print(product.operands[1].name), _ => print(\"other\") }}
        print(product.operands[0] + 1);
        let plan = build(C);
        print(`${{plan.kind}} ${{plan.body[1].name}}`);"
    );
    assert_eq!(
        printed(&script),
        "assignment C [4, 6] f64\nsum over [k]\nB\nf64 A[4][5]\nA[i][k] + 1\nnest i\n"
    );
    let script = format!("{PRODUCT} print(C.value.target);");
    let expected = "an expression of the kind reduction has no field `target`";
    assert!(message(&script).contains(expected), "{}", message(&script));
    assert!(message("let A = tensor([2]); print(op(A));").contains("there is no function `op`"));
}

#[test]
fn misspelt_fields_are_suggested() {
    let session = Session::new(Box::new(std::io::sink()), Workbench::default());
    let script = "let A = tensor([2]); print(A.operandz);";
    let error = session.unwrap().run_text("test.rhai", script).unwrap_err();
    assert!(error.render(false).contains("did you mean `operands`?"));
}

#[test]
fn replaced_iterators_are_not_captured() {
    let script = "let A = tensor([4, 4]); let x = tensor([4]);
        let y = eq(vsum(vmul(A, x, [[i, k], [k]]), [k]), [i]);
        print(replace(y.value, i, k)); print(replace(y.value, k, 0));
        let z = tensor([4]);
        print(replace(y.value, x, z));";
    assert_eq!(
        printed(script),
        "f64 A[4][4], x[4]\nsum(k_2: A[k][k_2] * x[k_2])\n\
         f64 A[4][4], x[4]\nsum(k: A[i][k] * x[k])\n\
         f64 A[4][4], z[4]\nsum(k: A[i][k] * z[k])\n"
    );
}

#[test]
fn definitions_are_compared() {
    let setup = "let A = tensor([4, 5]); let x = tensor([5]);
        let y = eq(vsum(vmul(A, x, [[i, k], [k]]) * 2, [k]), [i]);
        let w = eq(vsum(vmul(A, x, [[i, k], [k]]), [k]), [i]);
        let z = eq(2 * w, [m] -> [m]);
        let e = eq(vexp(x, [k]) * vexp(x, [k]), [k]);
        let f = eq(vexp(x + x, [k]), [k]);";
    for (call, expected) in [
        ("equal(y, z)", "equal, by the rules of sums and products"),
        (
            "equal(y, [w, z])",
            "equal, by the rules of sums and products",
        ),
        (
            "equal(vat(x, [k]) * 2, vat(x, [k]) + vat(x, [k]))",
            "equal, by the rules",
        ),
        (
            "equal(e, f)",
            "equal at 4 samples of 5 elements each, which proves nothing",
        ),
        (
            "equal(e, f, [rule(\"exp(a)*exp(b)\", \"exp(a + b)\")])",
            "equal, if the given rules hold",
        ),
        (
            "equal(y, w)",
            "different: for inputs that are small whole numbers, y[",
        ),
        ("equal(y, e)", "different: one is f64[4], the other f64[5]"),
        (
            "equal(eq(vmax(vat(A, [i, k]), [k]), [i]), eq(vmax(vat(A, [i, m]), [m]), [i]))",
            "equal: all 4 elements are the same expressions",
        ),
    ] {
        let text = printed(&format!("{setup} print({call});"));
        assert!(text.starts_with(expected), "{call}: {text}");
    }
    let wrong = format!("{setup} print(equal(y, w, [rule(\"2*a\", \"a\")]).proved);");
    assert_eq!(printed(&wrong), "false\n");
    for (call, expected) in [
        ("equal(A, 3)", "argument 2 `b` must be a tensor"),
        ("equal(y, [])", "argument 2 `b` is an empty list"),
        (
            "equal(y, w, 3)",
            "argument 3 `rules` must be a list of rules",
        ),
        (
            "rule(\"a +\", \"a\")",
            "argument 1 `from` is not an expression",
        ),
        ("rule(\"a + b\", \"c\")", "argument 2 `to` has the value c"),
        (
            "let big = tensor([4000, 4000]); let c = eq(vexp(big, [i, j]), [i, j]);
             equal(c, eq(vtanh(big, [i, j]), [i, j]))",
            "the rules do not decide it, and the tensors are large",
        ),
    ] {
        let text = message(&format!("{setup} {call};"));
        assert!(text.contains(expected), "{call}: {text}");
    }
}

const PRODUCT: &str = "
    let A = tensor([4, 5]); let B = tensor([5, 6]);
    let C = eq(vsum(vmul(A, B, [[i, k], [k, j]]), [k]), [i, j]);
";

#[test]
fn an_expression_is_taken_apart() {
    let script = format!(
        "{PRODUCT}
        let t = tree(C);
        print(switch t.kind {{ \"assignment\" => \"an assignment\", _ => \"something else\" }});
        print(t.target.indices);
        print(t.value.iterators == [k]);
        let product = t.value.operands[0];
        print(product.op);
        for operand in product.operands {{ print(`${{operand.name}}${{operand.indices}} ${{operand.elem}} ${{operand.shape}}`); }}
        print(tree(A).indices == ());
        print(type_of(tree(A).tensor));"
    );
    assert_eq!(
        printed(&script),
        "an assignment\n[i, j]\ntrue\n*\nA[i, k] f64 [4, 5]\nB[k, j] f64 [5, 6]\ntrue\ntensor\n"
    );
}

#[test]
fn a_nest_is_taken_apart() {
    let script = format!(
        "{PRODUCT}
        let t = tree(build(C).stripmine(1, 3).parallelize(\"i_o\"));
        print(t.body.map(|part| part.kind));
        print(t.body[0].region);
        let outer = t.body[1];
        print(`${{outer.name}} ${{outer.lower}} ${{outer.upper}} ${{outer.step}} ${{outer.mode}} ${{outer.collapse}}`);
        let inner = outer.body[0];
        print(`${{inner.name}} ${{inner.upper}} ${{inner.mode}}`);
        let s = inner.body[0].body[0].body[0];
        print(`${{s.kind}} ${{s.target.name}} ${{s.update}}= ${{s.value.op}}`);"
    );
    let text = printed(&script);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "[\"fill\", \"loop\"]");
    assert_eq!(
        lines[1],
        "[#{\"extent\": 4, \"first\": 0}, #{\"extent\": 6, \"first\": 0}]"
    );
    assert_eq!(lines[2], "i_o [0] [2] 1 parallel 1");
    assert_eq!(lines[3], "i_i [3*i_o + 3, 4] serial");
    assert_eq!(lines[4], "statement C += *");
}

#[test]
fn what_is_not_changed_comes_back() {
    let script = format!(
        "{PRODUCT}
        let plan = build(C).interchange(1, 2);
        let same = untree(tree(plan));
        print(same == plan);
        print(path(same).len() == path(plan).len());
        print(notation(untree(tree(C))) == notation(C));
        for x in [A, vat(A, [i, j]) * 2, vat(A, [i, j]), [i, j] -> 1] {{
            if type_of(x) == \"tensor\" {{ print(notation(untree(tree(x))) == notation(x)); }}
        }}"
    );
    assert_eq!(printed(&script), "true\n".repeat(6));
}

#[test]
fn pieces_and_elsewhere_come_back() {
    let script = "
        let u = tensor([6]);
        let D = eq(u, [i] -> [i + 1], [8], 0);
        print(untree(tree(D)));
        let v = partition([eq(u, [i] -> [i], #{i: 0..1}), eq(2 * u, [i] -> [i], #{i: 3..5})], u);
        let t = tree(v);
        print(t.pieces.len());
        print(t.otherwise.value.name);
        print(notation(untree(t)) == notation(v));
        print(`${untree(t)}` == `${v}`);";
    assert_eq!(
        printed(script),
        "f64 D[8], u[6]\nD[i + 1] = u[i] elsewhere 0\n2\nu\ntrue\ntrue\n"
    );
}

#[test]
fn a_changed_nest_is_its_own_definition() {
    let script = format!(
        "{PRODUCT}
        let naive = build(C);
        let t = tree(naive);
        // The product in another order of loops.
        let outer = t.body[1];
        let middle = outer.body[0];
        let inner = middle.body[0];
        middle.body = inner.body;
        inner.body = [middle];
        outer.body = [inner];
        t.body[1] = outer;
        let mine = untree(t);
        print(mine == naive);
        print(check(mine).legal);
        print(check(mine, naive).legal);
        print(path(mine).len());
        // The statement with another operation.
        t.body[1].body[0].body[0].body[0].value.op = \"+\";
        print(check(untree(t), naive).legal);"
    );
    assert_eq!(printed(&script), "false\ntrue\ntrue\n1\nfalse\n");
}

#[test]
fn a_changed_nest_is_proved() {
    let script = format!(
        "{PRODUCT}
        let t = tree(build(C));
        t.body[1].body[0].body[0].mode = \"parallel\";
        print(check(untree(t)).legal);
        t.body[1].body[0].body[0].mode = \"serial\";
        t.body[1].mode = \"parallel\";
        print(check(untree(t)).legal);"
    );
    assert_eq!(printed(&script), "false\ntrue\n");
}

/// A change of the tree `t` of the nest or of the assignment, and the message about it.
#[test]
fn what_does_not_fit_has_a_place() {
    let of_expressions = [
        (
            "t.value.operands[0].operands[1].name = 3",
            "is wrong: `value.operands[0].operands[1].name` must be the name of a tensor, not the integer 3",
        ),
        (
            "t.value.operands[0].operands[1].name = \"a b\"",
            "is wrong: `value.operands[0].operands[1].name` must be the name of a tensor: `a b` is not a name: it holds a space",
        ),
        (
            "t.value.operands[0].operands[0].indices = [i]",
            "is wrong: `value.operands[0].operands[0].indices` must have one index for each dimension of A: 2, not 1",
        ),
        (
            "t.value.operands[0].op = \"**\"",
            "is wrong: `value.operands[0].op` must be an operation, not `**`",
        ),
        (
            "t.value.operands[0].operands.push(1)",
            "is wrong: `value.operands[0].operands` must have 2 operands for `*`, not 3",
        ),
        (
            "t.value.operands[0].operands[0] = A",
            "is wrong: `value.operands[0].operands[0]` is a tensor without `indices`",
        ),
        (
            "t.value.operands[0].operands[0] = \"A\"",
            "is wrong: `value.operands[0].operands[0]` must be the tree of an expression, a tensor or a number, not the string \"A\"",
        ),
        (
            "t.value.op = \"mean\"",
            "is wrong: `value.op` must be one of \"sum\", \"prod\", \"min\" and \"max\", not the string \"mean\"",
        ),
        (
            "t.value.iterators = [l]",
            "is wrong: `value.iterators[0]` is `l`, which the operand does not have",
        ),
        (
            "t.value.operand = 1",
            "is wrong: `value.operand` is not a field here",
        ),
        (
            "t.remove(\"value\")",
            "is wrong: `value` is missing; it must be the tree of an expression",
        ),
        (
            "t.remove(\"kind\")",
            "is wrong: `kind` is missing; it must be a string such as \"op\" or \"loop\"",
        ),
        (
            "t.kind = \"sum\"",
            "is wrong: `kind` must be the kind of an expression, not `sum`",
        ),
        ("t.target.shape = [3, 6]", "makes no expression: "),
        (
            "t.value.operands[0].operands[0].elem = \"f32\"",
            "is wrong: `value.operands[0]` makes no expression: ",
        ),
        (
            "t.elsewhere = \"0\"",
            "is wrong: `elsewhere` must be a number or `()`, not the string \"0\"",
        ),
        (
            "t.ranges = [#{iterator: l, lower: [0], upper: [2]}]",
            "is wrong: `ranges[0].iterator` is `l`, which has no range here",
        ),
        (
            "t.target.name = \"A\"",
            "is wrong: `value.operands[0].operands[0].name` must not be the name of two tensors",
        ),
    ];
    let of_nests = [
        (
            "t.body[1].lower = []",
            "is wrong: `body[1].lower` must be a list of bounds, at least one, not an empty list",
        ),
        (
            "t.body[1].mode = \"fast\"",
            "is wrong: `body[1].mode` must be one of",
        ),
        (
            "t.body[1].lanes = 4",
            "is wrong: `body[1].lanes` belongs to vector loops, and the mode is `serial`",
        ),
        (
            "t.body[1].step = 0",
            "is wrong: `body[1].step` must be an integer, 1 or more, not the integer 0",
        ),
        (
            "t.body[1].name = \"2x\"",
            "is wrong: `body[1].name` must be an iterator or its name",
        ),
        (
            "t.body[1].body[0].name = \"i\"",
            "is wrong: `body[1].body[0]`: ",
        ),
        (
            "t.body[1].upper = [9]",
            "is wrong: `body[1].body[0].body[0].body[0]`: ",
        ),
        (
            "t.body[1].body[0].body[0].body[0].target.indices[0] = l",
            "is wrong: `body[1].body[0].body[0].body[0]`: ",
        ),
        ("t.body[1].body = []", "is wrong: `body[0]`: "),
        (
            "t.body[0].region = []",
            "is wrong: `body[0].region` must have one side for each dimension of C: 2, not 0",
        ),
        (
            "t.body[0].value = \"0\"",
            "is wrong: `body[0].value` must be a number",
        ),
        (
            "t.body.push(3)",
            "is wrong: `body[2]` must be the tree of a loop, a statement, a fill or a local tensor, not the integer 3",
        ),
        (
            "t.body.push(tree(A))",
            "is wrong: `body[2].kind` must be the kind of a tree, not `access`",
        ),
        ("t.body = []", "makes no nest: "),
    ];
    for (of, cases) in [("C", &of_expressions[..]), ("build(C)", &of_nests[..])] {
        for (change, expected) in cases {
            let script = format!("{PRODUCT}\nlet t = tree({of});\n{change};\nuntree(t);");
            let message = message(&script);
            let expected = format!("untree: argument 1 `tree` {expected}");
            assert!(
                message.starts_with(&expected),
                "{change}\n{message}\n{expected}"
            );
        }
    }
}

#[test]
fn tensors_and_numbers_are_operands() {
    let script = "
        let A = tensor([4], \"f32\");
        let x = vat(A, [i]);
        print(untree(#{kind: \"op\", op: \"max\", operands: [x * x, 2]}));
        print(untree(#{kind: \"assignment\", target: #{kind: \"target\", name: \"B\", elem: \"f32\", shape: [4], indices: [3 - i]}, value: x}));
        print(untree(#{kind: \"op\", op: \"select\", comparison: \"<\", operands: [x, 0, 0, x]}));
        print(untree(#{kind: \"op\", op: \"f64\", operands: [x]}));";
    assert_eq!(
        printed(script),
        "f32 A[4]\nmax(A[i] * A[i], 2)\nf32 B[4], A[4]\nB[3 - i] = A[i]\n\
         f32 A[4]\nselect(A[i] < 0, 0, A[i])\nf32 A[4]\nf64(A[i])\n"
    );
}

#[test]
fn what_an_assignment_of_a_tree_needs_is_computed() {
    let script = "
        let A = tensor([4]);
        let B = eq(A + 1, [i] -> [i]);
        let C = eq(B * 2, [i] -> [i]);
        let t = tree(C);
        t.target.name = \"D\";
        let D = untree(t);
        compare([D, D]);";
    let workbench = Workbench {
        runner: Arc::new(Collect),
        ..Workbench::default()
    };
    let mut session = Session::new(Box::new(std::io::sink()), workbench).unwrap();
    session.run_text("test.rhai", script).unwrap();
    let comparisons = std::mem::take(&mut session.bench().lock().kept.comparisons);
    assert_eq!(comparisons[0].variants[0].nests.len(), 2);
}

#[test]
fn statements_are_rewritten_to_several_or_none() {
    let script = "
        let A = tensor([4]);
        let B = eq(A, [i] -> [i]);
        let twice = |t| if t.kind == \"statement\" { [t, #{kind: \"statement\", target: t.target, update: \"+\", value: t.value}] };
        print(build(B).rewrite(twice));
        let none = |t| if t.kind == \"statement\" && t.update == \"+\" { [] };
        print(build(B).rewrite(twice).rewrite(none) == build(B));
        let renamed = |t| if t.kind == \"access\" && t.name == \"A\" { t.name = \"X\"; t };
        print(B.rewrite(renamed));
        print(type_of(tree(B).rewrite(|t| ())));";
    assert_eq!(
        printed(script),
        "f64 B[4], A[4]\nfor i in 0..4\n  B[i] = A[i]\n  B[i] += A[i]\ntrue\n\
         f64 B[4], X[4]\nB[i] = X[i]\nmap\n"
    );
}
