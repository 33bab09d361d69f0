//! Kernels for other people's programs: C with a header, and what a library, C++ and Python need
//! beside it. `write` compiles the library and puts all of it into a directory.

mod c;
mod names;
mod python;
mod write;

pub use names::{kernel_name_error, name_error};
pub use write::{NoPackage, write};

use crate::codegen::{Kernel, Param, Preamble, Role};
use crate::ir::{Nest, Tensor};

/// A kernel that a script exports.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The kernel; its symbol is the name that the script gives.
    pub kernel: Kernel,
    /// What it computes.
    pub nests: Vec<Nest>,
    /// The tensors that the kernel writes only for itself.
    pub scratch: Vec<String>,
}

/// Kernels that belong together.
#[derive(Clone, Debug)]
pub struct Package {
    /// The name of the library and of the Python package: an identifier.
    pub name: String,
    /// At least one.
    pub kernels: Vec<Exported>,
    /// What the C begins with.
    pub preamble: Preamble,
}

/// A text to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where, below the directory of the package.
    pub path: String,
    /// Its contents.
    pub text: String,
}

/// What the caller of a kernel has to do with one of its tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// It is read.
    Input,
    /// It is written, and nothing in it counts before.
    Result,
    /// It is read and written.
    Update,
    /// The kernel needs the memory, and nobody the contents.
    Scratch,
}

impl Exported {
    fn parameters(&self) -> impl Iterator<Item = (&Param, Use)> {
        self.kernel.params.iter().map(|param| {
            let is_scratch = self.scratch.iter().any(|name| name == param.tensor.label());
            let used = match param.role {
                Role::In => Use::Input,
                Role::InOut => Use::Update,
                Role::Out if is_scratch => Use::Scratch,
                Role::Out => Use::Result,
            };
            (param, used)
        })
    }
}

impl Package {
    /// The name of the C file.
    pub fn source_name(&self) -> String {
        format!("{}.c", self.name)
    }

    /// The C of all kernels after a preamble, which includes the header.
    pub fn source(&self, preamble: &Preamble) -> String {
        c::source(self, preamble)
    }

    /// The name of the header.
    pub fn header_name(&self) -> String {
        format!("{}.h", self.name)
    }

    /// The header, for C and C++.
    pub fn header(&self) -> String {
        c::header(self)
    }

    /// All texts.
    pub fn files(&self) -> Vec<File> {
        let name = &self.name;
        let file = |path: String, text: String| File { path, text };
        let example = "example";
        vec![
            file(
                format!("src/{}", self.source_name()),
                self.source(&self.preamble),
            ),
            file(format!("include/{}", self.header_name()), self.header()),
            file(format!("lib/pkgconfig/{name}.pc"), c::pkg_config(self)),
            file(format!("{example}/CMakeLists.txt"), c::cmake(self)),
            file(format!("{example}/main.cpp"), c::example(self)),
            file("pyproject.toml".to_owned(), python::project(self)),
            file("python/teml_backend.py".to_owned(), python::backend(self)),
            file(format!("python/{name}/__init__.py"), python::module(self)),
        ]
    }
}

/// `[64, 32]`, as people read it.
fn extents(tensor: &Tensor) -> String {
    let extents = tensor.shape().extents().iter();
    let texts: Vec<String> = extents.map(u64::to_string).collect();
    texts.join(" x ")
}
