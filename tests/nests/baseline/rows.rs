//! TeML's Table 2, row by row: with these options of Pluto, the baseline's path gives the nests of
//! the paper's calls, up to the names of loops. tests/table2.rs has the calls themselves.

use super::table::{TABLE, definition};
use super::{nest, string};
use teml::ir::{Loop, Nest, Tree};
use teml::legality::{Reductions, Verdict, check};

#[test]
fn the_rows_of_the_papers_table() {
    for row in &TABLE {
        let kernel = row.kernel;
        let call = format!("pluto(l, {})", row.options);
        let printed = string(row.definition, &format!("`${{path({call})}}`"));
        assert_eq!(steps(&printed), row.path, "{kernel}");
        let found = nest(row.definition, &call);
        assert_eq!(loops(&found), row.loops, "{kernel}: {found}");
        assert_eq!(check(&[found], Reductions::Strict), Verdict::Legal);
        let found = nest(row.definition, &format!("{call}{}", row.beside));
        let paper = nest(&format!("{}{}", row.definition, row.paper), "p");
        assert_eq!(renamed(&found), renamed(&paper), "{kernel}");
    }
}

/// The steps at the end of a printed path, after the nests of a list have become one.
fn steps(path: &str) -> Vec<&str> {
    let lines: Vec<&str> = path.lines().collect();
    let is_step = |line: &&str| line.starts_with("    .");
    let first = lines.iter().rposition(|line| !is_step(line));
    let steps = lines.iter().skip(first.map_or(0, |k| k + 1));
    let joins = |line: &&str| line.starts_with(".fuse_outer(nest_");
    let steps = steps.map(|line| line.trim_start());
    steps.skip_while(joins).collect()
}

/// The statements of a nest, with loops renamed to their numbers in textual order.
fn renamed(nest: &Nest) -> Vec<String> {
    let loops = nest.loops();
    let number = |word: &str| loops.iter().position(|(_, l)| l.name.as_str() == word);
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let text = nest.to_string();
    let executed = text.lines().skip(1).filter(|l| !l.starts_with("fill "));
    let line = |line: &str| {
        let mut new = String::new();
        for part in line.split_inclusive(|c| !is_name(c)) {
            let word = part.trim_end_matches(|c| !is_name(c));
            match number(word) {
                Some(k) => new += &format!("loop{k}{}", &part[word.len()..]),
                None => new += part,
            }
        }
        new
    };
    executed.map(line).collect()
}

/// The loops around each statement, the outermost first, with `parallel` and `vector`.
fn loops(nest: &Nest) -> Vec<String> {
    fn walk(trees: &[Tree], around: &mut Vec<String>, found: &mut Vec<String>) {
        for tree in trees {
            match tree {
                Tree::Loop(l) => {
                    around.push(marked(l));
                    walk(&l.body, around, found);
                    around.pop();
                }
                Tree::Stmt(_) => found.push(around.join(", ")),
                Tree::Fill(_) | Tree::Local(_) => {}
            }
        }
    }
    fn marked(l: &Loop) -> String {
        let marks = [(l.is_parallel(), "parallel "), (l.is_vector(), "vector ")];
        let marks = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark);
        format!("{}{}", marks.collect::<String>(), l.name)
    }
    let mut found = Vec::new();
    walk(nest.trees(), &mut Vec::new(), &mut found);
    found
}

/// Asserts the loops of the baseline's nest, which is legal.
#[track_caller]
fn row(script: &str, call: &str, expected: &[&str]) {
    let nest = nest(script, call);
    assert_eq!(loops(&nest), expected, "{nest}");
    assert_eq!(check(&[nest], Reductions::Strict), Verdict::Legal);
}

/// With vectors, the loop that moves inward goes all the way.
#[test]
fn mttkrp_with_vectors() {
    row(
        definition("mttkrp"),
        "pluto(l, #{tile: false, unrolljam: false})",
        &["parallel i, k, l, vector j"],
    );
}

/// The default fuses as far as the sums allow.
#[test]
fn interp_fused() {
    row(
        definition("interp"),
        "pluto(l, #{tile: false, unrolljam: false})",
        &[
            "parallel e, i, n, m, l",
            "parallel e, i, n, m, j",
            "parallel e, i, n, j_2, k",
        ],
    );
}

/// The inverse operator of scripts/helm.rhai is a chain of six contractions. The fusions of the
/// paper's row do not compute it (tests/table2.rs): at level 5 they read incomplete sums. Its
/// vector loops at the levels 2 and 3 are not Pluto's either. With `i` or `j` innermost, results
/// are written with a stride, and Pluto vectorizes only loops whose accesses are all invariant or
/// unit-stride. The rest of the row applies: each nest runs on threads over the elements of the
/// mesh, and `k` is a vector loop in the third nest.
#[test]
fn a_chain_of_contractions() {
    let script = r#"
        A = tensor([5, 5])
        D = tensor([7, 5, 5, 5])
        u = tensor([7, 5, 5, 5])
        t1 = einsum("li,elmn->eimn", A, u)
        t2 = einsum("mj,eimn->eijn", A, t1)
        t = einsum("nk,eijn->eijk", A, t2)
        v1 = einsum("il,elmn->eimn", A, ventrywise_div(t, D))
        v2 = einsum("jm,eimn->eijn", A, v1)
        v = einsum("kn,eijn->eijk", A, v2)
        l = [t1, t2, t, v1, v2, v].map(|x| build(x))"#;
    row(
        script,
        "pluto(l, #{tile: false, fuse: \"nofuse\", unrolljam: false})",
        &[
            "parallel e, i, m, l, vector n",
            "parallel e_2, i_2, j, m_2, vector n_2",
            "parallel e_3, i_3, j_2, n_3, vector k",
            "parallel e_4, i_4, m_3, l_2, vector n_4",
            "parallel e_5, i_5, j_3, m_4, vector n_5",
            "parallel e_6, i_6, j_4, k_2, n_6",
        ],
    );
    // Fused, all of them share the elements, and more where sums allow: the last three, which the
    // paper fuses, four loops and three.
    row(
        script,
        "pluto(l, #{tile: false, unrolljam: false})",
        &[
            "parallel e, i, n, m, l",
            "parallel e, i, n, m, j",
            "parallel e, i, n, j_2, vector k",
            "parallel e, i_4, n_4, m_3, l_2",
            "parallel e, i_4, n_4, m_3, j_3",
            "parallel e, i_4, n_4, j_4, k_2",
        ],
    );
}

/// The other kernels of Table 1, which the paper leaves to the literature.
#[test]
fn mm_and_tmm() {
    let script = "
        A = tensor([40, 35])
        B = tensor([35, 50])
        C = contract(A, B, [2, 1])
        mm = build(C)
        At = tensor([35, 40])
        Ct = contract(vtranspose(At, [[1, 2]]), B, [2, 1])
        tmm = build(Ct)";
    for nest in ["mm", "tmm"] {
        row(
            script,
            &format!("pluto({nest}, #{{unrolljam: false}})"),
            &["parallel i1_o, i2_o, i3_o, i1_i, i3_i, vector i2_i"],
        );
    }
}
