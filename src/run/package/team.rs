//! Kernels with threads that also run in forked processes: `team.h` says why they need help.

use super::parts::Exported;
use crate::codegen::symbol::from_label;
use crate::codegen::{Kernel, passed};
use std::fmt::Write;

/// Whether a kernel shares loops among threads.
pub fn has_threads(kernel: &Kernel) -> bool {
    kernel.function.contains("#pragma omp parallel")
}

/// The name of the function that computes what the kernel computes.
fn inside(kernel: &Kernel) -> String {
    format!("teml_own_{}", kernel.symbol)
}

/// The kernel as a function that only its file sees.
pub fn hidden(kernel: &Kernel) -> Kernel {
    let (before, after) = (format!("void {}(", kernel.symbol), inside(kernel));
    let function = kernel
        .function
        .replacen(&before, &format!("static void {after}("), 1);
    Kernel {
        function,
        ..kernel.clone()
    }
}

/// The function that callers see, which hands its arguments on.
pub fn door(exported: &Exported) -> String {
    let kernel = &exported.kernel;
    let symbol = &kernel.symbol;
    let sizes = kernel.sizes.iter();
    let sizes = sizes.map(|(name, _)| (name.to_string(), format!("int64_t {name}")));
    let tensors = kernel.params.iter().map(|param| {
        let (name, kind) = (from_label(param.tensor.label()), passed(param));
        let declared = match kind.contains("(*)") {
            true => kind.replacen("(*)", &format!("(*{name})"), 1),
            false => format!(
                "{}{name}",
                if kind.ends_with('*') {
                    kind
                } else {
                    kind + " "
                }
            ),
        };
        (name, declared)
    });
    let all: Vec<(String, String)> = sizes.chain(tensors).collect();
    let list = |each: &dyn Fn(&(String, String)) -> String, between: &str| -> String {
        all.iter().map(each).collect::<Vec<_>>().join(between)
    };
    let mut text = format!("\nstruct teml_arguments_{symbol} {{\n");
    for (_, declared) in &all {
        let _ = writeln!(text, "    {declared};");
    }
    let _ = write!(
        text,
        "}};\n\nstatic void teml_task_{symbol}(void *teml_all)\n{{\n    \
         const struct teml_arguments_{symbol} *teml_these = (struct teml_arguments_{symbol} *)teml_all;\n    \
         {}({});\n}}\n\nvoid {symbol}(\n    {})\n{{\n    \
         struct teml_arguments_{symbol} teml_these = {{{}}};\n    \
         teml_run(teml_task_{symbol}, &teml_these);\n}}\n",
        inside(kernel),
        list(&|(name, _)| format!("teml_these->{name}"), ", "),
        list(&|(_, declared)| declared.clone(), ",\n    "),
        list(&|(name, _)| name.clone(), ", "),
    );
    text
}
