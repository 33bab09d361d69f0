//! Every refusal: the input, the message, and the argument and loops at fault. A test checks that
//! no variant of an error is missing.

use crate::teml::buffers::buffers;
use crate::teml::locals::locals;
use crate::teml::partials::partials;
use crate::teml::refused_consumers::consumers;
use crate::teml::refused_expressions::expressions;
use crate::teml::refused_hints::hints;
use crate::teml::refused_inits::inits;
use crate::teml::refused_loops::loops;
use crate::teml::refused_nests::nests;
use crate::teml::refused_operands::operands;
use crate::teml::refused_padded::padded;
use crate::teml::refused_partitions::partitions;
use crate::teml::refused_producers::producers;
use crate::teml::refused_quotients::quotients;
use crate::teml::refused_ranges::ranges;
use crate::teml::refused_reuses::reuses;
use crate::teml::refused_sizes::sizes;
use crate::teml::refused_slabs::slabs;
use crate::teml::refused_sparse::sparse;
use crate::teml::refused_texts::texts;
use crate::teml::regrouped::{folds, regrouped};
use crate::teml::running::running;
use crate::teml::trees::*;
use std::fmt::Display;
use std::fs;
use std::path::Path;
use teml::analysis::launches::Misplaced;
use teml::analysis::verify::Invalid;
use teml::codegen::symbol::SymbolError;
use teml::codegen::{NoCode, NoDevice, generate};
use teml::ir::BinaryOp::Mul;
use teml::ir::{Axis, Elem, Name, Nest, Reduction};
use teml::legality::{Reductions, Undecided, Verdict, check};
use teml::lower::build::build;
use teml::transform::nest::at::focus;
use teml::transform::nest::reverse::reverse;
use teml::transform::tensor::eq;
use teml::transform::tensor::partition::retarget;
use teml::transform::tensor::vreduce::vreduce;
use teml::transform::{Arg, LoopRef, Op, apply};

/// A call that is refused.
#[derive(Clone)]
pub struct Case {
    pub op: &'static Op,
    pub args: Vec<Arg>,
    pub text: String,
    pub argument: Option<usize>,
    pub culprits: &'static [&'static str],
}

impl Case {
    /// Refused because of no argument and no loop in particular.
    pub fn new(op: &'static Op, args: Vec<Arg>, text: impl Display) -> Case {
        let text = text.to_string();
        let (argument, culprits) = (None, &[] as &[&str]);
        Case {
            op,
            args,
            text,
            argument,
            culprits,
        }
    }

    /// Which argument is at fault, counted from 0.
    pub fn at(mut self, argument: usize) -> Case {
        self.argument = Some(argument);
        self
    }

    /// Which loops are.
    pub fn because_of(mut self, culprits: &'static [&'static str]) -> Case {
        self.culprits = culprits;
        self
    }
}

fn cases() -> Vec<Case> {
    [
        expressions(),
        operands(),
        padded(),
        partitions(),
        sizes(),
        sparse(),
        nests(),
        loops(),
        hints(),
        inits(),
        locals(),
        partials(),
        running(),
        regrouped(),
        folds(),
        producers(),
        quotients(),
        ranges(),
        consumers(),
        buffers(),
        reuses(),
        slabs(),
        texts(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn refusals_say_what_is_wrong_and_where() {
    for case in cases() {
        let Err(error) = apply(case.op, &case.args, None) else {
            panic!("{} was to be refused: {}", case.op.name, case.text)
        };
        let culprits: Vec<&str> = error.culprits.iter().map(Name::as_str).collect();
        let found = (error.op, &error.text, error.argument, culprits.as_slice());
        let expected = (case.op.name, &case.text, case.argument, case.culprits);
        assert_eq!(found, expected);
        // Loops at fault are shown in a nest that has them.
        let has = |name: &Name| error.nest.as_ref().is_some_and(|nest| nest.has_loop(name));
        assert!(error.culprits.iter().all(has), "{error}");
        let parameters = 0..case.op.params.len();
        assert!(error.argument.is_none_or(|k| parameters.contains(&k)));
    }
}

/// Each refusal once, as people read it: the operation, the class, the text and what helps.
#[test]
fn refusals_help() {
    let said = cases().into_iter().filter_map(|case| {
        let error = apply(case.op, &case.args, None).err()?;
        let help = error
            .help
            .as_ref()
            .map_or(String::new(), |help| format!("\n  help: {help}"));
        Some(format!("{:?} of {}: {error}{help}", error.class, error.op))
    });
    let said: std::collections::BTreeSet<String> = said.collect();
    let said: Vec<String> = said.into_iter().collect();
    insta::assert_snapshot!(said.join("\n"));
}

/// Gives every variant a name, in a match that the compiler keeps complete, and lists them.
macro_rules! variants {
    ($kind:ident: $($pattern:pat => $name:literal,)*) => {
        fn variant(kind: &$kind) -> &'static str {
            match kind {
                $($pattern => $name,)*
            }
        }
        const VARIANTS: &[&str] = &[$($name,)*];
    };
}

/// The texts of a file's refusals, each split at the parts that vary.
fn templates(code: &str, calls: &[&str]) -> Vec<Vec<String>> {
    let starts = calls.iter().flat_map(|call| code.match_indices(call));
    let literal = |start: usize| {
        let rest = code[start..].trim_start();
        let rest = rest.strip_prefix("format!(").unwrap_or(rest).trim_start();
        let mut characters = rest.strip_prefix('"')?.chars();
        let (mut parts, mut depth) = (vec![String::new()], 0);
        while let Some(c) = characters.next() {
            match c {
                '"' => break,
                '{' => depth += 1,
                '}' if depth == 1 => {
                    depth = 0;
                    parts.push(String::new());
                }
                '\\' => match characters.next() {
                    Some('\n') => {
                        let rest = characters.as_str().trim_start();
                        characters = rest.chars();
                    }
                    Some(escaped) if depth == 0 => parts.last_mut()?.push(escaped),
                    _ => {}
                },
                c if depth == 0 => parts.last_mut()?.push(c),
                _ => {}
            }
        }
        Some(parts)
    };
    let found = starts.filter_map(|(at, call)| literal(at + call.len()));
    found.collect()
}

/// Whether a text has all parts, in order.
fn has(text: &str, parts: &[String]) -> bool {
    let mut rest = text;
    parts.iter().all(|part| match rest.find(part.as_str()) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[test]
fn every_refusal_has_a_case() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = |folder: &str| {
        let entries = fs::read_dir(src.join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path())
    };
    let own = ["transform", "transform/nest", "transform/tensor"];
    let own = own.into_iter().flat_map(files);
    let own = own.filter(|file| file.extension().is_some_and(|e| e == "rs"));
    let own = own.map(|file| (file, ["refusal(", "mistake(", "limitation("].as_slice()));
    let below = [
        "core/analysis/mismatch",
        "core/analysis/position",
        "core/analysis/verify",
        "core/lower/build",
    ];
    let below = below.map(|file| (src.join(format!("{file}.rs")), ["#[error("].as_slice()));
    let texts: Vec<String> = cases().into_iter().map(|case| case.text).collect();
    let mut missing = Vec::new();
    for (file, calls) in own.chain(below) {
        let templates = templates(&fs::read_to_string(&file).unwrap(), calls);
        let lacks = |parts: &Vec<String>| !texts.iter().any(|text| has(text, parts));
        let lacking = templates.into_iter().filter(lacks);
        missing.extend(lacking.map(|parts| format!("{}: {}", file.display(), parts.join("…"))));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn a_declared_target_of_another_element_type_is_refused() {
    let value = eq("B", &tensor("A", &[4]), "i", "i");
    let declared = teml::transform::tensor::declare::tensor(&[4], Elem::F32).unwrap();
    let declared = bind("B", declared);
    let error = retarget(&value, declared.tensor().unwrap()).unwrap_err();
    let text = "B has elements of type f32, but the assigned value has f64";
    assert_eq!(error.text, text);
}

/// Nests and a name for which there is no C, and why.
fn codes() -> Vec<(Vec<Nest>, &'static str, NoCode)> {
    let copy = copy("B", "A", &[4], "i");
    let carried = nest(&["f64 A[4]", "parallel for i in 1..4", "  A[i] = A[i - 1]"]);
    let race = teml::legality::independence::first_race(&carried).unwrap();
    let other = nest(&["f64 A[5]", "for i in 0..5", "  A[i] = A[i]"]);
    let broken = nest(&["f64 A[4]", "A[k] = A[k]"]);
    let inner = teml::transform::LoopRef::Level(2);
    let part = focus(&self::copy("B", "A", &[4, 5], "i j"), &inner).unwrap();
    let x = tensor("x", &[5]);
    let squares = vop(Mul, &x, &x, ["i", "i"]);
    let sum = vreduce(
        Reduction::Sum,
        &squares,
        &list("i"),
        teml::ir::Domain::default(),
    )
    .unwrap();
    let reversed = build(&bind("s", eq::eq(&sum, &arrow(["ε"], "")).unwrap())).unwrap();
    let reversed = reverse(&reversed, &LoopRef::Level(1)).unwrap();
    let Verdict::Illegal(violation) = check(std::slice::from_ref(&reversed), Reductions::Strict)
    else {
        panic!("a reversed sum is not in order")
    };
    // Its statement is another one, and nothing says which of the definition it executes.
    let unknown = nest(&["f64 A[4], B[4]", "for i in 0..4", "  B[i] = A[i] * 1"]);
    let unknown = copy.with_trees(unknown.trees().to_vec());
    let statement = "B[i] = A[i] * 1".to_owned();
    let undecided = Undecided::Unknown { statement };
    vec![
        (vec![reversed], "kernel", NoCode::Illegal(violation)),
        (vec![unknown], "kernel", NoCode::Undecided(undecided)),
        (vec![], "kernel", NoCode::Nothing),
        (
            vec![copy.clone(), carried],
            "kernel",
            NoCode::Race { nest: 1, race },
        ),
        (
            vec![copy.clone(), other],
            "kernel",
            NoCode::TensorsDiffer {
                name: name("A"),
                first: "f64 A[4]".to_owned(),
                second: "f64 A[5]".to_owned(),
                is_joined: false,
            },
        ),
        (
            ["f64 r[]\nr[] = r[]", "f64 r\nr = r"]
                .map(|text| nest(&[text]))
                .to_vec(),
            "kernel",
            NoCode::TensorsDiffer {
                name: name("r"),
                first: "f64 r[]".to_owned(),
                second: "f64 r".to_owned(),
                is_joined: false,
            },
        ),
        (vec![part], "kernel", NoCode::Part { outer: name("i") }),
        (
            [
                "size N\nf64 A[N]\nA[0] = 1",
                "size N least 1\nf64 A[N]\nA[0] = 1",
            ]
            .map(|text| nest(&[text]))
            .to_vec(),
            "kernel",
            NoCode::SizesDiffer { name: name("N") },
        ),
        (
            vec![nest(&["size A least 1", "f64 A[A]", "A[0] = 1"])],
            "kernel",
            NoCode::SizeIsTaken { name: name("A") },
        ),
        (
            vec![nest(&[
                "f64 strided A[2][3], ldA[3]",
                "for i in 0..2",
                "  for j in 0..3",
                "    A[i][j] = ldA[j]",
            ])],
            "kernel",
            NoCode::StrideIsTaken { name: name("ldA") },
        ),
        (
            vec![nest(&[
                "f64 A[2], strided(all) x[2]",
                "grid.x for i in 0..2",
                "  A[i] = x[i]",
            ])],
            "kernel",
            NoCode::Device {
                nest: 0,
                why: NoDevice::Apart {
                    tensor: "x".to_owned(),
                },
            },
        ),
        (
            vec![nest(&[
                "f64 A[2][3]",
                "block.x for i in 0..2",
                "  grid.x for j in 0..3",
                "    A[i][j] = 1",
            ])],
            "kernel",
            NoCode::Device {
                nest: 0,
                why: NoDevice::Misplaced(Misplaced::GridInside {
                    inner: name("j"),
                    axis: Axis::from_word("grid.x").unwrap(),
                    outer: name("i"),
                }),
            },
        ),
        (
            vec![copy],
            "double",
            NoCode::Symbol(SymbolError::Taken("double".to_owned())),
        ),
        (
            vec![broken],
            "kernel",
            NoCode::Invalid(Invalid::Malformed(
                "`k` uses `k` outside of its loop".to_owned(),
            )),
        ),
    ]
}

#[test]
fn codegen_says_why_there_is_no_c() {
    for (nests, symbol, why) in codes() {
        assert_eq!(generate(&nests, symbol, Reductions::Strict), Err(why));
    }
}

#[test]
fn every_reason_for_no_c_has_a_case() {
    variants! { NoCode:
        NoCode::Nothing => "Nothing",
        NoCode::Part { .. } => "Part",
        NoCode::SizesDiffer { .. } => "SizesDiffer",
        NoCode::SizeIsTaken { .. } => "SizeIsTaken",
        NoCode::StrideIsTaken { .. } => "StrideIsTaken",
        NoCode::Race { .. } => "Race",
        NoCode::Illegal(_) => "Illegal",
        NoCode::Undecided(_) => "Undecided",
        NoCode::TensorsDiffer { .. } => "TensorsDiffer",
        NoCode::Symbol(_) => "Symbol",
        NoCode::Plan { .. } => "Plan",
        NoCode::Stopped => "Stopped",
        NoCode::Invalid(_) => "Invalid",
        NoCode::Device { .. } => "Device",
    }
    let provoked: Vec<&str> = codes().iter().map(|(.., why)| variant(why)).collect();
    let missing: Vec<&&str> = VARIANTS.iter().filter(|v| !provoked.contains(v)).collect();
    // Passes make no wrong plans: properties/plans.rs changes them. Stopping codegen would stop all
    // tests of this process: tests/stop.rs has that case.
    assert_eq!(missing, [&"Plan", &"Stopped"]);
}
