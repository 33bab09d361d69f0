//! Kernels for arguments in other layouts: which functions may be one for callers, and how C finds the
//! kernel for the strides that it is given.

use super::parts::{Exported, Package, Use, joined};
use crate::codegen::symbol::from_label;
use crate::codegen::{Param, c_type};
use crate::ir::{Name, Strides, Tensor};
use std::fmt::Write;

/// The symbol of a kernel for transposed arguments, or for arguments with all other strides.
pub fn view_symbol(name: &str, transposed: &[String]) -> String {
    match transposed.is_empty() {
        true => format!("{name}_with_any_strides"),
        false => format!("{name}_with_{}_transposed", transposed.join("_")),
    }
}

/// Why a kernel cannot take the arguments of `base` in another layout, if it cannot: with some of them
/// transposed, or with all other strides.
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
        if own.entries().is_some() && !transposed.is_empty() {
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

/// The C that tells whether the strides of a tensor with these extents are as its kernel takes them.
pub(super) fn fits(tensor: &Tensor, used: Use, extents: &str) -> String {
    let (name, elem) = (from_label(tensor.label()), c_type(tensor.elem()));
    let given = format!("{}, {extents}, {name}_strides", tensor.shape().rank());
    match tensor.strided_in() {
        Some(Strides::All) => {
            let written = i32::from(used != Use::Input);
            format!("teml_is_apart({given}, sizeof({elem}), {written})")
        }
        Some(Strides::Rows) => format!("teml_has_rows({given}, sizeof({elem}))"),
        None => format!("teml_is_row_major({given})"),
    }
}

/// The C that calls kernels for other layouts, where strides say so: for transposed arguments, and
/// then for all that the kernel does not take.
pub(super) fn calls(package: &Package, exported: &Exported) -> String {
    let (others, views): (Vec<_>, Vec<_>) = package
        .views_of(exported)
        .into_iter()
        .partition(|(_, transposed)| transposed.is_empty());
    let mut labels: Vec<&String> = views.iter().flat_map(|(_, labels)| *labels).collect();
    labels.sort();
    labels.dedup();
    let has_turned = |label: &str| labels.iter().any(|one| *one == label);
    let (mut text, mut tests) = (String::new(), Vec::new());
    for (Param { tensor, .. }, used) in exported.parameters() {
        let (label, rank) = (tensor.label(), tensor.shape().rank());
        if rank == 0 || others.is_empty() && !has_turned(label) {
            continue;
        }
        let (name, elem) = (from_label(label), c_type(tensor.elem()));
        let whole = format!("teml_whole_{name}");
        let _ = writeln!(
            text,
            "    const int64_t {whole}[{rank}] = {{{}}};",
            joined(tensor, ", ")
        );
        let fit = fits(tensor, used, &whole);
        if !has_turned(label) {
            tests.push(fit);
            continue;
        }
        let dims = tensor.shape().dims().into_iter().rev();
        let back: Vec<String> = dims.map(|dim| dim.to_string()).collect();
        let reversed = (0..rank).rev();
        let reversed = reversed.map(|d| format!("{name}_strides ? {name}_strides[{d}] : 0"));
        let _ = writeln!(
            text,
            "    const int64_t teml_back_{name}[{rank}] = {{{}}};\n    \
             const int64_t teml_reversed_{name}[{rank}] = {{{}}};\n    \
             const int teml_turned_{name} = {name}_strides\n        \
             && !teml_has_rows({rank}, {whole}, {name}_strides, sizeof({elem}))\n        \
             && teml_has_rows({rank}, teml_back_{name}, teml_reversed_{name}, sizeof({elem}));",
            back.join(", "),
            reversed.collect::<Vec<_>>().join(", ")
        );
        tests.push(format!("(teml_turned_{name} || {fit})"));
    }
    if !others.is_empty() {
        let tests = tests.join("\n        && ");
        let _ = writeln!(text, "    const int teml_fits = {tests};");
    }
    for (view, transposed) in views.iter().chain(&others) {
        let turned = |label: &&String| format!("teml_turned_{}", from_label(label));
        let condition = if transposed.is_empty() {
            // The last one takes all other strides.
            let left = ["!teml_fits".to_owned()].into_iter();
            let left = left.chain(labels.iter().map(turned));
            left.collect::<Vec<_>>().join(" || ")
        } else {
            let all = (!others.is_empty()).then(|| "teml_fits".to_owned());
            let each = labels.iter().map(|label| {
                let not = if transposed.contains(label) { "" } else { "!" };
                format!("{not}{}", turned(label))
            });
            all.into_iter().chain(each).collect::<Vec<_>>().join(" && ")
        };
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
            "    if ({condition})\n        return {}_checked({});",
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
