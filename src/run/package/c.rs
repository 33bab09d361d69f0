//! The C side: source, header, checks, and the files with which builds find them.

use super::parts::{Exported, Package, Use, extents, joined};
use super::{arrays, cpp, team, views, workspace};
use crate::codegen::symbol::from_label;
use crate::codegen::{
    BASE, C_BEGINS, C_ENDS, DEVICE_FAILURE, Kernel, Param, Preamble, apart, c_type,
    definition_of_size, passed, unit_after,
};
use crate::ir::{Name, Order, Strides, Tensor};
use std::fmt::Write;

/// The C of all kernels, and of the functions that check their arguments.
pub fn source(package: &Package, preamble: &Preamble) -> String {
    let kernels = package.kernels.iter().map(|e| &e.kernel);
    let has_versions = !package.versions.is_empty();
    let has_door = |kernel: &Kernel| has_versions || team::has_threads(kernel);
    let threaded = kernels.clone().any(has_door);
    let kernels = kernels.filter(|_| !has_versions);
    let kernels = kernels.map(|kernel| match team::has_threads(kernel) {
        true => team::hidden(kernel),
        false => kernel.clone(),
    });
    let kernels: Vec<_> = kernels.collect();
    let of_entries = types_of_entries(package);
    let has_workspace = |exported: &Exported| exported.workspace_argument().is_some();
    let has_workspace = package.kernels.iter().any(has_workspace);
    let library = match of_entries.is_empty() && !has_workspace {
        true => "",
        false => "#include <stdlib.h>\n",
    };
    // Declarations of cores and of their clocks (`team.h`).
    let extensions = match threaded {
        true => "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE 1\n#endif\n",
        false => "",
    };
    let mut text = format!(
        "{extensions}#include \"{}\"\n#include <stddef.h>\n{library}\n{}\n{C_BEGINS}\n{}",
        package.header_name(),
        unit_after(preamble, &kernels),
        include_str!("checks.h")
    );
    if !of_entries.is_empty() {
        text.push('\n');
        text.push_str(include_str!("entries.h"));
    }
    if has_workspace {
        text.push('\n');
        text.push_str(include_str!("workspace.h"));
    }
    for elem in of_entries {
        let _ = writeln!(text, "TEML_ENTRIES({elem})");
    }
    for [elem, of] in types_of_sorted(package) {
        let _ = writeln!(text, "TEML_SORTED({elem}, {of})");
    }
    if threaded {
        text.push('\n');
        text.push_str(include_str!("team.h"));
    }
    if has_versions && package.kernels.iter().any(|e| e.kernel.is_on_device()) {
        text.push('\n');
        text.push_str(DEVICE_FAILURE);
    }
    text.push_str(&team::choice(&package.versions));
    for (k, exported) in package.kernels.iter().enumerate() {
        if has_door(&exported.kernel) {
            text.push_str(&team::door(exported, k, &package.versions));
        }
        text.push_str(&workspace::functions(package, exported));
        text.push('\n');
        text.push_str(&checked(package, exported));
    }
    text.push_str(&arrays::functions(package));
    let _ = write!(text, "\n{C_ENDS}");
    text
}

/// The function that checks its arguments and then calls the kernel.
fn checked(package: &Package, exported: &Exported) -> String {
    let (function, symbol) = (&exported.kernel.symbol, exported.caller());
    let mut body = String::new();
    for name in exported.sizes() {
        let Some(size) = name.size() else { continue };
        let (least, most, multiple) = (size.least, size.most, size.multiple);
        let _ = writeln!(
            body,
            "    if ({name} < {least} || {name} > {most})\n        \
             return \"{symbol}: {name} is not in {least}..={most}\";"
        );
        if multiple > 1 {
            let _ = writeln!(
                body,
                "    if ({name} % {multiple})\n        \
                 return \"{symbol}: {name} is not a multiple of {multiple}\";"
            );
        }
    }
    for size in exported.derived_sizes() {
        let _ = writeln!(body, "    {}", definition_of_size(&size));
    }
    body.push_str(&views::calls(package, exported));
    let all: Vec<_> = exported.parameters().collect();
    let is_in_memory = |(param, _): &&(&Param, Use)| !param.tensor.is_by_value();
    let in_memory: Vec<_> = all.iter().filter(is_in_memory).collect();
    for (param, used) in &in_memory {
        let (tensor, name) = (&param.tensor, name(&param.tensor));
        let elem = c_type(tensor.elem());
        let (rank, list) = (tensor.shape().rank(), joined(tensor, ", "));
        let storage = if tensor.shape().is_sized() {
            ""
        } else {
            "static "
        };
        let (bytes, unit) = match tensor.alignment() {
            Some(bytes) => (bytes.to_string(), format!("{bytes} bytes")),
            None => (format!("sizeof({elem})"), "its elements".to_owned()),
        };
        let _ = writeln!(
            body,
            "    if (!{name})\n        return \"{symbol}: {name} is missing\";\n    \
             if ((uintptr_t){name} % {bytes})\n        \
             return \"{symbol}: {name} is not aligned to {unit}\";"
        );
        let what = match tensor.strided_in() {
            Some(Strides::All) if *used == Use::Input => "has more bytes than can be counted",
            Some(Strides::All) => "needs a place for each element",
            Some(Strides::Rows) => "needs adjacent elements in rows that do not overlap",
            None => "is not stored row after row, without gaps",
        };
        if rank > 0 {
            let fits = views::fits(tensor, *used, &format!("{name}_extents"));
            let _ = writeln!(
                body,
                "    {storage}const int64_t {name}_extents[{rank}] = {{{list}}};\n    \
                 if (teml_bytes({rank}, {name}_extents, sizeof({elem})) < 0)\n        \
                 return \"{symbol}: {name} has more bytes than can be counted\";\n    \
                 if (!{fits})\n        \
                 return \"{symbol}: {name} {what}\";"
            );
        }
    }
    for (param, _) in all.iter().filter(|pair| !is_in_memory(pair)) {
        if let Some(entries) = param.tensor.entries() {
            let (of, low, high) = (name(&param.tensor), &entries.low, &entries.high);
            let _ = writeln!(
                body,
                "    if ({of} < {low} || {of} >= {high})\n        \
                 return \"{symbol}: {of} is outside of {low}..{high}\";"
            );
        }
    }
    for (param, _) in &in_memory {
        body.push_str(&checked_entries(symbol, &param.tensor));
    }
    for (tensor, rows) in exported.sorted() {
        let [of, begins] = [tensor, rows].map(name);
        let [elem, of_rows] = [tensor, rows].map(|t| c_type(t.elem()));
        let _ = writeln!(
            body,
            "    if (!teml_sorted_{elem}_{of_rows}({of}, teml_bytes(1, {of}_extents, 1), {begins}, \
             teml_bytes(1, {begins}_extents, 1)))\n        \
             return \"{symbol}: {of} has entries in a row of {begins} that do not increase\";"
        );
    }
    let has_known = in_memory.iter().any(|(p, _)| p.tensor.entries().is_some());
    for (k, (first, used)) in in_memory.iter().enumerate() {
        for (second, other) in &in_memory[k + 1..] {
            if *used == Use::Input && *other == Use::Input {
                continue;
            }
            let (a, b) = (&first.tensor, &second.tensor);
            let _ = writeln!(
                body,
                "    if (teml_overlap({}, {}))\n        \
                 return \"{symbol}: {} and {} overlap\";",
                memory(a),
                memory(b),
                name(a),
                name(b)
            );
        }
    }
    let sizes = exported.sizes().map(Name::to_string);
    let strides = exported.kernel.strides().into_iter().map(|(_, k, d)| {
        let tensor = &exported.kernel.params[k].tensor;
        let (name, rank) = (name(tensor), tensor.shape().rank());
        format!("teml_stride({rank}, {name}_extents, {name}_strides, {d})")
    });
    let arguments = exported.all_parameters().map(|(param, used)| {
        let name = name(&param.tensor);
        match (used, param.tensor.shape().rank()) {
            (Use::Workspace, _) => workspace::place(exported, &param.tensor),
            (_, 0 | 1) => name,
            _ => format!("({}){name}", passed(param)),
        }
    });
    let others = in_memory.iter().map(|(param, _)| &param.tensor);
    let others: Vec<_> = others
        .map(|tensor| (name(tensor), memory(tensor)))
        .collect();
    body.push_str(&workspace::taken(exported, &others));
    let arguments: Vec<String> = sizes.chain(strides).chain(arguments).collect();
    let arguments = arguments.join(", ");
    let (before, reason) = match exported.kernel.is_on_device() {
        true => ("    teml_device_asks = 1;\n", "teml_device_why()"),
        false => ("", "NULL"),
    };
    let _ = writeln!(body, "{before}    {function}({arguments});");
    body.push_str(workspace::released(exported));
    let _ = writeln!(body, "    return {reason};");
    let prototype = checked_prototype(exported);
    if !has_known {
        return format!("{prototype}\n{{\n{body}}}\n");
    }
    let own = all.iter().flat_map(|(param, _)| {
        let name = name(&param.tensor);
        match param.tensor.shape().rank() {
            0 => vec![name],
            _ => vec![name.clone(), format!("{name}_strides")],
        }
    });
    let names = exported.sizes().map(Name::to_string).chain(own);
    let names = names.chain(exported.workspace_argument().map(str::to_owned));
    let all_of_them = names.chain(exported.known().map(|_| "NULL".to_owned()));
    format!(
        "static const char *{}(\n{})\n{{\n{body}}}\n\n\
         {prototype}\n{{\n    return {}({});\n}}\n",
        exported.checked_with_known(),
        [
            checked_parameters(exported),
            exported
                .known()
                .map(|of| format!("    const int64_t *{of}"))
                .collect()
        ]
        .concat()
        .join(",\n"),
        exported.checked_with_known(),
        all_of_them.collect::<Vec<_>>().join(", ")
    )
}

/// The check that entries are as the facts about them say, which proofs have used.
fn checked_entries(symbol: &str, tensor: &Tensor) -> String {
    let Some(entries) = tensor.entries() else {
        return String::new();
    };
    let (of, elem, rank) = (name(tensor), c_type(tensor.elem()), tensor.shape().rank());
    let count = match rank {
        0 => "1".to_owned(),
        rank => format!("teml_bytes({rank}, {of}_extents, 1)"),
    };
    let (low, high) = (&entries.low, &entries.high);
    let order = match entries.order {
        Order::Any => 0,
        Order::Increasing => 1,
        Order::Distinct => 2,
    };
    format!(
        "    switch (teml_entries_{elem}({of}, {count}, {low}, {high}, {order}, {of}_known)) {{\n    \
         case 1: return \"{symbol}: {of} has an entry outside of {low}..{high}\";\n    \
         case 2: return \"{symbol}: {of} has an entry less than the one before it\";\n    \
         case 3: return \"{symbol}: {of} has two equal entries\";\n    \
         case 4: return \"{symbol}: there is no memory to check {of}\";\n    \
         }}\n"
    )
}

/// The types of entries that kernels of a package check.
fn types_of_entries(package: &Package) -> Vec<&'static str> {
    let kernels = package.kernels.iter();
    let params = kernels.flat_map(|exported| exported.parameters().collect::<Vec<_>>());
    let tensors = params.map(|(param, _)| &param.tensor);
    let mut types: Vec<&str> = tensors
        .filter(|tensor| tensor.entries().is_some())
        .map(|tensor| c_type(tensor.elem()))
        .collect();
    types.sort_unstable();
    types.dedup();
    types
}

/// The types of entries that are sorted in rows, and of where rows begin.
fn types_of_sorted(package: &Package) -> Vec<[&'static str; 2]> {
    let kernels = package.kernels.iter();
    let pairs = kernels.flat_map(|exported| exported.sorted());
    let types = pairs.map(|(tensor, rows)| [tensor, rows].map(|t| c_type(t.elem())));
    let mut types: Vec<[&str; 2]> = types.collect();
    types.sort_unstable();
    types.dedup();
    types
}

/// The name of a tensor in the C.
fn name(tensor: &Tensor) -> String {
    from_label(tensor.label())
}

/// Where the memory of a tensor begins, and its bytes, in C.
fn memory(tensor: &Tensor) -> String {
    let (name, elem) = (name(tensor), c_type(tensor.elem()));
    let rank = tensor.shape().rank();
    let lies = format!("{rank}, {name}_extents, {name}_strides, sizeof({elem})");
    match (rank, tensor.strided_in()) {
        (0, _) => format!("{name}, sizeof({elem})"),
        (_, Some(Strides::All)) => {
            format!("teml_lowest({name}, {lies}), teml_reach({lies})")
        }
        (_, Some(Strides::Rows)) => format!("{name}, teml_reach({lies})"),
        (_, None) => format!("{name}, teml_bytes({rank}, {name}_extents, sizeof({elem}))"),
    }
}

fn checked_prototype(exported: &Exported) -> String {
    format!(
        "const char *{}_checked(\n{})",
        exported.kernel.symbol,
        checked_parameters(exported).join(",\n")
    )
}

fn checked_parameters(exported: &Exported) -> Vec<String> {
    let parameters = exported.parameters().map(|(param, used)| {
        let constant = used.constant();
        let (elem, name) = (c_type(param.tensor.elem()), name(&param.tensor));
        match param.tensor.shape().rank() {
            _ if param.tensor.is_by_value() => format!("    {elem} {name}"),
            0 => format!("    {constant}{elem} *{name}"),
            _ => format!("    {constant}{elem} *{name}, const int64_t *{name}_strides"),
        }
    });
    let sizes = exported.sizes().map(|name| format!("    int64_t {name}"));
    let workspace = exported.workspace_argument();
    let workspace = workspace.map(|name| format!("    void *{name}"));
    sizes.chain(parameters).chain(workspace).collect()
}

pub fn header(package: &Package) -> String {
    let mut text = format!(
        "/* Kernels made by teml {}, for C11 and C++11. Shapes are numbers, or sizes that\n \
         * are arguments. Tensors are stored row after row, without gaps unless they say so. Results\n \
         * overlap no other tensor. */\n\
         #pragma once\n#include <stdint.h>\n\n{BASE}\n\
         #define TEML_API __attribute__((visibility(\"default\")))\n\n{C_BEGINS}",
        env!("CARGO_PKG_VERSION")
    );
    for exported in &package.kernels {
        let symbol = &exported.kernel.symbol;
        let lines = exported.all_parameters().map(|(param, used)| {
            let what = match used {
                Use::Workspace => "is workspace; its contents do not matter",
                Use::Input => "is read",
                Use::Result => "is the result; its old contents do not matter",
                Use::Update => "is read and written",
            };
            let tensor = &param.tensor;
            let promised = tensor.alignment();
            let promised = promised.map_or_else(String::new, |n| format!("; aligned to {n} bytes"));
            let apart = apart(tensor).map_or_else(String::new, |text| format!("; {text}"));
            format!(
                " *   {}: {} of {}, {what}{promised}{apart}\n",
                tensor.label(),
                match tensor.shape().rank() {
                    _ if tensor.is_by_value() => "a number".to_owned(),
                    0 => "one element".to_owned(),
                    _ => extents(tensor),
                },
                c_type(tensor.elem())
            )
        });
        let views = package.views_of(exported);
        let views = views.iter().map(|(view, transposed)| {
            let layouts = match transposed.is_empty() {
                true => "all other strides".to_owned(),
                false => format!("transposed {}", transposed.join(" and ")),
            };
            format!(
                " *   The function with checks calls {} for {layouts}.\n",
                view.kernel.symbol
            )
        });
        let lines: String = lines.chain(views).collect();
        let prototype = exported.kernel.prototype().unwrap_or_default();
        let _ = write!(
            text,
            "\n/* {symbol}:\n{lines} */\nTEML_API {prototype};\n\n\
             /* The same after checks: returns NULL, or why {}. Strides count \
             elements, the leading\n * dimension first; NULL states that there are no gaps. */\n\
             TEML_API {};\n",
            match exported.kernel.is_on_device() {
                true =>
                    "it was not called or the device failed, which\n * ends the program otherwise",
                false => "it was not called",
            },
            checked_prototype(exported)
        );
        if let Some(argument) = exported.workspace_argument() {
            let _ = write!(
                text,
                "\n/* The bytes of its {argument}, or -1 if they cannot be counted. NULL for {argument} \
                 states that the\n * function allocates one. */\nTEML_API {};\n",
                workspace::prototype(exported)
            );
        }
    }
    let _ = write!(text, "\n{C_ENDS}");
    text.push_str(&cpp::overloads(package));
    text
}

/// For pkg-config.
pub fn pkg_config(package: &Package) -> String {
    let name = &package.name;
    format!(
        "prefix=${{pcfiledir}}/../..\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\n\
         Name: {name}\nDescription: Kernels made by teml\nVersion: {}\n\
         Cflags: -I${{includedir}}\nLibs: -L${{libdir}} -l{name}\nLibs.private: -fopenmp -lm\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// For `find_package` of CMake: the shared library, and the static one with what it needs.
pub fn cmake_config(package: &Package) -> String {
    let name = &package.name;
    format!(
        "# Kernels made by teml {version}: the targets {name}::{name} and {name}::{name}_static.\n\
         get_filename_component({name}_ROOT \"${{CMAKE_CURRENT_LIST_DIR}}/../../..\" ABSOLUTE)\n\
         if(NOT TARGET {name}::{name})\n  \
         add_library({name}::{name} SHARED IMPORTED)\n  \
         set_target_properties({name}::{name} PROPERTIES\n    \
         IMPORTED_LOCATION \"${{{name}_ROOT}}/lib/lib{name}.so\"\n    \
         IMPORTED_SONAME \"lib{name}.so\"\n    \
         INTERFACE_INCLUDE_DIRECTORIES \"${{{name}_ROOT}}/include\")\n  \
         add_library({name}::{name}_static STATIC IMPORTED)\n  \
         set_target_properties({name}::{name}_static PROPERTIES\n    \
         IMPORTED_LOCATION \"${{{name}_ROOT}}/lib/lib{name}.a\"\n    \
         INTERFACE_INCLUDE_DIRECTORIES \"${{{name}_ROOT}}/include\"\n    \
         INTERFACE_LINK_LIBRARIES \"-fopenmp;-lm\")\n\
         endif()\n",
        version = env!("CARGO_PKG_VERSION")
    )
}

/// The version that `find_package` compares with the one that is asked for.
pub fn cmake_version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "# Made by teml {version}\nset(PACKAGE_VERSION {version})\n\
         if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)\n  \
         set(PACKAGE_VERSION_COMPATIBLE FALSE)\nelse()\n  \
         set(PACKAGE_VERSION_COMPATIBLE TRUE)\nendif()\n"
    )
}

/// Programs that link the library, shared and static.
pub fn cmake(package: &Package) -> String {
    let name = &package.name;
    format!(
        "cmake_minimum_required(VERSION 3.10)\nproject(example CXX)\n\
         set(CMAKE_CXX_STANDARD 11)\n\
         find_package({name} REQUIRED PATHS ${{CMAKE_CURRENT_SOURCE_DIR}}/..)\n\
         add_executable(example main.cpp)\n\
         target_link_libraries(example {name}::{name})\n\
         add_executable(example_static main.cpp)\n\
         target_link_libraries(example_static {name}::{name}_static)\n"
    )
}

/// A program in C++ that calls every kernel.
pub fn example(package: &Package) -> String {
    let mut text = format!(
        "// Calls the kernels of {} once.\n#include <algorithm>\n#include <cstdio>\n#include <vector>\n#include \
         \"{}\"\n\nint main()\n{{\n",
        package.name,
        package.header_name()
    );
    for exported in &package.kernels {
        let symbol = &exported.kernel.symbol;
        text.push_str("    {\n");
        let mut arguments: Vec<String> = exported.sizes().map(Name::to_string).collect();
        let given = exported.sizes().count();
        for (name, value) in exported.kernel.sizes.iter().take(given) {
            let _ = writeln!(text, "        const int64_t {name} = {value};");
        }
        for size in exported.derived_sizes() {
            let _ = writeln!(text, "        {}", definition_of_size(&size));
        }
        let mut shown = None;
        for (param, used) in exported.parameters() {
            let (tensor, name) = (&param.tensor, name(&param.tensor));
            let (elem, count) = (c_type(tensor.elem()), tensor.shape().elements());
            if tensor.is_by_value() {
                arguments.push("1".to_owned());
                continue;
            }
            let sized = tensor.shape().is_sized().then(|| {
                let dims = tensor.shape().dims();
                let dims: Vec<String> = dims.iter().map(|dim| format!("({dim})")).collect();
                dims.join("*")
            });
            let number = sized.clone().unwrap_or_else(|| count.to_string());
            let _ = match tensor.alignment() {
                None => writeln!(text, "        std::vector<{elem}> {name}({number}, 1);"),
                Some(bytes) => writeln!(
                    text,
                    "        alignas({bytes}) static {elem} {name}[{count}];\n        \
                     std::fill_n({name}, {count}, 1);"
                ),
            };
            let pointer = match tensor.alignment() {
                None => format!("{name}.data()"),
                Some(_) => name.clone(),
            };
            arguments.push(match tensor.shape().rank() {
                0 => pointer,
                _ => format!("{pointer}, nullptr"),
            });
            if matches!(used, Use::Result | Use::Update) {
                shown = shown.or(Some(name));
            }
        }
        arguments.extend(exported.workspace_argument().map(|_| "nullptr".to_owned()));
        let _ = writeln!(
            text,
            "        const char *why = {symbol}_checked({});\n        if (why) {{\n            \
             std::puts(why);\n            return 1;\n        }}",
            arguments.join(", ")
        );
        if let Some(name) = shown {
            let _ = writeln!(
                text,
                "        std::printf(\"{symbol}: {name}[0] = %g\\n\", static_cast<double>({name}[0]));"
            );
        }
        text.push_str("    }\n");
    }
    text.push_str("}\n");
    text
}
