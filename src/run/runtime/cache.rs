//! The cache of shared objects: named by what they were made from, sealed by what they are, and
//! removed when there are too many, what was not used for the longest time first.

use super::control::Control;
use super::{sys, trust};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The name of what `source` compiles to with these flags, this compiler and, because the flags
/// say "native", this processor.
pub(super) fn key(source: &str, flags: &[String], compiler: &[Vec<u8>]) -> String {
    let mut hasher = blake3::Hasher::new();
    let processor = processor();
    let fields = flags.iter().map(String::as_bytes);
    let fields = fields.chain(compiler.iter().map(Vec::as_slice));
    for field in fields.chain([source.as_bytes(), processor.as_bytes()]) {
        // The length first, so that no two lists of fields are the same bytes.
        hasher.update(&(field.len() as u64).to_le_bytes());
        hasher.update(field);
    }
    hasher.finalize().to_hex().to_string()
}

/// A name for what depends on this processor and on `facts`, and on no compiler.
pub fn key_of_processor(facts: &str) -> String {
    key(facts, &[], &[])
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = info.split("\n\n").next().unwrap_or_default();
    let telling = [
        "vendor_id",
        "cpu family",
        "model",
        "stepping",
        "flags",
        "Features",
        "CPU ",
    ];
    let lines = first.lines();
    let lines = lines.filter(|line| telling.iter().any(|key| line.starts_with(key)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Where shared objects and what was measured are kept; `None` where the user has no cache
/// directory, or one into which others can put what they like.
pub(super) fn directory(control: &Control) -> Option<PathBuf> {
    let chosen = || std::env::var_os("TEML_CACHE_DIR").filter(|dir| !dir.is_empty());
    let place = control.cache_dir.clone();
    let place = place.or_else(|| chosen().map(PathBuf::from));
    let place = place.or_else(|| dirs::cache_dir().map(|dir| dir.join("teml")))?;
    // Absolute, because a worker or the compiler may run elsewhere.
    let place = std::path::absolute(place).ok()?;
    if let Some(doubt) = trust::directory(&place) {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let place = place.display();
            (control.notice)(&format!(
                "warning: nothing is kept in `{place}`, which {doubt}: `chmod 700` makes your own \
                 directory yours alone, and TEML_CACHE_DIR names another one"
            ));
        });
        return None;
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        remove_left(&place, BUILD);
        remove_left(&std::env::temp_dir(), TEMPORARY);
    });
    Some(place)
}

/// Where something other than a shared object is kept, under this name. `None` as for objects, and
/// where there is something that others may have written.
pub fn file(control: &Control, name: &str) -> Option<PathBuf> {
    let place = directory(control)?.join(name);
    let free = std::fs::symlink_metadata(&place).is_err();
    (free || trust::is_ours(&place, true)).then_some(place)
}

/// A directory of its own inside the cache, where something is made that is then moved into the
/// cache: renaming is atomic on one file system only.
pub(super) fn workplace(cache: &Path) -> io::Result<Workplace> {
    std::fs::create_dir_all(cache)?;
    make_room(cache);
    Workplace::new(BUILD, cache)
}

/// The same where temporary files are.
pub(super) fn temporary() -> io::Result<Workplace> {
    Workplace::new(TEMPORARY, &std::env::temp_dir())
}

/// A directory that goes away with its last use. If this process is killed, the next one removes it:
/// the name tells the process, and the directory is locked as long as that lives.
#[derive(Debug)]
pub(super) struct Workplace {
    directory: TempDir,
    _lock: File,
}

impl Workplace {
    fn new(kind: &str, place: &Path) -> io::Result<Workplace> {
        let prefix = format!("{kind}{}-", std::process::id());
        let directory = tempfile::Builder::new().prefix(&prefix).tempdir_in(place)?;
        let lock = File::open(directory.path())?;
        // Without locks, the number of the process has to do.
        let _ = lock.try_lock();
        Ok(Workplace {
            directory,
            _lock: lock,
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes what was left behind in `place` where processes were killed.
fn remove_left(place: &Path, kind: &str) {
    let Ok(entries) = std::fs::read_dir(place) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(kind));
        let process = process.and_then(|rest| rest.split_once('-')?.0.parse().ok());
        if process.is_none_or(sys::is_alive) {
            continue;
        }
        // A process on another machine, or in another container, holds the lock.
        let path = entry.path();
        let mut options = OpenOptions::new();
        let flags = libc::O_NONBLOCK | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let lock = options.read(true).custom_flags(flags).open(&path);
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            // What cannot be removed is another user's.
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

/// Appends a hash of the file to it (what follows a shared object's last section is ignored when
/// it is loaded), so that a file that a full disk or a power failure cut short is not used.
pub(super) fn seal(object: &Path) -> io::Result<()> {
    std::fs::set_permissions(object, Permissions::from_mode(0o700))?;
    let hash = blake3::hash(&std::fs::read(object)?);
    let mut file = std::fs::OpenOptions::new().append(true).open(object)?;
    file.write_all(hash.as_bytes())
}

/// Whether the cache holds this file, whole, and nobody else can have written it; then it counts as
/// used now.
pub(super) fn holds(object: &Path) -> bool {
    let whole = is_whole(object);
    if whole {
        // Where the time cannot be set, the file is removed early and made anew.
        let _ = trust::open(object).and_then(|f| f.set_modified(SystemTime::now()));
    }
    whole
}

fn is_whole(object: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = trust::open(object).and_then(|mut file| file.read_to_end(&mut bytes));
    if read.is_err() {
        return false;
    }
    let Some((body, hash)) = bytes.split_last_chunk::<{ blake3::OUT_LEN }>() else {
        return false;
    };
    blake3::hash(body).as_bytes() == hash
}

/// The cache may take this many bytes.
const MAX_BYTES: u64 = 512 << 20;

/// What was used in this time may be in use now, by this process or another one, and stays.
const IN_USE: Duration = Duration::from_secs(24 * HOUR);

const HOUR: u64 = 60 * 60;

/// Makes room for what is stored from now on. Once per process, since that looks at every file.
fn make_room(cache: &Path) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| prune(cache, MAX_BYTES, SystemTime::now() - IN_USE));
}

/// Removes shared objects that were last used before `until`, the oldest first, as long as all of
/// them take more than `max` bytes; and what was left behind where a process was killed.
fn prune(cache: &Path, max: u64, until: SystemTime) {
    let Ok(entries) = std::fs::read_dir(cache) else {
        return;
    };
    let (mut objects, mut total) = (Vec::new(), 0);
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(data) = entry.metadata() else { continue };
        let Ok(used) = data.modified() else { continue };
        if data.is_file() && path.extension().is_some_and(|e| e == "so") {
            total += data.len();
            objects.push((used, data.len(), path));
        } else if data.is_dir() && name.to_string_lossy().starts_with(BUILD) && used < until {
            // What cannot be removed is another user's.
            let _ = std::fs::remove_dir_all(path);
        }
    }
    objects.sort();
    for (used, bytes, path) in objects {
        if total <= max || used >= until {
            return;
        }
        if std::fs::remove_file(path).is_ok() {
            total -= bytes;
        }
    }
}

/// How the names of directories begin in which the compiler works, in the cache and elsewhere.
const BUILD: &str = "build-";
const TEMPORARY: &str = "teml-";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_processes_left_is_removed_and_what_others_use_stays() {
        let cache = tempfile::tempdir().unwrap();
        let used = Workplace::new(BUILD, cache.path()).unwrap();
        let gone = (1..).map(|k| i32::MAX - k).find(|p| !sys::is_alive(*p));
        let [left, locked] = ["a", "b"].map(|end| {
            let name = format!("{BUILD}{}-{end}", gone.unwrap());
            let place = cache.path().join(name);
            std::fs::create_dir(&place).unwrap();
            std::fs::write(place.join("kernel.c"), "").unwrap();
            place
        });
        let lock = File::open(&locked).unwrap();
        lock.lock().unwrap();
        remove_left(cache.path(), BUILD);
        assert!(used.path().exists() && locked.exists() && !left.exists());
    }

    #[test]
    fn what_was_used_long_ago_goes_first_and_what_may_be_in_use_stays() {
        let cache = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let aged = |name: &str, hours: u64| {
            let file = std::fs::File::create(cache.path().join(name)).unwrap();
            file.set_len(100).unwrap();
            file.set_modified(now - Duration::from_secs(hours * HOUR))
                .unwrap();
        };
        for (name, hours) in [
            ("a.so", 40),
            ("b.so", 50),
            ("c.so", 30),
            ("d.so", 1),
            ("e.txt", 90),
        ] {
            aged(name, hours);
        }
        std::fs::create_dir(cache.path().join("build-x")).unwrap();
        let left = |max, hours| {
            prune(cache.path(), max, now - Duration::from_secs(hours * HOUR));
            let entries = std::fs::read_dir(cache.path()).unwrap();
            let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.collect();
            names.sort();
            names.join(" ")
        };
        assert_eq!(left(400, 24), "a.so b.so build-x c.so d.so e.txt");
        assert_eq!(left(399, 24), "a.so build-x c.so d.so e.txt");
        assert_eq!(left(0, 35), "build-x c.so d.so e.txt");
        assert_eq!(left(0, 24), "build-x d.so e.txt");
        prune(cache.path(), 0, now + Duration::from_secs(HOUR));
        assert_eq!(left(0, 24), "e.txt");
    }
}
