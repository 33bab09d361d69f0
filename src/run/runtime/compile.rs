//! Compiles a kernel's C text to a shared object.
//!
//! If gcc fails with an internal error, the kernel is compiled again without the optimization that
//! failed.

use super::abilities::has_openmp;
use super::compiled::Compiled;
use super::compiler::Compiler;
use super::control::Control;
use super::error::RuntimeError;
use super::options::Options;
use crate::codegen::Kernel;

/// Compiles a kernel with the compiler of [`Compiler::find`], or takes it from the cache.
///
/// # Errors
/// As [`Compiler::find`] and [`Compiler::compile`].
pub fn compile(
    kernel: &Kernel,
    options: &Options,
    control: &Control,
) -> Result<Compiled, RuntimeError> {
    Compiler::find(control)?.compile(kernel, options, control)
}

impl Compiler {
    /// Compiles a kernel, or takes it from the cache. Waits while a measurement runs.
    ///
    /// # Errors
    /// - [`RuntimeError::CompileFailed`], [`RuntimeError::CompileTimedOut`],
    ///   [`RuntimeError::CompilerKilled`] or [`RuntimeError::NoCompiler`]: the compiler fails.
    /// - [`RuntimeError::NoStorage`]: the result cannot be stored.
    /// - [`RuntimeError::Interrupted`]: someone asked to stop.
    pub fn compile(
        &self,
        kernel: &Kernel,
        options: &Options,
        control: &Control,
    ) -> Result<Compiled, RuntimeError> {
        let all = std::slice::from_ref(kernel);
        let flags = self.likely_flags(all, options);
        let (compiled, flags) = match self.compile_for(kernel, &flags, options, control) {
            Err(error @ RuntimeError::CompileFailed { .. }) => {
                let others = self.other_flags(&flags, (all, options), control)?;
                let flags = others.ok_or(error)?;
                (self.compile_for(kernel, &flags, options, control)?, flags)
            }
            compiled => (compiled?, flags),
        };
        Ok(match options.openmp && !has_openmp(&flags) {
            true => compiled.without_openmp(),
            false => compiled,
        })
    }

    fn compile_for(
        &self,
        kernel: &Kernel,
        flags: &[String],
        options: &Options,
        control: &Control,
    ) -> Result<Compiled, RuntimeError> {
        match self.compile_with(kernel, flags, &options.libraries, control) {
            // gcc 12 can fail where it groups statements (SLP). Vectors are explicit anyway.
            Err(RuntimeError::CompileFailed { report, .. })
                if report.contains("internal compiler error") && !self.is_clang() =>
            {
                let mut flags = flags.to_vec();
                flags.push("-fno-tree-slp-vectorize".to_owned());
                self.compile_with(kernel, &flags, &options.libraries, control)
            }
            result => result,
        }
    }
}
