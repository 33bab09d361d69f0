//! Refusals to compute producers at their reads.

use crate::teml::refusals::Case;
use crate::teml::trees::{level, loops, name, named, nest, transform};
use teml::analysis::position::NoLoop;
use teml::analysis::verify::Invalid;
use teml::ir::Nest;
use teml::transform::Arg;
use teml::transform::nest::compute_at::COMPUTE_AT;
use teml::transform::nest::inline::INLINE;

pub fn producers() -> Vec<Case> {
    let doubled = nest(&["f64 A[12], T[12]", "for i in 0..12", "  T[i] = A[i] + A[i]"]);
    let reader = nest(&["f64 B[12], T[12]", "for i in 0..12", "  B[i] = T[i]"]);
    let merge = |producer: &Nest, consumer: &Nest, kind: String| {
        let nests = [producer, consumer].map(|nest| Arg::Nest(nest.clone()));
        Case::new(&INLINE, nests.to_vec(), kind)
    };
    let place = |producer: &Nest, consumer: &Nest, at: Arg, kind: String| {
        let nests = [producer, consumer].map(|nest| Arg::Nest(nest.clone()));
        let args = nests.into_iter().chain([at]).collect();
        Case::new(&COMPUTE_AT, args, kind)
    };
    let not_plain = |lines: &[&str], found: &str| {
        let found = found.to_owned();
        let role = "producer";
        merge(
            &nest(lines),
            &reader,
            format!("the {role} is not one assignment in plain loops: {found}"),
        )
        .at(0)
    };
    let tensor = || "T".to_owned();
    let reads_target = |lines: &[&str]| {
        let kind = format!("the producer needs what {} held before", tensor());
        place(&nest(lines), &reader, level(1), kind).at(0)
    };
    let overwritten = |line: &str, written: &str| {
        let consumer = [
            "f64 B[12], T[12], A[12]",
            "for i in 0..12",
            "  B[i] = T[i]",
            line,
        ];
        let (written, tensor) = (written.to_owned(), tensor());
        let kind =
            format!("the consumer writes {written}, which {tensor} is computed from or is itself");
        merge(&doubled, &nest(&consumer), kind).at(1)
    };
    let not_set = |index: &str, read: &str| {
        let line = format!("  B[i] = T[{index}]");
        let consumer = nest(&["f64 B[12], T[12]", "for i in 0..11", &line]);
        let producer = nest(&["f64 A[12], T[12]", "for i in 1..11", "  T[i] = A[i]"]);
        let (read, set) = (read.to_owned(), "T[1..11]".to_owned());
        let kind = format!("the consumer reads {read}, and the producer sets {set}");
        place(&producer, &consumer, level(1), kind).at(1)
    };
    let other_shape = nest(&["f64 B[12], T[13]", "for i in 0..12", "  B[i] = T[i]"]);
    let not_read = |consumer: &Nest| {
        let kind = format!("the consumer does not read {}", tensor());
        merge(&doubled, consumer, kind).at(1)
    };
    let twice = [
        "f64 B[12], T[12]",
        "for i in 0..12",
        "  B[i] = T[i]",
        "for j in 0..12",
        "  B[j] += T[j]",
    ];
    let elsewhere = "T is read outside of `i`, too".to_owned();
    let thrice = [&twice[..], &["for k in 0..12", "  B[k] += T[k]"]].concat();
    let read_outside = |names: &[&str]| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let loops = match quoted.as_slice() {
            [] => "a list without loops".to_owned(),
            quoted => quoted.join(" and "),
        };
        format!("T is read outside of {loops}, too")
    };
    let (in_neither, nowhere) = (read_outside(&["i", "j"]), read_outside(&[]));
    let own = |of: &str| {
        format!(
            "`{of}` reads nothing of {} that the other loops do not",
            tensor()
        )
    };
    let in_blocks = nest(&[
        "f64 B[12], T[12], R[2]",
        "for o in 0..3",
        "  for i in 4*o..4*o + 4",
        "    B[i] = T[i]",
        "for j in 0..2",
        "  R[j] = 1",
    ]);
    let reduction = [
        "f64 A[12][3], T[12]",
        "fill T[0..12] = 0",
        "for i in 0..12",
        "  for k in 0..3",
        "    T[i] += A[i][k]",
    ];
    let reduces = format!(
        "{} is the result of a reduction, which has no value that could be inserted",
        tensor()
    );
    let partly = [&[reduction[0], "fill T[0..11] = 0"], &reduction[2..]].concat();
    let have = vec![name("i")];
    let no_loop = NoLoop::NoName {
        name: "k".to_owned(),
        have,
    };
    let vector = nest(&[
        "f64 B[12], T[12]",
        "vector for o in 0..11",
        "  B[o] = T[o] + T[o + 1]",
    ]);
    let modes = Invalid::InsideVector {
        outer: name("o"),
        inner: name("i"),
        mode: "vector",
    };
    let marked = nest(&["f64 A[12], T[12]", "vector for i in 0..12", "  T[i] = A[i]"]);
    vec![
        not_plain(
            &[
                "f64 A[12], T[12]",
                "for o in 0..3",
                "  for i in 5*o..min(5*o + 5, 12)",
                "    T[i] = A[i]",
            ],
            "`i` runs over 5*o..min(5*o + 5, 12)",
        )
        .because_of(&["i"]),
        not_plain(
            &["f64 A[12], T[12]", "T[0] = A[0]", "T[1] = A[1]"],
            "2 loops or statements are side by side",
        ),
        not_plain(
            &["f64 T[12]", "for i in 0..12", "  T[i] = 1", "  T[i] = 2"],
            "2 loops or statements are side by side",
        )
        .because_of(&["i"]),
        not_plain(
            &[
                "f64 A[10], T[12]",
                "fill T[0..12] = 0",
                "for i in 0..10",
                "  T[i + 1] = A[i]",
            ],
            "`fill T[0..12] = 0` sets more than the loops do",
        ),
        not_plain(
            &["f64 T[12]", "fill T[0..12] = 0"],
            "there is no assignment",
        ),
        not_plain(
            &["f64 T[12]", "for i in 0..6", "  T[2*i] = 1"],
            "T is indexed by `2*i`",
        ),
        not_plain(
            &["f64 T[12][12]", "for i in 0..12", "  T[i][i] = 1"],
            "`i` indexes several dimensions",
        ),
        not_plain(
            &[
                "f64 A[3], T[12]",
                "for i in 0..12",
                "  for k in 0..3",
                "    T[i] = A[k]",
            ],
            "`k` indexes the value alone",
        ),
        Case::new(
            &INLINE,
            vec![
                Arg::Nest(nest(&["f64 T[12]", "for i in 0..12 step 2", "  T[i] = 1"])),
                Arg::Nest(reader.clone()),
            ],
            "`i` has the step 2, and this is for loops of step 1".to_owned(),
        )
        .at(0)
        .because_of(&["i"]),
        merge(&nest(&reduction), &reader, reduces).at(0),
        reads_target(&[&reduction[..1], &reduction[2..]].concat()),
        reads_target(&partly),
        reads_target(&["f64 T[12]", "for i in 0..12", "  T[i] = T[i]"]),
        not_read(&nest(&[
            "f64 B[12], A[12]",
            "for i in 0..12",
            "  B[i] = A[i]",
        ])),
        not_read(&other_shape),
        overwritten("  A[i] = 0", "A"),
        overwritten("  T[i] = 0", "T"),
        overwritten("fill A[0..12] = 0", "A"),
        not_set("i", "T[0..11]"),
        not_set("i + 1", "T[1..12]"),
        not_set("11", "T[11..12]"),
        place(&doubled, &nest(&twice), named("i"), elsewhere)
            .at(2)
            .because_of(&["i"]),
        place(&doubled, &nest(&thrice), loops(&["i", "j"]), in_neither)
            .at(2)
            .because_of(&["i", "j"]),
        place(&doubled, &reader, loops(&[]), nowhere).at(2),
        place(&doubled, &nest(&twice), loops(&["i", "j", "i"]), own("i"))
            .at(2)
            .because_of(&["i"]),
        place(&doubled, &in_blocks, loops(&["i", "o"]), own("o"))
            .at(2)
            .because_of(&["o"]),
        place(&doubled, &in_blocks, loops(&["o", "j"]), own("j"))
            .at(2)
            .because_of(&["j"]),
        place(&doubled, &reader, named("k"), no_loop.to_string()).at(2),
        place(&marked, &vector, level(1), modes.to_string()).because_of(&["o", "i"]),
        too_complex(),
    ]
}

/// Sums of sums, the sixth with a million operands.
fn too_complex() -> Case {
    let stage = |k: usize| {
        let (target, source) = (format!("T{k}"), format!("T{}", k.max(1) - 1));
        let terms = vec![format!("{source}[i]"); 10].join(" + ");
        nest(&[
            &format!("f64 {target}[2], {source}[2]"),
            "for i in 0..2",
            &format!("  {target}[i] = {terms}"),
        ])
    };
    let all = (2..5).fold(stage(1), |producer, k| {
        let args = [Arg::Nest(producer), Arg::Nest(stage(k))];
        transform(&INLINE, &args).unwrap()
    });
    let args = vec![Arg::Nest(all), Arg::Nest(stage(5))];
    Case::new(
        &INLINE,
        args,
        "the expression would be deeper than 500 operations or larger than 100000".to_owned(),
    )
    .at(1)
}
