//! The body of a kernel: loops, statements, fills.
//!
//! Iterators are as wide as addresses: 32 bits may wrap (`-fwrapv`), so that a compiler could not
//! see that `A[i - 4*o]` moves through neighbors along with `i`.

use super::hazard::Hazards;
use super::kernel::{Header, Param, Role, parameter};
use super::lanes::{Chosen, is_uniform, trips};
use super::part::unset_lanes;
use super::prefetch::shares;
use super::room::{Rows, with_room};
use super::settle::settled;
use super::stream::Streams;
use super::team::{Entry, Threads};
use super::used::{Shares, Used};
use super::value::{ATOM, Values, element, is_guarded};
use super::vectors::ALIGNED;
use crate::analysis::ahead::ahead;
use crate::analysis::bounds::Bounds;
use crate::analysis::work::executions;
use crate::ir::{Affine, BinaryOp, Loop, Name, Nest, Node, Stmt, Taken, Tensor, Tree};
use crate::target::Target;
use std::collections::HashSet;
use std::fmt::Write;
use std::mem::{replace, take};

pub(super) struct Emitter<'a> {
    symbol: &'a str,
    pub(super) target: &'a Target,
    pub(super) params: &'a [Param],
    /// The functions that the text calls, each before those that call it.
    functions: Vec<String>,
    text: String,
    pub(super) depth: usize,
    pub(super) values: Values,
    pub(super) bounds: Bounds,
    /// The iterators of the loops around, outermost first.
    pub(super) iterators: Vec<Name>,
    /// How many loops, from the next one on, share their iterations among threads all together.
    band: usize,
    /// The bytes of the local tensors that are variables.
    stack: u64,
    /// The names of the tensors that the nest reads.
    read: HashSet<Name>,
    pub(super) chosen: Chosen,
    pub(super) streams: Streams,
    hazards: Hazards,
    /// Whether an asm statement is due once the loops are all that share iterations.
    due_in_order: bool,
    /// Whether a nest so far has a loop that walks through a tensor in both directions.
    both_ways: bool,
    /// What iterations of a loop fetch for later ones of a loop around.
    shares: Shares,
    pub(super) threads: Threads,
    /// The loops of a region after which its threads do not wait for each other.
    pub(super) unwaited: HashSet<Name>,
    /// The tensors that are stored past the caches where they are aligned.
    streamed: HashSet<Name>,
    /// Whether what was written since the last function began asks for that.
    asks_alignment: bool,
}

/// Comes before a function that walks through a tensor in both directions.
const NO_IVOPTS: &str = "TEML_NO_IVOPTS\n";

/// The most bytes of a local tensor that is a variable: 16 KiB. Larger ones do not fit into
/// registers anyway, and should leave the place to those that do.
const MAX_VARIABLE: u64 = 1 << 14;

/// The most bytes of local tensors that are variables, in all: 128 KiB, of stacks that are seldom
/// smaller than 2 MiB.
const MAX_STACK: u64 = 1 << 17;

/// How many statements an iteration executes at least if it is a function: a call costs about as
/// much as a few of them.
const WORTH_A_CALL: i64 = 32;

impl Emitter<'_> {
    pub(super) fn new<'a>(symbol: &'a str, params: &'a [Param], target: &'a Target) -> Emitter<'a> {
        Emitter {
            symbol,
            target,
            params,
            functions: Vec::new(),
            text: String::new(),
            depth: 1,
            values: Values::new(target),
            bounds: Bounds::default(),
            iterators: Vec::new(),
            band: 0,
            stack: 0,
            read: HashSet::new(),
            chosen: Chosen::none(target),
            streams: Streams::default(),
            hazards: Hazards::default(),
            due_in_order: false,
            both_ways: false,
            shares: Shares::new(),
            threads: Threads::default(),
            unwaited: HashSet::new(),
            streamed: HashSet::new(),
            asks_alignment: false,
        }
    }

    /// The functions that the text calls, the text, and what it needs.
    /// The functions that the kernel calls, its body, what both need, and the attributes of the
    /// kernel itself.
    pub(super) fn finish(self) -> (Vec<String>, String, Values, &'static str) {
        let attributes = match self.both_ways {
            true => NO_IVOPTS,
            false => "",
        };
        let params = self.params.iter().map(|p| &p.tensor);
        let streamed = params.filter(|t| t.name().is_some_and(|n| self.streamed.contains(n)));
        let aligned: Vec<String> = streamed
            .map(|t| format!("TEML_IS_ALIGNED({})", t.label()))
            .collect();
        let text = match aligned.is_empty() {
            true => self.text,
            false => format!(
                "    const int {ALIGNED} = {};\n{}",
                aligned.join(" && "),
                self.text
            ),
        };
        (self.functions, text, self.values, attributes)
    }

    /// Appends the statements of a nest.
    pub(super) fn nest(&mut self, nest: &Nest) {
        self.depth = 1;
        self.bounds = Bounds::default();
        let trees = settled(nest, self.target);
        let chosen = Chosen::of(&trees, self.target);
        self.streams = Streams::of(&trees, &nest.locals(), &chosen);
        let (trees, mut rows) = with_room(&trees, &chosen, &self.streams);
        self.chosen = Chosen::of(&trees, self.target);
        rows.unset = unset_lanes(&trees, &self.chosen, &rows, &self.streams);
        self.values.rows = rows;
        self.values.unrolled = self.chosen.unrolled().clone();
        self.hazards = Hazards::of(&trees, &self.chosen);
        if self.hazards.goes_both_ways() {
            self.both_ways = true;
            self.values.headers.insert(Header::Loops);
        }
        self.unwaited.clear();
        let line = self.target.line.cast_signed();
        self.shares = shares(&nest.with_trees(trees.clone()), line);
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
        self.trees(&trees);
        if scoped {
            self.depth -= 1;
            self.line("}");
        }
    }

    /// Forgets what was chosen for a nest: what follows has no vectors, and no hints.
    pub(super) fn begin_plain(&mut self) {
        self.depth = 1;
        self.bounds = Bounds::default();
        self.chosen = Chosen::none(self.target);
        self.streams = Streams::default();
        self.hazards = Hazards::default();
        self.values.rows = Rows::none(self.target);
        self.values.unrolled.clear();
        self.shares = Shares::new();
        self.unwaited.clear();
    }

    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:indent$}{text}", "", indent = 4 * self.depth);
    }

    pub(super) fn tree(&mut self, tree: &Tree) {
        match tree {
            Tree::Loop(l) => self.emit_loop(l),
            Tree::Stmt(s) => self.stmt(s),
            Tree::Fill(fill) => self.fill(fill),
            // The region declares it.
            Tree::Local(_) if self.threads == Threads::Team => {}
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
        self.values.headers.insert(Header::Locals);
        if !elem.is_float() {
            self.values.headers.insert(Header::Integers);
        }
        let is_variable = self.fit_variables([tensor]);
        if is_variable {
            self.stack += bytes(tensor);
        }
        // Where loops set a single element, compilers warn that it may be none.
        let single = is_variable && tensor.shape().elements() == 1;
        let how = match (is_variable, single || self.values.rows.needs_zeros(tensor)) {
            (true, false) => "LOCAL",
            (true, true) => "LOCAL_ZERO",
            (false, false) => "SPACE",
            (false, true) => "SPACE_ZERO",
        };
        self.line(&format!("TEML_{how}({c_name}, {name}, [{first}]{rest});"));
    }

    fn emit_loop(&mut self, l: &Loop) {
        let outside = self.bounds.clone();
        self.bounds.enter(l);
        if let Some(remark) = &l.hints.remark {
            self.line(&format!("// {remark}"));
        }
        let fenced = self.streams.is_fenced(l);
        let threads = self.threads;
        let team = threads == Threads::Team && l.parallel;
        let region = fenced && l.parallel && !team;
        if region {
            let threshold = self.threshold(l);
            self.line(&format!("#pragma omp parallel{threshold}"));
            self.line("{");
            self.depth += 1;
        }
        let block = self.streams.block(l, &self.chosen);
        match (block, self.chosen.is_vector(l)) {
            (Some(block), _) => self.block_past(&block, &origin(l)),
            (None, true) => self.vector_loop(l, &origin(l)),
            (None, false) => {
                let entry = match (region || team, fenced) {
                    (false, _) => Entry::Call,
                    (true, false) if !self.unwaited.contains(&l.name) => Entry::Join,
                    (true, _) => Entry::JoinWithoutWaiting,
                };
                if l.parallel {
                    self.threads = Threads::Shared;
                }
                self.counted_loop(l, entry);
                self.threads = threads;
            }
        }
        if fenced {
            self.line("teml_fence();");
        }
        if fenced && team {
            self.line("#pragma omp barrier");
        }
        if region {
            self.depth -= 1;
            self.line("}");
        }
        self.bounds = outside;
    }

    /// A loop that is not written with vectors.
    fn counted_loop(&mut self, l: &Loop, entry: Entry) {
        if let Some(trips) = trips(l).filter(|_| self.chosen.is_unrolled(l)) {
            self.unroll(trips);
        } else if self.hazards.stays_loop(l) && !self.chosen.is_shared(l) && !l.vector {
            self.unroll(1);
        }
        if let Some(pragma) = self.pragma(l, entry) {
            self.line(&pragma);
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
        self.iterators.push(name.clone());
        let band = match l.parallel {
            true => l.sharing.collapse,
            false => take(&mut self.band),
        };
        // The lanes of a vector loop are no calls.
        if band == 1 && !l.vector && executions(&l.body, &self.bounds) >= WORTH_A_CALL {
            self.iteration_as_function(l);
        } else {
            self.band = band.saturating_sub(1);
            self.iteration(l);
        }
        self.iterators.pop();
        self.depth -= 1;
        self.line("}");
    }

    fn iteration(&mut self, l: &Loop) {
        // OpenMP wants loops that share iterations one directly in the other.
        self.due_in_order |= self.hazards.is_in_order(l);
        if self.band == 0 && take(&mut self.due_in_order) {
            self.in_order();
        }
        for fetch in &l.hints.prefetch {
            if fetch.of.is_none() {
                let line = self.target.line.cast_signed();
                let touched = ahead(l, &fetch.tensor, fetch.distance, line);
                touched.iter().for_each(|touch| self.prefetch(touch));
            }
        }
        for share in self.shares.get(&l.name).cloned().unwrap_or_default() {
            self.prefetch_share(&share);
        }
        self.trees(&l.body);
    }

    /// Keeps compilers from taking statements before and after this as a group.
    fn in_order(&mut self) {
        self.values.headers.insert(Header::Loops);
        self.line("TEML_IN_ORDER();");
    }

    /// Says how many copies compilers make of what the loop that comes next executes.
    pub(super) fn unroll(&mut self, copies: i64) {
        self.values.headers.insert(Header::Loops);
        self.line(&format!("TEML_UNROLL({copies})"));
    }

    /// What an iteration of a parallel loop runs, as a function, which is called. In parallel
    /// regions gcc forgets `restrict`, and that of variables; it believes parameters.
    fn iteration_as_function(&mut self, l: &Loop) {
        let (outer, depth) = (take(&mut self.text), replace(&mut self.depth, 1));
        let asked = take(&mut self.asks_alignment);
        self.iteration(l);
        let body = replace(&mut self.text, outer);
        self.depth = depth;
        let aligned = self.asks_alignment.then_some(ALIGNED);
        self.asks_alignment |= asked;

        let used = Used::by(l, &self.shares, self.target.line.cast_signed());
        let iterators = self.iterators.iter().filter(|name| used.mentions(name));
        let iterators: Vec<&str> = iterators.map(Name::as_str).collect();
        let constant = |tensor: &Tensor| {
            let param = self
                .params
                .iter()
                .find(|p| p.tensor.name() == tensor.name());
            param.is_some_and(|p| p.role == Role::In)
        };
        let numbers = iterators.iter().map(|name| format!("int64_t {name}"));
        let numbers = numbers.chain(aligned.map(|name| format!("int {name}")));
        let tensors = used.tensors.iter().map(|t| parameter(t, constant(t)));
        let params: Vec<String> = numbers.chain(tensors).collect();
        let numbers = iterators.into_iter().chain(aligned);
        let args: Vec<&str> = numbers.chain(used.names()).collect();
        // No script can give this name to anything else.
        let function = format!("teml_{}_{}", self.symbol, self.functions.len() + 1);
        let call = format!("{function}({});", args.join(", "));
        let attributes = match self.hazards.goes_both_ways() {
            true => NO_IVOPTS,
            false => "",
        };
        let definition = format!(
            "// One iteration of {}. Compilers lose `restrict` in parallel regions, and keep it here.\n\
             static __attribute__((noinline)) {attributes}void {function}(\n    {})\n{{\n{body}}}\n",
            l.name,
            params.join(",\n    ")
        );
        self.functions.push(definition);
        self.line(&call);
    }

    /// Whether all of some local tensors can be variables.
    pub(super) fn fit_variables<'a>(&self, locals: impl IntoIterator<Item = &'a Tensor>) -> bool {
        let mut stack = self.stack;
        locals.into_iter().map(bytes).all(|bytes| {
            stack = stack.saturating_add(bytes);
            bytes <= MAX_VARIABLE && stack <= MAX_STACK
        })
    }

    pub(super) fn bound(&mut self, function: &str, bounds: &[Affine]) -> String {
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
        let around = self.iterators.last();
        let apart = around.is_some_and(|l| self.hazards.are_apart(l));
        if apart && self.values.vectors.is_none() {
            self.in_order();
        }
        let target = self.values.access(&s.target, &s.index);
        self.values.adds = s.update.is_some();
        let guarded = |op| is_guarded(op, s.target.elem(), Some(&s.value));
        let operator = |op: BinaryOp| op.precedence().is_some() && !guarded(op);
        let value = match self.values.vectors.clone() {
            // A vector is assigned vectors, and functions take them.
            Some(v) if !s.update.is_some_and(operator) && is_uniform(&s.value, &v.iterator) => {
                match s.value.node() {
                    Node::Constant(c) if v.is_several() && c.is_zero() && !c.is_negative() => {
                        v.zeros()
                    }
                    _ => v.spread(&self.values.value(&s.value, ATOM), s.target.elem()),
                }
            }
            _ => self.held(s),
        };
        if let Some((vectors, end)) = self.values.part(&s.target, &s.index) {
            let target = element(&s.target, &s.index);
            let line = vectors.set(&target, end, &value);
            self.line(&line);
            return;
        }
        // A part of a line that is stored past the caches costs more than it saves.
        let whole = self
            .values
            .vectors
            .as_ref()
            .filter(|v| v.is_several() && !v.shorter)
            .filter(|v| self.streams.stores(&v.iterator, s));
        let line = match (whole, s.update) {
            (Some(vectors), _) => {
                if vectors.is_aligned(s) {
                    self.asks_alignment = true;
                    self.streamed.extend(s.target.name().cloned());
                }
                vectors.stream(s, &target, &value)
            }
            (None, Some(op)) if !operator(op) => {
                let args = [target.clone(), value];
                let lanes = self.values.are_vectors();
                let combined = self.values.combined(op, s.target.elem(), args, lanes);
                format!("{target} = {combined};")
            }
            (None, update) => {
                let update = update.map_or("", BinaryOp::symbol);
                format!("{target} {update}= {value};")
            }
        };
        self.line(&line);
    }
}

/// The size of a tensor; local ones have at most 1 GiB.
fn bytes(tensor: &Tensor) -> u64 {
    let elements = tensor.shape().elements();
    elements.saturating_mul(tensor.elem().size() as u64)
}

/// The step, or the call of the library, and the script line that made a loop, as a comment.
fn origin(l: &Loop) -> String {
    match l.made_by() {
        None => String::new(),
        Some(step) => format!("  // {}", asked(&Taken::of(step))),
    }
}

/// What a script asked for, and where.
pub(super) fn asked(entry: &Taken) -> String {
    let site = entry.steps().first().and_then(|step| step.site.as_ref());
    let text = match entry {
        Taken::Step(step) => step.to_string(),
        Taken::Call(call, _) => {
            let text = call.to_string();
            match text.chars().count() <= MAX_CALL {
                true => comment(&text),
                false => format!("{}(…)", call.function),
            }
        }
    };
    match site {
        Some(site) => format!("{text}, {}", comment(&site.to_string())),
        None => text,
    }
}

/// Longer calls of the library are shown without their arguments.
const MAX_CALL: usize = 60;

/// Text that stays inside a `//` comment whatever a file is called.
pub(super) fn comment(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || c == '\\' { '?' } else { c })
        .collect()
}
