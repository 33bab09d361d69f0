//! Prints a plan as C. The plan decides how loops, statements and tensors are executed. Only the
//! pace of prefetches and the alignment of streaming stores are decided here.
//!
//! Iterators are as wide as addresses. With 32 bits, which may wrap (`-fwrapv`), a compiler could
//! not see that `A[i - 4*o]` is unit-stride in `i`.

use super::lanes::ALIGNED;
use super::value::{ATOM, Values, element, is_guarded};
use crate::analysis::bounds::Bounds;
use crate::analysis::prefetch_plan::Prefetched;
use crate::analysis::work::by_sizes;
use crate::elem::c_type;
use crate::ir::{self, Affine, BinaryOp, Lookup, Name, Nest, Node as Value, Range, Taken, Tensor};
use crate::kernel::{ALIGNMENT, Header, Param, Role, parameter};
use crate::plan::lanes::is_uniform;
use crate::plan::tree::{
    Block, Entry, Fetch, Local, Loop, Mode, Node, Outlined, Part, Plan, Region, Space, Statement,
};
use crate::target::Target;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::mem::{replace, take};

pub(crate) struct Printer<'a> {
    symbol: &'a str,
    pub(super) target: &'a Target,
    params: &'a [Param],
    /// Outlined functions, each before its callers.
    functions: Vec<String>,
    pub(super) text: String,
    pub(super) depth: usize,
    pub(super) values: Values,
    pub(super) bounds: Bounds,
    /// The work of the current nest, in C.
    pub(super) work: Option<String>,
    /// The tensors with streaming stores that need an aligned tensor.
    streamed: HashSet<Name>,
    /// Whether the current function tests the alignment of tensors.
    asks_alignment: bool,
    /// Whether the statements are printed once more, for one thread.
    pub(super) on_one_thread: bool,
    /// The calls of outlined functions of the current nest, by their parallel loops.
    calls: HashMap<Name, String>,
    /// Whether the loops of the current nest are left to compilers.
    is_plain: bool,
}

/// The first row of a share, and the one after its last.
pub(super) const OF_SHARE: [&str; 2] = ["teml_first", "teml_end"];

/// The C of a function, and everything that it needs.
pub(crate) struct Printed {
    /// The functions that it calls.
    pub(crate) functions: Vec<String>,
    pub(crate) body: String,
    pub(crate) values: Values,
    pub(crate) attributes: &'static str,
}

/// The attribute of functions that walk through a tensor in both directions.
const NO_IVOPTS: &str = "TEML_NO_IVOPTS\n";

/// Prints the function `symbol`, which executes `plan`, the plan of `nests`. Of `params`, it has space
/// for `own` itself.
pub(crate) fn print(
    (plan, nests): (&Plan, &[Nest]),
    symbol: &str,
    params: &[Param],
    own: &[Tensor],
    target: &Target,
) -> Printed {
    let mut printer = Printer {
        symbol,
        target,
        params,
        functions: Vec::new(),
        text: String::new(),
        depth: 1,
        values: Values::default(),
        bounds: Bounds::default(),
        work: None,
        streamed: HashSet::new(),
        asks_alignment: false,
        on_one_thread: false,
        calls: HashMap::new(),
        is_plain: false,
    };
    for tensor in own {
        printer.local(&Local {
            tensor: tensor.clone(),
            space: Space::Thread,
            // Nothing sets the zeros that a declaration promises.
            zeros: tensor.has_zeros(),
            is_read: true,
        });
    }
    let spaces = take(&mut printer.text);
    for (part, nest) in plan.parts.iter().zip(nests) {
        // The nest of a part has been rewritten, and is its own definition.
        printer.work = work(nest);
        printer.part(part);
    }
    let params = params.iter().map(|p| &p.tensor);
    let streamed = params.filter(|t| t.name().is_some_and(|n| printer.streamed.contains(n)));
    let test = |t: &Tensor| match t.alignment() {
        Some(bytes) if bytes as usize >= ALIGNMENT => "1".to_owned(),
        _ => format!("TEML_IS_ALIGNED({})", t.label()),
    };
    let aligned: Vec<String> = streamed.map(test).collect();
    let test = match aligned.join(" && ") {
        test if test.is_empty() => test,
        test => format!("    const int {ALIGNED} = {test};\n"),
    };
    let body = format!("{spaces}{test}{}", printer.text);
    let both_ways = plan.parts.iter().any(|part| part.both_ways);
    Printed {
        functions: printer.functions,
        body,
        values: printer.values,
        attributes: if both_ways { NO_IVOPTS } else { "" },
    }
}

impl Printer<'_> {
    /// Appends the statements of a nest.
    fn part(&mut self, part: &Part) {
        self.depth = 1;
        self.bounds = Bounds::default();
        self.calls.clear();
        if part.both_ways {
            self.values.headers.insert(Header::Loops);
        }
        self.values.unrolled.clear();
        let unrolled = &mut self.values.unrolled;
        let mut see = |l: &Loop| {
            if l.is_unrolled() {
                unrolled.insert(l.of.name.clone());
            }
        };
        part.nodes
            .iter()
            .for_each(|node| node.for_each_loop(&mut see));
        self.is_plain = part.nest.is_left_to_compiler();
        // Another nest may declare a tensor, or an iterator, of that name.
        let has_local = part.nodes.iter().any(|node| matches!(node, Node::Local(_)));
        let scoped = self.is_plain || has_local;
        if scoped {
            self.line("{");
            self.depth += 1;
        }
        self.body(&part.nodes);
        if scoped {
            self.depth -= 1;
            self.line("}");
        }
    }

    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:indent$}{text}", "", indent = 4 * self.depth);
    }

    /// The body of a function or of a nest.
    fn body(&mut self, nodes: &[Node]) {
        if self.is_plain {
            self.plain_nodes(nodes);
        } else {
            self.nodes(nodes);
        }
    }

    pub(super) fn nodes(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.node(node));
    }

    pub(super) fn node(&mut self, node: &Node) {
        match node {
            Node::Loop(l) => self.of_loop(l),
            Node::Stmt(s) => self.stmt(s),
            Node::Fill(fill) => self.fill(fill),
            Node::Local(local) => self.local(local),
            Node::Region(region) => self.region(region),
            Node::Outlined(outlined) => self.outlined(outlined, None),
            Node::Copy(block) => self.block_past(block),
            Node::Fetch(Fetch::Touch(touch)) => self.prefetch(touch),
            Node::Fetch(Fetch::Share(Prefetched::Slice(share))) => self.prefetch_slice(share),
            Node::Fetch(Fetch::Share(Prefetched::Lines(lines))) => self.prefetch_lines(lines),
            Node::Fence => self.line("teml_fence();"),
            Node::Barrier if self.on_one_thread => {}
            Node::Barrier => self.line("#pragma omp barrier"),
            Node::InOrder => {
                self.values.headers.insert(Header::Loops);
                self.line("TEML_IN_ORDER();");
            }
            Node::LoadFence => {
                self.values
                    .headers
                    .extend([Header::Integers, Header::Vectors]);
                self.line("teml_load_here();");
            }
        }
    }

    fn local(&mut self, local: &Local) {
        let tensor = &local.tensor;
        let (name, elem) = (tensor.label(), tensor.elem());
        let (first, rest) = match tensor.shape().extents() {
            [] => (1, &[][..]),
            [first, rest @ ..] => (*first, rest),
        };
        let rest: String = rest.iter().map(|e| format!("[{e}]")).collect();
        let c_name = c_type(elem);
        self.values.headers.insert(Header::Locals);
        if !elem.is_float() {
            self.values.headers.insert(Header::Integers);
        }
        let how = match (local.space, local.zeros) {
            (Space::Thread, false) => "SPACE",
            (Space::Thread, true) => "SPACE_ZERO",
            (Space::Register | Space::Stack, false) => "LOCAL",
            (Space::Register | Space::Stack, true) => "LOCAL_ZERO",
        };
        self.line(&format!("TEML_{how}({c_name}, {name}, [{first}]{rest});"));
        // Compilers warn about variables that are set but never read.
        if !local.is_read {
            self.line(&format!("(void){name};"));
        }
    }

    fn region(&mut self, region: &Region) {
        let mut threshold = None;
        if let Some(l) = &region.around {
            if let Some(remark) = &l.hints.remark {
                self.line(&format!("// {}", comment(remark)));
            }
            threshold = self.threshold(l);
        }
        self.on_threads_if(threshold, &mut |printer| {
            if printer.on_one_thread {
                return printer.nodes(&region.body);
            }
            printer.line("#pragma omp parallel");
            printer.line("{");
            printer.depth += 1;
            printer.nodes(&region.body);
            printer.depth -= 1;
            printer.line("}");
        });
    }

    fn of_loop(&mut self, l: &Loop) {
        let outside = self.bounds.clone();
        self.bounds.enter(&l.of);
        if let Some(remark) = l.of.hints.remark.as_ref().filter(|_| l.shows_remark) {
            self.line(&format!("// {}", comment(remark)));
        }
        match &l.mode {
            Mode::Vector(plan) => self.vector_loop(l, plan),
            Mode::Parallel {
                entry: Entry::Call, ..
            } => {
                let threshold = self.threshold(&l.of);
                self.on_threads_if(threshold, &mut |printer| printer.counted_loop(l));
            }
            _ => self.counted_loop(l),
        }
        self.bounds = outside;
    }

    /// A loop without explicit vectors.
    fn counted_loop(&mut self, l: &Loop) {
        match l.mode {
            Mode::Unrolled(copies) => self.unroll(copies),
            Mode::Rolled => self.unroll(1),
            _ => {}
        }
        if l.is_parallel() && self.shared_rows(l) {
            return;
        }
        if let Some(pragma) = self.pragma(l) {
            self.line(&pragma);
        }
        self.values.headers.insert(Header::Integers);
        let (head, origin) = (self.head("int64_t ", &l.of), origin(&l.of));
        match l.of.range.single() {
            Some(lookup) => {
                let value = self.read(lookup);
                self.line(&format!("{{{origin}"));
                self.depth += 1;
                self.line(&format!("const int64_t {} = {value};", l.of.name));
            }
            None => {
                self.line(&format!("{head} {{{origin}"));
                self.depth += 1;
            }
        }
        self.nodes(&l.body);
        self.depth -= 1;
        self.line("}");
    }

    /// The `for` of a loop; `declared` is the type of its iterator if the `for` declares it.
    pub(super) fn head(&mut self, declared: &str, l: &ir::Loop) -> String {
        let (name, range) = (&l.name, &l.range);
        let lower = match range.within.as_ref().and_then(|s| s.lower.as_ref()) {
            Some(lower) => self.read(lower),
            None => self.bound("max", &range.lower),
        };
        let upper = self.end(range);
        let step = match range.stride() {
            1 => format!("{name}++"),
            step => format!("{name} += {step}"),
        };
        format!("for ({declared}{name} = {lower}; {name} < {upper}; {step})")
    }

    /// The end of a range.
    pub(super) fn end(&mut self, range: &Range) -> String {
        let Some(segment) = &range.within else {
            return self.bound("min", &range.upper);
        };
        let read = self.read(&segment.upper);
        let own: Vec<Affine> = match segment.lower {
            None => range.own_upper().cloned().collect(),
            Some(_) => Vec::new(),
        };
        match own.as_slice() {
            [] => read,
            own => {
                self.values.headers.insert(Header::Support);
                format!("teml_min64({read}, {})", self.bound("min", own))
            }
        }
    }

    /// Tells compilers how often to unroll the next loop.
    pub(super) fn unroll(&mut self, copies: i64) {
        self.values.headers.insert(Header::Loops);
        self.line(&format!("TEML_UNROLL({copies})"));
    }

    /// An outlined function, and its call. With `rows`, it runs the rows of a share in that loop.
    pub(super) fn outlined(&mut self, outlined: &Outlined, rows: Option<&ir::Loop>) {
        if let Some(call) = self.calls.get(&outlined.of).cloned() {
            return self.line(&call);
        }
        let (outer, depth) = (take(&mut self.text), replace(&mut self.depth, 1));
        let asked = take(&mut self.asks_alignment);
        match rows {
            Some(l) => self.rows_of_share(l, &outlined.body),
            None => self.body(&outlined.body),
        }
        let body = replace(&mut self.text, outer);
        self.depth = depth;
        // Pluto's own C is compiled with all optimizations.
        let attributes = match outlined.both_ways && !self.is_plain {
            true => NO_IVOPTS,
            false => "",
        };
        let aligned = self.asks_alignment.then_some(ALIGNED);
        self.asks_alignment |= asked;

        let own = outlined.iterators.iter();
        let own = own.filter(|name| rows.is_none_or(|l| l.name != **name));
        let of_share = rows.map_or(&[][..], |_| &OF_SHARE);
        let iterators = || {
            of_share
                .iter()
                .copied()
                .chain(own.clone().map(Name::as_str))
        };
        let numbers = iterators().map(|name| format!("int64_t {name}"));
        let numbers = numbers.chain(aligned.map(|name| format!("int {name}")));
        let tensors = outlined.tensors.iter();
        let tensors = tensors.map(|t| parameter(t, self.is_input(t)));
        let params: Vec<String> = numbers.chain(tensors).collect();
        let names = outlined.tensors.iter().map(Tensor::label);
        let args: Vec<&str> = iterators().chain(aligned).chain(names).collect();
        // Scripts cannot use this name.
        let function = format!("teml_{}_{}", self.symbol, self.functions.len() + 1);
        let call = format!("{function}({});", args.join(", "));
        let definition = format!(
            "// {} of {}. Compilers lose `restrict` in parallel regions, and keep it here.\n\
             static __attribute__((noinline)) {}void {function}(\n    {})\n{{\n{body}}}\n",
            rows.map_or("One iteration", |_| "A share"),
            outlined.of,
            attributes,
            params.join(",\n    ")
        );
        self.functions.push(definition);
        self.line(&call);
        self.calls.insert(outlined.of.clone(), call);
    }

    fn is_input(&self, tensor: &Tensor) -> bool {
        let mut params = self.params.iter();
        params.any(|p| p.role == Role::In && p.tensor.name() == tensor.name())
    }

    /// Copies a block past the caches.
    fn block_past(&mut self, block: &Block) {
        self.values
            .headers
            .extend([Header::Integers, Header::Vectors]);
        let [to, from] = [&block.to, &block.from].map(|(tensor, index)| element(tensor, index));
        if let Some(remark) = &block.of.hints.remark {
            self.line(&format!("// {}", comment(remark)));
        }
        self.line(&format!(
            "teml_copy_past((char *)&{to}, (const char *)&{from}, {});{}",
            block.bytes,
            origin(&block.of)
        ));
    }

    /// A bound that is read. The affine bounds are the facts about the entries, and follow.
    pub(super) fn read(&mut self, lookup: &Lookup) -> String {
        let entry = self.values.access(&lookup.tensor, &lookup.index);
        match lookup.plus.to_string() {
            none if none == "0" => entry,
            plus => format!("{entry} + ({plus})"),
        }
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

    fn stmt(&mut self, statement: &Statement) {
        let s = &*statement.of;
        let target = self.values.access(&s.target, &s.index);
        self.values.adds = s.update.is_some();
        let guarded = |op| is_guarded(op, s.target.elem(), Some(&s.value));
        let operator = |op: BinaryOp| op.precedence().is_some() && !guarded(op);
        let value = match self.values.vectors.clone() {
            // Vectors are assigned and passed to functions as vectors, so a uniform value is
            // broadcast.
            Some(v) if !s.update.is_some_and(operator) && is_uniform(&s.value, &v.iterator) => {
                match s.value.node() {
                    Value::Constant(c) if v.is_several() && c.is_zero() && !c.is_negative() => {
                        v.zeros(s.target.elem())
                    }
                    _ => v.spread(&self.values.value(&s.value, ATOM), s.target.elem()),
                }
            }
            _ => self.held(statement),
        };
        if let Some(apart) = self.values.apart(&s.index).cloned() {
            let value = match s.update {
                None => value,
                Some(op) if operator(op) => format!("{target} {} ({value})", op.symbol()),
                Some(op) => {
                    let args = [target, value];
                    self.values.combined(op, s.target.elem(), args, true)
                }
            };
            let line = self.values.set_apart(&apart, s, &value);
            return self.line(&line);
        }
        if let Some((vectors, end)) = self.values.part(&s.target, &s.index) {
            let target = element(&s.target, &s.index);
            let line = vectors.set(&target, s.target.elem(), end, &value);
            self.line(&line);
            return;
        }
        // A streaming store of a partial line costs more than it saves.
        let whole = self
            .values
            .vectors
            .as_ref()
            .filter(|v| v.is_several() && !v.shorter)
            .filter(|_| statement.past);
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
        if statement.atomic {
            self.line("#pragma omp atomic");
        }
        self.line(&line);
    }
}

/// The step or library call, and the script line, that made a loop, as a comment.
pub(super) fn origin(l: &ir::Loop) -> String {
    match l.made_by() {
        None => String::new(),
        Some(step) => format!("  // {}", asked(&Taken::of(step))),
    }
}

/// The step or library call, as the script wrote it, and its line.
pub(crate) fn asked(entry: &Taken) -> String {
    let site = entry.steps().first().and_then(|step| step.site.as_ref());
    let text = match entry {
        Taken::Step(step) => step.to_string(),
        Taken::Call(call, _) => {
            let text = call.to_string();
            if text.chars().count() <= MAX_CALL {
                comment(&text)
            } else {
                format!("{}(…)", call.function)
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

/// Makes text safe for a `//` comment, for any file name.
pub(crate) fn comment(text: &str) -> String {
    let visible = |c: char| if c.is_control() || c == '\\' { '?' } else { c };
    let text: String = text.chars().map(visible).collect();
    // `??/` is a backslash in C11, and compilers warn about `/*`.
    text.replace("??/", "?? /").replace("/*", "/ *")
}

/// The work of a nest, in C. Floating-point numbers hold the product of any sizes.
fn work(nest: &Nest) -> Option<String> {
    let product = |(number, extents): (f64, Vec<Affine>)| {
        let factors = extents.iter().map(|extent| format!("({extent})"));
        let all = [format!("{number:?}")].into_iter().chain(factors);
        all.collect::<Vec<String>>().join(" * ")
    };
    let products: Vec<String> = by_sizes(nest).into_iter().map(product).collect();
    (!products.is_empty()).then(|| products.join(" + "))
}
