//! How kernels are compiled: levels, targets and flags.
//!
//! Reference nests are compiled without most optimizations, so that they do not share the
//! miscompilations of the variants. `-ffast-math` is never set.

use super::compiler::Compiler;
use crate::target::Target;

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
    /// [`chooses`](crate::codegen::Kernel::chooses).
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
