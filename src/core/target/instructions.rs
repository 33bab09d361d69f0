//! Instruction sets, and what their vectors are.

use serde::{Deserialize, Serialize};

/// The vector instructions of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Instructions {
    /// All of x86-64.
    Sse2,
    /// Wide registers of x86-64, without integers and fused multiply-adds.
    Avx,
    /// The same with both.
    Avx2,
    /// Registers of 64 bytes, with masks.
    Avx512,
    /// All of 64-bit ARM.
    Neon,
    /// Unknown ones: what compilers make of vectors of 16 bytes.
    Portable,
}

/// What vector instructions work on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Vector {
    /// The instructions.
    pub name: &'static str,
    /// The width of a register.
    pub bytes: usize,
    /// How many registers there are.
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

    /// Those of the processor that this program runs on.
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

    /// What scripts, files and the command line call them.
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

    /// What they work on.
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

    /// Whether vectors are loaded and stored in part.
    pub fn has_masks(self) -> bool {
        matches!(
            self,
            Instructions::Avx | Instructions::Avx2 | Instructions::Avx512
        )
    }

    /// Whether stores can bypass the caches.
    pub fn has_streams(self) -> bool {
        !matches!(self, Instructions::Neon | Instructions::Portable)
    }

    /// Whether the C library may have functions of vectors.
    pub fn has_vector_functions(self) -> bool {
        self.has_streams()
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
