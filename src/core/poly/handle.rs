//! Owned objects of isl, and the macros that turn its functions into methods.

use super::context::Context;
use super::error::Error;
use super::library::{
    Answer, Library, RawBasicMap, RawBasicSet, RawContext, RawFlow, RawMap, RawMatrix, RawPoint,
    RawSet, RawSpace, RawUnionMap, RawUnionSet, RawValue, Visitor,
};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::NonNull;
use std::rc::Rc;

/// A function of isl from an object to one of its kind: copy and free.
type Unary<T> = unsafe extern "C" fn(*mut T) -> *mut T;

/// A reference-counted object of isl.
pub(super) trait Object: Sized {
    /// Releases a reference.
    const FREE: fn(&Library) -> Unary<Self>;
}

/// An object whose references can be copied.
pub(super) trait Shared: Object {
    /// Adds a reference.
    const COPY: fn(&Library) -> Unary<Self>;
}

macro_rules! objects {
    ($($raw:ident: $free:ident $($copy:ident)?;)*) => {$(
        impl Object for $raw {
            const FREE: fn(&Library) -> Unary<$raw> = |library| library.$free;
        }
        $(impl Shared for $raw {
            const COPY: fn(&Library) -> Unary<$raw> = |library| library.$copy;
        })?
    )*};
}

objects! {
    RawSet: set_free set_copy;
    RawMap: map_free map_copy;
    RawUnionSet: union_set_free union_set_copy;
    RawUnionMap: union_map_free union_map_copy;
    RawBasicSet: basic_set_free basic_set_copy;
    RawBasicMap: basic_map_free basic_map_copy;
    RawPoint: point_free;
    RawValue: val_free val_copy;
    RawMatrix: mat_free mat_copy;
    RawSpace: space_free space_copy;
    RawFlow: union_flow_free;
}

/// A reference to an object of isl. It is not `Send`, because its context is not.
pub(super) struct Handle<T: Object> {
    raw: NonNull<T>,
    pub(super) context: Rc<Context>,
}

impl<T: Object> Handle<T> {
    /// Takes ownership of the result of `function`. Null means failure.
    ///
    /// # Safety
    ///
    /// `raw` is null, or a reference in `context` that nobody else frees.
    pub(super) unsafe fn own(
        context: &Rc<Context>,
        function: &'static str,
        raw: *mut T,
    ) -> Result<Handle<T>, Error> {
        let raw = NonNull::new(raw).ok_or_else(|| context.error(function))?;
        let context = Rc::clone(context);
        Ok(Handle { raw, context })
    }

    /// The pointer for a function that keeps its argument (`__isl_keep`).
    pub(super) fn keep(&self) -> *mut T {
        self.raw.as_ptr()
    }

    /// The pointer for a function that takes its argument (`__isl_take`).
    pub(super) fn take(&self) -> *mut T
    where
        T: Shared,
    {
        // SAFETY: the object is alive, and the new reference is the callee's.
        unsafe { T::COPY(self.context.library)(self.keep()) }
    }

    /// The text that `write` makes of the object.
    ///
    /// # Safety
    ///
    /// `write` is a function of isl that keeps the object.
    pub(super) unsafe fn text(
        &self,
        function: &'static str,
        write: unsafe extern "C" fn(*mut T) -> *mut c_char,
    ) -> Result<String, Error> {
        // SAFETY: the text belongs to the caller, or is null.
        unsafe {
            let text = write(self.keep());
            if text.is_null() {
                return Err(self.context.error(function));
            }
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            libc::free(text.cast());
            Ok(copy)
        }
    }

    /// Calls `step` for each part, until it returns an error.
    ///
    /// # Safety
    ///
    /// `visit` is a function of isl that keeps the object and gives its parts.
    pub(super) unsafe fn each<P: Object>(
        &self,
        function: &'static str,
        visit: unsafe extern "C" fn(*mut T, Visitor<P>, *mut c_void) -> Answer,
        step: impl FnMut(Handle<P>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut visiting = Visiting {
            context: &self.context,
            step,
            stopped: None,
        };
        let visitor = visitor_of(&visiting);
        let user = (&raw mut visiting).cast();
        // SAFETY: the visitor gets `user` with each part, and is the one for its type.
        let answer = unsafe { visit(self.keep(), visitor, user) };
        match (visiting.stopped, answer) {
            (Some(error), _) => {
                // Discards isl's own error about the stopped visit.
                let _ = self.context.error(function);
                Err(error)
            }
            (None, answer) => self.context.number(function, answer).map(|_| ()),
        }
    }
}

impl<T: Shared> Clone for Handle<T> {
    fn clone(&self) -> Handle<T> {
        // isl counts references to one object.
        let _ = self.take();
        let context = Rc::clone(&self.context);
        Handle {
            raw: self.raw,
            context,
        }
    }
}

impl<T: Object> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: the reference is this handle's own.
        unsafe { T::FREE(self.context.library)(self.keep()) };
    }
}

/// The state that a visit passes through isl.
struct Visiting<'a, F> {
    context: &'a Rc<Context>,
    step: F,
    stopped: Option<Error>,
}

/// The visitor for the type of `visiting`.
fn visitor_of<P: Object, F: FnMut(Handle<P>) -> Result<(), Error>>(
    _visiting: &Visiting<'_, F>,
) -> Visitor<P> {
    visitor::<P, F>
}

/// The callback of isl, with an owned part and a pointer to a `Visiting<F>`.
unsafe extern "C" fn visitor<P: Object, F: FnMut(Handle<P>) -> Result<(), Error>>(
    part: *mut P,
    user: *mut c_void,
) -> Answer {
    // SAFETY: `each` passed the pointer, and does not use it until isl returns.
    let visiting = unsafe { &mut *user.cast::<Visiting<'_, F>>() };
    // SAFETY: isl gives the part.
    let part = unsafe { Handle::own(visiting.context, "foreach", part) };
    match part.and_then(|part| (visiting.step)(part)) {
        Ok(()) => 0,
        Err(error) => {
            visiting.stopped = Some(error);
            -1
        }
    }
}

/// Reads an object from isl's notation.
///
/// # Safety
///
/// `read` is a function of isl that makes an object of text.
pub(super) unsafe fn read<T: Object>(
    function: &'static str,
    text: &str,
    read: fn(&Library) -> unsafe extern "C" fn(*mut RawContext, *const c_char) -> *mut T,
) -> Result<Handle<T>, Error> {
    let context = Context::current()?;
    let wrong = |reason: &str| Error::Text {
        text: text.to_owned(),
        reason: reason.to_owned(),
    };
    // isl stops reading at the closing brace and ignores the rest.
    if text.matches(['{', '}']).collect::<Vec<_>>() != ["{", "}"] || !text.trim_end().ends_with('}')
    {
        return Err(wrong("it has no pair of braces, or something behind it"));
    }
    let Ok(c_text) = CString::new(text) else {
        return Err(wrong("it contains a zero byte"));
    };
    // SAFETY: the text is alive and ends with a zero byte; isl keeps no pointer to it.
    let raw = unsafe { read(context.library)(context.raw(), c_text.as_ptr()) };
    // SAFETY: the object is given.
    unsafe { Handle::own(&context, function, raw) }.map_err(|error| match error {
        Error::Failed { reason, .. } => wrong(&reason),
        other => other,
    })
}

/// Turns functions of isl into methods. Functions with a `bool` result keep their arguments, the
/// others take them. This is true of all of isl's functions on sets and maps.
macro_rules! operations {
    ($(
        $(#[$attribute:meta])*
        $name:ident($($argument:ident: $type:ident),*) -> $result:ident = $function:ident;
    )*) => {$(
        $(#[$attribute])*
        #[doc = concat!("\n\nSource: `isl_", stringify!($function), "`.")]
        pub fn $name(&self $(, $argument: &$type)*) -> Result<$result, Error> {
            operations!(@$result, $function, self $(, $argument)*)
        }
    )*};
    (@bool, $function:ident, $self:expr $(, $argument:expr)*) => {{
        let context = &$self.0.context;
        // SAFETY: the objects are alive and in one context; the function keeps them.
        let answer = unsafe { (context.library.$function)($self.0.keep() $(, $argument.0.keep())*) };
        context.number(stringify!($function), answer).map(|answer| answer != 0)
    }};
    (@$result:ident, $function:ident, $self:expr $(, $argument:expr)*) => {{
        let context = &$self.0.context;
        // SAFETY: the objects are alive and in one context; the function takes the references and
        // returns an owned result.
        unsafe {
            let raw = (context.library.$function)($self.0.take() $(, $argument.0.take())*);
            Handle::own(context, stringify!($function), raw).map($result)
        }
    }};
}

/// Reading, writing and copying of all sets and maps.
macro_rules! notation {
    ($type:ident, $read:ident, $write:ident) => {
        impl $type {
            /// Reads isl's notation.
            #[doc = concat!("\n\nSource: `isl_", stringify!($read), "`.")]
            pub fn read(text: &str) -> Result<$type, Error> {
                // SAFETY: so does the function.
                unsafe { handle::read(stringify!($read), text, |library| library.$read) }.map($type)
            }

            /// Writes isl's notation.
            #[doc = concat!("\n\nSource: `isl_", stringify!($write), "`.")]
            pub fn text(&self) -> Result<String, Error> {
                let write = self.0.context.library.$write;
                // SAFETY: so does the function.
                unsafe { self.0.text(stringify!($write), write) }
            }
        }

        impl Clone for $type {
            fn clone(&self) -> $type {
                $type(self.0.clone())
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.text() {
                    Ok(text) => f.write_str(&text),
                    Err(error) => write!(f, "<{error}>"),
                }
            }
        }
    };
}

pub(super) use {notation, operations};
