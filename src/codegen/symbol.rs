//! What user names are called in generated C.
//!
//! A script may name a tensor, a loop or a variant as it likes. Where C, C++, their libraries or
//! teml's own support code use that name for something else, the C spells it with a prefix: the
//! tensor `TEML_F64XN` is `u_TEML_F64XN` there. Everything else is spelled as in the script.

use crate::ir::{Name, NameError, Nest, Tensor, Tree};
use std::collections::{BTreeSet, HashMap};

/// Prefixes of names that the headers of generated C, or its own support code, define as macros,
/// types or functions.
const RESERVED_PREFIXES: &[&str] = &[
    "_", "teml", "TEML", "f64x", "f32x", "i32x", "i64x", "omp_", "OMP_", "INT", "UINT", "PTRDIFF",
    "SIZE_", "SIG_", "WCHAR_", "WINT_", "FP_", "FE_", "M_", "HUGE", "MATH_", "FLT_", "DBL_",
];

/// Words of C and C++ that mean something else there, and macros of the headers.
const RESERVED: &[&str] = &[
    // Beside the keywords of C11, which no name may be.
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "bitand",
    "bitor",
    "bool",
    "catch",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "decltype",
    "delete",
    "dynamic_cast",
    "explicit",
    "export",
    "false",
    "friend",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "requires",
    "static_assert",
    "static_cast",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typeid",
    "typename",
    "typeof",
    "using",
    "virtual",
    "wchar_t",
    "xor",
    "xor_eq",
    // Types and macros.
    "size_t",
    "ptrdiff_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uintptr_t",
    "intptr_t",
    "NULL",
    "INFINITY",
    "NAN",
    "SNAN",
    "SNANF",
    "SNANL",
    "DOMAIN",
    "SING",
    "OVERFLOW",
    "UNDERFLOW",
    "TLOSS",
    "PLOSS",
    "MAXFLOAT",
    "X_TLOSS",
    "math_errhandling",
    "signgam",
    "isfinite",
    "isgreater",
    "isgreaterequal",
    "isinf",
    "isless",
    "islessequal",
    "islessgreater",
    "isnan",
    "isnormal",
    "isunordered",
    "issignaling",
    "issubnormal",
    "iszero",
    "iseqsig",
    "fpclassify",
    "signbit",
    "linux",
    "unix",
    "i386",
    "args",
    // Functions that kernels call.
    "memset",
    "exp",
    "expf",
    "log",
    "logf",
    "tanh",
    "tanhf",
    "sin",
    "sinf",
    "cos",
    "cosf",
    "sqrt",
    "sqrtf",
    "fabs",
    "fabsf",
    "pow",
    "powf",
];

/// Functions of the C library, and those that compilers take for such: C would not let a kernel
/// have another signature. Tensors and loops may have these names, since they are local.
const LIBRARY: &[&str] = &[
    "abs",
    "acos",
    "acosh",
    "alloca",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "atexit",
    "atof",
    "atoi",
    "atol",
    "bcmp",
    "bcopy",
    "bsearch",
    "bzero",
    "cabs",
    "cacos",
    "carg",
    "casin",
    "catan",
    "cbrt",
    "ccos",
    "ceil",
    "cexp",
    "cimag",
    "clog",
    "clock",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "cpow",
    "cproj",
    "creal",
    "csin",
    "csqrt",
    "ctan",
    "ctime",
    "dcgettext",
    "dgettext",
    "difftime",
    "div",
    "drem",
    "erf",
    "erfc",
    "exit",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fclose",
    "fdim",
    "feof",
    "ferror",
    "fflush",
    "ffs",
    "fgetc",
    "fgets",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "fopen",
    "fork",
    "fprintf",
    "fputc",
    "fputs",
    "fread",
    "free",
    "frexp",
    "fscanf",
    "fseek",
    "ftell",
    "fwrite",
    "gamma",
    "getc",
    "getchar",
    "getenv",
    "gets",
    "gettext",
    "gmtime",
    "hypot",
    "ilogb",
    "imaxabs",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isblank",
    "iscntrl",
    "isdigit",
    "isfinite",
    "isgraph",
    "isinf",
    "islower",
    "isnan",
    "isnormal",
    "isprint",
    "ispunct",
    "isspace",
    "isupper",
    "isxdigit",
    "j0",
    "j1",
    "jn",
    "labs",
    "ldexp",
    "ldiv",
    "lgamma",
    "llabs",
    "lldiv",
    "llrint",
    "llround",
    "localeconv",
    "localtime",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "longjmp",
    "lrint",
    "lround",
    "malloc",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "mktime",
    "modf",
    "nan",
    "nearbyint",
    "nextafter",
    "nexttoward",
    "perror",
    "pow",
    "pow10",
    "printf",
    "putc",
    "putchar",
    "puts",
    "qsort",
    "raise",
    "rand",
    "realloc",
    "remainder",
    "remove",
    "remquo",
    "rename",
    "rewind",
    "rindex",
    "rint",
    "round",
    "scalb",
    "scalbln",
    "scalbn",
    "scanf",
    "setjmp",
    "setlocale",
    "signal",
    "signbit",
    "significand",
    "sin",
    "sincos",
    "sinh",
    "snprintf",
    "sprintf",
    "sqrt",
    "srand",
    "sscanf",
    "stpcpy",
    "stpncpy",
    "strcasecmp",
    "strcat",
    "strchr",
    "strcmp",
    "strcoll",
    "strcpy",
    "strcspn",
    "strdup",
    "strerror",
    "strftime",
    "strlen",
    "strncasecmp",
    "strncat",
    "strncmp",
    "strncpy",
    "strndup",
    "strpbrk",
    "strrchr",
    "strspn",
    "strstr",
    "strtod",
    "strtof",
    "strtok",
    "strtol",
    "strtoul",
    "strxfrm",
    "system",
    "tan",
    "tanh",
    "tgamma",
    "time",
    "tmpfile",
    "tmpnam",
    "toascii",
    "tolower",
    "toupper",
    "towlower",
    "towupper",
    "trunc",
    "ungetc",
    "vfprintf",
    "vprintf",
    "vscanf",
    "vsnprintf",
    "vsprintf",
    "vsscanf",
    "y0",
    "y1",
    "yn",
    "calloc",
    "abort",
    "assert",
];

/// Whether C or C++ uses a name for something else, so that nothing local may have it.
fn is_taken(text: &str) -> bool {
    has_taken_prefix(text) || RESERVED.contains(&text)
}

fn has_taken_prefix(text: &str) -> bool {
    let mut prefixes = RESERVED_PREFIXES.iter();
    prefixes.any(|prefix| text.starts_with(prefix))
}

/// Checks that a function can be called `text`.
///
/// # Errors
/// It is not a name, or one that C, C++, their libraries or teml's own code uses.
pub fn check(text: &str) -> Result<(), NameError> {
    Name::new(text)?;
    match text == "main" || is_taken(text) || LIBRARY.contains(&text) {
        true => Err(NameError::Reserved(text.to_owned())),
        false => Ok(()),
    }
}

/// A name for a function that a script calls `label`.
pub fn from_label(label: &str) -> String {
    match check(label) {
        Ok(()) => label.to_owned(),
        Err(NameError::Reserved(_)) if label.starts_with('_') => "kernel".to_owned(),
        Err(NameError::Reserved(_)) if has_taken_prefix(label) => format!("{PREFIX}{label}"),
        Err(NameError::Reserved(_)) => format!("{label}_kernel"),
        Err(_) => "kernel".to_owned(),
    }
}

/// What precedes a name that is taken.
const PREFIX: &str = "u_";

/// How the names of some nests are spelled in C, where that differs from the script.
#[derive(Default)]
pub(super) struct Spelling(HashMap<Name, Name>);

impl Spelling {
    pub(super) fn of<'a>(names: impl IntoIterator<Item = &'a Name>) -> Spelling {
        let names: BTreeSet<&Name> = names.into_iter().collect();
        let mut spelling: HashMap<Name, Name> = HashMap::new();
        for name in names.iter().filter(|name| is_taken(name.as_str())) {
            let mut text = format!("{PREFIX}{name}");
            let spelled = loop {
                match Name::new(&text) {
                    Ok(free) if names.contains(&free) || is_used(&spelling, &free) => {
                        text = format!("{PREFIX}{text}");
                    }
                    other => break other,
                }
            };
            if let Ok(spelled) = spelled {
                spelling.insert((*name).clone(), spelled);
            }
        }
        Spelling(spelling)
    }

    /// What differs: the name in the script, and in C.
    pub(super) fn changes(&self) -> Vec<(&Name, &Name)> {
        let mut changes: Vec<_> = self.0.iter().collect();
        changes.sort();
        changes
    }

    pub(super) fn tensor(&self, tensor: &Tensor) -> Tensor {
        match tensor.name().and_then(|name| self.0.get(name)) {
            Some(spelled) => tensor.named(spelled.clone()),
            None => tensor.clone(),
        }
    }

    /// A nest with all names as in C.
    pub(super) fn nest(&self, nest: &Nest) -> Nest {
        if self.0.is_empty() {
            return nest.clone();
        }
        let rename = |name: &Name| self.0.get(name).cloned();
        let tree = |tree: &Tree| tree.rename_loops(&rename).rename_tensors(&rename);
        nest.with_trees(nest.trees().iter().map(tree).collect())
    }
}

fn is_used(spelling: &HashMap<Name, Name>, name: &Name) -> bool {
    spelling.values().any(|spelled| spelled == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_names_that_c_accepts() {
        for (label, name) in [
            ("plan", "plan"),
            ("log", "log_kernel"),
            ("class", "class_kernel"),
            ("TEML_F64XN", "u_TEML_F64XN"),
            ("variant 2", "kernel"),
        ] {
            assert_eq!(from_label(label), name);
            assert_eq!(check(name), Ok(()));
        }
        assert!(check("system").is_err());
    }

    #[test]
    fn spellings_are_free() {
        let names = ["exp", "u_exp", "A"].map(|text| Name::new(text).unwrap());
        let spelling = Spelling::of(&names);
        let [exp, u_exp, _] = &names;
        let [(from, to)] = spelling.changes()[..] else {
            panic!("one name changes");
        };
        assert_eq!((from, to.as_str()), (exp, "u_u_exp"));
        assert_ne!(to, u_exp);
    }
}
