//! Devices that run grids of blocks of threads, such as GPUs.

use serde::Deserialize;
use std::path::Path;

/// A device, as far as schedules and kernels need to know it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Device {
    /// The language of its kernels.
    pub api: DeviceApi,
    /// The most threads of a block.
    pub threads: i64,
    /// The lanes of a warp: threads that run in step.
    pub warp: i64,
    /// The memory that the threads of a block share, in bytes.
    pub shared: u64,
    /// The registers of a thread, of 4 bytes each.
    pub registers: i64,
    /// The widest access of a thread to memory, in bytes.
    pub access: i64,
    /// One of its processors, if that is known.
    pub processor: Option<Processor>,
}

/// A processor of a device: what the blocks that run on it at once share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processor {
    /// The most blocks.
    pub blocks: i64,
    /// The most threads.
    pub threads: i64,
    /// The registers of all threads, of 4 bytes each.
    pub registers: i64,
    /// The memory that threads of blocks share, in bytes.
    pub shared: u64,
}

impl Processor {
    /// How many blocks run at once, with so many threads, registers of each, and shared bytes.
    pub fn blocks(&self, threads: i64, registers: i64, shared: u64) -> i64 {
        let by_threads = self.threads / threads.max(1);
        let by_registers = self.registers / threads.saturating_mul(registers).max(1);
        let by_memory = i64::try_from(self.shared / shared.max(1)).unwrap_or(i64::MAX);
        self.blocks.min(by_threads).min(by_registers).min(by_memory)
    }
}

/// How kernels of a device are written and started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceApi {
    /// CUDA C, by NVIDIA's driver.
    #[default]
    Cuda,
    /// OpenCL C.
    OpenCl,
}

impl DeviceApi {
    /// The names of all.
    pub const WORDS: &[&str] = &["cuda", "opencl"];

    /// The one of that name.
    pub fn from_word(word: &str) -> Option<DeviceApi> {
        let all = [DeviceApi::Cuda, DeviceApi::OpenCl];
        all.into_iter().find(|api| api.word() == word)
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

    /// The device of this machine: by CUDA if NVIDIA's driver is loaded, otherwise by OpenCL. The
    /// environment variable `TEML_DEVICE` names another one.
    pub fn here() -> Device {
        let named = std::env::var("TEML_DEVICE").ok();
        let named = named.and_then(|word| DeviceApi::from_word(&word));
        let has_driver = || Path::new("/dev/nvidiactl").exists();
        let found = || match has_driver() {
            true => DeviceApi::Cuda,
            false => DeviceApi::OpenCl,
        };
        Device {
            api: named.unwrap_or_else(found),
            ..Device::default()
        }
    }
}

impl Default for Device {
    /// The least of all devices of CUDA.
    fn default() -> Device {
        Device {
            api: DeviceApi::default(),
            threads: 1024,
            warp: 32,
            shared: 48 << 10,
            registers: 255,
            access: 16,
            processor: None,
        }
    }
}
