//! Overloads for C++: functions that take views, such as `std::mdspan`. Views know their extents and
//! strides, so that a call has neither.

use super::parts::{Exported, Package, extents, place_of};
use crate::codegen::symbol::from_label;
use crate::codegen::{c_type, definition_of_size};
use std::fmt::Write;

/// The overloads of all kernels, for the end of the header.
pub(super) fn overloads(package: &Package) -> String {
    let all = package
        .kernels
        .iter()
        .filter(|exported| exported.view.is_none());
    let all: String = all.filter_map(overload).collect();
    match all.is_empty() {
        true => all,
        false => format!(
            "\n#ifdef __cplusplus\n\
             /* The same for views, such as std::mdspan: classes with rank(), extent(d), stride(d) and\n \
             * data_handle(). They return NULL, or why the kernel was not called. */{all}#endif\n"
        ),
    }
}

/// The overload of a kernel. `None` if it has no tensor that can be a view.
fn overload(exported: &Exported) -> Option<String> {
    let all: Vec<_> = exported.parameters().collect();
    let is_view = |rank: usize| rank > 0;
    let views = all.iter().map(|(param, _)| &param.tensor);
    let views: Vec<_> = views.filter(|t| is_view(t.shape().rank())).collect();
    let first = from_label(views.first()?.label());
    let (symbol, workspace) = (&exported.kernel.symbol, exported.workspace_argument());
    let told: Vec<_> = exported
        .sizes()
        .map(|size| (size, place_of(size, &all)))
        .collect();
    let untold = told.iter().filter(|(_, place)| place.is_none());
    let untold = untold.map(|(size, _)| format!("int64_t {size}"));
    let tensors = all.iter().map(|(param, used)| {
        let (name, elem) = (
            from_label(param.tensor.label()),
            c_type(param.tensor.elem()),
        );
        match param.tensor.shape().rank() {
            _ if param.tensor.is_by_value() => format!("{elem} {name}"),
            0 => format!("{}{elem} *{name}", used.constant()),
            _ => format!("const teml_{name} &{name}"),
        }
    });
    let space = workspace.map(|name| format!("void *{name} = nullptr"));
    let parameters: Vec<String> = untold.chain(tensors).chain(space).collect();
    let types = views
        .iter()
        .map(|t| format!("class teml_{}", from_label(t.label())));
    let mut text = format!(
        "\ntemplate <{}>\ninline auto {symbol}({})\n    \
         -> decltype({first}.data_handle(), static_cast<const char *>(nullptr))\n{{\n",
        types.collect::<Vec<_>>().join(", "),
        parameters.join(", ")
    );
    for tensor in &views {
        let (name, rank) = (from_label(tensor.label()), tensor.shape().rank());
        let _ = writeln!(
            text,
            "    static_assert(teml_{name}::rank() == {rank}, \"{symbol}: {name} must have rank {rank}\");"
        );
    }
    for (size, place) in &told {
        if let Some((param, dimension, offset)) = place {
            let name = from_label(param.tensor.label());
            let less = match offset {
                0 => String::new(),
                offset => format!(" - {offset}"),
            };
            let _ = writeln!(
                text,
                "    const int64_t {size} = static_cast<int64_t>({name}.extent({dimension})){less};"
            );
        }
    }
    for size in exported.derived_sizes() {
        let _ = writeln!(text, "    {}", definition_of_size(&size));
    }
    for tensor in &views {
        let (name, dims) = (from_label(tensor.label()), tensor.shape().dims());
        let tests = dims.iter().enumerate();
        let tests =
            tests.map(|(d, dim)| format!("static_cast<int64_t>({name}.extent({d})) != {dim}"));
        let strides = (0..dims.len()).map(|d| format!("static_cast<int64_t>({name}.stride({d}))"));
        let _ = writeln!(
            text,
            "    if ({})\n        return \"{symbol}: {name} must have the extents {}\";\n    \
             const int64_t {name}_strides[] = {{{}}};",
            tests.collect::<Vec<_>>().join("\n        || "),
            extents(tensor),
            strides.collect::<Vec<_>>().join(", ")
        );
    }
    let sizes = exported.sizes().map(ToString::to_string);
    let given = all.iter().map(|(param, _)| {
        let name = from_label(param.tensor.label());
        match is_view(param.tensor.shape().rank()) {
            true => format!("{name}.data_handle(), {name}_strides"),
            false => name,
        }
    });
    let given: Vec<String> = sizes
        .chain(given)
        .chain(workspace.map(str::to_owned))
        .collect();
    let _ = write!(
        text,
        "    return {symbol}_checked({});\n}}\n",
        given.join(", ")
    );
    Some(text)
}
