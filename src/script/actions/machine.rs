//! `machine`: the facts about the machine, for scripts.

use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::{Param, Words};
use crate::machine::{Machine, Rates, speed};
use crate::messages::fail::Failure;
use crate::target::Target;
use rhai::{Dynamic, Map};

const MEASURED: Param<Option<Measured>> = Param::new("measured");

#[derive(Clone, Copy)]
struct Measured;

impl Words for Measured {
    const WORDS: &'static [(&'static str, Measured)] = &[("measured", Measured)];
}

pub(super) static MACHINE: Function = Function {
    name: "machine",
    topic: "results",
    effect: Effect::None,
    params: &[MEASURED.any()],
    returns: "facts",
    doc: "\
Facts about the machine that C is generated for, as a map: `let m = machine(); let block = m.l2 / 2 / 8;`.
This is the machine that the script runs on, unless `teml emit --target` names another one.

- `cpu`: the processor's name
- `threads`: the threads of parallel loops (`--threads`, or as many as this process may use)
- `cores`: the cores that this process may use
- `l1`, `l2`, `l3`: the bytes of one data cache of a level; `l1_way`: those of one of the ways of
  the first, after which lines share a set
- `line`: the bytes of a cache line
- `vector_bytes`, `vector_registers`: the size and the number of vector registers
- `target`: the name of the target of `teml emit --target`, otherwise `native`
- `device`: `cuda`, `hip` or `opencl`, the language for the device beside it (`bind`); `device_threads`,
  `device_block`, `device_shared`: the most threads of a block, those of a usual one, and the bytes
  that threads share; `device_warp`: the lanes of a warp; `device_grid`: the most blocks along y
  and z; `device_registers`, `device_access`: the registers of a thread, of 4 bytes each, and the
  bytes of its widest access
- `region`: the nanoseconds that a parallel loop on all threads takes to begin and to end, and
  `region_operations`: how many operations on vectors one thread executes in that time at best

Facts that the system does not report are `()`, and those of `region` until `teml machine` or
`teml bench` has measured them here. Virtual machines report sizes of the last level
of cache that no core gets. Its size is therefore the one that `teml machine` or `teml bench`
measured here. Before that, it is the reported size, but at most 16 level 2 caches for each
core that shares it.

`machine(\"measured\")` also has `one` and `all`, for one thread and for all threads of this run.
Each is a map of peak rates: `f64` and `f32` in GFLOP/s, where a fused multiply-add is two
operations, and `read`, `copy` and `triad` in GB/s to and from memory. Kernels measure them in
some seconds, and they are remembered (`teml machine --again` measures again).",
    call: |call| {
        let measured = call.arg(&MEASURED)?.is_some();
        let asked = call.workbench().settings.options.target.clone();
        let machine = Machine::known(&call.workbench().control);
        let is_here = asked.is_native();
        // The device may be another one than that of this machine.
        let target = match is_here {
            true => Target {
                device: asked.device,
                ..machine.target()
            },
            false => asked,
        };
        let mut map = Map::new();
        let mut add = |key: &str, value: Option<u64>| {
            let value = value.and_then(|v| i64::try_from(v).ok());
            map.insert(key.into(), value.map_or(Dynamic::UNIT, Dynamic::from_int));
        };
        let vector = target.instructions.vector();
        let threads = call.workbench().control.threads;
        add("threads", Some(threads as u64));
        add("cores", machine.cores.filter(|_| is_here).map(|n| n as u64));
        add("l1", target.l1);
        add("l1_way", target.l1_way);
        add("l2", target.l2);
        add("l3", target.l3);
        add("line", Some(target.line));
        add("vector_bytes", Some(vector.bytes as u64));
        add("vector_registers", Some(vector.registers as u64));
        let region = machine.region.as_ref().filter(|_| is_here);
        add("region", region.map(|r| (r.seconds * 1e9).round() as u64));
        add("device_threads", target.device.threads.try_into().ok());
        add("device_block", target.device.block().try_into().ok());
        add("device_grid", target.device.grid.try_into().ok());
        add("device_warp", target.device.warp.try_into().ok());
        add("device_shared", Some(target.device.shared));
        add("device_registers", target.device.registers.try_into().ok());
        add("device_access", target.device.access.try_into().ok());
        add("region_operations", target.region_operations);
        let cpu = if is_here { machine.cpu } else { None };
        map.insert("cpu".into(), cpu.map_or(Dynamic::UNIT, Dynamic::from));
        map.insert("device".into(), target.device.api.word().into());
        map.insert("target".into(), target.name.into());
        if measured {
            map.insert("one".into(), rates(call, 1)?.into());
            map.insert("all".into(), rates(call, threads)?.into());
        }
        Ok(map.into())
    },
};

fn rates(call: &Call, threads: usize) -> Result<Map, Failure> {
    let control = call.workbench().control.clone();
    let speed = speed(threads, &control).map_err(|error| call.refuse(&error.to_string()))?;
    let Rates {
        gflops_f64,
        gflops_f32,
        read,
        copy,
        triad,
    } = speed.rates;
    let all = [
        ("f64", gflops_f64),
        ("f32", gflops_f32),
        ("read", read),
        ("copy", copy),
        ("triad", triad),
    ];
    let pairs = all.map(|(key, rate)| (key.into(), Dynamic::from_float(rate)));
    Ok(pairs.into_iter().collect())
}
