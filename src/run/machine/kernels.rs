//! The kernels that measure a machine. They only compute, or only move data, and are compiled and
//! timed like all other kernels.

use super::Machine;
use crate::codegen::{Header, Kernel, Param, Role, c_type};
use crate::ir::{Elem, Shape, Tensor};
use crate::runtime::Control;

/// Arrays are whole numbers of pages, and so whole numbers of register blocks.
pub(super) const PAGE: u64 = 4096;

/// The rounds of `fma.c`: a run takes some milliseconds, so short that some runs of many are
/// undisturbed.
const ROUNDS: u64 = 2_000_000;

/// The bytes that the kernels that move data touch, in arrays of their own. Each run touches
/// `touched` bytes, so that caches that hold much less keep none of them.
#[derive(Clone, Copy)]
pub(super) struct Arrays {
    /// Elements of the array that all of them read.
    read: u64,
    /// Elements that a copy writes.
    copy: u64,
    /// Elements that a triad writes.
    triad: u64,
}

impl Arrays {
    /// Runs touch several times the size of the last caches of `machine`, unless all arrays would
    /// take more than `memory` bytes.
    pub(super) fn new(machine: &Machine, memory: u64) -> Arrays {
        const TIMES: u64 = 4;
        // An array that is read has all these bytes, each of a copy half, each of a triad a third.
        let touched = (TIMES * machine.last_caches()).min(memory / 11 * 6);
        let elements = |bytes: u64| bytes.max(PAGE) / PAGE * PAGE / 8;
        Arrays {
            read: elements(touched),
            copy: elements(touched / 2),
            triad: elements(touched / 3),
        }
    }

    /// Bytes that reading, a copy and a triad move.
    pub(super) fn moved(&self) -> [f64; 3] {
        [self.read, 2 * self.copy, 3 * self.triad].map(|elements| (elements * 8) as f64)
    }

    /// How many elements of its array [`read`] reads.
    pub(super) fn read(&self) -> u64 {
        self.read
    }
}

/// A control that stops a call that takes much longer than all probes should.
pub(super) fn bounded(control: &Control) -> Control {
    Control {
        run_limit: control.run_limit.min(10 * control.probe_time),
        ..control.clone()
    }
}

/// Operations that a run of [`fma`] executes with `threads` threads.
pub(super) fn operations(machine: &Machine, elem: Elem, threads: usize) -> f64 {
    let sums = if many_registers(machine) { 24 } else { 12 };
    let lanes = vector_bytes(machine) / elem.size();
    (threads * sums * lanes * 2) as f64 * ROUNDS as f64
}

/// As many multiplications and additions as the machine can execute.
pub(super) fn fma(machine: &Machine, elem: Elem) -> Kernel {
    let (name, bytes) = (c_type(elem), vector_bytes(machine));
    let many = u8::from(many_registers(machine));
    let before = format!(
        "#define ELEM {name}\n#define BYTES {bytes}\n#define MANY {many}\n#define ROUNDS {ROUNDS}\n"
    );
    let params = [param(1, elem, Role::Out), param(2, elem, Role::In)];
    kernel("teml_fma", before + include_str!("fma.c"), params, [])
}

/// Reads some elements of an array of `bytes` bytes; its last argument says how many.
pub(super) fn read(machine: &Machine, bytes: u64) -> Kernel {
    let (vector, size) = (vector_bytes(machine), bytes / 8);
    let before = format!("#define BYTES {vector}\n#define SIZE {size}\n");
    let params = [
        param(1, Elem::F64, Role::Out),
        param(size, Elem::F64, Role::In),
        param(1, Elem::F64, Role::In),
    ];
    kernel("teml_read", before + include_str!("read.c"), params, [])
}

/// How many parallel loops [`region`] begins and ends.
pub(super) const LOOPS: u64 = 100;

/// Parallel loops on all threads, with almost no work.
pub(super) fn region(machine: &Machine) -> Kernel {
    let threads = machine.threads;
    let before = format!("#define LOOPS {LOOPS}\n#define THREADS {threads}\n");
    let params = [
        param(threads as u64 * 8, Elem::F64, Role::Out),
        param(1, Elem::F64, Role::In),
    ];
    let function = include_str!("region.c");
    kernel("teml_region", before + function, params, [Header::Integers])
}

/// Reads an array and writes another one with stores that bypass the caches.
pub(super) fn copy(arrays: &Arrays) -> Kernel {
    let function = include_str!("copy.c");
    streaming("teml_copy", function, arrays.read, arrays.copy)
}

/// Reads two arrays and writes another one with stores that bypass the caches.
pub(super) fn triad(arrays: &Arrays) -> Kernel {
    let function = include_str!("triad.c");
    streaming("teml_triad", function, arrays.read, arrays.triad)
}

fn streaming(symbol: &str, function: &str, size: u64, count: u64) -> Kernel {
    let params = [
        param(count, Elem::F64, Role::Out),
        param(size, Elem::F64, Role::In),
    ];
    let before = format!("#define SIZE {size}\n#define COUNT {count}\n");
    let headers = [Header::Integers, Header::Vectors];
    kernel(symbol, before + function, params, headers)
}

fn vector_bytes(machine: &Machine) -> usize {
    machine.vector.as_ref().map_or(16, |v| v.bytes)
}

fn many_registers(machine: &Machine) -> bool {
    machine.vector.as_ref().is_some_and(|v| v.registers >= 32)
}

fn param(count: u64, elem: Elem, role: Role) -> Param {
    let tensor = Tensor::new(Shape::of_extents([count]), elem);
    Param { tensor, role }
}

fn kernel(
    symbol: &str,
    function: String,
    params: impl IntoIterator<Item = Param>,
    headers: impl IntoIterator<Item = Header>,
) -> Kernel {
    Kernel {
        headers: headers.into_iter().collect(),
        ..Kernel::in_c(symbol, function, params.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Cache;

    #[test]
    fn arrays_are_several_times_the_caches_within_their_bound() {
        let cache = Cache {
            way: None,
            level: 2,
            bytes: 6 << 20,
            count: 2,
            sharers: 1,
        };
        let machine = Machine {
            caches: vec![cache],
            ..Machine::this()
        };
        let mebibytes = |memory: u64| {
            let arrays = Arrays::new(&machine, memory);
            [arrays.read, arrays.copy, arrays.triad].map(|n| (n * 8) >> 20)
        };
        assert_eq!(mebibytes(1 << 30), [48, 24, 16]);
        assert_eq!(mebibytes(44 << 20), [24, 12, 8]);
        for memory in [10 << 20, 44 << 20, 1 << 30] {
            let arrays = Arrays::new(&machine, memory);
            assert!((arrays.read + arrays.copy + arrays.triad) * 8 <= memory);
        }
        assert!(Arrays::new(&machine, 0).moved().iter().all(|m| *m > 0.0));
    }
}
