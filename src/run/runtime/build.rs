//! Builds shared objects: starts the compiler with given flags, in the cache or in a temporary
//! directory. `compile.rs` and `abilities.rs` choose the flags.

use super::cache::{self, Workplace};
use super::compiled::Compiled;
use super::compiler::{Compiler, Stopped};
use super::control::Control;
use super::diagnostics;
use super::entries::with_entries;
use super::error::RuntimeError;
use super::machine_lock;
use super::object;
use super::process_lock;
use crate::codegen::Kernel;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Compiler {
    /// Compiles a kernel with these flags, or takes it from the cache.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub(super) fn compile_with(
        &self,
        kernel: &Kernel,
        flags: &[String],
        libraries: &[String],
        control: &Control,
    ) -> Result<Compiled, RuntimeError> {
        let source = with_entries(std::slice::from_ref(kernel));
        let arguments =
            |input: &str, output: &str| self.arguments(flags, libraries, (input, output));
        let name = self.object_of(kernel, flags, libraries);
        let mut tried = Vec::new();
        if let Some(cache) = cache::directory(control) {
            let path = cache.join(name);
            if cache::holds(&path) {
                return Ok(Compiled::in_cache(kernel, path, true));
            }
            let build = || -> Result<(), Stopped> {
                let directory = cache::workplace(&cache)?;
                let text = (kernel.symbol.as_str(), source.as_str());
                let object = self.build(text, &arguments, directory.path(), control)?;
                cache::seal(&object)?;
                Ok(std::fs::rename(object, &path)?)
            };
            match build() {
                Ok(()) => return Ok(Compiled::in_cache(kernel, path, false)),
                Err(Stopped::Failed(error)) => return Err(error),
                Err(Stopped::Storage(error)) => {
                    tried.push(format!("`{}`: {error}", cache.display()));
                }
            }
        }
        let build = || -> Result<(PathBuf, Workplace), Stopped> {
            let directory = cache::temporary()?;
            let text = (kernel.symbol.as_str(), source.as_str());
            let object = self.build(text, &arguments, directory.path(), control)?;
            Ok((object, directory))
        };
        match build() {
            Ok((object, directory)) => Ok(Compiled::inside(kernel, object, &Arc::new(directory))),
            Err(Stopped::Failed(error)) => Err(error),
            Err(Stopped::Storage(error)) => {
                let place = std::env::temp_dir();
                tried.push(format!("`{}`: {error}", place.display()));
                Err(RuntimeError::NoStorage { tried })
            }
        }
    }

    /// The file name of a kernel's shared object in the cache.
    pub(super) fn object_of(
        &self,
        kernel: &Kernel,
        flags: &[String],
        libraries: &[String],
    ) -> String {
        let source = with_entries(std::slice::from_ref(kernel));
        let key = self.key(&source, &self.arguments(flags, libraries, ("", "")));
        format!("{key}.so")
    }

    /// A name for the result of `source` with these arguments, this compiler and this processor.
    pub fn key(&self, source: &str, arguments: &[String]) -> String {
        cache::key(source, arguments, &self.identity())
    }

    /// The compiler's arguments for an input and an output.
    pub(super) fn arguments(
        &self,
        flags: &[String],
        libraries: &[String],
        (input, output): (&str, &str),
    ) -> Vec<String> {
        let mut arguments = self.command_line(flags);
        arguments.extend(["-o", output, input].map(str::to_owned));
        arguments.extend(libraries.iter().cloned());
        arguments.push("-lm".to_owned());
        arguments
    }

    /// Compiles C under the file name `name` in a directory.
    pub(super) fn build(
        &self,
        (name, source): (&str, &str),
        arguments: &dyn Fn(&str, &str) -> Vec<String>,
        directory: &Path,
        control: &Control,
    ) -> Result<PathBuf, Stopped> {
        let (input, output) = (format!("{name}.c"), "kernel.so");
        std::fs::write(directory.join(&input), source)?;
        let outcome = {
            let _quiet = (!control.compiles_beside).then(process_lock::pause_measuring);
            let _lock = control
                .shares_machine
                .then(|| machine_lock::beside_others(control))
                .transpose()
                .map_err(Stopped::Failed)?;
            self.run(name, &arguments(&input, output), directory, control)?
        };
        let object = directory.join(output);
        let why = if outcome.status.success() {
            match object::doubt(&object) {
                None => return Ok(object),
                Some(doubt) => format!("it ended well, but {doubt}\n"),
            }
        } else {
            String::new()
        };
        if outcome.output.contains("No space left on device") {
            return Err(Stopped::Storage(io::ErrorKind::StorageFull.into()));
        }
        let own = self.own_flags().join(" ");
        let said = format!("{why}{}", outcome.output);
        let (line, report) = diagnostics::report(&said, &input, source, &own);
        Err(Stopped::Failed(RuntimeError::CompileFailed {
            kernel: name.to_owned(),
            compiler: self.program().display().to_string(),
            line,
            report,
        }))
    }
}
