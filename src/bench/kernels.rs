//! The kernels: scripts that come with the tool, and the user's scripts.

use crate::script::{ScriptError, Session};
use include_dir::{Dir, include_dir};
use std::path::{Path, PathBuf};

/// A script that compares variants of a kernel.
#[derive(Clone, Debug)]
pub struct Script {
    /// The label of the kernel in tables.
    pub name: String,
    text: Text,
}

#[derive(Clone, Debug)]
enum Text {
    Own(&'static str),
    File(PathBuf),
}

macro_rules! own {
    ($($name:literal),*) => {
        &[$(($name, include_str!(concat!("../../scripts/", $name, ".rhai")))),*]
    };
}

/// TeML's Table 1.
static SCRIPTS: &[(&str, &str)] = own!(
    "mm", "tmm", "bmm", "gconv", "mttkrp", "sddmm", "interp", "helm", "blur", "coars"
);

/// The scripts that come with the tool.
pub fn scripts() -> Vec<Script> {
    let script = |(name, text): &(&str, &'static str)| Script {
        name: (*name).to_owned(),
        text: Text::Own(text),
    };
    SCRIPTS.iter().map(script).collect()
}

static POLYBENCH: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scripts/polybench");

/// The scripts of PolyBench's kernels.
pub fn polybench() -> Vec<Script> {
    let mut found: Vec<Script> = POLYBENCH
        .files()
        .filter(|file| file.path().extension().is_some_and(|e| e == "rhai"))
        .filter_map(|file| {
            let name = file.path().file_stem()?.to_str()?.to_owned();
            let text = Text::Own(file.contents_utf8()?);
            Some(Script { name, text })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Runs a script of the user.
///
/// # Errors
/// As [`Session::run_file`]. If the file does not exist, but a kernel of that name comes with the
/// tool, the error says how to get it.
pub fn run_file(session: &mut Session, path: &Path) -> Result<(), ScriptError> {
    session.run_file(path).map_err(|mut error| {
        let name = path.to_str().filter(|_| !path.exists());
        let own = scripts()
            .into_iter()
            .find(|own| Some(own.name.as_str()) == name);
        error.diagnostic = error.diagnostic.help(own.map(|Script { name, .. }| {
            format!(
                "`{name}` comes with the tool: `teml bench --kernel {name}` measures it, and \
                 `:kernels {name}` loads it in `teml repl`"
            )
        }));
        error
    })
}

impl Script {
    /// The name and the text of a script that comes with the tool.
    pub fn own(&self) -> Option<(String, &'static str)> {
        match self.text {
            Text::Own(text) => Some((format!("scripts/{}.rhai", self.name), text)),
            Text::File(_) => None,
        }
    }

    /// A script of the user; the kernel is named after the file.
    pub fn of_file(path: PathBuf) -> Script {
        let stem = path.file_stem().unwrap_or(path.as_os_str());
        Script {
            name: stem.to_string_lossy().into_owned(),
            text: Text::File(path),
        }
    }

    pub(super) fn run(&self, session: &mut Session) -> Result<(), ScriptError> {
        match &self.text {
            Text::Own(text) => session.run_text(&format!("scripts/{}.rhai", self.name), text),
            Text::File(path) => run_file(session, path),
        }
    }
}
