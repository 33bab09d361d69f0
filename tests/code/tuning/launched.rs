//! Workers that external programs start.

use super::stub::{Stub, in_session, session};
use super::{shown, teml, with};
use crate::waiting::eventually;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use teml::runtime::Control;
use teml::tune::{Engine, Launch, Record, read};
use teml::verbs::{Tuning, Workbench};

/// The variable that makes this test program a worker.
const WORKER: &str = "TEML_STUB_WORKER";

/// Arguments with which `mpirun` starts more processes than cores, for any user; `None` without
/// `mpirun`.
fn mpirun() -> Option<Vec<String>> {
    let Ok(version) = Command::new("mpirun").arg("--version").output() else {
        eprintln!("there is no mpirun: workers of MPI are not tested");
        return None;
    };
    let is_open = String::from_utf8_lossy(&version.stdout).contains("Open MPI");
    let arguments = ["--allow-run-as-root", "--oversubscribe"];
    Some(if is_open {
        arguments.map(str::to_owned).to_vec()
    } else {
        Vec::new()
    })
}

/// The process that another test starts: a worker whose times follow from nests.
#[test]
fn worker() {
    if std::env::var_os(WORKER).is_some() {
        let directory = PathBuf::from(std::env::args_os().next_back().unwrap());
        let stub = Stub {
            pause: Duration::from_millis(40),
        };
        teml::tune::work(&directory, &stub, &Control::default()).unwrap();
    }
}

/// The points, times and outcomes of records, in order.
fn told(records: &Path) -> Vec<String> {
    let line = |r: &Record| {
        format!(
            "{:?} {} {:?} {} {:?} {:?} {:?}",
            r.kind, r.number, r.parameters, r.outcome, r.runs, r.nests, r.ties
        )
    };
    read(records).unwrap().iter().map(line).collect()
}

/// The process that has taken a task in a directory shared below `place`, if there is one.
fn busy(place: &Path) -> Option<String> {
    let shared = std::fs::read_dir(place).ok()?.flatten();
    let taken = shared.filter_map(|entry| std::fs::read_dir(entry.path().join("taken")).ok());
    let mut names = taken.flat_map(|entries| entries.flatten());
    let name = names.next()?.file_name().into_string().ok()?;
    Some(name.rsplit('-').next()?.to_owned())
}

#[test]
fn four_ranks_of_which_one_is_killed_record_what_one_process_records() {
    let Some(arguments) = mpirun() else { return };
    let place = tempfile::tempdir().unwrap();
    let records = |name: &str| place.path().join(name);
    let script = |name: &str| {
        let path = records(name);
        with(&format!(
            "#{{trials: 40, seed: 5, records: \"{}\"}}",
            path.display()
        ))
    };
    let (ran, _) = session(&script("alone"));
    ran.unwrap();
    let set = format!("{WORKER}=1");
    let exe = std::env::current_exe().unwrap();
    let worker = [
        OsString::from("env"),
        set.into(),
        exe.into(),
        "--exact".into(),
        "tuning::launched::worker".into(),
    ];
    let launch = Launch {
        engine: Engine::Mpi,
        workers: 4,
        arguments,
        worker: worker.to_vec(),
        place: place.path().to_owned(),
        patience: Duration::from_secs(4),
    };
    let workbench = Workbench {
        runner: Arc::new(Stub {
            pause: Duration::ZERO,
        }),
        control: Control {
            worker: PathBuf::from(env!("CARGO_BIN_EXE_teml")),
            ..Control::default()
        },
        tuning: Tuning {
            launch: Some(launch),
            ..Tuning::default()
        },
        ..Workbench::default()
    };
    let is_over = AtomicBool::new(false);
    let (ended, held_a_task) = std::thread::scope(|scope| {
        let killed = scope.spawn(|| {
            let lines = || read(&records("together")).map_or(0, |all| all.len());
            let mut found = None;
            eventually(|| {
                found = busy(place.path()).filter(|_| lines() >= 8);
                found.is_some() || is_over.load(Ordering::Relaxed)
            });
            let found = found.expect("a worker was busy");
            let kill = Command::new("kill").args(["-9", &found]).status();
            assert!(kill.unwrap().success());
            // On a busy machine it may have finished its task in the meantime, so that no task is
            // reassigned.
            (
                lines(),
                busy(place.path()).is_some_and(|process| process == found),
            )
        });
        let ended = in_session(&script("together"), workbench);
        is_over.store(true, Ordering::Relaxed);
        let (count, held_a_task) = killed.join().unwrap();
        assert!(count < 40, "it was killed too late");
        (ended, held_a_task)
    });
    let (ran, printed) = ended;
    ran.unwrap();
    assert!(
        !held_a_task || printed.contains("workers lost: 1; "),
        "{printed}"
    );
    let (together, alone) = (told(&records("together")), told(&records("alone")));
    assert_eq!(together.len(), alone.len());
    for (together, alone) in together.iter().zip(&alone) {
        assert_eq!(together, alone);
    }
    let left = std::fs::read_dir(place.path()).unwrap().count();
    assert_eq!(left, 2, "the shared directory is removed");
}

/// The outcomes of records.
fn outcomes(directory: &Path) -> Vec<String> {
    let all = read(&directory.join("records.jsonl")).unwrap();
    all.into_iter().map(|r| r.outcome).collect()
}

#[test]
fn workers_of_mpirun_compile_check_and_time() {
    let Some(arguments) = mpirun() else { return };
    let directory = tempfile::tempdir().unwrap();
    let arguments = format!("--launcher-args={}", arguments.join(" "));
    let mut command = vec![
        "tune",
        "--launcher",
        "mpi",
        "--workers",
        "2",
        "--trials",
        "4",
    ];
    command.extend(["--records", "records.jsonl", &arguments]);
    let mut teml = teml(directory.path(), &command, &with("#{}"));
    let printed = shown(&teml.output().unwrap());
    assert!(printed.contains("tuned: 4 trials"), "{printed}");
    assert_eq!(outcomes(directory.path()), ["ok"; 5]);
}

/// A program in the path of a command.
fn program(directory: &Path, name: &str, text: &str) {
    let file = directory.join(name);
    std::fs::write(&file, text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&file, mode).unwrap();
}

/// An `mpirun` that ends, with all workers, as soon as one of them has done a task. On its second
/// start, it keeps running.
const MPIRUN: &str = r#"#!/bin/sh
case "$1" in --version) echo 'a stub'; exit ;; esac
while [ "$1" != -n ]; do shift; done
count=$2
shift 2
for worker in $(seq "$count"); do
  "$@" &
  workers="$workers $!"
done
if [ ! -e started ]; then
  touch started
  until ls .teml-tune-*/done/0* >/dev/null 2>&1; do sleep 0.02; done
  kill -9 $workers
  exit 9
fi
wait
"#;

/// An `mpirun` that always ends before its worker has done anything. The search that started it
/// waits, so that no task is there in time.
const ENDS: &str = r#"#!/bin/sh
case "$1" in --version) echo 'a stub'; exit ;; esac
while [ "$1" != -n ]; do shift; done
shift 2
kill -STOP $PPID
"$@" &
while kill -0 $! 2>/dev/null && ! ls .teml-tune-*/ready/* >/dev/null 2>&1; do sleep 0.02; done
kill -9 $!
echo enough
kill -CONT $PPID
exit 9
"#;

#[test]
fn workers_that_all_ended_are_started_again() {
    let directory = tempfile::tempdir().unwrap();
    let programs = tempfile::tempdir().unwrap();
    program(programs.path(), "mpirun", MPIRUN);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", programs.path().display());
    let command = [
        "tune",
        "--launcher",
        "mpi",
        "--workers",
        "2",
        "--trials",
        "9",
        "--records",
        "records.jsonl",
    ];
    let mut run = teml(directory.path(), &command, &with("#{}"));
    let printed = shown(&run.env("PATH", &path).output().unwrap());
    assert!(directory.path().join("started").exists());
    assert!(printed.contains("tuned: 9 trials"), "{printed}");
    assert_eq!(outcomes(directory.path()), ["ok"; 10]);
    // One that always ends is given up.
    program(programs.path(), "mpirun", ENDS);
    let mut run = teml(directory.path(), &command, &with("#{}"));
    let output = run.env("PATH", &path).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && errors.contains("enough"),
        "{errors}"
    );
}

/// A queue that starts all tasks of an array at once.
const SBATCH: &str = r#"#!/bin/sh
for argument; do
  case "$last" in --wrap) wrap=$argument ;; esac
  case "$argument" in
    --array=0-*) last_task=${argument#--array=0-} ;;
    --output=*) output=${argument#--output=} ;;
  esac
  last=$argument
done
for task in $(seq 0 "$last_task"); do
  SLURM_ARRAY_TASK_ID=$task setsid sh -c "$wrap" >>"$output" 2>&1 </dev/null &
done
echo 17
"#;

#[test]
fn tasks_of_a_job_array_compile_check_and_time() {
    let directory = tempfile::tempdir().unwrap();
    let programs = tempfile::tempdir().unwrap();
    program(programs.path(), "sbatch", SBATCH);
    program(programs.path(), "squeue", "#!/bin/sh\necho \"$3\"\n");
    let canceled = programs.path().join("canceled");
    let scancel = format!("#!/bin/sh\necho \"$1\" >{}\n", canceled.display());
    program(programs.path(), "scancel", &scancel);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", programs.path().display());
    let command = [
        "tune",
        "--launcher",
        "slurm",
        "--workers",
        "2",
        "--trials",
        "6",
    ];
    let command = [&command[..], &["--records", "records.jsonl"]].concat();
    let mut run = teml(directory.path(), &command, &with("#{}"));
    let printed = shown(&run.env("PATH", &path).output().unwrap());
    assert!(printed.contains("tuned: 6 trials"), "{printed}");
    assert_eq!(outcomes(directory.path()), ["ok"; 7]);
    assert_eq!(std::fs::read_to_string(canceled).unwrap(), "17\n");
    // A queue that refuses.
    program(
        programs.path(),
        "sbatch",
        "#!/bin/sh\necho 'invalid account' >&2; exit 1\n",
    );
    let mut run = teml(directory.path(), &command, &with("#{}"));
    let output = run.env("PATH", &path).output().unwrap();
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("sbatch: invalid account"), "{errors}");
    // Tasks that end, and an empty queue.
    program(programs.path(), "sbatch", "#!/bin/sh\necho 18\n");
    program(programs.path(), "squeue", "#!/bin/sh\n");
    let mut run = teml(directory.path(), &command, &with("#{}"));
    let output = run.env("PATH", &path).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("sbatch: all workers ended"), "{errors}");
}
