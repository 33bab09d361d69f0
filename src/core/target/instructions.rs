//! Instruction sets, and their vector registers.

use serde::{Deserialize, Serialize};

/// The vector instructions of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Instructions {
    /// The baseline of x86-64.
    Sse2,
    /// Wide registers of x86-64, without integer operations and fused multiply-add.
    Avx,
    /// Wide registers of x86-64, with integer operations and fused multiply-add.
    Avx2,
    /// Registers of 64 bytes, with masks.
    Avx512,
    /// The baseline of 64-bit ARM.
    Neon,
    /// Unknown instructions: vectors of 16 bytes, which the compiler translates.
    Portable,
}

/// The vector registers of an instruction set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Vector {
    /// The name of the instruction set, for messages.
    pub name: &'static str,
    /// The width of a register.
    pub bytes: usize,
    /// The number of registers.
    pub registers: usize,
}

impl Instructions {
    /// All of them.
    pub const ALL: [Instructions; 6] = [
        Instructions::Sse2,
        Instructions::Avx,
        Instructions::Avx2,
        Instructions::Avx512,
        Instructions::Neon,
        Instructions::Portable,
    ];

    /// The instruction set of the current processor.
    pub fn here() -> Instructions {
        #[cfg(target_arch = "x86_64")]
        return if is_x86_feature_detected!("avx512f") {
            Instructions::Avx512
        } else if is_x86_feature_detected!("avx2") {
            Instructions::Avx2
        } else if is_x86_feature_detected!("avx") {
            Instructions::Avx
        } else {
            Instructions::Sse2
        };
        #[cfg(target_arch = "aarch64")]
        return Instructions::Neon;
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return Instructions::Portable;
    }

    /// The name in scripts, files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Instructions::Sse2 => "sse2",
            Instructions::Avx => "avx",
            Instructions::Avx2 => "avx2",
            Instructions::Avx512 => "avx512",
            Instructions::Neon => "neon",
            Instructions::Portable => "portable",
        }
    }

    /// The vector registers.
    pub fn vector(self) -> Vector {
        let (name, bytes, registers) = match self {
            Instructions::Sse2 => ("SSE2", 16, 16),
            Instructions::Avx => ("AVX", 32, 16),
            Instructions::Avx2 => ("AVX2", 32, 16),
            Instructions::Avx512 => ("AVX-512", 64, 32),
            Instructions::Neon => ("NEON", 16, 32),
            Instructions::Portable => ("vectors", 16, 16),
        };
        Vector {
            name,
            bytes,
            registers,
        }
    }

    /// Whether there are masked loads and stores.
    pub fn has_masks(self) -> bool {
        matches!(
            self,
            Instructions::Avx | Instructions::Avx2 | Instructions::Avx512
        )
    }

    /// Whether lanes of 64-bit integers are multiplied in less time than one by one.
    pub fn has_wide_products(self) -> bool {
        matches!(self, Instructions::Avx2 | Instructions::Avx512)
    }

    /// Whether lanes of integers of all sizes are compared.
    pub fn compares_integers(self) -> bool {
        !matches!(self, Instructions::Sse2 | Instructions::Portable)
    }

    /// Whether stores can bypass the caches.
    pub fn has_streams(self) -> bool {
        !matches!(self, Instructions::Neon | Instructions::Portable)
    }

    /// Whether the C library may have vector functions for it.
    pub fn has_vector_functions(self) -> bool {
        self.has_streams()
    }

    /// The features that code for them needs of a processor, as `__builtin_cpu_supports` calls them.
    /// `None` if programs cannot ask.
    pub fn features(self) -> Option<&'static [&'static str]> {
        match self {
            Instructions::Sse2 => Some(&[]),
            Instructions::Avx => Some(&["avx"]),
            Instructions::Avx2 => Some(&["avx2", "fma", "bmi", "bmi2"]),
            Instructions::Avx512 => {
                Some(&["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"])
            }
            Instructions::Neon | Instructions::Portable => None,
        }
    }

    /// The compiler flags that select them.
    pub(super) fn flags(self) -> impl Iterator<Item = &'static str> {
        let flag = match self {
            Instructions::Sse2 => Some("-march=x86-64"),
            Instructions::Avx => Some("-march=sandybridge"),
            Instructions::Avx2 => Some("-march=x86-64-v3"),
            Instructions::Avx512 => Some("-march=x86-64-v4"),
            Instructions::Neon => Some("-march=armv8-a"),
            Instructions::Portable => None,
        };
        flag.into_iter()
    }
}
