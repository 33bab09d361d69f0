//! The body of a kernel: loops, statements, fills.
//!
//! Iterators are as wide as addresses: 32 bits may wrap (`-fwrapv`), so that a compiler could not
//! see that `A[i - 4*o]` moves through neighbors along with `i`.

use super::kernel::{ALIGNMENT, Header};
use super::value::{Values, index_text};
use crate::ir::{Affine, BinaryOp, Fill, Loop, Name, Nest, Stmt, Tensor, Tree};
use std::collections::HashSet;
use std::fmt::Write;

#[derive(Default)]
pub(super) struct Emitter {
    text: String,
    depth: usize,
    values: Values,
    /// The bytes of the local tensors that are variables.
    stack: u64,
    /// The names of the tensors that the nest reads.
    read: HashSet<Name>,
}

/// The most bytes of a local tensor that is a variable: 16 KiB. Larger ones do not fit into
/// registers anyway, and should leave the place to those that do.
const MAX_VARIABLE: u64 = 1 << 14;

/// The most bytes of local tensors that are variables, in all: 128 KiB, of stacks that are seldom
/// smaller than 2 MiB.
const MAX_STACK: u64 = 1 << 17;

impl Emitter {
    /// The text, and what it needs.
    pub(super) fn finish(self) -> (String, Values) {
        (self.text, self.values)
    }

    /// Appends the statements of a nest.
    pub(super) fn nest(&mut self, nest: &Nest) {
        self.depth = 1;
        for line in nest.lines() {
            if let Tree::Stmt(s) = line.tree {
                let mut add = |t: &Tensor| self.read.extend(t.name().cloned());
                s.value.for_each_access(&mut |t, _| add(t));
            }
        }
        // Another nest may have a tensor of that name.
        let scoped = nest.trees().iter().any(|t| matches!(t, Tree::Local(_)));
        if scoped {
            self.line("{");
            self.depth += 1;
        }
        nest.trees().iter().for_each(|tree| self.tree(tree));
        if scoped {
            self.depth -= 1;
            self.line("}");
        }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:indent$}{text}", "", indent = 4 * self.depth);
    }

    fn tree(&mut self, tree: &Tree) {
        match tree {
            Tree::Loop(l) => self.emit_loop(l),
            Tree::Stmt(s) => self.stmt(s),
            Tree::Fill(fill) => self.fill(fill),
            Tree::Local(tensor) => {
                self.local(tensor);
                // Compilers warn of variables that are only set.
                if tensor.name().is_some_and(|name| !self.read.contains(name)) {
                    self.line(&format!("(void){};", tensor.label()));
                }
            }
        }
    }

    /// Small tensors are variables, which registers may hold. Others have one place for each
    /// thread, which is allocated once: the stack is small.
    fn local(&mut self, tensor: &Tensor) {
        let (name, elem) = (tensor.label(), tensor.elem());
        let (first, rest) = match tensor.shape().extents() {
            [] => (1, &[][..]),
            [first, rest @ ..] => (*first, rest),
        };
        let rest: String = rest.iter().map(|e| format!("[{e}]")).collect();
        let c_name = elem.c_name();
        if !elem.is_float() {
            self.values.headers.insert(Header::Integers);
        }
        if self.fit_variables([tensor]) {
            self.stack += bytes(tensor);
            // Where loops set a single element, compilers warn that it may be none.
            let single = tensor.shape().elements() == 1;
            let value = if single { " = {0}" } else { "" };
            self.line(&format!(
                "_Alignas({ALIGNMENT}) {c_name} {name}[{first}]{rest}{value};"
            ));
            return;
        }
        self.line(&format!(
            "static _Thread_local _Alignas({ALIGNMENT}) {c_name} teml_{name}_space[{first}]{rest};"
        ));
        let pointer = match rest.is_empty() {
            true => format!("{c_name} *restrict const {name}"),
            false => format!("{c_name} (*restrict const {name}){rest}"),
        };
        self.line(&format!("{pointer} = teml_{name}_space;"));
    }

    fn emit_loop(&mut self, l: &Loop) {
        let parallel = if l.parallel { " parallel for" } else { "" };
        // Lanes share what has one place for each thread.
        let vector = l.vector && self.fit_variables(l.body.iter().flat_map(Tree::locals));
        let lanes = match vector {
            true => format!(
                " simd aligned({}: {ALIGNMENT})",
                tensors(&l.body).join(", ")
            ),
            false => String::new(),
        };
        if l.parallel || vector {
            self.line(&format!("#pragma omp{parallel}{lanes}{}", sharing(l)));
        }
        let name = &l.name;
        let (lower, upper) = (
            self.bound("max", &l.range.lower),
            self.bound("min", &l.range.upper),
        );
        let step = match l.range.step {
            1 => format!("{name}++"),
            step => format!("{name} += {step}"),
        };
        self.values.headers.insert(Header::Integers);
        let origin = origin(l);
        self.line(&format!(
            "for (int64_t {name} = {lower}; {name} < {upper}; {step}) {{{origin}"
        ));
        self.depth += 1;
        l.body.iter().for_each(|tree| self.tree(tree));
        self.depth -= 1;
        self.line("}");
    }

    /// Whether all of some local tensors can be variables.
    fn fit_variables<'a>(&self, locals: impl IntoIterator<Item = &'a Tensor>) -> bool {
        let mut stack = self.stack;
        locals.into_iter().map(bytes).all(|bytes| {
            stack = stack.saturating_add(bytes);
            bytes <= MAX_VARIABLE && stack <= MAX_STACK
        })
    }

    fn bound(&mut self, function: &str, bounds: &[Affine]) -> String {
        let Some((first, rest)) = bounds.split_first() else {
            return "0".to_owned();
        };
        if !rest.is_empty() {
            self.values.headers.insert(Header::Support);
        }
        rest.iter().fold(first.to_string(), |text, bound| {
            format!("teml_{function}64({text}, {bound})")
        })
    }

    fn stmt(&mut self, s: &Stmt) {
        let target = format!("{}{}", s.target.label(), index_text(&s.index));
        let value = self.values.value(&s.value, 0);
        let line = match s.update {
            Some(op) if op.precedence().is_none() => {
                let args = [target.clone(), value];
                let combined = self.values.combined(op, s.target.elem(), args);
                format!("{target} = {combined};")
            }
            update => {
                let update = update.map_or("", BinaryOp::symbol);
                format!("{target} {update}= {value};")
            }
        };
        self.line(&line);
    }

    fn fill(&mut self, fill: &Fill) {
        let shape = fill.target.shape();
        let whole = fill
            .region
            .iter()
            .zip(shape.extents())
            .all(|((low, extent), full)| low.as_constant() == Some(0) && extent == full);
        if whole && fill.value.is_zero() {
            self.values.headers.insert(Header::Memset);
            let (name, elem) = (fill.target.label(), fill.target.elem().c_name());
            let extents: String = shape.extents().iter().map(|e| format!("[{e}]")).collect();
            self.line(&format!("memset({name}, 0, sizeof({elem}{extents}));"));
            return;
        }
        let depth = self.depth;
        let mut index = String::new();
        for (d, (low, extent)) in fill.region.iter().enumerate() {
            if *extent == 1 {
                let _ = write!(index, "[{low}]");
                continue;
            }
            // No script can name an iterator like this, so nothing is hidden.
            let name = format!("teml_{}", d + 1);
            self.values.headers.insert(Header::Integers);
            self.line(&format!(
                "for (int64_t {name} = {low}; {name} < {}; {name}++)",
                low.plus_constant(i64::try_from(*extent).unwrap_or(i64::MAX)),
            ));
            self.depth += 1;
            let _ = write!(index, "[{name}]");
        }
        if index.is_empty() {
            index.push_str("[0]");
        }
        let value = self.values.constant(fill.value);
        self.line(&format!("{}{index} = {value};", fill.target.label()));
        self.depth = depth;
    }
}

/// The size of a tensor; local ones have at most 1 GiB.
fn bytes(tensor: &Tensor) -> u64 {
    let elements = tensor.shape().elements();
    elements.saturating_mul(tensor.elem().size() as u64)
}

/// How a parallel loop is shared among threads, as clauses of its pragma.
fn sharing(l: &Loop) -> String {
    let mut text = String::new();
    if l.sharing.collapse > 1 {
        let _ = write!(text, " collapse({})", l.sharing.collapse);
    }
    if let Some(schedule) = l.sharing.schedule {
        let _ = write!(text, " schedule({})", schedule.word());
    }
    text
}

/// The names of the tensors from outside that `trees` access, by first appearance.
fn tensors(trees: &[Tree]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !found.iter().any(|n| n == name) {
            found.push(name.to_owned());
        }
    };
    for tree in trees {
        match tree {
            Tree::Loop(l) => tensors(&l.body).iter().for_each(|name| add(name)),
            Tree::Local(_) => {}
            Tree::Fill(fill) => add(fill.target.label()),
            Tree::Stmt(s) => {
                add(s.target.label());
                s.value.for_each_access(&mut |t, _| add(t.label()));
            }
        }
    }
    let local = |name: &String| {
        trees
            .iter()
            .any(|t| matches!(t, Tree::Local(l) if l.label() == name))
    };
    found.retain(|name| !local(name));
    found
}

/// The step and the script line that made a loop, as a comment.
fn origin(l: &Loop) -> String {
    match &l.made_by {
        None => String::new(),
        Some(step) => match &step.site {
            Some(site) => format!("  // {step}, {}", comment(&site.to_string())),
            None => format!("  // {step}"),
        },
    }
}

/// Text that stays inside a `//` comment whatever a file is called.
pub(super) fn comment(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || c == '\\' { '?' } else { c })
        .collect()
}
