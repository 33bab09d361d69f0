//! Fills: `memset` for zeros in a whole tensor, loops for all others.

use super::printer::Printer;
use crate::elem::c_type;
use crate::ir::Fill;
use crate::kernel::Header;
use std::fmt::Write;

impl Printer<'_> {
    pub(super) fn fill(&mut self, fill: &Fill) {
        let shape = fill.target.shape();
        let whole = fill
            .region
            .iter()
            .zip(shape.extents())
            .all(|((low, extent), full)| low.as_constant() == Some(0) && extent == full);
        if whole && fill.value.is_zero() {
            self.values.headers.insert(Header::Memset);
            let (name, elem) = (fill.target.label(), c_type(fill.target.elem()));
            let extents: String = shape.extents().iter().map(|e| format!("[{e}]")).collect();
            self.line(&format!("memset({name}, 0, sizeof({elem}{extents}));"));
            return;
        }
        let depth = self.depth;
        let mut index = String::new();
        for (d, (low, extent)) in fill.region.iter().enumerate() {
            if *extent == 1 {
                let _ = write!(index, "[{low}]");
                continue;
            }
            // Scripts cannot use this name, so it hides nothing.
            let name = format!("teml_{}", d + 1);
            self.values.headers.insert(Header::Integers);
            self.line(&format!(
                "for (int64_t {name} = {low}; {name} < {}; {name}++)",
                low.plus_constant(i64::try_from(*extent).unwrap_or(i64::MAX)),
            ));
            self.depth += 1;
            let _ = write!(index, "[{name}]");
        }
        if index.is_empty() {
            index.push_str("[0]");
        }
        let value = self.values.constant(fill.value);
        self.line(&format!("{}{index} = {value};", fill.target.label()));
        self.depth = depth;
    }
}
