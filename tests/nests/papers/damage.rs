//! Reading any text ends, with a program or with an error at a place in the text.

use crate::config::config;
use crate::papers::{Choices, sizes};
use proptest::prelude::*;
use teml::lang::{self, Notation};

const WORDS: &[&str] = &[
    "var",
    "input",
    "output",
    "A",
    "B",
    "C",
    "u",
    ":",
    "[",
    "]",
    "[2 3]",
    "[4]",
    "(",
    ")",
    "=",
    "#",
    ".",
    "^",
    "+",
    "-",
    "*",
    "/",
    "alloc",
    "add",
    "prod",
    "red+",
    "redmax",
    "transp",
    "diag",
    "expa",
    "proj",
    "contr",
    "1",
    "2",
    "3",
    "99999999999999999999",
    "2.5",
    "1e400",
    "double[3,4]",
    "int",
    "{",
    "}",
    "->",
    "|",
    "<=",
    "<",
    ";",
    ",",
    "iv",
    "[i,j]",
    "[i,.]",
    "...",
    "with",
    "genarray",
    "modarray",
    "fold",
    "sum",
    "shape",
    "take",
    "drop",
    "++",
    "auto",
    "Matrix",
    "Tensor<3>",
    "(n, n)",
    "(n, n, n)",
    "n",
    "\n",
    "é",
    "\0",
    "//",
    "_x",
    "for",
];

const PROGRAMS: &[(Notation, &str)] = &[
    (
        Notation::Model,
        include_str!("../../../scripts/papers/model/trace.tml"),
    ),
    (
        Notation::Model,
        include_str!("../../../scripts/papers/model/qualifiers.tml"),
    ),
    (
        Notation::Teil,
        include_str!("../../../scripts/papers/teil/dimensions.teil"),
    ),
    (
        Notation::Teil,
        include_str!("../../../scripts/papers/teil/taco_b.teil"),
    ),
    (
        Notation::Sac,
        include_str!("../../../scripts/papers/sac/notation.sac"),
    ),
    (
        Notation::Sac,
        include_str!("../../../scripts/papers/sac/with_loops.sac"),
    ),
    (
        Notation::Operators,
        include_str!("../../../scripts/papers/operators/combination.op"),
    ),
];

/// Reads a text in every notation; places are inside of it.
fn is_answered(text: &str) -> Result<(), TestCaseError> {
    let sizes = sizes(&[("m", 3), ("n", 4), ("k", 2)]);
    for notation in Notation::ALL {
        if let Err(problems) = lang::read(notation, text, &sizes) {
            prop_assert!(!problems.is_empty());
            for problem in &problems {
                let places = problem.related.iter().map(|(span, _)| span);
                for span in places.chain([&problem.span]) {
                    prop_assert!(text.get(span.clone()).is_some(), "{:?} {:?}", text, problem);
                }
                prop_assert!(!problem.message.is_empty());
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn words_in_any_order_are_answered(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..40)
    ) {
        is_answered(&words.join(" "))?;
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,80}") {
        is_answered(&text)?;
    }

    #[test]
    fn damaged_programs_are_answered(
        program in 0..PROGRAMS.len(),
        numbers in prop::collection::vec(any::<u32>(), 1..24)
    ) {
        let mut choices = Choices(numbers.iter());
        let mut text: Vec<char> = PROGRAMS[program].1.chars().collect();
        for _ in 0..=choices.below(5) {
            let at = choices.below(text.len());
            match choices.below(4) {
                0 => drop(text.remove(at)),
                1 => {
                    let word: Vec<char> = WORDS[choices.below(WORDS.len())].chars().collect();
                    text.splice(at..at, word);
                }
                2 => text.swap(at, 0),
                _ => {
                    let end = (at + choices.below(30)).min(text.len());
                    let part: Vec<char> = text[at..end].to_vec();
                    let to = choices.below(text.len());
                    text.splice(to..to, part);
                }
            }
            if text.is_empty() {
                text.push(' ');
            }
        }
        is_answered(&text.into_iter().collect::<String>())?;
    }
}

#[test]
fn deep_and_long_texts_are_answered() {
    let sizes = sizes(&[]);
    let nested = |open: &str, close: &str| format!("{}A{}", open.repeat(5000), close.repeat(5000));
    let long = format!("var A : [2]\nA = A{}", " + A".repeat(20_000));
    let texts = [
        format!("var A : [2]\nA = {}", nested("(", ")")),
        format!("alloc A : [2]\nA = {}", nested("(add A ", ")")),
        format!("alloc A : [2]\nA = {}A A", "add A ".repeat(5000)),
        format!("double[2] A;\nB = {};", nested("[", "]")),
        format!("double[2] A;\nB = {}A;", "-".repeat(20_000)),
        format!("double[2] A;\nB = {};", nested("{ [i] -> ", "}")),
        format!("auto A = Matrix(2, 2);\nauto v = {};", nested("(", ")")),
        long,
    ];
    for text in texts {
        for notation in Notation::ALL {
            // An answer, whatever it is.
            let _ = lang::read(notation, &text, &sizes);
        }
    }
}
