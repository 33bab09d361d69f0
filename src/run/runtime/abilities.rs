//! Finds out which libraries a compiler can link: OpenMP, and vector functions of the C library.
//! The first kernel that needs one is linked to find out, and the answer is kept.

use super::compiler::Compiler;
use super::control::Control;
use super::diagnostics::OPENMP;
use super::error::RuntimeError;
use crate::codegen::{Header, Kernel};

impl Compiler {
    /// Whether it has OpenMP; asked if a kernel does not compile. Without OpenMP, kernels still
    /// compile, and their parallel loops run on one thread.
    pub(super) fn has_openmp(
        &self,
        flags: &[String],
        control: &Control,
    ) -> Result<bool, RuntimeError> {
        if let Some(known) = self.openmp().get() {
            return Ok(*known);
        }
        let kernel = Kernel {
            headers: Default::default(),
            function: THREADS.to_owned(),
            ..Kernel::of_vector_functions()
        };
        let compiles = |flags: &[String]| match self.compile_with(&kernel, flags, &[], control) {
            Ok(_) => Ok(true),
            Err(RuntimeError::CompileFailed { .. }) => Ok(false),
            Err(other) => Err(other),
        };
        let found = compiles(flags)? || !compiles(&without_openmp(flags))?;
        if !found && self.openmp().set(false).is_ok() {
            (control.notice)(&format!(
                "warning: the C compiler `{}` has no OpenMP, so parallel loops run on one thread: \
                 {OPENMP}",
                self.program().display()
            ));
        }
        Ok(*self.openmp().get_or_init(|| found))
    }

    /// Whether the C library has the vector functions of its version: it can be built without them.
    /// A kernel that needs them is compiled to find out, and kept like others.
    pub(super) fn has_vector_functions(
        &self,
        flags: &[String],
        control: &Control,
    ) -> Result<bool, RuntimeError> {
        if let Some(known) = self.vector_functions().get() {
            return Ok(*known);
        }
        let found = match self.compile_with(&Kernel::of_vector_functions(), flags, &[], control) {
            Ok(_) => true,
            Err(RuntimeError::CompileFailed { .. }) => false,
            Err(other) => return Err(other),
        };
        Ok(*self.vector_functions().get_or_init(|| found))
    }

    /// The further flags that a kernel needs if the C library has no vector functions.
    pub(super) fn flags_of_functions(
        &self,
        kernel: &Kernel,
        flags: &[String],
        control: &Control,
    ) -> Result<Option<String>, RuntimeError> {
        let takes_vectors = kernel.headers.contains(&Header::Functions);
        let lacks = takes_vectors && !self.has_vector_functions(flags, control)?;
        Ok(lacks.then(|| "-DTEML_MVEC=0".to_owned()))
    }
}

/// C that links only with OpenMP.
const THREADS: &str = "\
static volatile int count;
void probe(void)
{
    #pragma omp parallel
    {
        #pragma omp critical
        count = count + 1;
    }
}
";

/// The flags for a compiler without OpenMP's library. It still reads the `simd` pragmas.
pub(super) fn without_openmp(flags: &[String]) -> Vec<String> {
    let other = |flag: &String| match flag.as_str() {
        "-fopenmp" => "-fopenmp-simd".to_owned(),
        _ => flag.clone(),
    };
    flags.iter().map(other).collect()
}
