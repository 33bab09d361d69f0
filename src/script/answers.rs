//! Answers of a session about itself and its scripts.

use crate::actions::ACTIONS;
use crate::binding::operations::{FORMS, forms};
use crate::codegen::{self, Kernel};
use crate::diag::{Diagnostic, Sources};
use crate::ir::Nest;
use crate::library::{documentation, script_functions};
use crate::messages::suggest::Known;
use crate::modules;
use crate::package::Exported;
use crate::reader::lex::{TokenKind, scan};
use crate::reader::rewrite::INTERNAL;
use crate::session::Session;
use crate::transform;
use crate::trial::Variant;

impl Session {
    /// The names that messages about unknown names suggest.
    pub(super) fn known(&self) -> Known {
        let mut functions = script_functions(&self.attempted);
        functions.extend(self.functions());
        let from_rhai = self
            .engine
            .gen_fn_signatures(true)
            .into_iter()
            .filter_map(|s| Some((s.split_once('(')?.0.to_owned(), s)))
            .filter(|(name, _)| name.starts_with(|c: char| c.is_ascii_lowercase()))
            .filter(|(name, _)| !name.starts_with(INTERNAL));
        for (name, signature) in from_rhai {
            if !functions.iter().any(|(n, _)| *n == name) {
                functions.push((name, signature));
            }
        }
        let mut variables = self.shared.lock().places.declared_names();
        variables.extend(self.variables());
        Known {
            functions,
            variables,
        }
    }

    /// The functions that are not Rhai's: name and signature.
    pub fn functions(&self) -> Vec<(String, String)> {
        let own = script_functions(&self.functions);
        let operations = transform::OPS
            .iter()
            .map(|op| (op.name.to_owned(), op.signature()));
        let forms = FORMS.iter();
        let forms = forms.map(|form| (form.op.name.to_owned(), form.signature.to_owned()));
        let extra = ACTIONS.iter().map(|f| (f.name.to_owned(), f.signature()));
        own.into_iter()
            .chain(operations)
            .chain(forms)
            .chain(extra)
            .chain(self.library.functions())
            .collect()
    }

    /// The functions of the library, as scripts call them: name and signature.
    pub(super) fn library_functions(&self) -> impl Iterator<Item = (String, String)> {
        self.library.functions()
    }

    /// Help on a function of the library.
    pub(super) fn library_help(&self, name: &str) -> Option<String> {
        self.library.help(name)
    }

    /// The warnings about values that scripts drop, as text, with colors if `color` is set.
    pub fn warnings(&self, color: bool) -> Vec<String> {
        let state = self.shared.lock();
        let texts = state.places.texts();
        let mut warnings: Vec<_> = state.warnings.iter().collect();
        warnings.sort_by_key(|(position, _)| *position);
        let rendered = warnings.iter().map(|(_, w)| w.render(&texts, color));
        rendered.collect()
    }

    /// Says that the scripts printed, checked, ran and wrote nothing, if that is so.
    pub fn silence(&self, color: bool) -> Option<String> {
        let bench = self.bench().lock();
        if bench.has_effect {
            return None;
        }
        let message = "this script has no effect: it prints, compares, runs and saves nothing";
        let warning = Diagnostic::warning(message);
        let warning = match bench.generated.last() {
            Some(kernel) => {
                let made = format!("`codegen` made the C function `{}`", kernel.symbol);
                let help = "`print(codegen(plan))` shows the C, `save(codegen(plan), \"plan.c\")` \
                            writes it, and `teml emit` prints the C of a script";
                warning.note(made).help(Some(help.to_owned()))
            }
            None => {
                let help =
                    "`print(plan)` shows a nest, `compare([naive, plan])` checks and times both";
                warning.help(Some(help.to_owned()))
            }
        };
        Some(warning.render(&Sources::default(), color))
    }

    /// A setting of the command line that the script did not ask for.
    pub fn unused_parameter(&self) -> Option<String> {
        let bench = self.bench().lock();
        bench.parameters.unused().map(str::to_owned)
    }

    /// A setting of the command line that a script cannot ask for: none of its texts is that name, and
    /// it imports nothing that might.
    pub fn unknown_parameter(&self, script: &str) -> Option<String> {
        let scanned = scan(script);
        let tokens = scanned.tokens.iter().enumerate();
        let tokens = tokens.map(|(k, token)| (token.kind, scanned.text(script, k)));
        let tokens: Vec<(TokenKind, &str)> = tokens.collect();
        let is_open = |(kind, text): &(TokenKind, &str)| match kind {
            TokenKind::Word => *text == "import",
            TokenKind::Text => text.contains("${"),
            _ => false,
        };
        if tokens.iter().any(is_open) {
            return None;
        }
        let has = |name: &str| {
            let mut texts = tokens.iter().filter(|(kind, _)| *kind == TokenKind::Text);
            texts.any(|(_, text)| text.trim_matches(['"', '`']) == name)
        };
        let bench = self.bench().lock();
        let mut names = bench.parameters.names();
        names.find(|name| !has(name)).map(str::to_owned)
    }

    /// How many variants [`Check`](crate::trial::Check) checked, how many are not known to be
    /// right, and how many of these lack a definition to prove them by.
    pub fn checked(&self) -> [usize; 3] {
        let kept = &self.bench().lock().kept;
        [kept.checked, kept.wrong, kept.unproved]
    }

    /// The C that was generated: one translation unit with every kernel of `codegen`, or else of
    /// `compare`; `None` if there is neither.
    pub fn emitted(&self) -> Option<String> {
        let bench = self.bench().lock();
        let kernels = bench.kernels();
        (!kernels.is_empty()).then(|| codegen::unit(kernels))
    }

    /// The kernels of [`emitted`](Session::emitted), each with the variant that it computes.
    pub fn emitted_kernels(&self) -> Vec<(Kernel, Variant)> {
        let bench = self.bench().lock();
        let (kept, kernels) = (&bench.kept, bench.kernels());
        if bench.generated.is_empty() {
            return kernels.iter().cloned().zip(kept.emitted.clone()).collect();
        }
        let of = |kernel: &Kernel| {
            let mut latest = kept.generated.iter().rev();
            let variant = latest.find(|variant| variant.label == kernel.symbol)?;
            Some((kernel.clone(), variant.clone()))
        };
        kernels.iter().filter_map(of).collect()
    }

    /// The kernels that scripts have exported.
    pub fn exported(&self) -> Vec<Exported> {
        self.bench().lock().exported.clone()
    }

    /// The plans of the same kernels, as pseudo-code.
    pub fn plans(&self) -> Option<String> {
        let bench = self.bench().lock();
        let kernels = bench.kernels();
        let plan = |k: &Kernel| format!("{}:\n{}", k.symbol, k.plan);
        let plans: Vec<String> = kernels.iter().map(plan).collect();
        (!plans.is_empty()).then(|| plans.join("\n"))
    }

    /// Help on the function `name`.
    pub fn help(&self, name: &str) -> Option<String> {
        let mut operations = transform::OPS.iter().chain(transform::OPERATORS);
        if let Some(op) = operations.find(|op| op.name == name) {
            let mut signatures = op.signature();
            let mut doc = op.doc();
            for form in forms(name) {
                signatures += &format!("\n{}", form.signature);
                if let Some(other) = form.other {
                    doc += &format!("\n\n`{}`\n\n{}", form.signature, other.doc());
                }
            }
            return Some(format!("{signatures}\n\n{doc}"));
        }
        if let Some(function) = ACTIONS.iter().find(|f| f.name == name) {
            return Some(format!(
                "{}\n\n{}",
                function.signature(),
                function.doc.trim()
            ));
        }
        if name == "import" {
            return Some(modules::HELP.to_owned());
        }
        documentation(&self.functions, name, name).or_else(|| self.library.help(name))
    }

    /// The nest that a variable of the scripts holds.
    pub fn nest(&self, variable: &str) -> Option<Nest> {
        self.scope.get_value(variable)
    }

    /// The names of the variables, in the order of their declaration.
    pub fn variables(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (name, _, _) in self.scope.iter_raw() {
            if !names.iter().any(|n| n == name) {
                names.push(name.to_owned());
            }
        }
        names
    }
}
