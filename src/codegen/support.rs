//! Support code: C that kernels need and no compiler provides, from real headers.
//!
//! A paragraph of a header is printed if it defines a name that the kernel uses. Paragraphs that
//! this one uses follow in the same way, as a linker resolves names.

use super::kernel::{Header, Kernel};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// Lines without an empty line between them.
struct Paragraph {
    text: &'static str,
    /// The macros, types, constants and functions that it defines.
    defines: Vec<&'static str>,
}

/// The text of all paragraphs that `kernels` need, in order.
pub(super) fn support(kernels: &[Kernel]) -> String {
    let all = paragraphs();
    let needed = needed(kernels.iter().map(|k| k.function.as_str()));
    let mut result = String::new();
    for k in needed {
        let text = all[k].text;
        // Single-line paragraphs stay together.
        if text.contains('\n') || !result.ends_with(";\n") {
            result.push('\n');
        }
        match all[k].defines.as_slice() {
            ["TEML_WIDEST"] => result.push_str(&widest(kernels)),
            ["TEML_MVEC", ..] if !kernels.iter().all(|k| k.vectors.has_functions) => {
                result.push_str("#if !defined(TEML_MVEC)\n#define TEML_MVEC 0\n#endif");
            }
            _ => result.push_str(text),
        }
        result.push('\n');
    }
    result
}

/// The text of all paragraphs that code of a device needs, in order.
pub(super) fn support_of_device(code: &str) -> String {
    let all = paragraphs();
    let texts = needed([code].into_iter()).into_iter().map(|k| all[k].text);
    texts.fold(String::new(), |text, paragraph| text + paragraph + "\n")
}

/// Whether an identifier occurs in C, outside of comments.
pub(super) fn mentions(code: &str, name: &str) -> bool {
    words(code).any(|word| word == name)
}

/// The numbers of the paragraphs that code needs.
fn needed<'t>(code: impl Iterator<Item = &'t str>) -> BTreeSet<usize> {
    let all = paragraphs();
    let mut known: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (k, paragraph) in all.iter().enumerate() {
        for name in &paragraph.defines {
            known.entry(name).or_default().push(k);
        }
    }
    let mut needed: BTreeSet<usize> = BTreeSet::new();
    let mut texts: Vec<&str> = code.collect();
    while let Some(text) = texts.pop() {
        for k in words(text).filter_map(|word| known.get(word)).flatten() {
            if needed.insert(*k) {
                texts.push(all[*k].text);
            }
        }
    }
    needed
}

fn widest(kernels: &[Kernel]) -> String {
    let widest = kernels.iter().map(|k| k.vectors.bytes).min().unwrap_or(16);
    format!("// The bytes of the widest vector.\n#define TEML_WIDEST {widest}")
}

fn paragraphs() -> &'static [Paragraph] {
    static ALL: OnceLock<Vec<Paragraph>> = OnceLock::new();
    ALL.get_or_init(|| {
        let files = Header::ALL.iter().filter_map(|header| header.file());
        let texts = files.flat_map(|file| file.trim_end().split("\n\n"));
        texts.map(Paragraph::of).collect()
    })
}

impl Paragraph {
    fn of(text: &'static str) -> Paragraph {
        let defines = text.lines().flat_map(defined).collect();
        Paragraph { text, defines }
    }
}

/// The name that a line of a header defines; the headers are formatted so that it is easy to find.
fn defined(line: &'static str) -> Option<&'static str> {
    let is_own = |name: &&str| !["__attribute__", "always_inline", "unused"].contains(name);
    if let Some(rest) = line.strip_prefix("#define ") {
        return words(rest).next();
    }
    if line.starts_with("typedef ") {
        let before = line.split(" __attribute__").next()?;
        return words(before).last();
    }
    if let Some(rest) = line.strip_prefix("enum { ") {
        return words(rest).next();
    }
    if line.starts_with("static inline ") {
        let mut names = line.split('(').map(|before| words(before).last());
        return names.find_map(|name| name.filter(is_own));
    }
    if line.starts_with("static const ") {
        return words(line.split('[').next()?).last();
    }
    let (called, arguments) = line.split_once('(')?;
    let is_macro = called.starts_with("TEML_") && words(called).count() == 1;
    words(arguments)
        .next()
        .filter(|name| is_macro && name.starts_with("teml_"))
}

/// The identifiers of a text, outside of comments, and of lines that are strings: code of a device
/// brings its own support.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines();
    let lines = lines.filter(|line| !line.trim_start().starts_with('"'));
    let code = lines.flat_map(|line| line.split("//").take(1));
    code.flat_map(line_words)
}

fn line_words(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paragraph_defines_something_that_none_else_does() {
        let mut seen = BTreeSet::new();
        for paragraph in paragraphs() {
            assert!(!paragraph.defines.is_empty(), "{}", paragraph.text);
            let names: BTreeSet<_> = paragraph.defines.iter().collect();
            for name in names {
                assert!(seen.insert(*name), "{name} is defined twice");
            }
        }
    }

    #[test]
    fn lines_define_names() {
        for (line, name) in [
            ("#define f64xn(x) (*(teml_f64xn *)&(x))", "f64xn"),
            (
                "typedef double teml_16 __attribute__((vector_size(16)));",
                "teml_16",
            ),
            ("enum { TEML_F64XN = TEML_VECTOR / 8 };", "TEML_F64XN"),
            (
                "static inline __attribute__((always_inline)) void teml_f(int x)",
                "teml_f",
            ),
            (
                "static inline int teml_min(int a, int b) { return a; }",
                "teml_min",
            ),
            ("static const int64_t teml_lane[16] = {0};", "teml_lane"),
            (
                "TEML_PUT_LANES(teml_f64_put, double, teml_f64xn)",
                "teml_f64_put",
            ),
        ] {
            assert_eq!(defined(line), Some(name));
        }
        assert_eq!(defined("TEML_EACH(sqrt, (x[k]))"), None);
    }
}
