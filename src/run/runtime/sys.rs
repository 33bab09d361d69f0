//! Safe wrappers of the system calls that the standard library does not offer.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// Anonymous shared memory of `bytes` bytes, all zero. All of it is allocated at once, so that a
/// lack of memory is an error here and not a signal later.
pub(super) fn shared_memory(bytes: u64) -> io::Result<File> {
    let length = libc::off_t::try_from(bytes)
        .map_err(|_| io::Error::other("more bytes than a file can have"))?;
    if let Some(free) = available().filter(|free| *free < bytes) {
        let free = super::error::bytes_text(free);
        return Err(io::Error::other(format!("{free} are free")));
    }
    // SAFETY: the name is a NUL-terminated string, and the call keeps no pointer to it.
    let fd = checked(unsafe { libc::memfd_create(c"teml".as_ptr(), libc::MFD_CLOEXEC) })?;
    // SAFETY: the descriptor was just created, so nothing else owns it.
    let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    loop {
        // SAFETY: the descriptor is open as long as `file` lives; no memory is passed.
        match unsafe { libc::posix_fallocate(fd, 0, length) } {
            0 => return Ok(file),
            libc::EINTR => {}
            error => return Err(io::Error::from_raw_os_error(error)),
        }
    }
}

/// Installs a handler for a signal, unless the signal is ignored. The handler may only call
/// async-signal-safe functions.
pub(super) fn on_signal(
    signal: libc::c_int,
    handler: extern "C" fn(libc::c_int),
) -> io::Result<()> {
    // SAFETY: all bytes zero are a value of this C structure, which the calls read and write.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        checked(libc::sigaction(signal, std::ptr::null(), &raw mut old))?;
        if old.sa_sigaction == libc::SIG_IGN {
            return Ok(());
        }
        let mut new: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handler as *const () as libc::sighandler_t;
        checked(libc::sigaction(
            signal,
            &raw const new,
            std::ptr::null_mut(),
        ))?;
    }
    Ok(())
}

/// Raises the signal of Ctrl-C in this process. Signal handlers may call it.
pub(super) fn interrupt() {
    // SAFETY: `raise` may be called anywhere.
    unsafe {
        libc::raise(libc::SIGINT);
    }
}

/// The user whose files this process writes.
pub(super) fn user() -> u32 {
    // SAFETY: it has no preconditions, and always succeeds.
    unsafe { libc::geteuid() }
}

/// The columns of the terminal that standard output is; `None` if it is something else.
pub fn terminal_columns() -> Option<usize> {
    let mut size = std::mem::MaybeUninit::<libc::winsize>::zeroed();
    // SAFETY: the request fills a `winsize`, for which zeros are valid.
    let size = unsafe {
        checked(libc::ioctl(
            libc::STDOUT_FILENO,
            libc::TIOCGWINSZ,
            size.as_mut_ptr(),
        ))
        .ok()?;
        size.assume_init()
    };
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// Whether a process with this number exists, of any user.
pub(super) fn is_alive(process: i32) -> bool {
    // SAFETY: signal 0 is sent to nobody.
    let asked = unsafe { libc::kill(process, 0) };
    asked == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// The memory that this process could still get, in bytes; `None` if the system does not report it.
///
/// Checked before allocating: if more memory is requested than there is, the kernel may kill a
/// process instead of refusing.
pub(super) fn available() -> Option<u64> {
    let memory = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kib = |key: &str| -> Option<u64> {
        let line = memory.lines().find(|line| line.starts_with(key))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    let free = (kib("MemAvailable:")? + kib("SwapFree:").unwrap_or(0)) * 1024;
    let mut limit = file_size_limit().min(free);
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    if let Some(group) = groups.lines().find_map(|line| line.strip_prefix("0::")) {
        let root = std::path::Path::new("/sys/fs/cgroup");
        let own = root.join(group.trim_start_matches('/'));
        for group in own.ancestors().take_while(|dir| dir.starts_with(root)) {
            let number = |name: &str| -> Option<u64> {
                let text = std::fs::read_to_string(group.join(name)).ok()?;
                text.trim().parse().ok()
            };
            if let (Some(max), Some(now)) = (number("memory.max"), number("memory.current")) {
                limit = limit.min(max.saturating_sub(now));
            }
        }
    }
    Some(limit)
}

/// The limit of `ulimit -f`, in bytes. It also applies to shared memory, and exceeding it raises a
/// signal instead of an error.
fn file_size_limit() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for the result.
    match unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } {
        0 => limit.rlim_cur,
        _ => u64::MAX,
    }
}

/// Kills every process of the group that `leader` leads.
pub(super) fn kill_group(leader: u32) {
    if let Ok(group) = libc::pid_t::try_from(leader) {
        // SAFETY: passes no memory. Killing a group that is gone is an error without effect.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}

/// Makes this process the parent of its children's orphans, so that it can wait for them: not every
/// system has a first process that does.
pub(super) fn adopt_orphans() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // SAFETY: passes no memory. Where it fails, orphans go to the first process.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    });
}

/// How long killed processes may take to end.
const DYING: Duration = Duration::from_secs(2);

/// Waits for the rest of a killed group, once its leader was waited for.
pub(super) fn reap_group(leader: u32) {
    let Ok(group) = libc::pid_t::try_from(leader) else {
        return;
    };
    let start = Instant::now();
    // SAFETY: a null pointer discards the status.
    let wait = || unsafe { libc::waitpid(-group, std::ptr::null_mut(), libc::WNOHANG) };
    loop {
        match wait() {
            // None are left.
            -1 => return,
            0 if start.elapsed() >= DYING => return,
            0 => std::thread::sleep(Duration::from_millis(1)),
            _ => {}
        }
    }
}

/// Whether a child of this process has ended; it keeps its number.
pub(super) fn has_ended(child: u32) -> bool {
    // SAFETY: all zero is a valid value of this type.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` is a valid place for the result, which names no child unless one has ended.
    match unsafe { libc::waitid(libc::P_PID, child, &mut info, how) } {
        // SAFETY: `waitid` has filled in the fields about a child, or left them zero.
        0 => (unsafe { info.si_pid() }) != 0,
        _ => true,
    }
}

/// Keeps a new child, and its threads, off one of the cores that this process may use, if there are
/// several.
pub(super) fn leave_a_core(child: u32) {
    let cores = cores_of_thread();
    // If that fails, all cores are shared.
    if let (Ok(child), [rest @ .., _]) = (libc::pid_t::try_from(child), &cores[..])
        && !rest.is_empty()
    {
        bind(child, rest);
    }
}

/// The cores that the calling thread may use, in order; empty if the system does not report them.
fn cores_of_thread() -> Vec<usize> {
    // SAFETY: all zero is the empty set.
    let mut cores: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::cpu_set_t>();
    // SAFETY: `cores` is a valid place for the result, of the size that is told.
    if unsafe { libc::sched_getaffinity(0, size, &mut cores) } < 0 {
        return Vec::new();
    }
    let most = libc::CPU_SETSIZE.cast_unsigned() as usize;
    // SAFETY: numbers of cores are below the size of the set.
    let is_set = |core: &usize| unsafe { libc::CPU_ISSET(*core, &cores) };
    (0..most).filter(is_set).collect()
}

/// Binds a thread to these cores.
fn bind(thread: libc::pid_t, cores: &[usize]) -> bool {
    // SAFETY: all zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let most = libc::CPU_SETSIZE.cast_unsigned() as usize;
    for core in cores.iter().filter(|core| **core < most) {
        // SAFETY: numbers of cores are below the size of the set.
        unsafe { libc::CPU_SET(*core, &mut set) };
    }
    // SAFETY: `set` is a set of the size that is told.
    unsafe { libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), &set) == 0 }
}

/// Makes a command end at the latest with the thread that starts it.
pub(super) fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    let prepare = move || {
        // SAFETY: the calls pass no memory.
        unsafe {
            checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            // The parent may have ended before.
            if u32::try_from(libc::getppid()) == Ok(parent) {
                Ok(())
            } else {
                Err(io::Error::from_raw_os_error(libc::ESRCH))
            }
        }
    };
    // SAFETY: between fork and exec, the function makes two system calls and touches no memory but
    // its own.
    unsafe { command.pre_exec(prepare) };
}

/// Waits until one of `files` can be read or is closed at the other end. Returns which ones.
pub(super) fn readable(files: &[BorrowedFd<'_>], limit: Duration) -> io::Result<Vec<bool>> {
    let entry = |file: &BorrowedFd| libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut entries: Vec<libc::pollfd> = files.iter().map(entry).collect();
    let milliseconds = libc::c_int::try_from(limit.as_millis()).unwrap_or(libc::c_int::MAX);
    let count = entries.len() as libc::nfds_t;
    // SAFETY: `entries` are as many as the call is told, and live as long as it takes.
    match checked(unsafe { libc::poll(entries.as_mut_ptr(), count, milliseconds) }) {
        Ok(_) => Ok(entries.iter().map(|entry| entry.revents != 0).collect()),
        // Interrupted by a signal: the caller checks its state and waits again.
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(vec![false; files.len()]),
        Err(error) => Err(error),
    }
}

/// Limits the memory that this process and its children may allocate, in bytes.
pub(super) fn limit_memory(bytes: u64) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: bytes,
    };
    // SAFETY: `limit` is a valid limit for the time of the call.
    checked(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &limit) })?;
    Ok(())
}

/// Prepares this process for kernels that may crash: it dies with its parent, writes no core file,
/// and dies of faults without a message of the Rust runtime.
pub(super) fn prepare_worker() -> io::Result<()> {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `none` is a valid limit for the time of the call; the other calls pass no memory,
    // and the default actions replace handlers that only print.
    unsafe {
        checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        checked(libc::setrlimit(libc::RLIMIT_CORE, &none))?;
        libc::signal(libc::SIGSEGV, libc::SIG_DFL);
        libc::signal(libc::SIGBUS, libc::SIG_DFL);
    }
    Ok(())
}

/// Gives kernels an empty standard input, and standard error as their standard output.
pub(super) fn redirect_kernel_io() -> io::Result<()> {
    let null = File::open("/dev/null")?;
    // SAFETY: only replaces the files of descriptors 0 and 1. Code that still needs the old files
    // has duplicates of them.
    unsafe {
        checked(libc::dup2(null.as_raw_fd(), 0))?;
        checked(libc::dup2(2, 1))?;
    }
    Ok(())
}

/// Flushes the output that kernels printed through C's standard output.
pub(super) fn flush_kernel_output() {
    // SAFETY: a null pointer means all output streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}
