//! The `teml` command.

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use teml::script::Session;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    if std::env::args().nth(1).as_deref() == Some("worker") {
        return teml::runtime::serve();
    }
    let mut session = match Session::new(Box::new(std::io::stdout()), &[]) {
        Ok(session) => session,
        Err(error) => {
            eprint!("{}", error.render(false));
            return ExitCode::FAILURE;
        }
    };
    match (args.next().as_deref(), args.next()) {
        (Some("run"), Some(file)) => match session.run_file(file.as_ref()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprint!("{}", error.render(false));
                ExitCode::FAILURE
            }
        },
        (Some("repl"), None) => {
            let interrupt = session.interrupt_flag();
            let handler = ctrlc::set_handler(move || interrupt.store(true, Ordering::Relaxed));
            if let Err(error) = handler {
                eprintln!("warning: Ctrl-C will not stop a running line: {error}");
            }
            match teml::repl::run(session) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("error: {error}");
                    ExitCode::FAILURE
                }
            }
        }
        _ => {
            eprintln!("usage: teml run FILE | teml repl");
            ExitCode::from(2)
        }
    }
}
