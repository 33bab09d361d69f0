//! Compiles a kernel's C text to a shared object.
//!
//! If gcc fails with an internal error, the kernel is compiled again without the optimization that
//! failed.

use super::abilities::without_openmp;
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
        let flags = options.flags(self, kernel.chooses());
        if !options.openmp {
            return self.compile_for(kernel, &flags, options, control);
        }
        if self.openmp().get() != Some(&false) {
            match self.compile_for(kernel, &flags, options, control) {
                Err(RuntimeError::CompileFailed { .. }) if !self.has_openmp(&flags, control)? => {}
                result => return result,
            }
        }
        let flags = without_openmp(&flags);
        let compiled = self.compile_for(kernel, &flags, options, control)?;
        Ok(compiled.without_openmp())
    }

    fn compile_for(
        &self,
        kernel: &Kernel,
        flags: &[String],
        options: &Options,
        control: &Control,
    ) -> Result<Compiled, RuntimeError> {
        let mut flags = flags.to_vec();
        flags.extend(self.flags_of_functions(kernel, &flags, control)?);
        match self.compile_with(kernel, &flags, &options.libraries, control) {
            // gcc 12 can fail where it groups statements (SLP). Vectors are explicit anyway.
            Err(RuntimeError::CompileFailed { report, .. })
                if report.contains("internal compiler error") && !self.is_clang() =>
            {
                flags.push("-fno-tree-slp-vectorize".to_owned());
                self.compile_with(kernel, &flags, &options.libraries, control)
            }
            result => result,
        }
    }
}
