//! Prints the kernels of a device.
//!
//! The text is the same for all languages: what differs is a word with the prefix `TEML_`, and headers
//! define it (`words_gpu.h`, `words_cuda.h`, `words_hip.h`, `words_opencl.h`).

use super::plan::{Condition, Kernel, Move, Node};
use super::spaces::Pass;
use crate::c::value::{Values, at, element, is_guarded};
use crate::elem::c_type;
use crate::ir::{Affine, Axis, BinaryOp, Fill, Loop, Name, Stmt, Tensor};
use crate::kernel::{Param, Role, parameter};
use crate::legality::Waiting;
use std::fmt::Write;

/// The text of one kernel.
pub(super) struct Printer {
    text: String,
    depth: usize,
    values: Values,
    /// The type of iterators.
    index: &'static str,
    /// The lanes of each thread.
    lanes: i64,
}

/// The types of iterators. The last one is a word, which the processor chooses (`either.h`).
pub(super) const NARROW: &str = "int";
pub(super) const WIDE: &str = "int64_t";
pub(super) const EITHER: &str = "TEML_INDEX";

/// The body of a kernel.
pub(super) fn body(kernel: &Kernel, index: &'static str) -> String {
    let mut printer = Printer {
        text: String::new(),
        depth: 1,
        values: Values {
            are_narrow: index != WIDE,
            ..Values::default()
        },
        index,
        lanes: kernel.threads[Axis::LANE],
    };
    printer.kernel(kernel);
    printer.text
}

/// A kernel with these arguments: numbers and tensors.
pub(super) fn function(
    kernel: &Kernel,
    name: &str,
    (numbers, params): (&[Name], &[Param]),
    (index, body): (&str, &str),
) -> String {
    let [x, y, z] = kernel.block();
    // The processor passes 64 bits.
    let prefix = if index == WIDE { "" } else { "teml_" };
    let given = numbers.iter().map(|name| format!("int64_t {prefix}{name}"));
    let arguments = given.chain(params.iter().map(argument));
    let arguments = arguments.collect::<Vec<String>>().join(",\n    ");
    let numbers = numbers.iter().filter(|_| !prefix.is_empty());
    let numbers: String = numbers
        .map(|name| format!("    const {index} {name} = ({index}){prefix}{name};\n"))
        .collect();
    format!("TEML_KERNEL({x}, {y}, {z}) void {name}(\n    {arguments})\n{{\n{numbers}{body}}}\n")
}

fn argument(param: &Param) -> String {
    let text = parameter(&param.tensor, param.role == Role::In);
    match param.tensor.is_by_value() {
        true => text,
        false => format!("TEML_GLOBAL {text}"),
    }
}

impl Printer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:indent$}{text}", "", indent = 4 * self.depth);
    }

    fn kernel(&mut self, kernel: &Kernel) {
        for tensor in &kernel.shared {
            self.declare("TEML_SHARED ", tensor);
        }
        for tensor in &kernel.own {
            self.declare("TEML_REGISTERS ", tensor);
        }
        for elem in &kernel.passed {
            let threads: i64 = kernel.block().iter().product();
            self.line(&format!("TEML_PASSED({}, {threads});", c_type(*elem)));
        }
        for l in &kernel.grid {
            let dimension = l.axis().map_or(0, |axis| axis.dimension);
            let first = self.bound("max", &l.range.lower);
            let block = format!("({})TEML_BLOCK({dimension})", self.index);
            let value = sum(&first, &block);
            self.line(&format!("const {} {} = {value};", self.index, l.name));
        }
        self.nodes(&kernel.body);
    }

    fn declare(&mut self, space: &str, tensor: &Tensor) {
        let extents = tensor.shape().extents();
        let extents: String = match extents {
            [] => "[1]".to_owned(),
            extents => extents.iter().map(|e| format!("[{e}]")).collect(),
        };
        let text = format!(
            "{space}{} {}{extents};",
            c_type(tensor.elem()),
            tensor.label()
        );
        self.line(&text);
    }

    fn nodes(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.node(node));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Loop { of, body } => {
                let (lower, upper) = (
                    self.bound("max", &of.range.lower),
                    self.bound("min", &of.range.upper),
                );
                let (name, index) = (&of.name, self.index);
                let step = match of.range.step {
                    1 => format!("{name}++"),
                    step => format!("{name} += {step}"),
                };
                let head = format!("for ({index} {name} = {lower}; {name} < {upper}; {step}) {{");
                self.within(&head, body);
            }
            Node::Unrolled {
                of,
                copies,
                ends,
                body,
            } => {
                let (name, index) = (&of.name, self.index);
                self.line("#pragma unroll");
                self.line(&format!(
                    "for ({index} {name} = 0; {name} < {copies}; {name}++) {{"
                ));
                self.depth += 1;
                self.up_to(name, ends, body);
                self.depth -= 1;
                self.line("}");
            }
            Node::Tiles {
                whole_if,
                whole,
                part,
            } => {
                let holds = whole_if.iter().map(condition);
                let holds = holds.collect::<Vec<_>>().join(" && ");
                self.within(&format!("if ({holds}) {{"), whole);
                self.within("else {", part);
            }
            Node::Threads {
                of,
                dimension,
                ends,
                body,
            } => self.threads(of, *dimension, ends, body),
            Node::First { dimensions, body } => {
                let threads = dimensions
                    .iter()
                    .map(|d| format!("{} == 0", self.thread(*d)));
                let condition = threads.collect::<Vec<_>>().join(" && ");
                self.within(&format!("if ({condition}) {{"), body);
            }
            Node::Stmt(s) => self.stmt(s),
            Node::Fill(fill) => self.fill(fill),
            Node::Local(tensor) => self.declare("TEML_REGISTERS ", tensor),
            Node::Load(of) => self.moved(of, true),
            Node::Store(of) => self.moved(of, false),
            Node::Pass(of) => self.pass(of),
            Node::Barrier(Waiting::Block) => self.line("TEML_BARRIER();"),
            Node::Barrier(Waiting::Warp) => self.line("TEML_BARRIER_OF_WARPS();"),
        }
    }

    fn within(&mut self, head: &str, body: &[Node]) {
        self.line(head);
        self.depth += 1;
        self.nodes(body);
        self.depth -= 1;
        self.line("}");
    }

    fn threads(&mut self, of: &Loop, dimension: usize, ends: &[Affine], body: &[Node]) {
        let first = self.bound("max", &of.range.lower);
        let thread = format!("({}){}", self.index, self.thread(dimension));
        let value = sum(&first, &thread);
        self.line("{");
        self.depth += 1;
        self.line(&format!("const {} {} = {value};", self.index, of.name));
        self.up_to(&of.name, ends, body);
        self.depth -= 1;
        self.line("}");
    }

    /// A coordinate of the thread. Lanes are neighbors in x.
    fn thread(&self, dimension: usize) -> String {
        match (dimension, self.lanes) {
            (Axis::LANE, lanes) => format!("(TEML_THREAD(0) % {lanes})"),
            (0, 2..) => format!("(TEML_THREAD(0) / {})", self.lanes),
            _ => format!("TEML_THREAD({dimension})"),
        }
    }

    /// Lanes pass an element on.
    fn pass(&mut self, of: &Pass) {
        let elem = c_type(of.to.elem());
        let (to, from) = (element(&of.to, &of.at), element(&of.from, &of.slot));
        let (lane, lanes) = (of.lane(&self.thread(Axis::LANE)), self.lanes);
        self.line(&format!(
            "TEML_PASS({elem}, {to}, {from}, {lane}, {lanes});"
        ));
    }

    /// The body of an iteration, if that is before all ends.
    fn up_to(&mut self, name: &Name, ends: &[Affine], body: &[Node]) {
        if ends.is_empty() {
            return self.nodes(body);
        }
        let ends = ends.iter().map(|end| format!("{name} < {end}"));
        let condition = ends.collect::<Vec<_>>().join(" && ");
        self.within(&format!("if ({condition}) {{"), body);
    }

    /// The greatest or the least of bounds.
    fn bound(&mut self, function: &str, bounds: &[Affine]) -> String {
        let Some((first, rest)) = bounds.split_first() else {
            return "0".to_owned();
        };
        let suffix = match self.index {
            NARROW => "",
            WIDE => "64",
            _ => "_index",
        };
        rest.iter().fold(first.to_string(), |text, bound| {
            format!("teml_{function}{suffix}({text}, {bound})")
        })
    }

    /// Moves a part to or from registers.
    fn moved(&mut self, of: &Move, loads: bool) {
        let (elem, width) = (c_type(of.tensor.elem()), of.width);
        let count = of.part.shape().elements();
        let each = usize::try_from(width).unwrap_or(1).max(1);
        for first in (0..count).step_by(each) {
            let first = i64::try_from(first).unwrap_or(0);
            let mut index = of.index.clone();
            if let Some(last) = index.last_mut() {
                *last = last.plus_constant(first);
            }
            let part = format!("&{}[{first}]", of.part.label());
            let memory = format!("&{}", element(&of.tensor, &index));
            let (to, from) = match loads {
                true => (part, memory),
                false => (memory, part),
            };
            self.line(&format!("TEML_MOVE({elem}, {width}, {to}, {from});"));
        }
    }

    fn stmt(&mut self, s: &Stmt) {
        let target = self.values.access(&s.target, &s.index);
        self.values.adds = false;
        let elem = s.target.elem();
        let operator =
            |op: BinaryOp| op.precedence().is_some() && !is_guarded(op, elem, Some(&s.value));
        let value = self.values.value(&s.value, 0);
        let line = match s.update {
            Some(op) if !operator(op) => {
                let args = [target.clone(), value];
                let combined = self.values.combined(op, elem, args, false);
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
        let depth = self.depth;
        let mut index: Vec<String> = Vec::new();
        for (d, (low, extent)) in fill.region.iter().enumerate() {
            if extent.as_constant() == Some(1) {
                index.push(low.to_string());
                continue;
            }
            // Scripts cannot use this name.
            let name = format!("teml_{}", d + 1);
            let end = low.plus(extent);
            if extent.as_constant().is_some() {
                self.line("#pragma unroll");
            }
            self.line(&format!(
                "for ({} {name} = {low}; {name} < {end}; {name}++)",
                self.index
            ));
            self.depth += 1;
            index.push(name);
        }
        let value = self.values.constant(fill.value);
        self.line(&format!("{} = {value};", at(&fill.target, &index)));
        self.depth = depth;
    }
}

fn condition(of: &Condition) -> String {
    match of {
        Condition::AtMost(least, most) => format!("{least} <= {most}"),
        Condition::Multiple { of, by } => format!("({of}) % {by} == 0"),
        Condition::Aligned { tensor, bytes } => {
            format!("(uint64_t){} % {bytes} == 0", tensor.label())
        }
    }
}

fn sum(first: &str, second: &str) -> String {
    match first {
        "0" => second.to_owned(),
        first => format!("{first} + {second}"),
    }
}
