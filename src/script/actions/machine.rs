//! `machine`: what scripts can know of the machine.

use crate::machine::{Machine, Rates, speed};
use crate::script::call::{Call, Function, Parameter};
use crate::script::fail::Failure;
use rhai::{Dynamic, Map};

pub(super) static MACHINE: Function = Function {
    name: "machine",
    params: &[Parameter::optional("measured")],
    returns: "facts",
    doc: "\
Facts about this machine, as a map: `let m = machine(); let block = m.l2 / 2 / 8;`.

`cpu` is the processor's name; `threads` are those of parallel loops (`--threads`, or as many as
this process may use), and `cores` those that it may use; `l1`, `l2` and `l3` are the bytes of one
data cache of a level; `vector_bytes` and `vector_registers` describe vector registers. What the
system does not tell is `()`.

Of the last level of cache, virtual machines report sizes that no core gets. So its size is the one
that `teml machine` or `teml bench` has measured here; before that, the reported size, but at most
16 level 2 caches for each core that shares it.

`machine(\"measured\")` also has `one` and `all`, for one thread and for all threads of this run,
each a map of rates at best: `f64` and `f32` in GFLOP/s, where a fused multiply-add is two
operations, `read`, `copy` and `triad` in GB/s to and from memory. They are measured in some seconds, by
running kernels, and remembered from then on (`teml machine --again` measures anew).",
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
