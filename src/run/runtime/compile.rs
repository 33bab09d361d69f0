//! Compiles a kernel's C text to a shared object.
//!
//! If gcc fails with an internal error, the kernel is compiled again without the optimization that
//! failed. Reference nests are compiled without most optimizations, so that they do not share the
//! miscompilations of the variants. `-ffast-math` is never set.

use super::abilities::without_openmp;
use super::cache::{self, Workplace};
use super::compiler::{Compiler, Stopped};
use super::control::Control;
use super::diagnostics;
use super::error::RuntimeError;
use super::machine_lock;
use super::measure;
use super::object;
use crate::codegen::{Kernel, unit};
use crate::target::Target;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Compiler options.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// `-O0` to `-O3`.
    pub opt_level: u8,
    /// The target of the C.
    pub target: Target,
    /// Whether `a*b + c` may become one instruction that rounds once.
    pub fp_contract: bool,
    /// Whether OpenMP directives take effect.
    pub openmp: bool,
    /// Further flags, which take precedence over the others.
    pub extra: Vec<String>,
    /// Libraries to link: paths, `-l` and `-L`.
    pub libraries: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            opt_level: 3,
            target: Target::native(),
            fp_contract: true,
            openmp: true,
            extra: Vec::new(),
            libraries: Vec::new(),
        }
    }
}

impl Options {
    /// The flags for a compiler, in order. `chooses` says whether the kernel
    /// [`chooses`](Kernel::chooses).
    pub fn flags(&self, compiler: &Compiler, chooses: bool) -> Vec<String> {
        let mut flags = self.common_flags();
        if !compiler.is_clang() {
            flags.extend(self.gcc_flags(chooses));
        }
        flags.extend(self.extra.iter().cloned());
        flags
    }

    /// The same without optimizations that reorder or combine iterations, for references.
    #[must_use]
    pub fn plain(&self) -> Options {
        // These override CFLAGS.
        let last = ["-O1", "-fno-tree-vectorize"].map(str::to_owned);
        Options {
            opt_level: 1,
            extra: self.extra.iter().cloned().chain(last).collect(),
            ..self.clone()
        }
    }

    /// The same with flags that disable optimizations, even against CFLAGS.
    #[must_use]
    pub fn cured(&self, cure: &[&str]) -> Options {
        let last = cure.iter().map(|flag| (*flag).to_owned());
        Options {
            extra: self.extra.iter().cloned().chain(last).collect(),
            ..self.clone()
        }
    }

    /// The flags that all compilers understand.
    pub fn common_flags(&self) -> Vec<String> {
        let contract = if self.fp_contract { "fast" } else { "off" };
        let mut flags = vec![
            "-std=c11".to_owned(),
            format!("-O{}", self.opt_level.min(3)),
        ];
        flags.extend(self.target.flags());
        flags.extend([
            // Compilers older than the processor tune for its predecessor, whose cost model
            // misleads them: gcc 12 reads operands of Zen 5 from memory again and again.
            "-mtune=generic".to_owned(),
            "-fPIC".to_owned(),
            "-shared".to_owned(),
            // A kernel with the name of a library function must not replace that function.
            "-fvisibility=hidden".to_owned(),
            // Integer overflow wraps, as the element types define.
            "-fwrapv".to_owned(),
            // Overrides `-ffast-math` in CFLAGS, so that results never change silently.
            "-fno-fast-math".to_owned(),
            // Nothing reads `errno`, and without it square roots need no function call.
            "-fno-math-errno".to_owned(),
            format!("-ffp-contract={contract}"),
            // Without these, missing functions would show only when the kernel is loaded.
            "-Werror=implicit-function-declaration".to_owned(),
            "-Wl,-z,defs".to_owned(),
        ]);
        if self.openmp {
            flags.push("-fopenmp".to_owned());
        }
        flags
    }

    /// The flags that only gcc understands.
    pub fn gcc_flags(&self, chooses: bool) -> Vec<String> {
        // gcc 12 splits register tiles into scalars that it then moves around.
        let mut flags = vec!["-fno-tree-sra".to_owned()];
        if self.opt_level < 2 {
            // With it, gcc 12 mixes up addresses at any level (codegen/plan/keep_order.rs).
            flags.push("-fno-ivopts".to_owned());
        }
        if chooses {
            // With it, gcc 12 computes wrong minima of selected values on AVX-512
            // (tests/code/runtime/choosing.c).
            flags.push("-fno-tree-loop-if-convert".to_owned());
        }
        flags
    }
}

/// Cures for C that a compiler gets wrong: flags that disable optimizations, the mildest first. The
/// last ones are those of [`Options::plain`].
pub const CURES: [&[&str]; 5] = [
    &["-fno-tree-slp-vectorize"],
    &["-fno-tree-forwprop"],
    &["-fno-tree-slp-vectorize", "-fno-tree-vectorize"],
    &["-O2", "-fno-tree-slp-vectorize", "-fno-tree-vectorize"],
    &["-O1", "-fno-tree-vectorize"],
];

/// A kernel's shared object, ready to run.
#[derive(Clone, Debug)]
pub struct Compiled {
    kernel: Kernel,
    path: PathBuf,
    cached: bool,
    serial: bool,
    /// The directory of a shared object that is not in the cache; removed with its last use.
    _directory: Option<Arc<Workplace>>,
}

impl Compiled {
    /// A kernel in a shared object whose directory is removed with its last use.
    pub(super) fn inside(kernel: &Kernel, path: PathBuf, directory: &Arc<Workplace>) -> Compiled {
        Compiled {
            kernel: kernel.clone(),
            path,
            cached: false,
            serial: false,
            _directory: Some(directory.clone()),
        }
    }

    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The path of the shared object.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it was in the cache already, so that no compiler ran.
    pub fn was_cached(&self) -> bool {
        self.cached
    }

    /// Whether its parallel loops run on one thread, because the compiler has no OpenMP.
    pub fn is_serial(&self) -> bool {
        self.serial
    }
}

/// The name of the function that calls a kernel with an array of arguments.
pub(super) fn entry_of(kernel: &Kernel) -> String {
    format!("teml_call_{}", kernel.symbol)
}

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
        let serial = kernel.function.contains("#pragma omp parallel");
        Ok(Compiled { serial, ..compiled })
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
        let compiled = |path, cached, directory| Compiled {
            kernel: kernel.clone(),
            path,
            cached,
            serial: false,
            _directory: directory,
        };
        let mut tried = Vec::new();
        if let Some(cache) = cache::directory(control) {
            let path = cache.join(name);
            if cache::holds(&path) {
                return Ok(compiled(path, true, None));
            }
            let build = || -> Result<(), Stopped> {
                let directory = cache::workplace(&cache)?;
                let text = (kernel.symbol.as_str(), source.as_str());
                let object = self.build(text, &arguments, directory.path(), control)?;
                cache::seal(&object)?;
                Ok(std::fs::rename(object, &path)?)
            };
            match build() {
                Ok(()) => return Ok(compiled(path, false, None)),
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
            Ok((object, directory)) => Ok(compiled(object, false, Some(Arc::new(directory)))),
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
            let _quiet = (!control.compiles_beside).then(measure::pause_measuring);
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

/// The C of kernels, followed by the functions that a worker looks up. With poisoned local tensors
/// (`-DTEML_POISON=1`), arithmetic on unset elements stops the process.
pub(super) fn with_entries(kernels: &[Kernel]) -> String {
    let mut text = unit(kernels);
    text.push_str(
        "\n\
         #if defined(TEML_POISON) && TEML_POISON == 1\n\
         #include <fenv.h>\n\
         #define TEML_BEGIN feclearexcept(FE_INVALID)\n\
         #define TEML_END if (fetestexcept(FE_INVALID)) __builtin_trap()\n\
         #else\n\
         #define TEML_BEGIN (void)0\n\
         #define TEML_END (void)0\n\
         #endif\n",
    );
    kernels
        .iter()
        .for_each(|kernel| text.push_str(&entry(kernel)));
    text
}

/// C that calls kernels of another translation unit, as a worker does.
pub(super) fn entries_apart(kernels: &[Kernel]) -> String {
    let mut text = "#define TEML_BEGIN (void)0\n#define TEML_END (void)0\n".to_owned();
    for kernel in kernels {
        // All pointers are passed alike, whatever their type.
        let pointers = vec!["void *"; kernel.params.len()].join(", ");
        let pointers = if pointers.is_empty() {
            "void"
        } else {
            &pointers
        };
        text.push_str(&format!("void {}({pointers});\n", kernel.symbol));
        text.push_str(&entry(kernel));
    }
    text
}

fn entry(kernel: &Kernel) -> String {
    let (symbol, entry) = (&kernel.symbol, entry_of(kernel));
    let arguments: Vec<String> = (0..kernel.params.len())
        .map(|k| format!("args[{k}]"))
        .collect();
    format!(
        "__attribute__((visibility(\"default\")))\nvoid {entry}(void *const *args);\n\
         void {entry}(void *const *args) {{\n    \
         (void)args;\n    TEML_BEGIN;\n    {symbol}({});\n    TEML_END;\n}}\n",
        arguments.join(", ")
    )
}
