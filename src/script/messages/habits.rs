//! Python's words and marks: what a script writes in their place, with an example.

use crate::diag::{Diagnostic, Span};
use crate::reader::lex::{self, TokenKind, Tokens};
use crate::reader::places::Places;
use rhai::Position;

/// A message and its help.
type Advice = (String, &'static str);

const IMPORTS: &str =
    "nothing needs to be imported: `exp(A)`, `sum(A, [1])` and `tensor([4, 5])` are there";
const BLOCK: &str = "blocks are in braces: `if n > 4 { print(n); } else { print(0); }`";
const LOOP: &str = "a loop of the script is `for i in 0..8 { print(i); }`; kernels need none, as in \
                    `eq(2 * A, [i, j])`";
const SLICE: &str = "`vat(A, [i, 1])` is column 1 in an expression, and `eq(x, [i + 1] -> [i], #{i: 0..2})` \
                     takes elements 1 and 2 of `x`";
const NAMED: &str = "options are a map at the end, as in `parallelize(plan, \"i\", #{collapse: 2})`; other \
                     arguments have their places";
const AXIS: &str = "dimensions are the second argument, counted from 1: `sum(A, [1])`; `sum(A, -1, #{keep: true})` \
                    keeps the last one";
const TYPE: &str = "the element type is the second argument: `tensor([4, 5], \"f32\")`";
const WHERE: &str = "`if n > 4 { 1 } else { 2 }` is a value of the script, and `where(A > 0, A, 0)` chooses for \
                     each element";
const AND: &str = "`&&`, `||` and `!` are for truth values of the script; `&`, `|` and `!` combine comparisons of \
                   tensors: `(A > 0) & (A < 1)`";
const SHAPE: &str = "lists have square brackets, also as shapes: `tensor([4, 5])`";

/// The message about a syntax error at a position if the text there is Python's.
pub fn syntax(places: &Places, position: Position) -> Option<Advice> {
    let source = places.source(position)?;
    let text = &*source.text;
    let offset = source.offset(position)?;
    let scanned = lex::scan(text);
    let after = |k: usize| scanned.tokens[k].range.end > offset;
    let count = scanned.tokens.len();
    let at = (0..count).find(|&k| after(k)).unwrap_or(count);
    Place { text, scanned, at }.advice()
}

/// The token at which reading stops.
struct Place<'t> {
    text: &'t str,
    scanned: Tokens,
    at: usize,
}

impl Place<'_> {
    fn word(&self, k: Option<usize>) -> &str {
        k.map_or("", |k| self.scanned.text(self.text, k))
    }

    fn before(&self) -> Option<usize> {
        self.at.checked_sub(1)
    }

    fn next(&self) -> &str {
        let next = self.at + 1;
        self.word(Some(next).filter(|k| *k < self.scanned.tokens.len()))
    }

    /// The tokens of the statement up to the one at fault, as far as it is on one line.
    fn line(&self) -> std::ops::RangeInclusive<usize> {
        let last = self.at.min(self.scanned.tokens.len().saturating_sub(1));
        let starts = |k: &usize| {
            let Some(before) = k.checked_sub(1) else {
                return true;
            };
            let gap = self.scanned.tokens[before].range.end..self.scanned.tokens[*k].range.start;
            self.word(Some(before)) == ";" || self.text[gap].contains('\n')
        };
        let first = (0..=last).rev().find(starts).unwrap_or(0);
        first..=last
    }

    /// The bracket around the token at fault, and the token before it.
    fn bracket(&self) -> Option<(usize, Option<usize>)> {
        let mut depth = 0usize;
        for k in (0..self.at).rev() {
            match self.word(Some(k)) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" | "#{" if depth > 0 => depth -= 1,
                "(" | "[" | "{" | "#{" => return Some((k, k.checked_sub(1))),
                _ => {}
            }
        }
        None
    }

    /// Whether a token ends a value, so that a bracket behind it is that of a call or an index.
    fn ends_value(&self, k: Option<usize>) -> bool {
        k.is_some_and(|k| {
            let is_word = self.scanned.tokens[k].kind == TokenKind::Word;
            let word = self.word(Some(k));
            (is_word && !lex::is_keyword(word)) || matches!(word, ")" | "]")
        })
    }

    fn advice(&self) -> Option<Advice> {
        let here = self.word(Some(self.at).filter(|k| *k < self.scanned.tokens.len()));
        let before = self.word(self.before());
        let not = |mark: &str| format!("`{mark}` means nothing here");
        if here.starts_with('#') || before == "#" {
            let help = "a comment starts with `//`: `let n = 4;  // rows`";
            return Some(("a comment does not start with `#`".to_owned(), help));
        }
        if here == "@" {
            let help = "a matrix product is `matmul(A, B)`, or `einsum(\"ik,kj->ij\", A, B)`";
            return Some((not("@"), help));
        }
        if here.starts_with('\'') {
            let help = "strings have double quotes: `tensor([4, 5], \"f32\")`";
            return Some((format!("`{here}` is not a single character"), help));
        }
        if here == "?" {
            return Some((not("?"), WHERE));
        }
        if here == "+" && self.next().starts_with('+') {
            let help = "a variable is increased by `n += 1`";
            return Some(("`++` means nothing here".to_owned(), help));
        }
        if here.starts_with('"') && before == "f" {
            let help = "values are put into a string in backticks: `n = ${n}`";
            return Some(("a string has no prefix".to_owned(), help));
        }
        self.of_words(here, before)
            .or_else(|| self.in_brackets(here, before))
    }

    /// Advice on the words of statements and operators.
    fn of_words(&self, here: &str, before: &str) -> Option<Advice> {
        let line: Vec<&str> = self.line().map(|k| self.word(Some(k))).collect();
        let first = line.first().copied().unwrap_or("");
        let not = |word: &str| format!("`{word}` means nothing here");
        let has = |word: &str| line.contains(&word);
        Some(match (first, here, before) {
            ("def", ..) => (
                not("def"),
                "a function is `fn f(x) { x * x + 1 }`: its last value is the result",
            ),
            ("from", ..) => (not("from"), IMPORTS),
            ("class", ..) => (
                not("class"),
                "a script has functions, `fn f(x) { x + 1 }`, and maps, `#{rows: 4}`",
            ),
            ("elif", ..) => (
                not("elif"),
                "another condition is `else if`: `if n > 4 { 1 } else if n > 2 { 2 } else { 3 }`",
            ),
            ("assert", ..) => (
                not("assert"),
                "a script ends itself by `throw`: `if n != 4 { throw \"n must be 4\"; }`",
            ),
            ("raise", ..) => (not("raise"), "an error is thrown: `throw \"n must be 4\"`"),
            ("let", ",", _) if line.len() == 3 => (
                "one variable is declared at a time".to_owned(),
                "`let a = 1; let b = 2;` declares two",
            ),
            (_, "is", _) => (not("is"), "`==` compares numbers and texts: `n == 4`"),
            _ if has("lambda") => (
                not("lambda"),
                "a function without a name is `|x| x * x + 1`",
            ),
            (_, "and" | "or" | "not", _) => (not(here), AND),
            (.., "and" | "or" | "not") => (not(before), AND),
            ("for", ":", _) => (not(":"), LOOP),
            ("if" | "else" | "while" | "try" | "with", ":", _) => (not(":"), BLOCK),
            (_, "if", _) if first != "if" => ("`if` cannot follow a value".to_owned(), WHERE),
            _ => return None,
        })
    }

    /// Advice on what is inside of brackets.
    fn in_brackets(&self, here: &str, before: &str) -> Option<Advice> {
        let (bracket, owner) = self.bracket()?;
        let is_of_value = self.ends_value(owner);
        Some(match (self.word(Some(bracket)), here) {
            ("(", "=") if is_of_value => {
                let help = match before {
                    "axis" | "axes" | "dim" | "keepdims" | "keepdim" => AXIS,
                    "dtype" => TYPE,
                    _ => NAMED,
                };
                (format!("`{before}=` does not name an argument"), help)
            }
            ("(", "," | ")") if !is_of_value => ("round brackets make no list".to_owned(), SHAPE),
            ("[", ":" | "::" | ".." | "...") if is_of_value => {
                ("a tensor has no slices".to_owned(), SLICE)
            }
            ("[", "for") => (
                "`for` cannot be in a list".to_owned(),
                "a list is made from another one: `[1, 2, 3].map(|x| x * x)`",
            ),
            ("{", ":") if !is_of_value => (
                "`:` means nothing in a block".to_owned(),
                "a map has names and values: `#{rows: 4, columns: 5}`",
            ),
            _ => return None,
        })
    }
}

/// The warning about a comment that reads as the divisor of the value before it: `K // 2;`.
pub fn floor_division(name: &str, text: &str) -> Option<Diagnostic> {
    let scanned = lex::scan(text);
    let range = (0..scanned.tokens.len()).find_map(|k| commented_divisor(text, &scanned, k))?;
    let source = name.into();
    let warning = Diagnostic::warning("`//` starts a comment: nothing is divided");
    let help = "`/` divides, and truncates quotients of integers: `K / 2`";
    let warning = warning.at(Some(Span { source, range }), "");
    Some(warning.help(Some(help.to_owned())))
}

/// The warning about a quotient of two integers in a text that is not whole: `1 / 2`.
pub fn lost_fraction(name: &str, text: &str) -> Option<Diagnostic> {
    let scanned = lex::scan(text);
    let word = |k: usize| scanned.text(text, k);
    let number = |k: usize| word(k).parse::<u64>().ok();
    let is_factor = |k: usize| matches!(word(k), "*" | "/" | "%" | "**" | "." | "]" | ")");
    let k = (2..scanned.tokens.len()).find(|&k| {
        let is_first = k == 2 || !is_factor(k - 3);
        let quotient = (number(k - 2), word(k - 1), number(k));
        matches!(quotient, (Some(a), "/", Some(b @ 1..)) if is_first && a % b != 0)
    })?;
    let (a, b) = (number(k - 2)?, number(k)?);
    let range = scanned.tokens[k - 2].range.start..scanned.tokens[k].range.end;
    let source = name.into();
    let what = format!("`{a} / {b}` is {}, the quotient of integers", a / b);
    let warning = Diagnostic::warning(what).at(Some(Span { source, range }), "");
    Some(warning.help(Some(format!("`{a}.0 / {b}` has decimals"))))
}

/// The comment behind a value on its line, if it is an expression that ends the statement.
fn commented_divisor(text: &str, scanned: &Tokens, k: usize) -> Option<std::ops::Range<usize>> {
    let token = &scanned.tokens[k];
    let word = scanned.text(text, k);
    let is_value = match token.kind {
        TokenKind::Word => !lex::is_keyword(word),
        TokenKind::Number => true,
        _ => matches!(word, ")" | "]"),
    };
    let rest = text[token.range.end..].lines().next()?;
    let gap = rest.len() - rest.trim_start().len();
    let comment = rest.trim_start().strip_prefix("//")?;
    let inside = lex::scan(comment);
    let count = inside.tokens.len();
    let is_operand = |k: usize| {
        matches!(inside.tokens[k].kind, TokenKind::Word | TokenKind::Number)
            || inside.text(comment, k) == "("
    };
    let is_prose = (1..count).any(|k| {
        let is_name =
            |k: usize| matches!(inside.tokens[k].kind, TokenKind::Word | TokenKind::Number);
        is_name(k - 1) && is_name(k)
    });
    let ends = count > 1 && inside.text(comment, count - 1) == ";";
    let start = token.range.end + gap;
    (is_value && ends && !is_prose && is_operand(0)).then(|| start..start + 2)
}

/// Python's names of values, and what a script has.
pub fn name(name: &str) -> Option<&'static str> {
    Some(match name {
        "np" | "numpy" | "torch" | "jnp" | "jax" | "tf" | "scipy" | "cupy" | "cp" => IMPORTS,
        "True" => "truth values are `true` and `false`",
        "False" => "truth values are `true` and `false`",
        "None" => "nothing is `()`; an argument at the end is left out",
        "pi" => "`PI()` is the number",
        "inf" => "`1.0 / 0.0` is infinite",
        "newaxis" => "extents of 1 are added by shapes: `tensor([4, 1])`, or by `#{keep: true}`",
        _ => return None,
    })
}

/// Functions of NumPy and Python, and what a script has.
pub fn function(name: &str) -> Option<&'static str> {
    Some(match name {
        "zeros" | "ones" | "full" | "empty" | "zeros_like" | "ones_like" | "full_like" => {
            "a tensor is declared, and numbers are broadcast: `tensor([4, 5])`, `A * 0 + 1`; \
             `init(A, 0)` fills an input, and `eq(0, [i, j], [4, 5])` assigns a constant"
        }
        "array" | "asarray" => {
            "`let A = tensor([2, 2]); init(A, [[1, 2], [3, 4]]);` is an array of these numbers"
        }
        "range" => "a range of numbers is `0..8`, as in `for i in 0..8 { print(i); }`",
        "arange" | "linspace" | "indices" | "meshgrid" | "enumerate" => {
            "`vindex(i)` is the index as a value: `eq(0.5 * vcast(vindex(i), \"f64\"), [i], [8])`"
        }
        "eye" | "identity" => {
            "`eq(vselect(vindex(i), \"==\", vindex(j), 1.0, 0.0), [i, j], [4, 4])` is an identity matrix"
        }
        "dot" | "inner" | "tensordot" | "vdot" | "bmm" | "mm" | "mv" => {
            "`matmul(A, B)` is a matrix product, and `einsum(\"i,i->\", x, y)` any other one"
        }
        "outer" | "kron" => "`outerproduct(x, y)` has all products of two elements",
        "print" => "`print` takes one value, and a text has several: `print(`${a} ${b}`)`",
        "str" | "repr" | "format" => "a text in backticks has values in it: `n = ${n}`",
        "copy" | "clone" | "detach" | "contiguous" | "item" | "numpy" | "tolist" | "cpu"
        | "cuda" => {
            "tensors have no memory to copy: `let B = A;` is the same tensor, and `run(B)` has its numbers"
        }
        "len" => "`shape(A)` lists the extents of a tensor: `shape(A)[0]` is the first one",
        "reshape" | "ravel" | "flatten" | "view" | "squeeze" | "expand_dims" | "unsqueeze" => {
            "iterators give another shape: `eq(A, [i, j] -> [5*i + j])` makes a row of a matrix with \
             5 columns"
        }
        "permute" | "swapaxes" | "moveaxis" => {
            "`transpose(A, [2, 1])` lists the dimensions of `A` in their new order"
        }
        "astype" | "float" | "int" | "double" => "`vcast(A, \"f32\")` converts the elements",
        "concatenate" | "hstack" | "vstack" | "cat" => {
            "`concat([A, B], 1)` puts tensors one after the other, along dimension 1"
        }
        "stack" => {
            "`eq(A, [i] -> [0, i], [2, 4])` writes a row of a larger tensor; see `partition`"
        }
        "roll" | "flip" | "take" | "gather" | "repeat_interleave" | "diff" | "gradient" => {
            "indices say which elements meet: `vat(x, [i + 1]) - vat(x, [i])`"
        }
        "cumsum" | "cumprod" => {
            "a sum over a range is a prefix sum: `eq(vsum(vat(x, [j]), [j], #{j: 0..i + 1}), [i], [8])`"
        }
        "std" | "var" => "`variance(A, [1])` and `deviation(A, [1])` are over dimension 1",
        "amax" => "`max(A, [1])` is the greatest element over dimension 1",
        "amin" => "`min(A, [1])` is the least element over dimension 1",
        "average" => "`mean(A, [1])` is the mean over dimension 1",
        "absolute" => "`abs(A)` is the absolute value",
        "power" | "float_power" => "`A ** 2` and `pow(A, x)` are powers",
        "subtract" => "`A - B` subtracts, and broadcasts as NumPy does",
        "multiply" => "`A * B` multiplies element by element",
        "divide" | "true_divide" => "`A / B` divides element by element",
        "rint" | "around" => "`round(A)` is the nearest whole number",
        "log2" | "log10" | "log1p" | "expm1" | "exp2" => {
            "`log` and `exp` are there: `log(A) / 2.0.ln()`, `log(1 + A)`, `exp(A) - 1`"
        }
        "tan" | "sinh" | "cosh" => "`sin`, `cos`, `tanh` and `exp` are there: `sin(A) / cos(A)`",
        "logical_and" | "logical_or" | "logical_not" | "isnan" => AND,
        "any" => "`max(where(A > 0, 1, 0))` is 1 if any element is greater than 0",
        "all" => "`min(where(A > 0, 1, 0))` is 1 if all elements are greater than 0",
        "heaviside" => "`where(A > 0, A, 0)` chooses for each element",
        "Tensor" | "ndarray" | "placeholder" => {
            "a tensor is declared by its shape: `tensor([4, 5])`"
        }
        "convolve" | "conv2d" | "conv1d" => "`conv(input, weights)` convolves images",
        "jit" | "vmap" | "grad" => "a nest is a kernel: `build(Y)`, `run(Y)`, `compare(Y)`",
        _ => return None,
    })
}

/// Properties of Python's arrays, and what a script has.
pub fn property(name: &str) -> Option<&'static str> {
    Some(match name {
        "T" | "mT" | "H" => {
            "`transpose(A)` stores the transposed matrix, and `vtranspose(A)` is one in an expression"
        }
        "dtype" => "`A.elem` is the element type",
        "ndim" => "`shape(A).len()` is the number of dimensions",
        "size" | "numel" => "`shape(A)` lists the extents",
        "float32" | "float64" | "int32" | "int64" => TYPE,
        "pi" => "`PI()` is the number",
        "linalg" | "random" | "fft" | "nn" | "special" => IMPORTS,
        _ => return function(name),
    })
}

/// Element types by NumPy's and C's names.
pub fn element_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "float64" | "float" | "np.float64" => "double precision is `tensor([4, 5], \"f64\")`",
        "float32" | "single" | "np.float32" => "single precision is `tensor([4, 5], \"f32\")`",
        "int32" | "int" | "np.int32" => "integers of 32 bits are `tensor([4, 5], \"i32\")`",
        "int64" | "long" | "np.int64" => "integers of 64 bits are `tensor([4, 5], \"i64\")`",
        "bool" | "int8" | "uint8" | "int16" | "uint16" | "uint32" | "uint64" => {
            "the smallest integers are `tensor([4, 5], \"i32\")`; comparisons are 1 or 0"
        }
        "float16" | "half" | "bfloat16" => {
            "the smallest floating-point numbers are `tensor([4, 5], \"f32\")`"
        }
        "complex64" | "complex128" => {
            "complex numbers are two tensors, of real and of imaginary parts: `tensor([2, 4, 5])`"
        }
        _ => return None,
    })
}
