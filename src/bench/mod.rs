//! The bench runs kernel scripts. It checks their variants, times them against each other and
//! against peers, and reports tables, charts and data. The limit of a kernel is its least work over
//! the machine's rates, which probes measure between the variants.

mod against;
mod baselines;
mod cells;
mod chart;
mod code;
mod curve;
mod figure;
mod files;
mod kernels;
mod model;
mod overview;
mod page;
mod palette;
mod peers;
mod results;
mod table;
mod task;

pub use against::Against;
pub use chart::chart;
pub use curve::{Sizes, curve_chart, curve_table};
pub use figure::figure;
pub use files::write;
pub use kernels::{Script, polybench, run_file, scripts};
pub use model::{Agreement, agreement, agreement_line, agreement_summary, recorded, replayed};
pub use page::page;
pub use palette::Palette;
pub use peers::Choice;
pub use results::{Absent, Curve, Group, Height, Limit, Line, Point, Results};
pub use table::{summary, table};

use crate::machine::{self, Machine, Probes, Rates};
use crate::runtime::{Budget, Compiler, Control, RuntimeError, Timing};
use crate::script::{ScriptError, Session};
use crate::trial::{Collect, Comparison, Progress, Run};
use crate::verbs::{Size, Workbench};
use std::sync::Arc;
use std::time::Duration;
use task::Task;

/// The kernels to measure, and how.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The kernels.
    pub scripts: Vec<Script>,
    /// Values of `param` in the scripts.
    pub parameters: Vec<(String, String)>,
    /// Which defaults `param` returns.
    pub size: Size,
    /// Peers to compare with.
    pub peers: Vec<Choice>,
    /// Sizes or numbers of threads at which the last variant of each comparison is compared with
    /// the peers.
    pub curve: Option<Sizes>,
    /// The quantity that the curve shows; speed-ups include all variants.
    pub height: Height,
}

/// 5 to 30 runs in about 1 s, or fewer if a run takes seconds, so that ten kernels take minutes.
/// Times at mini sizes mean nothing.
fn budget(size: Size) -> Budget {
    Budget {
        min_runs: 5,
        max_runs: match size {
            Size::Bench | Size::Any => 30,
            Size::Mini => 5,
        },
        time: Duration::from_secs(1),
        patience: Duration::from_secs(8),
        enough: None,
        reached: None,
        repeats: true,
    }
}

/// Measures kernel after kernel, each with baselines and peers. `show` gets the results so far
/// after each kernel, so that none are lost if the user stops the bench. A script that fails is
/// reported as a result.
///
/// # Errors
/// [`RuntimeError`] if nothing can be measured, or the user stopped the bench.
pub fn run(
    plan: &Plan,
    control: &Control,
    progress: &(dyn Fn(Progress) + Sync),
    show: &mut dyn FnMut(&Results),
) -> Result<Results, RuntimeError> {
    say(progress, "measuring what the machine can do");
    // At mini sizes, shares of the limit mean nothing, so that no time is spent on measuring it.
    let (rates, probes) = match plan.size {
        Size::Bench | Size::Any => (
            machine::speed_at_best(control.threads, control)?.rates,
            Some(Probes::new(control.threads, control)?),
        ),
        Size::Mini => {
            let known = machine::known_speed(control.threads, control);
            let speed = known.map_or_else(|| machine::speed(control.threads, control), Ok)?;
            (speed.rates, None)
        }
    };
    let machine = Machine::known(control);
    let compiler = Compiler::find(control)?;
    let mut results = Results::new(plan.size, control.threads, rates, machine, compiler);
    let mut found = Vec::new();
    for choice in &plan.peers {
        say(progress, &format!("looking for {choice}"));
        match peers::find(choice, control) {
            Ok(peer) => found.push(peer),
            Err(why) => results.absent.push(Absent {
                name: choice.to_string(),
                why,
            }),
        }
    }
    for (k, script) in plan.scripts.iter().enumerate() {
        let place = format!("{}, {} of {}", script.name, k + 1, plan.scripts.len());
        let progress = |p: Progress| {
            let what = format!("{place}: {}", p.what);
            progress(Progress { what, ..p });
        };
        let bench = Bench {
            plan,
            script,
            found: &found,
            probes: probes.as_ref(),
            control,
            progress: &progress,
        };
        match &plan.curve {
            None => bench.table(&mut results, show)?,
            Some(sizes) => bench.curve(sizes, &mut results, show)?,
        }
    }
    Ok(results)
}

/// A kernel with everything that measuring it needs.
#[derive(Clone, Copy)]
struct Bench<'a> {
    plan: &'a Plan,
    script: &'a Script,
    found: &'a [peers::Found],
    /// Probes of the machine's rates, if these are measured with each comparison.
    probes: Option<&'a Probes>,
    control: &'a Control,
    progress: &'a (dyn Fn(Progress) + Sync),
}

impl Bench<'_> {
    /// Measures all variants at one size.
    fn table(
        self,
        results: &mut Results,
        show: &mut dyn FnMut(&Results),
    ) -> Result<(), RuntimeError> {
        self.each(Vec::new(), results, &mut |results, _, group| {
            results.groups.push(group);
            show(results);
        })
    }

    /// Measures the variants at several sizes, or with several numbers of threads.
    fn curve(
        self,
        sizes: &Sizes,
        results: &mut Results,
        show: &mut dyn FnMut(&Results),
    ) -> Result<(), RuntimeError> {
        let first = results.curves.len();
        for at in sizes.values.iter().copied() {
            let progress = |p: Progress| {
                let what = format!("{sizes} = {at}: {}", p.what);
                (self.progress)(Progress { what, ..p });
            };
            let with_threads = if sizes.are_threads() {
                Some(Threads::new(at, self.plan.size, self.control)?)
            } else {
                None
            };
            let mut bench = Bench {
                progress: &progress,
                ..self
            };
            let mut own = Vec::new();
            match &with_threads {
                Some(Threads { control, probes }) => {
                    bench.control = control;
                    bench.probes = probes.as_ref();
                }
                None => {
                    let names = sizes.names.iter();
                    own.extend(names.map(|name| (name.clone(), at.to_string())));
                }
            }
            bench.each(own, results, &mut |results, n, group| {
                if results.curves.len() <= first + n {
                    results.curves.push(Curve {
                        kernel: group.kernel.clone(),
                        axis: sizes.to_string(),
                        height: self.plan.height,
                        points: Vec::new(),
                    });
                }
                let points = &mut results.curves[first + n].points;
                points.push(Point { at, group });
                show(results);
            })?;
        }
        Ok(())
    }

    /// Measures the comparisons of the script, one after the other. Parameters of `own` take
    /// precedence over those of the plan. `keep` gets each result with its number.
    fn each(
        self,
        own: Vec<(String, String)>,
        results: &mut Results,
        keep: &mut dyn FnMut(&mut Results, usize, Group),
    ) -> Result<(), RuntimeError> {
        let tasks = match self.tasks(own) {
            Ok(tasks) => tasks,
            Err(error) => {
                interrupted(self.control)?;
                keep(results, 0, Group::failed(&self.script.name, error));
                return Ok(());
            }
        };
        for (n, task) in tasks.into_iter().enumerate() {
            let name = match n {
                0 => self.script.name.clone(),
                _ => format!("{}_{}", self.script.name, n + 1),
            };
            let group = self.measure(&name, task, results);
            interrupted(self.control)?;
            keep(results, n, group);
        }
        Ok(())
    }

    /// The comparisons of the script, with baselines if all variants are measured.
    fn tasks(self, own: Vec<(String, String)>) -> Result<Vec<Task>, String> {
        let Bench { plan, control, .. } = self;
        let parameters = own.into_iter().chain(plan.parameters.iter().cloned());
        let workbench = Workbench {
            runner: Arc::new(Collect),
            control: control.clone(),
            parameters: parameters.collect::<Vec<_>>().into(),
            size: plan.size,
            ..Workbench::default()
        };
        let shown = |error: ScriptError| error.render(false);
        let mut session = Session::new(Box::new(std::io::sink()), workbench).map_err(shown)?;
        say(self.progress, "reading the script");
        self.script.run(&mut session).map_err(shown)?;
        // With several scripts, a setting may belong to only some of them.
        if let (Some(name), [_]) = (session.unused_parameter(), &plan.scripts[..]) {
            let curve = plan.curve.as_ref();
            let option = if curve.is_some_and(|sizes| sizes.names.contains(&name.to_string())) {
                "--curve"
            } else {
                "--set"
            };
            return Err(format!(
                "error: the script has no param(\"{name}\", …), which {option} names"
            ));
        }
        let comparisons = {
            let mut bench = session.bench().lock();
            // Baselines may measure.
            bench.runner = Arc::new(Run::default());
            std::mem::take(&mut bench.kept.comparisons)
        };
        if comparisons.is_empty() {
            return Err(
                "error: the script compares nothing: it does not call `compare`".to_owned(),
            );
        }
        let task = |mut comparison: Comparison| {
            comparison.settings.budget = budget(plan.size);
            match plan.curve {
                None => baselines::with(comparison, plan.size, &mut session, &|what| {
                    say(self.progress, what)
                }),
                Some(_) => Task::of(match plan.height {
                    Height::Share => only_last(comparison),
                    Height::SpeedUp => comparison,
                }),
            }
        };
        Ok(comparisons.into_iter().map(task).collect())
    }

    fn measure(self, name: &str, task: Task, results: &Results) -> Group {
        let Task {
            comparison,
            mut absent,
            notes,
        } = task;
        let reference = match comparison.reference() {
            Ok(reference) => reference,
            Err(error) => return Group::failed(name, format!("error: {error}")),
        };
        let mut present = Vec::new();
        for found in self.found {
            match found.peer(&self.script.name, &reference, &comparison.settings.options) {
                Ok(peer) => present.push(peer),
                Err(why) => absent.push(Absent {
                    name: found.label.clone(),
                    why,
                }),
            }
        }
        let probes = self.probes.map_or(&[][..], |probes| &probes.variants);
        match comparison.run(&present, probes, self.control, self.progress) {
            Ok(ranking) => {
                let measured = |of: fn(&Timing) -> Duration| {
                    let probes = self.probes?;
                    probes.rates(&ranking.probes, of)
                };
                let usual = measured(|timing| timing.median);
                let best = measured(|timing| timing.min);
                let mut rates = [usual, best].map(|rates| rates.unwrap_or(results.rates));
                let group = |rates: &[Rates; 2]| {
                    Group::new(name, &ranking, &present, rates, &results.machine)
                };
                let mut group_now = group(&rates);
                // Other processes slowed down the probes: measure the rates again.
                for _ in 0..AGAIN {
                    let beaten = group_now.beating().next().is_some();
                    let Some(probes) = self.probes.filter(|_| beaten) else {
                        break;
                    };
                    let Ok(([usual, best], _)) = probes.alone(self.control) else {
                        break;
                    };
                    rates = [rates[0].or_better(usual), rates[1].or_better(best)];
                    group_now = group(&rates);
                }
                Group {
                    absent,
                    notes,
                    ..group_now.explained(&comparison.variants)
                }
            }
            Err(error) => Group::failed(name, format!("error: {error}")),
        }
    }
}

/// How often the rates of the machine are measured again if a variant beats the limit.
const AGAIN: usize = 2;

fn say(progress: &(dyn Fn(Progress) + Sync), what: &str) {
    let (what, done, total) = (what.to_owned(), 0, 1);
    progress(Progress { what, done, total });
}

fn interrupted(control: &Control) -> Result<(), RuntimeError> {
    if control.interrupted() {
        Err(RuntimeError::Interrupted {
            during: "measuring".to_owned(),
        })
    } else {
        Ok(())
    }
}

/// Keeps only the last variant.
fn only_last(mut comparison: Comparison) -> Comparison {
    let last = comparison.variants.len().saturating_sub(1);
    comparison.variants.drain(..last);
    comparison
}

/// Control and probes for another number of threads.
struct Threads {
    control: Control,
    probes: Option<Probes>,
}

impl Threads {
    fn new(threads: u32, size: Size, control: &Control) -> Result<Threads, RuntimeError> {
        let threads = usize::try_from(threads).unwrap_or(usize::MAX);
        let control = Control {
            threads,
            ..control.clone()
        };
        let probes = match size {
            Size::Bench | Size::Any => Some(Probes::new(threads, &control)?),
            Size::Mini => None,
        };
        Ok(Threads { control, probes })
    }
}
