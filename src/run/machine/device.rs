//! The device of this machine: what its driver says of it, and how fast it is at best.
//!
//! Kernels ask the driver and are timed, in the worker process like all others: this process loads no
//! driver. The facts are remembered for this machine's device.

use super::kernels;
use super::memo::{forget as forget_file, recall, remember};
use super::speed::Rates;
use crate::codegen::{self, Header, Kernel, Param, Role};
use crate::ir::{Elem, Shape, Tensor, parse_nest};
use crate::legality::Reductions;
use crate::runtime::{
    self, Budget, Control, Data, Options, RuntimeError, Scalar, View, Workload, cache_file,
    key_of_processor,
};
use crate::target::{Device, DeviceApi, DeviceRates, Processor, Target};
use std::path::{Path, PathBuf};

/// The number of facts in `device_gpu.c` and `device_opencl.c`, and of letters of the name.
const FACTS: usize = 10;
const LETTERS: usize = 96;

/// Sums of a thread that do not wait for each other, and their rounds.
const SUMS: i64 = 16;
const ROUNDS: i64 = 1024;

/// The blocks of each processor: enough to keep it busy to the end.
const BLOCKS: i64 = 16;

/// The least elements that a copy moves.
const LEAST: u64 = 16 << 20;

/// The device with an API on this machine, measured or remembered.
///
/// # Errors
/// As [`runtime::compile`] and [`runtime::measure`]: there may be no such device.
pub fn device(api: DeviceApi, control: &Control) -> Result<Device, RuntimeError> {
    if let Some(known) = known_device(api, control) {
        return Ok(known);
    }
    let mut device = facts(api, control)?;
    device.rates = rates(&device, control)?;
    remember(file(api, control).as_deref(), &device);
    Ok(device)
}

/// The device with an API on this machine, if it was measured before.
pub fn known_device(api: DeviceApi, control: &Control) -> Option<Device> {
    recall(file(api, control).as_deref())
}

/// Forgets what was measured of devices.
pub fn forget_devices(control: &Control) {
    for api in DeviceApi::ALL {
        forget_file(file(api, control).as_deref());
    }
}

/// The rates of a device: its own, or the ones that this machine remembers.
pub fn device_rates(device: &Device, control: &Control) -> Option<Rates> {
    let known = || known_device(device.api, control)?.rates;
    let rates = device.rates.or_else(known)?;
    let memory = rates.memory as f64;
    Some(Rates {
        gflops_f64: rates.f64 as f64,
        gflops_f32: rates.f32 as f64,
        read: memory,
        copy: memory,
        triad: memory,
    })
}

/// The file that remembers a device. NVIDIA's driver names its devices in the file system.
fn file(api: DeviceApi, control: &Control) -> Option<PathBuf> {
    let names = Path::new("/proc/driver/nvidia/gpus").read_dir();
    let names = names.into_iter().flatten().flatten();
    let names = names.filter_map(|of| std::fs::read_to_string(of.path().join("information")).ok());
    let models: Vec<String> = names
        .filter_map(|text| text.lines().next().map(str::to_owned))
        .collect();
    let key = key_of_processor(&format!("{} {models:?}", api.word()));
    cache_file(control, &format!("device-{key}.json"))
}

fn facts(api: DeviceApi, control: &Control) -> Result<Device, RuntimeError> {
    let (header, function) = match api {
        DeviceApi::Cuda => (Header::Cuda, include_str!("device_gpu.c")),
        DeviceApi::Hip => (Header::Hip, include_str!("device_gpu.c")),
        DeviceApi::OpenCl => (Header::OpenCl, include_str!("device_opencl.c")),
    };
    let tensor = Tensor::new(Shape::of_extents([(FACTS + LETTERS) as u64]), Elem::F64);
    let param = Param {
        tensor,
        role: Role::Out,
    };
    let kernel = Kernel {
        headers: [header, Header::Integers, Header::Support].into(),
        ..Kernel::in_c("teml_device_facts", function.to_owned(), vec![param])
    };
    let compiled = runtime::compile(&kernel, &Options::default(), control)?;
    let run = runtime::run_once(&compiled, &[Data::Unset], control)?;
    let mut numbers = Vec::new();
    if let Some(View::F64(found)) = run.outputs.iter().next().map(runtime::Buffer::view) {
        numbers.extend_from_slice(found);
    }
    Ok(described(api, &numbers))
}

/// A device, from the numbers that its driver gave. 0 is an unknown fact.
fn described(api: DeviceApi, numbers: &[f64]) -> Device {
    let fact = |k: usize| numbers.get(k).map(|n| *n as i64).filter(|n| *n > 0);
    let bytes = |k: usize| fact(k).and_then(|n| u64::try_from(n).ok());
    let letters = numbers.iter().skip(FACTS).map(|n| *n as u8 as char);
    let name: String = letters.take_while(|c| *c != '\0').collect();
    let least = Device::default();
    let processor = || {
        Some(Processor {
            blocks: fact(4)?,
            threads: fact(5)?,
            registers: fact(6)?,
            unit: Processor::UNIT,
            parts: Processor::PARTS,
            shared: bytes(7)?,
            reserved: bytes(9).unwrap_or(0),
        })
    };
    Device {
        name: Some(name.trim().to_owned()).filter(|name| !name.is_empty()),
        api,
        threads: fact(0).unwrap_or(least.threads),
        warp: fact(1).unwrap_or(least.warp),
        shared: bytes(2).unwrap_or(least.shared),
        processors: fact(3),
        processor: processor(),
        l2: bytes(8),
        ..least
    }
}

fn rates(device: &Device, control: &Control) -> Result<Option<DeviceRates>, RuntimeError> {
    let (threads, width) = (device.block(), device.access / 4);
    let each = threads * width;
    let elements = device
        .l2
        .unwrap_or(0)
        .max(LEAST)
        .div_ceil(each.unsigned_abs());
    let blocks = device.processors.unwrap_or(64) * BLOCKS;
    let (elements, count) = (elements as i64 * each, elements);
    let copy = format!(
        "f32 B[{elements}], A[{elements}]\ngrid.x for b in 0..{count}\n  block.x for i in 0..{threads}\n    \
         for j in 0..{width}\n      B[{each}*b + {width}*i + j] = 3 * A[{each}*b + {width}*i + j]\n"
    );
    let (inputs, at) = (SUMS + 2, SUMS);
    let arithmetic = |elem: Elem| {
        format!(
            "{elem} B[{0}], A[{inputs}]\ngrid.x for b in 0..{blocks}\n  block.x for i in 0..{threads}\n    \
             local {elem} s[{SUMS}]\n    for j in 0..{SUMS}\n      s[j] = A[j]\n    for t in 0..{ROUNDS}\n      \
             for k in 0..{SUMS}\n        s[k] = s[k] * A[{at}] + A[{1}]\n    B[{threads}*b + i] = 0\n    \
             for l in 0..{SUMS}\n      B[{threads}*b + i] += s[l]\n",
            blocks * threads,
            at + 1
        )
    };
    let target = Target {
        device: device.clone(),
        ..Target::native()
    };
    let texts = [copy, arithmetic(Elem::F32), arithmetic(Elem::F64)];
    let mut variants = Vec::new();
    for (k, text) in texts.iter().enumerate() {
        let symbol = format!("device_rate_{k}");
        let nest = parse_nest(text).ok();
        let kernel = nest.and_then(|nest| {
            codegen::generate_for(&[nest], &symbol, Reductions::Strict, &target).ok()
        });
        let Some(kernel) = kernel else {
            return Ok(None);
        };
        let compiled = runtime::compile(&kernel, &Options::default(), control)?;
        let data = kernel.params.iter().map(|param| match param.role {
            Role::In => Data::Constant(Scalar::Float(0.5)),
            _ => Data::Unset,
        });
        variants.push(Workload {
            label: symbol,
            kernel: compiled,
            data: data.collect(),
            threads: 1,
            apart: false,
            checked: None,
        });
    }
    let each = control.probe_time / variants.len() as u32;
    let budget = Budget {
        min_runs: 5,
        max_runs: 50,
        time: each,
        patience: 2 * each,
        enough: None,
        reached: None,
        repeats: true,
    };
    let timings = runtime::measure(&variants, &budget, &kernels::bounded(control))?;
    let operations = (2 * blocks * threads * SUMS * ROUNDS) as f64;
    let counts = [8.0 * elements as f64, operations, operations];
    let rates: Vec<u64> = timings
        .iter()
        .zip(counts)
        .map(|(timing, count)| (count / timing.min.as_secs_f64().max(1e-9) / 1e9) as u64)
        .collect();
    let [memory, f32, f64] = rates[..] else {
        return Ok(None);
    };
    Ok(Some(DeviceRates { f64, f32, memory }))
}
