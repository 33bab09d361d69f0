//! Faults of kernels, and the messages about them.

use crate::runtime::workshop::*;
use teml::codegen::Role;
use teml::ir::Elem;
use teml::runtime::{Control, Data, RuntimeError, run_once};

fn position(body: &str) -> (i64, u64) {
    let kernel = on_x("stray", "", body);
    match run_on_x(&kernel, &control()).unwrap_err() {
        RuntimeError::OutOfBounds {
            kernel,
            tensor,
            elements: 16,
            position,
            distance,
        } if kernel == "stray" && tensor == "x" => (position, distance),
        other => panic!("{other}"),
    }
}

#[test]
fn writes_around_a_tensor_are_noticed() {
    assert_eq!(position("x[16] = 1.0;"), (16, 0));
    assert_eq!(position("x[-1] = 1.0;"), (-1, 0));
    assert_eq!(position("x[100] = 1.0;"), (100, 84 * 8));
    assert_eq!(position("x[-3] = 1.0;"), (-3, 16));
    assert_eq!(position("((char *)x)[130] = 1;"), (16, 2));
}

#[test]
fn copying_what_lies_behind_one_tensor_behind_another_is_noticed() {
    let source = "void c(const double *a, const double *b, double *y) {\n\
                  for (int i = 0; i <= 8; i++) y[i] = a[i] + b[i] * 0;\n}";
    let params = vec![
        param("a", &[8], Elem::F64, Role::In),
        param("b", &[8], Elem::F64, Role::In),
        param("y", &[8], Elem::F64, Role::Out),
    ];
    let kernel = compiled(&kernel("c", source, params));
    let data = [Data::Pattern(0), Data::Pattern(1), Data::Unset];
    let error = run_once(&kernel, &data, &control()).unwrap_err();
    assert!(matches!(
        error,
        RuntimeError::OutOfBounds { position: 8, .. }
    ));
    assert!(
        error.to_string().contains("0 bytes after its last"),
        "{error}"
    );
}

fn signal_of(symbol: &str, body: &str) -> &'static str {
    let kernel = on_x(symbol, "#include <stdlib.h>", body);
    match run_on_x(&kernel, &control()).unwrap_err() {
        RuntimeError::Crashed { kernel, signal, .. } if kernel == symbol => signal,
        other => panic!("{other}"),
    }
}

#[test]
fn crashes_are_errors_with_the_signal() {
    assert_eq!(
        signal_of("null", "*(volatile double *)8 = x[0];"),
        "SIGSEGV"
    );
    let division = "volatile int zero = 0; x[0] = 7 / zero;";
    assert_eq!(signal_of("division", division), "SIGFPE");
    assert_eq!(signal_of("aborts", "abort();"), "SIGABRT");
    assert_eq!(signal_of("traps", "__builtin_trap();"), "SIGILL");
    let stack = "volatile double big[1 << 22]; for (int i = 0; i < 1 << 22; i++) big[i] = x[0];";
    assert_eq!(signal_of("stack", stack), "SIGSEGV");
}

#[test]
fn inputs_cannot_be_written() {
    let source = "void w(const double *a) { ((double *)a)[0] = 1.0; }";
    let kernel = compiled(&kernel(
        "w",
        source,
        vec![param("a", &[4], Elem::F64, Role::In)],
    ));
    let error = run_once(&kernel, &[Data::Pattern(0)], &control()).unwrap_err();
    assert!(matches!(
        error,
        RuntimeError::Crashed {
            signal: "SIGSEGV",
            ..
        }
    ));
    assert!(error.to_string().contains("wrote to an input"));
}

#[test]
fn leaving_the_process_is_an_error() {
    let kernel = on_x("leaves", "#include <stdlib.h>", "exit((int)x[0] + 2);");
    let error = run_on_x(&kernel, &control()).unwrap_err();
    assert_eq!(
        error,
        RuntimeError::Exited {
            kernel: "leaves".to_owned(),
            status: 3
        }
    );
}

#[test]
fn a_damaged_object_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let own = Control {
        cache_dir: Some(directory.path().to_owned()),
        ..control()
    };
    let kernel = on_x("damaged", "", "x[0] = 2;");
    let options = teml::runtime::Options::default();
    let compiled = teml::runtime::compile(&kernel, &options, &own).unwrap();
    std::fs::write(compiled.path(), "no shared object").unwrap();
    let error = run_once(&compiled, &[Data::Unset], &own).unwrap_err();
    assert!(
        matches!(error, RuntimeError::WorkerFailed { .. }),
        "{error}"
    );
}

#[test]
fn a_program_that_is_no_worker_is_an_error() {
    for program in ["/bin/echo", "/bin/true", "/nonexistent/teml"] {
        let own = Control {
            worker: program.into(),
            ..control()
        };
        let error = run_on_x(&on_x("idle", "", "(void)x;"), &own).unwrap_err();
        assert!(matches!(error, RuntimeError::WorkerStart { .. }), "{error}");
        assert!(error.to_string().contains(program), "{error}");
    }
}
