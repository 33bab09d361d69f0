//! Prints the C function that runs nests on a device: it copies tensors to the device, starts the
//! kernels, and copies results back.
//!
//! Two functions are printed. `NAME_on_device` takes memory of the device, for callers whose tensors
//! are there. `NAME` takes memory of the processor. Both compile kernels when they are first called.

use super::plan::{Kernel, MOST, Step, Width};
use crate::elem::c_type;
use crate::ir::{Affine, Axis, Loop, Name, Tensor};
use crate::kernel::{Param, Role, parameter};
use std::fmt::Write;

/// A kernel as the processor starts it.
pub(super) struct Started {
    pub(super) name: String,
    /// The numbers that it gets.
    pub(super) numbers: Vec<Name>,
    /// The tensors that it gets after these.
    pub(super) params: Vec<Param>,
}

/// The text of both functions.
pub(super) struct Host<'a> {
    pub(super) symbol: &'a str,
    pub(super) linkage: &'a str,
    /// The sizes that callers give.
    pub(super) sizes: &'a [Name],
    /// Declarations of further sizes.
    pub(super) derived: &'a [String],
    pub(super) params: &'a [Param],
    pub(super) steps: &'a [Step],
    /// The bits of indices in kernels.
    pub(super) width: Width,
    /// The kernels of launches, in order.
    pub(super) started: &'a [Started],
    /// The comments above the function.
    pub(super) comments: &'a str,
}

impl Host<'_> {
    pub(super) fn print(&self) -> String {
        let mut text = String::new();
        let numbers = || self.sizes.iter().map(|size| format!("int64_t {size}"));
        let memory = |param: &Param| match param.tensor.is_by_value() {
            true => parameter(&param.tensor, true),
            false => format!("teml_device_buffer {}", param.tensor.label()),
        };
        let on_device: Vec<String> = numbers().chain(self.params.iter().map(memory)).collect();
        // Libraries hide what they do not export.
        let visible = match self.linkage {
            "" => "__attribute__((visibility(\"default\"))) ",
            _ => "",
        };
        let _ = write!(
            text,
            "// {0}, for tensors in memory of the device.\n{visible}{1}void {0}_on_device(\n    {2});\n\n\
             {1}void {0}_on_device(\n    {2})\n{{\n    static teml_device_program teml_program = {{teml_{0}_source, {{0, 0}}, 0}};\n",
            self.symbol,
            self.linkage,
            on_device.join(",\n    ")
        );
        for size in self.derived {
            let _ = writeln!(text, "    {size}");
        }
        let _ = writeln!(
            text,
            "    teml_device_use(&teml_program, {});",
            self.is_wide()
        );
        for tensor in self.steps.iter().filter_map(local) {
            allocate(tensor, 4, &mut text);
        }
        text.push_str(
            "    for (int teml_turn = 0; teml_turn < teml_device_turns; teml_turn++) {\n        \
             teml_device_begin(teml_turn);\n",
        );
        let is_step = |step: &&Step| local(step).is_none();
        let mut launched = 0;
        let steps = self.steps.iter().filter(is_step);
        self.steps(steps, 2, &mut launched, &mut text);
        text.push_str("    }\n    teml_device_end();\n");
        // Memory of the device is free when all kernels have ended.
        for tensor in self.steps.iter().filter_map(local) {
            let _ = writeln!(text, "    teml_device_free({});", tensor.label());
        }
        text.push_str("    teml_device_leave();\n}\n\n");
        text.push_str(self.comments);
        let params = self.params.iter();
        let params = params.map(|p| parameter(&p.tensor.as_given(), p.role == Role::In));
        let params: Vec<String> = numbers().chain(params).collect();
        let _ = write!(
            text,
            "{}void {}(\n    {})\n{{\n    teml_device_open();\n",
            self.linkage,
            self.symbol,
            params.join(",\n    ")
        );
        self.transfers(&mut text);
        text.push_str("    teml_device_leave();\n}\n");
        text
    }

    /// Whether indices have 64 bits where the kernels leave that open, in C.
    fn is_wide(&self) -> String {
        let most = match self.width {
            Width::Narrow | Width::Wide => return "0".to_owned(),
            Width::Either { most } => most,
        };
        let sizes = self.sizes.iter();
        let sizes = sizes.map(|size| format!("teml_device_fits((double){size}, {most})"));
        let params = self.params.iter().map(|param| &param.tensor);
        let mut locals = Vec::new();
        all_locals(self.steps, &mut locals);
        let tensors = params.chain(locals).filter(|tensor| !tensor.is_by_value());
        let tensors =
            tensors.map(|tensor| format!("teml_device_fits({}, {MOST})", elements(tensor)));
        let mut all: Vec<String> = Vec::new();
        for test in sizes.chain(tensors) {
            if !all.contains(&test) {
                all.push(test);
            }
        }
        format!("!({})", all.join("\n        && "))
    }

    /// The body of the function for memory of the processor.
    fn transfers(&self, text: &mut String) {
        let tensors = || self.params.iter().filter(|p| !p.tensor.is_by_value());
        for param in tensors() {
            let (name, bytes) = (param.tensor.label(), bytes(&param.tensor));
            let copies = match param.role {
                Role::In | Role::InOut => true,
                Role::Out => param.tensor.is_strided(),
                Role::Workspace => false,
            };
            let _ = writeln!(
                text,
                "    const teml_device_buffer teml_{name} = teml_device_get({name}, {bytes}, {});",
                i32::from(copies)
            );
        }
        let numbers = self.sizes.iter().map(Name::to_string);
        let args = self.params.iter().map(|p| match p.tensor.is_by_value() {
            true => p.tensor.label().to_owned(),
            false => format!("teml_{}", p.tensor.label()),
        });
        let args: Vec<String> = numbers.chain(args).collect();
        let _ = writeln!(text, "    {}_on_device({});", self.symbol, args.join(", "));
        let is_written = |param: &&Param| matches!(param.role, Role::Out | Role::InOut);
        for param in tensors().filter(is_written) {
            let (name, bytes) = (param.tensor.label(), bytes(&param.tensor));
            let _ = writeln!(text, "    teml_device_put(teml_{name}, {name}, {bytes});");
        }
        for param in tensors() {
            let _ = writeln!(text, "    teml_device_free(teml_{});", param.tensor.label());
        }
    }

    fn steps<'s>(
        &self,
        steps: impl IntoIterator<Item = &'s Step>,
        depth: usize,
        launched: &mut usize,
        text: &mut String,
    ) {
        let indent = 4 * depth;
        for step in steps {
            match step {
                Step::Local(tensor) => allocate(tensor, indent, text),
                Step::Loop(l, body) => {
                    let (name, lower) = (&l.name, extreme("max", &l.range.lower));
                    let (upper, step) = (extreme("min", &l.range.upper), l.range.step);
                    let _ = writeln!(
                        text,
                        "{:indent$}for (int64_t {name} = {lower}; {name} < {upper}; {name} += {step}) {{",
                        ""
                    );
                    self.steps(body.iter(), depth + 1, launched, text);
                    let _ = writeln!(text, "{:indent$}}}", "");
                }
                Step::Launch(kernel) => {
                    if let Some(started) = self.started.get(*launched) {
                        launch(kernel, started, indent, text);
                    }
                    *launched += 1;
                }
            }
        }
    }
}

fn local(step: &Step) -> Option<&Tensor> {
    match step {
        Step::Local(tensor) => Some(tensor),
        Step::Loop(..) | Step::Launch(_) => None,
    }
}

/// The local tensors in memory of the device.
fn all_locals<'s>(steps: &'s [Step], found: &mut Vec<&'s Tensor>) {
    for step in steps {
        match step {
            Step::Local(tensor) => found.push(tensor),
            Step::Loop(_, body) => all_locals(body, found),
            Step::Launch(_) => {}
        }
    }
}

/// Memory of the device for a local tensor.
fn allocate(tensor: &Tensor, indent: usize, text: &mut String) {
    let (name, bytes) = (tensor.label(), bytes(tensor));
    let _ = writeln!(
        text,
        "{:indent$}const teml_device_buffer {name} = teml_device_get(0, {bytes}, 0);",
        ""
    );
}

fn launch(kernel: &Kernel, started: &Started, indent: usize, text: &mut String) {
    let mut grid = [const { String::new() }; Axis::DIMENSIONS];
    for l in &kernel.grid {
        if let Some(axis) = l.axis() {
            grid[axis.dimension] = blocks(l);
        }
    }
    let grid = grid.map(|extent| match extent.is_empty() {
        true => "1".to_owned(),
        false => extent,
    });
    let block = kernel.block().map(|n| n.to_string());
    let numbers = started.numbers.iter().map(|name| {
        let pointer = format!("(void *)&{name}");
        (pointer, "sizeof(int64_t)".to_owned())
    });
    let tensors = started.params.iter().map(|param| {
        let size = match param.tensor.is_by_value() {
            true => format!("sizeof({})", c_type(param.tensor.elem())),
            false => "sizeof(teml_device_buffer)".to_owned(),
        };
        (format!("(void *)&{}", param.tensor.label()), size)
    });
    let (args, sizes): (Vec<String>, Vec<String>) = numbers.chain(tensors).unzip();
    let lines = [
        "{".to_owned(),
        format!("    const int64_t teml_grid[3] = {{{}}};", grid.join(", ")),
        format!(
            "    const unsigned teml_block[3] = {{{}}};",
            block.join(", ")
        ),
        format!("    void *teml_args[] = {{{}}};", args.join(", ")),
        format!("    const size_t teml_sizes[] = {{{}}};", sizes.join(", ")),
        format!(
            "    teml_device_launch(&teml_program, \"{}\", teml_grid, teml_block, teml_args, teml_sizes, {});",
            started.name,
            args.len()
        ),
        "}".to_owned(),
    ];
    for line in lines {
        let _ = writeln!(text, "{:indent$}{line}", "");
    }
}

/// The number of blocks that run a grid loop.
fn blocks(l: &Loop) -> String {
    let upper = extreme("min", &l.range.upper);
    match l.range.lower.as_slice() {
        [lower] if lower.as_constant() == Some(0) => upper,
        lower => format!("{upper} - ({})", extreme("max", lower)),
    }
}

fn extreme(function: &str, bounds: &[Affine]) -> String {
    let Some((first, rest)) = bounds.split_first() else {
        return "0".to_owned();
    };
    rest.iter().fold(first.to_string(), |text, bound| {
        format!("teml_{function}64({text}, {bound})")
    })
}

/// How many elements there are from the first one of a tensor to its last one, as a number that does
/// not overflow.
fn elements(tensor: &Tensor) -> String {
    let dims = tensor.shape().dims();
    let (strides, last) = (tensor.strides(), dims.len().saturating_sub(1));
    if !tensor.is_strided() {
        let dims = dims.iter().map(|extent| format!("(double)({extent})"));
        let dims = dims.collect::<Vec<_>>().join("*");
        return if dims.is_empty() {
            "1".to_owned()
        } else {
            dims
        };
    }
    let rows = strides.iter().zip(&dims).take(last);
    let rows = rows.map(|(stride, extent)| format!("(double)({extent})*{stride}"));
    let own = dims.last().map(|extent| format!("(double)({extent})"));
    rows.chain(own).collect::<Vec<_>>().join(" + ")
}

/// The bytes that a tensor has in memory.
fn bytes(tensor: &Tensor) -> String {
    let elem = c_type(tensor.elem());
    let dims = tensor.shape().dims();
    if tensor.is_strided() {
        let strides = tensor.strides();
        let one = format!("sizeof({elem})");
        let last = dims.len().saturating_sub(1);
        let rows = strides.iter().zip(&dims).take(last);
        let mut count = dims.last().map_or("1".to_owned(), |d| format!("({d})"));
        for (stride, extent) in rows {
            let _ = write!(count, " + (({extent}) - 1)*{stride}");
        }
        let empty = dims.iter().map(|d| format!("({d}) > 0"));
        let empty = empty.collect::<Vec<_>>().join(" && ");
        return format!("({empty} ? (size_t)({count})*{one} : 0)");
    }
    let dims: String = dims.iter().map(|d| format!("(size_t)({d})*")).collect();
    format!("{dims}sizeof({elem})")
}
