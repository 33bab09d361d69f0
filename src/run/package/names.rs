//! Names that kernels and packages cannot have, because Python, the package itself, or the linker
//! uses them.

use super::parts::Exported;

/// The keywords of Python.
const KEYWORDS: &str = "\
    False None True and as assert async await break class continue def del elif else except \
    finally for from global if import in is lambda nonlocal not or pass raise return try while \
    with yield";

/// Python's builtins, which `from package import *` would hide.
const BUILTINS: &str = "\
    ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup \
    BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError \
    ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError \
    DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception \
    ExceptionGroup FileExistsError FileNotFoundError FloatingPointError FutureWarning \
    GeneratorExit IOError ImportError ImportWarning IndentationError IndexError InterruptedError \
    IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError \
    NameError NotADirectoryError NotImplemented NotImplementedError OSError OverflowError \
    PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError \
    ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError \
    SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError UnboundLocalError \
    UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning \
    UserWarning ValueError Warning ZeroDivisionError abs aiter all anext any ascii bin bool \
    breakpoint bytearray bytes callable chr classmethod compile complex copyright credits delattr \
    dict dir divmod enumerate eval exec exit filter float format frozenset getattr globals \
    hasattr hash help hex id input int isinstance issubclass iter len license list locals map max \
    memoryview min next object oct open ord pow print property quit range repr reversed round set \
    setattr slice sorted staticmethod str sum super tuple type vars zip";

/// The modules of Python's library, which a package would hide, or which would hide it.
const MODULES: &str = "\
    abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb \
    binascii bisect builtins bz2 calendar cgi cgitb chunk cmath cmd code codecs codeop \
    collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg \
    crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email \
    encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib \
    functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac \
    html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword \
    lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap \
    modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers \
    opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform \
    plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc \
    pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched \
    secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket \
    socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string \
    stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib \
    tempfile termios test textwrap this threading time timeit tkinter token tokenize tomllib \
    trace traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu \
    uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp \
    zipfile zipimport zlib zoneinfo";

/// Imports of the Python package, and the local variables of its functions.
const OWN: &str = "\
    ctypes made np numpy pathlib tensors views";

/// Files of the package, other packages that it needs, libraries that every program is linked with,
/// and targets that CMake makes itself.
const TAKEN: &str = "\
    all c clean dl example gcc gcc_s gomp help install m mvec numpy omp package pthread resolv rt \
    teml_backend util";

/// Whether a name is in a list.
fn is_one(list: &str, name: &str) -> bool {
    list.split(' ').any(|one| one == name)
}

fn is_keyword(name: &str) -> bool {
    is_one(KEYWORDS, name)
}

/// The Python name of the tensor `label`; `others` are those of the same kernel.
pub(super) fn of_tensor(label: &str, others: &[&str]) -> String {
    let mut name = label.to_owned();
    while is_keyword(&name) || is_one(OWN, &name) || name != label && is_in(&name, others) {
        name.push('_');
    }
    name
}

fn is_in(name: &str, others: &[&str]) -> bool {
    others.contains(&name)
}

/// Why a package cannot have this name, if it cannot.
pub fn name_error(name: &str) -> Option<String> {
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    let goes_on = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !starts || !name.chars().all(goes_on) {
        return Some(format!(
            "`{name}` cannot name a library and a Python package: take lowercase letters, digits \
             and underscores"
        ));
    }
    let what = match name {
        _ if is_keyword(name) => "a keyword of Python",
        _ if is_one(MODULES, name) => "a module of Python's library",
        "numpy" => "a Python package that this one needs",
        _ if is_one(TAKEN, name) => "another library, or part of what is written",
        _ => return None,
    };
    Some(format!(
        "`{name}` cannot name a library and a Python package: it is {what}"
    ))
}

/// Why a kernel in a package cannot have this name, if it cannot; `others` are exported with it.
pub fn kernel_name_error(kernel: &Exported, others: &[Exported]) -> Option<String> {
    let name = kernel.kernel.symbol.as_str();
    let symbols = || others.iter().map(|other| other.kernel.symbol.as_str());
    for (ending, what) in [
        ("_checked", "checks what"),
        ("_workspace", "counts the bytes of a workspace for what"),
        ("_of_arrays", "takes arrays of Python for what"),
    ] {
        let is_longer = |one: &str, other: &str| one.strip_suffix(ending) == Some(other);
        let clash = symbols().find(|other| is_longer(name, other) || is_longer(other, name));
        if let Some(other) = clash {
            let (plain, longer) = match name.len() < other.len() {
                true => (name, other),
                false => (other, name),
            };
            return Some(format!(
                "cannot be `{name}`: `{longer}` is the function that {what} `{plain}` is given"
            ));
        }
    }
    let labels = || kernel.kernel.params.iter().map(|p| p.tensor.label());
    let is_of = |label: &&str| {
        let rest = name.strip_prefix(label);
        rest.is_some_and(|rest| ["", "_strides", "_extents"].contains(&rest))
    };
    let what = match labels().find(is_of) {
        Some(label) if label == name => "one of its tensors has that name".to_owned(),
        Some(label) => format!("the C calls strides and extents of its tensor `{label}` so"),
        None if is_keyword(name) => "it is a keyword of Python".to_owned(),
        None if is_one(BUILTINS, name) => "Python means something else by it".to_owned(),
        None if is_one(OWN, name) => "the Python package uses that name itself".to_owned(),
        None => return None,
    };
    Some(format!("cannot be `{name}`: {what}"))
}
