//! Kernels that are compiled.

use super::cache::Workplace;
use crate::codegen::Kernel;
use crate::ir::Name;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A kernel's shared object, ready to run.
#[derive(Clone, Debug)]
pub struct Compiled {
    kernel: Kernel,
    path: PathBuf,
    cached: bool,
    serial: bool,
    /// The directory of a shared object that is not in the cache; removed with its last use.
    _directory: Option<Arc<Workplace>>,
}

impl Compiled {
    /// A kernel in a shared object of the cache, which was there already if `cached`.
    pub(super) fn in_cache(kernel: &Kernel, path: PathBuf, cached: bool) -> Compiled {
        Compiled {
            kernel: kernel.clone(),
            path,
            cached,
            serial: false,
            _directory: None,
        }
    }

    /// A kernel in a shared object whose directory is removed with its last use.
    pub(super) fn inside(kernel: &Kernel, path: PathBuf, directory: &Arc<Workplace>) -> Compiled {
        Compiled {
            kernel: kernel.clone(),
            path,
            cached: false,
            serial: false,
            _directory: Some(directory.clone()),
        }
    }

    /// The same, compiled without OpenMP.
    pub(super) fn without_openmp(self) -> Compiled {
        let serial = self.kernel.function.contains("#pragma omp parallel");
        Compiled { serial, ..self }
    }

    /// The same object, called with these sizes.
    #[must_use]
    pub fn at_sizes(&self, values: &[(Name, i64)]) -> Compiled {
        Compiled {
            kernel: self.kernel.clone().at_sizes(values),
            ..self.clone()
        }
    }

    /// The same object, called with so many elements between the rows of strided tensors.
    #[must_use]
    pub fn with_gaps(&self, gap: i64) -> Compiled {
        Compiled {
            kernel: self.kernel.clone().with_gaps(gap),
            ..self.clone()
        }
    }

    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The path of the shared object.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it was in the cache already, so that no compiler ran.
    pub fn was_cached(&self) -> bool {
        self.cached
    }

    /// Whether its parallel loops run on one thread, because the compiler has no OpenMP.
    pub fn is_serial(&self) -> bool {
        self.serial
    }
}
