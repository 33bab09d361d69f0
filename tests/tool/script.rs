//! The scripting language: names, iterators, values, modules, errors as values.

use crate::output::Output;
use std::path::Path;
use std::sync::Arc;
use teml::script::{ScriptError, Session};
use teml::verbs::Workbench;

fn session() -> (Session, Output) {
    let output = Output::default();
    (
        Session::new(Box::new(output.clone()), Workbench::default()).unwrap(),
        output,
    )
}

fn printed(script: &str) -> String {
    let (mut session, output) = session();
    if let Err(error) = session.run_text("test.rhai", script) {
        panic!("{}", error.render(false));
    }
    output.text()
}

fn error(script: &str) -> ScriptError {
    session().0.run_text("test.rhai", script).unwrap_err()
}

/// The message and the text under its first mark.
fn fault(script: &str) -> (String, String) {
    let error = error(script);
    let label = error.diagnostic.labels.first().expect("a place");
    let text = error.sources.get(&label.span.source).unwrap();
    let at = text[label.span.range.clone()].to_owned();
    (error.diagnostic.message, at)
}

#[test]
fn figure_4_transposes() {
    let script = "
        N1 = 3
        N2 = 5
        A = tensor([N1, N2])
        B = eq(A, [i1, i2] -> [i2, i1])
        print(build(B))";
    assert_eq!(
        printed(script),
        "f64 B[5][3], A[3][5]\nfor i1 in 0..3\n  for i2 in 0..5\n    B[i2][i1] = A[i1][i2]\n"
    );
}

#[test]
fn figure_5_assigns_to_a_tensor_that_exists() {
    let script = "
        N = 4
        A = tensor([N, N])
        B = tensor([N, N])
        C = tensor([N, N])
        D = @C:add(A, B, [[i1, i2], [i1, i2]] -> [i1, i2])
        print(D)";
    assert_eq!(
        printed(script),
        "f64 C[4][4], A[4][4], B[4][4]\nC[i1][i2] = A[i1][i2] + B[i1][i2]\n"
    );
}

#[test]
fn figure_6_leaves_a_list_out() {
    let forms = [
        "[[i1, i2], ] -> [i1, i2]",
        "[[i1, i2]] -> [i1, i2]",
        "[[i1, i2], ()] -> [i1, i2]",
    ];
    for form in forms {
        let script = format!(
            "A = tensor([4, 4]); B = tensor([4, 4]); C = tensor([4, 4]);
             D = vadd(A, B, [[i1, i2], [i1, i2]]);
             E = mul(C, D, {form});
             print(E)"
        );
        assert_eq!(
            printed(&script),
            "f64 E[4][4], C[4][4], A[4][4], B[4][4]\nE[i1][i2] = C[i1][i2] * (A[i1][i2] + B[i1][i2])\n",
            "{form}"
        );
    }
}

#[test]
fn the_first_variable_names_a_tensor() {
    for (script, name) in [
        ("let A = tensor([2]); print(A)", "f64 A[2]\n"),
        ("A = tensor([2]); let B = A; print(B)", "f64 A[2]\n"),
        (
            "let f = |n| tensor([n]); let A = f.call(2); print(A)",
            "f64 A[2]\n",
        ),
        ("fn f(n) { tensor([n]) } A = f(2); print(A)", "f64 A[2]\n"),
        (
            "fn f(n) { let T = tensor([n]); T } A = f(2); print(A)",
            "f64 T[2]\n",
        ),
        (
            "let f = |n| { let T = tensor([n]); T }; A = f.call(2); print(A)",
            "f64 T[2]\n",
        ),
        (
            "let A = 1; if true { A = tensor([2]) } print(A)",
            "f64 A[2]\n",
        ),
        ("const A = tensor([2]); print(A)", "f64 A[2]\n"),
    ] {
        assert_eq!(printed(script), name, "{script}");
    }
}

#[test]
fn both_forms_call_the_same_function() {
    let setup = "let A = tensor([4, 5]); let B = eq(A, [i, j] -> [j, i]); let n = build(B);
        fn swap(nest, a, b) { nest.interchange(a, b) }";
    for condition in [
        "n.interchange(1, 2) == interchange(n, 1, 2)",
        "n.interchange(\"i\", \"j\") == interchange(n, 1, 2)",
        "n.interchange(i, j) == interchange(n, 1, 2)",
        "swap(n, 1, 2) == n.swap(1, 2)",
        "n.chain([|l| l.swap(1, 2)]) == swap(n, 1, 2)",
        "n.interchange(1, 2) != n",
        "n.interchange(1, 2).interchange(1, 2) == n",
    ] {
        assert_eq!(
            printed(&format!("{setup} print({condition})")),
            "true\n",
            "{condition}"
        );
    }
}

#[test]
fn two_nests_fuse_without_naming_their_loops() {
    let setup = "let A = tensor([4, 5]); let B = eq(A, [i, j] -> [i, j]);
        let C = eq(B, [i, j] -> [i, j]); let F = tensor([3, 5]); let D = eq(F, [i, j] -> [i, j]);
        let b = build(B); let c = build(C); let d = build(D);";
    for condition in [
        "fuse(b, c) == fuse_outer(b, c, 1)",
        "b.fuse(c, 2) == fuse_outer(b, c, 2)",
        "b.fuse(c, 0).fuse(\"i\", \"i_2\") == fuse(b, c)",
    ] {
        let script = format!("{setup} print({condition})");
        assert_eq!(printed(&script), "true\n", "{condition}");
    }
    for (call, message, at) in [
        (
            "fuse(b, d)",
            "fuse_outer: `i` runs over 0..4 and `i` over 0..3",
            "d",
        ),
        (
            "fuse(b, \"i\")",
            "fuse: argument 2 `second` must be a nest, not the string \"i\"",
            "\"i\"",
        ),
        (
            "fuse(b, c, 1, 2)",
            "fuse: takes two nests and a level, or a nest and two of its loops",
            "fuse",
        ),
    ] {
        let expected = (message.to_owned(), at.to_owned());
        assert_eq!(fault(&format!("{setup} print({call})")), expected);
    }
}

#[test]
fn iterators_need_no_declaration() {
    let script = r#"
        print([i + 1, 2*j - 1, i + kh, -i, 3 - i, i - i, (i + 1) * 2]);
        fn f() { [i1, i_o] }
        print(f());
        print([1].map(|x| [x, j]));
        let i = 3;
        print([i, iter("i"), iter("long_name")]);
        fn g(k) { k } print([g].len());"#;
    assert_eq!(
        printed(script),
        "[i + 1, 2*j - 1, i + kh, -i, 3 - i, 0, 2*i + 2]\n[i1, i_o]\n[[1, j]]\n[3, i, long_name]\n1\n"
    );
}

#[test]
fn index_arithmetic_has_limits() {
    let (message, at) = fault("let x = 1099511627776 * i");
    assert!(message.contains("too large"), "{message}");
    assert_eq!(at, "*");
    assert!(fault("i * j").0.contains("cannot be multiplied"));
}

#[test]
fn errors_are_values_that_scripts_can_catch() {
    let script = r#"
        let A = tensor([4]); let B = eq(A, [i] -> [i]); let n = build(B);
        try { n.unroll(9) } catch (e) { print(e.op); print(e.message) }
        try { n.unroll("x", "y", "z") } catch (e) { print("caught") }
        try { try { n.unroll(true) } catch (e) { throw e } } catch (e) { print(e.op) }"#;
    assert_eq!(
        printed(script),
        "unroll\nunroll: there is no level 9: the nest has 1 level\ncaught\nunroll\n"
    );
}

#[test]
fn an_error_that_is_thrown_again_keeps_its_place() {
    let script = "fn f(x) { x.foo(1) }\ntry { tensor(3) } catch (e) { throw e }";
    assert_eq!(fault(script).1, "3");
}

#[test]
fn positions_are_right_behind_inserted_names() {
    for (script, at) in [
        ("A = tensor([2]); B = eq(A, [i] -> nope)", "nope"),
        (
            "let A = tensor([2]); let B = eq(A, [i] -> 3.5)",
            "[i] -> 3.5",
        ),
        ("x = 1; x = x + nope;", "nope"),
        ("x = 1; é = 2", "é"),
        ("let s = \"日本\"; nope", "nope"),
        ("\r\n\tx = 1;\r\n\tx = nope", "nope"),
        ("#!/usr/bin/env teml\nnope", "nope"),
    ] {
        assert_eq!(fault(script).1, at, "{script}");
    }
}

#[test]
fn assignments_fit_what_was_declared() {
    let setup = "A = tensor([4, 5]); C = tensor([4, 6]);";
    let (message, at) = fault(&format!("{setup} C = eq(A, [i, j] -> [i, j])"));
    for part in [
        "`C`",
        "dimension 2 of C (extent 6)",
        "dimension 2 of A (extent 5)",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(at, "C");
    printed(&format!("{setup} let C = eq(A, [i, j] -> [i, j])"));
    printed(&format!("{setup} C = tensor([9])"));
    printed("A = tensor([4, 5]); C = tensor([5, 4]); C = eq(A, [i, j] -> [j, i])");
}

#[test]
fn nothing_is_evaluated_from_strings() {
    assert!(error("eval(\"1\")").diagnostic.message.contains("reserved"));
}

#[test]
fn modules_stay_inside_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("inner");
    std::fs::create_dir_all(inner.join("deeper")).unwrap();
    let write = |path: &str, text: &str| std::fs::write(inner.join(path), text).unwrap();
    std::fs::write(directory.path().join("secret.rhai"), "fn f() { 1 }").unwrap();
    write(
        "m.rhai",
        "import \"deeper/n\" as n; fn f(x) { n::g(x) } let k = 7; export k;",
    );
    write(
        "deeper/n.rhai",
        "import \"../base\" as b; fn g(x) { b::h(x) + 1 }",
    );
    write("base.rhai", "fn h(x) { x.call(20) }");
    write("circle.rhai", "import \"circle\" as c;");

    let run = |text: &str| {
        write("main.rhai", text);
        let (mut session, output) = session();
        session
            .run_file(&inner.join("main.rhai"))
            .map(|()| output.text())
    };
    let good = "import \"m\" as m; import \"std/strategies\" as s;
        print(m::f(|x| x * 2)); print(m::k); print(s::chain(3, [|x| x + 1]))";
    assert_eq!(run(good).unwrap(), "41\n7\n4\n");
    for (text, message) in [
        ("import \"../secret\" as s;", "outside the directory"),
        ("import \"circle\" as c;", "in a circle"),
        ("import \"none\" as n;", "cannot import \"none\""),
        ("import \"std/none\" as n;", "no module \"none\""),
    ] {
        let error = run(text).unwrap_err();
        assert!(error.diagnostic.message.contains(message), "{error}");
    }
    // An error in a closure of this script, called three modules deep.
    let error = run("import \"m\" as m;\nm::f(|x| tensor(x))").unwrap_err();
    let places: Vec<(&str, &str)> = error
        .diagnostic
        .labels
        .iter()
        .map(|l| {
            let text = error.sources.get(&l.span.source).unwrap();
            let file = Path::new(&*l.span.source).file_name().unwrap();
            (file.to_str().unwrap(), &text[l.span.range.clone()])
        })
        .collect();
    assert_eq!(
        places,
        [
            ("main.rhai", "x"),
            ("base.rhai", "call"),
            ("n.rhai", "h"),
            ("m.rhai", "g"),
            ("main.rhai", "f")
        ]
    );
}

#[test]
fn deep_recursion_and_deep_values_are_errors_or_fine() {
    let message = error("fn f(x) { f(x + 1) } f(0)").diagnostic.message;
    assert!(message.contains("nested too deeply"), "{message}");
    printed("let a = []; for k in 0..3000 { a = [a]; }");
    let deep = format!("let x = {}1{};", "(".repeat(5000), ")".repeat(5000));
    assert!(
        error(&deep)
            .diagnostic
            .message
            .contains("nested too deeply")
    );
}

#[test]
fn an_interrupt_stops_a_script() {
    let (mut session, output) = session();
    let flag = session.interrupt_flag();
    std::thread::spawn(move || {
        while output.text().is_empty() {
            std::thread::yield_now();
        }
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let error = session
        .run_text("t", "print(1); try { loop {} } catch { }")
        .unwrap_err();
    assert!(error.interrupted);
}

#[test]
fn no_text_breaks_the_engine() {
    for text in [
        "",
        "\u{feff}1",
        "\0",
        "@",
        "@ :",
        "@C: 1",
        "->",
        "[] -> ",
        "teml_bind",
        "x =",
        "`${",
        "let",
        "import",
        "= 3",
        "/*",
    ] {
        let _ = session().0.run_text("t", text);
    }
}

#[test]
fn strategies_go_on_after_refusals_and_never_after_mistakes() {
    let program = |call: &str| {
        format!(
            "let A = tensor([10]); let B = eq(A, [i] -> [i]);
             let l = build(B).stripmine(1, 4);
             print({call}.call(l) == l);"
        )
    };
    // The bounds of the inner loop are not constant, but would be on another nest.
    for refused in [
        "attempt(|n| n.unroll(\"i_i\"))",
        "repeat(|n| n.interchange(1, 2))",
        "innermost(|n, name| n.unroll(name))",
        "everywhere(|n, name| n.interchange(\"i_o\", \"i_i\"))",
        "or_else(|n| n.unroll(2), |n| n)",
    ] {
        let (mut session, output) = session();
        let result = session.run_text("script", &program(refused));
        assert!(result.is_ok(), "{}", result.unwrap_err().render(false));
        assert_eq!(output.text(), "true\n", "{refused}");
    }
    for (mistaken, message) in [
        (
            "attempt(|n| n.unroll(\"nowhere\"))",
            "no loop is named `nowhere`",
        ),
        ("attempt(|n| n.stripmine(1, 0))", "must be at least 1"),
        ("repeat(|n| n.unrol(1))", "no function `unrol`"),
        ("or_else(|n| throw \"mine\", |n| n)", "mine"),
        ("innermost(|n, name| n.unroll(name, name, name))", "unroll"),
    ] {
        let (mut session, _) = session();
        let error = session.run_text("script", &program(mistaken)).unwrap_err();
        let shown = error.render(false);
        assert!(
            shown.contains(message) && shown.contains("script:3"),
            "{shown}"
        );
    }
}

#[test]
fn a_method_call_gives_its_receiver_to_the_function_with_one_parameter_more() {
    let script = r#"
        fn f(a) { `one: ${a}` }
        fn f(a, b) { `two: ${a} ${b}` }
        private fn own(a) { `own: ${a}` }
        fn g(a) { own(a) }
        fn h(a) { this + a }
        print(1.f());
        print(1.f(2));
        for k in 0..4 { print(k.g()); }
        let x = 3;
        print(x.h(4));"#;
    assert_eq!(
        printed(script),
        "one: 1\ntwo: 1 2\nown: 0\nown: 1\nown: 2\nown: 3\n7\n"
    );
    let (message, at) = fault("fn f(a) { a }\nf(3, 4)");
    assert_eq!(message, "f takes 1 argument, but 2 were given");
    assert_eq!(at, "f");
    // Rhai would call f(4) and forget the 3.
    let (message, _) = fault("fn f(a) { a }\n3.f(4)");
    assert_eq!(message, "f takes 1 argument, but 2 were given");
}

#[test]
fn functions_of_the_library_can_call_each_other_in_any_order() {
    let calls = r#"
        let a = einsum("ii->i", A);
        let b = einsum("ij,ij", A, A);
        let c = einsum("ba", A);
        let d = entrywise_add(A, A);
        let e = entrywise_add([A, A, A]);
        let f = A.transpose([[1, 2]]);
        let g = A.contract(A, [[1, 2], [2, 1]]);
        let h = trace(A);
        let o = outerproduct(a, a, a);
        let p = stencil(A, [[0, 0], [0, 1]], [1, -1]);
        let q = conv(T, T, #{stride: 2});
        let r = sum(A, [1]);
        let l = build(d).tile(2).tile(["i1_i"], [1]).interchange_n(1, 2);"#;
    let tensors = "let A = tensor([4, 4]); let T = tensor([2, 2, 4]);";
    let script = format!("{tensors}\n{calls}\n{calls}\n{calls}\nprint(l)");
    assert!(printed(&script).contains("i1_i_o"));
}

#[test]
fn a_namespace_of_the_library_and_functions_of_a_script_keep_apart() {
    let script = r#"
        let A = tensor([4, 5]);
        let B = tensor([5, 6]);
        let C = contract(A, B, [2, 1]);
        let before = schedules::gemm(build(C));
        fn gemm(nest) { "mine" }
        fn scheduled(nest) { schedules::gemm(nest) }
        print(gemm(build(C)));
        print(build(C).gemm());
        print(scheduled(build(C)) == before);
        print([build(C)].map(|nest| schedules::gemm(nest))[0] == before);
        print(schedules::gemm(build(C)) == before);"#;
    assert_eq!(printed(script), "mine\nmine\ntrue\ntrue\ntrue\n");
}

#[test]
fn what_is_wrong_in_the_library_is_shown_in_the_script() {
    let declared = "let A = tensor([4, 5]);\n";
    for (call, message, at) in [
        (
            "let B = transpose(A, [[1, 3]]);",
            "transpose: argument 2 `order` names dimension 3, and the tensor has 2",
            "[[1, 3]]",
        ),
        (
            "let B = A.transpose([1, 1]);",
            "transpose: argument 2 `order` must list each of the 2 dimensions once",
            "[1, 1]",
        ),
        (
            "let B = einsum(\"ij,k->ik\", A, A);",
            "einsum: argument 3 `t2` is described by \"k\", but the tensor has 2 dimensions",
            "A",
        ),
        (
            "let B = contract(A, A, [1, 2]);",
            "contract: dimension 1 of A (extent 4) cannot be contracted with dimension 2 of A \
             (extent 5)",
            "[1, 2]",
        ),
        (
            "let B = A.entrywise_mul(A, A, A, A);",
            "entrywise_mul takes 1 to 4 arguments, but 5 were given",
            "entrywise_mul",
        ),
        (
            "fn check(a, b) { wrong(2, \"is odd\") }\ncheck(1, 3);",
            "check: argument 2 `b` is odd",
            "3",
        ),
    ] {
        let (found, place) = fault(&format!("{declared}{call}"));
        assert_eq!((found.as_str(), place.as_str()), (message, at));
    }
}

#[test]
fn numbers_take_the_type_of_the_other_operand() {
    let script = r#"
        let A = tensor([4], "f32");
        let n = tensor([4], "i64");
        print(vmul(A, 0.1, [[i], ]));
        print(vsub(2, n, [(), [i]]));
        print(vdiv(n, -3.0, [[i]]));
        print(vmaximum(A, -1.0 / 0.0, [[i], ()]));
        print(select(n, ">=", 0, n, 1 - n, [[i], (), [i], [i]] -> [i]));
    "#;
    let expected = "f32 A[4]\nA[i] * 0.1\n\
                    i64 n[4]\n2 - n[i]\n\
                    i64 n[4]\nn[i] / -3\n\
                    f32 A[4]\nmax(A[i], -∞)\n\
                    i64 □[4], n[4]\n□[i] = select(n[i] >= 0, n[i], 1 - n[i])\n";
    assert_eq!(printed(script), expected);
}

#[test]
fn operators_pair_entries() {
    let script = r#"
        let A = tensor([4, 5]);
        let B = tensor([5, 4]);
        let s = scalar();
        print(A + transpose_of(B));
        print((A - 1) / s * -A);
        print(s * s - 1);
        let D = tensor([5, 5]);
        let y = eq(D, [i, 0] -> [i]);
        print(vat(D, [i, i]) + vat(y, [i]));
        print(vmul(A, B, [[i, j], [j, k]]) + 0.5);
        let C = A;
        C += A;
        print(notation(C) == notation(A + A));
        print(notation(A) == notation(A));
        // Indices and numbers keep their operators.
        print(vadd(A, A, [[i, 2 * j - 1], [i - 1, 4 - j]]));
        print(2 * 3 - 1.5);
        fn transpose_of(t) { veq(t, [i, j] -> [j, i]) }
    "#;
    let expected = "f64 A[4][5], B[5][4]\n[_1, _2] -> A[_1][_2] + B[_2][_1]\n\
                    f64 A[4][5], s\n[_1, _2] -> (A[_1][_2] - 1) / s * neg(A[_1][_2])\n\
                    f64 s\ns * s - 1\n\
                    f64 D[5][5], y[5]\nD[i][i] + y[i]\n\
                    f64 A[4][5], B[5][4]\nA[i][j] * B[j][k] + 0.5\n\
                    true\ntrue\n\
                    f64 A[4][5]\nA[i][2*j - 1] + A[i - 1][4 - j]\n\
                    4.5\n";
    assert_eq!(printed(script), expected);
}

#[test]
fn only_operands_may_be_numbers() {
    for script in [
        "let x = vsum(2.5, [i]);",
        "let x = build(3);",
        "let x = vexp(1, [i]);",
        "let x = vcontract(1, 2, [1, 1]);",
    ] {
        let (message, at) = fault(script);
        assert!(message.contains("must be a"), "{message}");
        assert!(at.parse::<f64>().is_ok(), "{at}");
    }
    let (message, at) = fault(r#"let A = tensor([4]); let x = vadd(A, "1", [[i], ]);"#);
    assert!(
        message.contains("must be a tensor or a number"),
        "{message}"
    );
    assert_eq!(at, "\"1\"");
    // Functions of numbers are still Rhai's.
    assert_eq!(
        printed("print(exp(0.0)); print(abs(-2)); print(sqrt(4.0));"),
        "1.0\n2\n2.0\n"
    );
}

#[test]
fn operators_have_help() {
    let (session, _) = session();
    assert!(
        session
            .help("+")
            .is_some_and(|text| text.contains("entry by entry"))
    );
}

#[test]
fn the_library_names_no_nests() {
    let script = "
        let A = tensor([4, 6]);
        let B = eq(A, [i, j] -> [i, j]);
        let blocks = build(B).tile(2);
        let C = tensor([6, 8]);
        let D = contract(A, C, [2, 1]);
        let schedule = schedules::gemm(build(D), #{mr: 2, nr: 4});
        print(codegen(blocks));
        print(codegen(schedule));";
    let text = printed(script);
    for name in ["void blocks(", "void schedule("] {
        assert!(text.contains(name), "{name}\n{text}");
    }
}

#[test]
fn results_bypass_the_caches_at_sizes_at_which_these_do_not_hold_them() {
    let script = "
        let h = size(\"H\"); let w = size(\"W\");
        let A = tensor([h, w]);
        let B = stored(2 * A);
        print(schedules::optimize(build(B)));";
    let text = printed(script);
    let (large, others) = text.split_once("otherwise:").expect("two plans");
    assert!(
        large.contains("where H >= ") && large.contains("stream(B)"),
        "{text}"
    );
    assert!(!others.contains("stream"), "{text}");
}

#[test]
fn accesses_say_which_loops_move_them() {
    let script = "
        let A = tensor([4, 6], \"f32\");
        let x = tensor([9], \"f32\");
        let B = eq(vmul(A, x, [[i, j], [i + j]]), [i, j]);
        for a in accesses(build(B)) { print(`${a.tensor} ${a.loops} ${a.index} ${a.bytes} ${a.write}`); }";
    assert_eq!(
        printed(script),
        "B [[\"i\"], [\"j\"]] [i, j] 4 true\nA [[\"i\"], [\"j\"]] [i, j] 4 false\n\
         x [[\"i\", \"j\"]] [i + j] 4 false\n"
    );
}

#[test]
fn vector_loops_that_are_left_to_the_compiler_say_so() {
    let script = "
        let lanes = nest(`
          f64 y[8][8]
          for i in 0..8
            for j in 0..i
              y[i][j] = 1
        `).vectorize(\"i\");
        let A = tensor([8, 6]);
        let B = eq(A, [i, j] -> [i, j]);
        let inner = build(B).vectorize(\"j\");";
    let text = printed(&format!("{script} print(lanes); print(inner);"));
    let remark =
        "vector for i in 0..8  // left to the compiler: the bounds of loop j depend on i\n";
    assert!(text.contains(remark), "{text}");
    assert_eq!(text.matches("//").count(), 1, "{text}");
    // It is read again, remark and all.
    let again = "print(`${nest(`${lanes}`)}` == `${lanes}`);";
    assert_eq!(printed(&format!("{script} {again}")), "true\n");
    let line = "loop `i` is marked vector, and is left to the compiler: the bounds of loop j depend on i\n";
    let output = Output::default();
    let workbench = Workbench {
        runner: std::sync::Arc::new(teml::trial::Collect),
        ..Workbench::default()
    };
    let mut session = Session::new(Box::new(output.clone()), workbench).unwrap();
    let runs = format!("{script} run(lanes.named(\"lanes\")); run(inner);");
    session.run_text("test.rhai", &runs).unwrap();
    let text = output.text();
    assert_eq!(text, format!("lanes: {line}"));
}

#[test]
fn a_variant_has_the_name_of_the_callers_variable() {
    let script = r#"
        fn swapped(l) { l = l.interchange(1, 2); l }
        fn twice(l) { let inner = swapped(l); let more = inner.tile([2, 2]); more }
        fn both(C) { let plain = build(C); let tiled = plain.tile([2, 2]); [plain, tiled] }
        let A = tensor([30, 40]);
        let B = eq(A, [i, j] -> [i, j]);
        let naive = build(B);
        let plan = swapped(naive);
        let other = twice(naive);
        let closed = (|l| { let hidden = l.reverse(1); hidden }).call(naive);
        let third = named(swapped(naive), "chosen");
        let list = both(B);
        let same = naive;
        let of_list = list[1];
        compare([naive, plan, other, closed, third]);
        compare(list);
        compare([same, of_list]);
    "#;
    let output = Output::default();
    let workbench = Workbench {
        runner: Arc::new(teml::trial::Check::default()),
        ..Workbench::default()
    };
    let mut session = Session::new(Box::new(output.clone()), workbench).unwrap();
    session.run_text("test.rhai", script).unwrap();
    let text = output.text();
    let labels: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_suffix(": legal"))
        .collect();
    let expected = [
        "naive", "plan", "other", "closed", "chosen", "plain", "tiled", "naive", "tiled",
    ];
    assert_eq!(labels, expected, "{text}");
}

#[test]
fn comparisons_of_tensors_say_what_to_write() {
    let readings = "has two readings";
    let truth = "must be a truth value";
    for (comparison, what, help) in [
        ("A > 0", truth, "`where(A > 0, a, b)`"),
        ("B == 0", truth, "`where(A > 0, a, b)`"),
        ("A == 2 * A", readings, r#"`vselect(A, "==", …, 1, 0)`"#),
        ("A != B", readings, r#"`vselect(A, "!=", B, 1, 0)`"#),
        ("A != B", readings, "`equal(A, B)`"),
    ] {
        let script = format!(
            "let A = tensor([4, 5]); let B = eq(A + 1, [i, j] -> [i, j]); if {comparison} {{}}"
        );
        let error = error(&script);
        let text = error.render(false);
        assert!(text.contains(what), "{text}");
        assert!(text.contains(help), "{comparison}: {text}");
    }
    let script = "let A = tensor([4]); print(A > 0); print(0.5 <= A); print(vat(A, [i]) == 1);";
    let expected = "f64 A[4]\n[_1] -> select(A[_1] > 0, 1, 0)\nf64 A[4]\n\
                    [_1] -> select(0.5 <= A[_1], 1, 0)\nf64 A[4]\nselect(A[i] == 1, 1, 0)\n";
    assert_eq!(printed(script), expected);
    // Whether a variable holds anything, and texts and nests, are still compared.
    let script = "let A = tensor([4]); print(A == ()); print(`${A}` == `${A}`);
                  let C = eq(A, [i] -> [i]); let n = build(C); print(n == n);";
    assert_eq!(printed(script), "false\ntrue\ntrue\n");
}

#[test]
fn choices_between_numbers_with_decimals_are_no_integers() {
    let script = r#"
        let mask = eq(vselect(vindex(j), "<=", vindex(i), 1.0, 0.0), [i, j], [3, 4]);
        print(mask);
        let k = tensor([4], "i32");
        print(select(k, ">", 0, 1.0, 0, [[i]] -> [i]));
        print(select(k, ">", 0, 1, 0, [[i]] -> [i]));
        let x = tensor([4], "f32");
        print(select(x, ">", 0, 1.0, 0.0, [[i]] -> [i]));
    "#;
    let expected = "f64 mask[3][4]\nmask[i][j] = select(index(j) <= index(i), 1, 0)\n\
                    f64 □[4]\ni32 k[4]\n□[i] = select(k[i] > 0, 1, 0)\n\
                    i32 □[4], k[4]\n□[i] = select(k[i] > 0, 1, 0)\n\
                    f32 □[4], x[4]\n□[i] = select(x[i] > 0, 1, 0)\n";
    assert_eq!(printed(script), expected);
}

#[test]
fn a_notation_is_that_of_the_argument_or_an_error() {
    let tensors = "let A = tensor([4, 5]); let B = tensor([5, 6]);
                   let C = contract(A, B, [2, 1]);";
    let teil = printed(&format!(r#"{tensors} print(notation(C, "teil"));"#));
    let again = printed(&format!(
        "{tensors} let p = teil(`{teil}`); print(notation(p, \"teil\"));"
    ));
    assert_eq!(teil, again);
    assert!(teil.contains("alloc output C : [4, 6]"), "{teil}");
    for (call, expected) in [
        ("notation(C, \"nonsense\")", "must be \"model\""),
        ("notation(A, \"nonsense\")", "not the string \"nonsense\""),
        ("notation(A, \"teil\")", "a tensor that nothing computes"),
        ("notation(A + 1, \"sac\")", "a tensor that nothing computes"),
        ("notation(build(C), \"teil\")", "a nest has loops"),
        ("notation(C, 3)", "must be \"model\""),
    ] {
        let message = error(&format!("{tensors} {call};")).diagnostic.message;
        assert!(message.contains(expected), "{call}: {message}");
    }
}

#[test]
fn ranges_are_given_to_generated_iterators() {
    let script = r#"
        fn inner(a) {
            let I = iterators(shape(a).len());
            let r = #{};
            let s = shape(a);
            for k in 0..s.len() { r[I[k].to_string()] = range(1, s[k] - 1); }
            partition([eq(a + 1, I -> I, r)], a)
        }
        let v = tensor([8]);
        let w = inner(v);
        print(w);
        let m = tensor([5, 6]);
        let x = inner(m);
        print(check(build(x)).legal);
    "#;
    let text = printed(script);
    assert!(text.contains("where _1 in 1..7"), "{text}");
    assert!(text.ends_with("true\n"), "{text}");
    let unknown = "let v = tensor([8]); eq(v, [i] -> [i], #{\"_7\": 0..3});";
    let message = error(unknown).diagnostic.message;
    assert!(message.contains("gives a range to `_7`"), "{message}");
}

#[test]
fn array_expressions_blame_what_is_no_array() {
    for (script, expected) in [
        (
            "let m = tensor([3, 4]); let n = m + 1; let z = sac { iv -> n[iv] };",
            "`n` is an expression without memory",
        ),
        (
            "let s = 2.5; let z = sac { [x] -> s[x] };",
            "`s` is the number 2.5",
        ),
        (
            "let m = tensor([3]); let z = sac { [x] -> m[x] + q[x] + missing[x] };",
            "`q` has no value here",
        ),
        (
            "let m = tensor([3]); let z = sac { iv -> missing[iv] };",
            "`missing` has no value here",
        ),
    ] {
        let text = error(script).render(false);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn variables_that_may_be_meant_as_iterators_are_named() {
    let tensors = "let A = tensor([4, 5]); let B = eq(A, [i, j] -> [i, j]); let n = build(B);";
    for (script, expected) in [
        (
            "let k = tensor([4]); vindex(k);",
            "reads as an iterator, but the variable `k`",
        ),
        (
            "let k = tensor([4]); eq(A, [i, j] -> [i, j], #{j: 0..k});",
            "reads as an iterator, but the variable `k`",
        ),
        (
            "let i = n; n.interchange(i, \"j\");",
            "`i` is a loop of the nest, but the variable `i`",
        ),
        (
            "let j = A; n.reorder([j, \"i\"]);",
            "`j` is a loop of the nest, but the variable `j`",
        ),
    ] {
        let text = error(&format!("{tensors} {script}")).render(false);
        assert!(text.contains(expected), "{script}: {text}");
    }
}

#[test]
fn one_list_of_iterators_is_proposed_twice_where_the_value_has_none() {
    let tensors = "let q = tensor([9]); let m = tensor([4, 5]);";
    for (script, expected) in [
        ("eq(q * 2 + 1, [i + 1])", "`[i] -> [i + 1]`"),
        ("eq(m, [j, i])", "`[i, j] -> [j, i]`"),
        ("tanh(m, [i2, i1])", "`[i1, i2] -> [i2, i1]`"),
        ("cast(m, \"f32\", [j, i])", "`[j, i] -> [j, i]`"),
        ("eq(m, [i, i])", "`[i, i] -> [i, i]`"),
    ] {
        let text = error(&format!("{tensors} let z = {script};")).render(false);
        assert!(text.contains(expected), "{script}: {text}");
    }
    // Other lists have one reading.
    for (one, both) in [
        ("eq(q * 2 + 1, [i])", "eq(q * 2 + 1, [i] -> [i])"),
        ("tanh(m, [r, c])", "tanh(m, [r, c] -> [r, c])"),
        (
            "cast(m, \"f32\", [i, j])",
            "cast(m, \"f32\", [i, j] -> [i, j])",
        ),
    ] {
        let script = format!("{tensors} let z = {one}; print(z); z = {both}; print(z);");
        let text = printed(&script);
        let (first, second) = text.split_at(text.len() / 2);
        assert_eq!(first, second, "{one}");
    }
}

#[test]
fn operations_with_one_header_have_one_section() {
    let page = session().0.reference();
    let once = |text: &str| assert_eq!(page.matches(text).count(), 1, "{text}");
    once("introduce tensors that are backed by");
    once("choose between two values by comparing");
    once("combine two tensor expressions and");
    for name in [
        "tensor", "scalar", "vselect", "select", "sub", "vcast", "cast",
    ] {
        once(&format!("id=\"{name}\""));
    }
}

#[test]
fn texts_of_nests_know_the_sizes_of_the_script() {
    let declared = "let n = size(\"N\", #{likely: 50}); let t = size(\"T\"); let A = tensor([n]);";
    let shown = printed(&format!(
        "{declared} print(nest(`\n  ${{A}}\n  for k in 0..${{t}}\n    for i in 0..N - 1\n      \
         A[i] = A[i + 1]\n`));"
    ));
    let expected = "f64 A[N]\nfor k in 0..T\n  for i in 0..N - 1\n    A[i] = A[i + 1]";
    assert!(shown.contains(expected), "{shown}");
    // The iterator of a loop is not a size.
    let shown = printed(&format!(
        "{declared} print(nest(`\n  f64 x[3]\n  for T in 0..3\n    x[T] = 1\n`));"
    ));
    assert!(shown.contains("for T in 0..3"), "{shown}");
}
