//! Texts that are no programs.

use crate::refusals::Case;
use crate::trees::name;
use teml::analysis::outside::Outside;
use teml::analysis::shape::{Mismatch, Place};
use teml::analysis::verify::Invalid;
use teml::ir::{Affine, Elem};
use teml::lower::program::NoProgram;
use teml::transform::nest::text::NEST;
use teml::transform::{Arg, Class, apply};

fn case(text: &str, why: NoProgram) -> Case {
    Case::new(&NEST, vec![Arg::Word(text.to_owned())], why).at(0)
}

pub fn texts() -> Vec<Case> {
    let unreadable = |line: usize, text: &str, what: &str| NoProgram::Unreadable {
        line,
        text: text.to_owned(),
        what: what.to_owned(),
    };
    let place = |extent| Place {
        tensor: "A".to_owned(),
        dimension: 1,
        extent,
    };
    let outside = |text: &str, why: Mismatch| {
        let text = text.to_owned();
        NoProgram::Outside(Outside { text, why })
    };
    let index = |iterator: &str, more: i64| Affine::iterator(name(iterator)).plus_constant(more);
    vec![
        case(
            "\n  f64 A[4]\n  for i in 0..4\n    // twice\n      A[i] = B[i]\n",
            unreadable(5, "A[i] = B[i]", "tensor B is not declared"),
        ),
        case(
            "f64 A[4]\nfor i in 0..4\n    A[i] = 1\n  A[i] = 2",
            unreadable(4, "A[i] = 2", "the indentation fits no loop"),
        ),
        case("f64 A[4]\nfor i in 0..4", NoProgram::Empty),
        case(
            "f64 A[4]\nfor i in 0..4\n  for i in 0..4\n    A[i] = 1",
            NoProgram::Hidden { name: name("i") },
        ),
        case(
            "f64 A[4]\nfor i in 0..4\n  A[j] = 1",
            NoProgram::Invalid(Invalid::Malformed(
                "`j` uses `j` outside of its loop".to_owned(),
            )),
        ),
        case(
            "f64 A[4]\ni32 B[4]\nfor i in 0..4\n  A[i] = B[i]",
            NoProgram::Elems {
                text: "A[i] = B[i]".to_owned(),
                why: Mismatch::Elems {
                    left: "A".to_owned(),
                    left_elem: Elem::F64,
                    right: "B".to_owned(),
                    right_elem: Elem::I32,
                },
            },
        ),
        case(
            "i32 A[4]\nfor i in 0..4\n  A[i] = 1 + sqrt(A[i])",
            NoProgram::NeedsFloat {
                text: "A[i] = 1 + sqrt(A[i])".to_owned(),
                function: "sqrt",
                elem: Elem::I32,
            },
        ),
        case(
            "f64 A[10]\nfor t in 0..4\n  for i in 0..10\n    A[i] += A[i + 1]",
            outside(
                "A[i] += A[i + 1]",
                Mismatch::Leaves {
                    index: index("i", 1),
                    value: 10,
                    at: vec![(name("t"), 0), (name("i"), 9)],
                    place: place(10),
                },
            ),
        ),
        case(
            "f64 A[9]\nfor i in 0..3000\n  for j in 0..3000\n    for k in i + j..min(i, j)\n      \
             A[k + 9] = 1",
            outside(
                "A[k + 9] = 1",
                Mismatch::Unclear {
                    index: index("k", 9),
                    place: place(9),
                },
            ),
        ),
        case(
            "f64 A[4]\nfill A[0..4] = 0\nfor i in 0..4\n  A[i] = 1",
            NoProgram::IdleFill {
                text: "fill A[0..4] = 0".to_owned(),
                tensor: "A".to_owned(),
            },
        ),
    ]
}

#[test]
fn what_cannot_be_told_is_a_limitation() {
    let class = |case: &Case| apply(case.op, &case.args, None).unwrap_err().class;
    let classes: Vec<Class> = texts().iter().map(class).collect();
    let limits = classes.iter().filter(|c| **c == Class::Limitation).count();
    let mistakes = classes.iter().filter(|c| **c == Class::Mistake).count();
    assert_eq!((limits, limits + mistakes), (1, classes.len()));
}
