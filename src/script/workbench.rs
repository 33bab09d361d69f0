//! What `codegen`, `compare` and `init` of a session need and leave behind.

use crate::codegen::Kernel;
use crate::package::Exported;
use crate::runtime::{Control, Writer};
use crate::trial::{Inputs, Kept, Run, Runner, Settings};
use crate::tune::{Launch, Strategy};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Which of the defaults of `param` hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// The first ones, at which kernels are timed.
    #[default]
    Bench,
    /// Where there are some, the second ones, at which kernels take no time.
    Mini,
}

/// What `param` gives: settings by name, and which of them were asked for.
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

    /// The first setting that nothing asked for.
    pub fn unused(&self) -> Option<&str> {
        let unused = self.0.iter().find(|(_, _, used)| !used);
        unused.map(|(name, ..)| name.as_str())
    }
}

/// What the command line says of `tune`; it goes before what scripts say.
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
    /// What random choices follow from.
    pub seed: Option<u64>,
    /// Where records are.
    pub records: Option<PathBuf>,
    /// Whether what was recorded is not tried again.
    pub resume: bool,
    /// Whether nothing is tried: the recorded winner is taken.
    pub applies: bool,
    /// Who starts workers that try variants on other machines.
    pub launch: Option<Launch>,
    /// Where the page of a search is written.
    pub page: Option<PathBuf>,
    /// Whether winners are printed as scripts.
    pub shows_script: bool,
    /// Of the last search: how many variants have times, and their rank correlation with what the
    /// cost model expected.
    pub agreement: Option<(usize, Option<f64>)>,
    /// How often `tune` was called.
    pub calls: usize,
    /// How often a recorded winner was added to a comparison.
    pub applied: usize,
    /// Whether winners are added to those of the user.
    pub keeps: bool,
}

/// Where kernels are made and tried.
#[derive(Debug)]
pub struct Workbench {
    /// What becomes of variants.
    pub runner: Arc<dyn Runner>,
    /// Limits, threads, and where to stop.
    pub control: Control,
    /// How variants are timed.
    pub settings: Settings,
    /// What the command line sets.
    pub parameters: Parameters,
    /// Which defaults hold for the others.
    pub size: Size,
    /// What `init` said.
    pub inputs: Inputs,
    /// What `codegen` made, in order.
    pub generated: Vec<Kernel>,
    /// What `export_kernel` made, in order.
    pub exported: Vec<Exported>,
    /// What the runner left behind.
    pub kept: Kept,
    /// What the command line says of tuning.
    pub tuning: Tuning,
    /// The winners of all runs of `teml tune`: a file of records, to which sessions look where it
    /// is set.
    pub winners: Option<PathBuf>,
    /// Where imported modules may write beside the working directory, and what may be overwritten
    /// though teml did not write it.
    pub allow_write: Vec<PathBuf>,
    /// Whether to say on standard error what a long run is doing.
    pub shows_progress: bool,
}

impl Default for Workbench {
    /// Kernels run.
    fn default() -> Workbench {
        Workbench {
            runner: Arc::new(Run::default()),
            control: Control::default(),
            settings: Settings::default(),
            parameters: Parameters::default(),
            size: Size::default(),
            inputs: Inputs::default(),
            generated: Vec::new(),
            exported: Vec::new(),
            kept: Kept::default(),
            tuning: Tuning::default(),
            winners: None,
            allow_write: Vec::new(),
            shows_progress: false,
        }
    }
}

impl Workbench {
    /// What writes the files of the user.
    pub fn writer(&self) -> Writer {
        Writer::new(&self.control, &self.allow_write)
    }

    /// What `codegen` made, or else what was compared.
    pub fn kernels(&self) -> &[Kernel] {
        if self.generated.is_empty() {
            &self.kept.compared
        } else {
            &self.generated
        }
    }
}
