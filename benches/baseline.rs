//! Time of the baseline for each kernel of PolyBench and each of the ten kernels, at the sizes of
//! the scripts. It times the schedule alone, and everything including path and proof, for each of
//! its code generators. `cargo bench --bench baseline -- NAME...` selects kernels.

#[allow(dead_code, reason = "other benches use the rest")]
mod kernels;

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use teml::baseline::{Code, Options, pluto, schedule};
use teml::ir::Nest;

const KERNELS: [&str; 40] = [
    "2mm",
    "3mm",
    "adi",
    "atax",
    "bicg",
    "cholesky",
    "correlation",
    "covariance",
    "deriche",
    "doitgen",
    "durbin",
    "fdtd-2d",
    "floyd-warshall",
    "gemm",
    "gemver",
    "gesummv",
    "gramschmidt",
    "heat-3d",
    "jacobi-1d",
    "jacobi-2d",
    "lu",
    "ludcmp",
    "mvt",
    "nussinov",
    "seidel-2d",
    "symm",
    "syr2k",
    "syrk",
    "trisolv",
    "trmm",
    "blur",
    "bmm",
    "coars",
    "gconv",
    "helm",
    "interp",
    "mm",
    "mttkrp",
    "sddmm",
    "tmm",
];

fn main() {
    let chosen: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    println!(
        "{:<16}{:>12}{:>12}{:>12}",
        "kernel", "schedule", "pluto", "pluto_c"
    );
    for name in KERNELS {
        if !chosen.is_empty() && !chosen.iter().any(|c| c == name) {
            continue;
        }
        let nests = untransformed(name);
        let found = shortest(|| schedule(black_box(&nests), &Options::default()).is_ok());
        let with = |code| {
            let options = Options {
                code,
                ..Options::default()
            };
            shortest(|| pluto(black_box(&nests), &options).is_ok())
        };
        let (own, plain) = (with(Code::Teml), with(Code::Pluto));
        println!("{name:<16}{found:>12}{own:>12}{plain:>12}");
    }
}

/// The definition of a script of PolyBench or of the ten kernels, without its schedules, at full
/// size.
fn untransformed(name: &'static str) -> Vec<Nest> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let path =
        [directory.join("polybench"), directory].map(|d| d.join(name).with_extension("rhai"));
    let script = path
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok());
    let script = script.unwrap_or_default();
    // In these scripts, the nests in PolyBench's order come after the schedules.
    let order = ["lu", "ludcmp", "cholesky"].contains(&name);
    let nests = match name {
        "interp" => "[first, second, naive]",
        "helm" => "steps + [naive]",
        "ludcmp" => "rows",
        _ if order => "left",
        _ => "naive",
    };
    let is_left_out =
        |line: &&str| line.starts_with("init(") || order && line.starts_with("let plan");
    let lines: Vec<&str> = script.lines().filter(|line| !is_left_out(line)).collect();
    let script = lines.join("\n");
    let end = if order {
        None
    } else {
        script.find("\nlet plan")
    };
    let end = end
        .or_else(|| script.find("\ncompare("))
        .unwrap_or(script.len());
    let script = format!("{}\ncompare([{nests}]);", &script[..end]);
    kernels::run(name, |session| session.run_text(name, &script)).1
}

/// The shortest time of up to five calls within a second. Each call has its own thread, since a
/// thread caches its last proofs.
fn shortest(call: impl Fn() -> bool + Sync) -> String {
    let begin = Instant::now();
    let mut least: Option<Duration> = None;
    for _ in 0..5 {
        let timed = || {
            let start = Instant::now();
            call().then(|| start.elapsed())
        };
        let time = std::thread::scope(|scope| scope.spawn(timed).join());
        let Ok(Some(time)) = time else {
            return "refused".to_owned();
        };
        least = Some(least.map_or(time, |least| least.min(time)));
        if begin.elapsed() > Duration::from_secs(1) {
            break;
        }
    }
    let milliseconds = least.unwrap_or_default().as_secs_f64() * 1e3;
    format!("{milliseconds:.1} ms")
}
