//! What a compiler can do beside compiling C: asked when it matters, and once.

use super::compiler::Compiler;
use super::control::Control;
use super::diagnostics::OPENMP;
use super::error::RuntimeError;
use crate::codegen::{Header, Kernel};

impl Compiler {
    /// Whether it has OpenMP, which is asked where a kernel does not compile. Without it, kernels
    /// compile all the same, and their parallel loops run on one thread.
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

    /// Whether the C library has the functions of vectors that its version tells of: it can be built
    /// without. A kernel that needs them is compiled to find out, and kept like others.
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

    /// What a kernel needs beside other flags where the C library has no functions of vectors.
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

/// C that links only where there is OpenMP.
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

/// The flags of a compiler without OpenMP's library. It still reads what loops say of vectors.
pub(super) fn without_openmp(flags: &[String]) -> Vec<String> {
    let other = |flag: &String| match flag.as_str() {
        "-fopenmp" => "-fopenmp-simd".to_owned(),
        _ => flag.clone(),
    };
    flags.iter().map(other).collect()
}
