//! The Python side: a package of functions on NumPy arrays, and the files that `pip install` needs.

use super::arrays;
use super::names::of_tensor;
use super::parts::{Exported, Package, Parameter, Use, place_of};
use crate::codegen::Header;
use crate::ir::{Affine, Elem, Name, Strides, Tensor};
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

/// The tensors of a kernel, as its function in the package takes them.
pub fn parameters(exported: &Exported) -> Vec<Parameter> {
    let all = exported.parameters();
    let of = |(param, used): (&crate::codegen::Param, Use)| Parameter {
        label: param.tensor.label().to_owned(),
        name: name(exported, &param.tensor),
        is_given: used != Use::Result,
        is_returned: used != Use::Input,
    };
    all.map(of).collect()
}

/// The module of the package.
pub fn module(package: &Package) -> String {
    let name = &package.name;
    let symbols = package.kernels.iter().map(|e| &e.kernel.symbol);
    let symbols: Vec<String> = symbols.map(|s| format!("{s:?}")).collect();
    let on_device = package.kernels.iter().filter(|e| takes_addresses(e));
    let on_device: Vec<String> = on_device
        .map(|e| format!("{:?}", e.kernel.symbol))
        .collect();
    let has_hip = |e: &Exported| e.kernel.headers.contains(&Header::Hip);
    let mut text = format!(
        "\"\"\"Kernels made by teml, on NumPy arrays.\"\"\"\nimport ctypes\nimport pathlib\nimport sys\n\
         import types\n\nimport numpy as np\n\n__all__ = [{}]\n\n\
         # The kernels that also take arrays in memory of a device.\n_ON_DEVICE = [{}]\n_BY_HIP = {}\n\
         _PATH = str(pathlib.Path(__file__).with_name(\"lib{name}.so\"))\n{}{}",
        symbols.join(", "),
        on_device.join(", "),
        match package.kernels.iter().any(has_hip) {
            true => "True",
            false => "False",
        },
        include_str!("arrays.py"),
        include_str!("device.py"),
    );
    for exported in &package.kernels {
        text.push_str(&function(package, exported));
    }
    text
}

/// Whether a kernel runs on a device whose memory has addresses, as CUDA's and HIP's does.
fn takes_addresses(exported: &Exported) -> bool {
    let headers = &exported.kernel.headers;
    headers.contains(&Header::Cuda) || headers.contains(&Header::Hip)
}

fn function(package: &Package, exported: &Exported) -> String {
    let symbol = &exported.kernel.symbol;
    let all: Vec<_> = exported.parameters().collect();
    // The workspace comes last.
    let whole: Vec<_> = exported.all_parameters().collect();
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
    let (mut listed, mut listed_ranges) = (String::new(), String::new());
    for (param, used) in &whole {
        let tensor = &param.tensor;
        let dims = tensor.shape().dims();
        let extents = dims.iter().map(|dim| format!("{},", expression(dim)));
        let _ = writeln!(
            listed,
            "    _Tensor(\"{}\", ({}), \"{}\", {}, {}, {}{}),",
            name(tensor),
            extents.collect::<Vec<_>>().join(" "),
            dtype(tensor.elem()),
            if *used == Use::Input { "False" } else { "True" },
            tensor.alignment().unwrap_or(1),
            match tensor.strided_in() {
                Some(Strides::All) => "\"all\"",
                Some(Strides::Rows) => "\"rows\"",
                None => "None",
            },
            tensor.entries().map_or_else(String::new, |entries| {
                let ends = [&entries.low, &entries.high].map(expression);
                let [low, high] = ends;
                let mut sorted = exported.sorted();
                let rows = sorted.find(|(of, _)| of == &tensor);
                let rows = rows.map_or_else(
                    || "None".to_owned(),
                    |(_, rows)| format!("\"{}\"", name(rows)),
                );
                format!(", ({low}, {high}, \"{}\", {rows})", entries.order.word())
            })
        );
    }
    let sizes: Vec<&Name> = exported.sizes().collect();
    let (mut found, mut guessed, mut untold) = (String::new(), String::new(), Vec::new());
    for size in &sizes {
        let facts = size.size();
        let range = facts.map_or_else(String::new, |facts| {
            let (least, most, multiple) = (facts.least, facts.most, facts.multiple);
            format!(
                "    _in_range(\"{symbol}\", \"{size}\", {size}, {least}, {most}, {multiple})\n"
            )
        });
        match place_of(size, &all) {
            Some((param, d, offset)) => {
                let (array, rank) = (name(&param.tensor), param.tensor.shape().rank());
                let _ = writeln!(
                    found,
                    "    {size} = _extent(\"{symbol}\", \"{array}\", {array}, {rank}, {d}, {offset})"
                );
                let less = match offset {
                    0 => String::new(),
                    offset => format!(" - {offset}"),
                };
                let _ = writeln!(guessed, "        {size} = {array}.shape[{d}]{less}");
                found.push_str(&range);
            }
            None => {
                parameters.extend((!parameters.contains(&"*".to_owned())).then(|| "*".to_owned()));
                parameters.push(size.to_string());
                untold.push(size.to_string());
                // Before the quick call, since C has fewer integers than Python.
                let _ = write!(listed_ranges, "{range}");
            }
        }
    }
    let documented = documentation(&all, &name);
    let head = format!(
        "def {symbol}({}):\n    \"\"\"{documented}\"\"\"\n{listed_ranges}",
        parameters.join(", ")
    );
    let quick = quick_function(exported, &all, (&guessed, &untold), &parameters);
    let given_by_name = |parameter: &String| match parameter.strip_suffix("=None") {
        Some(name) => format!("{name}={name}"),
        None => parameter.clone(),
    };
    let handed = parameters.iter().filter(|p| *p != "*").map(given_by_name);
    let named = untold.iter().map(|size| format!("{size}={size}"));
    let handed = handed.filter(|p| !untold.contains(p)).chain(named);
    let handed = handed.collect::<Vec<_>>().join(", ");
    // Checks of arrays in C save nothing before a launch.
    let is_quick = !takes_addresses(exported);
    let mut made = String::new();
    if is_quick {
        made = format!(
            "    made = _{symbol}_at_once({handed})\n    if made is not None:\n        return made\n"
        );
    }
    let mut text = if sizes.is_empty() {
        format!("\n\n_{symbol} = [\n{listed}]\n\n\n{head}{made}    tensors = _{symbol}\n")
    } else {
        format!("\n\n{head}{made}{found}    tensors = [\n{listed}    ]\n")
    };
    let types = vec!["_Integer"; untold.len()].into_iter();
    let types = types.chain(vec!["_Object"; all.len()]);
    if is_quick {
        text = format!(
            "\n\n_{symbol}_of_arrays = _quick(\"{}\", [{}])\n\n\n{quick}{text}",
            arrays::name(exported),
            types.collect::<Vec<_>>().join(", ")
        );
    }
    // Results are in the memory that the other tensors are in.
    let mut like = Vec::new();
    if takes_addresses(exported) {
        like = [vec![format!("{symbol:?}")], given].concat();
    }
    for (k, (param, used)) in whole.iter().enumerate() {
        let name = name(&param.tensor);
        let _ = match used {
            Use::Workspace => writeln!(text, "    {name} = tensors[{k}].new({})", like.join(", ")),
            Use::Result => writeln!(
                text,
                "    {name} = tensors[{k}].new({}) if {name} is None else {name}",
                like.join(", ")
            ),
            Use::Input if param.tensor.is_by_value() => writeln!(
                text,
                "    {name} = _number(\"{symbol}\", \"{name}\", {name}, \"{}\")",
                dtype(param.tensor.elem())
            ),
            Use::Input | Use::Update => Ok(()),
        };
    }
    let names: Vec<String> = whole.iter().map(|(param, _)| name(&param.tensor)).collect();
    let returned = of(&[Use::Result, Use::Update]);
    let views = package.views_of(exported);
    if !views.is_empty() && is_quick {
        let view = |(view, transposed): &(&Exported, &[String])| {
            let among = all.iter().map(|(param, _)| &param.tensor);
            let among = among.filter(|tensor| transposed.iter().any(|t| t == tensor.label()));
            let names: String = among
                .map(|tensor| format!("\"{}\", ", name(tensor)))
                .collect();
            format!("({names}): \"{}\"", view.kernel.symbol)
        };
        let _ = write!(
            text,
            "    views = {{{}}}\n    \
             if _called_as_view(\"{symbol}\", tensors, [{}], views, dict({})):\n        return {}\n",
            views.iter().map(view).collect::<Vec<_>>().join(", "),
            names[..all.len()].join(", "),
            untold
                .iter()
                .map(|size| format!("{size}={size}"))
                .collect::<Vec<_>>()
                .join(", "),
            returned.join(", ")
        );
    }
    let _ = write!(
        text,
        "    _call(\"{symbol}\", tensors, [{}], [{}])\n    return {}\n",
        names.join(", "),
        sizes
            .iter()
            .map(|size| size.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        returned.join(", ")
    );
    text
}

/// The function that calls C with arrays as they are, and returns nothing if it cannot. Results that
/// nobody gives are new arrays, which NumPy aligns to 16 bytes.
fn quick_function(
    exported: &Exported,
    all: &[(&crate::codegen::Param, Use)],
    (guessed, untold): (&str, &[String]),
    parameters: &[String],
) -> String {
    let name = |tensor: &Tensor| name(exported, tensor);
    let results: Vec<_> = all
        .iter()
        .filter(|(_, used)| *used == Use::Result)
        .collect();
    let is_aligned = |(param, _): &&&(&crate::codegen::Param, Use)| {
        param.tensor.alignment().is_some_and(|bytes| bytes > 16)
    };
    let symbol = &exported.kernel.symbol;
    let parameters = parameters.join(", ");
    let mut text = format!("def _{symbol}_at_once({parameters}):\n    try:\n{guessed}");
    let mut made = Vec::new();
    for (param, _) in &results {
        let (tensor, given) = (&param.tensor, name(&param.tensor));
        let dims = tensor.shape().dims();
        let extents: Vec<String> = dims
            .iter()
            .map(|dim| format!("{},", expression(dim)))
            .collect();
        let new = match results.iter().any(|result| is_aligned(&result)) {
            true => "None".to_owned(),
            false => format!(
                "np.empty(({}), _{})",
                extents.join(" "),
                dtype(tensor.elem())
            ),
        };
        let _ = writeln!(
            text,
            "        teml_{given} = {new} if {given} is None else {given}"
        );
        made.push(given);
    }
    let one = |tensor: &Tensor| {
        let given = name(tensor);
        if made.contains(&given) {
            // No tensor has such a name.
            format!("teml_{given}")
        } else {
            given
        }
    };
    let objects = all.iter().map(|(param, _)| one(&param.tensor));
    let arguments: Vec<String> = untold.iter().cloned().chain(objects).collect();
    let returned = all.iter().filter(|(_, used)| *used != Use::Input);
    let returned: Vec<String> = returned.map(|(param, _)| one(&param.tensor)).collect();
    let _ = write!(
        text,
        "        if not _{}_of_arrays({}):\n            return {}\n    except _SLOW:\n        pass\n    return None\n",
        symbol,
        arguments.join(", "),
        returned.join(", ")
    );
    text
}

/// An expression of sizes in Python.
fn expression(affine: &Affine) -> String {
    let term = |(name, c): &(Name, i64)| {
        let value = match name.size().and_then(|size| size.of.as_ref()) {
            None => name.to_string(),
            Some(of) => {
                let sum = of.terms.iter().map(|(name, c)| {
                    format!("{c}*{}", expression(&Affine::iterator(name.clone())))
                });
                let sum: Vec<String> = sum.chain([of.offset.to_string()]).collect();
                format!("(({}) // {})", sum.join(" + "), of.divisor)
            }
        };
        match c {
            1 => value,
            c => format!("{c}*{value}"),
        }
    };
    let terms: Vec<String> = affine.terms().iter().map(term).collect();
    match (terms.is_empty(), affine.offset()) {
        (true, offset) => offset.to_string(),
        (false, 0) => terms.join(" + "),
        (false, offset) => format!("{} + {offset}", terms.join(" + ")),
    }
}

fn documentation(
    all: &[(&crate::codegen::Param, Use)],
    name: &dyn Fn(&Tensor) -> String,
) -> String {
    let line = |(param, used): &(&crate::codegen::Param, Use)| {
        let what = match used {
            Use::Input => "is read",
            Use::Update => "is read and written",
            Use::Result | Use::Workspace => "is the result; an array for it can be given",
        };
        let elem = dtype(param.tensor.elem());
        let shape = match param.tensor.is_by_value() {
            true => "number".to_owned(),
            false => param.tensor.shape().to_string(),
        };
        format!("{}: {elem} {shape}, {what}.", name(&param.tensor))
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
