//! The functions that callers see: kernels with threads also run in forked processes (`team.h` says
//! why they need help), and kernels for several instruction sets are chosen among.

use super::parts::{Exported, Version};
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

/// The function that chooses a version when the library is loaded, if there are several.
pub fn choice(versions: &[Version]) -> String {
    if versions.is_empty() {
        return String::new();
    }
    let mut tests = String::new();
    for (k, version) in versions.iter().enumerate() {
        let features = version.features.iter();
        let features = features.map(|name| format!("__builtin_cpu_supports(\"{name}\")"));
        let features: Vec<String> = features.collect();
        let _ = match features.is_empty() {
            true => writeln!(tests, "    return {k};  /* {} */", version.name),
            false => writeln!(
                tests,
                "    if ({})\n        return {k};  /* {} */",
                features.join(" && "),
                version.name
            ),
        };
    }
    format!(
        "\n/* The first version that this processor can run. */\nstatic int teml_version = {};\n\n\
         static int teml_choice(void)\n{{\n    __builtin_cpu_init();\n{tests}}}\n\n\
         static __attribute__((constructor)) void teml_choose(void)\n{{\n    \
         teml_version = teml_choice();\n}}\n",
        // Also before it is chosen.
        versions.len() - 1
    )
}

/// The parameters of the function of a kernel: names, and declarations.
fn declared(kernel: &Kernel) -> Vec<(String, String)> {
    let sizes = kernel.sizes.iter();
    let sizes = sizes.map(|(name, _)| (name.to_string(), format!("int64_t {name}")));
    let tensors = kernel.params.iter().map(|param| {
        let (name, kind) = (from_label(param.tensor.label()), passed(param));
        let declared = match kind.contains("(*)") {
            true => kind.replacen("(*)", &format!("(*{name})"), 1),
            false if kind.ends_with('*') => format!("{kind}{name}"),
            false => format!("{kind} {name}"),
        };
        (name, declared)
    });
    sizes.chain(tensors).collect()
}

fn list(
    all: &[(String, String)],
    each: impl Fn(&(String, String)) -> String,
    between: &str,
) -> String {
    all.iter().map(each).collect::<Vec<_>>().join(between)
}

/// The function that callers see, which hands its arguments on: kernel number `k` of the package.
pub fn door(exported: &Exported, k: usize, versions: &[Version]) -> String {
    let kernel = &exported.kernel;
    let symbol = &kernel.symbol;
    let all = declared(kernel);
    let mut text = String::new();
    let of_versions = versions.iter().filter_map(|version| version.kernels.get(k));
    let mut calls = Vec::new();
    for (number, own) in of_versions.enumerate() {
        let own = &own.kernel;
        let parameters = declared(own);
        let _ = writeln!(
            text,
            "\nvoid {}({});",
            own.symbol,
            list(&parameters, |(_, declared)| declared.clone(), ", ")
        );
        let given = list(&parameters, |(name, _)| format!("teml_these->{name}"), ", ");
        calls.push(format!(
            "    case {number}:\n        {}({given});\n        break;\n",
            own.symbol
        ));
    }
    let given = list(&all, |(name, _)| format!("teml_these->{name}"), ", ");
    let call = match calls.is_empty() {
        true => format!("    {}({given});\n", inside(kernel)),
        false => format!("    switch (teml_version) {{\n{}    }}\n", calls.concat()),
    };
    let _ = writeln!(text, "\nstruct teml_arguments_{symbol} {{");
    for (_, declared) in &all {
        let _ = writeln!(text, "    {declared};");
    }
    let _ = write!(
        text,
        "}};\n\nstatic void teml_task_{symbol}(void *teml_all)\n{{\n    \
         const struct teml_arguments_{symbol} *teml_these = (struct teml_arguments_{symbol} *)teml_all;\n\
         {call}}}\n\nvoid {symbol}(\n    {})\n{{\n    \
         struct teml_arguments_{symbol} teml_these = {{{}}};\n    \
         teml_run(teml_task_{symbol}, &teml_these);\n}}\n",
        list(&all, |(_, declared)| declared.clone(), ",\n    "),
        list(&all, |(name, _)| name.clone(), ", "),
    );
    text
}
