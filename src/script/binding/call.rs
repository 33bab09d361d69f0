//! Calls of native functions: how functions are registered, and how they get at their arguments.
//!
//! Every function takes all arguments as they come and converts them itself. So a wrong
//! argument is reported as such, with the function's signature, and never as "function not
//! found".

use crate::analysis::program;
use crate::binding::operand_names;
use crate::binding::state::{Shared, State};
use crate::ir::{Expr, Nest, Program, Site};
use crate::messages::fail::Failure;
use crate::values::{self, Index};
use crate::verbs::{self, Bench, Refusal, Workbench};
use rhai::{Array, Dynamic, Engine, EvalAltResult, NativeCallContext, Position};
use std::any::TypeId;
use std::sync::{Arc, MutexGuard};

/// The name, parameters and signature of a callee.
pub(super) struct Callee {
    pub name: &'static str,
    pub params: Vec<&'static str>,
    pub signature: String,
    /// Whether it writes files.
    pub writes: bool,
}

/// One call of a native function.
pub struct Call<'a> {
    pub(super) context: &'a NativeCallContext<'a>,
    pub(super) callee: &'a Callee,
    pub(super) args: &'a [&'a mut Dynamic],
    pub(super) shared: &'a Shared,
    /// Those of the function value through which it is called.
    pub(super) rights: Option<Rights>,
}

/// An argument of a call: its number, counted from 0, or its parameter.
pub trait Which {
    fn number(&self, call: &Call) -> usize;
}

impl Which for usize {
    fn number(&self, _: &Call) -> usize {
        *self
    }
}

/// The owner of the code that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// The user: anywhere.
    User,
    /// A module, or the library: where the user allows it.
    Module,
}

impl Rights {
    /// The rights of the code at a position.
    pub(super) fn at(position: Position, shared: &Shared) -> Rights {
        if shared.lock().places.is_of_user(position) {
            Rights::User
        } else {
            Rights::Module
        }
    }
}

/// Registers a function from its parts.
pub(super) fn register_raw(
    engine: &mut Engine,
    shared: &Shared,
    callee: Callee,
    required: usize,
    body: impl Fn(&Call) -> Result<Dynamic, Failure> + Clone + Send + Sync + 'static,
) {
    let callee = Arc::new(callee);
    for count in required..=callee.params.len() {
        let (callee, shared, body) = (callee.clone(), shared.clone(), body.clone());
        let types = vec![TypeId::of::<Dynamic>(); count];
        engine.register_raw_fn(
            callee.name,
            types,
            move |context: NativeCallContext, args: &mut [&mut Dynamic]| {
                let call = Call {
                    context: &context,
                    callee: &callee,
                    args,
                    shared: &shared,
                    rights: None,
                };
                body(&call).map_err(|failure| call.raise(failure))
            },
        );
    }
}

impl Call<'_> {
    pub(super) fn raise(&self, failure: Failure) -> Box<EvalAltResult> {
        failure
            .in_function(self.callee.name, self.callee.signature.clone())
            .raise(self.context.call_position())
    }

    /// The name of the function.
    pub fn name(&self) -> &'static str {
        self.callee.name
    }

    /// The number of arguments given.
    pub fn count(&self) -> usize {
        self.args.len()
    }

    /// Argument `k`, counted from 0; `None` where it was left out.
    pub fn value(&self, k: usize) -> Option<Dynamic> {
        self.args.get(k).map(|value| value.flatten_clone())
    }

    /// Argument `k` as a `T`, which users call `expected`.
    ///
    /// # Errors
    /// It was left out or is something else.
    pub fn get<T: Clone + Send + Sync + 'static>(
        &self,
        k: usize,
        expected: &str,
    ) -> Result<T, Failure> {
        let value = self.args.get(k).and_then(|v| v.read_lock::<T>());
        value
            .map(|v| v.clone())
            .ok_or_else(|| self.expected(k, expected))
    }

    /// Argument `k` as a nest.
    ///
    /// # Errors
    /// It is none.
    pub fn nest(&self, k: usize) -> Result<Nest, Failure> {
        self.get(k, "a nest").map_err(|f| self.suggest_build(k, f))
    }

    fn suggest_build(&self, k: usize, failure: Failure) -> Failure {
        let given = self.args.get(k);
        if given.is_some_and(|v| v.read_lock::<Expr>().is_some()) {
            failure.help("`build` wraps an assignment in a loop nest: build(t)")
        } else {
            failure
        }
    }

    /// Argument `k` as a list of nests; a nest alone is a list of one. A tensor is computed with all
    /// that it needs, and a program is a nest for each of its assignments.
    ///
    /// # Errors
    /// It is none.
    pub fn nests(&self, k: usize) -> Result<Vec<Nest>, Failure> {
        if let Ok(nest) = self.get::<Nest>(k, "") {
            operand_names::up_to_date(&nest, self.shared).map_err(|f| f.argument(k))?;
            return Ok(vec![nest]);
        }
        if let Ok(expr) = self.get::<Expr>(k, "")
            && let Some(assignment) = self.assignment(&expr)?
        {
            return self.nests_of(&assignment);
        }
        if let Ok(program) = self.get::<Program>(k, "") {
            return self.nests_of_program(&program);
        }
        let expected = "a nest or a list of nests";
        let list = self.get::<Array>(k, expected);
        let list = list.map_err(|f| self.suggest_build(k, f))?;
        list.iter()
            .map(|item| {
                let nest = item.read_lock::<Nest>().map(|n| n.clone());
                let nest = nest.ok_or_else(|| self.expected_but(k, expected, item))?;
                operand_names::up_to_date(&nest, self.shared).map_err(|f| f.argument(k))?;
                Ok(nest)
            })
            .collect()
    }

    /// A tensor as an assignment, which stores it if it is virtual and carries no iterators.
    ///
    /// # Errors
    /// As `operand_names::assignment`.
    pub fn assignment(&self, tensor: &Expr) -> Result<Option<Expr>, Failure> {
        operand_names::assignment(tensor, self.site(), self.shared)
    }

    /// A nest for each assignment that a tensor needs, in order.
    ///
    /// # Errors
    /// As `build`.
    pub fn nests_of(&self, tensor: &Expr) -> Result<Vec<Nest>, Failure> {
        let named = operand_names::operand(tensor.clone(), self.shared)?;
        let current = self.workbench().definitions.current(&named);
        let nests = verbs::nests(self.bench(), &current, self.site().as_ref());
        nests.map_err(Failure::operation)
    }

    /// A nest for each assignment of a program, in order, with what the program declares of its
    /// target.
    ///
    /// # Errors
    /// As `build`.
    pub fn nests_of_program(&self, program: &Program) -> Result<Vec<Nest>, Failure> {
        let (site, outputs) = (self.site(), program::outputs(program));
        let nest = |assignment: &Expr| {
            let nest = verbs::built(assignment, site.as_ref())?;
            Ok(match program::target(assignment) {
                Some(name) => nest.declaring(name.clone(), outputs.contains(name)),
                None => nest,
            })
        };
        let nests = program.assignments().iter().map(nest);
        nests.collect::<Result<_, _>>().map_err(Failure::operation)
    }

    /// Argument `k` as a tensor expression.
    ///
    /// # Errors
    /// It is none.
    pub fn expr(&self, k: usize) -> Result<Expr, Failure> {
        self.get(k, "a tensor")
    }

    /// Argument `k` as an integer.
    ///
    /// # Errors
    /// It is none.
    pub fn int(&self, k: usize) -> Result<i64, Failure> {
        self.get(k, "an integer")
    }

    /// The failure of an argument that is not `expected`: words for a user, with an article.
    pub fn expected(&self, which: impl Which, expected: &str) -> Failure {
        let k = which.number(self);
        match self.args.get(k) {
            Some(value) => self.expected_but(k, expected, value),
            None => self.fail(k, &format!("is missing; it must be {expected}")),
        }
    }

    /// As [`Call::expected`], where `part` of the argument is at fault.
    pub fn expected_but(&self, which: impl Which, expected: &str, part: &Dynamic) -> Failure {
        let k = which.number(self);
        let given = values::describe(part);
        let index = part.read_lock::<Index>().map(|index| index.clone());
        let joint = match &index {
            Some(index) if index.undeclared => ", but",
            _ => ", not",
        };
        let failure = self.fail(k, &format!("must be {expected}{joint} {given}"));
        // Perhaps variables were meant.
        let index = index.filter(|index| index.undeclared || index.affine.as_iterator().is_none());
        let name = index.and_then(|index| Some(index.affine.terms().first()?.0.clone()));
        match name {
            Some(name) => failure.misspelt(name.as_str()),
            None => failure,
        }
    }

    /// The failure that something is wrong with an argument, which follows its name in the
    /// message.
    pub fn fail(&self, which: impl Which, what: &str) -> Failure {
        let k = which.number(self);
        let callee = self.callee;
        let param = match (callee.params.last(), self.args.last()) {
            // A map of ranges is the last argument, whichever optional ones are left out.
            (Some(&"ranges"), Some(last)) if last.is_map() && k + 1 == self.args.len() => {
                let is_option = |value: &Dynamic| value.is_bool() || value.is_int();
                let map = last.as_map_ref();
                let is_options = map.is_ok_and(|map| map.values().any(is_option));
                let options = callee.params.iter().find(|name| **name == "options");
                options.filter(|_| is_options).copied().unwrap_or("ranges")
            }
            _ => callee.params.get(k).copied().unwrap_or(""),
        };
        let message = format!("{}: argument {} `{param}` {what}", callee.name, k + 1);
        Failure::new(message).argument(k).said_of(param, what)
    }

    /// A failure of the call as a whole, not of one argument.
    pub fn refuse(&self, what: &str) -> Failure {
        Failure::new(format!("{}: {what}", self.callee.name))
    }

    /// A failure in words of its own that is the fault of one argument.
    pub fn blame(&self, which: impl Which, what: &str) -> Failure {
        self.refuse(what).argument(which.number(self))
    }

    /// Where the variable is that is argument `k`, if it reads as an iterator.
    pub fn variable(&self, k: usize) -> Option<Position> {
        let position = self.context.call_position();
        self.state().places.variable(position, k)
    }

    /// The place of the call in a script.
    pub fn site(&self) -> Option<Site> {
        self.state().site(self.context.call_position())
    }

    /// Where the call may write. A function value has the rights of the code that made it.
    pub fn rights(&self) -> Rights {
        match (self.callee.writes, self.rights) {
            (false, _) => Rights::Module,
            (true, Some(rights)) => rights,
            (true, None) => Rights::at(self.context.call_position(), self.shared),
        }
    }

    /// The state of the session. Release it before anything calls back into the script.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }

    /// The state and the workbench of the session.
    pub fn shared(&self) -> &Shared {
        self.shared
    }

    /// Where the kernels of the session are made and tried.
    pub fn bench(&self) -> &Bench {
        self.shared.bench()
    }

    /// The same, locked. Release it before anything runs.
    pub fn workbench(&self) -> MutexGuard<'_, Workbench> {
        self.bench().lock()
    }

    /// The refusal of a verb as a failure of this call, not of one of its arguments.
    pub fn refused(&self, refusal: Refusal) -> Failure {
        let failure = self.refuse(&refusal.what);
        let failure = refusal.notes.into_iter().fold(failure, Failure::note);
        match refusal.help {
            Some(help) => failure.help(help),
            None => failure,
        }
    }

    /// The context, for calling closures.
    pub fn context(&self) -> &NativeCallContext<'_> {
        self.context
    }
}
