//! Fills: `memset` for zeros in a whole tensor, loops for all others.

use super::printer::Printer;
use super::value::at;
use crate::elem::c_type;
use crate::ir::Fill;
use crate::kernel::Header;

impl Printer<'_> {
    pub(super) fn fill(&mut self, fill: &Fill) {
        let numbers = fill.target.shape().numbers();
        let numbers = numbers.filter(|_| !fill.target.is_strided());
        let whole = numbers.filter(|extents| {
            let mut sides = fill.region.iter().zip(*extents);
            sides.all(|((low, extent), full)| {
                low.as_constant() == Some(0) && extent.as_constant() == i64::try_from(*full).ok()
            })
        });
        if let (Some(extents), true) = (whole, fill.value.is_zero()) {
            self.values.headers.insert(Header::Memset);
            let (name, elem) = (fill.target.label(), c_type(fill.target.elem()));
            let extents: String = extents.iter().map(|e| format!("[{e}]")).collect();
            self.line(&format!("memset({name}, 0, sizeof({elem}{extents}));"));
            return;
        }
        let depth = self.depth;
        let mut index: Vec<String> = Vec::new();
        for (d, (low, extent)) in fill.region.iter().enumerate() {
            if extent.as_constant() == Some(1) {
                index.push(low.to_string());
                continue;
            }
            // Scripts cannot use this name, so it hides nothing.
            let name = format!("teml_{}", d + 1);
            self.values.headers.insert(Header::Integers);
            self.line(&format!(
                "for (int64_t {name} = {low}; {name} < {}; {name}++)",
                low.plus(extent),
            ));
            self.depth += 1;
            index.push(name);
        }
        let value = self.values.constant(fill.value);
        self.line(&format!("{} = {value};", at(&fill.target, &index)));
        self.depth = depth;
    }
}
