"""Values of the engine as objects: tensors, nests, and the results of verbs."""

import ast
import dis
import functools
import html
import json
import keyword
import linecache
import math
import pathlib
import re
import weakref

import numpy as np

from .engine import ENGINE, Error, caller

ELEMENTS = {"float64": "f64", "float32": "f32", "int32": "i32", "int64": "i64"}

# Words of Rhai that are names in Python.
_WORDS = frozenset(
    "let const if else switch do while until loop for in fn private is_def_var this throw try"
    " catch return import export as global true false void null nil spawn thread go sync async"
    " await yield static shared with goto exit match case default public protected new use"
    " module package var call curry eval Fn print debug type_of".split()
)

# Iterators that this package writes into statements.
_ITERATOR = re.compile(r"[ik]\d*")


def is_name(word):
    """Whether scripts can have a variable of this name."""
    return (
        word.isidentifier()
        and word.isascii()
        and word not in _WORDS
        and not keyword.iskeyword(word)
    )


class Statement:
    """A statement of a script: its text, and the values that its names mean."""

    def __init__(self):
        self.names = {}

    def spell(self, value):
        """A value as scripts write it."""
        if isinstance(value, Value):
            return self.name(value)
        if value is None:
            return "()"
        if isinstance(value, (bool, np.bool_)):
            return "true" if value else "false"
        if isinstance(value, (int, np.integer)):
            return f"({int(value)})" if value < 0 else str(int(value))
        if isinstance(value, (float, np.floating)):
            return _number(float(value))
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, pathlib.PurePath):
            return json.dumps(str(value), ensure_ascii=False)
        if isinstance(value, range):
            by = f" by {value.step}" if value.step != 1 else ""
            return f"({value.start}..{value.stop}{by})"
        if isinstance(value, Arrow):
            return f"({self.spell(value.source)} -> {self.spell(value.target)})"
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(map(self.spell, value))}]"
        if isinstance(value, dict):
            items = (f"{json.dumps(str(k))}: {self.spell(v)}" for k, v in value.items())
            return f"#{{{', '.join(items)}}}"
        element = _element(value)
        if element is not None:
            return json.dumps(element)
        if isinstance(value, np.ndarray):
            path = ENGINE.directory / f"{id(self)}_{len(self.names)}.npy"
            np.save(path, value)
            return f"load({json.dumps(str(path))})"
        raise TypeError(
            f"scripts have no value such as {value!r}: teml takes numbers, texts, lists, maps, "
            "arrays and its own values"
        )

    def name(self, value):
        """The name of a value in this statement."""
        value._check()
        plain = value._name and is_name(value._name) and not _ITERATOR.fullmatch(value._name)
        name = value._name if plain else f"value_{value._number}"
        while self.names.get(name, value._number) != value._number:
            name += "_"
        self.names[name] = value._number
        return name


def _number(value):
    if math.isnan(value):
        return "(0.0 / 0.0)"
    if math.isinf(value):
        return "(1.0 / 0.0)" if value > 0 else "(-1.0 / 0.0)"
    mantissa, mark, exponent = repr(value).partition("e")
    mantissa += "" if "." in mantissa else ".0"
    text = mantissa + mark + exponent
    return f"({text})" if value < 0 else text


def _element(value):
    """The element type that a type of NumPy or Python means."""
    if value is float:
        return "f64"
    if value is int:
        return "i64"
    is_type = (
        isinstance(value, np.dtype) or isinstance(value, type) and issubclass(value, np.generic)
    )
    return ELEMENTS.get(np.dtype(value).name) if is_type else None


class Arrow:
    """`source -> target`, as in `eq(A, arrow([i, j], [j, i]))`."""

    def __init__(self, source, target):
        self.source, self.target = source, target


def evaluate(template, *values, variable=None):
    """The value of a statement, with `{}` for each of the values."""
    statement = Statement()
    texts = [statement.spell(value) for value in values]
    frame = caller()
    code = frame.f_code
    bound = variable or _bound(code, frame.f_lasti)
    if bound is not None and "->" in template and _ITERATOR.fullmatch(bound):
        bound = None
    text = template.format(*texts)
    if bound is not None:
        text = f"let {bound} = {text}"
    return _ran(text, statement.names, frame, bound)


def evaluate_text(text, values):
    """The value of a statement in which these names are variables."""
    names = {}
    for name, value in values.items():
        value = value if isinstance(value, Value) else evaluate("{}", value)
        value._check()
        names[name] = value._number
    return _ran(text, names, caller(), None)


def _ran(text, names, frame, bound):
    answer = ENGINE.ask(
        run={
            "text": text,
            "variable": bound,
            "file": _file(frame.f_code.co_filename),
            "line": frame.f_lineno or 1,
            "names": names,
        }
    )
    return value_of(answer, bound)


def _file(name):
    path = pathlib.Path(name)
    return path.name if path.is_absolute() else name


@functools.lru_cache(maxsize=None)
def _stores(code):
    """Where the value of an instruction goes to a variable at once: the variable, by offset."""
    found, previous = {}, None
    for step in dis.get_instructions(code):
        if step.opname in ("CACHE", "EXTENDED_ARG", "NOP"):
            continue
        if previous is not None and step.opname == "RETURN_VALUE":
            found[previous] = "return"
        elif previous is not None and step.opname.startswith("STORE_"):
            name = step.argval[0] if isinstance(step.argval, tuple) else step.argval
            if step.opname not in ("STORE_ATTR", "STORE_SUBSCR") and isinstance(name, str):
                found[previous] = name
        previous = step.offset
    return found


# The names of what functions return while they are traced, by their code.
RESULTS = {}


def _bound(code, offset):
    """The variable that the running statement binds, as `C` in `C = A @ B`."""
    name = _stores(code).get(offset) or _unpacked(code, offset)
    if name == "return":
        return RESULTS.get(code)
    return name if name is not None and is_name(name) and not name.startswith("_") else None


@functools.lru_cache(maxsize=None)
def _unpacked(code, offset):
    """The variable of an element in `A, B = f(), g()`, where Python knows the source."""
    steps = (step for step in dis.get_instructions(code) if step.offset == offset)
    at = getattr(next(steps, None), "positions", None)
    if at is None:
        return None
    for targets, elements in _pairs(code.co_filename):
        for target, element in zip(targets, elements):
            place = element.lineno, element.end_lineno, element.col_offset, element.end_col_offset
            if place == tuple(at) and isinstance(target, ast.Name):
                return target.id
    return None


@functools.lru_cache(maxsize=None)
def _pairs(file):
    """The assignments of several values to as many variables in a file."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                found.append((target.elts, value.elts))
    return found


def value_of(answer, name=None):
    """An answer as a value of Python."""
    if isinstance(answer, list):
        items = [value_of(item) for item in answer]
        rows = items and all(isinstance(item, Record) and "median" in item for item in items)
        return Rows(items) if rows else items
    if not isinstance(answer, dict):
        return answer
    if "nests" in answer:
        return Nests(value_of(item) for item in answer["nests"])
    if "map" in answer:
        return Record((key, value_of(item)) for key, item in answer["map"].items())
    if "number" in answer:
        return float(answer["number"])
    if answer["type"] == "numbers":
        return _array(answer)
    made = _KINDS.get(answer["type"], Value)(
        answer["held"], answer.get("name") or name, answer["type"]
    )
    made._virtual = "virtual" in answer
    return made


def _array(answer):
    """The elements that a kernel computed."""
    path = ENGINE.directory / f"{answer['held']}.npy"
    ENGINE.ask(save={"numbers": answer["held"], "path": str(path)})
    ENGINE.drop(ENGINE.owner, answer["held"])
    array = np.load(path)
    path.unlink()
    return array


class Function:
    """A function of scripts. Keywords are its options: `f(x, n=20)` is `f(x, #{n: 20})`."""

    def __init__(self, name, receiver=None):
        self.__name__, self._receiver = name, receiver

    def __call__(self, *arguments, **options):
        arguments = list(arguments) if self._receiver is None else [self._receiver, *arguments]
        if options:
            arguments.append(options)
        holes = ", ".join(["{}"] * len(arguments))
        made = evaluate(f"{self.__name__}({holes})", *arguments)
        if self.__name__ in ("tensor", "scalar") and made._name is None:
            # Tensors need names, and no variable gives one.
            return evaluate("{}", made, variable=f"T{made._number}")
        return made

    @property
    def __doc__(self):
        return ENGINE.ask(help=self.__name__)

    def __repr__(self):
        entry = ENGINE.catalog.get(self.__name__)
        return f"<teml function {entry['signature'] if entry else self.__name__}>"


class Namespace:
    """Functions of scripts whose names begin alike, as `schedules::gemm`."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        full = f"{self._name}::{name}"
        if full not in ENGINE.catalog:
            raise AttributeError(f"teml has no function `{full}`")
        return Function(full)

    def __dir__(self):
        begin = f"{self._name}::"
        return [name[len(begin) :] for name in ENGINE.catalog if name.startswith(begin)]

    def __repr__(self):
        return f"<teml functions {self._name}: {', '.join(dir(self))}>"


class Value:
    """A value that the engine holds. Its attributes are what scripts ask of it, and functions that
    take it first are its methods."""

    # What the value has, also where a function has that name.
    _fields = ()

    def __init__(self, number, name, kind):
        self._number, self._name, self._kind = number, name, kind
        self._owner = ENGINE.owner
        weakref.finalize(self, ENGINE.drop, self._owner, number).atexit = False

    def _check(self):
        if self._owner != ENGINE.owner:
            raise Error(
                f"this {self._kind} belongs to an engine that has ended, or to another process"
            )

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ENGINE.catalog and name not in self._fields:
            return Function(name, self)
        try:
            return evaluate("{}." + name, self)
        except Error as error:
            raise AttributeError(
                f"a {self._kind} has no attribute `{name}`: {error.message}"
            ) from None

    def to_dict(self):
        """Its fields as a map."""
        return {name: getattr(self, name) for name in self._fields}

    def __dir__(self):
        takes = [
            n for n, e in ENGINE.catalog.items() if e["receiver"] == self._kind and "::" not in n
        ]
        return [*super().__dir__(), *self._fields, *takes]

    def __repr__(self):
        self._check()
        return ENGINE.ask(show=self._number) or f"<{self._kind}>"

    def _repr_html_(self):
        return _text(repr(self))


class Index(Value):
    """An index expression: iterators, sizes, numbers."""

    def __add__(self, other):
        return evaluate("{} + {}", self, other)

    def __radd__(self, other):
        return evaluate("{} + {}", other, self)

    def __sub__(self, other):
        return evaluate("{} - {}", self, other)

    def __rsub__(self, other):
        return evaluate("{} - {}", other, self)

    def __mul__(self, other):
        return evaluate("{} * {}", self, other)

    def __rmul__(self, other):
        return evaluate("{} * {}", other, self)

    def __neg__(self):
        return evaluate("0 - {}", self)

    def __floordiv__(self, other):
        return evaluate("{} / {}", self, other)

    def __mod__(self, other):
        return evaluate("{} % {}", self, other)

    def __eq__(self, other):
        same = isinstance(other, Index) and repr(self) == repr(other)
        return same or isinstance(other, str) and repr(self) == other

    def __hash__(self):
        return hash(repr(self))


class Nest(Value):
    """A loop nest. Steps return new nests: `plan = naive.tile(["i", "j"], [32, 32])`."""

    def _repr_html_(self):
        return _code(repr(self))


class Nests(list):
    """Nests that run in order."""

    def __getattr__(self, name):
        if name.startswith("_") or name not in ENGINE.catalog:
            raise AttributeError(f"a list of nests has no attribute `{name}`")
        return Function(name, self)

    def __repr__(self):
        return "\n".join(map(repr, self))

    def _repr_html_(self):
        return _code(repr(self))


class Verdict(Value):
    """What `check` says; true if there is nothing wrong with the nests."""

    _fields = ("legal", "runs", "message", "suggestions")

    def __bool__(self):
        return bool(self.legal)

    def _repr_html_(self):
        state = {True: "legal", False: "illegal"}.get(self.legal, "undecided")
        text = _text(repr(self)).replace(state, f"<b>{state}</b>", 1)
        return f'<div class="teml-{state}">{text}</div>'


class Prediction(Value):
    """What the cost model expects."""

    _fields = ("seconds", "bound", "why", "parts")


class Move(Value):
    """A step that is legal next: `m.apply(nest)` takes it."""

    _fields = ("op", "at", "text", "loops")


class Moves(Value):
    """The steps that are legal next."""

    _fields = ("list",)

    def __len__(self):
        return evaluate("{}.len()", self)

    def __getitem__(self, number):
        size = len(self)
        if not -size <= number < size:
            raise IndexError(f"there are {size} moves, and no number {number}")
        return evaluate("{}[{}]", self, number % size)

    def __iter__(self):
        return iter(self.list)

    def records(self):
        """A map for each step, as `pandas.DataFrame` takes them."""
        return [move.to_dict() for move in self]

    def _repr_html_(self):
        return _table(self.records())


class Record(dict):
    """A map of scripts: `r.median` is `r["median"]`."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            names = ", ".join(f"`{name}`" for name in self)
            raise AttributeError(f"there is no `{name}` here: there are {names}") from None

    def to_dict(self):
        return dict(self)

    def _repr_html_(self):
        return _table([self])


class Rows(list):
    """The variants of a comparison, a map for each, as `pandas.DataFrame` takes them."""

    def records(self):
        return [dict(row) for row in self]

    def _repr_html_(self):
        first = self[0].get("median")
        shown = []
        for row in self:
            if not row.get("ok"):
                shown.append({"variant": row["name"], "why": row.get("why", "")})
                continue
            shown.append(
                {
                    "variant": row["name"],
                    "min": _time(row["min"]),
                    "median": _time(row["median"]),
                    "GFLOP/s": f"{row['gflops']:.2f}",
                    "speed-up": f"{first / row['median']:.2f}x" if first and row["median"] else "",
                    "error": f"{row['error']:.1e}",
                }
            )
        return _table(shown)


def _time(seconds):
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.4g} {name}"
    return f"{seconds * 1e9:.4g} ns"


def _code(text):
    return f'<pre style="overflow-x: auto">{html.escape(text)}</pre>'


def _text(text):
    """Sentences, whose lines may be broken."""
    return f'<pre style="white-space: pre-wrap">{html.escape(text)}</pre>'


def _table(rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in names)
    lines = (
        "".join(f"<td>{html.escape(_cell(row.get(name, '')))}</td>" for name in names)
        for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    table = f"<table style='white-space: nowrap'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div style="overflow-x: auto">{table}</div>'


def _cell(value):
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


_KINDS = {
    "nest": Nest,
    "index": Index,
    "verdict": Verdict,
    "prediction": Prediction,
    "move": Move,
    "moves": Moves,
}
