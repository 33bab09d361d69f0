//! The C of a kernel as a value of scripts.

use super::shown::Shown;
use crate::codegen::Kernel;
use std::sync::Arc;

/// The C of a kernel, as scripts see it.
#[derive(Clone, Debug)]
pub struct Code(pub Arc<Kernel>);

impl Shown for Code {
    const NAME: &'static str = "code";

    fn full(&self) -> String {
        self.0.source().trim_end().to_owned()
    }

    fn brief(&self) -> String {
        format!("code {}", self.0.symbol)
    }
}
