//! A kernel: C text and what is needed to call it.

use crate::ir::Tensor;
use crate::legality::Proof;
use crate::target::Target;
use std::collections::BTreeSet;
use std::fmt::Write;

/// How a kernel uses one of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Only read.
    In,
    /// Written, and no element is read before it is written.
    Out,
    /// Read and then written: its contents before the call matter.
    InOut,
}

/// One argument of a kernel: a pointer to the tensor's elements, row-major.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// The tensor; it has a name.
    pub tensor: Tensor,
    /// How the kernel uses it.
    pub role: Role,
}

/// Alignment of every buffer that teml passes to a kernel, in bytes. Kernels take others, too, and
/// store past the caches only where tensors begin at a multiple of it.
pub const ALIGNMENT: usize = 64;

/// What a function needs before it in a translation unit, in the order in which it stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Header {
    /// `<math.h>`.
    Math,
    /// `<stdint.h>`.
    Integers,
    /// `<string.h>`.
    Memset,
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
    /// The functions of `functions.h`.
    Functions,
    /// The types of `casts.h`.
    Casts,
}

impl Header {
    fn text(self) -> &'static str {
        match self {
            Header::Math => "#include <math.h>\n",
            Header::Integers => "#include <stdint.h>\n",
            Header::Memset => "#include <string.h>\n",
            Header::Locals => concat!("\n", include_str!("locals.h")),
            Header::Loops => concat!("\n", include_str!("loops.h")),
            Header::Support => concat!("\n", include_str!("support.h")),
            Header::Numbers => concat!("\n", include_str!("numbers.h")),
            Header::Powers => concat!("\n", include_str!("powers.h")),
            Header::Vectors => concat!("\n", include_str!("vectors.h")),
            Header::Registers => concat!("\n", include_str!("registers.h")),
            Header::Parts => concat!("\n", include_str!("parts.h")),
            Header::Functions => concat!("\n", include_str!("functions.h")),
            Header::Casts => concat!("\n", include_str!("casts.h")),
        }
    }
}

/// One C function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The function's name.
    pub symbol: String,
    /// What it needs before it.
    pub headers: BTreeSet<Header>,
    /// Its definition in C11.
    pub function: String,
    /// The arguments, in order.
    pub params: Vec<Param>,
    /// Why it may stand for its definition.
    pub proof: Proof,
    /// The vectors that it is written for.
    pub vectors: Vectors,
}

/// What support code for vectors has to know of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vectors {
    /// The bytes of a vector register. The C is also right where they are narrower.
    pub bytes: u64,
    /// Whether the C library may have functions of vectors.
    pub has_functions: bool,
}

impl Default for Vectors {
    /// Those of the machine that this program runs on.
    fn default() -> Vectors {
        Vectors::of(&Target::native())
    }
}

impl Vectors {
    /// Those of a target.
    pub fn of(target: &Target) -> Vectors {
        Vectors {
            bytes: target.vector_bytes(),
            has_functions: target.instructions.has_vector_functions(),
        }
    }
}

impl Kernel {
    /// One that computes nothing, and links only where the C library has functions of vectors.
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
        Kernel {
            symbol: "probe".to_owned(),
            headers: needed.into_iter().collect(),
            function: format!(
                "void probe(void)\n{{\n{}{}}}\n",
                vectors("f64xn"),
                vectors("f32xn")
            ),
            params: Vec::new(),
            proof: Proof::Proved,
            vectors: Vectors::default(),
        }
    }

    /// The declaration of the function, without a semicolon; `None` if the function is not
    /// written as [`generate`](fn@super::generate) does.
    pub fn prototype(&self) -> Option<&str> {
        let start = self.function.find(&format!("void {}(", self.symbol))?;
        let rest = self.function.get(start..)?;
        rest.get(..=rest.find(")\n{")?)
    }

    /// Whether the function chooses between values: minima, maxima, selections.
    pub fn chooses(&self) -> bool {
        self.headers.contains(&Header::Numbers) || self.function.contains(" ? ")
    }

    /// A whole translation unit that defines the function.
    pub fn source(&self) -> String {
        unit(std::slice::from_ref(self))
    }
}

/// `const double (*TEML_RESTRICT A)[5]`: a pointer to the rows, to the elements for ranks 0 and 1.
pub(super) fn parameter(tensor: &Tensor, constant: bool) -> String {
    let constant = if constant { "const " } else { "" };
    let extents = tensor.shape().extents();
    let rest: String = extents.iter().skip(1).map(|e| format!("[{e}]")).collect();
    let (elem, name) = (tensor.elem().c_name(), tensor.label());
    match rest.is_empty() {
        true => format!("{constant}{elem} *TEML_RESTRICT {name}"),
        false => format!("{constant}{elem} (*TEML_RESTRICT {name}){rest}"),
    }
}

/// What C++ needs around what C defines.
pub const C_BEGINS: &str = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";

/// The end of what [`C_BEGINS`] began.
pub const C_ENDS: &str = "#ifdef __cplusplus\n}\n#endif\n";

/// What every translation unit needs, and every header with prototypes.
pub const BASE: &str = include_str!("base.h");

/// What `vectors.h` and `functions.h` ask of the targets of `kernels`.
fn vector_facts(kernels: &[Kernel]) -> String {
    let vectors = || kernels.iter().map(|k| k.vectors);
    let widest = vectors().map(|v| v.bytes).min().unwrap_or(16);
    let mut text = format!("\n// The bytes of the widest vector.\n#define TEML_WIDEST {widest}\n");
    if !vectors().all(|v| v.has_functions) {
        text.push_str("#if !defined(TEML_MVEC)\n#define TEML_MVEC 0\n#endif\n");
    }
    text
}

/// A translation unit that defines all of `kernels`.
pub fn unit(kernels: &[Kernel]) -> String {
    let headers: BTreeSet<Header> = kernels.iter().flat_map(|k| &k.headers).copied().collect();
    let mut text = format!(
        "// Generated by teml {}: C11 and C++11. No tensor may overlap another one.\n",
        env!("CARGO_PKG_VERSION")
    );
    let (system, own): (Vec<Header>, Vec<Header>) =
        headers.iter().partition(|header| **header < Header::Locals);
    system.iter().for_each(|h| text.push_str(h.text()));
    let _ = write!(text, "\n{BASE}\n{C_BEGINS}");
    if headers.contains(&Header::Vectors) {
        text.push_str(&vector_facts(kernels));
    }
    own.iter().for_each(|h| text.push_str(h.text()));
    for kernel in kernels {
        text.push('\n');
        text.push_str(&kernel.function);
    }
    let _ = write!(text, "\n{C_ENDS}");
    text
}
