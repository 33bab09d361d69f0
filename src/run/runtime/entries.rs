//! C with the functions by which a worker calls kernels: one per kernel, all of one type.

use crate::codegen::{Kernel, Role, c_type, passed, unit};
use std::fmt::Write;

/// The name of the function that calls a kernel with an array of arguments.
pub(super) fn entry_of(kernel: &Kernel) -> String {
    format!("teml_call_{}", kernel.symbol)
}

/// The C of kernels, followed by the functions that a worker looks up. With poisoned local tensors
/// (`-DTEML_POISON=1`), arithmetic on unset elements stops the process.
pub(super) fn with_entries(kernels: &[Kernel]) -> String {
    let mut text = unit(kernels);
    text.push_str(
        "\n\
         #if defined(TEML_POISON) && TEML_POISON == 1\n\
         #include <fenv.h>\n\
         #define TEML_BEGIN feclearexcept(FE_INVALID)\n\
         #define TEML_END if (fetestexcept(FE_INVALID)) __builtin_trap()\n\
         #else\n\
         #define TEML_BEGIN (void)0\n\
         #define TEML_END (void)0\n\
         #endif\n",
    );
    text.push_str(spread(kernels));
    kernels
        .iter()
        .for_each(|kernel| text.push_str(&entry(kernel)));
    text
}

/// The functions for kernels with strided arguments, if there are any.
fn spread(kernels: &[Kernel]) -> &'static str {
    let is_strided = |kernel: &Kernel| kernel.params.iter().any(|p| p.tensor.is_strided());
    match kernels.iter().any(is_strided) {
        true => include_str!("spread.h"),
        false => "",
    }
}

/// C that calls kernels of another translation unit, as a worker does.
pub(super) fn entries_apart(kernels: &[Kernel]) -> String {
    let mut text = "#include <stdint.h>\n\
                    #define TEML_BEGIN (void)0\n#define TEML_END (void)0\n"
        .to_owned();
    text.push_str(spread(kernels));
    for kernel in kernels {
        // All pointers are passed alike, whatever their type.
        let sizes = kernel.sizes.iter().map(|_| "int64_t");
        let tensors = kernel.params.iter();
        let tensors = tensors.map(|param| match param.tensor.is_by_value() {
            true => c_type(param.tensor.elem()),
            false => "void *",
        });
        let types = sizes.chain(tensors).collect::<Vec<_>>().join(", ");
        let types = if types.is_empty() { "void" } else { &types };
        text.push_str(&format!("void {}({types});\n", kernel.symbol));
        text.push_str(&entry(kernel));
    }
    text
}

/// The numbers that an entry gets before the tensors: the sizes of the kernel, and then the extents
/// of its strided arguments.
pub(super) fn numbers(kernel: &Kernel) -> Vec<i64> {
    let sizes = kernel.sizes.iter().map(|(_, value)| *value);
    let strided = kernel.params.iter().filter(|p| p.tensor.is_strided());
    let extents = strided.flat_map(|p| p.tensor.in_rows().shape().extents().to_vec());
    let extents = extents.map(|extent| i64::try_from(extent).unwrap_or(i64::MAX));
    sizes.chain(extents).collect()
}

fn entry(kernel: &Kernel) -> String {
    let (symbol, entry) = (&kernel.symbol, entry_of(kernel));
    let number = |k: usize| format!("((const int64_t *)args[0])[{k}]");
    let first = usize::from(!kernel.sizes.is_empty());
    let strides = kernel.strides();
    let (mut before, mut after) = (String::new(), String::new());
    let mut arguments: Vec<String> = (0..kernel.sizes.len()).map(number).collect();
    let (mut extent, mut stride) = (kernel.sizes.len(), kernel.sizes.len() - strides.len());
    for (k, param) in kernel.params.iter().enumerate() {
        let given = format!("args[{}]", k + first);
        if param.tensor.is_by_value() {
            arguments.push(format!("*(const {} *){given}", passed(param)));
            continue;
        }
        if !param.tensor.is_strided() {
            arguments.push(given);
            continue;
        }
        let rank = param.tensor.in_rows().shape().rank();
        let elem = c_type(param.tensor.elem());
        let place = format!(
            "{rank}, &{}, &{}, sizeof({elem})",
            number(extent),
            number(stride)
        );
        let _ = writeln!(before, "    void *teml_{k} = teml_apart({place}, {given});");
        let written = i32::from(param.role != Role::In);
        let name = param.tensor.label();
        let _ = writeln!(
            after,
            "    teml_together({place}, {given}, teml_{k}, {written}, \"{name}\");"
        );
        arguments.push(format!("({})teml_{k}", passed(param)));
        (extent, stride) = (extent + rank, stride + rank - 1);
    }
    format!(
        "__attribute__((visibility(\"default\")))\nvoid {entry}(void *const *args);\n\
         void {entry}(void *const *args) {{\n    \
         (void)args;\n{before}    TEML_BEGIN;\n    {symbol}({});\n    TEML_END;\n{after}}}\n",
        arguments.join(", ")
    )
}
