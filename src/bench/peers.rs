//! Peers: OpenBLAS, the C compiler with `-ffast-math`, and Polly, if they are installed.
//!
//! Peers are only compared with. They run in their own worker, whose threads are not bound to
//! cores, since libraries bring their own threads.

use crate::codegen::{Kernel, Param, Role};
use crate::ir::Elem;
use crate::legality::Proof;
use crate::runtime::{Compiler, Control, Options, answer};
use crate::trial::Peer;
use std::fmt;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A peer that the user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Hand-written calls of OpenBLAS, from the library at this path or the installed one.
    OpenBlas(Option<PathBuf>),
    /// The untransformed nest, compiled with `-ffast-math`.
    Cc,
    /// The untransformed nest, compiled by clang with Polly.
    Polly,
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        match text.split_once('=') {
            None if text == "openblas" => Ok(Choice::OpenBlas(None)),
            Some(("openblas", path)) => Ok(Choice::OpenBlas(Some(path.into()))),
            None if text == "cc" => Ok(Choice::Cc),
            None if text == "polly" => Ok(Choice::Polly),
            _ => Err("expected openblas, openblas=PATH, cc or polly".to_owned()),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Choice::OpenBlas(_) => "openblas",
            Choice::Cc => "cc",
            Choice::Polly => "polly",
        })
    }
}

/// A peer that is installed.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The label in tables.
    pub(super) label: String,
    compiler: Compiler,
    /// Flags added to the options of a comparison.
    extra: Vec<String>,
    libraries: Vec<String>,
    openmp: bool,
    /// Whether it calls a library instead of compiling the untransformed nest.
    blas: bool,
}

/// Looks for a peer.
///
/// # Errors
/// The peer is not installed; the message says what to do.
pub(super) fn find(choice: &Choice, control: &Control) -> Result<Found, String> {
    match choice {
        Choice::Cc => {
            let compiler = Compiler::find(control).map_err(|error| error.to_string())?;
            Ok(Found {
                label: choice.to_string(),
                compiler: compiler.clone(),
                extra: ["-ffast-math", "-DTEML_FAST_MATH"]
                    .map(str::to_owned)
                    .to_vec(),
                libraries: Vec::new(),
                openmp: true,
                blas: false,
            })
        }
        Choice::Polly => find_polly(choice, control),
        Choice::OpenBlas(path) => find_openblas(choice, path.as_deref(), control),
    }
}

fn find_openblas(choice: &Choice, path: Option<&Path>, control: &Control) -> Result<Found, String> {
    let compiler = Compiler::find(control).map_err(|error| error.to_string())?;
    let libraries = match path {
        Some(path) => of_path(path)?,
        None => installed(control),
    };
    let named = |(prefix, suffix, int): &(&str, &str, &str)| {
        let parts = [*prefix, "name", *suffix];
        let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
        Found {
            label: choice.to_string(),
            compiler: compiler.clone(),
            extra: vec![
                format!("-DBLAS(name)={}", parts.join("##")),
                format!("-DBLAS_INT={int}"),
            ],
            libraries: libraries.clone(),
            openmp: true,
            blas: true,
        }
    };
    let probe = concat!(
        include_str!("peers/blas.h"),
        "void probe(void) { threads(1); gemm(PLAIN, PLAIN, 0, 0, 0, 0, 0, 0); }\n"
    );
    let mut all = NAMES.iter().map(named);
    let found = all.find(|found| found.compiles(probe, control));
    found.ok_or_else(|| match path {
        Some(path) => format!("{} is not an OpenBLAS that can be linked", path.display()),
        None => "install it (Debian and Ubuntu: libopenblas-dev), or name the library: \
                 --peer openblas=/PATH/libopenblas.so"
            .to_owned(),
    })
}

/// Linker flags for a library file.
fn of_path(path: &Path) -> Result<Vec<String>, String> {
    let full = path.canonicalize();
    let full = full.map_err(|error| format!("{}: {error}", path.display()))?;
    let directory = full.parent().unwrap_or(Path::new("/"));
    Ok(vec![
        full.display().to_string(),
        format!("-Wl,-rpath,{}", directory.display()),
    ])
}

/// Linker flags for the installed library.
fn installed(control: &Control) -> Vec<String> {
    let known = answer("pkg-config", &["--libs", "openblas"], control);
    let text = known.unwrap_or_else(|| "-lopenblas".to_owned());
    text.split_whitespace().map(str::to_owned).collect()
}

fn find_polly(choice: &Choice, control: &Control) -> Result<Found, String> {
    // Polly's matrix-product optimization packs into memory that threads share: with clang 14, the
    // results are wrong.
    let extra = [
        "-mllvm",
        "-polly",
        "-mllvm",
        "-polly-parallel",
        "-mllvm",
        "-polly-pattern-matching-based-opts=false",
    ];
    let versions = (14..=30).rev().map(|version| format!("clang-{version}"));
    let names = ["clang".to_owned()].into_iter().chain(versions);
    let compilers = names.filter_map(|name| Compiler::from_path(Path::new(&name), control).ok());
    let mut all = compilers.map(|compiler| Found {
        label: choice.to_string(),
        compiler,
        extra: extra.map(str::to_owned).into(),
        libraries: vec!["-lgomp".to_owned()],
        openmp: false,
        blas: false,
    });
    let found = all.find(|found| found.compiles("void probe(void) {}\n", control));
    found.ok_or_else(|| {
        "no clang with Polly: install both (Debian and Ubuntu: clang and libpolly-NN-dev of its \
         version)"
            .to_owned()
    })
}

/// The naming schemes of OpenBLAS builds: prefix, suffix, and type of extents. Python packages use
/// the schemes after the first.
const NAMES: &[(&str, &str, &str)] = &[
    ("", "", "int32_t"),
    ("", "64_", "int64_t"),
    ("scipy_", "64_", "int64_t"),
    ("scipy_", "", "int32_t"),
];

impl Found {
    fn options(&self, options: &Options) -> Options {
        let mut options = options.clone();
        options.extra.extend(self.extra.iter().cloned());
        options.libraries.extend(self.libraries.iter().cloned());
        options.openmp = self.openmp;
        options
    }

    fn compiles(&self, source: &str, control: &Control) -> bool {
        let kernel = foreign("probe", source.to_owned(), Vec::new());
        let options = self.options(&Options::default());
        self.compiler.compile(&kernel, &options, control).is_ok()
    }

    /// The peer for a kernel, whose untransformed nests are `reference`.
    ///
    /// # Errors
    /// There is no such peer for this kernel, with the reason.
    pub(super) fn peer(
        &self,
        name: &str,
        reference: &Kernel,
        options: &Options,
    ) -> Result<Peer, String> {
        let kernel = if self.blas {
            blas(name, reference)?
        } else {
            reference.clone()
        };
        Ok(Peer {
            label: self.label.clone(),
            kernel,
            compiler: self.compiler.clone(),
            options: self.options(options),
        })
    }
}

/// A hand-written BLAS version of a kernel: its name, its tensors and the C.
struct Blas {
    kernel: &'static str,
    tensors: &'static [&'static str],
    source: &'static str,
}

macro_rules! blas {
    ($name:literal, $($tensor:literal),*) => {
        Blas {
            kernel: $name,
            tensors: &[$($tensor),*],
            source: include_str!(concat!("peers/", $name, ".c")),
        }
    };
}

static BLAS: &[Blas] = &[
    blas!("mm", "C", "A", "B"),
    blas!("tmm", "C", "A", "B"),
    blas!("bmm", "C", "A", "B"),
    blas!("gconv", "O", "I", "W"),
    blas!("mttkrp", "A", "B", "C", "D"),
    blas!("sddmm", "A", "B", "C", "D"),
    blas!("interp", "v", "A", "u"),
    blas!("helm", "v", "A", "D", "u"),
];

/// The kernel that calls a BLAS. Its C sees each tensor as a pointer of that name, and its extents
/// as `A_1` and so on.
fn blas(name: &str, reference: &Kernel) -> Result<Kernel, String> {
    let entry = BLAS.iter().find(|entry| entry.kernel == name);
    let entry = entry.ok_or("no BLAS routine is known for it")?;
    let param = |name: &&str| {
        let mut params = reference.params.iter();
        params.find(|p| p.tensor.label() == *name && p.tensor.elem() == Elem::F64)
    };
    let params: Option<Vec<&Param>> = entry.tensors.iter().map(param).collect();
    let params = params.ok_or_else(|| {
        let names = entry.tensors.join(", ");
        format!("{name} with a BLAS has tensors {names} of f64, and the script has others")
    })?;
    let mut before = include_str!("peers/blas.h").to_owned();
    let mut list = Vec::new();
    for param in &params {
        let label = param.tensor.label();
        let constant = if param.role == Role::In { "const " } else { "" };
        list.push(format!("{constant}double *restrict {label}"));
        for (k, extent) in param.tensor.shape().extents().iter().enumerate() {
            let _ = writeln!(before, "#define {label}_{} {extent}", k + 1);
        }
    }
    let _ = writeln!(before, "#define PARAMETERS {}\n", list.join(", "));
    let params = params.into_iter().cloned().collect();
    Ok(foreign("openblas", before + entry.source, params))
}

/// A hand-written kernel.
fn foreign(symbol: &str, function: String, params: Vec<Param>) -> Kernel {
    Kernel {
        sizes: Vec::new(),
        symbol: symbol.to_owned(),
        headers: Default::default(),
        function,
        params,
        vectors: Default::default(),
        plan: String::new(),
        proof: Proof::Assumed(vec!["it is written by hand".to_owned()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        assert_eq!("cc".parse(), Ok(Choice::Cc));
        assert_eq!("openblas".parse(), Ok(Choice::OpenBlas(None)));
        let path = PathBuf::from("/lib/a=b.so");
        assert_eq!(
            "openblas=/lib/a=b.so".parse(),
            Ok(Choice::OpenBlas(Some(path)))
        );
        assert!("cc=gcc".parse::<Choice>().is_err());
        assert!("mkl".parse::<Choice>().is_err());
    }
}
