//! Prints a nest as plain loops with Pluto's pragmas, which depend on the nest alone.
//!
//! This exists for the baseline: the compiler should treat Pluto's schedule as it treats Pluto's
//! own C. There are no explicit vectors or streaming stores. The only hints are `omp parallel for`,
//! `ivdep` and `vector always`, and `GCC ivdep`, since gcc knows no other. Iterators are declared
//! before the loops, as in Pluto's C, and private to threads.
//!
//! Pluto's arrays are variables of a file, which do not overlap. Here they are parameters, and gcc
//! forgets in parallel regions that these do not. So iterations of parallel loops are functions,
//! whose parameters are `restrict`. A parallel loop has no pragma for vectors, as in Pluto's C:
//! OpenMP allows none between its own and the loop.

use super::pragma::sharing;
use super::printer::Printer;
use crate::ir::{Loop, Mode};
use crate::kernel::Header;
use crate::plan::tree::Node;

impl Printer<'_> {
    /// Appends plain loops, after the declarations of their iterators.
    pub(super) fn plain_nodes(&mut self, nodes: &[Node]) {
        let names = iterators(nodes);
        if !names.is_empty() {
            self.values.headers.insert(Header::Integers);
            self.line(&format!("int64_t {};", names.join(", ")));
        }
        self.plain(nodes);
    }

    fn plain(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Loop(l) => self.plain_loop(&l.of, &l.body),
                other => self.node(other),
            }
        }
    }

    fn plain_loop(&mut self, l: &Loop, body: &[Node]) {
        if l.is_parallel() {
            let inside = iterators(body);
            let private = if inside.is_empty() {
                String::new()
            } else {
                format!(" private({})", inside.join(", "))
            };
            let sharing = sharing(l);
            self.line(&format!("#pragma omp parallel for{private}{sharing}"));
        }
        if matches!(l.mode, Mode::Vector { .. }) {
            self.line("#pragma ivdep");
            self.line("#pragma vector always");
            self.line("#pragma GCC ivdep");
        }
        let head = self.head("", l);
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.plain(body);
        self.depth -= 1;
        self.line("}");
    }
}

/// The iterators of all loops that functions do not have inside, outermost first.
fn iterators(nodes: &[Node]) -> Vec<&str> {
    let nested = nodes.iter().filter_map(|node| match node {
        Node::Loop(l) => Some(l),
        _ => None,
    });
    let names = nested.flat_map(|l| {
        let own = std::iter::once(l.of.name.as_str());
        own.chain(iterators(&l.body)).collect::<Vec<&str>>()
    });
    names.collect()
}
