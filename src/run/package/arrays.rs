//! The functions that Python calls with arrays as they are. They check what costs little, in C, and
//! leave everything else to `arrays.py`.

use super::parts::{Exported, Package, Use, place_of};
use crate::codegen::symbol::from_label;
use crate::codegen::{c_type, definition_of_size};
use crate::ir::{Elem, Tensor};
use std::fmt::Write;

/// The C of all of them.
pub fn functions(package: &Package) -> String {
    let functions: String = package.kernels.iter().map(function).collect();
    format!(
        "\n{}\n#ifdef __ELF__{functions}#endif\n",
        include_str!("arrays.h")
    )
}

/// The name of the function for a kernel.
pub fn name(exported: &Exported) -> String {
    format!("{}_of_arrays", exported.kernel.symbol)
}

/// Of the sizes that no array tells, and of the objects: 0 after the call, 1 if there was none.
fn function(exported: &Exported) -> String {
    let all: Vec<_> = exported.parameters().collect();
    let label = |tensor: &Tensor| from_label(tensor.label());
    let told = exported.sizes().map(|size| (size, place_of(size, &all)));
    let told: Vec<_> = told.collect();
    let untold = told.iter().filter(|(_, place)| place.is_none());
    let untold = untold.map(|(size, _)| format!("int64_t {size}"));
    let objects = all
        .iter()
        .map(|(param, _)| format!("void *teml_in_{}", label(&param.tensor)));
    let parameters: Vec<String> = untold.chain(objects).collect();
    let arrays = all.iter().filter(|(param, _)| !param.tensor.is_by_value());
    let arrays: Vec<_> = arrays.map(|(param, used)| (&param.tensor, *used)).collect();
    let mut text = format!(
        "\nTEML_API int {}(\n    {})\n{{\n    teml_buffer teml_all[{}];\n    int teml_count = 0;\n    \
         const char *teml_why = \"\";\n",
        name(exported),
        parameters.join(", "),
        arrays.len().max(1)
    );
    let mut tests = Vec::new();
    for (tensor, used) in &arrays {
        let (rank, name) = (tensor.shape().rank(), label(tensor));
        let _ = writeln!(text, "    int64_t {name}_strides[{}];", rank.max(1));
        let known = match tensor.entries() {
            Some(_) => {
                let _ = writeln!(text, "    teml_facts {name}_facts;");
                format!("&{name}_facts")
            }
            None => "NULL".to_owned(),
        };
        tests.push(format!(
            "(teml_take(&teml_all[teml_count], teml_in_{name}, \"{}\", sizeof({}), {rank}, {}, \
             {name}_strides, {known}) && ++teml_count)",
            formats(tensor.elem()),
            c_type(tensor.elem()),
            u8::from(*used != Use::Input)
        ));
    }
    let numbers = all.iter().filter(|(param, _)| param.tensor.is_by_value());
    for (param, _) in numbers.clone() {
        let (elem, name) = (param.tensor.elem(), label(&param.tensor));
        let (kind, take) = match elem.is_float() {
            true => ("double", "teml_real"),
            false => ("int64_t", "teml_integer"),
        };
        let _ = writeln!(text, "    {kind} {name} = 0;");
        tests.push(format!("{take}(teml_in_{name}, &{name})"));
        if !elem.is_float() {
            tests.push(format!("{name} == ({}){name}", c_type(elem)));
        }
    }
    let _ = writeln!(
        text,
        "    if (!PyObject_GetBuffer || !teml_types[0])\n        return 1;\n    if ({}) {{",
        match tests.is_empty() {
            true => "1".to_owned(),
            false => tests.join("\n        && "),
        }
    );
    let place = |wanted: &Tensor| arrays.iter().position(|(tensor, _)| *tensor == wanted);
    for (size, place_of_size) in &told {
        if let Some((param, dimension, offset)) = place_of_size {
            let at = place(&param.tensor).unwrap_or_default();
            let _ = writeln!(
                text,
                "        const int64_t {size} = teml_all[{at}].shape[{dimension}] - {offset};"
            );
        }
    }
    for size in exported.derived_sizes() {
        let _ = writeln!(text, "        {}", definition_of_size(&size));
    }
    let mut fits = Vec::new();
    for (at, (tensor, _)) in arrays.iter().enumerate() {
        for (d, dim) in tensor.shape().dims().iter().enumerate() {
            fits.push(format!("teml_all[{at}].shape[{d}] == {dim}"));
        }
    }
    let sizes = exported.sizes().map(ToString::to_string);
    let given = all.iter().flat_map(|(param, used)| {
        let (tensor, name) = (&param.tensor, label(&param.tensor));
        if tensor.is_by_value() {
            return vec![format!("({}){name}", c_type(tensor.elem()))];
        }
        let constant = used.constant();
        let at = place(tensor).unwrap_or_default();
        let pointer = format!(
            "({constant}{} *)teml_all[{at}].memory",
            c_type(tensor.elem())
        );
        match tensor.shape().rank() {
            0 => vec![pointer],
            _ => vec![pointer, format!("{name}_strides")],
        }
    });
    let facts = exported.known().map(|of| {
        let facts = of.replace("_known", "_facts");
        format!("{facts}.are_known ? {facts}.known : NULL")
    });
    let workspace = exported.workspace_argument().map(|_| "NULL".to_owned());
    let given: Vec<String> = sizes.chain(given).chain(workspace).chain(facts).collect();
    let _ = write!(
        text,
        "        if ({}) {{\n            void *teml_thread = PyEval_SaveThread();\n            \
         teml_why = {}({});\n            PyEval_RestoreThread(teml_thread);\n        }}\n    \
         }}\n    while (teml_count)\n        PyBuffer_Release(&teml_all[--teml_count]);\n    \
         return teml_why != NULL;\n}}\n",
        match fits.is_empty() {
            true => "1".to_owned(),
            false => fits.join("\n            && "),
        },
        exported.checked_with_known(),
        given.join(", ")
    );
    text
}

/// The letters of an element type in the formats of buffers.
fn formats(elem: Elem) -> &'static str {
    match elem {
        Elem::F64 => "dd",
        Elem::F32 => "ff",
        Elem::I32 => "ii",
        Elem::I64 => "lq",
    }
}
