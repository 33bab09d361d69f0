//! Prints a nest as plain loops with Pluto's pragmas, which depend on the nest alone.
//!
//! This exists for the baseline: the compiler should treat Pluto's schedule as it treats Pluto's
//! own C. There are no explicit vectors, outlined iterations or streaming stores. The only hints
//! are `omp parallel for`, `ivdep` and `vector always`. Iterators are declared before the loops, as
//! in Pluto's C, and private to threads.
//!
//! gcc knows only `GCC ivdep`. Pluto's arrays are global variables, which do not alias. Here they
//! are parameters, and gcc forgets in parallel regions that these do not alias. A parallel loop has
//! no pragma for vectors, as in Pluto's C: OpenMP allows none between its own and the loop.

use super::printer::Printer;
use crate::ir::{Loop, Mode, Name, Tree};
use crate::kernel::Header;
use crate::plan::tree::{Node, Part};

impl Printer<'_> {
    /// Appends the statements of a nest as plain loops.
    pub(super) fn plain_nest(&mut self, part: &Part) {
        self.values.headers.insert(Header::Integers);
        self.line("{");
        self.depth += 1;
        let names = iterators(part.trees());
        if !names.is_empty() {
            self.line(&format!("int64_t {};", names.join(", ")));
        }
        self.plain(&part.nodes);
        self.depth -= 1;
        self.line("}");
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
            let inside = iterators(&l.body);
            let private = if inside.is_empty() {
                String::new()
            } else {
                format!(" private({})", inside.join(", "))
            };
            self.line(&format!("#pragma omp parallel for{private}"));
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

/// The iterators of all loops, outermost first.
fn iterators(trees: &[Tree]) -> Vec<&str> {
    let nested = trees.iter().filter_map(Tree::as_loop);
    let names = nested.flat_map(|l| {
        let own = [&l.name].into_iter().map(Name::as_str);
        own.chain(iterators(&l.body)).collect::<Vec<&str>>()
    });
    names.collect()
}
