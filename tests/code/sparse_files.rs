//! Sparse tensors in files: SciPy's archives, Matrix Market, FROSTT; and random ones.

use crate::data::{header, npy, run};
use std::fs;
use std::io::Write;
use std::path::Path;

/// A matrix with an empty row and an empty column.
const DENSE: &str =
    "f64[3][4]:\n  0.0  2.5  0.0  -1.0\n  0.0  0.0  0.0   0.0\n  4.0  0.0  0.0   3.0\n";

fn integers(values: &[i32]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    npy(
        &header("<i4", "False", &format!("({},)", values.len())),
        &bytes,
    )
}

/// Writes what SciPy writes for a format with these arrays of integers.
fn archive(file: &Path, format: &str, arrays: &[(&str, &[i32])], values: &[f64]) {
    let mut archive = zip::ZipWriter::new(fs::File::create(file).unwrap());
    let mut add = |name: &str, bytes: &[u8]| {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(bytes).unwrap();
    };
    let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    add(
        "format",
        &npy(&header("|S3", "False", "()"), format.as_bytes()),
    );
    add("shape", &integers(&[3, 4]));
    add(
        "data",
        &npy(
            &header("<f8", "False", &format!("({},)", values.len())),
            &data,
        ),
    );
    for (name, of) in arrays {
        add(name, &integers(of));
    }
    archive.finish().unwrap();
}

#[test]
fn files_of_all_kinds_hold_the_same_matrix() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    archive(
        &file("csr.npz"),
        "csr",
        &[("indices", &[1, 3, 0, 3]), ("indptr", &[0, 2, 2, 4])],
        &[2.5, -1.0, 4.0, 3.0],
    );
    archive(
        &file("csc.npz"),
        "csc",
        &[("indices", &[2, 0, 2, 0]), ("indptr", &[0, 1, 2, 2, 4])],
        &[4.0, 2.5, 3.0, -1.0],
    );
    // Entries at one place are added up.
    archive(
        &file("coo.npz"),
        "coo",
        &[("row", &[2, 0, 0, 2, 0]), ("col", &[3, 1, 3, 0, 1])],
        &[3.0, 1.5, -1.0, 4.0, 1.0],
    );
    let market = "%%MatrixMarket matrix coordinate real general\n% by hand\n3 4 4\n\
                  3 4 3\n1 2 2.5e0\n\n1 4 -1\n3 1 4\n";
    fs::write(file("a.mtx"), market).unwrap();
    fs::write(
        file("a.tns"),
        "# by hand\n1 2 2.5\n1 4 -1.0\n3 1 4\n3 4 3\n",
    )
    .unwrap();
    for name in ["csr.npz", "csc.npz", "coo.npz", "a.mtx", "a.tns"] {
        for format in ["csr", "csc", "coo", "csf"] {
            let script = format!(
                "let A = load_sparse(\"{name}\", #{{format: \"{format}\"}});\n\
                 if A.format == \"csf\" || A.format == \"coo\" {{\n\
                     let I = tensor([A.shape[1], A.shape[1]]); init(I, |i, j| if i == j {{ 1 }} else {{ 0 }});\n\
                     let D = einsum(\"ij,jk->ik\", A, I); print(run(build(D)).D);\n\
                 }} else {{ let D = dense(A); print(run(build(D)).D); }}"
            );
            let shown = run(directory.path(), &script);
            assert_eq!(shown.as_deref(), Ok(DENSE), "{name} {format}");
        }
    }
}

#[test]
fn symmetric_matrices_and_patterns_are_completed() {
    let directory = tempfile::tempdir().unwrap();
    for (field, symmetry, entry, expected) in [
        (
            "real",
            "symmetric",
            "2 1 5",
            "f64[2][2]:\n  0.0  5.0\n  5.0  0.0\n",
        ),
        (
            "integer",
            "skew-symmetric",
            "2 1 5",
            "f64[2][2]:\n  0.0  -5.0\n  5.0   0.0\n",
        ),
        (
            "pattern",
            "general",
            "2 1",
            "f64[2][2]:\n  0.0  0.0\n  1.0  0.0\n",
        ),
    ] {
        let text = format!("%%MatrixMarket matrix coordinate {field} {symmetry}\n2 2 1\n{entry}\n");
        fs::write(directory.path().join("a.mtx"), text).unwrap();
        let script = "let D = dense(load_sparse(\"a.mtx\")); print(run(build(D)).D);";
        assert_eq!(run(directory.path(), script).as_deref(), Ok(expected));
    }
}

#[test]
fn tensors_of_many_modes_are_trees() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(
        directory.path().join("a.tns"),
        "2 1 1 1.0\n1 2 3 2.0\n1 2 1 3.0\n2 1 1 0.5\n",
    )
    .unwrap();
    let script = "let T = load_sparse(\"a.tns\"); let one = tensor([T.shape[2]]); init(one, |i| 10.0 ** i);\n\
                  let M = einsum(\"ijk,k->ij\", T, one); print(run(build(M)).M);";
    let shown = run(directory.path(), script);
    assert_eq!(
        shown.as_deref(),
        Ok("f64[2][2]:\n  0.0  203.0\n  1.5    0.0\n")
    );
}

#[test]
fn files_that_are_wrong_are_refused_with_the_line() {
    let directory = tempfile::tempdir().unwrap();
    let header = "%%MatrixMarket matrix coordinate real";
    let market: Vec<(String, &str)> = [
        (
            "general\n4 6 2\n1 2 0.5\n5 1 2",
            "line 4: index 1 is 5, outside of 1 to 4",
        ),
        (
            "general\n4 6 2\n1 0 0.5",
            "line 3: index 2 is 0, outside of 1 to 6",
        ),
        ("general\n4 6 2\n1 2 x", "line 3: `x` is not a number"),
        ("general\n4 6 2\n1 2", "line 3: a number is missing"),
        ("general\n4 6 2\n1 2 3 4", "line 3: `4` follows the entry"),
        (
            "general\n4 6 2\n1 2 3\n",
            "line 4: the file ends after 1 of 2 entries",
        ),
        (
            "general\n4 6 1\n1 2 3\n1 1 1",
            "line 4: an entry beyond the 1 that are announced",
        ),
        (
            "general\n4 6",
            "line 2: the numbers of rows, of columns and of entries are missing",
        ),
        (
            "symmetric\n4 6 1\n1 6 2",
            "line 3: a symmetric matrix has as many rows as columns",
        ),
        ("hermitian\n", "line 1: `hermitian` matrices cannot be read"),
        ("general\n4 6 0\n", "it has no entries"),
    ]
    .into_iter()
    .map(|(text, message)| (format!("{header} {text}"), message))
    .chain([
        (
            "4 6 2\n".to_owned(),
            "line 1: a header is `%%MatrixMarket matrix",
        ),
        (
            "%%MatrixMarket matrix array real general\n".to_owned(),
            "line 1: `array` lists all elements",
        ),
    ])
    .collect();
    let tensors = [
        (
            "1 2 3 0.5\n1 2 0.5\n",
            "line 2: an entry with 2 indices, but the first one has 3",
        ),
        (
            "# c\n0 1 2 1.0\n",
            "line 2: index 1 is 0, but counts from 1",
        ),
        (
            "1 2 -3 1.0\n",
            "line 1: `-3` is not an index, which counts from 1",
        ),
        ("", "it has no entries"),
    ];
    let cases = market
        .iter()
        .map(|(text, message)| ("a.mtx", text.as_str(), *message));
    for (name, text, message) in
        cases.chain(tensors.map(|(text, message)| ("a.tns", text, message)))
    {
        fs::write(directory.path().join(name), text).unwrap();
        let error = run(directory.path(), &format!("load_sparse(\"{name}\")")).unwrap_err();
        assert!(
            error.contains(&format!("cannot read `{name}`: {message}")),
            "{error}\n{message}"
        );
        assert!(error.contains("script.rhai:1:"), "{error}");
    }
    for (format, pointers, indices, message) in [
        (
            "csr",
            [0, 2, 1, 2],
            [1, 3],
            "indptr[2] is 1, and indptr[1] is 2",
        ),
        (
            "csr",
            [0, 1, 1, 1],
            [1, 3],
            "`indptr` does not go from 0 to 2",
        ),
        (
            "csr",
            [0, 1, 1, 2],
            [1, 4],
            "indices[1] is 4, outside of 0..4",
        ),
        (
            "csc",
            [0, 1, 1, 2],
            [1, 2],
            "`indptr` has 4 elements for 4 rows",
        ),
        (
            "bsr",
            [0, 1, 1, 2],
            [1, 2],
            "its format is `bsr`; csr, csc and coo can be read",
        ),
    ] {
        let file = directory.path().join("a.npz");
        archive(
            &file,
            format,
            &[("indices", &indices), ("indptr", &pointers)],
            &[1.0, 2.0],
        );
        let error = run(directory.path(), "load_sparse(\"a.npz\")").unwrap_err();
        assert!(error.contains(message), "{error}\n{message}");
    }
    let error = run(directory.path(), "load_sparse(\"a.txt\")").unwrap_err();
    assert!(error.contains("end with .npz, .mtx or .tns"), "{error}");
    fs::write(directory.path().join("a.tns"), "1 1 1 2.0\n").unwrap();
    let error = run(
        directory.path(),
        "load_sparse(\"a.tns\", #{format: \"csr\"})",
    )
    .unwrap_err();
    assert!(error.contains("is a format of matrices"), "{error}");
}

#[test]
fn random_rows_have_the_lengths_that_were_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let script = "
        let A = random_sparse([4, 6], |i| 2 * i);
        print(A.ptr);
        let ones = tensor([6]); init(ones, 1.0); init(A.values, 1.0);
        let y = einsum(\"ij,j->i\", A, ones); print(run(build(y)).y);
        let D = dense(A); let most = max(D, [1, 2]); print(run(nests(most)).most);
        let B = random_sparse([3, 5], [0, 5, 1], #{name: \"B\", seed: 7}); let z = tensor([5]); init(z, 1.0); init(B.values, 1.0);
        let w = einsum(\"ij,j->i\", B, z); print(run(build(w)).w);";
    let shown = run(directory.path(), script);
    assert_eq!(
        shown.as_deref(),
        Ok(
            "i32 A_ptr[5] increasing in 0..13\nf64[4]: 0.0, 2.0, 4.0, 6.0\nf64: 1.0\nf64[3]: 0.0, 5.0, 1.0\n"
        )
    );
    for (call, message) in [
        (
            "random_sparse([2, 3], 4)",
            "row 0 cannot have 4 entries in 3 columns",
        ),
        ("random_sparse([2, 3], [1])", "has 1 numbers for 2 rows"),
        (
            "random_sparse([2, 3], |i| -1)",
            "has no number of entries for row 0",
        ),
        ("random_sparse([2, 3], 0)", "it has no entries"),
        (
            "random_sparse([2, 3], 1, #{sead: 1})",
            "has no option `sead`",
        ),
    ] {
        let error = run(directory.path(), call).unwrap_err();
        assert!(error.contains(message), "{error}\n{message}");
    }
}
