//! The workbench, on which kernels are made and tried: the inputs of verbs, and the results that
//! they leave behind.

use super::definitions::Definitions;
use crate::codegen::Kernel;
use crate::ir::{Elem, Name};
use crate::legality::Reductions;
use crate::package::Exported;
use crate::report::{self, Bar};
use crate::runtime::{Control, Writer};
use crate::target::Target;
use crate::trial::{
    Comparison, Inputs, Kept, Measured, Run, RunContext, Runner, Settings, Variant, sizes,
};
use crate::tune::{Launch, Order, Strategy};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The defaults of `param` in effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// The first ones, at which kernels are timed.
    #[default]
    Bench,
    /// The second ones, if there are any: tiny sizes for tests.
    Mini,
    /// Sizes that kernels get when they are called, in place of all integers with a second default.
    /// The first default is likely.
    Any,
}

/// The settings that `param` returns, by name, with a flag that is set once a script requests one.
#[derive(Clone, Debug, Default)]
pub struct Parameters(Vec<(String, String, bool)>);

impl From<Vec<(String, String)>> for Parameters {
    fn from(settings: Vec<(String, String)>) -> Parameters {
        Parameters(
            settings
                .into_iter()
                .map(|(name, value)| (name, value, false))
                .collect(),
        )
    }
}

impl Parameters {
    /// The setting of `name`, the last one if there are several.
    pub fn take(&mut self, name: &str) -> Option<String> {
        let settings = self.0.iter_mut().filter(|(n, ..)| n == name);
        let mut value = None;
        for (_, text, used) in settings {
            *used = true;
            value = Some(text.clone());
        }
        value
    }

    /// The settings that are integers, for a program whose sizes have these names.
    pub fn take_sizes(&mut self) -> Vec<(String, i64)> {
        let mut found = Vec::new();
        for (name, text, used) in &mut self.0 {
            if let Ok(size) = text.parse() {
                *used = true;
                found.push((name.clone(), size));
            }
        }
        found
    }

    /// The names of all settings.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, ..)| name.as_str())
    }

    /// The first setting that nothing asked for.
    pub fn unused(&self) -> Option<&str> {
        let unused = self.0.iter().find(|(_, _, used)| !used);
        unused.map(|(name, ..)| name.as_str())
    }
}

/// The tuning options of the command line; they override those of scripts.
#[derive(Clone, Debug, Default)]
pub struct Tuning {
    /// Trials at most.
    pub trials: Option<usize>,
    /// How long searches may take, all together.
    pub time: Option<Duration>,
    /// When that time began.
    pub begun: Option<Instant>,
    /// How points are proposed.
    pub strategy: Option<Strategy>,
    /// The seed of random choices.
    pub seed: Option<u64>,
    /// Where records are.
    pub records: Option<PathBuf>,
    /// Whether recorded trials are not repeated.
    pub resume: bool,
    /// Whether nothing is tried: the recorded winner is taken.
    pub applies: bool,
    /// Who starts workers that try variants on other machines.
    pub launch: Option<Launch>,
    /// Where the page of a search is written.
    pub page: Option<PathBuf>,
    /// Whether winners are printed as scripts.
    pub shows_script: bool,
    /// How well the cost model agrees with the times of the last search.
    pub agreement: Option<Order>,
    /// How often `tune` was called.
    pub calls: usize,
    /// How often a recorded winner was added to a comparison.
    pub applied: usize,
    /// Whether winners are added to the user's winners.
    pub keeps: bool,
}

/// Where kernels are made and tried.
pub struct Workbench {
    /// Where verbs and scripts print to.
    pub output: Box<dyn Write + Send>,
    /// The first error of printing.
    pub unwritten: Option<std::io::Error>,
    /// The notes that were printed since a script, or a line of the REPL, began.
    pub notes: Vec<String>,
    /// Whether the hint about the order of sums was printed.
    pub explains_order: bool,
    /// Whether anything was shown, checked, run or written.
    pub has_effect: bool,
    /// The assignments so far.
    pub definitions: Definitions,
    /// Decides whether variants run, are checked, emitted or collected.
    pub runner: Arc<dyn Runner>,
    /// Limits, threads, and where to stop.
    pub control: Control,
    /// How variants are timed.
    pub settings: Settings,
    /// The type of the elements of tensors whose declarations do not give one.
    pub elem: Elem,
    /// The parameters set on the command line.
    pub parameters: Parameters,
    /// Which defaults hold for the others.
    pub size: Size,
    /// The sizes that the script declared, with their facts.
    pub sizes: Vec<Name>,
    /// The inputs set by `init`.
    pub inputs: Inputs,
    /// The kernels of `codegen`, in order.
    pub generated: Vec<Kernel>,
    /// The kernels of `export_kernel`, in order.
    pub exported: Vec<Exported>,
    /// The results that the runner keeps.
    pub kept: Kept,
    /// The tuning options of the command line.
    pub tuning: Tuning,
    /// The winners of all runs of `teml tune`: a file of records, to which sessions look where it
    /// is set.
    pub winners: Option<PathBuf>,
    /// Where imported modules may write besides the working directory. Files there may be
    /// overwritten even if teml did not write them.
    pub allow_write: Vec<PathBuf>,
    /// Whether long runs report their progress on standard error.
    pub shows_progress: bool,
    /// How wide tables may be, as far as that is possible.
    pub columns: usize,
}

impl Default for Workbench {
    /// Kernels run.
    fn default() -> Workbench {
        Workbench {
            output: Box::new(std::io::sink()),
            unwritten: None,
            notes: Vec::new(),
            explains_order: false,
            has_effect: false,
            definitions: Definitions::default(),
            runner: Arc::new(Run::default()),
            control: Control::default(),
            settings: Settings::default(),
            elem: Elem::default(),
            parameters: Parameters::default(),
            size: Size::default(),
            sizes: Vec::new(),
            inputs: Inputs::default(),
            generated: Vec::new(),
            exported: Vec::new(),
            kept: Kept::default(),
            tuning: Tuning::default(),
            winners: None,
            allow_write: Vec::new(),
            shows_progress: false,
            columns: usize::MAX,
        }
    }
}

impl Workbench {
    /// The writer of the user's files.
    pub fn writer(&self) -> Writer {
        Writer::new(&self.control, &self.allow_write)
    }

    /// Prints a line. If that fails, the script continues, since the user may still want its files.
    /// [`Workbench::written`] returns the error.
    pub fn print(&mut self, text: &str) {
        self.has_effect = true;
        let printed = writeln!(self.output, "{text}");
        self.note(printed);
    }

    /// Prints notes below a table, which has `columns`.
    pub fn print_notes(&mut self, text: &str) {
        let text = report::notes_in_lines(text, self.columns);
        self.print(&text);
    }

    /// Prints a line that someone may be waiting for.
    pub fn print_now(&mut self, text: &str) {
        self.print(text);
        let flushed = self.output.flush();
        self.note(flushed);
    }

    /// Prints a note, once for each script and each line of the REPL.
    pub fn print_note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.print_now(&note);
            self.notes.push(note);
        }
    }

    /// A script, or a line of the REPL, begins: notes are printed again.
    pub fn begin(&mut self) {
        self.notes.clear();
    }

    /// Whether all that was printed could be written.
    ///
    /// # Errors
    /// The first error since this was asked.
    pub fn written(&mut self) -> std::io::Result<()> {
        let flushed = self.output.flush();
        self.note(flushed);
        self.unwritten.take().map_or(Ok(()), Err)
    }

    fn note(&mut self, written: std::io::Result<()>) {
        self.unwritten = self.unwritten.take().or(written.err());
    }

    /// The policy of `reductions`.
    pub fn reductions(&self) -> Reductions {
        self.settings.reductions
    }

    /// The target of the C.
    pub fn target(&self) -> Target {
        self.settings.options.target.clone()
    }

    /// Variants with the inputs and the settings of the workbench.
    pub fn comparison(&self, variants: Vec<Variant>) -> Comparison {
        Comparison {
            inputs: sizes::inputs_at(&self.inputs, &variants, &[]),
            variants,
            settings: self.settings.clone(),
        }
    }

    /// The kernels of `codegen`, or those of the comparison if there are none.
    pub fn kernels(&self) -> &[Kernel] {
        if self.generated.is_empty() {
            &self.kept.compared
        } else {
            &self.generated
        }
    }
}

/// A workbench behind its lock; cheap to clone.
#[derive(Clone, Default)]
pub struct Bench(Arc<Mutex<Workbench>>);

impl From<Workbench> for Bench {
    fn from(workbench: Workbench) -> Bench {
        Bench(Arc::new(Mutex::new(workbench)))
    }
}

impl Bench {
    /// The workbench. Release it before anything runs: rows are printed while kernels run. A panic
    /// of another holder does not matter: nothing is left half done.
    pub fn lock(&self) -> MutexGuard<'_, Workbench> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the runner act on the workbench. Shows its progress, and prints the lines that `show`
    /// makes of each measured variant.
    pub fn act<T>(
        &self,
        show: &mut dyn FnMut(&Measured) -> Vec<String>,
        act: impl FnOnce(&(dyn Runner + 'static), &mut RunContext<'_>) -> T,
    ) -> T {
        let (runner, control, visible, mut kept) = {
            let mut bench = self.lock();
            (
                bench.runner.clone(),
                bench.control.clone(),
                bench.shows_progress,
                std::mem::take(&mut bench.kept),
            )
        };
        let bar = Bar::new(visible);
        let mut context = RunContext {
            control: &control,
            progress: &|progress| bar.show(progress),
            show: &mut |row| {
                let lines = show(row);
                bar.hidden(|| lines.iter().for_each(|line| self.lock().print_now(line)));
            },
            say: &mut |line| self.lock().print(line),
            kept: &mut kept,
        };
        let made = act(&*runner, &mut context);
        self.lock().kept = kept;
        made
    }
}
