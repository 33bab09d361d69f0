//! A trial as files: C, a driver that checks and times, data, and a Makefile, which reproduce it
//! without teml.

use super::Settings;
use super::check::all_tensors;
use super::{Cargo, Inputs, Shipped, TrialError, Variant, check_results, generate, naive, results};
use crate::codegen::symbol::from_label;
use crate::codegen::{BASE, C_BEGINS, C_ENDS, Kernel, Preamble, Role, unit_after};
use crate::ir::Tensor;
use crate::runtime::{Control, Data, Options, Place, Scalar, View, default_tolerance};
use std::fmt::Write;

/// A file to be written: its name and contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFile {
    /// The name, without directory.
    pub name: String,
    /// The contents.
    pub contents: Vec<u8>,
}

/// The files that check and time `variants` by `make run`. Every variant is compared with the
/// untransformed nest of the first one, compiled by itself without optimizations that reorder. The C of
/// the variants has a preamble, that of [`rehearse`].
///
/// # Errors
/// The variants compute different things, or there is no C.
pub fn export(
    variants: &[Variant],
    inputs: &Inputs,
    settings: &Settings,
    preamble: &Preamble,
) -> Result<Vec<ExportedFile>, TrialError> {
    let [first, others @ ..] = variants else {
        return Err(TrialError::Nothing);
    };
    for other in others {
        check_results(first, other)?;
    }
    let kernels: Vec<Kernel> = variants
        .iter()
        .map(|c| generate(c, settings))
        .collect::<Result<_, _>>()?;
    // Numbered as in a comparison, so that inputs are the same.
    let tensors = all_tensors(&kernels.iter().collect::<Vec<_>>());
    let inputs = inputs.settled(&tensors);
    let mut reference = naive(first);
    reference.label = free_label("reference", variants);
    let plain = generate(&reference, settings)?;

    let header = header(kernels.iter().chain([&plain]));
    let source = |preamble: &Preamble| {
        let unit = unit_after(preamble, &kernels);
        format!("#include \"kernels.h\"\n\n{unit}")
    };
    let mut files = vec![
        text_file("kernels.c", source(preamble)),
        text_file(
            "reference.c",
            format!(
                "// Compiled without the optimizations of kernels.c: compilers also err.\n\
                 #include \"kernels.h\"\n\n{}",
                plain.source()
            ),
        ),
        text_file("kernels.h", header),
        text_file("driver.h", include_str!("driver.h").to_owned()),
    ];
    let all: Vec<&Kernel> = kernels.iter().chain([&plain]).collect();
    let read = |tensor: &&Tensor| all.iter().any(|k| reads(k, tensor));
    let mut fills = String::new();
    for (k, tensor) in tensors.iter().filter(read).enumerate() {
        let data = inputs.data(tensor, &tensors);
        let _ = write!(fills, "{}", fill(tensor, &data, Place::Input(k)));
        if let Data::Values(values) = &data {
            let contents = bytes(values.view());
            let name = format!("{}.bin", tensor.label());
            files.push(ExportedFile { name, contents });
        }
    }
    files.push(text_file(
        "driver.c",
        driver(variants, &all, &fills, &results(first)),
    ));
    files.push(text_file(
        "Makefile",
        makefile(
            &settings.options,
            &preamble.cure,
            kernels.iter().any(Kernel::chooses),
        ),
    ));
    Ok(files)
}

/// Runs what [`export`] will write, as it is compiled there.
///
/// # Errors
/// There is no C, it fails, or its results are wrong.
pub fn rehearse(
    variants: &[Variant],
    inputs: &Inputs,
    settings: &Settings,
    control: &Control,
) -> Result<Shipped, TrialError> {
    let kernels: Vec<Kernel> = variants
        .iter()
        .map(|variant| generate(variant, settings))
        .collect::<Result<_, _>>()?;
    let cargo = Cargo {
        name: "kernels",
        source: &|preamble| unit_after(preamble, &kernels),
        header: String::new(),
        kernels: kernels.iter().cloned().zip(variants.to_vec()).collect(),
        inputs,
        settings,
    };
    cargo.ship(control)
}

fn text_file(name: &str, contents: String) -> ExportedFile {
    let (name, contents) = (name.to_owned(), contents.into_bytes());
    ExportedFile { name, contents }
}

fn reads(kernel: &Kernel, tensor: &Tensor) -> bool {
    let uses = |p: &crate::codegen::Param| p.tensor == *tensor && p.role != Role::Out;
    kernel.params.iter().any(uses)
}

/// `label`, with a number where a variant's C has that name.
fn free_label(label: &str, variants: &[Variant]) -> String {
    let taken = |name: &str| variants.iter().any(|c| from_label(&c.label) == name);
    let numbered = (2..).map(|number| format!("{label}_{number}"));
    let mut names = std::iter::once(label.to_owned()).chain(numbered);
    names.find(|name| !taken(name)).unwrap_or_default()
}

fn header<'k>(kernels: impl Iterator<Item = &'k Kernel>) -> String {
    let mut text = format!("#pragma once\n#include <stdint.h>\n\n{BASE}\n{C_BEGINS}");
    for prototype in kernels.filter_map(Kernel::prototype) {
        let _ = write!(text, "\n{prototype};\n");
    }
    let _ = write!(text, "\n{C_ENDS}");
    text
}

/// The C that allocates memory for a tensor.
fn allocate(pointer: &str, tensor: &Tensor, place: Place) -> String {
    let (elem, count) = (tensor.elem().c_name(), tensor.shape().elements());
    let start = place.start();
    format!("    {pointer} = teml_allocate({count}, sizeof({elem}), {start});\n")
}

/// The C that allocates and fills an input.
fn fill(tensor: &Tensor, data: &Data, place: Place) -> String {
    let (name, count) = (tensor.label(), tensor.shape().elements());
    let elem = tensor.elem().c_name();
    let mut c = allocate(&format!("teml_in_{name}"), tensor, place);
    let every = format!("    for (int64_t x = 0; x < {count}; x++)\n        teml_in_{name}[x] = ");
    match data {
        Data::Pattern(k) => {
            let start = k % 101 * 13 % 101;
            let step = format!("(x % 101 * 7 + {start}) % 101");
            let value = match tensor.elem().is_float() {
                true => format!("({elem})((double)({step}) / 101.0 - 0.5)"),
                false => format!("({elem})({step} - 50)"),
            };
            let _ = writeln!(c, "{every}{value};");
        }
        Data::Constant(value) => {
            let _ = writeln!(c, "{every}({elem}){};", literal(*value));
        }
        Data::Random(random) => {
            let bits = format!("teml_random(UINT64_C({}), (uint64_t)x)", random.seed());
            let value = match tensor.elem().is_float() {
                true => {
                    let (low, width) = random.floats();
                    format!("fma((double)({bits} >> 11) * 0x1p-53, {width:?}, {low:?})")
                }
                false => {
                    let (low, count) = random.integers();
                    let offset = match count {
                        0 => bits,
                        _ => format!("{bits} % UINT64_C({count})"),
                    };
                    format!("((uint64_t){} + {offset})", literal(Scalar::Integer(low)))
                }
            };
            let _ = writeln!(c, "{every}({elem}){value};");
        }
        Data::Values(_) => {
            let _ = writeln!(
                c,
                "    teml_read(\"{name}.bin\", teml_in_{name}, {count}, sizeof({elem}));"
            );
        }
        Data::Unset => {}
    }
    c
}

/// The elements as they lie in memory on the machines that teml runs on (little-endian).
fn bytes(elements: View<'_>) -> Vec<u8> {
    match elements {
        View::F64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        View::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        View::I32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        View::I64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
    }
}

/// A number as C, of any size and kind.
fn literal(value: Scalar) -> String {
    match value {
        Scalar::Float(x) if x.is_nan() => "NAN".to_owned(),
        Scalar::Float(x) if x.is_infinite() && x > 0.0 => "INFINITY".to_owned(),
        Scalar::Float(x) if x.is_infinite() => "(-INFINITY)".to_owned(),
        Scalar::Integer(i64::MIN) => "INT64_MIN".to_owned(),
        Scalar::Integer(x) => format!("INT64_C({x})"),
        Scalar::Float(_) => value.to_string(),
    }
}

/// The C that runs and compares `variants`, whose kernels are followed by the reference.
fn driver(variants: &[Variant], kernels: &[&Kernel], fills: &str, checked: &[String]) -> String {
    let reference = variants.len();
    let mut c = "// Checks and times the kernels: ./driver [RUNS]\n\
                 #include \"driver.h\"\n#include \"kernels.h\"\n\n"
        .to_owned();
    for line in fills.lines().filter(|l| l.contains(" = teml_allocate(")) {
        let name = line.trim().split(' ').next().unwrap_or("");
        let elem = line
            .rsplit("sizeof(")
            .next()
            .and_then(|t| t.split(')').next());
        let _ = writeln!(c, "static {} *{name};", elem.unwrap_or("double"));
    }
    let mut allocations = String::new();
    for (v, kernel) in kernels.iter().enumerate() {
        let mut prepare = String::new();
        let mut arguments = Vec::new();
        let mut outputs = 0;
        for param in &kernel.params {
            let (name, count) = (param.tensor.label(), param.tensor.shape().elements());
            let elem = param.tensor.elem().c_name();
            if param.role == Role::In {
                arguments.push(format!("(void *)teml_in_{name}"));
                continue;
            }
            let own = format!("teml_{v}_{name}");
            let _ = writeln!(c, "static {elem} *{own};");
            allocations += &allocate(&own, &param.tensor, Place::Output(outputs));
            outputs += 1;
            if param.role == Role::InOut {
                let _ = writeln!(
                    prepare,
                    "    memcpy({own}, teml_in_{name}, {count} * sizeof({elem}));"
                );
            }
            arguments.push(format!("(void *){own}"));
        }
        let _ = write!(
            c,
            "static void prepare_{v}(void)\n{{\n{prepare}}}\n\
             static void run_{v}(void)\n{{\n    {}({});\n}}\n\n",
            kernel.symbol,
            arguments.join(", ")
        );
    }
    c.push_str("static const struct teml_variant variants[] = {\n");
    for (v, variant) in variants.iter().enumerate() {
        let _ = writeln!(c, "    {{ {:?}, prepare_{v}, run_{v} }},", variant.label);
    }
    let _ = write!(
        c,
        "}};\n\nint main(int argc, char **argv)\n{{\n    \
         int runs = argc > 1 ? atoi(argv[1]) : 5;\n{fills}{allocations}    \
         prepare_{reference}();\n    run_{reference}();\n    \
         for (int v = 0; v < {reference}; v++) {{\n        variants[v].prepare();\n        \
         variants[v].run();\n        TEML_CHECK(variants[v].name)\n    }}\n    int wrong = 0;\n"
    );
    for (v, variant) in variants.iter().enumerate() {
        for name in checked {
            let Some(param) = kernels[v].params.iter().find(|p| p.tensor.label() == name) else {
                continue;
            };
            let (elem, count) = (param.tensor.elem(), param.tensor.shape().elements());
            let _ = writeln!(
                c,
                "    wrong |= teml_compare_{}({:?}, {name:?}, teml_{reference}_{name}, \
                 teml_{v}_{name}, {count}, {:?});",
                elem.c_name(),
                variant.label,
                default_tolerance(elem),
            );
        }
    }
    let _ = write!(
        c,
        "    if (wrong) return 1;\n    if (runs > 0) teml_time(variants, {reference}, runs);\n    \
         return 0;\n}}\n"
    );
    c
}

fn makefile(options: &Options, cure: &[String], chooses: bool) -> String {
    let not_here = ["-fPIC", "-shared", "-fvisibility=hidden", "-Wl,-z,defs"];
    let flags = |options: &Options| {
        let mut flags = options.common_flags();
        flags.retain(|f| !not_here.contains(&f.as_str()));
        flags.extend(options.extra.iter().cloned());
        flags
    };
    let mut kernels = flags(options);
    let only_gcc = |options: &Options| {
        let flags = options.gcc_flags(chooses).join(" ");
        format!("$(if $(findstring clang,$(shell $(CC) --version)),,{flags})")
    };
    kernels.push(only_gcc(options));
    kernels.extend_from_slice(cure);
    let plain = options.plain();
    let mut reference = flags(&plain);
    reference.push(only_gcc(&plain));
    format!(
        "CC ?= cc\nCFLAGS ?= {}\nREFERENCE_CFLAGS ?= {}\nRUNS ?= 5\n\n\
         run: driver\n\t./driver $(RUNS)\n\n\
         driver: driver.c kernels.c reference.o driver.h kernels.h\n\
         \t$(CC) $(CFLAGS) $(EXTRA) -o $@ driver.c kernels.c reference.o -lm\n\n\
         reference.o: reference.c kernels.h\n\
         \t$(CC) $(REFERENCE_CFLAGS) -c -o $@ reference.c\n\n\
         clean:\n\trm -f driver reference.o\n\n.PHONY: run clean\n",
        kernels.join(" "),
        reference.join(" "),
    )
}
