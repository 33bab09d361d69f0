//! Texts that are not programs.

use crate::teml::refusals::Case;
use crate::teml::trees::name;
use teml::analysis::shape::{Dimension, Mismatch};
use teml::analysis::verify::Invalid;
use teml::ir::{Affine, Elem};
use teml::lower::program::{Fault, Faults, NoProgram, program};
use teml::transform::nest::text::NEST;
use teml::transform::{Arg, Class, apply};

fn case(text: &str, line: usize, column: usize, why: NoProgram) -> Case {
    let fault = Fault {
        why,
        span: 0..0,
        line,
        column,
    };
    let faults = Faults(vec![fault]);
    Case::new(&NEST, vec![Arg::Word(text.to_owned())], faults).at(0)
}

pub fn texts() -> Vec<Case> {
    let unreadable = |what: &str| NoProgram::Unreadable {
        what: what.to_owned(),
        label: String::new(),
        help: None,
    };
    let place = |extent| Dimension {
        tensor: "A".to_owned(),
        dimension: 1,
        extent: Affine::constant(extent),
    };
    let index = |iterator: &str, more: i64| Affine::iterator(name(iterator)).plus_constant(more);
    vec![
        case(
            "\n  f64 A[4]\n  for i in 0..4\n    // twice\n      A[i] = B[i]\n",
            5,
            14,
            unreadable("tensor B is not declared"),
        ),
        case(
            "f64 A[4]\nfor i in 0..4\n    A[i] = 1\n  A[i] = 2",
            4,
            3,
            unreadable("the indentation fits no loop"),
        ),
        case("f64 A[4]\nfor i in 0..4", 1, 1, NoProgram::Empty),
        case(
            "f64 A[4]\nfor i in 0..4\n  for i in 0..4\n    A[i] = 1",
            3,
            7,
            NoProgram::Hidden { name: name("i") },
        ),
        case(
            "f64 A[4]\nfor i in 0..4\n  A[j] = 1",
            3,
            5,
            unreadable("`j` is not the iterator of a loop around it"),
        ),
        case(
            "f64 A[4]\nvector for i in 0..4\n  vector for j in 0..4\n    A[i] = 1",
            3,
            3,
            NoProgram::Invalid(Invalid::InsideVector {
                outer: name("i"),
                inner: name("j"),
                mode: "vector",
            }),
        ),
        case(
            "f64 A[4]\ni32 B[4]\nfor i in 0..4\n  A[i] = B[i]",
            4,
            10,
            NoProgram::Elems {
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
            3,
            14,
            NoProgram::NeedsFloat {
                function: "sqrt",
                elem: Elem::I32,
            },
        ),
        case(
            "f64 A[4]\nfor i in 0..4\n  A[i] = mod(A[i], 2)",
            3,
            10,
            NoProgram::NeedsInteger {
                function: "mod",
                elem: Elem::F64,
            },
        ),
        case(
            "f64 A[4], x[3]\nfor i in 0..4\n  A[i] = sum(j: x[j])",
            3,
            10,
            NoProgram::Reduction {
                reduction: teml::ir::Reduction::Sum,
            },
        ),
        case(
            "f64 A[10]\nfor t in 0..4\n  for i in 0..10\n    A[i] += A[i + 1]",
            4,
            15,
            NoProgram::Outside(Mismatch::Leaves {
                index: index("i", 1),
                value: 10,
                at: vec![(name("t"), 0), (name("i"), 9)],
                place: place(10),
            }),
        ),
        case(
            "f64 A[9]\nfor i in 0..3000\n  for j in 0..3000\n    for k in max(i + j, 2*i)..min(i, j) step 2\n      \
             A[k + 9] = 1",
            5,
            9,
            NoProgram::Outside(Mismatch::Unclear {
                index: index("k", 9),
                place: place(9),
            }),
        ),
        case(
            "f64 A[4], B[4]\nfill A[0..4] = 0\nfor i in 0..4\n  B[i] = A[i]",
            2,
            1,
            NoProgram::IdleFill {
                text: "fill A[0..4] = 0".to_owned(),
                tensor: "A".to_owned(),
            },
        ),
    ]
}

/// The bytes at fault, and what is said of each.
fn found(text: &str) -> Vec<(&str, String)> {
    let error = apply(&NEST, &[Arg::Word(text.to_owned())], None).unwrap_err();
    let places = error.places.iter();
    let each = places.map(|p| (&text[p.span.clone()], p.message.clone()));
    each.collect()
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let text = "
      f64 A[10]
      f64 B[0]
      i32 n[10]
      for i in 0..10
        A[i = 1
        C[i] = 2
      for j in 0..
        A[j] = A[j] + + 2
        B[j] = 1
        n[j] = min(n[j], 1, 2)
    ";
    let found = found(text);
    let said: Vec<(&str, &str)> = found
        .iter()
        .map(|(at, what)| (*at, what.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            (
                "0",
                "dimension 1 has the extent 0, and extents are at least 1"
            ),
            ("=", "expected `]` before `= 1`"),
            ("C", "tensor C is not declared"),
            ("", "the range has no upper bound"),
            ("+", "expected a value before `+ 2`"),
            (",", "`min` of more than 2 arguments is not supported"),
        ]
    );
}

#[test]
fn everything_that_is_wrong_with_a_text_that_can_be_read() {
    let text = "
      f64 A[4], B[4]
      i32 n[4]
      for i in 0..5
        A[i] = 1
        B[i] = n[i]
      for j in 0..4
        for j in 0..4
          B[j] = A[k]
    ";
    let found = found(text);
    let at: Vec<&str> = found.iter().map(|(at, _)| *at).collect();
    assert_eq!(at, ["i", "n", "j", "k"]);
}

/// One error per line, wherever lines around it are wrong, and none that follows from another.
#[test]
fn every_wrong_line_is_reported_once() {
    let text = "
      f64 total[6], x[6]
      f46 y[2]
      f64 z[2]
      for i in 0..6
        totl[i] = x[ii]
        for j in 0..
          x[i + j] += q[j]
          z[1] = sqr(y[0])
          z[0] = 1
            z[1] = y[0]
          y[j] = i
        fr k in 0..6
          x[k] = z[0] + k
        if x[i] > 0
          x[i] = i + l
        x[i + 6] = 1
      for (int i = 0; i < n; i++)
        x[i] = 1
      f64 late[3]
      late[i] = 1
      x[0][1] = 0
    ";
    let found = found(text);
    let said: Vec<(&str, &str)> = found
        .iter()
        .map(|(at, what)| (*at, what.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            ("f46", "`f46` is not an element type"),
            ("totl", "tensor totl is not declared"),
            ("", "the range has no upper bound"),
            ("q", "tensor q is not declared"),
            ("sqr", "`sqr` is not supported"),
            ("z[1] = y[0]", "the indentation fits no loop"),
            ("fr", "no line begins with `fr`"),
            ("k", "tensor k is not declared"),
            ("i", "tensor i is not declared"),
            (
                "i + 6",
                "index `i + 6` is 6 at i = 0, outside of dimension 1 of x (extent 6)"
            ),
            ("(", "expected a name before `(int i = 0; i < n; i++)`"),
            ("f64", "a declaration comes before all loops and statements"),
            ("i", "`i` is not the iterator of a loop around it"),
            ("x", "x takes 1 index, not 2"),
        ]
    );
}

/// Messages suggest the name that could be meant.
#[test]
fn near_names_are_suggested() {
    for (text, name) in [
        ("f64 total[6]\ntotl[0] = 1", "total"),
        ("f64 x[6]\nfor row in 0..6\n  x[rwo] = 1", "row"),
        ("f64 x[6]\nfr i in 0..6\n  x[i] = 1", "for"),
        ("f46 x[6]\nx[0] = 1", "f64"),
        ("f64 x[6]\nx[0] = sqr(x[1])", "sqrt"),
        ("f64 x[6]\nlocl f64 t[6]\nx[0] = 1", "local"),
    ] {
        let error = apply(&NEST, &[Arg::Word(text.to_owned())], None).unwrap_err();
        assert_eq!(error.places.len(), 1, "{text}: {:?}", error.places);
        let help = format!("did you mean `{name}`?");
        assert_eq!(error.help, Some(help), "{text}");
    }
}

/// Programs in Rust see the lines and the characters.
#[test]
fn errors_say_lines_and_columns() {
    let text = "f64 total[6]\nfor i in 0..6\n  totl[i] = 1\n  total[i + 1] = 1\n  total[é] = 1";
    let error = apply(&NEST, &[Arg::Word(text.to_owned())], None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 3, column 3: tensor totl is not declared\n\
         line 4, column 9: index `i + 1` is 6 at i = 5, outside of dimension 1 of total (extent 6)\n\
         line 5, column 9: expected an iterator or a number before `é] = 1`"
    );
}

/// Words of other languages are told from names that are not declared, and what is meant is said.
#[test]
fn what_nests_do_not_have_is_said_with_what_they_have() {
    for (statement, what, help) in [
        ("elif a[i] > 0", "`elif`", "select("),
        ("while a[i] > 0", "`while`", "select("),
        ("a[k[i]] += b[i]", "`k[i]` in an index", "let c = k[i]"),
        ("a[2*k[i]] += b[i]", "`k[i]` in an index", "let c = k[i]"),
        ("a[i] = trunc(b[i])", "`trunc`", "f64(i64(x))"),
        ("a[i] = rint(b[i])", "`rint`", "`round(x)`"),
        ("a[i] = sigmoid(b[i])", "`sigmoid`", "`tanh(x)`"),
        ("a[i % 3] += b[i]", "`%` in an index", "3*q + r"),
        ("a[i / 3] += b[i]", "`/` in an index", "3*q + r"),
        ("k[i] = k[i] % 3", "`%`", "mod(x, y)"),
        ("a[i * i] = 1", "a product of iterators", "numbers"),
        (
            "a[i] = select(b[i] > 0 and a[i] > 0, 1, 2)",
            "`and`",
            "select(x > 0, select(",
        ),
        (
            "a[i] = select(b[i] > 0 || a[i] > 0, 1, 2)",
            "`||`",
            "select(x > 0, a, select(",
        ),
        (
            "a[i] = min(a[i], b[i], 3)",
            "more than 2",
            "min(min(x, y), z)",
        ),
        ("a[i] = b[i] > 0", "`>`", "select("),
        ("a[i] = b[i] ** 2", "`**`", "pow(x, y)"),
        ("a[i] = b(i)", "`b(…)`", "`b[i]`"),
        ("a[i, i] = 1", "one bracket", "`a[i]`"),
        ("a[i]++", "`++`", "+= 1"),
    ] {
        let text = format!("f64 a[9], b[9]\ni64 k[9]\nfor i in 0..9\n  {statement}");
        let error = apply(&NEST, &[Arg::Word(text)], None).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains(what) && said.contains("not supported"),
            "{statement}: {said}"
        );
        let helps = error.help.unwrap_or_default();
        assert!(helps.contains(help), "{statement}: {helps}");
    }
}

/// Element types mix where values are converted or compared.
#[test]
fn texts_mix_element_types() {
    for text in [
        "f64 s[]\nf32 x[8]\nfill s[] = 0\nfor i in 0..8\n  s[] += f64(x[i]) * f64(x[i])",
        "f64 a[9]\ni32 k[9]\nfor i in 0..9\n  k[i] += select(a[i] < 4, 1, 0)",
        "f64 b[9], a[9]\nfor i in 0..9\n  b[i] = select(index(2*i) < 7, f64(index(i)), neg(a[i]))",
        "f32 y[4]\ni64 n[4]\nfor i in 0..4\n  y[i] = f32(n[i]) / 3\n  n[i] = i64(y[i] * 2)",
    ] {
        let nest = program(text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        assert_eq!(nest.to_string(), text);
    }
    for (statement, at) in [
        ("k[i] = a[i]", "k has elements of type i32, but a has f64"),
        (
            "k[i] += select(a[i] < k[i], 1, 0)",
            "a has elements of type f64, but k has i32",
        ),
        (
            "a[i] = f64(k[i]) + k[i]",
            "`f64(k[i])` has elements of type f64, but k has i32",
        ),
    ] {
        let text = format!("f64 a[9]\ni32 k[9]\nfor i in 0..9\n  {statement}");
        assert_eq!(found(&text)[0].1, at);
    }
}

/// A minus in front of a value.
#[test]
fn values_have_signs() {
    let text = |value: &str| format!("f64 a[9], b[9]\nfor i in 0..9\n  a[i] = {value}");
    for (value, meant) in [
        ("-b[i]", "neg(b[i])"),
        ("-(b[i] + 1) * 2", "neg(b[i] + 1) * 2"),
        ("2 - -b[i]", "2 - neg(b[i])"),
        ("- b[i] - 1", "neg(b[i]) - 1"),
        ("max(-sqrt(b[i]), -1)", "max(neg(sqrt(b[i])), -1)"),
    ] {
        let nest = program(&text(value)).unwrap();
        assert_eq!(nest.to_string(), text(meant));
    }
}

#[test]
fn what_cannot_be_told_is_a_limitation() {
    let class = |case: &Case| apply(case.op, &case.args, None).unwrap_err().class;
    let classes: Vec<Class> = texts().iter().map(class).collect();
    let limits = classes.iter().filter(|c| **c == Class::Limitation).count();
    let mistakes = classes.iter().filter(|c| **c == Class::Mistake).count();
    assert_eq!((limits, limits + mistakes), (1, classes.len()));
}
