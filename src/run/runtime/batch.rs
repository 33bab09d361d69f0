//! Batches: compiles many kernels together, since starting a compiler, an assembler and a linker
//! takes as long as compiling a short kernel.

use super::cache;
use super::compiler::{Compiler, Stopped};
use super::control::Control;
use super::entries::with_entries;
use super::error::RuntimeError;
use super::options::Options;
use crate::codegen::Kernel;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// The name of the source file.
const NAME: &str = "batch";

/// Kernels with the same flags, and the path of each in the cache.
#[derive(Default)]
struct Batch {
    kernels: Vec<Kernel>,
    places: Vec<PathBuf>,
}

impl Compiler {
    /// Compiles those of `kernels` that the cache lacks, in one translation unit per set of flags.
    /// Each is stored where [`compile`](Compiler::compile) looks for it. Failures are ignored:
    /// kernels that are missing afterwards compile alone, which reports their errors.
    ///
    /// # Errors
    /// [`RuntimeError::Interrupted`] when someone asked to stop.
    pub fn compile_batch(
        &self,
        kernels: &[Kernel],
        options: &Options,
        control: &Control,
    ) -> Result<(), RuntimeError> {
        let Some(cache) = cache::directory(control) else {
            return Ok(());
        };
        let mut batches: BTreeMap<Vec<String>, Batch> = BTreeMap::new();
        let mut symbols = HashSet::new();
        for kernel in kernels {
            let flags = self.likely_flags(std::slice::from_ref(kernel), options);
            let place = cache.join(self.object_of(kernel, &flags, &options.libraries));
            if !cache::holds(&place) && symbols.insert(&kernel.symbol) {
                let batch = batches.entry(flags).or_default();
                batch.kernels.push(kernel.clone());
                batch.places.push(place);
            }
        }
        for (flags, batch) in batches.iter().filter(|(_, b)| b.kernels.len() > 1) {
            let built = self.build_batch(batch, (flags, &options.libraries), &cache, control);
            if let Err(Stopped::Failed(error @ RuntimeError::Interrupted { .. })) = built {
                return Err(error);
            }
        }
        Ok(())
    }

    fn build_batch(
        &self,
        batch: &Batch,
        (flags, libraries): (&[String], &[String]),
        cache: &Path,
        control: &Control,
    ) -> Result<(), Stopped> {
        let directory = cache::workplace(cache)?;
        let source = with_entries(&batch.kernels);
        let arguments =
            |input: &str, output: &str| self.arguments(flags, libraries, (input, output));
        let text = (NAME, source.as_str());
        let object = self.build(text, &arguments, directory.path(), control)?;
        cache::seal(&object)?;
        for place in &batch.places {
            put(&object, place, directory.path())?;
        }
        Ok(())
    }
}

/// Adds a hard link to an object, or a copy if the file system does not support links.
fn put(object: &Path, place: &Path, directory: &Path) -> io::Result<()> {
    if std::fs::hard_link(object, place).is_ok() {
        return Ok(());
    }
    let copy = directory.join("copy.so");
    std::fs::copy(object, &copy)?;
    std::fs::rename(copy, place)
}
