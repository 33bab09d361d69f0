//! isl's context: one for each thread, with its errors and its budget.

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
    /// What [`bounded`] gives.
    budget: Cell<Option<u64>>,
}

thread_local! {
    static CONTEXT: OnceCell<Rc<Context>> = const { OnceCell::new() };
}

impl Context {
    /// The context of this thread. It never has another, so that whatever meets in a thread is in
    /// the same context, as isl demands.
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

    /// What isl's last error was; none afterwards.
    fn last_error(&self) -> Option<String> {
        // SAFETY: the context is alive; the message is a constant of isl, or null.
        unsafe {
            let code = (self.library.ctx_last_error)(self.raw());
            let message = (self.library.ctx_last_error_msg)(self.raw());
            let message = match message.is_null() {
                true => "no reason given".to_owned(),
                false => CStr::from_ptr(message).to_string_lossy().into_owned(),
            };
            (self.library.ctx_reset_error)(self.raw());
            (code != NONE).then_some(message)
        }
    }

    /// The error that made `function` fail.
    pub(super) fn error(&self, function: &'static str) -> Error {
        let last = self.last_error();
        // SAFETY: the context is alive.
        if unsafe { (self.library.ctx_aborted)(self.raw()) } != 0 {
            return Error::Stopped;
        }
        if let Some(operations) = self.budget.get().filter(|_| self.is_used_up()) {
            return Error::Quota { operations };
        }
        let reason = last.unwrap_or_else(|| "no reason given".to_owned());
        Error::Failed { function, reason }
    }

    /// Whether isl may do nothing more. Its last error does not always say so: what cannot be
    /// read for that reason is a syntax error to it.
    fn is_used_up(&self) -> bool {
        // SAFETY: the context is alive; the value is freed, and null is no error.
        let value = unsafe {
            let value = (self.library.val_zero)(self.raw());
            (self.library.val_free)(value);
            value
        };
        self.last_error();
        value.is_null()
    }

    /// The result of a call that fails without returning anything special.
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

    /// A number of which isl makes a negative one when it fails.
    pub(super) fn number(&self, function: &'static str, answer: Answer) -> Result<usize, Error> {
        usize::try_from(answer).map_err(|_| self.error(function))
    }

    fn limit(&self, budget: Option<u64>) {
        self.budget.set(budget);
        // Zero stands for no limit.
        let most = budget.map_or(0, |n| c_ulong::try_from(n.max(1)).unwrap_or(c_ulong::MAX));
        // SAFETY: the context is alive.
        unsafe {
            (self.library.ctx_reset_operations)(self.raw());
            (self.library.ctx_set_max_operations)(self.raw(), most);
            (self.library.ctx_reset_error)(self.raw());
        }
    }

    /// How many objects are in the context, of those that isl has not freed.
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

/// Takes the limit back, also when a panic passes.
struct Limited(Rc<Context>);

impl Drop for Limited {
    fn drop(&mut self) {
        self.0.limit(None);
    }
}

/// What `compute` returns, or [`Error::Quota`] from whatever it does in this thread once isl has
/// used up `operations`, so that nothing runs away. An operation is an allocation of isl's; their
/// number is the same every time. Within another `bounded` the outer one counts.
///
/// Source: `isl_ctx_set_max_operations`.
pub fn bounded<T>(operations: u64, compute: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let context = Context::current()?;
    if context.budget.get().is_some() {
        return compute();
    }
    context.limit(Some(operations));
    let _limited = Limited(context);
    compute()
}
