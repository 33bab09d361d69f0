//! Targets of generated C: vectors, registers, caches, and the flags that select them.
//!
//! A target has a name (`avx2`), or is described in JSON by an instruction set and further facts:
//!
//! ```json
//! {"name": "laptop", "instructions": "avx2", "l1": 32768, "l2": 524288, "l3": 8388608, "threads": 4}
//! ```
//!
//! Unknown facts are `None`. Callers then assume the least that processors have. How a core executes
//! instructions has a default, which is overridden figure by figure (`pipeline.rs`).

mod device;
mod instructions;
mod pipeline;

pub use device::{Device, DeviceApi, DeviceRates, Processor};
pub use instructions::{Instructions, Vector};
pub use pipeline::Pipeline;

use serde::Deserialize;

/// The bytes of a cache line, unless a target has another size.
pub const LINE: u64 = 64;

/// The smallest level-2 cache, in bytes: 256 KiB.
const LEAST_L2: u64 = 1 << 18;

/// A processor that kernels run on, with the compiler flags that select it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The name in messages and tables.
    pub name: String,
    /// Its instruction set, which determines its vectors and registers.
    pub instructions: Instructions,
    /// The bytes of a cache line.
    #[serde(default = "line")]
    pub line: u64,
    /// The size of a level-1 data cache, in bytes.
    #[serde(default)]
    pub l1: Option<u64>,
    /// The bytes of one of its ways: lines that are so far apart share a set.
    #[serde(default)]
    pub l1_way: Option<u64>,
    /// The size of a level-2 cache, in bytes.
    #[serde(default)]
    pub l2: Option<u64>,
    /// The size of a level-3 cache, in bytes.
    #[serde(default)]
    pub l3: Option<u64>,
    /// The number of threads that run at a time.
    #[serde(default)]
    pub threads: Option<u16>,
    /// The cost of a parallel region: the number of vector operations that one thread executes
    /// while a parallel loop begins and ends.
    #[serde(default)]
    pub region_operations: Option<u64>,
    /// How a core executes instructions.
    #[serde(default)]
    pub pipeline: Pipeline,
    /// The device beside it, which runs nests with bound loops.
    #[serde(default)]
    pub device: Device,
    /// The flags that select it. If empty, the flags of its instruction set.
    #[serde(default)]
    pub flags: Vec<String>,
}

fn line() -> u64 {
    LINE
}

/// The name of the machine that this program runs on.
const NATIVE: &str = "native";

impl Target {
    /// The current machine, as far as the processor itself reports its properties.
    pub fn native() -> Target {
        Target {
            flags: vec!["-march=native".to_owned()],
            device: Device::here(),
            ..Target::of(NATIVE, Instructions::here())
        }
    }

    fn of(name: &str, instructions: Instructions) -> Target {
        Target {
            name: name.to_owned(),
            instructions,
            line: LINE,
            l1: None,
            l1_way: None,
            l2: None,
            l3: None,
            threads: None,
            region_operations: None,
            pipeline: Pipeline::default(),
            device: Device::default(),
            flags: Vec::new(),
        }
    }

    /// The target of that name, if there is one.
    pub fn named(name: &str) -> Option<Target> {
        if name == NATIVE {
            return Some(Target::native());
        }
        if let Some(api) = DeviceApi::from_word(name) {
            let mut target = Target::native();
            target.device.api = api;
            return Some(target);
        }
        let known = Instructions::ALL.into_iter().find(|i| i.name() == name)?;
        Some(Target::of(name, known))
    }

    /// The names of all predefined targets.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Instructions::ALL
            .map(Instructions::name)
            .into_iter()
            .chain(DeviceApi::WORDS.iter().copied())
            .chain([NATIVE])
    }

    /// Parses a target in JSON.
    ///
    /// # Errors
    /// The message says why the text does not describe a target.
    pub fn parse(json: &str) -> Result<Target, String> {
        let target: Target = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if let Some(figure) = target.pipeline.not_positive() {
            return Err(format!("`{figure}` of `pipeline` is not positive"));
        }
        let is_line = target.line.is_power_of_two() && (16..=1024).contains(&target.line);
        match is_line && target.name != NATIVE {
            true => Ok(target),
            false if target.name == NATIVE => Err(format!("`{NATIVE}` is this machine")),
            false => Err("`line` is not a power of two from 16 to 1024".to_owned()),
        }
    }

    /// The text of a file that describes a device, beside a processor like this one.
    pub fn file(device: &Device) -> String {
        let name = device.name.as_deref().unwrap_or("device");
        let facts = serde_json::json!({
            "name": name,
            "instructions": Instructions::here().name(),
            "device": device,
        });
        facts.to_string()
    }

    /// Whether it is the current machine.
    pub fn is_native(&self) -> bool {
        self.name == NATIVE
    }

    /// The width of a vector register, in bytes.
    pub fn vector_bytes(&self) -> u64 {
        self.instructions.vector().bytes as u64
    }

    /// The size of all vector registers, in bytes.
    pub fn register_bytes(&self) -> u64 {
        self.vector_bytes() * self.instructions.vector().registers as u64
    }

    /// The largest tensor, in bytes, that stays in the caches of a core between its uses.
    pub fn near(&self) -> u64 {
        self.l2.unwrap_or(LEAST_L2)
    }

    /// The compiler flags that select it.
    pub fn flags(&self) -> Vec<String> {
        if self.flags.is_empty() {
            self.instructions.flags().map(str::to_owned).collect()
        } else {
            self.flags.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_targets() {
        for name in Target::names() {
            let target = Target::named(name).unwrap();
            let is_device = DeviceApi::from_word(name) == Some(target.device.api);
            assert!(target.name == name || is_device && target.is_native());
        }
        assert_eq!(Target::named("avx3"), None);
        let neon = Target::named("neon").unwrap();
        assert_eq!((neon.vector_bytes(), neon.register_bytes()), (16, 512));
    }

    #[test]
    fn files_describe_targets() {
        let laptop = r#"{"name": "laptop", "instructions": "avx2", "l2": 524288}"#;
        let laptop = Target::parse(laptop).unwrap();
        assert_eq!((laptop.near(), laptop.l1, laptop.line), (524_288, None, 64));
        assert_eq!(laptop.register_bytes(), 512);
        assert_eq!(laptop.flags(), ["-march=x86-64-v3"]);
        assert_eq!(laptop.pipeline, Pipeline::default());
        let little = r#"{"name": "a", "instructions": "neon", "pipeline": {"loads_per_cycle": 1}}"#;
        let little = Target::parse(little).unwrap().pipeline;
        let expected = Pipeline {
            loads_per_cycle: 1.0,
            ..Pipeline::default()
        };
        assert_eq!(little, expected);
    }

    #[test]
    fn files_that_describe_nothing_say_why() {
        for (text, why) in [
            (r#"{"name": "a"}"#, "missing field `instructions`"),
            (
                r#"{"name": "a", "instructions": "avx2", "l4": 1}"#,
                "unknown field `l4`",
            ),
            (
                r#"{"name": "a", "instructions": "mmx"}"#,
                "unknown variant `mmx`",
            ),
            (
                r#"{"name": "a", "instructions": "neon", "line": 48}"#,
                "power of two",
            ),
            (
                r#"{"name": "a", "instructions": "neon", "pipeline": {"ports": 6}}"#,
                "unknown field `ports`",
            ),
            (
                r#"{"name": "a", "instructions": "neon", "pipeline": {"loads_per_cycle": 0}}"#,
                "`loads_per_cycle` of `pipeline` is not positive",
            ),
            (
                r#"{"name": "native", "instructions": "neon"}"#,
                "this machine",
            ),
        ] {
            let error = Target::parse(text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
