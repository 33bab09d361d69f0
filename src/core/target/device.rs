//! Devices that run grids of blocks of threads, such as GPUs.

use super::Target;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A device, as far as schedules and kernels need to know it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Device {
    /// The name that its driver gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The language of its kernels.
    pub api: DeviceApi,
    /// The most threads of a block.
    pub threads: i64,
    /// The most threads of a block along z.
    pub deep: i64,
    /// The most blocks of a grid along y and along z. There is room for more along x.
    pub grid: i64,
    /// The lanes of a warp: threads that run in step.
    pub warp: i64,
    /// The memory that the threads of a block share, in bytes.
    pub shared: u64,
    /// The registers of a thread, of 4 bytes each.
    pub registers: i64,
    /// The widest access of a thread to memory, in bytes.
    pub access: i64,
    /// The number of its processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processors: Option<i64>,
    /// One of its processors, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor: Option<Processor>,
    /// The cache that all processors share, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2: Option<u64>,
    /// How fast it is at best, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<DeviceRates>,
}

/// The most that a device does, in units of 10^9 per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceRates {
    /// Operations on `f64`; a fused multiply-add counts twice.
    pub f64: u64,
    /// Operations on `f32`.
    pub f32: u64,
    /// Bytes that a copy reads and writes.
    pub memory: u64,
}

/// A processor of a device: what the blocks that run on it at once share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Processor {
    /// The most blocks.
    pub blocks: i64,
    /// The most threads.
    pub threads: i64,
    /// The registers of all threads, of 4 bytes each.
    pub registers: i64,
    /// Warps get registers in units of so many.
    #[serde(default = "Processor::unit")]
    pub unit: i64,
    /// Its parts. Each has its share of the registers, and runs its share of the warps.
    #[serde(default = "Processor::parts")]
    pub parts: i64,
    /// The memory that threads of blocks share, in bytes.
    pub shared: u64,
    /// The bytes of it that the system takes for each block.
    #[serde(default)]
    pub reserved: u64,
}

impl Processor {
    /// The unit and the parts of all devices of CUDA. No driver tells them.
    pub const UNIT: i64 = 256;
    pub const PARTS: i64 = 4;

    fn unit() -> i64 {
        Processor::UNIT
    }

    fn parts() -> i64 {
        Processor::PARTS
    }
}

/// How kernels of a device are written and started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceApi {
    /// CUDA C, by NVIDIA's driver.
    #[default]
    Cuda,
    /// OpenCL C.
    OpenCl,
    /// HIP C, by AMD's driver.
    Hip,
}

impl DeviceApi {
    /// All of them.
    pub const ALL: [DeviceApi; 3] = [DeviceApi::Cuda, DeviceApi::OpenCl, DeviceApi::Hip];

    /// The names of all.
    pub const WORDS: &[&str] = &["cuda", "opencl", "hip"];

    /// The one of that name.
    pub fn from_word(word: &str) -> Option<DeviceApi> {
        DeviceApi::ALL.into_iter().find(|api| api.word() == word)
    }

    /// The name.
    pub fn word(self) -> &'static str {
        DeviceApi::WORDS[self as usize]
    }
}

impl Device {
    /// The threads of a block that is not to fill the device alone: a quarter of the most.
    pub fn block(&self) -> i64 {
        (self.threads / 4).max(1)
    }

    /// How many blocks run on a processor at once, with so many threads, registers of each, and shared
    /// bytes, if that is known. Warps are whole.
    pub fn blocks(&self, threads: i64, registers: i64, shared: u64) -> Option<i64> {
        let processor = self.processor?;
        let (warp, unit, parts) = (
            self.warp.max(1),
            processor.unit.max(1),
            processor.parts.max(1),
        );
        let warps = (threads.saturating_add(warp - 1) / warp).max(1);
        let units = registers.saturating_mul(warp).saturating_add(unit - 1) / unit;
        let of_part = processor.registers / parts / units.saturating_mul(unit).max(1);
        let shared = shared.saturating_add(processor.reserved);
        let by_threads = processor.threads / warp / warps;
        let by_registers = of_part.saturating_mul(parts) / warps;
        let by_memory = i64::try_from(processor.shared / shared.max(1)).unwrap_or(i64::MAX);
        let blocks = by_threads.min(by_registers).min(by_memory);
        Some(processor.blocks.min(blocks))
    }

    /// The device that the environment variable `TEML_DEVICE` asks for: by a language, or by the file
    /// of a target with the facts about its device.
    ///
    /// # Errors
    /// The message says why it is neither.
    pub fn asked() -> Result<Option<Device>, String> {
        let named = std::env::var("TEML_DEVICE").unwrap_or_default();
        if named.is_empty() {
            return Ok(None);
        }
        if let Some(api) = DeviceApi::from_word(&named) {
            return Ok(Some(Device {
                api,
                ..Device::default()
            }));
        }
        let words = DeviceApi::WORDS.join(", ");
        let json = std::fs::read_to_string(&named).map_err(|error| {
            format!("TEML_DEVICE is one of {words}, or the file of a target: `{named}`: {error}")
        })?;
        let target = Target::parse(&json);
        let target = target.map_err(|why| format!("TEML_DEVICE: `{named}`: {why}"))?;
        Ok(Some(target.device))
    }

    /// The device that is asked for, or that of this machine: by CUDA if NVIDIA's driver is loaded, by
    /// HIP if AMD's is, and otherwise by OpenCL.
    pub fn here() -> Device {
        if let Ok(Some(device)) = Device::asked() {
            return device;
        }
        let drivers = [
            ("/dev/nvidiactl", DeviceApi::Cuda),
            ("/dev/kfd", DeviceApi::Hip),
        ];
        let loaded = drivers.iter().find(|(file, _)| Path::new(file).exists());
        Device {
            api: loaded.map_or(DeviceApi::OpenCl, |(_, api)| *api),
            ..Device::default()
        }
    }
}

impl Default for Device {
    /// The least of all devices of CUDA.
    fn default() -> Device {
        Device {
            name: None,
            api: DeviceApi::default(),
            threads: 1024,
            deep: 64,
            grid: 65535,
            warp: 32,
            shared: 48 << 10,
            registers: 255,
            access: 16,
            processors: None,
            processor: None,
            l2: None,
            rates: None,
        }
    }
}
