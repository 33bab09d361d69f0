//! Shows the errors of a C compiler with the C around them.

use std::fmt::Write;

/// Lines shown before and after the one at fault.
const CONTEXT: usize = 2;

/// How many lines of output are shown if none of them refers to the source.
const RAW_LINES: usize = 20;

/// Messages of linkers and compilers without an OpenMP library.
const NO_OPENMP: [&str; 4] = [
    "-lomp",
    "-lgomp",
    "omp.h: No such file",
    "'omp.h' file not found",
];

/// Messages of the system, compilers, linkers and panics about exhausted resources.
const LIMITS: [&str; 10] = [
    "Too many open files",
    "out of file descriptors",
    "Resource temporarily unavailable",
    "Cannot allocate memory",
    "out of memory",
    "memory exhausted",
    "File too large",
    "File size limit exceeded",
    "CPU time limit exceeded",
    "failed to spawn thread",
];

/// How users see the limits of the system.
pub const SHOWN: &str = "`ulimit -a` shows limits of memory, files, processes and time";

/// Whether a text reports exhausted resources: threads, files or memory.
pub fn is_lack(text: &str) -> bool {
    LIMITS.iter().any(|sign| text.contains(sign))
}

/// Help for a missing OpenMP.
pub(super) const OPENMP: &str = "install it (`apt install gcc`, or `apt install libomp-dev` for \
                                 clang), or name another compiler in CC";

/// The line of the first error in `source` (which the compiler knows as `file`) and a text that
/// shows it; gcc and clang write errors alike. `own` are the flags of CFLAGS.
pub(super) fn report(output: &str, file: &str, source: &str, own: &str) -> (Option<usize>, String) {
    let errors: Vec<(usize, usize, &str)> = output
        .lines()
        .filter_map(|line| placed(line, file))
        .collect();
    let mut text = String::new();
    let line = match errors.first() {
        Some(&(line, column, message)) => {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{file}:{line}:{column}: {message}");
            excerpt(&mut text, source, line, column);
            match errors.len() - 1 {
                0 => {}
                1 => text += "and another error\n",
                more => {
                    let _ = writeln!(text, "and {more} more errors");
                }
            }
            Some(line)
        }
        None => {
            for line in output.lines().take(RAW_LINES) {
                let _ = writeln!(text, "    {line}");
            }
            None
        }
    };
    if NO_OPENMP.iter().any(|sign| output.contains(sign)) {
        let _ = write!(text, "this compiler's OpenMP library is missing: {OPENMP}");
    } else if is_lack(output) {
        let _ = write!(text, "the system gives it too little: {SHOWN}");
    } else if line.is_none() && !own.is_empty() {
        let _ = write!(text, "CFLAGS adds these flags: {own}");
    } else {
        text += "C that teml generated always compiles: if this is such C, please report it";
    }
    (line, text)
}

/// The line, column and message of an error in `file`.
fn placed<'a>(text: &'a str, file: &str) -> Option<(usize, usize, &'a str)> {
    let rest = text.strip_prefix(file)?.strip_prefix(':')?;
    let (line, rest) = rest.split_once(':')?;
    let (column, rest) = rest.split_once(':')?;
    let message = rest.trim_start();
    if !message.starts_with("error:") && !message.starts_with("fatal error:") {
        return None;
    }
    Some((line.parse().ok()?, column.parse().ok()?, message))
}

fn excerpt(text: &mut String, source: &str, line: usize, column: usize) {
    let first = line.saturating_sub(CONTEXT).max(1);
    let shown = source.lines().enumerate().skip(first - 1);
    for (k, content) in shown.take_while(|(k, _)| *k < line + CONTEXT) {
        let _ = writeln!(text, "{:5} | {content}", k + 1);
        if k + 1 == line {
            // Tabs are kept, so that the caret is below its column.
            let before = content.chars().take(column.saturating_sub(1));
            let space: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
            let _ = writeln!(text, "      | {space}^");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_line_with_its_neighbors_and_a_caret() {
        let source = "one\ntwo\n\tthree = x;\nfour\nfive\nsix\n";
        let output = "k.c: In function 'k':\nk.c:3:10: error: 'x' undeclared\n   3 | ...\n\
                      k.c:5:1: error: other\n";
        let (line, text) = report(output, "k.c", source, "");
        assert_eq!(line, Some(3));
        let expected = "k.c:3:10: error: 'x' undeclared\n    1 | one\n    2 | two\n    3 | \
                        \tthree = x;\n      | \t        ^\n    4 | four\n    5 | five\n\
                        and another error\n";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn errors_without_a_place_are_shown_raw() {
        let (line, text) = report("ld: undefined reference to `f'\n", "k.c", "", "");
        assert_eq!(line, None);
        assert!(text.contains("undefined reference"));
        let (_, text) = report("k.c:900:1: error: e\n", "k.c", "short\n", "");
        assert!(text.contains("900") && text.contains("please report it"));
        let (_, text) = report("cc: error: no option '-x'\n", "k.c", "", "-x -g");
        assert!(text.ends_with("CFLAGS adds these flags: -x -g"), "{text}");
    }
}
