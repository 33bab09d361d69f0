//! Constructs of other languages that texts of nests do not have, with replacements.

use super::wrong::Wrong;
use crate::ir::closest::closest;
use crate::ir::elem::Elem;
use crate::ir::function::{BinaryOp, Function};
use crate::ir::name::Name;
use crate::ir::tensor::Tensor;

/// The error for a word that names no tensor, if another language has it. `rest` comes after it.
pub(super) fn word(word: &str, rest: &str) -> Option<Wrong> {
    let calls = rest.trim_start().starts_with('(');
    let help = match word {
        "if" | "else" | "elif" | "switch" => {
            "`if b[i] > 0` guards the statements below it, which are indented; for the others, \
             compare the other way around, or choose between values: \
             `a[i] = select(b[i] > 0, b[i], c[i])`; bounds such as `max(0, i - 2)` also leave \
             iterations out"
        }
        "while" | "do" | "until" => {
            "loop over the most iterations that may be needed, and keep the result with a choice: \
             `x = select(x < 4, x * x, x)`"
        }
        "break" | "continue" | "return" | "goto" => {
            "every iteration is executed; `select(x < y, a, b)` keeps the old value where that is \
             meant"
        }
        "let" => {
            "`let c = col[e]` reads an entry of a tensor of integers, whose declaration says which \
             values it has: `i64 col[9] in 0..4`"
        }
        "var" | "const" | "auto" => "declare it with its type: `local f64 t`, `local f64 t[9]`",
        "double" | "float" | "int" | "long" => {
            "element types are f64, f32, i32 and i64: `local f64 t`"
        }
        "rint" | "nearbyint" if calls => "the nearest whole number is `round(x)`",
        "trunc" if calls => "conversions to integers truncate: `f64(i64(x))`",
        "fabs" if calls => "the absolute value is `abs(x)`",
        "fmin" | "minimum" if calls => "the lesser of two values is `min(x, y)`",
        "fmax" | "maximum" if calls => "the greater of two values is `max(x, y)`",
        "fmod" | "remainder" if calls => "`mod(x, y)` is the remainder of integers",
        "where" if calls => "write `select(x < y, a, b)`",
        "sum" | "prod" if calls => {
            "loop over the values, and update: `fill s[] = 0`, and in the loop `s[] += A[i]`"
        }
        _ if calls => {
            let binary = BinaryOp::ALL
                .into_iter()
                .filter(|op| op.precedence().is_none());
            let binary = binary.map(|op| format!("`{}(x, y)`", op.symbol()));
            let plain = Function::PLAIN.map(|f| format!("`{}(x)`", f.name()));
            let casts = Elem::ALL.map(|e| format!("`{}(x)`", e.name()));
            let others = ["`select(x < y, a, b)`".to_owned(), "`index(i)`".to_owned()];
            let all: Vec<String> = binary.chain(plain).chain(casts).chain(others).collect();
            let names = all
                .iter()
                .filter_map(|call| call.get(1..)?.split('(').next());
            let near = closest(word, names).map(str::to_owned);
            let wrong = Wrong::from(format!("`{word}` is not supported"));
            let functions = format!("functions are {}", all.join(", "));
            return Some(
                wrong
                    .label("unknown function")
                    .suggest(near.as_deref(), functions),
            );
        }
        _ => return None,
    };
    Some(Wrong::unsupported(format!("`{word}`"), help))
}

/// The error for a word that should be an element type.
pub(super) fn elem(word: &str) -> Wrong {
    let wrong = Wrong::from(format!("`{word}` is not an element type"));
    wrong.label("unknown element type").suggest(
        closest(word, Elem::ALL.map(Elem::name)),
        "element types are f64, f32, i32 and i64: `f64 x[8]`, `local f64 t`",
    )
}

/// The error for a line that begins with two words; `first` is the first one.
pub(super) fn keyword(first: &str, rest: &str) -> Wrong {
    let keywords = ["for", "parallel", "vector", "fill", "local"];
    word(first, rest).unwrap_or_else(|| {
        let wrong = Wrong::from(format!("no line begins with `{first}`"));
        wrong.label("unknown keyword").suggest(
            closest(first, keywords),
            "a line is a loop `for i in 0..8`, a statement `x[i] = …`, `fill x[0..8] = 0`, or a \
             declaration `local f64 t[8]`",
        )
    })
}

/// Whether `word` begins a line that has further lines in it, in another language.
pub(super) fn opens(word: &str) -> bool {
    let words = ["if", "else", "elif", "switch", "while", "do", "until"];
    words.contains(&word)
}

/// The error for a declaration with `word` for its element type.
pub(super) fn declaration(first: &str, rest: &str) -> Wrong {
    word(first, rest).unwrap_or_else(|| elem(first))
}

/// The error for a tensor that is written like a function.
pub(super) fn called(tensor: &Tensor) -> Wrong {
    let name = tensor.label();
    Wrong::unsupported(
        format!("`{name}(…)`"),
        format!("elements of {name} have brackets: `{}`", element(tensor)),
    )
}

/// The error for several indices in one bracket.
pub(super) fn comma(tensor: &Tensor) -> Wrong {
    Wrong::unsupported(
        "a list of indices in one bracket",
        format!("each index has its own: `{}`", element(tensor)),
    )
}

/// An element of a tensor, with letters as indices.
pub(super) fn element(tensor: &Tensor) -> String {
    let letters = ["i", "j", "k", "l", "m", "n"].into_iter();
    let letters = letters.take(tensor.shape().rank());
    let index: String = letters.map(|letter| format!("[{letter}]")).collect();
    format!("{}{index}", tensor.label())
}

/// The error for an index in which `rest` follows an iterator, if another language has this form.
pub(super) fn after_iterator(iterator: &Name, rest: &str) -> Option<Wrong> {
    let rest = rest.trim_start();
    if rest.starts_with("//") {
        return None;
    }
    let is_name = |text: &str| {
        text.trim_start()
            .starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let wrong = match rest.chars().next()? {
        '[' | '(' => Wrong::unsupported(
            format!("`{iterator}{}` in an index", bracket(rest)),
            format!(
                "indices are sums of iterators and numbers; read the entry before, as an iterator: \
                 `let c = {iterator}{}`, and inside it `b[c]`; the declaration says which values it \
                 has, such as `i64 {iterator}[9] in 0..4`",
                bracket(rest)
            ),
        ),
        sign @ ('%' | '/') => Wrong::unsupported(
            format!("`{sign}` in an index or a bound"),
            format!(
                "count in two loops: with `for q in 0..4` and `for r in 0..3`, `3*q + r` takes the \
                 values of `{iterator}`, `q` is the quotient and `r` the remainder; a buffer that \
                 is used in turns can keep all steps, `u[{iterator}]`"
            ),
        ),
        '*' if is_name(&rest[1..]) => Wrong::unsupported(
            "a product of iterators",
            "factors of iterators are numbers: `2*i + j`",
        ),
        _ => return None,
    };
    Some(wrong)
}

/// The text up to the closing bracket, or all of it.
fn bracket(rest: &str) -> &str {
    let end = rest.find([']', ')']).map_or(rest.len(), |end| end + 1);
    &rest[..end]
}

/// The error for a statement in which `rest` follows the target, if another language has this form.
pub(super) fn update(rest: &str) -> Option<Wrong> {
    let rest = rest.trim_start();
    let instead = |sign: &str, help: &str| Wrong::unsupported(format!("`{sign}`"), help.to_owned());
    let wrong = match rest {
        _ if rest.starts_with("++") => instead("++", "write `+= 1`"),
        _ if rest.starts_with("--") => instead("--", "write `-= 1`"),
        _ if rest.starts_with("%=") => {
            instead("%=", "`x = mod(x, y)` is the remainder of integers")
        }
        _ if rest.starts_with("**=") => instead("**=", "write `x = pow(x, y)`"),
        _ if rest.starts_with(":=") => instead(":=", "write `=`"),
        _ => return None,
    };
    Some(wrong)
}

/// The error for a line with this remainder, if another language has this form.
pub(super) fn left_over(rest: &str) -> Option<Wrong> {
    let sign = [
        "&&", "||", "**", "<=", ">=", "==", "!=", "<", ">", "%", "^", "?", "and ", "or ", "if ",
        ";", "{",
    ];
    let sign = sign.into_iter().find(|sign| rest.starts_with(sign))?;
    let help = match sign {
        "&&" | "and " => both(true),
        "||" | "or " => both(false),
        "**" | "^" => "write `pow(x, y)`",
        "%" => "`mod(x, y)` is the remainder of integers",
        "?" | "if " => "write `select(x < y, a, b)`",
        ";" => "each statement has a line of its own",
        "{" => "statements in a loop are indented",
        _ => "a comparison is the first argument of a choice: `select(x < y, 1, 0)`",
    };
    Some(Wrong::unsupported(format!("`{}`", sign.trim()), help))
}

const fn both(all: bool) -> &'static str {
    if all {
        "nest two choices: `select(x > 0, select(y > 0, a, b), b)` where both have to hold"
    } else {
        "nest two choices: `select(x > 0, a, select(y > 0, a, b))` where one has to hold"
    }
}

/// The error for a condition that continues with `rest`, if another language has this form.
pub(super) fn after_condition(rest: &str) -> Option<Wrong> {
    let rest = rest.trim_start();
    let sign = ["&&", "||", "and ", "or ", "&", "|", "<", ">", "=="];
    let sign = sign.into_iter().find(|sign| rest.starts_with(sign))?;
    let help = match sign {
        "&&" | "and " | "&" => both(true),
        "||" | "or " | "|" => both(false),
        _ => both(true),
    };
    Some(Wrong::unsupported(
        format!("`{}` in a condition", sign.trim()),
        help,
    ))
}

/// The error for a condition that starts with `rest`, if another language has this form.
pub(super) fn before_condition(rest: &str) -> Option<Wrong> {
    let rest = rest.trim_start();
    let sign = ["not ", "!"]
        .into_iter()
        .find(|sign| rest.starts_with(sign))?;
    Some(Wrong::unsupported(
        format!("`{}`", sign.trim()),
        "swap the values: `select(x > 0, b, a)`, or compare the other way around",
    ))
}

/// The error for a function of two values with more arguments.
pub(super) fn third_argument(op: BinaryOp) -> Wrong {
    let name = op.symbol();
    Wrong::unsupported(
        format!("`{name}` of more than 2 arguments"),
        format!("nest them: `{name}({name}(x, y), z)`"),
    )
}
