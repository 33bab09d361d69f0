//! isl's context: one per thread, with its errors and its budget.

use super::error::Error;
use super::library::{Answer, Library, RawContext, library};
use super::stop;
use std::cell::{Cell, OnceCell};
use std::ffi::{CStr, c_int, c_ulong};
use std::ptr::NonNull;
use std::rc::Rc;

/// `ISL_ON_ERROR_CONTINUE`: errors are returned, not printed.
const CONTINUE: c_int = 1;
/// `isl_error_none`.
const NONE: c_int = 0;

/// A context that lives as long as the last set or map in it.
pub(super) struct Context {
    pub(super) library: &'static Library,
    raw: NonNull<RawContext>,
    budget: Cell<Option<Budget>>,
}

/// The budget of [`bounded`].
#[derive(Clone, Copy)]
struct Budget {
    /// The limit that errors name.
    limit: u64,
    /// The rest of the budget when isl began to count.
    left: u64,
}

thread_local! {
    static CONTEXT: OnceCell<Rc<Context>> = const { OnceCell::new() };
}

impl Context {
    /// The context of this thread. A thread never gets another one, so all of its objects share one
    /// context, as isl requires.
    pub(super) fn current() -> Result<Rc<Context>, Error> {
        let found = CONTEXT.try_with(|slot| match slot.get() {
            Some(context) => Ok(Rc::clone(context)),
            None => {
                let context = Context::new()?;
                Ok(Rc::clone(slot.get_or_init(|| context)))
            }
        });
        found.unwrap_or_else(|_| {
            Err(Error::Failed {
                function: "ctx_alloc",
                reason: "the thread is ending".to_owned(),
            })
        })
    }

    pub(super) fn new() -> Result<Rc<Context>, Error> {
        let library = library()?;
        // SAFETY: needs nothing; null is the only failure.
        let raw = NonNull::new(unsafe { (library.ctx_alloc)() }).ok_or(Error::Failed {
            function: "ctx_alloc",
            reason: "out of memory".to_owned(),
        })?;
        // SAFETY: the context was just made.
        unsafe { (library.options_set_on_error)(raw.as_ptr(), CONTINUE) };
        let budget = Cell::new(None);
        stop::add(library, raw);
        Ok(Rc::new(Context {
            library,
            raw,
            budget,
        }))
    }

    pub(super) fn raw(&self) -> *mut RawContext {
        self.raw.as_ptr()
    }

    /// Returns isl's last error and clears it.
    fn last_error(&self) -> Option<String> {
        // SAFETY: the context is alive; the message is a constant of isl, or null.
        unsafe {
            let code = (self.library.ctx_last_error)(self.raw());
            let message = (self.library.ctx_last_error_msg)(self.raw());
            let message = if message.is_null() {
                "no reason given".to_owned()
            } else {
                CStr::from_ptr(message).to_string_lossy().into_owned()
            };
            (self.library.ctx_reset_error)(self.raw());
            (code != NONE).then_some(message)
        }
    }

    /// The error that made `function` fail.
    pub(super) fn error(&self, function: &'static str) -> Error {
        let last = self.last_error();
        if self.is_aborted() {
            return Error::Stopped;
        }
        if let Some(budget) = self.budget.get().filter(|_| self.is_used_up()) {
            return budget.error();
        }
        let reason = last.unwrap_or_else(|| "no reason given".to_owned());
        Error::Failed { function, reason }
    }

    fn is_aborted(&self) -> bool {
        // SAFETY: the context is alive.
        unsafe { (self.library.ctx_aborted)(self.raw()) != 0 }
    }

    /// Whether the budget is used up. isl's last error does not always say so: a reader that fails
    /// for lack of budget reports a syntax error.
    fn is_used_up(&self) -> bool {
        // SAFETY: the context is alive. The value is freed, and `val_free` accepts null.
        let value = unsafe {
            let value = (self.library.val_zero)(self.raw());
            (self.library.val_free)(value);
            value
        };
        self.last_error();
        value.is_null()
    }

    /// The result of a call whose return value does not show failure.
    pub(super) fn checked<T>(
        &self,
        function: &'static str,
        call: impl FnOnce() -> T,
    ) -> Result<T, Error> {
        self.last_error();
        let result = call();
        // SAFETY: the context is alive.
        match unsafe { (self.library.ctx_last_error)(self.raw()) } {
            NONE => Ok(result),
            _ => Err(self.error(function)),
        }
    }

    /// A number that isl makes negative on failure.
    pub(super) fn number(&self, function: &'static str, answer: Answer) -> Result<usize, Error> {
        usize::try_from(answer).map_err(|_| self.error(function))
    }

    fn limit(&self, budget: Option<Budget>) {
        self.budget.set(budget);
        // SAFETY: the context is alive.
        unsafe { (self.library.ctx_reset_operations)(self.raw()) };
        // Zero means no limit.
        self.set_most(budget.map_or(0, |budget| budget.left.max(1)));
        self.last_error();
    }

    fn set_most(&self, operations: u64) {
        let most = c_ulong::try_from(operations).unwrap_or(c_ulong::MAX);
        // SAFETY: the context is alive.
        unsafe { (self.library.ctx_set_max_operations)(self.raw(), most) };
    }

    /// The rest of the active budget. isl does not report its use, so bisection finds the least
    /// limit under which it still works.
    fn left(&self, budget: Budget) -> u64 {
        let (mut least, mut most) = (0, budget.left);
        while least < most {
            let middle = least + (most - least) / 2;
            self.set_most(middle + 1);
            if self.is_used_up() {
                least = middle + 1
            } else {
                most = middle
            }
        }
        self.set_most(budget.left.max(1));
        budget.left - least
    }

    /// The number of objects in the context that isl has not freed.
    #[cfg(test)]
    pub(super) fn references(&self) -> c_int {
        // SAFETY: in all versions of isl a context starts with this count.
        unsafe { *self.raw().cast::<c_int>() }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        stop::remove(self.raw);
        // SAFETY: every handle holds the context, so none is left that could use it.
        unsafe { (self.library.ctx_free)(self.raw()) };
    }
}

impl Budget {
    fn error(&self) -> Error {
        Error::Quota {
            operations: self.limit,
        }
    }
}

/// Restores the outer limit, even on a panic, and charges it with the used operations.
struct Limited {
    context: Rc<Context>,
    /// The budget at its start.
    own: Budget,
    around: Option<Budget>,
}

impl Drop for Limited {
    fn drop(&mut self) {
        // Inner limits have already charged their use.
        let left = self
            .context
            .budget
            .get()
            .map_or(0, |b| self.context.left(b));
        let around = self.around.map(|around| Budget {
            left: around.left - (self.own.left - left),
            ..around
        });
        self.context.limit(around);
    }
}

/// Runs `compute` with a budget of isl operations in this thread. It returns [`Error::Quota`] once
/// isl has used up `operations`. An operation is an allocation of isl's, so the count is
/// deterministic. Within another `bounded` both limits apply.
///
/// Source: `isl_ctx_set_max_operations`.
pub fn bounded<T>(operations: u64, compute: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let context = Context::current()?;
    let given = Budget {
        limit: operations,
        left: operations,
    };
    let around = context.budget.get();
    let around = around.map(|around| Budget {
        left: context.left(around),
        ..around
    });
    let own = match around {
        Some(around) if around.left < operations => around,
        _ => given,
    };
    if around.is_some() && own.left == 0 {
        return Err(if context.is_aborted() {
            Error::Stopped
        } else {
            own.error()
        });
    }
    context.limit(Some(own));
    let _limited = Limited {
        context,
        own,
        around,
    };
    compute()
}
