//! Kernels for transposed arguments: which functions may be one for callers, and how C finds the kernel
//! for the strides that it is given.

use super::parts::{Exported, Package};
use crate::codegen::c_type;
use crate::codegen::symbol::from_label;
use crate::ir::{Affine, Name};
use std::fmt::Write;

/// The symbol of a kernel for transposed arguments.
pub fn view_symbol(name: &str, transposed: &[String]) -> String {
    format!("{name}_with_{}_transposed", transposed.join("_"))
}

/// Why a kernel cannot take the arguments of `base` with some of them transposed, if it cannot.
pub fn view_error(base: &Exported, view: &Exported, transposed: &[String]) -> Option<String> {
    let name = &base.kernel.symbol;
    let sizes = |of: &Exported| {
        let mut names: Vec<Name> = of.sizes().cloned().collect();
        names.sort();
        names
    };
    if sizes(base) != sizes(view) {
        return Some(format!("its sizes are not those of `{name}`"));
    }
    for label in transposed {
        let Some((param, _)) = view.parameter(label) else {
            return Some(format!("it has no tensor `{label}`"));
        };
        if param.tensor.shape().rank() < 2 {
            return Some(format!("`{label}` has fewer than two dimensions"));
        }
    }
    if base.parameters().count() != view.parameters().count() {
        return Some(format!("it has not as many tensors as `{name}`"));
    }
    base.parameters().find_map(|(param, used)| {
        let (own, label) = (&param.tensor, param.tensor.label());
        let Some((other, other_used)) = view.parameter(label) else {
            return Some(format!("it has no tensor `{label}`"));
        };
        let mut dims = other.tensor.shape().dims();
        let is_transposed = transposed.iter().any(|one| one == label);
        if is_transposed {
            dims.reverse();
        }
        if own.entries().is_some() {
            return Some(format!("`{label}` has entries, which no transpose has"));
        }
        if dims != own.shape().dims() {
            let order = if is_transposed { ", reversed" } else { "" };
            return Some(format!(
                "the extents of `{label}` are not those of `{name}`{order}"
            ));
        }
        let is_same = own.elem() == other.tensor.elem()
            && own.is_by_value() == other.tensor.is_by_value()
            && used == other_used;
        (!is_same).then(|| format!("it uses `{label}` in another way than `{name}`"))
    })
}

/// The C that calls the kernel for transposed arguments, where strides say that they are.
pub(super) fn calls(package: &Package, exported: &Exported) -> String {
    let views = package.views_of(exported);
    let mut labels: Vec<&String> = views.iter().flat_map(|(_, labels)| *labels).collect();
    labels.sort();
    labels.dedup();
    let mut text = String::new();
    for label in &labels {
        let Some((param, _)) = exported.parameter(label) else {
            continue;
        };
        let (name, elem) = (from_label(label), c_type(param.tensor.elem()));
        let dims = param.tensor.shape().dims();
        let rank = dims.len();
        let list = |dims: &mut dyn Iterator<Item = &Affine>| {
            let dims: Vec<String> = dims.map(Affine::to_string).collect();
            dims.join(", ")
        };
        let (whole, back) = (list(&mut dims.iter()), list(&mut dims.iter().rev()));
        let reversed = (0..rank).rev();
        let reversed = reversed.map(|d| format!("{name}_strides ? {name}_strides[{d}] : 0"));
        let _ = writeln!(
            text,
            "    const int64_t teml_whole_{name}[{rank}] = {{{whole}}}, teml_back_{name}[{rank}] = \
             {{{back}}};\n    \
             const int64_t teml_reversed_{name}[{rank}] = {{{}}};\n    \
             const int teml_turned_{name} = {name}_strides\n        \
             && !teml_has_rows({rank}, teml_whole_{name}, {name}_strides, sizeof({elem}))\n        \
             && teml_has_rows({rank}, teml_back_{name}, teml_reversed_{name}, sizeof({elem}));",
            reversed.collect::<Vec<_>>().join(", ")
        );
    }
    for (view, transposed) in &views {
        let conditions = labels.iter().map(|label| {
            let not = if transposed.contains(label) { "" } else { "!" };
            format!("{not}teml_turned_{}", from_label(label))
        });
        let sizes = view.sizes().map(Name::to_string);
        let arguments = view.parameters().flat_map(|(param, _)| {
            let label = param.tensor.label();
            let name = from_label(label);
            match param.tensor.shape().rank() {
                0 => vec![name],
                _ if transposed.iter().any(|one| one == label) => {
                    vec![name.clone(), format!("teml_reversed_{name}")]
                }
                _ => vec![name.clone(), format!("{name}_strides")],
            }
        });
        let workspace = view.workspace_argument();
        let workspace =
            workspace.map(|_| exported.workspace_argument().unwrap_or("NULL").to_owned());
        let _ = writeln!(
            text,
            "    if ({})\n        return {}_checked({});",
            conditions.collect::<Vec<_>>().join(" && "),
            view.kernel.symbol,
            sizes
                .chain(arguments)
                .chain(workspace)
                .collect::<Vec<_>>()
                .join(", ")
        );
    }
    text
}
