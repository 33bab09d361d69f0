//! From a kernel's C text to a shared object.

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

/// How C is compiled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// `-O0` to `-O3`.
    pub opt_level: u8,
    /// What the C is for.
    pub target: Target,
    /// Whether `a*b + c` may become one instruction that rounds once.
    pub fp_contract: bool,
    /// Whether OpenMP directives mean something.
    pub openmp: bool,
    /// Further flags, which take precedence over the others.
    pub extra: Vec<String>,
    /// What is linked to the kernel: paths, `-l` and `-L`.
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
    /// The flags of a compiler, in order, for a kernel that [`chooses`](Kernel::chooses) or
    /// does not.
    pub fn flags(&self, compiler: &Compiler, chooses: bool) -> Vec<String> {
        let mut flags = self.common_flags();
        if !compiler.is_clang() {
            flags.extend(self.gcc_flags(chooses));
        }
        flags.extend(self.extra.iter().cloned());
        flags
    }

    /// The same without optimizations that reorder or combine iterations, for what others are
    /// compared with.
    #[must_use]
    pub fn plain(&self) -> Options {
        // Whatever CFLAGS say.
        let last = ["-O1", "-fno-tree-vectorize"].map(str::to_owned);
        Options {
            opt_level: 1,
            extra: self.extra.iter().cloned().chain(last).collect(),
            ..self.clone()
        }
    }

    /// The same with flags that take optimizations away, whatever CFLAGS say.
    #[must_use]
    pub fn cured(&self, cure: &[&str]) -> Options {
        let last = cure.iter().map(|flag| (*flag).to_owned());
        Options {
            extra: self.extra.iter().cloned().chain(last).collect(),
            ..self.clone()
        }
    }

    /// Those that all compilers have.
    pub fn common_flags(&self) -> Vec<String> {
        let contract = if self.fp_contract { "fast" } else { "off" };
        let mut flags = vec![
            "-std=c11".to_owned(),
            format!("-O{}", self.opt_level.min(3)),
        ];
        flags.extend(self.target.flags());
        flags.extend([
            // Compilers older than the processor take it for its predecessor, whose costs mislead
            // them: gcc 12 reads operands of Zen 5 from memory again and again.
            "-mtune=generic".to_owned(),
            "-fPIC".to_owned(),
            "-shared".to_owned(),
            // A kernel of the name of a library function is the kernel all the same.
            "-fvisibility=hidden".to_owned(),
            // Integer overflow wraps, as element types say.
            "-fwrapv".to_owned(),
            // CFLAGS may hold its opposite, and numbers never change silently.
            "-fno-fast-math".to_owned(),
            // Nothing reads it, and square roots need no function without it.
            "-fno-math-errno".to_owned(),
            format!("-ffp-contract={contract}"),
            // What would otherwise show only when the kernel is loaded.
            "-Werror=implicit-function-declaration".to_owned(),
            "-Wl,-z,defs".to_owned(),
        ]);
        if self.openmp {
            flags.push("-fopenmp".to_owned());
        }
        flags
    }

    /// Those that gcc alone has.
    pub fn gcc_flags(&self, chooses: bool) -> Vec<String> {
        // gcc 12 replaces tiles in registers by scalars that it then moves around.
        let mut flags = vec!["-fno-tree-sra".to_owned()];
        if self.opt_level < 2 {
            // gcc 12 mixes up addresses with it (codegen/plan/keep_order.rs), at any level.
            flags.push("-fno-ivopts".to_owned());
        }
        if chooses {
            // With it, gcc 12 gives wrong minima of selected values on AVX-512
            // (tests/code/runtime/choosing.c).
            flags.push("-fno-tree-loop-if-convert".to_owned());
        }
        flags
    }
}

/// What cures C that a compiler gets wrong: flags that take optimizations away, the mildest first.
/// The last ones are those of [`Options::plain`].
pub const CURES: [&[&str]; 5] = [
    &["-fno-tree-slp-vectorize"],
    &["-fno-tree-forwprop"],
    &["-fno-tree-slp-vectorize", "-fno-tree-vectorize"],
    &["-O2", "-fno-tree-slp-vectorize", "-fno-tree-vectorize"],
    &["-O1", "-fno-tree-vectorize"],
];

/// A kernel's shared object, ready to be run.
#[derive(Clone, Debug)]
pub struct Compiled {
    kernel: Kernel,
    path: PathBuf,
    cached: bool,
    serial: bool,
    /// The directory of a shared object that the cache could not take; removed with its last use.
    _directory: Option<Arc<Workplace>>,
}

impl Compiled {
    /// A kernel in a shared object, whose directory goes away with its last use.
    pub(super) fn inside(kernel: &Kernel, path: PathBuf, directory: &Arc<Workplace>) -> Compiled {
        Compiled {
            kernel: kernel.clone(),
            path,
            cached: false,
            serial: false,
            _directory: Some(directory.clone()),
        }
    }

    /// What was compiled.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The shared object.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it lay in the cache already, so that no compiler ran.
    pub fn was_cached(&self) -> bool {
        self.cached
    }

    /// Whether its parallel loops run on one thread, because the compiler has no OpenMP.
    pub fn is_serial(&self) -> bool {
        self.serial
    }
}

/// The name of the function that calls a kernel with the arguments of an array.
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
    /// Compiles a kernel, or takes it from the cache. Waits while something is being measured.
    ///
    /// # Errors
    /// [`RuntimeError::CompileFailed`], [`RuntimeError::CompileTimedOut`],
    /// [`RuntimeError::CompilerKilled`] or [`RuntimeError::NoCompiler`] when the compiler does not
    /// do its work, [`RuntimeError::NoStorage`] when there is no place for the result,
    /// [`RuntimeError::Interrupted`] when someone asked to stop.
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
            // gcc 12 can fail where it groups statements; vectors are written out anyway.
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

    /// The name of a kernel's shared object in the cache.
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

    /// A name for what becomes of `source` with these arguments, this compiler and this
    /// processor.
    pub fn key(&self, source: &str, arguments: &[String]) -> String {
        cache::key(source, arguments, &self.identity())
    }

    /// What the compiler gets for an input and an output.
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

    /// Compiles C, which is called `name`, in a directory.
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

/// The C of kernels and, after it, the functions that a worker looks up. With poisoned local tensors
/// (`-DTEML_POISON=1`), arithmetic on what nothing set stops the process.
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

/// C that calls kernels of another translation unit as a worker does.
pub(super) fn entries_apart(kernels: &[Kernel]) -> String {
    let mut text = "#define TEML_BEGIN (void)0\n#define TEML_END (void)0\n".to_owned();
    for kernel in kernels {
        // Pointers are passed alike, whatever they point to.
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
