//! Inputs from files and seeds, results as files, and bundles that carry them along.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// The output of `script`, run in `directory`, or the error.
pub fn run(directory: &Path, script: &str) -> Result<String, String> {
    teml("run", directory, script)
}

/// Like [`run`], with any command.
pub fn teml(command: &str, directory: &Path, script: &str) -> Result<String, String> {
    let file = directory.join("script.rhai");
    fs::write(&file, script).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_teml"))
        .args([command, "script.rhai"])
        .current_dir(directory)
        .env(
            "TEML_CACHE_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
        )
        .output()
        .unwrap();
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap())
    } else {
        Err(String::from_utf8(output.stderr).unwrap())
    }
}

/// An `.npy` file with this header and these bytes.
pub fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

pub fn header(descr: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

/// A script that prints what `load` makes of a copy of `call`.
fn loaded(tensor: &str, call: &str) -> String {
    format!(
        "let A = {tensor};\nlet B = eq(A, [i, j] -> [i, j]);\ninit(A, {call});\n\
         print(run(build(B)).B);\n"
    )
}

const ROWS: [f64; 6] = [1.5, -2.0, 3.0, 4.0, 5.0, 6.25];
/// The same as the columns of a 2x3 matrix.
const COLUMNS: [f64; 6] = [1.5, 4.0, -2.0, 5.0, 3.0, 6.25];

#[test]
fn arrays_of_every_order_and_type_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = |values: &[f64], convert: &dyn Fn(f64) -> Vec<u8>| -> Vec<u8> {
        values.iter().flat_map(|x| convert(*x)).collect()
    };
    let doubles = "f64[2][3]:\n  1.5  -2.0   3.0\n  4.0   5.0  6.25\n";
    let singles = "f32[2][3]:\n  1.5  -2.0   3.0\n  4.0   5.0  6.25\n";
    let cases: Vec<(&str, &str, Vec<u8>, &str, &str)> = vec![
        (
            "<f8",
            "False",
            bytes(&ROWS, &|x| x.to_le_bytes().into()),
            "f64",
            doubles,
        ),
        (
            ">f8",
            "False",
            bytes(&ROWS, &|x| x.to_be_bytes().into()),
            "f64",
            doubles,
        ),
        (
            "<f8",
            "True",
            bytes(&COLUMNS, &|x| x.to_le_bytes().into()),
            "f64",
            doubles,
        ),
        (
            ">f4",
            "True",
            bytes(&COLUMNS, &|x| (x as f32).to_be_bytes().into()),
            "f32",
            singles,
        ),
        (
            "<i4",
            "False",
            bytes(&ROWS, &|x| (x as i32).to_le_bytes().into()),
            "i32",
            "i32[2][3]:\n  1  -2  3\n  4   5  6\n",
        ),
        (
            ">i8",
            "False",
            bytes(&ROWS, &|x| (x as i64 + (1 << 53)).to_be_bytes().into()),
            "i64",
            "i64[2][3]:\n  9007199254740993  9007199254740990  9007199254740995\n  \
             9007199254740996  9007199254740997  9007199254740998\n",
        ),
    ];
    for (descr, fortran, data, elem, expected) in cases {
        let file = npy(&header(descr, fortran, "(2, 3)"), &data);
        fs::write(directory.path().join("a.npy"), file).unwrap();
        let tensor = format!("tensor([2, 3], \"{elem}\")");
        let shown = run(directory.path(), &loaded(&tensor, "load(\"a.npy\")"));
        assert_eq!(shown.as_deref(), Ok(expected), "{descr} {fortran}");
    }
}

#[test]
fn what_a_file_holds_is_known_before_it_is_used() {
    let directory = tempfile::tempdir().unwrap();
    let data: Vec<u8> = (1..=3i32).flat_map(i32::to_le_bytes).collect();
    let file = npy(&header("<i4", "True", "(3,)"), &data);
    fs::write(directory.path().join("a.npy"), file).unwrap();
    let script = "let a = load(\"a.npy\");\nlet A = tensor(a.shape, a.elem);\nprint(A);\nprint(a)";
    let shown = run(directory.path(), script);
    assert_eq!(
        shown.as_deref(),
        Ok("i32 A[3]\ni32[3] from a.npy: 1, 2, 3\n")
    );
    // A single number.
    let file = npy(&header("<f8", "False", "()"), &2.5f64.to_le_bytes());
    fs::write(directory.path().join("s.npy"), file).unwrap();
    let script = "let s = scalar(); let t = scalar(); init(s, load(\"s.npy\"));\n\
                  t = eq(s, [] -> []);\nprint(run(build(t)).t)";
    assert_eq!(run(directory.path(), script).as_deref(), Ok("f64: 2.5\n"));
}

#[test]
fn archives_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let data: Vec<u8> = ROWS.iter().flat_map(|x| x.to_le_bytes()).collect();
    let file = npy(&header("<f8", "False", "(2, 3)"), &data);
    for (name, method) in [
        ("stored.npz", zip::CompressionMethod::Stored),
        ("small.npz", zip::CompressionMethod::Deflated),
    ] {
        let mut archive =
            zip::ZipWriter::new(fs::File::create(directory.path().join(name)).unwrap());
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file("A.npy", options).unwrap();
        archive.write_all(&file).unwrap();
        archive.start_file("cut.npy", options).unwrap();
        archive.write_all(&file[..file.len() - 1]).unwrap();
        archive.finish().unwrap();
        let load = |call: String| run(directory.path(), &loaded("tensor([2, 3])", &call));
        let shown = load(format!("load({name:?}, \"A\")"));
        assert_eq!(
            shown.as_deref(),
            Ok("f64[2][3]:\n  1.5  -2.0   3.0\n  4.0   5.0  6.25\n")
        );
        for (call, message) in [
            (
                format!("load({name:?}, \"cut\")"),
                "array `cut`: it is cut short: 47 of its 48 bytes",
            ),
            (
                format!("load({name:?}, \"B\")"),
                "it has no array `B`, but: A, cut",
            ),
            (format!("load({name:?})"), "name one of its arrays: A, cut"),
        ] {
            let error = load(call).unwrap_err();
            assert!(error.contains(message) && error.contains(name), "{error}");
        }
    }
}

#[test]
fn files_that_are_no_arrays_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let data = [0u8; 48];
    let fine = header("<f8", "False", "(2, 3)");
    let endless = [b"\x93NUMPY\x02\x00".as_slice(), &[0xff; 4]].concat();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (
            npy(&fine, &data[..40]),
            "it is cut short: 40 of its 48 bytes of elements are there",
        ),
        (
            npy(&fine, &[0; 49]),
            "it goes on after its 48 bytes of elements",
        ),
        (
            npy(&fine, &data)[..30].to_vec(),
            "it is cut short in its header",
        ),
        (b"1.5 2.5".to_vec(), "it is not an .npy file"),
        (
            b"\x93NUMPY\x07\x00\x00\x00".to_vec(),
            "version 7 of the format is not known",
        ),
        (endless, "its header is said to have 4294967295 bytes"),
        (npy("{'descr': 3}", &data), "its header is damaged"),
        (
            npy(&header("<c16", "False", "(3,)"), &data),
            "its elements are `<c16`",
        ),
        (
            npy(&header("<f8", "False", "(0, 3)"), &[]),
            "it holds no elements",
        ),
        (
            npy(&header("<f8", "False", "(4611686018427387904, 8)"), &data),
            "it says that it holds more bytes than can be counted",
        ),
        (
            npy(&header("<f8", "False", "(1125899906842624,)"), &data),
            "it is cut short: 48 of its 9007199254740992 bytes",
        ),
    ];
    for (file, message) in cases {
        fs::write(directory.path().join("a.npy"), file).unwrap();
        let error = run(directory.path(), "load(\"a.npy\")").unwrap_err();
        let whole = format!("error: load: cannot read `a.npy`: {message}");
        assert!(error.contains(&whole), "{error}\n{message}");
    }
    let error = run(directory.path(), "load(\"none.npy\")").unwrap_err();
    assert!(
        error.contains("cannot read `none.npy`: No such file"),
        "{error}"
    );
    let error = run(directory.path(), "load(\".\")").unwrap_err();
    assert!(error.contains("it is not a file"), "{error}");
    fs::write(directory.path().join("a.npz"), "PK").unwrap();
    let error = run(directory.path(), "load(\"a.npz\")").unwrap_err();
    assert!(error.contains("cannot read `a.npz`"), "{error}");
}

#[test]
fn numbers_that_do_not_fit_a_tensor_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = npy(&header("<f8", "False", "(2, 3)"), &[0; 48]);
    fs::write(directory.path().join("a.npy"), file).unwrap();
    for (script, message) in [
        (
            "let A = tensor([3, 2]);\ninit(A, load(\"a.npy\"));",
            "argument 2 `value` is f64[2][3] from a.npy, and `A` is f64[3][2]",
        ),
        (
            "let A = tensor([2, 3], \"f32\");\ninit(A, load(\"a.npy\"));",
            "is f64[2][3] from a.npy, and `A` is f32[2][3]",
        ),
        (
            "let A = tensor([2], \"i32\");\ninit(A, [1, 3000000000]);",
            "3000000000 cannot be an element of tensor `A`",
        ),
        (
            "let A = tensor([2], \"i32\");\ninit(A, random(1, 0.5, 2));",
            "there are no random numbers from 0.5 to 2 for tensor `A`, whose elements are i32",
        ),
        (
            "let A = tensor([2]);\ninit(A, random(1, 2, 1));",
            "there are no random numbers from 2 to 1 for tensor `A`",
        ),
        (
            "let A = tensor([2]);\ninit(A, random(1, 2));",
            "`high` is missing",
        ),
        (
            "let A = tensor([2]);\ninit(A, random(1.5));",
            "must be an integer",
        ),
        (
            "let A = tensor([2]);\ninit(A, \"a.npy\");",
            "or what `load` or `random` gives, not the string \"a.npy\"",
        ),
        (
            "let A = tensor([2]);\nlet B = eq(A, [i] -> [i]);\nsave(run(build(B)).B, \"b.txt\");",
            "must end with `.npy`",
        ),
    ] {
        let error = run(directory.path(), script).unwrap_err();
        assert!(error.contains(message), "{error}\n{message}");
    }
}

#[test]
fn closures_are_evaluated_where_something_runs_and_tried_where_nothing_does() {
    let directory = tempfile::tempdir().unwrap();
    let script = |value: &str| {
        format!(
            "let A = tensor([3]);\nlet B = eq(A, [i] -> [i]);\ninit(A, |i| {value});\n\
             init(A, [2], 5);\nprint(run(build(B)).B);"
        )
    };
    let values = run(directory.path(), &script("10 / (i + 1)"));
    assert_eq!(values, Ok("f64[3]: 10.0, 5.0, 5.0\n".to_owned()));
    for (value, message, checks) in [
        ("10 / (i - 1)", "ision by zero", true),
        ("10 / i", "ision by zero", false),
        (
            "if i < 2 { 0 } else { \"two\" }",
            "at [2] gives the string \"two\"",
            true,
        ),
        ("\"two\"", "at [0] gives the string \"two\"", false),
    ] {
        let error = run(directory.path(), &script(value)).unwrap_err();
        assert!(
            error.contains(message) && error.contains("script.rhai:3"),
            "{error}"
        );
        let checked = teml("check", directory.path(), &script(value));
        assert_eq!(checked.is_ok(), checks, "{value}: {checked:?}");
        if let Err(checked) = checked {
            assert_eq!(checked, error);
        }
    }
}

#[test]
fn results_are_files_that_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let script = "let A = tensor([2, 3], \"f32\");\nlet B = eq(2 * A, [i, j] -> [j, i]);\n\
                  init(A, [[1, 2, 3], [4, 5, 6]]);\nlet out = run(build(B).parallelize(1));\n\
                  save(out.B, \"b.npy\");\nlet C = tensor([3, 2], \"f32\");\ninit(C, out.B);\n\
                  let D = eq(C, [i, j] -> [i, j]);\nprint(run([build(D)]).D);\n\
                  print(load(\"b.npy\"));";
    let values = "\n  2.0   8.0\n  4.0  10.0\n  6.0  12.0\n";
    let expected = format!("f32[3][2]:{values}f32[3][2] from b.npy:{values}");
    assert_eq!(run(directory.path(), script), Ok(expected));
    let file = fs::read(directory.path().join("b.npy")).unwrap();
    let (start, data) = file.split_at(128);
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    assert!(start.starts_with(b"\x93NUMPY\x01\x00") && start.ends_with(b"\n"));
    assert!(start[10..].starts_with(text.as_bytes()));
    assert_eq!(data.len(), 24);
    assert_eq!(data[..4], 2f32.to_le_bytes());
}

/// Large results are fine, since nothing runs.
#[test]
fn emitting_runs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let script = "let A = tensor([4000000, 4000000]);\nlet B = eq(2 * A, [i, j] -> [j, i]);\n\
                  init(A, random(3));\nlet out = run(build(B));\nsave(out.B, \"b.npy\");\n\
                  init(A, out.B);\nlet double_b = eq(B + A, [i, j] -> [i, j]);\n\
                  save(run(build(double_b)).double_b, \"c.npy\");";
    let file = directory.path().join("script.rhai");
    fs::write(&file, script).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_teml"))
        .arg("emit")
        .arg(&file)
        .current_dir(directory.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn integers_beyond_the_53_bits_of_f64_arrive() {
    let directory = tempfile::tempdir().unwrap();
    let script = "let A = tensor([3], \"i64\");\nlet B = eq(A, [i] -> [i]);\n\
                  init(A, [9007199254740993, -9223372036854775807 - 1, 9223372036854775807]);\n\
                  print(run(build(B)).B);\ninit(A, |i| 9007199254740993 + i);\n\
                  init(A, [2], 9223372036854775807);\nprint(run(build(B)).B);\n\
                  init(A, 9007199254740993);\nprint(run(build(B)).B);";
    let shown = run(directory.path(), script).unwrap();
    let expected = "i64[3]: 9007199254740993, -9223372036854775808, 9223372036854775807\n\
                    i64[3]: 9007199254740993, 9007199254740994, 9223372036854775807\n\
                    i64[3]: 9007199254740993, 9007199254740993, 9007199254740993\n";
    assert_eq!(shown, expected);
}

/// The C of a bundle computes the same numbers as teml.
#[test]
fn a_bundle_carries_its_data() {
    let directory = tempfile::tempdir().unwrap();
    let data: Vec<u8> = (1..=5)
        .flat_map(|x| (x as f64 / 3.0).to_le_bytes())
        .collect();
    let file = npy(&header("<f8", "False", "(5,)"), &data);
    fs::write(directory.path().join("a.npy"), file).unwrap();
    let cases = [
        ("f64", "load(\"a.npy\")"),
        ("f64", "random(42)"),
        ("f32", "random(42, 0.1, 1000)"),
        ("i32", "random(-7)"),
        (
            "i64",
            "random(0, -9223372036854775807 - 1, 9223372036854775807)",
        ),
        ("i64", "-9223372036854775807 - 1"),
        ("f64", "1.0 / 0.0"),
    ];
    for (elem, data) in cases {
        let script = format!(
            "let A = tensor([5], \"{elem}\");\nlet C = eq(A, [i] -> [i]);\ninit(A, {data});\n\
             let copy = build(C);\nbundle([copy], \"bundle\");\nprint(run(copy).C);"
        );
        let shown = run(directory.path(), &script).unwrap();
        let bundle = directory.path().join("bundle");
        let driver = bundle.join("driver.c");
        let text = fs::read_to_string(&driver).unwrap();
        let format = if elem.starts_with('f') {
            "%.17g"
        } else {
            "%lld"
        };
        let cast = if elem.starts_with('f') {
            "double"
        } else {
            "long long"
        };
        let print = format!("printf(\"{format}\\n\", ({cast})teml_0_C[x]);");
        let text = text.replace(
            "    return 0;\n}",
            &format!("    for (int x = 0; x < 5; x++) {print}\n    return 0;\n}}"),
        );
        fs::write(&driver, text).unwrap();
        let output = Command::new("make")
            .args([
                "run",
                "CFLAGS=-std=c11 -O3 -march=native -ffp-contract=fast -Wall -Werror",
            ])
            .current_dir(&bundle)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        let printed = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = printed.lines().collect();
        let expected = shown.split(": ").nth(1).unwrap().trim().split(", ");
        let number = |text: &str| text.parse::<f64>().unwrap();
        for (c, teml) in lines[lines.len() - 5..].iter().zip(expected) {
            let same = if elem.starts_with('f') {
                number(c) == number(teml)
            } else {
                *c == teml
            };
            assert!(same, "{elem} {data}: {c} in C, {teml} in teml");
        }
    }
}
