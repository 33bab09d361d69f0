//! States of a session: everything that lines have defined so far, to go back to.
//!
//! A session keeps a state for each line, so states share whatever did not change ([`Version`]). A
//! text changes only variables that it names or that closures share with the scope. Values cannot
//! be compared in general. So the named variables are copied, and the shared ones are compared as
//! far as that is cheap.

use crate::ir::{Elem, Expr, Name, Nest};
use crate::legality::Reductions;
use crate::runtime::Data;
use crate::saved::Saved;
use crate::session::Session;
use crate::stack::on_large_stack;
use crate::values::Index;
use crate::versions::Version;
use rhai::{AST, Array, Dynamic, FnPtr, ImmutableString, Map, Scope};
use std::collections::HashSet;

/// The state of a session between two lines: variables, functions, imports, the order of reductions,
/// the type of elements and the contents of inputs. It does not contain the files that lines wrote.
pub struct Checkpoint {
    variables: Version<Saved>,
    functions: Version<AST>,
    imports: String,
    reductions: Reductions,
    elem: Elem,
    inputs: Version<(Name, Data)>,
    /// The number of kernels that `codegen` had made.
    generated: usize,
    /// The number of kernels that `export_kernel` had made.
    exported: usize,
    /// The number of assignments that were made.
    assignments: usize,
}

impl Session {
    /// The state as it is.
    pub fn checkpoint(&mut self) -> Checkpoint {
        self.kept = self.variables_now();
        self.since.clear();
        let bench = self.bench().lock();
        let set: Vec<(&Name, &Data)> = bench.inputs.iter().collect();
        let inputs = self.inputs.next(set.len(), |k, old| {
            let (name, data) = set[k];
            let is_old = old.is_some_and(|(n, d)| n == name && d == data);
            (!is_old).then(|| (name.clone(), data.clone()))
        });
        let taken = Checkpoint {
            variables: self.kept.clone(),
            functions: self.defined.clone(),
            imports: self.imports.clone(),
            reductions: bench.settings.reductions,
            elem: bench.elem,
            inputs: inputs.clone(),
            generated: bench.generated.len(),
            exported: bench.exported.len(),
            assignments: bench.definitions.count(),
        };
        drop(bench);
        self.inputs = inputs;
        taken
    }

    fn variables_now(&self) -> Version<Saved> {
        let named = Named::of(&self.since);
        let mut seen = HashSet::new();
        // A variable that a later one hides cannot be named.
        let mut named: Vec<bool> = self
            .kept
            .iter()
            .rev()
            .map(|saved| seen.insert(&saved.name) && named.has(&saved.name))
            .collect();
        named.reverse();
        // A scope gives its last variable first.
        let mut now: Vec<(&str, bool, &Dynamic)> = self.scope.iter_raw().collect();
        now.reverse();
        self.kept.next(now.len(), |k, old| {
            let (name, is_constant, value) = now[k];
            let is_old = old.is_some_and(|old| {
                let inside = match (&old.inside, value.is_shared()) {
                    (None, false) => true,
                    (Some(inside), true) => is_same(inside, &value.flatten_clone()),
                    _ => false,
                };
                inside && old.name == name && !named[k]
            });
            (!is_old).then(|| Saved {
                name: name.into(),
                is_constant,
                value: value.clone(),
                inside: value.is_shared().then(|| value.flatten_clone()),
            })
        })
    }

    /// Goes back, or forward, to a state.
    pub fn restore(&mut self, to: &Checkpoint) {
        let mut scope = Scope::new();
        for saved in to.variables.iter() {
            let mut value = saved.value.clone();
            if let Some(inside) = &saved.inside
                && let Some(mut place) = value.write_lock::<Dynamic>()
            {
                *place = inside.clone();
            }
            if saved.is_constant {
                scope.push_constant_dynamic(saved.name.as_str(), value)
            } else {
                scope.push_dynamic(saved.name.as_str(), value)
            };
        }
        let left = std::mem::replace(&mut self.scope, scope);
        let left = (
            left,
            std::mem::replace(&mut self.kept, to.variables.clone()),
        );
        self.since.clear();
        if !self.defined.is(&to.functions) {
            let mut functions = AST::empty();
            for own in to.functions.iter() {
                functions.combine(own.clone());
            }
            self.functions = functions;
            self.defined = to.functions.clone();
        }
        self.attempted = self.functions.clone();
        self.imports.clone_from(&to.imports);
        self.inputs = to.inputs.clone();
        {
            let mut bench = self.bench().lock();
            bench.definitions.truncate(to.assignments);
            bench.settings.reductions = to.reductions;
            bench.elem = to.elem;
            bench.inputs = to.inputs.iter().cloned().collect();
            bench.generated.truncate(to.generated);
            bench.exported.truncate(to.exported);
        }
        // Values can be nested so deeply that dropping them needs the large stack.
        let _ = on_large_stack(move || drop(left));
    }
}

/// The words of texts.
struct Named<'t> {
    words: HashSet<&'t str>,
    /// A function that is called as `f!()` sees the variables of its caller.
    all: bool,
}

impl Named<'_> {
    fn of(text: &str) -> Named<'_> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        Named {
            words: text.split(|c| !is_part(c)).collect(),
            all: text.contains('!')
                && text
                    .split('!')
                    .skip(1)
                    .any(|t| t.trim_start().starts_with('(')),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.all || self.words.contains(name)
    }
}

/// Whether two values are the same, as far as that is cheap to say.
fn is_same(a: &Dynamic, b: &Dynamic) -> bool {
    fn both<T: Clone + Send + Sync + 'static>(
        a: &Dynamic,
        b: &Dynamic,
        same: impl Fn(&T, &T) -> bool,
    ) -> Option<bool> {
        let (a, b) = (a.read_lock::<T>()?, b.read_lock::<T>()?);
        Some(same(&a, &b))
    }
    if a.type_id() != b.type_id() || a.tag() != b.tag() {
        return false;
    }
    let same = if a.is_unit() { Some(true) } else { None };
    same.or_else(|| both::<i64>(a, b, |a, b| a == b))
        .or_else(|| both::<f64>(a, b, |a, b| a.to_bits() == b.to_bits()))
        .or_else(|| both::<bool>(a, b, |a, b| a == b))
        .or_else(|| both::<ImmutableString>(a, b, |a, b| a == b))
        .or_else(|| both::<Nest>(a, b, Nest::is))
        .or_else(|| both::<Expr>(a, b, Expr::is))
        .or_else(|| both::<Index>(a, b, |a, b| a == b))
        .or_else(|| {
            both::<Array>(a, b, |a, b| {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
            })
        })
        .or_else(|| {
            both::<Map>(a, b, |a, b| {
                let same =
                    |((k, a), (l, b)): ((_, &Dynamic), (_, &Dynamic))| k == l && is_same(a, b);
                a.len() == b.len() && a.iter().zip(b).all(same)
            })
        })
        .or_else(|| {
            both::<FnPtr>(a, b, |a, b| {
                let (x, y) = (a.curry(), b.curry());
                a.is_anonymous()
                    && a.fn_name() == b.fn_name()
                    && x.len() == y.len()
                    && x.iter().zip(y).all(|(x, y)| is_same(x, y))
            })
        })
        .unwrap_or(false)
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        let variables = std::mem::take(&mut self.variables);
        let _ = on_large_stack(move || drop(variables));
    }
}

#[cfg(test)]
mod tests {
    use super::super::versions::tests::places;
    use super::*;
    use crate::verbs::Workbench;

    fn session() -> Session {
        Session::new(Box::new(std::io::sink()), Workbench::default()).unwrap()
    }

    /// The memory that the states of a session with that many lines hold.
    fn held(lines: usize) -> usize {
        let mut session = session();
        let states: Vec<Checkpoint> = (0..lines)
            .map(|k| {
                let line = format!(
                    "let A = tensor([{size}]); let T{k} = tensor([8]); init(T{k}, {k}.0); \
                     let C = eq(A * {k}.5, [i] -> [i]); let p = build(C); let q{k} = p; \
                     let n{k} = {k}; let add{k} = |x| x + n{k}; fn twice{k}(x) {{ 2 * x }}",
                    size = k + 1
                );
                session.eval_line(&line).unwrap();
                session.checkpoint()
            })
            .collect();
        places(states.iter().map(|s| &s.variables))
            + places(states.iter().map(|s| &s.functions))
            + places(states.iter().map(|s| &s.inputs))
    }

    #[test]
    fn states_grow_in_proportion_to_the_lines() {
        let (few, many) = (held(60), held(240));
        // Trees are a little higher.
        assert!(many < 6 * few, "{few} places for 60 lines, {many} for 240");
    }

    #[test]
    fn states_are_what_they_were() {
        let mut session = session();
        let show = |session: &mut Session, line: &str| session.eval_line(line).unwrap();
        show(
            &mut session,
            "let a = 1; let l = [1, 2]; let c = 5; const K = 3;",
        );
        show(
            &mut session,
            "let bump = || { c += 1; c }; fn f(x) { x + 1 } fn set() { a = 50; }",
        );
        let all = "[a, l, c, f(1), K].to_string()";
        let mut states = vec![(session.checkpoint(), show(&mut session, all))];
        for line in [
            "a += 1",
            "l.push(a)",
            "bump.call()",
            "let a = \"new\";",
            "fn f(x) { x + 100 }",
            "bump.call(); let b = `${a = 9}`;",
            "set!();",
            "let l = #{};",
            "l.x = 4; let c = 0;",
            "reductions(\"reassoc\")",
        ] {
            show(&mut session, line);
            states.push((session.checkpoint(), show(&mut session, all)));
        }
        let steps: Vec<usize> = (0..states.len()).rev().chain([3, 9, 0, 5, 7, 10]).collect();
        for k in steps {
            session.restore(&states[k].0);
            assert_eq!(show(&mut session, all), states[k].1, "state {k}");
            assert!(session.eval_line("K = 4").is_err());
        }
    }
}
