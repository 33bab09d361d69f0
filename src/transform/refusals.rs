//! Refusals that several operations share, each with class, text and help.

use super::failure::{Error, Parameter, limitation, mistake, refusal};
use crate::analysis::project::Division;
use crate::ir::{Hints, Loop, MAX_DEPTH, MAX_SIZE, Name, Nest, Tensor};

/// A tensor is used before anything named it.
pub fn unnamed() -> Error {
    mistake("this tensor has no name yet")
        .help("bind it to a variable first: `let A = tensor([2, 3])`")
}

/// Whether a program declares a tensor that the nest assigns as an output.
pub fn is_output(nest: &Nest, tensor: &Tensor) -> bool {
    let declared = tensor.name().and_then(|name| nest.is_output(name));
    declared == Some(true)
}

/// A result is to be memory of the nest.
pub fn output(tensor: &Tensor) -> Error {
    let text = format!(
        "{} is an output of the program, not a temporary",
        tensor.label()
    );
    refusal(text).help("only a tensor that the program does not declare as `output` can be local")
}

/// A word that a parameter does not take.
pub fn not_one_of(parameter: &str, word: &str, allowed: &[&str]) -> Error {
    let quoted: Vec<String> = allowed.iter().map(|w| format!("\"{w}\"")).collect();
    let allowed = quoted.join(", ");
    mistake(format!(
        "`{parameter}` must be one of {allowed}, not \"{word}\""
    ))
}

/// A number that must not be negative.
pub fn negative(value: i64, parameter: &dyn Parameter) -> Error {
    let name = parameter.name();
    let text = format!("`{name}` must be at least 0, and {value} is not");
    mistake(text).at(parameter)
}

/// Whether a comment in C can hold `text`: a remark without the sequences that C interprets there.
pub fn is_remark(text: &str) -> bool {
    let read = ["\\", "*/", "/*", "??"];
    Hints::is_remark(text) && !read.iter().any(|token| text.contains(token))
}

/// A text that a comment in C cannot hold.
pub fn not_a_remark(text: &str, parameter: &dyn Parameter) -> Error {
    let error = mistake(format!("{text:?} cannot be a remark")).help(
        "a remark is one line of letters, digits, spaces and punctuation, without backslashes, \
         `/*`, `*/` and `??`",
    );
    error.at(parameter)
}

/// An iterator or a loop is listed twice.
pub fn repeated(name: &Name) -> Error {
    mistake(format!("`{name}` is listed twice"))
}

/// A dimension that an operand does not have.
pub fn no_dimension(what: &str, rank: usize, dimension: i64) -> Error {
    let has = match rank {
        0 => "it has none".to_owned(),
        1 => "its only dimension is 1 (dimensions count from 1)".to_owned(),
        2 => "its dimensions are 1 and 2 (counted from 1)".to_owned(),
        rank => format!("its dimensions are 1 to {rank} (counted from 1)"),
    };
    let error = mistake(format!("{what} has no dimension {dimension}: {has}"));
    match dimension {
        0 => error.help("the first dimension is 1"),
        _ => error,
    }
}

/// A dimension is in two pairs of a contraction, or twice in a list.
pub fn dimension_twice(what: &str, dimension: i64) -> Error {
    mistake(format!("dimension {dimension} of {what} is listed twice"))
}

/// An expression that is too deep or too large.
pub fn too_complex() -> Error {
    limitation(format!(
        "the expression would be deeper than {MAX_DEPTH} operations or larger than {MAX_SIZE}"
    ))
    .help("assign a part of it to a tensor and use that tensor")
}

/// A derived name that is in use.
pub fn name_clash(name: &Name) -> Error {
    let text = format!("the new loop would be named `{name}`, and there is a loop of that name");
    refusal(text).help("transform the loop of that name first, or name iterators apart")
}

/// A loop whose number of iterations varies.
pub fn not_constant(nest: &Nest, l: &Loop) -> Error {
    let (name, range) = (&l.name, &l.range);
    let error = refusal(format!(
        "the number of iterations of `{name}` is not constant: {range}"
    ));
    let bounds = || range.lower.iter().chain(&range.upper);
    let outer = bounds().flat_map(|b| b.terms()).next();
    let outer = outer.map_or_else(|| "the loop outside".to_owned(), |(i, _)| format!("`{i}`"));
    // A remainder has two bounds on a side; in a triangle, blocks of one size leave other
    // remainders.
    let help = if range.lower.len().max(range.upper.len()) > 1 {
        format!(
            "choose factors that divide the extents, or stripmine with the tail \"cut\", or unroll \
             {outer} first"
        )
    } else {
        format!(
            "unroll {outer} first, or tile both loops and `peel` the tiles at the border of the \
             triangle"
        )
    };
    let error = error.help(help);
    error.on(nest, [name.clone()])
}

/// Two loops, neither inside the other.
pub fn not_nested(nest: &Nest, first: &Name, second: &Name) -> Error {
    let text = format!("neither of `{first}` and `{second}` is inside the other");
    refusal(text).on(nest, [first, second].map(Name::clone))
}

/// A loop that should be inside of another one.
pub fn not_inside(nest: &Nest, inner: &Name, outer: &Name) -> Error {
    let text = format!("`{inner}` is not inside of `{outer}`");
    refusal(text).on(nest, [inner, outer].map(Name::clone))
}

/// A loop would move out of a loop that its bounds depend on.
pub fn bounds_depend(nest: &Nest, inner: &Name, outer: &Name) -> Error {
    let text = format!(
        "the bounds of `{inner}` depend on `{outer}`, so `{inner}` cannot move outside of it"
    );
    refusal(text).on(nest, [outer, inner].map(Name::clone))
}

/// A loop would move inside of one whose bounds hold a multiple of its iterator.
pub fn needs_division(nest: &Nest, division: &Division) -> Error {
    let Division { of, by, factor } = division;
    let error = refusal(format!(
        "the bounds of `{of}` hold {factor}*{by}: with `{by}` inside of it, new bounds would need \
         division"
    ));
    let error = error.help(
        "blocks stay inside of the loop over blocks; skew by 1 or -1, and change the order before \
         stripmine",
    );
    error.on(nest, [by, of].map(Name::clone))
}
