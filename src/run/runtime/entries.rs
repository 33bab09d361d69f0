//! C with the functions by which a worker calls kernels: one per kernel, all of one type.

use crate::codegen::{Kernel, unit};

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
    kernels
        .iter()
        .for_each(|kernel| text.push_str(&entry(kernel)));
    text
}

/// C that calls kernels of another translation unit, as a worker does.
pub(super) fn entries_apart(kernels: &[Kernel]) -> String {
    let mut text = "#include <stdint.h>\n\
                    #define TEML_BEGIN (void)0\n#define TEML_END (void)0\n"
        .to_owned();
    for kernel in kernels {
        // All pointers are passed alike, whatever their type.
        let sizes = kernel.sizes.iter().map(|_| "int64_t");
        let pointers = kernel.params.iter().map(|_| "void *");
        let pointers = sizes.chain(pointers).collect::<Vec<_>>().join(", ");
        let pointers = if pointers.is_empty() {
            "void"
        } else {
            &pointers
        };
        text.push_str(&format!("void {}({pointers});\n", kernel.symbol));
        text.push_str(&entry(kernel));
    }
    text
}

fn entry(kernel: &Kernel) -> String {
    let (symbol, entry) = (&kernel.symbol, entry_of(kernel));
    // All sizes are in one array, before the tensors.
    let sizes = (0..kernel.sizes.len()).map(|k| format!("((const int64_t *)args[0])[{k}]"));
    let first = usize::from(!kernel.sizes.is_empty());
    let tensors = (0..kernel.params.len()).map(|k| format!("args[{}]", k + first));
    let arguments: Vec<String> = sizes.chain(tensors).collect();
    format!(
        "__attribute__((visibility(\"default\")))\nvoid {entry}(void *const *args);\n\
         void {entry}(void *const *args) {{\n    \
         (void)args;\n    TEML_BEGIN;\n    {symbol}({});\n    TEML_END;\n}}\n",
        arguments.join(", ")
    )
}
