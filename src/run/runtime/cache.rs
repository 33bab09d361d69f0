//! The cache of shared objects. Their names are hashes of their sources, and a hash of the contents
//! seals each. If the cache is full, the least recently used ones are removed.
//!
//! The next start removes the leftovers of killed processes: directories are named after their
//! process, and locked.

use super::control::Control;
use super::{sys, trust};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The name of the object that `source` compiles to with these flags and this compiler. It also
/// depends on this processor, because the flags say "native".
pub(super) fn key(source: &str, flags: &[String], compiler: &[Vec<u8>]) -> String {
    let mut hasher = blake3::Hasher::new();
    let processor = processor();
    let fields = flags.iter().map(String::as_bytes);
    let fields = fields.chain(compiler.iter().map(Vec::as_slice));
    for field in fields.chain([source.as_bytes(), processor.as_bytes()]) {
        // The length comes first, so that different lists of fields are different bytes.
        hasher.update(&(field.len() as u64).to_le_bytes());
        hasher.update(field);
    }
    hasher.finalize().to_hex().to_string()
}

/// A name that depends on this processor and on `facts`, and not on a compiler.
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

/// The directory of shared objects and of measurements. `None` if the user has no cache directory,
/// or one that others can write to.
pub(super) fn directory(control: &Control) -> Option<PathBuf> {
    let chosen = || std::env::var_os("TEML_CACHE_DIR").filter(|dir| !dir.is_empty());
    let place = control.cache_dir.clone();
    let place = place.or_else(|| chosen().map(PathBuf::from));
    let place = place.or_else(|| dirs::cache_dir().map(|dir| dir.join("teml")))?;
    // Absolute, because a worker or the compiler may run in another directory.
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

/// The path for a file of this name that is not a shared object. `None` as for objects, and if
/// others may have written the file.
pub fn file(control: &Control, name: &str) -> Option<PathBuf> {
    let place = directory(control)?.join(name);
    let free = std::fs::symlink_metadata(&place).is_err();
    (free || trust::is_ours(&place, true)).then_some(place)
}

/// The path for a directory of this name, in which this program keeps files that appear whole.
/// `None` as for objects, and if others may have written there.
pub fn place(control: &Control, name: &str) -> Option<PathBuf> {
    let place = directory(control)?.join(name);
    let free = std::fs::symlink_metadata(&place).is_err();
    (free || trust::is_our_directory(&place)).then_some(place)
}

/// A new directory inside the cache. Files are made there and then moved into the cache, since
/// renaming is atomic only within one file system.
pub(super) fn workplace(cache: &Path) -> io::Result<Workplace> {
    std::fs::create_dir_all(cache)?;
    make_room(cache);
    Workplace::new(BUILD, cache)
}

/// The same in the directory for temporary files.
pub(super) fn temporary() -> io::Result<Workplace> {
    Workplace::new(TEMPORARY, &std::env::temp_dir())
}

/// A directory that is removed with its last use. If this process is killed, the next one removes
/// it: the name contains the process number, and the directory is locked while the process lives.
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
        // If the file system has no locks, the process number has to suffice.
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

/// Removes the directories that killed processes left in `place`.
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
        // A process on another machine, or in another container, may hold the lock.
        let path = entry.path();
        let mut options = OpenOptions::new();
        let flags = libc::O_NONBLOCK | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let lock = options.read(true).custom_flags(flags).open(&path);
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            // A directory that cannot be removed belongs to another user.
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

/// Appends a hash of the file to it, so that a file that a full disk or a power failure cut short
/// is not used. Loaders ignore the bytes after the last section of a shared object.
pub(super) fn seal(object: &Path) -> io::Result<()> {
    std::fs::set_permissions(object, Permissions::from_mode(0o700))?;
    let hash = blake3::hash(&std::fs::read(object)?);
    let mut file = std::fs::OpenOptions::new().append(true).open(object)?;
    file.write_all(hash.as_bytes())
}

/// Whether the cache has this file, it is whole, and nobody else can have written it. Also marks it
/// as used.
pub(super) fn holds(object: &Path) -> bool {
    let whole = is_whole(object);
    if whole {
        // If the time cannot be set, the file is removed early and compiled again.
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

/// The limit of the cache, in bytes.
const MAX_BYTES: u64 = 512 << 20;

/// Objects used within this time stay: this process or another one may still use them.
const IN_USE: Duration = Duration::from_secs(24 * HOUR);

const HOUR: u64 = 60 * 60;

/// Makes room for new objects, once per process, since it looks at every file.
fn make_room(cache: &Path) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| prune(cache, MAX_BYTES, SystemTime::now() - IN_USE));
}

/// Removes shared objects that were last used before `until`, the oldest first, until all of them
/// take at most `max` bytes. Also removes the leftovers of killed processes.
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
            // A directory that cannot be removed belongs to another user.
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

/// Prefixes of the directories in which the compiler works, in the cache and elsewhere.
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
