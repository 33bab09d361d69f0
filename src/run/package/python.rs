//! The Python side: a package of functions on NumPy arrays, and the files that `pip install` needs.

use super::names::of_tensor;
use super::parts::{Exported, Package, Use};
use crate::ir::{Elem, Tensor};
use std::fmt::Write;

/// The file that configures pip. Nothing else is needed to build the package.
pub fn project(package: &Package) -> String {
    format!(
        "[build-system]\nrequires = []\nbuild-backend = \"teml_backend\"\nbackend-path = \
         [\"python\"]\n\n[project]\nname = \"{}\"\nversion = \"{}\"\ndescription = \"Kernels made by \
         teml\"\ndependencies = [\"numpy\"]\n",
        package.name,
        env!("CARGO_PKG_VERSION")
    )
}

/// The backend that builds the wheel.
pub fn backend(package: &Package) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let names = format!(
        "NAME, VERSION = \"{}\", \"{version}\"\nHERE = ",
        package.name
    );
    include_str!("backend.py").replacen("HERE = ", &names, 1)
}

/// The name of a kernel's tensor in the functions of the package.
fn name(exported: &Exported, tensor: &Tensor) -> String {
    let params = exported.kernel.params.iter();
    let labels: Vec<&str> = params.map(|p| p.tensor.label()).collect();
    of_tensor(tensor.label(), &labels)
}

/// The module of the package.
pub fn module(package: &Package) -> String {
    let name = &package.name;
    let symbols = package.kernels.iter().map(|e| &e.kernel.symbol);
    let symbols: Vec<String> = symbols.map(|s| format!("{s:?}")).collect();
    let mut text = format!(
        "\"\"\"Kernels made by teml, on NumPy arrays.\"\"\"\nimport ctypes\nimport pathlib\n\n\
         import numpy as np\n\n__all__ = [{}]\n\n\
         _library = ctypes.CDLL(str(pathlib.Path(__file__).with_name(\"lib{name}.so\")))\n\n\n{}",
        symbols.join(", "),
        include_str!("arrays.py")
    );
    for exported in &package.kernels {
        text.push_str(&function(exported));
    }
    text
}

fn function(exported: &Exported) -> String {
    let symbol = &exported.kernel.symbol;
    let all: Vec<_> = exported.parameters().collect();
    let name = |tensor: &Tensor| name(exported, tensor);
    let of = |wanted: &[Use]| -> Vec<String> {
        let those = all.iter().filter(|(_, used)| wanted.contains(used));
        those.map(|(param, _)| name(&param.tensor)).collect()
    };
    let given = of(&[Use::Input, Use::Update]);
    let results = of(&[Use::Result]);
    let optional = results.iter().map(|name| format!("{name}=None"));
    let mut parameters = given.clone();
    if !results.is_empty() {
        parameters.push("*".to_owned());
        parameters.extend(optional);
    }
    let mut text = format!("\n\n_{symbol} = [\n");
    for (param, used) in &all {
        let tensor = &param.tensor;
        let extents = tensor.shape().extents().iter().map(|e| format!("{e},"));
        let _ = writeln!(
            text,
            "    _Tensor(\"{}\", ({}), \"{}\", {}, {}),",
            name(tensor),
            extents.collect::<Vec<_>>().join(" "),
            dtype(tensor.elem()),
            if *used == Use::Input { "False" } else { "True" },
            tensor.alignment().unwrap_or(1)
        );
    }
    let _ = write!(
        text,
        "]\n\n\ndef {symbol}({}):\n    \"\"\"{}\"\"\"\n    tensors = _{symbol}\n",
        parameters.join(", "),
        documentation(&all, &name)
    );
    for (k, (param, used)) in all.iter().enumerate() {
        let name = name(&param.tensor);
        let is_number = param.tensor.shape().rank() == 0;
        let _ = match used {
            Use::Result => writeln!(
                text,
                "    {name} = tensors[{k}].new() if {name} is None else {name}"
            ),
            Use::Input if is_number => writeln!(
                text,
                "    {name} = np.asarray({name}, \"{}\")",
                dtype(param.tensor.elem())
            ),
            Use::Input | Use::Update => Ok(()),
        };
    }
    let names: Vec<String> = all.iter().map(|(param, _)| name(&param.tensor)).collect();
    let returned = of(&[Use::Result, Use::Update]);
    let _ = write!(
        text,
        "    _call(\"{symbol}\", tensors, [{}])\n    return {}\n",
        names.join(", "),
        returned.join(", ")
    );
    text
}

fn documentation(
    all: &[(&crate::codegen::Param, Use)],
    name: &dyn Fn(&Tensor) -> String,
) -> String {
    let line = |(param, used): &(&crate::codegen::Param, Use)| {
        let what = match used {
            Use::Input => "is read",
            Use::Update => "is read and written",
            Use::Result => "is the result; an array for it can be given",
        };
        let extents = param.tensor.shape().extents();
        let elem = dtype(param.tensor.elem());
        format!("{}: {elem} {extents:?}, {what}.", name(&param.tensor))
    };
    let lines: Vec<String> = all.iter().map(line).collect();
    lines.join("\n\n    ")
}

/// NumPy's name for an element type.
fn dtype(elem: Elem) -> &'static str {
    match elem {
        Elem::F64 => "float64",
        Elem::F32 => "float32",
        Elem::I32 => "int32",
        Elem::I64 => "int64",
    }
}
