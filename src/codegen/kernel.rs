//! Kernels: C text, and what a caller needs to know.

use crate::elem::c_type;
use crate::ir::{Affine, Name, Strides, Tensor};
use crate::legality::Proof;
use crate::symbol::Spelling;
use crate::target::Target;
use std::collections::BTreeSet;

/// How a kernel uses one of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The kernel only reads it.
    In,
    /// The kernel writes each element before it reads it.
    Out,
    /// The kernel reads its contents from before the call, and writes it.
    InOut,
    /// Space that the kernel needs, and whose extents are sizes. Its contents before and after do not
    /// matter.
    Workspace,
}

/// An argument of a kernel: a pointer to the tensor's elements, row-major, or the number that a
/// tensor of rank 0 has if the kernel only reads it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// The tensor; it has a name.
    pub tensor: Tensor,
    /// How the kernel uses it.
    pub role: Role,
}

/// Alignment of every buffer that teml passes to a kernel, in bytes. Kernels accept any other. They
/// store past the caches only if tensors are aligned to it.
pub const ALIGNMENT: usize = 64;

/// The headers that a function may need, in the order in which a translation unit includes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Header {
    /// `<math.h>`.
    Math,
    /// `<stdint.h>`.
    Integers,
    /// `<string.h>`.
    Memset,
    /// `<omp.h>`.
    Threads,
    /// The macros of `locals.h`.
    Locals,
    /// The macros of `loops.h`.
    Loops,
    /// The functions of `support.h`.
    Support,
    /// The functions of `numbers.h`.
    Numbers,
    /// The functions of `powers.h`.
    Powers,
    /// The types of `vectors.h`.
    Vectors,
    /// The functions of `registers.h`.
    Registers,
    /// The functions of `parts.h`.
    Parts,
    /// The macros of `apart.h`.
    Apart,
    /// The functions of `functions.h`.
    Functions,
    /// The types of `casts.h`.
    Casts,
    /// The functions that start kernels by CUDA.
    Cuda,
    /// The functions that start kernels by HIP.
    Hip,
    /// The functions that start kernels by OpenCL.
    OpenCl,
}

/// The C by which a device says why it failed.
pub const DEVICE_FAILURE: &str = include_str!("device/failure.h");

impl Header {
    pub(super) const ALL: [Header; 15] = [
        Header::Math,
        Header::Integers,
        Header::Memset,
        Header::Threads,
        Header::Locals,
        Header::Loops,
        Header::Support,
        Header::Numbers,
        Header::Powers,
        Header::Vectors,
        Header::Registers,
        Header::Parts,
        Header::Apart,
        Header::Functions,
        Header::Casts,
    ];

    /// Its `#include`, if it belongs to the C library.
    pub(super) fn include(self) -> Option<&'static str> {
        match self {
            Header::Math => Some("#include <math.h>\n"),
            Header::Integers => Some("#include <stdint.h>\n"),
            Header::Memset => Some("#include <string.h>\n"),
            Header::Threads => Some("#ifdef _OPENMP\n#include <omp.h>\n#endif\n"),
            _ => None,
        }
    }

    /// Its whole text, which every kernel of a device needs.
    pub(super) fn of_device(self) -> Option<&'static str> {
        match self {
            Header::Cuda => Some(concat!(
                include_str!("device/failure.h"),
                include_str!("device/device.h"),
                "\n",
                include_str!("device/cuda.h"),
                include_str!("device/gpu.h")
            )),
            Header::Hip => Some(concat!(
                include_str!("device/failure.h"),
                include_str!("device/device.h"),
                "\n",
                include_str!("device/hip.h"),
                include_str!("device/gpu.h")
            )),
            Header::OpenCl => Some(concat!(
                include_str!("device/failure.h"),
                include_str!("device/device.h"),
                "\n",
                include_str!("device/opencl.h")
            )),
            _ => None,
        }
    }

    /// Its text, if it is teml's own.
    pub(super) fn file(self) -> Option<&'static str> {
        Some(match self {
            Header::Math | Header::Integers | Header::Memset | Header::Threads => return None,
            // These are printed as a whole.
            Header::Cuda | Header::Hip | Header::OpenCl => return None,
            Header::Locals => include_str!("locals.h"),
            Header::Loops => include_str!("loops.h"),
            Header::Support => include_str!("support.h"),
            Header::Numbers => include_str!("numbers.h"),
            Header::Powers => include_str!("powers.h"),
            Header::Vectors => include_str!("vectors.h"),
            Header::Registers => include_str!("registers.h"),
            Header::Parts => include_str!("parts.h"),
            Header::Apart => include_str!("apart.h"),
            Header::Functions => include_str!("functions.h"),
            Header::Casts => include_str!("casts.h"),
        })
    }
}

/// A C function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The function's name.
    pub symbol: String,
    /// The headers that it needs.
    pub headers: BTreeSet<Header>,
    /// Its definition in C11.
    pub function: String,
    /// The sizes, which are the first arguments, with values: those of an instance, or the likely
    /// ones.
    pub sizes: Vec<(Name, i64)>,
    /// The arguments, in order.
    pub params: Vec<Param>,
    /// The proof that it computes its definition, or why there is none.
    pub proof: Proof,
    /// The vectors that it was generated for.
    pub vectors: Vectors,
    /// Its plan, as pseudo-code; empty for hand-written C.
    pub plan: String,
}

impl Kernel {
    /// Whether a device runs it.
    pub fn is_on_device(&self) -> bool {
        self.headers
            .iter()
            .any(|header| header.of_device().is_some())
    }
}

/// Facts about the target that the support code for vectors depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vectors {
    /// The bytes of a vector register. The C is also correct on narrower ones.
    pub bytes: u64,
    /// Whether the C library may have functions of vectors.
    pub has_functions: bool,
}

impl Default for Vectors {
    /// The vectors of the machine that this program runs on.
    fn default() -> Vectors {
        Vectors::of(&Target::native())
    }
}

impl Vectors {
    /// The vectors of a target.
    pub fn of(target: &Target) -> Vectors {
        Vectors {
            bytes: target.vector_bytes(),
            has_functions: target.instructions.has_vector_functions(),
        }
    }
}

impl Kernel {
    /// The kernel at values of its sizes, with the tensors that it then has.
    #[must_use]
    pub fn at_sizes(mut self, values: &[(Name, i64)]) -> Kernel {
        let value = |name: &Name| {
            let found = values.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| *value)
        };
        for (name, number) in &mut self.sizes {
            *number = value(name).unwrap_or(*number);
        }
        for param in &mut self.params {
            param.tensor = param
                .tensor
                .at_sizes(&|name| value(name).map(Affine::constant));
        }
        self.with_gaps(0)
    }

    /// The kernel with so many elements between the rows of strided tensors, or between consecutive
    /// indices.
    #[must_use]
    pub fn with_gaps(mut self, gap: i64) -> Kernel {
        for (param, tensor) in self.params.iter().zip(spelled(&self.params)) {
            let stored = param.tensor.in_rows();
            let extents = stored.shape().extents().iter().rev();
            let mut stride: i64 = 1;
            // Every other distance that may be negative is, from the last one on.
            let turns = gap != 0 && param.tensor.strided_in() == Some(Strides::All);
            let mut backwards = turns;
            for (name, extent) in tensor.strides().iter().rev().zip(extents) {
                let extent = i64::try_from(*extent).unwrap_or(i64::MAX);
                stride = stride.saturating_mul(extent).saturating_add(gap);
                let mut sizes = self.sizes.iter_mut();
                if let Some((_, value)) = sizes.find(|(known, _)| known == name) {
                    *value = if backwards { -stride } else { stride };
                }
                backwards = turns && !backwards;
            }
        }
        self
    }

    /// The strides of all tensors, each with the argument and the dimension that it is of. They are
    /// the last sizes of the kernel.
    pub fn strides(&self) -> Vec<(Name, usize, usize)> {
        let tensors = spelled(&self.params).into_iter().enumerate();
        let each = tensors.flat_map(|(k, tensor)| {
            let strides = tensor.strides().into_iter().enumerate();
            strides.map(move |(d, name)| (name, k, d))
        });
        each.collect()
    }

    /// A kernel of hand-written C, such as a probe of the machine. It has no definition.
    pub fn in_c(symbol: &str, function: String, params: Vec<Param>) -> Kernel {
        Kernel {
            symbol: symbol.to_owned(),
            headers: BTreeSet::new(),
            function,
            sizes: Vec::new(),
            params,
            proof: Proof::Proved,
            vectors: Vectors::default(),
            plan: String::new(),
        }
    }

    /// A kernel that computes nothing, and links only if the C library has functions of vectors.
    pub fn of_vector_functions() -> Kernel {
        let needed = [
            Header::Math,
            Header::Integers,
            Header::Vectors,
            Header::Functions,
        ];
        let calls = ["tanh", "exp", "log", "sin", "cos"];
        let value = calls
            .iter()
            .fold("x".to_owned(), |x, f| format!("teml_v{f}({x})"));
        let vectors = |name: &str| {
            format!(
                "    {{\n        volatile teml_{name} v = {{0}};\n        const teml_{name} x = v;\n        \
                 v = teml_vpow({value}, x);\n    }}\n"
            )
        };
        let function = format!(
            "void probe(void)\n{{\n{}{}}}\n",
            vectors("f64xn"),
            vectors("f32xn")
        );
        Kernel {
            headers: needed.into_iter().collect(),
            ..Kernel::in_c("probe", function, Vec::new())
        }
    }

    /// The declaration of the function, without a semicolon. `None` if it does not have the form
    /// that [`generate`](fn@super::generate) prints.
    pub fn prototype(&self) -> Option<&str> {
        let start = self.function.find(&format!("void {}(", self.symbol))?;
        let rest = self.function.get(start..)?;
        rest.get(..=rest.find(")\n{")?)
    }

    /// Whether the function may compute with integer elements.
    pub fn has_integers(&self) -> bool {
        let of_elements = |param: &Param| !param.tensor.elem().is_float();
        let types = ["int32_t", "(int64_t)", "(int64_t,", "teml_lanes("];
        self.params.iter().any(of_elements) || types.iter().any(|name| self.function.contains(name))
    }

    /// Whether the function chooses between values: minima, maxima, selections.
    pub fn chooses(&self) -> bool {
        self.headers.contains(&Header::Numbers) || self.function.contains(" ? ")
    }
}

/// The tensors of arguments, with their names in C.
pub(super) fn spelled(params: &[Param]) -> Vec<Tensor> {
    let names = params.iter().filter_map(|param| param.tensor.name());
    let spelling = Spelling::of(names, std::iter::empty::<&Name>(), false);
    params.iter().map(|p| spelling.tensor(&p.tensor)).collect()
}

/// `const double (*)[5]`, or `double`: the type of what a kernel gets.
pub fn passed(param: &Param) -> String {
    let constant = match param.role {
        Role::In => "const ",
        _ => "",
    };
    let elem = c_type(param.tensor.elem());
    if param.tensor.is_by_value() {
        return elem.to_owned();
    }
    let extents = match param.tensor.is_strided() {
        true => &[],
        false => param.tensor.shape().numbers().unwrap_or_default(),
    };
    let rest: String = extents.iter().skip(1).map(|e| format!("[{e}]")).collect();
    if rest.is_empty() {
        format!("{constant}{elem} *")
    } else {
        format!("{constant}{elem} (*){rest}")
    }
}

/// How a strided tensor lies in memory, for comments: `rows at distance ldA`.
pub fn apart(tensor: &Tensor) -> Option<String> {
    let what = match tensor.strided_in()? {
        Strides::Rows => "rows",
        Strides::All => "indices",
    };
    let strides = tensor.strides();
    let strides: Vec<&str> = strides.iter().map(Name::as_str).collect();
    (!strides.is_empty()).then(|| format!("{what} at distance {}", strides.join(", ")))
}

/// `const double (*TEML_RESTRICT A)[5] /* A[8][5] */`: a pointer to the rows, or to the elements
/// for ranks 0 and 1, or a number. In C++ only this form can say that nothing else aliases it.
pub(super) fn parameter(tensor: &Tensor, constant: bool) -> String {
    let constant = if constant { "const " } else { "" };
    let (elem, name) = (c_type(tensor.elem()), tensor.label());
    if tensor.is_by_value() {
        return format!("{elem} {name}");
    }
    if let Some(apart) = apart(tensor) {
        return format!("{constant}{elem} *TEML_RESTRICT {name} /* {tensor}, {apart} */");
    }
    let Some(extents) = tensor.shape().numbers() else {
        return format!("{constant}{elem} *TEML_RESTRICT {name} /* {tensor} */");
    };
    let rest: String = extents.iter().skip(1).map(|e| format!("[{e}]")).collect();
    match extents {
        [] => format!("{constant}{elem} *TEML_RESTRICT {name}"),
        [first] => format!("{constant}{elem} *TEML_RESTRICT {name} /* {name}[{first}] */"),
        [first, ..] => {
            format!("{constant}{elem} (*TEML_RESTRICT {name}){rest} /* {name}[{first}]{rest} */")
        }
    }
}
