//! Scripts: the only room that knows Rhai.
//!
//! A [`Session`] runs scripts: Rhai, with tensors, nests and index expressions as values. Every
//! operation of [`crate::transform::OPS`] is a function and a method, and so is every function of a
//! script: `nest.f(x)` is `f(nest, x)`. Additions to Rhai:
//!
//! * **Iterators** need no declaration. A name that nobody declared is an iterator if it is one or
//!   two lowercase letters, then digits, then suffixes such as `_o`: `i`, `j2`, `kh`, `i_o`. A
//!   variable of that name takes precedence, but must not hold a number, or anything else, where an
//!   iterator is meant: `value(n)` is its number as an index. `iter("name")` makes an iterator of
//!   any name. Likewise, `double` and `float` are element types unless declared otherwise.
//! * **`from -> to`** is an arrow, for operations to interpret. A list may be left out, as in
//!   `[, [i]]` and `-> [i]`, or be `()`: TeML's ε.
//! * **Names**: a tensor without a name takes that of the variable it is first bound to. Bindings
//!   are `let`, `const` or `=`, also in functions and closures. They are not found inside `${..}`
//!   of a string, and an element of a list or a map gets no name. A `let` makes a new tensor;
//!   `C = add(..)` must fit the tensor that C holds. `@C : expr` assigns to C under another
//!   variable's name.
//! * **`x = ..`** at top level declares `x` if nothing did before. In functions and blocks it is
//!   an error, except for names like iterators inside closures, which capture them as such.
//! * **`import "file" as m`** is relative to the importing file and stays in the directory of the
//!   main script. `import "std/NAME" as m` is the library. Its functions are there without an
//!   import, those of its folders behind their names, as in `schedules::gemm`.
//! * A `;` at the end of a line may be left out if the next line starts with a word.
//! * `eval` is missing.
//!
//! From text to result:
//!
//! * `lex` finds tokens.
//! * `rewrite` adds the names that values are bound to.
//! * `lists` marks the elements of lists, for `captured` to tell variables from iterators.
//! * `unused` marks statements whose values are dropped.
//! * `places` gives every text lines of its own, so that a position tells the text.
//! * The engine evaluates (`names`, `operations`, `call`, `methods`).
//! * `errors` explains a failure in plain words.

use teml_codegen as codegen;
use teml_core::{analysis, ir, legality, target};
use teml_engine::{diag, report, tune, verbs};
use teml_run::{machine, package, runtime, trial};
use teml_transform as transform;
use teml_transform::{advice, baseline, lang};

mod actions;
mod answers;
mod binding;
mod catalog;
mod checkpoint;
mod concepts;
mod dialog;
mod library;
mod messages;
mod modules;
mod readable;
mod reader;
mod reference;
mod saved;
mod served;
mod session;
mod sleep;
mod stack;
pub mod trees;
mod values;
mod versions;

pub use binding::call::Call;
pub use binding::function::Function;
pub use binding::state::{Shared, State};
pub use binding::takes::{Takes, Type};
pub use catalog::{Entry, TOPICS};
pub use checkpoint::Checkpoint;
pub use concepts::Concept;
pub use dialog::{Shown, Tuned};
pub use library::library_modules;
pub use messages::errors::ScriptError;
pub use messages::fail::Failure;
pub use reader::lex::{Token, TokenKind, Tokens, is_incomplete, scan};
pub use reader::places::Places;
pub use served::Served;
pub use session::Session;
pub use values::{Code, HANDLES, Index, show};
