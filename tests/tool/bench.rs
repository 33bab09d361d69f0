//! The bench at tiny sizes: its output, not its times.

use crate::waiting::eventually;
use crate::workers::wait_for_a_kernel;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");

fn teml(arguments: &[&str]) -> Command {
    let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
    teml.arg("bench")
        .args(arguments)
        .env("TEML_CACHE_DIR", CACHE);
    teml
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn succeeds(arguments: &[&str]) -> Output {
    let output = teml(arguments).output().unwrap();
    let (shown, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{shown}\n{errors}");
    output
}

fn json(file: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn names(group: &Value) -> Vec<&str> {
    let lines = group["lines"].as_array().unwrap().iter();
    lines.map(|line| line["name"].as_str().unwrap()).collect()
}

/// Refers to nothing outside, and is well-formed.
fn is_self_contained(xml: &str) {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..roxmltree::ParsingOptions::default()
    };
    let document = roxmltree::Document::parse_with_options(xml, options).unwrap();
    let ids = document.descendants().filter_map(|n| n.attribute("id"));
    let ids: Vec<&str> = ids.collect();
    for node in document.descendants() {
        for attribute in node.attributes() {
            let name = attribute.name();
            if let ("href", Some(id)) = (name, attribute.value().strip_prefix('#')) {
                assert!(ids.contains(&id), "#{id} leads nowhere");
                continue;
            }
            assert!(!["href", "src", "srcset"].contains(&name), "{attribute:?}");
            assert!(!attribute.value().contains("url("), "{attribute:?}");
        }
    }
    assert!(!xml.contains("@import") && !xml.contains("<script"));
}

#[test]
fn all_kernels_are_checked_measured_and_reported() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let data = directory.path().join("data.json");
    let (out_text, data_text) = (out.to_str().unwrap(), data.to_str().unwrap());
    let arguments = [
        "--size", "mini", "--peer", "cc", "--out", out_text, "--json", data_text,
    ];
    let shown = text(&succeeds(&arguments).stdout);

    let results = json(&data);
    assert_eq!(results, json(&out.join("bench.json")));
    assert_eq!(results["size"], "mini");
    for field in ["teml", "date", "compiler", "flags"] {
        assert!(!results[field].as_str().unwrap().is_empty(), "{field}");
    }
    assert!(results["rates"]["gflops_f64"].as_f64().unwrap() > 0.0);
    let kernels: Vec<&str> = results["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["kernel"].as_str().unwrap())
        .collect();
    let ten = [
        "mm", "tmm", "bmm", "gconv", "mttkrp", "sddmm", "interp", "helm", "blur", "coars",
    ];
    assert_eq!(kernels, ten);

    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    is_self_contained(&page);
    for reason in [
        "plain loops with the pragmas that Pluto emits",
        "pluto_best is the fastest of both with other options",
    ] {
        assert_eq!(page.matches(reason).count(), 1, "{reason}");
    }
    for group in results["groups"].as_array().unwrap() {
        let kernel = group["kernel"].as_str().unwrap();
        let evidence = group["evidence"].as_str().unwrap();
        assert!(
            evidence.contains("elements equal the"),
            "{kernel}: {evidence}"
        );
        assert!(
            group["limit"]["seconds"].as_f64().unwrap() > 0.0,
            "{kernel}"
        );
        let found = names(group);
        assert!(
            found.starts_with(&["naive"]) && found.ends_with(&["cc"]),
            "{found:?}"
        );
        assert!(found.contains(&"plan") && found.len() > 3, "{found:?}");
        assert_eq!(found[1], "pluto", "{kernel}: {}", group["absent"]);
        assert!(group["absent"].as_array().unwrap().is_empty(), "{kernel}");
        for line in group["lines"].as_array().unwrap() {
            let times = &line["times"];
            let number = |field: &str| times[field].as_f64().unwrap();
            assert!(number("error") <= 1e-9, "{kernel}: {line}");
            assert!(number("min") <= number("median"), "{kernel}: {line}");
            assert!(number("share") > 0.0, "{kernel}: {line}");
            assert_eq!(
                times["runs"].as_array().unwrap().len(),
                5,
                "{kernel}: {line}"
            );
            let code = line["code"].as_str().unwrap();
            assert!(code.contains("void "), "{kernel}: {line}");
            assert_eq!(line["peer"], line["name"] == "cc");
        }
        is_self_contained(&std::fs::read_to_string(out.join(format!("{kernel}.svg"))).unwrap());
        assert!(page.contains(&format!("<h2>{kernel}</h2>")), "{kernel}");
        assert!(shown.contains(&format!("{kernel}:\n| variant")), "{shown}");
    }
    let head = shown.lines().find(|l| l.starts_with("| kernel")).unwrap();
    let columns: Vec<&str> = head.split('|').map(str::trim).collect();
    assert_eq!(
        columns[1..],
        [
            "kernel", "naive", "pluto", "pluto_c", "paper", "plan", "cc", "best", "is", ""
        ]
    );
}

#[test]
fn a_script_of_the_users_is_measured_like_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("rows.rhai");
    let text_of = "let n = param(\"n\", 4000, 13);
        let A = tensor([n, n], \"f32\");
        let s = sum(A, [2]);
        let naive = build(s);
        compare([naive, naive.parallelize(1).named(\"both\")]);
        compare([naive]);";
    std::fs::write(&script, text_of).unwrap();
    let data = directory.path().join("data.json");
    let script = script.to_str().unwrap();
    succeeds(&[
        script,
        "--size",
        "mini",
        "--set",
        "n=5",
        "--json",
        data.to_str().unwrap(),
    ]);
    let results = json(&data);
    let groups = results["groups"].as_array().unwrap();
    assert_eq!(
        [&groups[0]["kernel"], &groups[1]["kernel"]],
        ["rows", "rows_2"]
    );
    assert_eq!(names(&groups[0]), ["naive", "pluto", "pluto_c", "both"]);
    // Five sums of five numbers.
    assert_eq!(groups[0]["flops"], 25.0);
    assert_eq!(groups[0]["limit"]["bytes"], 4.0 * 30.0);

    let output = teml(&[script, "--size", "mini", "--set", "m=5"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout);
    assert!(shown.contains("no param(\"m\", …)"), "{shown}");
}

#[test]
fn what_fails_is_shown_and_the_others_go_on() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let broken = write("broken.rhai", "let x = tensor([4]);\nmisspelt(x);\n");
    let silent = write(
        "silent.rhai",
        "let x = tensor([4]);\nlet y = eq(x, [i] -> [i]);\nbuild(y);\n",
    );
    let racing = write(
        "racing.rhai",
        "let A = tensor([4, 5]);
         let s = sum(A, [2]);
         let naive = build(s);
         compare([naive, naive.parallelize(2).named(\"wrong\"), naive.reverse(1).named(\"back\")]);",
    );
    let output = teml(&[&broken, &silent, &racing]).output().unwrap();
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(shown.contains("broken.rhai:2:1"), "{shown}");
    assert!(shown.contains("it does not call `compare`"), "{shown}");
    assert!(shown.contains("| back "), "{shown}");
    assert!(
        shown.contains("wrong: failed: ") && shown.contains("cannot be parallelized"),
        "{shown}"
    );
}

#[test]
fn a_curve_has_the_last_variant_and_the_peers_at_each_size() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let shown = text(
        &succeeds(&[
            "--kernel",
            "mm",
            "--size",
            "mini",
            "--peer",
            "cc",
            "--curve",
            "m,n,k=1,8,17",
            "--out",
            out.to_str().unwrap(),
        ])
        .stdout,
    );
    assert!(
        shown.contains("m, n, k") && !shown.contains("speed-ups"),
        "{shown}"
    );
    let results = json(&out.join("bench.json"));
    assert!(results["groups"].as_array().unwrap().is_empty());
    let points = results["curves"][0]["points"].as_array().unwrap();
    let at: Vec<i64> = points.iter().map(|p| p["at"].as_i64().unwrap()).collect();
    assert_eq!(at, [1, 8, 17]);
    for (point, extent) in points.iter().zip(&at) {
        let group = &point["group"];
        let found = names(group);
        assert!(
            found.len() == 2 && found[1] == "cc" && found[0] != "naive",
            "{found:?}"
        );
        assert_eq!(group["flops"].as_f64(), Some(2.0 * extent.pow(3) as f64));
        for line in group["lines"].as_array().unwrap() {
            assert!(line["times"]["share"].as_f64().unwrap() > 0.0, "{line}");
        }
    }
    is_self_contained(&std::fs::read_to_string(out.join("index.html")).unwrap());
    let chart = std::fs::read_to_string(out.join("mm_sizes.svg")).unwrap();
    is_self_contained(&chart);
    assert_eq!(chart.matches("<polyline").count(), 2);
    assert_eq!(chart.matches("<circle").count(), 6);

    let output = teml(&["--kernel", "mm", "--size", "mini", "--curve", "q=8"]);
    let output = { output }.output().unwrap();
    assert!(!output.status.success());
    let shown = text(&output.stdout);
    assert!(
        shown.contains("has no param(\"q\", …), which --curve names"),
        "{shown}"
    );
}

/// As TeML's Fig. 11: speed-ups over the number of threads, all kernels in one picture.
#[test]
fn curves_share_a_figure() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let kernels = ["--kernel", "mm", "--kernel", "blur", "--size", "mini"];
    let axes = ["--sweep", "threads=1,2", "--speed-ups", "--out"];
    let arguments = [&kernels[..], &axes, &[out.to_str().unwrap()]].concat();
    succeeds(&arguments);
    let figure = std::fs::read_to_string(out.join("figure.svg")).unwrap();
    is_self_contained(&figure);
    assert_eq!(figure.matches("speed-up over").count(), 2);
    assert!(figure.contains("prefers-color-scheme: dark"), "{figure}");
    is_self_contained(&std::fs::read_to_string(out.join("index.html")).unwrap());
}

#[test]
fn what_is_asked_for_wrongly_is_no_bench() {
    for (arguments, message) in [
        (["--kernel", "gemm"], "expected one of mm, tmm, bmm"),
        (
            ["--peer", "mkl"],
            "expected openblas, openblas=PATH, cc or polly",
        ),
        (["--size", "small"], "expected bench, mini or any"),
        (["--curve", "m=0"], "expected NAMES=VALUES"),
    ] {
        let output = teml(&arguments).output().unwrap();
        let shown = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(shown.contains(message), "{shown}");
    }
}

#[test]
fn a_peer_that_is_not_there_is_absent() {
    let missing = "openblas=/nowhere/libopenblas.so";
    let arguments = ["--size", "mini", "--kernel", "mm", "--peer", missing];
    let shown = text(&succeeds(&arguments).stdout);
    let expected = "openblas: absent: /nowhere/libopenblas.so: No such file";
    assert!(shown.contains(expected), "{shown}");
    let no_library = format!("openblas={}", env!("CARGO_BIN_EXE_teml"));
    let arguments = ["--size", "mini", "--kernel", "mm", "--peer", &no_library];
    let shown = text(&succeeds(&arguments).stdout);
    assert!(
        shown.contains("is not an OpenBLAS that can be linked"),
        "{shown}"
    );
}

/// With `TEML_TEST_OPENBLAS`, a path, or where it is installed.
#[test]
fn what_calls_openblas_computes_the_same() {
    let peer = match std::env::var("TEML_TEST_OPENBLAS") {
        Ok(path) => format!("openblas={path}"),
        Err(_) => "openblas".to_owned(),
    };
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data.json");
    succeeds(&[
        "--size",
        "mini",
        "--peer",
        &peer,
        "--json",
        data.to_str().unwrap(),
    ]);
    let results = json(&data);
    if let [absent] = &results["absent"].as_array().unwrap()[..] {
        eprintln!("not tested: {absent}");
        assert!(absent["why"].as_str().unwrap().contains("libopenblas-dev"));
        return;
    }
    for group in results["groups"].as_array().unwrap() {
        let kernel = group["kernel"].as_str().unwrap();
        let has_routine = !["blur", "coars"].contains(&kernel);
        assert_eq!(names(group).contains(&"openblas"), has_routine, "{kernel}");
        if has_routine {
            let line = group["lines"].as_array().unwrap().last().unwrap();
            assert!(line["times"]["error"].as_f64().unwrap() <= 1e-9, "{line}");
            assert!(
                line["compiled"].as_str().unwrap().contains("openblas"),
                "{line}"
            );
        } else {
            let why = group["absent"][0]["why"].as_str().unwrap();
            assert_eq!(why, "no BLAS routine is known for it");
        }
    }
}

#[test]
fn a_blas_needs_the_tensors_of_the_kernel() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("mm.rhai");
    std::fs::write(
        &script,
        "let P = tensor([3, 4]); let R = contract(P, P, [2, 2]); compare(build(R));",
    )
    .unwrap();
    let shown = text(&succeeds(&[script.to_str().unwrap(), "--peer", "openblas"]).stdout);
    // Where it is not installed, that is what is said.
    let expected = [
        "mm with a BLAS has tensors C, A, B of f64",
        "libopenblas-dev",
    ];
    assert!(expected.iter().any(|text| shown.contains(text)), "{shown}");
}

#[test]
fn what_was_measured_before_ctrl_c_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let endless = directory.path().join("endless.rhai");
    let script = "let a = tensor([100000]);
        let s = eq(vsum(vmul(vmul(a, a, [[i], [j]]), a, [(), [k]]), [i, j, k]), []);
        compare(build(s));";
    std::fs::write(&endless, script).unwrap();
    let brief = directory.path().join("brief.rhai");
    std::fs::write(
        &brief,
        "let a = tensor([4]); compare(build(eq(a, [i] -> [i])));",
    )
    .unwrap();
    let files = [brief.to_str().unwrap(), endless.to_str().unwrap()];
    let mut child = teml(&files)
        .args(["--out", out.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let written = out.join("index.html");
    assert!(eventually(|| written.exists()));
    let id = child.id().to_string();
    wait_for_a_kernel(&id);
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let results = json(&out.join("bench.json"));
    assert_eq!(results["groups"].as_array().unwrap().len(), 1);
    assert_eq!(results["groups"][0]["kernel"], "brief");
}

/// The checks of the script that work without the libraries it measures.
#[test]
fn python_peers_say_what_is_absent() {
    // Without what is installed beside the language.
    let python = |arguments: &[&str]| {
        Command::new("python3")
            .args(["-S", "-E", "-B", "benches/peers.py"])
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
    };
    let Ok(help) = python(&["--help"]) else {
        eprintln!("not tested: there is no python3");
        return;
    };
    let shown = text(&help.stdout);
    assert!(help.status.success(), "{}", text(&help.stderr));
    for option in [
        "--size",
        "--kernel",
        "--peer",
        "--threads",
        "--teml",
        "--json",
    ] {
        assert!(shown.contains(option), "{option}: {shown}");
    }

    let without = python(&["--size", "mini"]).unwrap();
    assert_eq!(without.status.code(), Some(1));
    assert!(
        text(&without.stderr).contains("numpy: absent"),
        "{without:?}"
    );

    for (wrong, why) in [
        (["--kernel", "nothing"], "invalid choice: 'nothing'"),
        (["--teml", "/nowhere"], "/nowhere is no program"),
        (["--rounds", "0"], "at least one"),
    ] {
        let output = python(&wrong).unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(text(&output.stderr).contains(why), "{output:?}");
    }
}

/// They are those of the tool.
#[test]
fn python_peers_compute_the_kernels() {
    let names = "import sys; sys.path.insert(0, 'benches'); import peers; print(*peers.KERNELS)";
    let output = Command::new("python3")
        .args(["-S", "-E", "-B", "-c", names])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let Ok(output) = output else {
        eprintln!("not tested: there is no python3");
        return;
    };
    let listed = text(&output.stdout);
    let own: Vec<String> = teml::bench::scripts().into_iter().map(|s| s.name).collect();
    assert_eq!(listed.split_whitespace().collect::<Vec<_>>(), own);
}
