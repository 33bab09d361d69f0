//! The worker's side. Only here does teml call code from other compilers.

use super::buffer::{Mapped, fill_words};
use super::configured;
use super::protocol::{Call, DeviceFailure, Reply, Request, Restore};
use super::sys;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

type Entry = unsafe extern "C" fn(*const *mut c_void);

/// A kernel of a shared object.
#[derive(Clone, Copy)]
struct Function {
    entry: Entry,
    /// The device that runs the kernels of the object, if one does.
    device: Option<OnDevice>,
}

/// The variables of an object by which a device is measured, and says why it failed.
#[derive(Clone, Copy)]
struct OnDevice {
    /// The seconds that the device computed. Copies between the memories of device and processor are
    /// not in them.
    seconds: *mut f64,
    /// How often a call computes. If that is several times, the first one is not measured.
    turns: *mut c_int,
    /// 1 if a kernel failed, and 2 without a device.
    failed: *mut c_int,
    /// Why, as a text that ends with a zero.
    reason: *const c_char,
}

impl OnDevice {
    /// The variables of an object, if a device runs its kernels. It then leaves reasons there.
    ///
    /// # Safety
    /// The object has these variables with the types of `failure.h` and `device.h`, or none of them, and
    /// is never unloaded.
    unsafe fn of(library: &libloading::Library) -> Option<OnDevice> {
        // SAFETY: the caller says so.
        unsafe {
            let asks = library.get::<*mut c_int>(b"teml_device_asks").ok()?;
            let device = OnDevice {
                seconds: *library.get(b"teml_device_seconds").ok()?,
                turns: *library.get(b"teml_device_turns").ok()?,
                failed: *library.get(b"teml_device_failed").ok()?,
                reason: *library.get(b"teml_device_reason").ok()?,
            };
            asks.write_volatile(1);
            Some(device)
        }
    }

    /// Why a call failed.
    fn failure(self) -> Option<DeviceFailure> {
        // SAFETY: `failed` points to a variable of an object that is never unloaded, and no kernel
        // runs.
        let failed = unsafe { self.failed.read_volatile() };
        (failed != 0).then(|| {
            // SAFETY: as above; kernels end the text with a zero.
            let reason = unsafe {
                self.failed.write_volatile(0);
                CStr::from_ptr(self.reason)
            };
            DeviceFailure {
                reason: reason.to_string_lossy().trim_end().to_owned(),
                is_absent: failed == ABSENT,
            }
        })
    }

    /// How long the device computes in `call`, with so many turns of each function.
    fn time(self, turns: u32, call: impl FnOnce()) -> Duration {
        // SAFETY: both point to variables of an object that is never unloaded. Only its kernels use
        // them, and none runs now.
        unsafe {
            self.turns
                .write_volatile(turns.try_into().unwrap_or(i32::MAX));
            self.seconds.write_volatile(0.0);
        }
        call();
        // SAFETY: as above.
        let seconds = unsafe { self.seconds.read_volatile() };
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }
}

/// A failure of the device, not of the kernel (`failure.h`).
const ABSENT: c_int = 2;

#[derive(Default)]
struct Loaded {
    kernels: Vec<Function>,
    buffers: Vec<Mapped>,
}

/// Runs kernels for the program that started this process, until its requests end.
///
/// Requests come on standard input, replies go to standard output; the output of kernels goes to
/// standard error. This is all of `teml worker`, which nobody calls by hand. With `guard`, it only
/// kills the processes that the program has started, once the program is killed.
pub fn serve(guard: bool) -> ExitCode {
    if guard {
        super::guard::keep();
        return ExitCode::SUCCESS;
    }
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("teml worker: {error}");
            ExitCode::from(2)
        }
    }
}

fn work() -> io::Result<()> {
    sys::prepare_worker()?;
    let requests = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut replies = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    sys::redirect_kernel_io()?;
    let mut send = |reply: Reply| -> io::Result<()> {
        let mut line = serde_json::to_string(&reply)?;
        line.push('\n');
        replies.write_all(line.as_bytes())
    };
    send(Reply::Ready)?;
    let mut loaded = Loaded::default();
    for line in BufReader::new(requests).lines() {
        let request = serde_json::from_str(&line?)?;
        send(
            loaded
                .answer(request)
                .unwrap_or_else(|reason| Reply::Failed { reason }),
        )?;
    }
    Ok(())
}

impl Loaded {
    fn answer(&mut self, request: Request) -> Result<Reply, String> {
        match request {
            Request::Load { path, entry } => {
                self.kernels
                    .push(load(&path, &entry).map_err(|error| error.to_string())?);
                Ok(Reply::Done)
            }
            Request::Map {
                path,
                start,
                writable,
            } => {
                let mapped = Mapped::open(&path, start, writable);
                self.buffers
                    .push(mapped.map_err(|error| error.to_string())?);
                Ok(Reply::Done)
            }
            Request::Run(call) => self.run(&call),
            Request::Compiler => configured::find().map(Reply::Compiler),
        }
    }

    fn run(&mut self, call: &Call) -> Result<Reply, String> {
        self.restore_all(call.restore.iter())?;
        let Function { entry, device } = *self
            .kernels
            .get(call.kernel)
            .ok_or("there is no such kernel")?;
        let arguments: Option<Vec<*mut c_void>> = call
            .buffers
            .iter()
            .map(|k| self.buffers.get_mut(*k).map(Mapped::address))
            .collect();
        let arguments = arguments.ok_or("there is no such buffer")?;
        // SAFETY: `entry` is the entry function of a kernel's shared object, which reads as many
        // pointers as the kernel has arguments. The parent sends that many buffers, each as large
        // as its tensor. Damage by a wrong kernel stays in this process.
        let call_once = || unsafe { entry(arguments.as_ptr()) };
        let keeps_inputs = !call.restore.iter().any(Restore::copies);
        // Tensors stay on the device while it repeats.
        let repeats_there = device.filter(|_| keeps_inputs);
        if call.warm_up && repeats_there.is_none() {
            call_once();
            self.restore_all(call.restore.iter().filter(|r| r.copies()))?;
        }
        let elapsed = match (repeats_there, device) {
            (Some(device), _) => device.time(call.repeats.saturating_add(1), call_once),
            (None, Some(device)) => device.time(1, || (0..call.repeats).for_each(|_| call_once())),
            (None, None) => {
                let start = Instant::now();
                (0..call.repeats).for_each(|_| call_once());
                start.elapsed().saturating_sub(clock())
            }
        };
        if let Some(failure) = device.and_then(OnDevice::failure) {
            return Ok(Reply::Device(failure));
        }
        let elapsed = elapsed / call.repeats.max(1);
        sys::flush_kernel_output();
        // A kernel takes at least a nanosecond, even if the clock shows none.
        let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let nanoseconds = nanoseconds.max(1);
        Ok(Reply::Ran { nanoseconds })
    }

    fn restore_all<'r>(&mut self, all: impl Iterator<Item = &'r Restore>) -> Result<(), String> {
        for restore in all {
            self.restore(restore)
                .ok_or("there is no such buffer to restore")?;
        }
        Ok(())
    }

    fn restore(&mut self, restore: &Restore) -> Option<()> {
        match *restore {
            Restore::Fill { to, word } => {
                fill_words(self.buffers.get_mut(to)?.bytes_mut()?, word);
            }
            Restore::Copy { from, to } => {
                let [from, to] = self.buffers.get_disjoint_mut([from, to]).ok()?;
                let (from, to) = (from.bytes(), to.bytes_mut()?);
                if from.len() != to.len() {
                    return None;
                }
                to.copy_from_slice(from);
            }
        }
        Some(())
    }
}

/// The time that reading the clock takes, which is subtracted from each measurement. It is as long
/// as a kernel of a few operations, if only one call can be timed.
fn clock() -> Duration {
    static CLOCK: OnceLock<Duration> = OnceLock::new();
    *CLOCK.get_or_init(|| {
        let between = (0..ASKED).map(|_| Instant::now().elapsed());
        between.min().unwrap_or_default()
    })
}

/// How often the clock is read to measure that.
const ASKED: usize = 256;

fn load(path: &OsStr, entry: &str) -> Result<Function, libloading::Error> {
    // SAFETY: the object was compiled from a kernel and has no initializers beyond the
    // compiler's; the entry function has the type `Entry`, and the variables are those of its headers. The
    // library is never unloaded, so all stay where they are.
    unsafe {
        let library = libloading::Library::new(path)?;
        let entry = *library.get::<Entry>(entry.as_bytes())?;
        let device = OnDevice::of(&library);
        // Unloading an OpenMP runtime from under its threads crashes.
        std::mem::forget(library);
        Ok(Function { entry, device })
    }
}
