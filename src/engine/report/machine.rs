//! The facts about the machine, one per line.

use crate::machine::{Machine, Speed};
use crate::target::{Device, DeviceRates, Processor};

/// Facts from the system, and measured rates.
pub fn machine(machine: &Machine, speeds: &[Speed]) -> String {
    let unknown = || "unknown".to_owned();
    let mut lines = vec![
        ("processor", machine.cpu.clone().unwrap_or_else(unknown)),
        ("threads", machine.threads.to_string()),
        (
            "cores",
            machine.cores.map_or_else(unknown, |n| n.to_string()),
        ),
    ];
    let names = [
        "level 1 cache",
        "level 2 cache",
        "level 3 cache",
        "level 4 cache",
    ];
    for (name, level) in names.into_iter().zip(1..) {
        let mut caches = machine.caches.iter().filter(|c| c.level == level);
        match caches.next() {
            Some(cache) => {
                let (size, count) = (bytes(cache.bytes), cache.count);
                lines.push((name, format!("{size}, {count} of them")));
            }
            None if level <= 3 => lines.push((name, unknown())),
            None => {}
        }
    }
    lines.push(match &machine.vector {
        Some(v) => {
            let (bits, count, name) = (v.bytes * 8, v.registers, v.name);
            (
                "vectors",
                format!("{count} registers of {bits} bits ({name})"),
            )
        }
        None => ("vectors", unknown()),
    });
    lines.push(("memory", machine.memory.map_or_else(unknown, bytes)));
    let mut text = vec!["reported by the system:".to_owned()];
    let lines = lines.into_iter();
    text.extend(lines.map(|(name, value)| format!("  {name:<14} {value}")));
    if machine.capacity.is_some() || machine.region.is_some() || !speeds.is_empty() {
        text.push("measured:".to_owned());
    }
    if let (Some(capacity), Some(last)) = (machine.capacity, machine.caches.last()) {
        text.push(format!(
            "  level {} cache  {} for all threads ({:.1} GB/s within, {:.1} GB/s beyond)",
            last.level,
            bytes(machine.last_caches()),
            capacity.within,
            capacity.beyond,
        ));
    }
    if let Some(region) = machine.region {
        let micros = region.seconds * 1e6;
        text.push(format!(
            "  parallel loop  {micros:.2} µs to begin and end with all threads"
        ));
    }
    let disturbed = machine.capacity.is_some_and(|c| !c.quiet);
    if disturbed || machine.region.is_some_and(|r| !r.quiet) {
        text.push(BUSY.to_owned());
    }
    for Speed {
        threads,
        rates,
        quiet,
    } in speeds
    {
        let plural = if *threads == 1 { "" } else { "s" };
        text.push(format!("  at best, with {threads} thread{plural}:"));
        let mut add = |name: &str, rate: f64, unit: &str| {
            text.push(format!("    {name:<12} {rate:.1} {unit}"));
        };
        add("f64", rates.gflops_f64, "GFLOP/s");
        add("f32", rates.gflops_f32, "GFLOP/s");
        add("reading", rates.read, "GB/s");
        add("copy", rates.copy, "GB/s");
        add("triad", rates.triad, "GB/s");
        if !quiet {
            text.push(BUSY.to_owned());
        }
    }
    text.join("\n")
}

/// Facts about a device from its driver or a file, and measured rates.
pub fn device(device: &Device) -> String {
    let Device {
        name,
        api,
        threads,
        deep,
        grid,
        warp,
        shared,
        registers,
        access,
        processors,
        processor,
        l2,
        rates,
    } = device;
    let name = name.as_deref().unwrap_or("a device");
    let mut lines = vec![
        format!("device: {name}, by {}", api.word()),
        format!(
            "  block          at most {threads} threads, which share {}",
            bytes(*shared)
        ),
        format!(
            "  along z        at most {deep} threads of a block, and {grid} blocks, also along y"
        ),
        format!("  warp           {warp} lanes"),
        format!("  thread         {registers} registers of 4 bytes, accesses of {access} bytes"),
    ];
    if let Some(count) = processors {
        lines.push(format!("  processors     {count}"));
    }
    if let Some(Processor {
        blocks,
        threads,
        registers,
        shared,
        ..
    }) = processor
    {
        lines.push(format!(
            "  each of them   {blocks} blocks, {threads} threads, {registers} registers, and {} to share",
            bytes(*shared)
        ));
    }
    if let Some(l2) = l2 {
        lines.push(format!("  level 2 cache  {}", bytes(*l2)));
    }
    if let Some(DeviceRates { f64, f32, memory }) = rates {
        lines.push("  at best:".to_owned());
        lines.push(format!("    f64          {f64} GFLOP/s"));
        lines.push(format!("    f32          {f32} GFLOP/s"));
        lines.push(format!("    copy         {memory} GB/s"));
    }
    lines.join("\n")
}

/// A note on rates that were measured while other processes ran.
const BUSY: &str =
    "    measured on a busy machine, so it may be faster; `teml machine` measures again";

/// A number of bytes, in the largest unit that is at most as large.
fn bytes(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(shift, _)| bytes >> shift > 0);
    match unit {
        Some((shift, unit)) => {
            let value = bytes as f64 / f64::from(1u32 << shift);
            match value.fract() {
                0.0 => format!("{value} {unit}"),
                _ => format!("{value:.1} {unit}"),
            }
        }
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Cache, Capacity, Rates, Region};
    use crate::target::Vector;

    #[test]
    fn what_is_unknown_says_so() {
        let nothing = Machine {
            cpu: None,
            threads: 1,
            cores: None,
            caches: Vec::new(),
            capacity: None,
            region: None,
            vector: None,
            memory: None,
        };
        let text = machine(&nothing, &[]);
        assert_eq!(text.matches("unknown").count(), 7, "{text}");
    }

    #[test]
    fn what_is_known_has_units() {
        let known = Machine {
            cpu: Some("Some (family 1, model 2)".to_owned()),
            threads: 4,
            cores: Some(2),
            caches: vec![
                Cache {
                    way: None,
                    level: 1,
                    bytes: 49_152,
                    count: 2,
                    sharers: 1,
                },
                Cache {
                    way: None,
                    level: 3,
                    bytes: 480 << 20,
                    count: 1,
                    sharers: 4,
                },
            ],
            capacity: Some(Capacity {
                bytes: 64 << 20,
                within: 58.0,
                beyond: 19.5,
                quiet: true,
            }),
            region: Some(Region {
                seconds: 1.25e-6,
                operations: 8000.0,
                quiet: true,
            }),
            vector: Some(Vector {
                name: "AVX2",
                bytes: 32,
                registers: 16,
            }),
            memory: Some(3 << 29),
        };
        let rates = Rates {
            gflops_f64: 12.34,
            gflops_f32: 25.0,
            read: 10.0,
            copy: 9.0,
            triad: 8.0,
        };
        let text = machine(
            &known,
            &[Speed {
                threads: 4,
                rates,
                quiet: true,
            }],
        );
        for shown in [
            "48 KiB, 2 of them",
            "480 MiB, 1 of them",
            "  level 3 cache  64 MiB for all threads (58.0 GB/s within, 19.5 GB/s beyond)",
            "  parallel loop  1.25 µs to begin and end with all threads",
            "16 registers of 256 bits (AVX2)",
            "1.5 GiB",
            "with 4 threads",
            "12.3 GFLOP/s",
        ] {
            assert!(text.contains(shown), "no {shown} in\n{text}");
        }
    }
}
