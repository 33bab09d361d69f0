//! The messages for wrong texts: ten texts in each notation. `INSTA_UPDATE=always` accepts new
//! messages: read them first.

use teml::script::Session;
use teml::verbs::Workbench;

fn told(function: &str, text: &str, sizes: &str) -> String {
    let mut session = Session::new(Box::new(std::io::sink()), Workbench::default()).unwrap();
    let script = format!("print({function}(`\n{text}\n`{sizes}));");
    match session.run_text("script.rhai", &script) {
        Ok(()) => panic!("this is accepted:\n{text}"),
        Err(error) => error.render(false),
    }
}

fn check(notation: &str, sizes: &str, texts: &[&str]) {
    assert!(texts.len() >= 10);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("messages");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let all: Vec<String> = texts
        .iter()
        .map(|text| told(notation, text, sizes))
        .collect();
    settings.bind(|| insta::assert_snapshot!(notation, all.join("\n")));
}

#[test]
fn wrong_texts_of_the_model_language() {
    check(
        "model",
        "",
        &[
            "var A : [3 4]\nvar A : [4 3]\nA = A",
            "var A : [3 4]\nB = A",
            "var A : [3 4]\nvar B : [4 3]\nB = A",
            "var A : [3 4]\nA = A + a",
            "var A : [3 4]\nvar B : [4 3]\nA = A + B",
            "var A : [3 4]\nvar s : []\ns = A . [1 2]",
            "var A : [3 4]\nvar s : []\nA = A * s",
            "var A : [3 4]\nA = A ^ [1 3]",
            "var A : [m 3]\nA = A",
            "var A : [3, 4]\nA = A",
            "var A : [3 4\nA = (A # A . [2 3]\nA = A $ A",
            "var input A : [3]\nvar output B : [3]\nvar T : [3]\nB = A + T",
            "var A : [0 3]\nvar _B : [3]\nA = A",
        ],
    );
}

#[test]
fn wrong_texts_of_teil() {
    check(
        "teil",
        ", #{m: 3, n: 4}",
        &[
            "alloc A : [m, n]\nA = add A",
            "alloc A : [m, k]\nA = A",
            "alloc A : [m, n]\nA = diag 1 2 A",
            "alloc A : [m, m]\nalloc B : [m]\nB = diag 2 1 A",
            "alloc A : [m, n]\nalloc B : [m]\nB = red+ 3 A",
            "alloc A : [m, n]\nalloc B : [m]\nB = proj 2 5 A",
            "alloc A : [m]\nalloc B : [m, n]\nB = expa 4 4 A",
            "alloc A : [m]\nA = mul A (red+ 1 A)",
            "alloc A : [m, n]\nalloc B : [n, m]\nA = transp 1 2 B\nB = B + B",
            "alloc add : [m]\nadd = add",
            "alloc A : [m]\nA = prod A A",
            "alloc s : []\ns = diag s",
            "alloc A : [m]\nA = transp 1 A",
            "alloc A : [m, m]\nalloc B : [m]\nA = expa q B\nA = expa 1 q B",
            "alloc A : [m]\nA = shift 1 -3 A",
            "alloc A : [m]\nA = shift 2 1 A",
            "alloc A : [m]\nA = add A (shift 1 A)",
        ],
    );
}

#[test]
fn wrong_texts_of_sac() {
    check(
        "sac",
        ", #{n: 10}",
        &[
            "double[n] v;\nw = { [i] -> v[i+1] | [i] < [n] };",
            "c = { [i] -> i };",
            "double[n] v;\nw = { [i] -> v[i] | [j] < [n] };",
            "c = { [i] -> 1 | [i] < [20]; [i] -> 2 | [i] < [10] };",
            "c = { [i] -> [1,2] | [i] < [5]; [i] -> [1,2,3] | [i] < [10] };",
            "double[n] v;\ndouble[3] w;\nx = v + w;",
            "double[n] v;\nx = V;",
            "double[n] v;\nx = take([11], v);",
            "c = { [i,i] -> i | [i,i] < [3,3] };",
            "c = { [i,.,.] -> [1,2] + i | [i] < [3] };",
            "double[n] v;\nx = v[2,3];\n",
            "double[n] v;\nx = { [i] -> v[i*i] };",
            "double[n] v\nx = v;\ny = sum(v, v);\nz = { [i] -> };",
            "double[n] v;\nx = median(v);",
            "double[n] v;\nx = with { ([0] <= iv < [9] step [0]) : 1; } : modarray(v);",
            "double[n] v;\nx = with { ([0] <= iv < [9] step [2] width [3]) : 1; } : modarray(v);",
            "double[n] v;\nx = with { ([0] <= iv < [9] width [3]) : 1; } : modarray(v);",
            "double[n] v;\nx = { [i] -> v[i] < 1 ? v : v[i] };",
            "double[n] v;\nx = v == 1 ? v : v + 1;",
            "double f(double x) { return x; }\ndouble[n] v;\ny = f(v);",
            "double f(double[.] x) { return x + z; }\ndouble[n] v;\ny = f(v);",
            "double f(double x) { return f(x); }\ny = f(1);",
            "double f(double x) { return x; }\ndouble f(int k) { return k; }\ny = f(1, 2);",
        ],
    );
}

#[test]
fn wrong_texts_of_the_operator_language() {
    check(
        "operators",
        ", #{n: 4}",
        &[
            "auto A = Matrix(n, n);\nauto u = Tensor<2>(n, n, n);\nauto v = (A*A)(u);",
            "auto A = Matrix(n, n);\nauto u = Tensor<2>(n, n);\nauto v = A(u);",
            "auto A = Matrix(n, n);\nauto L = A*A;\nauto L = A;",
            "auto A = Matrix(n, n);\nauto u = Tensor<2>(n, n);\nauto v = (A*A + A)(u);",
            "auto A = Matrix(n, n);\nauto u = Tensor<2>(n, n);\nauto v = u/A;\nauto w = u/0;",
            "auto A = Matrix(n, n);\nauto u = Tensor<3>(k, k, k);\nauto v = (A*A)(u);",
            "auto v = 2;",
            "auto A = Matrix(n, n);\nauto u = Tensor<1>(n);\nauto v = A(w);",
            "auto A = Matrix(n, 3);\nauto u = Tensor<1>(n);\nauto v = A(u);",
            "auto A = Matrix(n, n);\nauto u = Tensor<1>(n);\nauto v = A + u;",
            "auto A = Matrix(n, n);\nauto u = Tensor<1>(n);\nauto v = u(A);",
            "auto A = Matrix(k, n);\nauto u = Tensor<1>(n);\nauto v = A(u);",
            "auto A = Matrix(n, n)\nauto u = Tensor<1>(n);\nauto v = A(u);",
            "auto A = Matrix(n, n);\nauto A = Matrix(n, n);\nauto u = Tensor<1>(n);\nauto v = A(u);",
            "auto u = Tensor<1>(n), w = Tensor<2>(n, n);\nauto v = u + w;",
        ],
    );
}
