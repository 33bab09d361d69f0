//! `machine`: what scripts can know of the machine.

use crate::machine::{Machine, Rates, Region, speed};
use crate::script::call::{Call, Function, Parameter};
use crate::script::fail::Failure;
use rhai::{Dynamic, Map};

pub(super) static MACHINE: Function = Function {
    name: "machine",
    params: &[Parameter::optional("measured")],
    returns: "facts",
    doc: "\
Facts about this machine, as a map: `let m = machine(); let block = m.l2 / 2 / 8;`.

- `cpu`: the processor's name
- `threads`: the threads of parallel loops (`--threads`, or as many as this process may use)
- `cores`: the cores that this process may use
- `l1`, `l2`, `l3`: the bytes of one data cache of a level
- `vector_bytes`, `vector_registers`: the size and the number of vector registers
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
        let measured = match call.count() {
            0 => false,
            _ if call.text(0)? == "measured" => true,
            _ => return Err(call.fail(0, "must be \"measured\", or be left out")),
        };
        let machine = Machine::known(&call.state().workbench.control);
        let mut map = Map::new();
        let mut add = |key: &str, value: Option<u64>| {
            let value = value.and_then(|v| i64::try_from(v).ok());
            map.insert(key.into(), value.map_or(Dynamic::UNIT, Dynamic::from_int));
        };
        let vector = machine.vector.as_ref();
        let threads = call.state().workbench.control.threads;
        add("threads", Some(threads as u64));
        add("cores", machine.cores.map(|n| n as u64));
        add("l1", machine.cache(1));
        add("l2", machine.cache(2));
        add("l3", machine.cache(3));
        add("vector_bytes", vector.map(|v| v.bytes as u64));
        add("vector_registers", vector.map(|v| v.registers as u64));
        let region = |of: fn(&Region) -> f64| machine.region.as_ref().map(|r| of(r).round() as u64);
        add("region", region(|r| r.seconds * 1e9));
        add("region_operations", region(|r| r.operations));
        let cpu = machine.cpu.map_or(Dynamic::UNIT, Dynamic::from);
        map.insert("cpu".into(), cpu);
        if measured {
            map.insert("one".into(), rates(call, 1)?.into());
            map.insert("all".into(), rates(call, threads)?.into());
        }
        Ok(map.into())
    },
};

fn rates(call: &Call, threads: usize) -> Result<Map, Failure> {
    let control = call.state().workbench.control.clone();
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
