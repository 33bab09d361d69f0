//! Prints parallel loops over rows that give threads equal numbers of entries.
//!
//! ```text
//! const int64_t teml_shares = TEML_SHARES();
//! #pragma omp parallel for schedule(static, 1)
//! for (int64_t teml_share = 0; teml_share < teml_shares; teml_share++) {
//!     const int64_t teml_first = teml_first_row_i64(&ptr[0], 400, teml_share, teml_shares);
//!     const int64_t teml_end = teml_first_row_i64(&ptr[0], 400, teml_share + 1, teml_shares);
//!     for (int64_t i = teml_first; i < teml_end; i++) {
//! ```
//!
//! The shares are the same for each number of threads that run them, so that all rows run once.

use super::printer::{OF_SHARE, Printer, origin};
use crate::analysis::row_starts::row_starts;
use crate::ir::{self, Affine, Lookup, Schedule};
use crate::kernel::Header;
use crate::plan::tree::{Loop, Node};

/// The rows of a loop that threads share by their entries.
pub(super) struct Shares<'a> {
    /// Where the entries of a row begin.
    begins: &'a Lookup,
    lower: &'a Affine,
    upper: &'a Affine,
}

/// The rows of a loop; `None` if it is not shared like this.
pub(super) fn shares(l: &ir::Loop) -> Option<Shares<'_>> {
    let sharing = l.sharing()?;
    if sharing.schedule != Some(Schedule::Balanced) || sharing.collapse > 1 || l.is_vector() {
        return None;
    }
    let begins = row_starts(l)?;
    match (l.range.lower.as_slice(), l.range.upper.as_slice()) {
        ([lower], [upper]) => Some(Shares {
            begins,
            lower,
            upper,
        }),
        _ => None,
    }
}

impl Printer<'_> {
    /// A loop over shares, each with a loop over its rows. `false` if the loop is not shared like this.
    pub(super) fn shared_rows(&mut self, l: &Loop) -> bool {
        let Some(Shares {
            begins,
            lower,
            upper,
        }) = shares(&l.of)
        else {
            return false;
        };
        self.values.headers.insert(Header::Integers);
        let [first, end] = OF_SHARE;
        self.line("{");
        self.depth += 1;
        if self.on_one_thread {
            self.line(&format!(
                "const int64_t {first} = {lower}, {end} = {upper};"
            ));
            self.share(l);
        } else {
            let headers = [Header::Threads, Header::Loops];
            self.values.headers.extend(headers);
            let row = |name: &ir::Name| (*name == l.of.name).then(|| lower.clone());
            let index: Vec<Affine> = begins.index.iter().map(|a| a.substitute(&row)).collect();
            let at = self.values.access(&begins.tensor, &index);
            let rows = upper.minus(lower);
            let elem = begins.tensor.elem();
            let of_share = |share: &str| {
                let row = format!("teml_first_row_{elem}(&{at}, {rows}, {share}, teml_shares)");
                match lower.as_constant() {
                    Some(0) => row,
                    _ => format!("{lower} + {row}"),
                }
            };
            self.line("const int64_t teml_shares = TEML_SHARES();");
            if let Some(pragma) = self.pragma(l) {
                self.line(&pragma);
            }
            self.line("for (int64_t teml_share = 0; teml_share < teml_shares; teml_share++) {");
            self.depth += 1;
            self.line(&format!(
                "const int64_t {first} = {};",
                of_share("teml_share")
            ));
            self.line(&format!(
                "const int64_t {end} = {};",
                of_share("teml_share + 1")
            ));
            self.share(l);
            self.depth -= 1;
            self.line("}");
        }
        self.depth -= 1;
        self.line("}");
        true
    }

    /// The rows of one share.
    fn share(&mut self, l: &Loop) {
        match l.body.as_slice() {
            [Node::Outlined(outlined)] => self.outlined(outlined, Some(&l.of)),
            body => self.rows_of_share(&l.of, body),
        }
    }

    /// The loop over the rows of one share.
    pub(super) fn rows_of_share(&mut self, l: &ir::Loop, body: &[Node]) {
        let ([first, end], name) = (OF_SHARE, &l.name);
        let origin = origin(l);
        self.line(&format!(
            "for (int64_t {name} = {first}; {name} < {end}; {name}++) {{{origin}"
        ));
        self.depth += 1;
        self.nodes(body);
        self.depth -= 1;
        self.line("}");
    }
}
