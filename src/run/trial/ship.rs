//! Ships kernels: nothing leaves the tool that did not run. The very text that is written is
//! compiled, and each kernel runs once from that object file. Every element of its results is
//! compared with the reference before anything is written.
//!
//! If the reference takes too long, samples of the definition are compared. Kernels that this
//! machine cannot run are written with a warning, which the C repeats. If the compiler gets a
//! kernel wrong, `runtime::CURES` are tried in order, and the C sets the flags as a pragma. `run`
//! and `compare` try them as well.

use super::check::{Progress, Trial, lacks_room};
use super::generate::generate;
use super::results::compared;
use super::variant::naive;
use super::{Blame, Evidence, Inputs, Settings, TrialError, Variant, sizes};
use crate::codegen::{Kernel, Preamble};
use crate::runtime::{
    CURES, Compiled, Compiler, Control, Library, Options, Outputs, Part, RuntimeError,
};
use crate::target::Target;
use std::sync::Arc;
use std::time::Duration;

/// C after a preamble.
pub type Source<'a> = Box<dyn Fn(&Preamble) -> String + 'a>;

/// C that is to be shipped.
pub struct Cargo<'a> {
    /// The name of its file, without extension.
    pub name: &'a str,
    /// The C of all kernels after a preamble.
    pub source: &'a dyn Fn(&Preamble) -> String,
    /// The header that it includes as `NAME.h`.
    pub header: String,
    /// The kernels, and the variant that each computes.
    pub kernels: Vec<(Kernel, Variant)>,
    /// The initial contents of tensors.
    pub inputs: &'a Inputs,
    /// How it is compiled.
    pub settings: &'a Settings,
    /// More C, each with a name and for a target of its own.
    pub parts: Vec<(String, Target, Source<'a>)>,
}

/// C that has run, as far as this machine can run it.
#[derive(Debug)]
pub struct Shipped {
    /// The compiled library; `None` if this machine cannot compile it.
    pub library: Option<Library>,
    /// The beginning of the C: the flags it needs, and the findings.
    pub preamble: Preamble,
    /// Remarks for users: miscompilations that were cured, and kernels that could not run.
    pub remarks: Vec<String>,
}

/// The verdict of a run.
enum Found {
    /// The results are right; the text says how much was compared.
    Right(String),
    /// It could not run here, for this reason.
    Unknown(String),
}

/// The time limit of a reference. Beyond it, samples are compared.
const LIMIT: Duration = Duration::from_secs(20);

impl Cargo<'_> {
    /// Compiles the C, runs each kernel, and compares its results with the reference. If the
    /// compiler gets the C wrong, it is compiled with fewer optimizations.
    ///
    /// # Errors
    /// The C does not compile, it fails, or its results are wrong.
    pub fn ship(&self, control: &Control) -> Result<Shipped, TrialError> {
        let compiler = Compiler::find(control)?;
        let control = Control {
            run_limit: control.run_limit.min(LIMIT),
            ..control.clone()
        };
        let first = self.compiled(compiler, &[], &control);
        let is_foreign = self.settings.options.target != Target::native();
        let wrong = match first {
            Err(TrialError::Runtime(RuntimeError::CompileFailed { .. })) if is_foreign => {
                let reason = format!("{} does not compile for it", compiler.version());
                let all = self.kernels.iter();
                let unknown = all.map(|_| Found::Unknown(reason.clone())).collect();
                return Ok(self.shipped(None, Vec::new(), unknown, compiler));
            }
            Err(error) if error.is_of_compiler() => error,
            first => {
                let (library, found) = first?;
                return Ok(self.shipped(Some(library), Vec::new(), found, compiler));
            }
        };
        for cure in CURES {
            match self.compiled(compiler, cure, &control) {
                Ok((library, found)) => {
                    let cure = cure.iter().map(|flag| (*flag).to_owned()).collect();
                    return Ok(self.shipped(Some(library), cure, found, compiler));
                }
                Err(TrialError::Runtime(RuntimeError::CompileFailed { .. })) => {}
                Err(error) if error.is_of_compiler() => {}
                Err(error) => return Err(error),
            }
        }
        Err(wrong)
    }

    fn compiled(
        &self,
        compiler: &Compiler,
        cure: &[&str],
        control: &Control,
    ) -> Result<(Library, Vec<Found>), TrialError> {
        let preamble = Preamble {
            cure: cure.iter().map(|flag| (*flag).to_owned()).collect(),
            notes: Vec::new(),
        };
        let source = (self.source)(&preamble);
        let kernels: Vec<Kernel> = self.kernels.iter().map(|(k, _)| k.clone()).collect();
        let options = self.settings.options.cured(cure);
        let texts = (source.as_str(), self.header.as_str());
        let parts = self.parts.iter().map(|(name, target, source)| Part {
            name: name.clone(),
            source: source(&preamble),
            options: Options {
                target: target.clone(),
                ..options.clone()
            },
        });
        let parts: Vec<Part> = parts.collect();
        let library = compiler.library(self.name, texts, (&kernels, &options), &parts, control)?;
        let variants = self.kernels.iter().map(|(_, variant)| variant);
        let each = library.kernels.iter().zip(variants);
        let found = each.map(|(compiled, variant)| self.look_at_sizes(compiled, variant, control));
        let found = found.collect::<Result<_, _>>()?;
        Ok((library, found))
    }

    /// Runs a kernel, if it has sizes at awkward and at likely ones, and compares its results.
    fn look_at_sizes(
        &self,
        compiled: &Compiled,
        variant: &Variant,
        control: &Control,
    ) -> Result<Found, TrialError> {
        let all = std::slice::from_ref(variant);
        let mut points = Vec::new();
        if sizes::are_awkward(all) {
            points = sizes::awkward(all);
        }
        let awkward = points.len();
        points.push(Vec::new());
        let mut last = None;
        for (k, point) in points.into_iter().enumerate() {
            let gap = if k < awkward { sizes::GAP } else { 0 };
            for variant in sizes::at(all, &point) {
                // A nest has only the sizes that it uses.
                let instances = variant.nests.iter().filter_map(|nest| nest.instance_of());
                let values: Vec<_> = instances.flat_map(|(_, at)| at.to_vec()).collect();
                let compiled = compiled.at_sizes(&values).with_gaps(gap);
                let inputs = sizes::inputs_at(self.inputs, std::slice::from_ref(&variant), &point);
                match self.look(&compiled, &variant, &inputs, control)? {
                    unknown @ Found::Unknown(_) => return Ok(unknown),
                    right => last = Some(right),
                }
            }
        }
        Ok(last.unwrap_or(Found::Unknown("it has no nests".to_owned())))
    }

    /// Runs a kernel and compares its results.
    fn look(
        &self,
        compiled: &Compiled,
        variant: &Variant,
        inputs: &Inputs,
        control: &Control,
    ) -> Result<Found, TrialError> {
        let kernel = compiled.kernel();
        let plain = generate(&naive(variant), self.settings)?;
        let step: (&(dyn Fn(Progress) + Sync), usize) = (&|_| {}, 0);
        let both = [kernel, &plain];
        let trial = Trial::new(&both, inputs, self.settings, control, step);
        let own = match trial.run(compiled) {
            Err(error) if cannot_run(&error) => return Ok(Found::Unknown(error.to_string())),
            own => own?,
        };
        let (label, results) = (&variant.label, compared(variant));
        if let Some(evidence) = trial.by_definition(variant, &results, &own)? {
            return Ok(Found::Right(evidence.to_string()));
        }
        let outputs = match trial.run(&trial.compile_reference(&plain)?) {
            Err(error) if lacks_room(&error) => {
                return at_samples(&trial, variant, (kernel, own), &error);
            }
            outputs => outputs?,
        };
        let expected = trial.expected(variant, outputs)?;
        trial.check(label, &results, (kernel, &own), &expected)?;
        Ok(Found::Right(expected.evidence.to_string()))
    }

    fn shipped(
        &self,
        library: Option<Library>,
        cure: Vec<String>,
        found: Vec<Found>,
        compiler: &Compiler,
    ) -> Shipped {
        let (mut notes, mut remarks) = (Vec::new(), Vec::new());
        if !cure.is_empty() {
            remarks.push(format!(
                "{} miscompiles `{}` without {}; the C says so to gcc",
                compiler.version(),
                self.name,
                cure.join(" ")
            ));
        }
        for ((kernel, _), found) in self.kernels.iter().zip(found) {
            let symbol = &kernel.symbol;
            match found {
                Found::Right(what) => notes.push(format!("`{symbol}` ran: {what}.")),
                Found::Unknown(why) => {
                    let remark = format!("`{symbol}` was not verified: {why}");
                    notes.push(remark.clone());
                    remarks.push(remark);
                }
            }
        }
        let options = self.settings.options.clone();
        let flags = options.flags(compiler, self.kernels.iter().any(|(k, _)| k.chooses()));
        let flags = compiler
            .command_line(&flags)
            .into_iter()
            .chain(cure.clone());
        let line: Vec<String> = flags.filter(|flag| !flag.starts_with("-Wl,")).collect();
        notes.push(format!(
            "Compiled by {}: {}",
            compiler.version(),
            line.join(" ")
        ));
        Shipped {
            library,
            preamble: Preamble { cure, notes },
            remarks,
        }
    }
}

/// Compares the outputs of a kernel with the definition at samples, if the untransformed nests do
/// not run in time.
fn at_samples(
    trial: &Trial<'_>,
    variant: &Variant,
    (kernel, own): (&Kernel, Arc<Outputs>),
    why: &TrialError,
) -> Result<Found, TrialError> {
    match trial.expected(variant, own) {
        Ok(expected) => Ok(match expected.evidence {
            Evidence::Definition { .. } => Found::Right(expected.evidence.to_string()),
            Evidence::Samples { samples: 1.., .. } => Found::Right(expected.evidence.of_samples()),
            Evidence::Samples { .. } | Evidence::Naive { .. } => {
                Found::Unknown(format!("its reference cannot run: {why}"))
            }
        }),
        Err(TrialError::Wrong {
            label,
            tensor,
            comparison,
            ..
        }) => {
            let plain = trial.run(&trial.compile_reference(kernel)?)?;
            let blame = match trial.expected(variant, plain) {
                Ok(_) => {
                    let compiler = Compiler::find(trial.control)?;
                    Blame::Compiler(compiler.version().to_owned())
                }
                Err(_) => Blame::Teml,
            };
            Err(TrialError::Wrong {
                label,
                tensor,
                comparison,
                blame,
            })
        }
        Err(error) => Err(error),
    }
}

/// Whether a kernel that did not run is not at fault: it exceeds the time or the memory, or this
/// machine lacks its instructions or its device.
fn cannot_run(error: &TrialError) -> bool {
    use RuntimeError::{Crashed, Device, WorkerFailed};
    let is_foreign = match error {
        TrialError::Runtime(Crashed { signal, .. }) => *signal == "SIGILL",
        TrialError::Runtime(Device { failure, .. }) => failure.is_absent,
        // The object cannot be loaded.
        TrialError::Runtime(WorkerFailed { .. }) => true,
        _ => false,
    };
    is_foreign || lacks_room(error)
}
