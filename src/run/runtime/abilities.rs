//! Finds out which libraries a compiler can link: OpenMP, and vector functions of the C library.
//! Both are taken to be there until C does not compile. Then a probe is linked, and the answer is
//! kept.

use super::compiler::Compiler;
use super::control::Control;
use super::diagnostics::OPENMP;
use super::error::RuntimeError;
use super::options::Options;
use crate::codegen::{Header, Kernel};

impl Compiler {
    /// The flags for the C of kernels, unless a library turns out to be missing.
    pub(super) fn likely_flags(&self, kernels: &[Kernel], options: &Options) -> Vec<String> {
        let mut flags = options.flags(self, kernels.iter().any(Kernel::chooses));
        if options.openmp && self.openmp().get() == Some(&false) {
            flags = without_openmp(&flags);
        }
        if need_functions(kernels) && self.vector_functions().get() == Some(&false) {
            flags.push(WITHOUT_FUNCTIONS.to_owned());
        }
        flags
    }

    /// The flags for C that does not compile with the `tried` ones; `None` if no library is missing
    /// that it needs.
    pub(super) fn other_flags(
        &self,
        tried: &[String],
        (kernels, options): (&[Kernel], &Options),
        control: &Control,
    ) -> Result<Option<Vec<String>>, RuntimeError> {
        if options.openmp {
            self.has_openmp(&options.flags(self, false), control)?;
        }
        if need_functions(kernels) {
            self.has_vector_functions(&self.likely_flags(&[], options), control)?;
        }
        let flags = self.likely_flags(kernels, options);
        Ok((flags != tried).then_some(flags))
    }

    /// Whether it has OpenMP. Without OpenMP, kernels still compile, and their parallel loops run
    /// on one thread.
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
    fn has_vector_functions(
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
}

fn need_functions(kernels: &[Kernel]) -> bool {
    let mut headers = kernels.iter().map(|kernel| &kernel.headers);
    headers.any(|headers| headers.contains(&Header::Functions))
}

/// The flag for C libraries without vector functions.
const WITHOUT_FUNCTIONS: &str = "-DTEML_MVEC=0";

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

/// Whether flags link OpenMP's library.
pub(super) fn has_openmp(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag == "-fopenmp")
}
