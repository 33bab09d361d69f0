//! Kernels for other people's programs: C with a header, and the files that a library, C++ and
//! Python need. `write` compiles the library and puts all of it into a directory.

mod arrays;
mod blas;
mod c;
mod cpp;
mod names;
mod parts;
mod python;
mod team;
mod views;
mod workspace;
mod write;

pub use blas::{BLAS_EXPORTS, blas_source};
pub use names::{kernel_name_error, name_error};
pub use parts::{Exported, File, Package, Parameter, Version, View};
pub use views::{view_error, view_symbol};
pub use write::{NoPackage, write, write_files, write_module};

use crate::codegen::Preamble;

impl Package {
    /// The C of all kernels after a preamble, which includes the header.
    pub fn source(&self, preamble: &Preamble) -> String {
        c::source(self, preamble)
    }

    /// The header, for C and C++.
    pub fn header(&self) -> String {
        c::header(self)
    }

    /// The tensors of each kernel, as its function in Python takes them.
    pub fn parameters(&self) -> Vec<(String, Vec<Parameter>)> {
        let kernels = self.kernels.iter();
        let of = |e: &Exported| (e.kernel.symbol.clone(), python::parameters(e));
        kernels.map(of).collect()
    }

    /// All texts.
    pub fn files(&self) -> Vec<File> {
        let name = &self.name;
        let file = |path: String, text: String| File { path, text };
        let example = "example";
        let mut files = vec![
            file(
                format!("src/{}", self.source_name()),
                self.source(&self.preamble),
            ),
            file(format!("include/{}", self.header_name()), self.header()),
            file(format!("lib/pkgconfig/{name}.pc"), c::pkg_config(self)),
            file(
                format!("lib/cmake/{name}/{name}Config.cmake"),
                c::cmake_config(self),
            ),
            file(
                format!("lib/cmake/{name}/{name}ConfigVersion.cmake"),
                c::cmake_version(),
            ),
            file(format!("{example}/CMakeLists.txt"), c::cmake(self)),
            file(format!("{example}/main.cpp"), c::example(self)),
            file("pyproject.toml".to_owned(), python::project(self)),
            file("python/teml_backend.py".to_owned(), python::backend(self)),
            file(format!("python/{name}/__init__.py"), python::module(self)),
        ];
        files.extend(self.versions.iter().map(|version| {
            let path = format!("src/{name}_{}.c", version.name);
            file(path, version.source(&self.preamble))
        }));
        files
    }
}
