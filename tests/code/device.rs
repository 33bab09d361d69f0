//! Kernels of devices: run by OpenCL on the processor where it is installed, and compiled for
//! NVIDIA's devices where the compiler is.

#[cfg(target_os = "linux")]
use crate::kernels::{python, succeeds};
use std::path::Path;
use std::process::{Command, Output};
use teml::codegen::generate_for;
use teml::legality::Reductions;
use teml::machine;
use teml::runtime::Control;
use teml::target::{Device, DeviceApi};

/// `teml` on a script, with a language for devices.
fn teml(arguments: &[&str], device: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
    command.args(arguments).env("TEML_DEVICE", device);
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const KERNELS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/code/device/kernels.rhai"
);

/// Whether OpenCL has a device: its loader finds a vendor.
fn has_opencl() -> bool {
    let mut vendors = Path::new("/etc/OpenCL/vendors")
        .read_dir()
        .into_iter()
        .flatten();
    let has = vendors.next().is_some();
    if !has {
        eprintln!("OpenCL is not installed (`apt install pocl-opencl-icd`): nothing runs on it");
    }
    has
}

/// Runs the kernels at sizes that blocks divide, or do not.
fn compute_the_same(sizes: &str, elem: &str, count: usize) {
    if !has_opencl() {
        return;
    }
    let (kind, sizes) = (format!("type={elem}"), format!("sizes={sizes}"));
    let ran = teml(&["run", KERNELS, "--set", &kind, "--set", &sizes], "opencl");
    let (shown, wrong) = (text(&ran.stdout), text(&ran.stderr));
    assert!(ran.status.success(), "{elem}: {shown}{wrong}");
    let equal = shown.matches("elements equal the definition").count();
    assert_eq!(equal, count, "{shown}");
}

#[test]
fn kernels_compute_the_same_in_f64() {
    compute_the_same("odd", "f64", 43);
}

#[test]
fn kernels_compute_the_same_in_f32() {
    compute_the_same("odd", "f32", 43);
}

#[test]
fn kernels_of_whole_blocks_compute_the_same_in_f64() {
    compute_the_same("even", "f64", 19);
}

#[test]
fn kernels_of_whole_blocks_compute_the_same_in_f32() {
    compute_the_same("even", "f32", 19);
}

#[test]
fn threads_move_several_elements_where_rows_are_whole_accesses() {
    let directory = tempfile::tempdir().unwrap();
    let emitted = |columns: &str, elem: &str| {
        let script = format!(
            "let A = tensor([{columns}], \"{elem}\"); let B = stored(2*A); \
             compare([schedules::on_device(build(B))]);"
        );
        let file = directory.path().join("twice.rhai");
        std::fs::write(&file, script).unwrap();
        let emitted = teml(&["emit", file.to_str().unwrap()], "cuda");
        assert!(emitted.status.success(), "{}", text(&emitted.stderr));
        text(&emitted.stdout)
    };
    let moves = |c: &str| c.matches("TEML_MOVE(").count() > 1;
    for (columns, elem, width) in [
        ("64, 256", "f32", "TEML_MOVE(float, 4, "),
        ("64, 256", "f64", "TEML_MOVE(double, 2, "),
        ("64, 256", "i32", "TEML_MOVE(int32_t, 4, "),
        ("64, 256", "i64", "TEML_MOVE(int64_t, 2, "),
        ("64, size(\"N\", #{likely: 256})", "f32", "(N) % 4 == 0"),
    ] {
        let c = emitted(columns, elem);
        assert!(c.contains(width), "{columns} {elem}: {c}");
        // Callers may bring tensors that begin elsewhere.
        assert!(moves(&c) && c.contains("(uint64_t)A % 16 == 0"), "{c}");
    }
    let odd = emitted("64, 255", "f32");
    assert!(!moves(&odd), "{odd}");
}

#[test]
fn the_six_steps_of_a_product_compute_the_same() {
    if !has_opencl() {
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/device/gemm.rhai");
    for n in ["37", "128"] {
        let ran = teml(&["run", script, "--set", &format!("n={n}")], "opencl");
        let (shown, wrong) = (text(&ran.stdout), text(&ran.stderr));
        assert!(ran.status.success(), "{shown}{wrong}");
        assert!(shown.contains("elements equal"), "{shown}");
    }
}

#[test]
fn a_kernel_for_all_sizes_runs_at_awkward_ones() {
    if !has_opencl() {
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/code/device/sizes.rhai");
    // Indices have 32 bits, and 64 from some hundred elements on.
    for most in ["", "-DTEML_NARROW=300"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
        command.args(["run", script]).env("TEML_DEVICE", "opencl");
        let ran = command.env("CFLAGS", most).output().unwrap();
        let (shown, wrong) = (text(&ran.stdout), text(&ran.stderr));
        assert!(ran.status.success(), "{shown}{wrong}");
        assert_eq!(shown.matches("elements equal").count(), 12, "{shown}");
    }
}

/// 32 bits count what indices are made of, also where threads reach beyond a tensor, and in loops
/// without tensors. Here the greatest size is counted by hand.
#[test]
fn indices_have_32_bits_where_they_fit() {
    let greatest = i64::from(i32::MAX);
    let plan = |text: &str| {
        let nest = teml::ir::parse_nest(text).unwrap();
        let target = teml::Target::native();
        generate_for(&[nest], "f", Reductions::Strict, &target)
            .unwrap()
            .plan
    };
    for (text, most) in [
        // The last thread has a number of at most N + 30.
        (
            "size N\nsize N_p31_32 = (N + 31) / 32\nf64 R[N], A[N]\ngrid.x for i in 0..N_p31_32\n  \
             block.x for j in 0..min(32, N - 32*i)\n    R[32*i + j] = 2 * A[32*i + j]\n",
            greatest - 30,
        ),
        (
            "size N\nf64 R[N], A[2*N]\ngrid.x for i in 0..N\n  R[i] = A[2*i]\n",
            greatest / 2,
        ),
        (
            "size N\nf64 R[8]\ngrid.x for i in 0..8\n  R[i] = 0\n  for k in 0..3*N\n    R[i] += 1\n",
            greatest / 3,
        ),
        // A part of a sum is greater than all of it.
        (
            "size N\nf64 R[N], A[N]\ngrid.x for i in 0..N\n  for k in 0..N - i\n    R[i] = A[N - 1 - i]\n",
            greatest - 1,
        ),
    ] {
        let plan = plan(text);
        let sized = "indices of 32 bits if sizes are at most ";
        let limit = plan.split(sized).nth(1).unwrap_or_else(|| panic!("{plan}"));
        let limit: i64 = limit.split(' ').next().unwrap().parse().unwrap();
        assert!(limit <= most && limit > most - 70, "{limit} {most} {plan}");
    }
    // Numbers decide at once.
    let many = |count: i64| {
        format!(
            "f64 R[8]\ngrid.x for i in 0..8\n  R[i] = 0\n  for k in 0..{count}\n    R[i] += 1\n"
        )
    };
    assert!(!plan(&many(1 << 30)).contains("indices of"));
    assert!(plan(&many(1 << 31)).contains("indices of 64 bits"));
}

#[test]
fn a_device_that_is_missing_says_which_package_brings_it() {
    let library = ("TEML_OPENCL", "no-such-library.so");
    fails("opencl", &[library], "`apt install ocl-icd-libopencl1`");
    if has_opencl() {
        let nothing = ("OCL_ICD_VENDORS", "/no/such/directory");
        fails("opencl", &[nothing], "`apt install pocl-opencl-icd`");
    }
}

/// Runs a kernel on a device that fails: one error says where, and why.
fn fails(device: &str, environment: &[(&str, &str)], why: &str) {
    let script = "let A = tensor([8]); let B = eq(2*A, [i] -> [i]);
        let n = build(B); compare([n.bind(\"i\", \"block.x\")]);";
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("one.rhai");
    std::fs::write(&file, script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
    command.arg("run").arg(&file).env("TEML_DEVICE", device);
    command.envs(environment.iter().copied());
    let ran = command.output().unwrap();
    let wrong = text(&ran.stderr);
    assert!(!ran.status.success());
    let begins = "error: compare: the device cannot run kernel `variant_1`: ";
    assert!(wrong.starts_with(begins) && wrong.contains(why), "{wrong}");
    assert_eq!(
        wrong.matches("error: ").count(),
        1 + why.matches("error: ").count()
    );
}

/// A driver without a device, with what `FAILS` names.
#[cfg(target_os = "linux")]
#[test]
fn a_device_that_fails_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/code/device/driver.c");
    let library = place.join("libcuda.so.1").display().to_string();
    let shared = ["-shared", "-fPIC", "-w", "-o", &library];
    let driver = driver.display().to_string();
    succeeds("cc", &[&shared[..], &[&driver]].concat(), place);
    let libraries = ("LD_LIBRARY_PATH", place.to_str().unwrap());
    let compiler = ("TEML_NVRTC", library.as_str());
    for (what, why) in [
        (
            "init",
            "`nvidia-smi` lists: no CUDA-capable device is detected",
        ),
        ("compile", "refused it: kernel(3): error: expected a \";\""),
        ("memory", "cuMemAlloc: out of memory"),
        ("", "cuModuleGetFunction: no such kernel"),
    ] {
        fails("cuda", &[libraries, compiler, ("FAILS", what)], why);
    }
    let known = Command::new("ldconfig").arg("-p").output();
    if known.is_ok_and(|known| !text(&known.stdout).contains("libnvrtc")) {
        fails("cuda", &[libraries], "`pip install nvidia-cuda-nvrtc`");
    }
}

#[test]
fn a_device_that_is_not_known_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = directory.path().join("wrong.json");
    std::fs::write(&wrong, r#"{"name": "wrong", "device": {"warps": 32}}"#).unwrap();
    for (device, why) in [
        (
            "rocm",
            "one of cuda, opencl, hip, or the file of a target: `rocm`",
        ),
        (wrong.to_str().unwrap(), "unknown field `warps`"),
    ] {
        let ran = teml(&["run", KERNELS], device);
        assert_eq!(ran.status.code(), Some(2));
        assert!(text(&ran.stderr).contains(why), "{}", text(&ran.stderr));
    }
}

#[test]
fn a_nest_on_a_device_is_not_compared_with_the_processor() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("moves.rhai");
    let script = "let A = tensor([64, 64]); let R = stored(2*A); let n = build(R);
        let p = n.bind(\"i1\", \"grid.x\"); print(moves(n)); print(\"on the device:\"); print(moves(p));
        predict(p);";
    std::fs::write(&file, script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
    command.arg("run").arg(&file).env("TEML_DEVICE", "opencl");
    // Nothing was measured here.
    command.env("TEML_CACHE_DIR", directory.path());
    let ran = command.output().unwrap();
    let (shown, wrong) = (text(&ran.stdout), text(&ran.stderr));
    let (before, after) = shown.split_once("on the device:").unwrap();
    assert!(
        before.contains("parallelize") && before.contains("vectorize"),
        "{before}"
    );
    assert!(after.contains("reverse"), "{after}");
    assert!(
        !after.contains("parallelize") && !after.contains("vectorize"),
        "{after}"
    );
    assert!(
        wrong.contains("it is not known how fast that is"),
        "{wrong}"
    );
}

#[test]
fn a_check_says_what_the_device_cannot_run() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("many.rhai");
    let script = "let A = tensor([64, 4096]); let R = stored(2*A); let n = build(R);
        let p = n.bind(\"i1\", \"grid.x\").bind(\"i2\", \"block.x\");
        print(check(p)); print(`legal: ${check(p).legal}, runs: ${check(p).runs}`);
        let q = n.parallelize(\"i1\").stripmine(\"i2\", 64).bind(\"i2_i\", \"block.x\");
        print(check(q)); codegen(p);";
    std::fs::write(&file, script).unwrap();
    let checked = teml(&["check", file.to_str().unwrap()], "cuda");
    let shown = text(&checked.stdout);
    for said in [
        "legal, and the device cannot run it: a block would have 4096 threads",
        "legal: true, runs: false",
        "refused: loop `i1` is parallel, and loop `i2_i` runs on a device",
        "legal; the device cannot run it: a block would have 4096 threads",
    ] {
        assert!(shown.contains(said), "{shown}{}", text(&checked.stderr));
    }
}

#[test]
fn schedules_are_for_the_device_whose_code_is_emitted() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("twice.rhai");
    for (api, word) in [
        ("cuda", "__global__"),
        ("hip", "__global__"),
        ("opencl", "__kernel"),
    ] {
        let script = format!(
            "let A = tensor([1000]); let B = stored(2*A);
             codegen(schedules::optimize(build(B), #{{target: \"{api}\"}}));"
        );
        std::fs::write(&file, script).unwrap();
        let emitted = teml(&["emit", "--target", api, file.to_str().unwrap()], "opencl");
        let shown = text(&emitted.stdout);
        assert!(shown.contains(word), "{shown}{}", text(&emitted.stderr));
    }
}

#[test]
fn a_file_describes_a_device_that_is_not_here() {
    let directory = tempfile::tempdir().unwrap();
    let facts = r#"{"name": "far", "instructions": "sse2", "device": {"name": "Some GPU", "processors": 100,
        "l2": 1048576, "rates": {"f64": 1000, "f32": 2000, "memory": 100},
        "processor": {"blocks": 32, "threads": 2048, "registers": 65536, "shared": 102400}}}"#;
    let file = directory.path().join("far.json");
    std::fs::write(&file, facts).unwrap();
    let far = file.to_str().unwrap();
    let described = teml(&["machine", "--target", far], "opencl");
    let shown = text(&described.stdout);
    for fact in [
        "device: Some GPU, by cuda",
        "at most 1024 threads, which share 48 KiB",
        "2048 threads, 65536 registers, and 100 KiB to share",
        "level 2 cache  1 MiB",
        "copy         100 GB/s",
    ] {
        assert!(shown.contains(fact), "{fact}: {shown}");
    }
    // 32 MB pass the memory in 320 microseconds.
    let script = "let A = tensor([1000, 4000], \"f32\"); let R = stored(2*A);
        print(predict(schedules::on_device(build(R))));";
    let script_file = directory.path().join("twice.rhai");
    std::fs::write(&script_file, script).unwrap();
    let ran = teml(&["run", script_file.to_str().unwrap()], far);
    let shown = text(&ran.stdout);
    assert!(
        shown.contains("320.0 µs, bound by memory"),
        "{shown}{}",
        text(&ran.stderr)
    );
}

#[test]
fn the_driver_describes_the_device_and_kernels_measure_it() {
    if !has_opencl() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let control = Control {
        worker: env!("CARGO_BIN_EXE_teml").into(),
        cache_dir: Some(directory.path().to_owned()),
        probe_time: std::time::Duration::from_secs(3),
        ..Control::default()
    };
    let device = machine::device(DeviceApi::OpenCl, &control).unwrap();
    assert!(device.name.is_some() && device.threads >= 1, "{device:?}");
    let rates = device.rates.unwrap();
    assert!(
        rates.f32 > 0 && rates.f64 > 0 && rates.memory > 0,
        "{rates:?}"
    );
    assert_eq!(
        machine::known_device(DeviceApi::OpenCl, &control),
        Some(device.clone())
    );
    // The file that it makes describes the same device.
    let target = teml::Target::parse(&teml::Target::file(&device)).unwrap();
    assert_eq!(target.device, device);
}

#[test]
fn a_search_finds_tiles_of_a_device() {
    if !has_opencl() {
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/device/tune.rhai");
    let ran = teml(&["run", script, "--size", "mini"], "opencl");
    let (shown, wrong) = (text(&ran.stdout), text(&ran.stderr));
    assert!(ran.status.success(), "{shown}{wrong}");
    assert!(
        shown.contains("| tuned ") && shown.contains("elements equal"),
        "{shown}"
    );
}

/// CuPy and PyTorch need a device. A driver without one shows what kernels get from such arrays.
#[cfg(target_os = "linux")]
#[test]
fn kernels_take_arrays_in_memory_of_a_device_from_python() {
    let Some(python) = python() else {
        return eprintln!("no Python with NumPy is installed: kernels are not called from there");
    };
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/code/device");
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let driver = tests.join("driver.c").display().to_string();
    let shared = ["-shared", "-fPIC", "-w", "-o", "libcuda.so.1"];
    succeeds("cc", &[&shared[..], &[&driver]].concat(), place);
    let script = "let n = size(\"N\", #{likely: 50}); let A = tensor([n]);
        let R = stored(2*A); let T = stored(3*A);
        export_kernel(build(R).stripmine(\"i1\", 32).bind(\"i1_o\", \"grid.x\").bind(\"i1_i\", \"block.x\"), \"twice\");
        export_kernel(build(T), \"thrice\");";
    std::fs::write(place.join("doubled.rhai"), script).unwrap();
    let compiler = format!("TEML_NVRTC={}", place.join("libcuda.so.1").display());
    let libraries = format!("LD_LIBRARY_PATH={}", place.display());
    let start = ["TEML_DEVICE=cuda", &compiler, &libraries];
    let build = [
        env!("CARGO_BIN_EXE_teml"),
        "build",
        "doubled.rhai",
        "--out",
        "doubled",
    ];
    succeeds("env", &[&start[..], &build].concat(), place);
    let program = tests.join("arrays.py").display().to_string();
    let run = ["PYTHONPATH=doubled/python", &python, &program];
    let shown = succeeds("env", &[&start[..], &run].concat(), place);
    assert!(shown.contains("all is well\n"), "{shown}");
}

/// The sources of kernels in emitted C, for programs in Python.
const SOURCES: &str = r#"
import ast, ctypes, glob, re, site, sys
def sources():
    for name, lines in re.findall(r'char teml_(\w+)_source\[\] =\n((?:    ".*\\n"\n?)+)', sys.stdin.read()):
        yield name, "".join(ast.literal_eval(line.strip()) for line in lines.splitlines()).encode()
"#;

/// Compiles CUDA C by NVIDIA's compiler as a library, and prints what ptxas says.
const CUDA: &str = r#"
found = [f for p in site.getsitepackages() + [site.getusersitepackages()]
         for f in glob.glob(p + "/nvidia/*/lib/libnvrtc.so.1*")]
if not found:
    sys.exit(77)
builtins = glob.glob(found[0].replace("libnvrtc.so", "libnvrtc-builtins.so") + ".*")
for file in builtins:
    ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL)
nvrtc = ctypes.CDLL(found[0])
for name, source in sources():
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None)
    options = [b"--gpu-architecture=" + sys.argv[1].encode(), b"--std=c++14", b"--ptxas-options=-v"]
    options += [option.encode() for option in sys.argv[2:]]
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    print(name, "failed" if failed else "compiled", log.value.decode())
"#;

/// Compiles HIP C by AMD's compiler as a library, and prints what each kernel needs. The facts are in
/// MessagePack, where a number follows its name.
const HIP: &str = r#"
hip = None
for file in ("libhiprtc.so.7", "libhiprtc.so.6", "libamdhip64.so.6", "libamdhip64.so.5"):
    try:
        hip = hip or ctypes.CDLL(file)
    except OSError:
        pass
if not hip:
    sys.exit(77)
for name, source in sources():
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    hip.hiprtcCreateProgram(ctypes.byref(program), source, b"kernel", 0, None, None)
    options = [b"--offload-arch=" + sys.argv[1].encode()] + [option.encode() for option in sys.argv[2:]]
    failed = hip.hiprtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    hip.hiprtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    hip.hiprtcGetProgramLog(program, log)
    print(name, "failed" if failed else "compiled", log.value.decode())
    if failed:
        continue
    hip.hiprtcGetCodeSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    hip.hiprtcGetCode(program, code)
    for fact in (b".vgpr_spill_count", b".private_segment_fixed_size"):
        for found in re.finditer(re.escape(fact), code.raw):
            kind, rest = code.raw[found.end()], code.raw[found.end() + 1:]
            bytes_of = {0xcc: 1, 0xcd: 2, 0xce: 4}.get(kind, 0)
            value = int.from_bytes(rest[:bytes_of], "big") if bytes_of else kind
            print(" ", fact.decode(), value)
"#;

/// The answers of a compiler to the kernels in C, for an architecture and further options. `None` if it
/// is not installed.
fn compiled(program: &str, options: &[&str], c: &str) -> Option<String> {
    let mut command = Command::new("python3");
    command
        .args(["-c", &format!("{SOURCES}{program}")])
        .args(options);
    command.stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    let mut child = command.spawn().ok()?;
    use std::io::Write;
    let mut input = child.stdin.take().unwrap();
    // Without the compiler, nobody reads it.
    let _ = input.write_all(c.as_bytes());
    drop(input);
    let done = child.wait_with_output().unwrap();
    if done.status.code() == Some(77) {
        return None;
    }
    let (shown, wrong) = (text(&done.stdout), text(&done.stderr));
    assert!(done.status.success(), "{shown}{wrong}");
    assert!(!shown.contains(" failed "), "{shown}");
    let kernels = c.matches("_source[] =").count();
    assert_eq!(shown.matches(" compiled ").count(), kernels, "{shown}");
    Some(shown)
}

/// The number before a text in what ptxas says.
fn number_before(text: &str, of: &str) -> u64 {
    let start = of.split(text).next().filter(|start| start.len() < of.len());
    let last = start.and_then(|start| start.split_whitespace().last());
    last.map_or(0, |word| word.parse().unwrap())
}

/// The threads of a block, in a line of a plan.
fn threads(line: &str) -> i64 {
    let sizes = line.split("blocks of ").nth(1).unwrap();
    let sizes = sizes.split(" threads").next().unwrap().split(" × ");
    sizes.map(|n| n.parse::<i64>().unwrap()).product()
}

/// Each kernel has the shared bytes of the plan. About so many blocks run at once as the plan says:
/// compilers use fewer registers where more blocks then fit.
fn is_as_planned(said: &str, plan: &str, device: &Device) {
    let launches = plan
        .lines()
        .filter(|line| line.contains("launch blocks of"));
    let planned: Vec<(u64, i64, i64)> = launches
        .map(|line| {
            let shared = line.split("which share ").nth(1).unwrap_or_default();
            let blocks = number_before(" blocks on a processor", line);
            let blocks = blocks.try_into().unwrap();
            (number_before(" bytes", shared), blocks, threads(line))
        })
        .collect();
    let mut used: Vec<(u64, i64)> = Vec::new();
    let mut last = Vec::new();
    for line in said.lines() {
        if line.contains(" compiled ") {
            // Functions of one program come last first.
            used.extend(last.drain(..).rev());
        }
        if line.contains("Used ") {
            let registers = number_before(" registers", line);
            let registers = registers.try_into().unwrap();
            last.push((number_before(" bytes smem", line), registers));
        }
    }
    used.extend(last.drain(..).rev());
    assert_eq!(planned.len(), used.len(), "{plan}\n{said}");
    for ((shared, blocks, threads), (used_shared, registers)) in planned.iter().zip(&used) {
        // The last tensor ends where it ends.
        let is_shared = used_shared <= shared && shared - used_shared < 16;
        assert!(is_shared, "{shared} {used_shared} {plan}\n{said}");
        let real = device.blocks(*threads, *registers, *used_shared).unwrap();
        let is_planned = 3 * real >= 2 * blocks && 3 * real <= 5 * blocks;
        assert!(
            is_planned,
            "{real} {blocks} {threads} {registers} {plan}\n{said}"
        );
    }
}

#[test]
fn kernels_compile_for_devices_of_nvidia_without_spills() {
    let directory = tempfile::tempdir().unwrap();
    for (architecture, shared, sizes) in [
        ("sm_80", 164 << 10, "odd"),
        ("sm_90", 228 << 10, "odd"),
        ("sm_90", 228 << 10, "even"),
        ("sm_90", 228 << 10, "all"),
    ] {
        let facts = format!(
            r#"{{"name": "{architecture}", "instructions": "sse2", "device": {{"processor": {{"blocks": 32,
               "threads": 2048, "registers": 65536, "shared": {shared}, "reserved": 1024}}}}}}"#
        );
        let device = teml::Target::parse(&facts).unwrap().device;
        let file = directory.path().join(format!("{architecture}.json"));
        std::fs::write(&file, &facts).unwrap();
        for elem in ["f32", "f64"] {
            let (elem, sizes) = (format!("type={elem}"), format!("sizes={sizes}"));
            let target = file.to_str().unwrap();
            let arguments = [
                "emit", KERNELS, "--set", &elem, "--set", &sizes, "--target", target,
            ];
            let emitted = teml(&arguments, "cuda");
            assert!(emitted.status.success(), "{}", text(&emitted.stderr));
            let plan = teml(&[&arguments[..], &["--plan"]].concat(), "cuda");
            assert!(plan.status.success(), "{}", text(&plan.stderr));
            let Some(shown) = compiled(CUDA, &[architecture], &text(&emitted.stdout)) else {
                let package = "`pip install nvidia-cuda-nvrtc==13.0.88`";
                return eprintln!("{package} brings NVIDIA's compiler: not tested");
            };
            let spills = shown.lines().filter(|line| line.contains("spill"));
            let clean = "0 bytes spill stores, 0 bytes spill loads";
            let mut spilled = spills.filter(|line| !line.contains(clean));
            assert_eq!(spilled.next(), None, "{elem} {sizes} {shown}");
            is_as_planned(&shown, &text(&plan.stdout), &device);
        }
    }
}

/// The proofs are for all sizes, and so is the code.
#[test]
fn kernels_of_all_sizes_compile() {
    for (api, program, architecture) in [("cuda", CUDA, "sm_80"), ("hip", HIP, "gfx90a")] {
        let emitted = teml(&["emit", KERNELS, "--set", "sizes=all"], api);
        assert!(emitted.status.success(), "{}", text(&emitted.stderr));
        let c = text(&emitted.stdout);
        assert_eq!(
            c.matches("#define TEML_INDEX int\\n").count(),
            c.matches("_source[] =").count()
        );
        for width in ["int", "int64_t"] {
            let width = format!("-DTEML_INDEX={width}");
            if compiled(program, &[architecture, &width], &c).is_none() {
                eprintln!("no compiler of {api} is installed: not tested");
            }
        }
    }
}

#[test]
fn kernels_compile_for_devices_of_amd_without_spills() {
    let emitted = teml(&["emit", KERNELS, "--set", "type=f32"], "hip");
    assert!(emitted.status.success(), "{}", text(&emitted.stderr));
    for architecture in ["gfx90a", "gfx1030"] {
        let Some(shown) = compiled(HIP, &[architecture], &text(&emitted.stdout)) else {
            return eprintln!("`apt install libamdhip64-5` brings AMD's compiler: not tested");
        };
        let needs = shown.lines().filter(|line| line.starts_with("  ."));
        let mut spilled = needs.filter(|line| !line.ends_with(" 0"));
        assert_eq!(spilled.next(), None, "{shown}");
    }
}
