//! TeML's Table 2: the paths that reproduce Pluto's, with the paper's own calls and level
//! numbers, and the order of loops that they imply. Extents are small; no path depends on them.

use std::process::Command;

/// The output of the script, or the error.
fn run(script: &str) -> Result<String, String> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("table2.rhai");
    std::fs::write(&file, script).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_teml"))
        .arg("run")
        .arg(&file)
        .env("TEML_CACHE_DIR", directory.path())
        .output()
        .unwrap();
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap())
    } else {
        Err(String::from_utf8(output.stderr).unwrap())
    }
}

/// The loops of each nest that `script` prints: names from the outermost inward, with `parallel`
/// and `vector`.
fn loops(script: &str) -> Vec<String> {
    let printed = run(script).unwrap_or_else(|error| panic!("{error}"));
    let mut nests: Vec<Vec<String>> = Vec::new();
    for line in printed.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with("f64 ") {
            nests.push(Vec::new());
        }
        let at = words.iter().position(|w| *w == "for");
        if let (Some(at), Some(nest)) = (at, nests.last_mut()) {
            nest.push([&words[..at], &words[at + 1..at + 2]].concat().join(" "));
        }
    }
    nests.iter().map(|loops| loops.join(", ")).collect()
}

#[test]
fn mttkrp() {
    let script = r#"
        B = tensor([3, 4, 5])
        C = tensor([4, 6])
        D = tensor([5, 6])
        A = einsum("ikl,lj,kj->ij", B, D, C)
        l = build(A)
        print(l)
        l = parallelize(l, 1)
        l = interchange(l, 2, 3)
        print(l)
        compare([build(A), l])"#;
    let found = loops(script);
    assert_eq!(found, ["i, j, k, l", "parallel i, k, j, l"]);
}

#[test]
fn sddmm() {
    let script = r#"
        B = tensor([3, 4])
        C = tensor([3, 5])
        D = tensor([5, 4])
        A = entrywise_mul(B, vcontract(C, D, [2, 1]))
        l = build(A)
        print(l)
        l = interchange(l, 2, 3)
        l = parallelize(l, 1)
        l = vectorize(l, 3)
        print(l)
        compare([build(A), l])"#;
    // The reduction moves out of the vector loop, which reads and writes rows.
    assert_eq!(loops(script), ["i1, i2, i3", "parallel i1, i3, vector i2"]);
}

#[test]
fn bmm() {
    let script = r#"
        A = tensor([5, 40, 33])
        B = tensor([5, 33, 36])
        C = einsum("bik,bkj->bij", A, B)
        l = build(C)
        print(l)
        l = tile(l, 32)
        print(l)
        l = interchange(l, 7, 8)
        l = parallelize(l, 1)
        l = vectorize(l, 8)
        print(l)
        compare([build(C), l])"#;
    assert_eq!(
        loops(script),
        [
            "b, i, j, k",
            "b_o, i_o, j_o, k_o, b_i, i_i, j_i, k_i",
            "parallel b_o, i_o, j_o, k_o, b_i, i_i, k_i, vector j_i",
        ]
    );
}

/// The paper has two nests of nine levels, but the convolution has eight iterators. Its path
/// vectorizes the innermost loop, which therefore indexes the result, and moves a loop from level 4
/// inward through two others. This fits if the width is stripmined and the loop within blocks is
/// innermost. In the first nest, the channels, which are summed over, come before height and width.
/// The second nest has them in place.
#[test]
fn gconv() {
    let script = r#"
        I = tensor([2, 3, 4, 8, 18])
        W = tensor([3, 2, 4, 3, 3])
        IW = vmul(I, W, [[n, g, c, h + kh, w + kw], [g, f, c, kh, kw]])
        O = eq(vsum(IW, [c, kh, kw]), [n, g, f, h, w])
        l = build(O)
        print(l)
        l2 = stripmine(l, "w", 8)
        l2 = interchange_n(l2, "w_i", 3)
        l1 = interchange(interchange(l2, "w_o", "c"), "h", "c")
        print(l1)
        l1 = interchange(l1, 4, 5)
        l1 = interchange(l1, 5, 6)
        l1 = parallelize(l1, 1)
        l1 = vectorize(l1, 9)
        print(l1)
        l2 = parallelize(l2, 1)
        l2 = vectorize(l2, 9)
        print(l2)
        compare([l, l1, l2])"#;
    let both = "parallel n, g, f, h, w_o, c, kh, kw, vector w_i";
    assert_eq!(
        loops(script),
        [
            "n, g, f, h, w, c, kh, kw",
            "n, g, f, c, h, w_o, kh, kw, w_i",
            both,
            both,
        ]
    );
}

/// The order of iterators that the paper's C shows, i1, i2, i3 and the sum i4, with the element
/// before them.
#[test]
fn interp() {
    let script = r#"
        A = tensor([5, 5])
        u = tensor([7, 5, 5, 5])
        t = einsum("il,elmn->eimn", A, u)
        s = einsum("jm,eimn->eijn", A, t)
        v = einsum("kn,eijn->eijk", A, s)
        l1 = build(t)
        l2 = build(s)
        l3 = build(v)
        print(l1)
        naive = [l1, l2, l3]
        l1 = interchange(l1, 4, 5)
        l1 = vectorize(l1, 5)
        l2 = interchange(l2, 4, 5)
        l2 = vectorize(l2, 5)
        l1 = parallelize(l1, 1)
        l2 = parallelize(l2, 1)
        l3 = parallelize(l3, 1)
        print(l1); print(l2); print(l3)
        compare([naive, [l1, l2, l3]])"#;
    assert_eq!(
        loops(script),
        [
            "e, i, m, n, l",
            "parallel e, i, m, l, vector n",
            "parallel e, i, j, m, vector n",
            "parallel e, i, j, k, n",
        ]
    );
}

const HELM: &str = r#"
        A = tensor([5, 5])
        D = tensor([7, 5, 5, 5])
        u = tensor([7, 5, 5, 5])
        t1 = einsum("li,elmn->eimn", A, u)
        t2 = einsum("mj,eimn->eijn", A, t1)
        t = einsum("nk,eijn->eijk", A, t2)
        v1 = einsum("il,elmn->eimn", A, ventrywise_div(t, D))
        v2 = einsum("jm,eimn->eijn", A, v1)
        v = einsum("kn,eijn->eijk", A, v2)
        l1 = build(t1)
        l2 = build(t2)
        l3 = build(t)
        l4 = build(v1)
        l5 = build(v2)
        l6 = build(v)
        naive = [l1, l2, l3, l4, l5, l6]"#;

/// Fusing at level 5 takes six nests of five levels: the division is part of the fourth. The paper
/// does not print its definition. tests/baseline/table.rs has an operator for which its row works
/// without changes.
#[test]
fn helm() {
    let path = r#"
        l1 = parallelize(l1, 1)
        l2 = parallelize(l2, 1)
        l3 = parallelize(l3, 1)
        l1 = vectorize(l1, 2)
        l2 = vectorize(l2, 3)
        l3 = vectorize(l3, 4)"#;
    let fusions = r#"
        l4 = fuse_outer(l4, l5, 5)
        l4 = fuse_outer(l4, l6, 5)
        l4 = parallelize(l4, 1)"#;
    let print = "print(l1); print(l2); print(l3); print(l4)";
    let compare = "compare([naive, [l1, l2, l3, l4]])";
    assert_eq!(
        loops(&format!("{HELM}\n{path}\n{fusions}\n{print}")),
        [
            "parallel e, vector i, m, n, l",
            "parallel e, i, vector j, n, m",
            "parallel e, i, j, vector k, n",
            "parallel e, i, m, n, l",
        ]
    );
    // The paper's path does not compute the operator: each sum reads incomplete results of the one
    // before.
    let script = format!("{HELM}\n{path}\n{fusions}\n{compare}");
    let error = run(&script).unwrap_err();
    assert!(
        error.contains("loop `l` reverses two statements"),
        "{error}"
    );
    // The sums of one element can share the loop over elements.
    let shared = fusions.replace(", 5)", ", 1)");
    loops(&format!("{HELM}\n{path}\n{shared}\n{compare}"));
}

/// The weight is a scalar tensor.
#[test]
fn coars() {
    let script = r#"
        Sxx = tensor([40, 50])
        Syy = tensor([40, 50])
        Sxy = tensor([40, 50])
        weight = scalar()
        init(weight, 0.04)
        trace2 = ventrywise_add(Sxx, Syy)
        det = ventrywise_sub(ventrywise_mul(Sxx, Syy), ventrywise_mul(Sxy, Sxy))
        square = plain(vmul(vat(ventrywise_mul(trace2, trace2), [y, x]), weight))
        R = entrywise_sub(det, square)
        l = build(R)
        print(l)
        l = tile(l, 32)
        l = parallelize(l, 1)
        l = vectorize(l, 4)
        print(l)
        compare([build(R), l])"#;
    assert_eq!(
        loops(script),
        ["i1, i2", "parallel i1_o, i2_o, i1_i, vector i2_i"]
    );
}

/// The program of §5.3, with the paper's `tensor(double, ..)` and its list of two loops.
#[test]
fn the_program_of_the_performance_comparison() {
    let script = r#"
        B = tensor(double, [4, 4, 4])
        C = tensor(double, [4, 4])
        D = tensor(double, [4, 4])
        Dt = transpose(D, [[1, 2]])
        tmp = vcontract(B, Dt, [3, 1])
        A = contract(tmp, C, [2, 1])
        ld = build(Dt)
        l = build(A)
        l1 = parallelize(l, 1)
        l2 = interchange(l1, [2, 3])
        print(ld)
        print(l2)
        print(l2 == interchange(l1, 2, 3) && l2 == l1.interchange([3, 2]))
        print(tensor(float, [2]).shape() == tensor([2], "f32").shape())
        compare([[ld, l], [ld, l2]])"#;
    let found = loops(script);
    assert_eq!(found, ["i1, i2", "parallel i1, i3, i2, i4, i5"]);
    let printed = run(script).unwrap();
    assert_eq!(printed.matches("true\n").count(), 2, "{printed}");
}
