//! The assembly of a kernel, in which each instruction refers to its line of C.

use super::cache;
use super::compiler::{Compiler, Stopped};
use super::control::Control;
use super::diagnostics;
use super::error::RuntimeError;
use super::options::Options;
use crate::codegen::Kernel;

impl Compiler {
    /// The assembly of a kernel as text, with `.loc` directives that name lines of
    /// [`Kernel::source`].
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn assembly(
        &self,
        kernel: &Kernel,
        options: &Options,
        control: &Control,
    ) -> Result<String, RuntimeError> {
        let storage = |error: std::io::Error| RuntimeError::NoStorage {
            tried: vec![error.to_string()],
        };
        let directory = cache::temporary();
        let directory = directory.map_err(storage)?;
        let (input, output) = (format!("{}.c", kernel.symbol), "kernel.s");
        let source = kernel.source();
        std::fs::write(directory.path().join(&input), &source).map_err(storage)?;
        let flags = options.flags(self, kernel.chooses());
        let mut arguments = self.command_line(&flags);
        arguments.retain(|flag| flag != "-shared");
        // The compiler would drop hidden functions without callers.
        arguments.push("-fvisibility=default".to_owned());
        arguments.extend(["-g1", "-S", "-o", output, &input].map(str::to_owned));
        match self.run(&kernel.symbol, &arguments, directory.path(), control) {
            Ok(done) if done.status.success() => {
                std::fs::read_to_string(directory.path().join(output)).map_err(storage)
            }
            Ok(done) => {
                let own = self.own_flags().join(" ");
                let (line, report) = diagnostics::report(&done.output, &input, &source, &own);
                Err(RuntimeError::CompileFailed {
                    kernel: kernel.symbol.clone(),
                    compiler: self.program().display().to_string(),
                    line,
                    report,
                })
            }
            Err(Stopped::Failed(error)) => Err(error),
            Err(Stopped::Storage(error)) => Err(storage(error)),
        }
    }
}
