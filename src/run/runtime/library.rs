//! Compiles C to a shared and a static library, and gives access to the kernels in it.

use super::abilities::without_openmp;
use super::cache::{self, Workplace};
use super::compiled::Compiled;
use super::compiler::{Compiler, Stopped};
use super::control::Control;
use super::diagnostics;
use super::entries::entries_apart;
use super::error::RuntimeError;
use super::object;
use super::options::Options;
use super::process;
use crate::codegen::Kernel;
use rayon::prelude::*;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// A library, linked from its object files.
#[derive(Clone, Debug)]
pub struct Library {
    /// Its kernels, ready to run.
    pub kernels: Vec<Compiled>,
    /// `libNAME.so`.
    pub shared: Vec<u8>,
    /// The object files, in a directory that lives as long as this.
    objects: Vec<String>,
    directory: Arc<Workplace>,
}

impl Library {
    /// `libNAME.a`; `None` if there is no `ar`, which comes with the system's assembler.
    pub fn archive(&self, control: &Control) -> Option<Vec<u8>> {
        let place = self.directory.path();
        let mut ar = Command::new("ar");
        ar.current_dir(place)
            .args(["rcs", "library.a"])
            .args(&self.objects);
        let made = process::run(&mut ar, control.compile_limit, control).ok()?;
        let is_made = made.status.success();
        is_made.then(|| std::fs::read(place.join("library.a")).ok())?
    }
}

/// C that is compiled with options of its own.
#[derive(Clone, Debug)]
pub struct Part {
    /// The name of its file, without extension.
    pub name: String,
    pub source: String,
    pub options: Options,
}

impl Compiler {
    /// Compiles `NAME.c`, which includes `NAME.h`, into a library for this processor, or for the
    /// one that CFLAGS names. It and the `parts` define `kernels`; each part has options of its own.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn library(
        &self,
        name: &str,
        (source, header): (&str, &str),
        (kernels, options): (&[Kernel], &Options),
        parts: &[Part],
        control: &Control,
    ) -> Result<Library, RuntimeError> {
        let flags = self.likely_flags(kernels, options);
        let texts = (source, header);
        match self.linked(name, texts, (kernels, &flags), parts, control) {
            Err(error @ RuntimeError::CompileFailed { .. }) => {
                let others = self.other_flags(&flags, (kernels, options), control)?;
                let flags = others.ok_or(error)?;
                self.linked(name, texts, (kernels, &flags), parts, control)
            }
            linked => linked,
        }
    }

    fn linked(
        &self,
        name: &str,
        (source, header): (&str, &str),
        (kernels, flags): (&[Kernel], &[String]),
        parts: &[Part],
        control: &Control,
    ) -> Result<Library, RuntimeError> {
        let directory = cache::temporary().map_err(storage)?;
        let place = directory.path();
        std::fs::write(place.join(format!("{name}.h")), header).map_err(storage)?;
        let run = |arguments: &[String]| self.make(name, source, arguments, place, control);
        let line = self.command_line(flags);
        let soname = format!("-Wl,-soname,lib{name}.so");
        let ends = |list: &[&str]| list.iter().map(|e| (*e).to_owned()).collect::<Vec<_>>();
        let is_of_linker = |flag: &String| flag == "-shared" || flag.starts_with("-Wl,");
        let compiles = |flags: &[String]| -> Vec<String> {
            let line = self.command_line(flags).into_iter();
            line.filter(|flag| !is_of_linker(flag)).collect()
        };
        let compiled = |of: (&str, &str, &[String])| -> Result<String, RuntimeError> {
            let (name, source, flags) = of;
            let (file, object) = (format!("{name}.c"), format!("{name}.o"));
            std::fs::write(place.join(&file), source).map_err(storage)?;
            let arguments = [compiles(flags), ends(&["-c", "-o", &object, &file])].concat();
            self.make(name, source, &arguments, place, control)?;
            Ok(object)
        };
        let of_parts: Vec<Vec<String>> = parts
            .iter()
            .map(|part| self.likely_flags(kernels, &part.options))
            .collect();
        let mut all = vec![(name, source, flags)];
        let parts = parts.iter().zip(&of_parts);
        all.extend(parts.map(|(part, flags)| (&*part.name, &*part.source, &**flags)));
        let objects = all.into_par_iter().map(compiled);
        let objects: Vec<String> = objects.collect::<Result<_, _>>()?;
        // The library's own functions come before those of the C library, such as `times`.
        let own_first = ["-Wl,-Bsymbolic", "-lm"];
        let linked = |input: &[&str]| {
            [line.clone(), ends(input), objects.clone(), ends(&own_first)].concat()
        };
        std::fs::write(place.join(ENTRIES), entries_apart(kernels)).map_err(storage)?;
        let (shared, called) = rayon::join(
            || run(&linked(&[&soname, "-o", "library.so"])),
            || run(&linked(&["-o", "callable.so", ENTRIES])),
        );
        shared.and(called)?;
        let shared = std::fs::read(place.join("library.so")).map_err(storage)?;
        let callable = place.join("callable.so");
        if let Some(doubt) = object::doubt(&callable) {
            return Err(RuntimeError::CompileFailed {
                kernel: name.to_owned(),
                compiler: self.program().display().to_string(),
                line: None,
                report: format!("it ended well, but {doubt}"),
            });
        }
        let directory = Arc::new(directory);
        let compiled = |kernel| Compiled::inside(kernel, callable.clone(), &directory);
        Ok(Library {
            kernels: kernels.iter().map(compiled).collect(),
            shared,
            objects,
            directory,
        })
    }

    /// Links archives and the C of their interface into `lib{name}`, which exports the names of a
    /// version script.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn join(
        &self,
        (soname, exports): (&str, &str),
        source: &str,
        archives: &[Vec<u8>],
        options: &Options,
        control: &Control,
    ) -> Result<Vec<u8>, RuntimeError> {
        let mut flags = options.flags(self, false);
        if !self.has_openmp(&flags, control)? {
            flags = without_openmp(&flags);
        }
        let directory = cache::temporary().map_err(storage)?;
        let place = directory.path();
        let mut line = self.command_line(&flags);
        std::fs::write(place.join(INTERFACE), source).map_err(storage)?;
        std::fs::write(place.join("exports.map"), exports).map_err(storage)?;
        let of_linker = format!("-Wl,-soname,{soname},--version-script,exports.map");
        let first = [
            &of_linker,
            "-fvisibility=default",
            "-o",
            "library.so",
            INTERFACE,
        ];
        line.extend(first.map(str::to_owned));
        line.push("-Wl,--whole-archive".to_owned());
        for (k, archive) in archives.iter().enumerate() {
            let name = format!("{k}.a");
            std::fs::write(place.join(&name), archive).map_err(storage)?;
            line.push(name);
        }
        line.extend(["-Wl,--no-whole-archive", "-lm"].map(str::to_owned));
        self.make("interface", source, &line, place, control)?;
        std::fs::read(place.join("library.so")).map_err(storage)
    }

    /// Runs the compiler on the C of the library.
    fn make(
        &self,
        name: &str,
        source: &str,
        arguments: &[String],
        place: &Path,
        control: &Control,
    ) -> Result<(), RuntimeError> {
        match self.run(name, arguments, place, control) {
            Ok(done) if done.status.success() => Ok(()),
            Ok(done) => {
                let own = self.own_flags().join(" ");
                let input = format!("{name}.c");
                let (line, report) = diagnostics::report(&done.output, &input, source, &own);
                Err(RuntimeError::CompileFailed {
                    kernel: name.to_owned(),
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

/// The C that calls the kernels of several libraries.
const INTERFACE: &str = "interface.c";

/// The C that calls its kernels. No library can have this name.
const ENTRIES: &str = "its-entries.c";

fn storage(error: io::Error) -> RuntimeError {
    RuntimeError::NoStorage {
        tried: vec![error.to_string()],
    }
}
