//! Commands that try steps.

use super::advise::{moves, tune};
use super::table::{Command, Completes};
use crate::repl::arguments::parts;
use crate::repl::failure::{failed, failed_with};
use crate::repl::timeline::Subject;
use crate::repl::{Outcome, Repl, Reply};
use crate::{report, verbs};

pub static COMMANDS: &[Command] = &[
    Command {
        name: "moves",
        arguments: "[NEST [, LOOP]]",
        help: "the steps that are legal next, at all loops (the outer ones of a long nest) or at \
               one, and how many times as fast the cost model expects the nest to be after each",
        completes: Completes::Nest,
        call: moves,
    },
    Command {
        name: "check",
        arguments: "[NEST]",
        help: "whether a nest is legal, with two iterations that show why not",
        completes: Completes::Nest,
        call: check,
    },
    Command {
        name: "time",
        arguments: "[NEST]",
        help: "run a nest, check its results and time it",
        completes: Completes::Nest,
        call: time,
    },
    Command {
        name: "compare",
        arguments: "[NESTS]",
        help: "time nests beside each other; without NESTS, the untransformed nest and the last \
               one of each branch",
        completes: Completes::Nest,
        call: compare,
    },
    Command {
        name: "tune",
        arguments: "[NEST] [, OPTIONS]",
        help: "search schedules that begin with a nest; the fastest becomes `tuned`. OPTIONS are \
               those of `tune`, such as #{trials: 20}",
        completes: Completes::Nest,
        call: tune,
    },
    Command {
        name: "undo",
        arguments: "[LINES]",
        help: "go back by one line that you typed, or by several",
        completes: Completes::Nothing,
        call: undo,
    },
    Command {
        name: "redo",
        arguments: "[LINES]",
        help: "go forward again",
        completes: Completes::Nothing,
        call: redo,
    },
    Command {
        name: "branch",
        arguments: "NAME",
        help: "go to a branch, which begins here if it is new",
        completes: Completes::Branch,
        call: branch,
    },
    Command {
        name: "branches",
        arguments: "",
        help: "all branches, each with the time of its last nest if it was measured",
        completes: Completes::Nothing,
        call: branches,
    },
];

fn check(repl: &mut Repl, rest: &str) -> Reply {
    let subject = repl.subject(rest)?;
    let checked = repl.verb("check", |bench| {
        Ok(verbs::check(bench, &subject.nests, None).text())
    });
    let text = checked?;
    let paint = repl.paint();
    Ok(Outcome::Text(match text.split_once(':') {
        None => paint.good(&text),
        Some(("illegal", rest)) => format!("{}:{rest}", paint.bad("illegal")),
        Some(_) => text,
    }))
}

fn time(repl: &mut Repl, rest: &str) -> Reply {
    let subject = repl.subject(rest)?;
    let variants = vec![Repl::variant(subject.clone())];
    let ranking = repl.verb("measure", |bench| verbs::measure(bench, variants))?;
    let ranking = ranking.ok_or_else(|| failed("nothing runs"))?;
    let measured = match ranking.tried.into_iter().next() {
        Some(Ok(measured)) => measured,
        Some(Err(why)) => return Err(failed(why.error.to_string())),
        None => return Err(failed("it was not measured")),
    };
    let time = measured.timing.median;
    let now = repl.timeline().now();
    if rest.is_empty() {
        now.measured(time);
    }
    let share = repl.forecast().share(&subject.nests, time.as_secs_f64());
    let share = share.map_or(String::new(), |share| {
        format!("; {}", report::of_limit(share))
    });
    Ok(Outcome::Text(format!(
        "{}: {} (spread {:.1} %), {:.2} GFLOP/s, checked{share}",
        subject.name,
        report::time(time),
        100.0 * measured.timing.spread,
        ranking.work.flops / time.as_secs_f64().max(1e-12) / 1e9,
    )))
}

fn compare(repl: &mut Repl, rest: &str) -> Reply {
    let subjects = match parts(rest).as_slice() {
        [] => candidates(repl)?,
        all => all
            .iter()
            .map(|part| repl.subject(part))
            .collect::<Result<_, _>>()?,
    };
    let variants: Vec<_> = subjects.into_iter().map(Repl::variant).collect();
    // The table was printed row by row.
    repl.verb("compare", |bench| verbs::compare(bench, variants, &[]))?;
    Ok(Outcome::Nothing)
}

/// The untransformed nests of the subject, and the subjects of all branches.
fn candidates(repl: &mut Repl) -> Result<Vec<Subject>, Box<crate::script::ScriptError>> {
    let subject = repl.subject("")?;
    let untransformed = subject.nests.iter().flat_map(|nest| nest.untransformed());
    let first = Subject {
        name: "untransformed".to_owned(),
        nests: untransformed.collect(),
    };
    let mut found = vec![first, subject];
    for row in repl.timeline().rows() {
        let Some(other) = row.last.subject.as_ref() else {
            continue;
        };
        if found.iter().all(|known| known.nests != other.nests) {
            found.push(Subject {
                name: format!("{}_{}", row.name, other.name),
                nests: other.nests.clone(),
            });
        }
    }
    if found[0].nests == found[1].nests {
        found.remove(1);
    }
    Ok(found)
}

fn count(rest: &str) -> Result<usize, Box<crate::script::ScriptError>> {
    match rest {
        "" => Ok(1),
        text => text
            .parse()
            .map_err(|_| failed(format!("`{text}` is not a number of lines"))),
    }
}

fn undo(repl: &mut Repl, rest: &str) -> Reply {
    let count = count(rest)?;
    let undone = repl.timeline().now().text.clone();
    let Some(moment) = repl.timeline().undo(count) else {
        let (most, _) = repl.timeline().reach();
        return Err(failed(match most {
            0 => "there is nothing to undo".to_owned(),
            1 => "only 1 line can be undone".to_owned(),
            most => format!("only {most} lines can be undone"),
        }));
    };
    repl.go(&moment);
    Ok(Outcome::Text(match count {
        1 => format!("undone: {}", first_line(&undone)),
        _ => format!("{count} lines undone"),
    }))
}

fn redo(repl: &mut Repl, rest: &str) -> Reply {
    let count = count(rest)?;
    let Some(moment) = repl.timeline().redo(count) else {
        let (_, most) = repl.timeline().reach();
        return Err(failed(match most {
            0 => "there is nothing to redo".to_owned(),
            1 => "only 1 line can be redone".to_owned(),
            most => format!("only {most} lines can be redone"),
        }));
    };
    repl.go(&moment);
    Ok(Outcome::Text(match count {
        1 => format!("redone: {}", first_line(&moment.text)),
        _ => format!("{count} lines redone"),
    }))
}

fn first_line(text: &str) -> String {
    match text.split_once('\n') {
        Some((first, _)) => format!("{first} …"),
        None => text.to_owned(),
    }
}

fn branch(repl: &mut Repl, rest: &str) -> Reply {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if rest.is_empty() || !rest.chars().all(is_name) {
        let message = "`:branch` takes a name of letters, digits and underscores";
        return Err(failed_with(message, "`:branches` lists all branches"));
    }
    let is_new = repl.timeline().switch(rest);
    let moment = repl.timeline().now();
    repl.go(&moment);
    Ok(Outcome::Text(if is_new {
        format!("branch {rest} begins here")
    } else {
        format!("now on branch {rest}")
    }))
}

fn branches(repl: &mut Repl, _: &str) -> Reply {
    let rows = repl.timeline().rows();
    let widest = rows.iter().map(|row| row.name.chars().count()).max();
    let widest = widest.unwrap_or(0);
    let line = |row: &crate::repl::timeline::Row| {
        let mark = if row.is_current { "*" } else { " " };
        let subject = row.last.subject.as_ref();
        let subject = subject.map_or("no nest yet", |s| s.name.as_str());
        let time = row.last.time().map(report::time);
        let time = time.unwrap_or_else(|| "not timed".to_owned());
        let plural = if row.lines == 1 { "" } else { "s" };
        let (name, lines) = (row.name, row.lines);
        format!("{mark} {name:widest$}  {lines} line{plural}, {subject}, {time}")
    };
    let lines: Vec<String> = rows.iter().map(line).collect();
    Ok(Outcome::Text(lines.join("\n")))
}
