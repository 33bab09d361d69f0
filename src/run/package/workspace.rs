//! Intermediate tensors whose extents are sizes. Callers of a kernel do not see them: its function with
//! checks takes one workspace for all of them, or allocates it.

use super::parts::{Exported, Package, joined};
use crate::codegen::symbol::from_label;
use crate::codegen::{c_type, definition_of_size, passed};
use crate::ir::{Name, Tensor};
use std::fmt::Write;

impl Exported {
    /// The intermediate tensors that are in its workspace.
    fn intermediates(&self) -> impl Iterator<Item = &Tensor> {
        let all = self.workspace();
        all.map(|param| &param.tensor)
    }

    /// The argument for a workspace, if the kernel needs one. No tensor and no size has its name.
    pub(super) fn workspace_argument(&self) -> Option<&'static str> {
        self.workspace().next()?;
        let labels = self.kernel.params.iter().map(|p| p.tensor.label());
        let mut names = labels.chain(self.sizes().map(Name::as_str));
        Some(match names.any(|name| name == "workspace") {
            true => "teml_workspace",
            false => "workspace",
        })
    }

    /// The multiple of bytes at which intermediate tensors begin.
    fn unit(&self) -> u64 {
        let promised = self.intermediates().filter_map(Tensor::alignment);
        promised
            .map(u64::from)
            .fold(self.kernel.vectors.bytes, u64::max)
    }
}

/// The function that counts the bytes of a workspace, without its body.
pub(super) fn prototype(exported: &Exported) -> String {
    let sizes = exported.sizes().map(|name| format!("int64_t {name}"));
    let sizes: Vec<String> = sizes.collect();
    let (symbol, sizes) = (&exported.kernel.symbol, sizes.join(", "));
    format!("int64_t {symbol}_workspace({sizes})")
}

fn sizes(exported: &Exported) -> String {
    let sizes: Vec<String> = exported.sizes().map(Name::to_string).collect();
    sizes.join(", ")
}

/// The functions that place intermediate tensors, and count their bytes. A workspace also serves the
/// kernels for other layouts.
pub(super) fn functions(package: &Package, exported: &Exported) -> String {
    let count = exported.workspace().count();
    if count == 0 {
        return String::new();
    }
    let (symbol, unit, sizes) = (&exported.kernel.symbol, exported.unit(), sizes(exported));
    let declared = exported.sizes().map(|name| format!("int64_t {name}, "));
    let mut text = format!(
        "\nstatic int64_t teml_places_{symbol}({}int64_t *teml_places)\n{{\n    \
         int64_t teml_space = 0;\n",
        declared.collect::<String>()
    );
    for size in exported.derived_sizes() {
        let _ = writeln!(text, "    {}", definition_of_size(&size));
    }
    for (k, tensor) in exported.intermediates().enumerate() {
        let (name, elem) = (from_label(tensor.label()), c_type(tensor.elem()));
        let rank = tensor.shape().rank();
        let bytes = match rank {
            0 => format!("sizeof({elem})"),
            _ => format!("teml_bytes({rank}, {name}_extents, sizeof({elem}))"),
        };
        if rank > 0 {
            let dims = joined(tensor, ", ");
            let _ = writeln!(
                text,
                "    const int64_t {name}_extents[{rank}] = {{{dims}}};"
            );
        }
        let _ = writeln!(
            text,
            "    teml_places[{k}] = teml_space;\n    \
             teml_space = teml_after(teml_space, {bytes}, {unit});"
        );
    }
    let _ = write!(
        text,
        "    return teml_after(teml_space, {unit}, 1);\n}}\n\n{}\n{{\n    \
         int64_t teml_places[{count}];\n    \
         int64_t teml_most = teml_places_{symbol}({sizes}, teml_places);\n",
        prototype(exported)
    );
    for (view, _) in package.views_of(exported) {
        if view.workspace().next().is_some() {
            let (own, sizes) = (&view.kernel.symbol, self::sizes(view));
            let _ = writeln!(
                text,
                "    const int64_t teml_of_{own} = {own}_workspace({sizes});\n    \
                 teml_most = teml_of_{own} < 0 || teml_most < 0 ? -1 \
                 : teml_of_{own} > teml_most ? teml_of_{own} : teml_most;"
            );
        }
    }
    text.push_str("    return teml_most;\n}\n");
    text
}

/// The last check of a function, after which it has memory for the intermediate tensors. `others` are
/// the arguments that a kernel reads and writes: names and memory.
pub(super) fn taken(exported: &Exported, others: &[(String, String)]) -> String {
    let Some(given) = exported.workspace_argument() else {
        return String::new();
    };
    let (symbol, count, unit) = (
        exported.caller(),
        exported.workspace().count(),
        exported.unit(),
    );
    let mut text = format!(
        "    int64_t teml_places[{count}];\n    \
         const int64_t teml_space = teml_places_{}({}, teml_places);\n    \
         if (teml_space < 0)\n        \
         return \"{symbol}: its workspace has more bytes than can be counted\";\n",
        exported.kernel.symbol,
        sizes(exported)
    );
    for (name, memory) in others {
        let _ = writeln!(
            text,
            "    if ({given} && teml_overlap({given}, teml_space, {memory}))\n        \
             return \"{symbol}: its workspace and {name} overlap\";"
        );
    }
    let _ = writeln!(
        text,
        "    void *const teml_own = {given} ? NULL : malloc((size_t)teml_space);\n    \
         if (!{given} && !teml_own)\n        \
         return \"{symbol}: there is no memory for its workspace\";\n    \
         char *const teml_memory = teml_first({given} ? {given} : teml_own, {unit});"
    );
    text
}

/// The argument of the kernel for an intermediate tensor.
pub(super) fn place(exported: &Exported, tensor: &Tensor) -> String {
    let mut all = exported.workspace().enumerate();
    let found = all.find(|(_, param)| param.tensor == *tensor);
    found.map_or_else(String::new, |(k, param)| {
        format!("({})(teml_memory + teml_places[{k}])", passed(param))
    })
}

/// The end of a function that has taken a workspace.
pub(super) fn released(exported: &Exported) -> &'static str {
    match exported.workspace_argument() {
        Some(_) => "    free(teml_own);\n",
        None => "",
    }
}
