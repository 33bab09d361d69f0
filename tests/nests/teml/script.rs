//! TeML's state σ (§3.2): what programs and statements do to it, eqs. 10, 11, 17, 18 and 26.

use teml::script::Session;
use teml::verbs::Workbench;

/// A session; its variables are the state σ.
struct State(Session);

impl State {
    /// The empty state.
    fn new() -> State {
        let output = Box::new(std::io::sink());
        State(Session::new(output, Workbench::default()).unwrap())
    }

    fn run(&mut self, program: &str) -> &mut State {
        if let Err(error) = self.0.run_text("program", program) {
            panic!("{}", error.diagnostic.message);
        }
        self
    }

    fn refuses(&mut self, program: &str) -> String {
        let before = self.all();
        let error = self.0.run_text("program", program).unwrap_err();
        assert_eq!(self.all(), before, "{program}");
        error.diagnostic.message
    }

    /// σ(id).
    fn at(&mut self, id: &str) -> String {
        let shown = self.0.eval_line(&format!("notation({id})"));
        let shown = shown.unwrap_or_else(|error| panic!("{}", error.diagnostic.message));
        let shown = shown.unwrap();
        let text = shown
            .strip_prefix("=> \"")
            .and_then(|t| t.strip_suffix('"'));
        text.unwrap_or_else(|| panic!("no string: {shown}"))
            .to_owned()
    }

    /// dom(σ) with the trees.
    fn all(&mut self) -> Vec<(String, String)> {
        let variables = self.0.variables();
        variables
            .into_iter()
            .map(|id| (id.clone(), self.at(&id)))
            .collect()
    }
}

const DECLARATIONS: &str = "let A = tensor([4, 5]); let B = tensor([5, 4]);";

#[test]
fn eq_10_the_empty_program() {
    let mut state = State::new();
    assert_eq!(state.run("").all(), []);
    let before = state.run(DECLARATIONS).all();
    assert_eq!(before.len(), 2);
    assert_eq!(state.run("").all(), before);
    assert_eq!(state.run("// nothing").all(), before);
}

#[test]
fn eq_11_a_program_is_its_first_statement_then_the_rest() {
    let statements = [
        "let A = tensor([4, 5]);",
        "let B = eq(A, [i1, i2] -> [i2, i1]);",
        "let l = build(B);",
        "let m = l.unroll(2);",
    ];
    let whole = State::new().run(&statements.concat()).all();
    assert_eq!(whole.len(), 4);
    for split in 0..=statements.len() {
        let (s, p) = statements.split_at(split);
        let mut state = State::new();
        assert_eq!(state.run(&s.concat()).run(&p.concat()).all(), whole);
    }
}

#[test]
fn eq_17_the_variable_names_the_tensor() {
    let mut state = State::new();
    state.run(DECLARATIONS);
    assert_eq!(state.at("A"), "⟨(A, [4, 5], ε), []⟩");
    state.run("let s = scalar();");
    assert_eq!(state.at("s"), "⟨(s, [], •), []⟩");
    // x[id/□] replaces what σ had for id; A keeps its tree.
    state.run("B = eq(A, [i1, i2] -> [i2, i1]);");
    let b = "⟨(=, •, •), [⟨(B, [5, 4], [i2, i1]), []⟩, ⟨(A, [4, 5], [i1, i2]), []⟩]⟩";
    assert_eq!(state.at("B"), b);
    assert_eq!(state.at("A"), "⟨(A, [4, 5], ε), []⟩");
    // A virtual expression has no □, so the variable appears nowhere in it.
    state.run("let D = vadd(A, A, [[i, j], [i, j]]);");
    assert!(!state.at("D").contains('D'));
}

#[test]
fn eq_17_assignments_fit_what_was_declared() {
    let mut state = State::new();
    state.run(DECLARATIONS);
    let message = state.refuses("B = eq(A, [i1, i2] -> [i1, i2]);");
    assert!(message.contains("dimension 1 of B (extent 5)"), "{message}");
    // A tensor that was not introduced gets the inferred shape, as B does in Fig. 4.
    state.run("C = eq(A, [i1, i2] -> [i1, i2]);");
    assert!(state.at("C").contains("⟨(C, [4, 5], [i1, i2]), []⟩"));
    // Part of a tensor may be assigned: its shape is the declared one, not the inferred one.
    state.run("let x = tensor([10]); let y = tensor([10]);");
    state.run("y = add(x, x, [[i - 1], [i + 1]] -> [i]);");
    assert!(state.at("y").contains("⟨(y, [10], [i]), []⟩"));
    // A scalar that is assigned stays a scalar.
    state.run("let s = scalar(); s = eq(vsum(vmul(x, x, [[i], [i]]), [i]), []);");
    assert!(state.at("s").contains("⟨(s, [], •), []⟩"));
}

#[test]
fn eq_18_another_name_in_the_tree_than_in_the_state() {
    let mut state = State::new();
    state.run("let A = tensor([4, 4]); let B = tensor([4, 4]); let C = tensor([4, 4]);");
    state.run("let D = @C: add(A, B, [[i1, i2], [i1, i2]] -> [i1, i2]);");
    assert_eq!(
        state.at("D"),
        "⟨(=, •, •), [⟨(C, [4, 4], [i1, i2]), []⟩, \
         ⟨(+, [4, 4], •), [⟨(A, [4, 4], [i1, i2]), []⟩, ⟨(B, [4, 4], [i1, i2]), []⟩]⟩]⟩"
    );
    // σ has a new tree for D, and none for C.
    assert_eq!(state.at("C"), "⟨(C, [4, 4], ε), []⟩");
    // id2 must have been introduced with tensor, or scalar, and fit.
    let message = state.refuses("let E = @F: add(A, B, [[i, j], [i, j]] -> [i, j]);");
    assert!(message.contains('F'), "{message}");
    state.run("let G = tensor([5, 5]);");
    let message = state.refuses("let E = @G: add(A, B, [[i, j], [i, j]] -> [i, j]);");
    assert!(message.contains("does not fit `G`"), "{message}");
}

#[test]
fn eq_18_renames_scalars_and_parts_of_tensors() {
    let mut state = State::new();
    state.run("let x = tensor([10]); let y = tensor([10]); let s = scalar();");
    state.run("let d = @y: add(x, x, [[i - 1], [i + 1]] -> [i]);");
    assert!(state.at("d").contains("⟨(y, [10], [i]), []⟩"));
    // Two trees that name s mean the same scalar, and C has one parameter for it.
    state.run("let t = @s: eq(vsum(vmul(x, x, [[i], [i]]), [i]), []);");
    assert!(state.at("t").contains("⟨(s, [], •), []⟩"));
    state.run("let z = mul(x, s, [[i], ] -> [i]); codegen(build(t), build(z));");
}

#[test]
fn eq_26_loops_are_bound_as_they_are() {
    let mut state = State::new();
    state.run("let A = tensor([2, 3]); let B = eq(A, [i1, i2] -> [i1, i2]);");
    let b = state.at("B");
    state.run("let l = build(B); let m = l; let n = interchange(l, 1, 2);");
    assert_eq!(state.at("l"), format!("⟨i1, [⟨i2, [{b}]⟩]⟩"));
    assert_eq!(state.at("m"), state.at("l"));
    // No □ is filled: the variable appears nowhere in the tree, and l keeps its own.
    assert_eq!(state.at("n"), format!("⟨i2, [⟨i1, [{b}]⟩]⟩"));
    assert_eq!(state.at("l"), format!("⟨i1, [⟨i2, [{b}]⟩]⟩"));
    // An existing mapping is overwritten.
    state.run("l = stripmine(l, 1, 2);");
    let mined = b.replace("i1", "i1_i");
    assert_eq!(
        state.at("l"),
        format!("⟨i1_o, [⟨i1_i, [⟨i2, [{mined}]⟩]⟩]⟩")
    );
    assert_eq!(state.at("m"), format!("⟨i1, [⟨i2, [{b}]⟩]⟩"));
}

/// σ(id) for the program of a figure, and the nest built from it. The program is
/// run as it is printed, with a semicolon after each statement.
fn figure(program: &str, id: &str) -> [String; 2] {
    let mut state = State::new();
    state.run("let N = 4; let N1 = 4; let N2 = 5;").run(program);
    [state.at(id), state.at(&format!("build({id})"))]
}

#[test]
fn programs_of_figs_4_to_6() {
    let [b, nest] = figure(
        "A = tensor([N1, N2]);
         B = eq(A, [i1, i2] -> [i2, i1]);",
        "B",
    );
    assert_eq!(
        b,
        "⟨(=, •, •), [⟨(B, [5, 4], [i2, i1]), []⟩, ⟨(A, [4, 5], [i1, i2]), []⟩]⟩"
    );
    assert_eq!(nest, format!("⟨i1, [⟨i2, [{b}]⟩]⟩"));

    let [d, nest] = figure(
        "A = tensor([N, N]);
         B = tensor([N, N]);
         C = tensor([N, N]);
         D = @C:add(A, B, [[i1, i2], [i1, i2]] -> [i1, i2]);",
        "D",
    );
    let sum = "⟨(+, [4, 4], •), [⟨(A, [4, 4], [i1, i2]), []⟩, ⟨(B, [4, 4], [i1, i2]), []⟩]⟩";
    assert_eq!(
        d,
        format!("⟨(=, •, •), [⟨(C, [4, 4], [i1, i2]), []⟩, {sum}]⟩")
    );
    assert_eq!(nest, format!("⟨i1, [⟨i2, [{d}]⟩]⟩"));

    let [e, nest] = figure(
        "A = tensor([N, N]);
         B = tensor([N, N]);
         C = tensor([N, N]);
         D = vadd(A, B, [[i1, i2], [i1, i2]]);
         E = mul(C, D, [[i1, i2], ] -> [i1, i2]);",
        "E",
    );
    assert_eq!(
        e,
        format!(
            "⟨(=, •, •), [⟨(E, [4, 4], [i1, i2]), []⟩, \
             ⟨(*, [4, 4], •), [⟨(C, [4, 4], [i1, i2]), []⟩, {sum}]⟩]⟩"
        )
    );
    assert_eq!(nest, format!("⟨i1, [⟨i2, [{e}]⟩]⟩"));
}
