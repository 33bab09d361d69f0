"""Tensor expressions: their text in a script, and their value with a bound on its error.

Nothing here is teml's: ranges of iterators, evaluation and error bounds are written down a second
time, with NumPy, so that a mistake would have to be made twice to stay unseen.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

FLOATS = ("f64", "f32")
# What a script's elements are in NumPy.
TYPES = {"f64": np.float64, "f32": np.float32, "i32": np.int32, "i64": np.int64}
# In what the reference computes.
WIDE = {"f64": np.longdouble, "f32": np.float64, "i32": np.int32, "i64": np.int64}
# Half of the distance from 1 to the next number.
UNIT = {"f64": 2.0**-53, "f32": 2.0**-24, "i32": 0.0, "i64": 0.0}
# How many units a function may be off, in vector lanes, too.
FUNCTION_UNITS = 10.0
POWER_UNITS = 40.0


@dataclass(frozen=True)
class Tensor:
    name: str
    extents: tuple[int, ...]
    elem: str
    # The triangle outside of which a matrix is zero, if the script says so.
    triangle: str = ""
    # Of rank 0, and takes no list of iterators.
    scalar: bool = False
    # Whether its rows may lie apart.
    strided: bool = False

    def declared(self) -> str:
        elem = "" if self.elem == "f64" else f', "{self.elem}"'
        if self.scalar:
            return f"scalar({elem[2:]})"
        text = f"tensor([{', '.join(map(str, self.extents))}]{elem})"
        text = f'triangular({text}, "{self.triangle}")' if self.triangle else text
        return f"strided({text})" if self.strided else text


@dataclass(frozen=True)
class Affine:
    """A sum of multiples of iterators and a constant."""

    terms: tuple[tuple[str, int], ...]
    constant: int = 0

    @staticmethod
    def of(name: str, by: int = 1, constant: int = 0) -> Affine:
        return Affine(((name, by),), constant)

    def alone(self) -> str | None:
        """The iterator, if the index is nothing else."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and self.constant == 0:
            return self.terms[0][0]
        return None

    def span(self, ranges: dict[str, tuple[int, int]]) -> tuple[int, int]:
        """The least and the greatest value."""
        low = high = self.constant
        for name, by in self.terms:
            ends = (by * ranges[name][0], by * (ranges[name][1] - 1))
            low, high = low + min(ends), high + max(ends)
        return low, high

    def at(self, point: dict[str, int]) -> int:
        return self.constant + sum(by * point[name] for name, by in self.terms)

    def text(self) -> str:
        positive = [(name, by) for name, by in self.terms if by > 0]
        negative = [(name, by) for name, by in self.terms if by < 0]
        text = " + ".join(name if by == 1 else f"{by}*{name}" for name, by in positive)
        if not text:
            text = str(self.constant)
        elif self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        for name, by in negative:
            text += f" - {name if by == -1 else f'{-by}*{name}'}"
        return text


@dataclass(frozen=True)
class Range:
    """The values that a script gives to an iterator: from the greatest of some bounds to before the
    least of others."""

    lows: tuple[Affine, ...]
    highs: tuple[Affine, ...]
    # Only with one bound below, which is a number.
    step: int = 1

    def text(self) -> str:
        low, high = (", ".join(bound.text() for bound in bounds) for bounds in (self.lows, self.highs))
        low = f"max({low})" if len(self.lows) > 1 else low
        high = f"min({high})" if len(self.highs) > 1 else high
        return f"{low}..{high}" + (f" by {self.step}" if self.step > 1 else "")

    def at(self, point: dict[str, int]) -> range:
        low, high = max(b.at(point) for b in self.lows), min(b.at(point) for b in self.highs)
        return range(low, high, self.step)


class Value(NamedTuple):
    """Elements, and how far those that a kernel computes may be from them (0 for integers)."""

    of: np.ndarray
    off: np.ndarray


class Scope:
    """The iterators of an assignment: an axis for each, and the values that it takes."""

    def __init__(
        self,
        ranges: dict[str, tuple[int, int]],
        elem: str,
        store: dict[str, Value],
        given: dict[str, Range] | None = None,
    ):
        self.axes = list(ranges)
        self.elem = elem
        self.store = store
        self.given = given or {}
        self.values = {}
        for axis, (name, (low, high)) in enumerate(ranges.items()):
            shape = [1] * len(ranges)
            shape[axis] = high - low
            self.values[name] = np.arange(low, high).reshape(shape)

    def index(self, index: tuple[Affine, ...]) -> tuple[np.ndarray, ...]:
        def one(affine: Affine) -> np.ndarray:
            total = np.full([1] * len(self.axes), affine.constant)
            for name, by in affine.terms:
                total = total + by * self.values[name]
            return total

        return tuple(one(affine) for affine in index)

    def typed(self, elem: str) -> Scope:
        """The same iterators, where values have another type."""
        other = copy.copy(self)
        other.elem = elem
        return other

    def inside(self, names: Iterable[str]) -> np.ndarray:
        """Whether these iterators are in the ranges given."""
        all_of = np.ones([1] * len(self.axes), bool)
        for name in names:
            if name not in self.given:
                continue
            values, range_ = self.values[name], self.given[name]
            for low in self.index(range_.lows):
                all_of = all_of & (values >= low) & ((values - low) % range_.step == 0)
            for high in self.index(range_.highs):
                all_of = all_of & (values < high)
        return all_of

    def rounded(self, of: np.ndarray, off: np.ndarray, units: float = 1.0) -> Value:
        """A value that was rounded once more."""
        if self.elem not in FLOATS:
            return Value(of, np.zeros_like(of))
        return Value(of, off + units * UNIT[self.elem] * (np.abs(of) + off))


class Expr:
    """A node of an expression."""

    def iterators(self) -> list[str]:
        found: list[str] = []
        for access in self.accesses():
            for affine in access.index:
                found += [name for name, _ in affine.terms if name not in found]
        return found

    def accesses(self) -> list[Access]:
        return [access for child in self.children() for access in child.accesses()]

    def children(self) -> list[Expr]:
        return []

    def is_product(self) -> bool:
        """Whether it is a product of elements."""
        return False


@dataclass(frozen=True)
class Access(Expr):
    tensor: Tensor
    index: tuple[Affine, ...]
    # The dimensions of a virtual tensor in between, in terms of its own, counted from 0.
    order: tuple[int, ...] = ()

    def accesses(self) -> list[Access]:
        return [self]

    def is_product(self) -> bool:
        return True

    def list(self) -> str:
        if self.tensor.scalar:
            return "()"
        return f"[{', '.join(affine.text() for affine in self.index)}]"

    def text(self) -> str:
        name = self.tensor.name
        if self.tensor.scalar:
            return name
        if self.order:
            dimensions = [f"d{k + 1}" for k in range(len(self.index))]
            swapped = ", ".join(dimensions[k] for k in self.order)
            index = ", ".join(self.index[k].text() for k in self.order)
            return f"vat(veq({name}, [{', '.join(dimensions)}] -> [{swapped}]), [{index}])"
        return f"vat({name}, {self.list()})"

    def value(self, scope: Scope) -> Value:
        of, off = scope.store[self.tensor.name]
        if not self.index:
            shape = [1] * len(scope.axes)
            return Value(of.reshape(shape), off.reshape(shape))
        index = scope.index(self.index)
        return Value(of[index], off[index])


@dataclass(frozen=True)
class Number(Expr):
    number: float

    def text(self) -> str:
        return repr(self.number)

    def value(self, scope: Scope) -> Value:
        of = np.full([1] * len(scope.axes), self.number, dtype=WIDE[scope.elem])
        return Value(of, np.zeros_like(of))


# In scripts, and how tightly results are rounded.
BINARY = {"+": "vadd", "-": "vsub", "*": "vmul", "/": "vdiv", "min": "vminimum", "max": "vmaximum",
    "%": "vmod"}


def quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """C's division of integers, which wraps."""
    a, b = np.broadcast_arrays(a, b)
    floor = np.floor_divide(a, np.where(b == -1, 1, b))
    exact = floor * np.where(b == -1, 1, b) == a
    truncated = floor + (((a < 0) != (b < 0)) & ~exact).astype(a.dtype)
    return np.where(b == -1, -a, truncated).astype(a.dtype)


@dataclass(frozen=True)
class Binary(Expr):
    op: str
    left: Expr
    right: Expr
    # Whether plain operands get their iterators in a list.
    lists: bool = False

    def children(self) -> list[Expr]:
        return [self.left, self.right]

    def is_product(self) -> bool:
        return self.op == "*" and self.left.is_product() and self.right.is_product()

    def text(self) -> str:
        name = BINARY[self.op]
        operands = (self.left, self.right)
        if self.lists and all(isinstance(o, Access) for o in operands):
            left, right = self.left, self.right
            lists = f"[{left.list()}, {right.list()}]"
            return f"{name}({left.tensor.name}, {right.tensor.name}, {lists})"
        return f"{name}({self.left.text()}, {self.right.text()})"

    def value(self, scope: Scope) -> Value:
        (a, da), (b, db) = self.left.value(scope), self.right.value(scope)
        match self.op:
            case "+":
                return scope.rounded(a + b, da + db)
            case "-":
                return scope.rounded(a - b, da + db)
            case "*":
                return scope.rounded(a * b, np.abs(a) * db + np.abs(b) * da + da * db)
            case "/" if scope.elem in FLOATS:
                near = np.maximum(np.abs(b) - db, 0)
                return scope.rounded(a / b, (da + np.abs(a / b) * db) / near)
            case "/":
                return scope.rounded(quotient(a, b), np.zeros_like(a))
            case "%":
                return Value(np.mod(a, np.abs(b)), np.zeros_like(a))
            case "min":
                return Value(np.fmin(a, b), np.maximum(da, db))
            case _:
                return Value(np.fmax(a, b), np.maximum(da, db))


FUNCTIONS = {
    "neg": "vneg",
    "abs": "vabs",
    "sqrt": "vsqrt",
    "exp": "vexp",
    "log": "vlog",
    "tanh": "vtanh",
    "sin": "vsin",
    "cos": "vcos",
    "relu": "vrelu",
    "floor": "vfloor",
    "ceil": "vceil",
    "round": "vround",
    "erf": "verf",
}
WHOLE = {"floor": np.floor, "ceil": np.ceil, "round": np.rint}


@dataclass(frozen=True)
class Function(Expr):
    function: str
    of: Expr

    def children(self) -> list[Expr]:
        return [self.of]

    def text(self) -> str:
        return f"{FUNCTIONS[self.function]}({self.of.text()})"

    def value(self, scope: Scope) -> Value:
        a, da = self.of.value(scope)
        match self.function:
            case "neg":
                return Value(-a, da)
            case "abs":
                return Value(np.abs(a), da)
            case "relu":
                return Value(np.fmax(a, 0), da)
            case "sqrt":
                root = np.sqrt(a)
                return scope.rounded(root, da / np.maximum(np.sqrt(np.maximum(a - da, 0)), 1e-30))
            case "exp":
                return scope.rounded(np.exp(a), np.exp(a) * np.expm1(da), FUNCTION_UNITS)
            case "log":
                near = np.maximum(a - da, 0)
                return scope.rounded(np.log(a), da / near + 4 * UNIT[scope.elem], FUNCTION_UNITS)
            case "tanh":
                return scope.rounded(np.tanh(a), da, FUNCTION_UNITS)
            case "floor" | "ceil" | "round":
                whole = WHOLE[self.function]
                # Operands beside a step may be on either side of it.
                return Value(whole(a), whole(a + da) - whole(a - da))
            case "erf":
                of = np.vectorize(math.erf, otypes=[a.dtype])(a)
                return scope.rounded(of, 2 * da, FUNCTION_UNITS)
            case "sin":
                return scope.rounded(np.sin(a), da + 4 * UNIT[scope.elem], FUNCTION_UNITS)
            case _:
                return scope.rounded(np.cos(a), da + 4 * UNIT[scope.elem], FUNCTION_UNITS)


@dataclass(frozen=True)
class Power(Expr):
    """A power of a number that is well above zero."""

    base: Expr
    exponent: float

    def children(self) -> list[Expr]:
        return [self.base]

    def text(self) -> str:
        return f"vpow({self.base.text()}, {self.exponent!r})"

    def value(self, scope: Scope) -> Value:
        a, da = self.base.value(scope)
        of = np.power(a, np.asarray(self.exponent, dtype=a.dtype))
        slope = np.abs(self.exponent * of) / np.maximum(np.abs(a) - da, 0)
        return scope.rounded(of, 2 * slope * da, POWER_UNITS)


COMPARISONS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


@dataclass(frozen=True)
class Select(Expr):
    comparison: str
    left: Expr
    right: Expr
    yes: Expr
    no: Expr
    # The type of what is compared, if it is another one.
    compared: str = ""

    def children(self) -> list[Expr]:
        return [self.left, self.right, self.yes, self.no]

    def text(self) -> str:
        left, right, yes, no = (child.text() for child in self.children())
        return f'vselect({left}, "{self.comparison}", {right}, {yes}, {no})'

    def value(self, scope: Scope) -> Value:
        compared = self.compared or scope.elem
        (a, da), (b, db) = (c.value(scope.typed(compared)) for c in (self.left, self.right))
        (yes, dyes), (no, dno) = (c.value(scope) for c in (self.yes, self.no))
        of = np.where(COMPARISONS[self.comparison](a, b), yes, no)
        off = np.maximum(dyes, dno)
        near = np.abs(a - b) <= da + db if compared in FLOATS else np.zeros((), bool)
        near = near & (da + db > 0)
        if scope.elem not in FLOATS:
            # Integers are exact, and what decides between them is, too.
            return Value(of, np.zeros_like(of))
        return Value(of, np.where(near, off + np.abs(yes - no), off + 0 * of))


@dataclass(frozen=True)
class Cast(Expr):
    """A conversion from one type to another. Only exact numbers become integers."""

    of: Expr
    source: str
    elem: str

    def children(self) -> list[Expr]:
        return [self.of]

    def text(self) -> str:
        return f'vcast({self.of.text()}, "{self.elem}")'

    def value(self, scope: Scope) -> Value:
        a, da = self.of.value(scope.typed(self.source))
        wide = WIDE[self.elem]
        if self.elem in FLOATS:
            inexact = (self.source, self.elem) in (("f64", "f32"), ("i32", "f32"), ("i64", "f32"), ("i64", "f64"))
            of, off = a.astype(wide), da.astype(wide)
            return scope.typed(self.elem).rounded(of, off, float(inexact))
        if self.source in FLOATS:
            assert not da.any(), "what is rounded becomes no integer"
            ends = np.iinfo(wide)
            inner = np.where((a > ends.min) & (a < ends.max), a, 0)
            of = np.where(a >= ends.max, ends.max, np.where(a <= ends.min, ends.min, np.trunc(inner).astype(wide)))
            return Value(of.astype(wide), np.zeros(of.shape, wide))
        return Value(a.astype(wide), np.zeros(a.shape, wide))


@dataclass(frozen=True)
class Index(Expr):
    """The value of an index, of type i64."""

    index: Affine

    def text(self) -> str:
        return f"vindex({self.index.text()})"

    def value(self, scope: Scope) -> Value:
        (of,) = scope.index((self.index,))
        return Value(of.astype(np.int64), np.zeros(of.shape, np.int64))


REDUCTIONS = {"sum": "vsum", "prod": "vprod", "min": "vmin", "max": "vmax", "mean": "vmean"}


@dataclass(frozen=True)
class Reduce(Expr):
    kind: str
    over: tuple[str, ...]
    of: Expr

    def children(self) -> list[Expr]:
        return [self.of]

    def text(self, ranges: str = "") -> str:
        return f"{REDUCTIONS[self.kind]}({self.of.text()}, [{', '.join(self.over)}]{ranges})"

    def neutral(self, elem: str) -> float:
        """What changes nothing."""
        if self.kind in ("sum", "prod"):
            return 0 if self.kind == "sum" else 1
        if elem in FLOATS:
            return np.inf if self.kind == "min" else -np.inf
        ends = np.iinfo(TYPES[elem])
        return ends.max if self.kind == "min" else ends.min

    def value(self, scope: Scope) -> Value:
        a, da = self.of.value(scope)
        axes = tuple(scope.axes.index(name) for name in self.over)
        # What the terms do not depend on is still repeated for each of them.
        shape = [n if k not in axes else scope.values[scope.axes[k]].size for k, n in enumerate(a.shape)]
        a, da = np.broadcast_to(a, shape), np.broadcast_to(da, shape)
        if scope.given:
            inside = scope.inside(self.over)
            a, da = np.where(inside, a, self.neutral(scope.elem)).astype(a.dtype), np.where(inside, da, 0)
        count = int(np.prod([shape[k] for k in axes]))
        unit = UNIT[scope.elem]
        match self.kind:
            case "sum" | "mean":
                of = np.add.reduce(a, axis=axes, keepdims=True, dtype=a.dtype)
                spread = np.add.reduce(np.abs(a) + da, axis=axes, keepdims=True, dtype=a.dtype)
                off = np.add.reduce(da, axis=axes, keepdims=True) + count * unit * spread
                if self.kind == "mean":
                    return scope.rounded(of / count, off / count)
                return Value(of, off)
            case "prod":
                of = np.multiply.reduce(a, axis=axes, keepdims=True, dtype=a.dtype)
                if scope.elem not in FLOATS:
                    return Value(of, np.zeros_like(of))
                most = np.multiply.reduce(
                    np.abs(a) * (1 + unit) + da, axis=axes, keepdims=True, dtype=a.dtype
                )
                return Value(of, (most - np.abs(of)) + count * unit * most)
            case "min":
                of = np.fmin.reduce(a, axis=axes, keepdims=True)
                return Value(of, np.maximum.reduce(da, axis=axes, keepdims=True))
            case _:
                of = np.fmax.reduce(a, axis=axes, keepdims=True)
                return Value(of, np.maximum.reduce(da, axis=axes, keepdims=True))


def ranges_of(
    target: Access, value: Expr, elsewhere: bool, order: list[str]
) -> dict[str, tuple[int, int]] | None:
    """The values that iterators take, in the order given: all that stay inside of every tensor, where
    an iterator that stands alone takes all of its dimension. `None` if there are none, or where
    dimensions disagree."""
    alone: dict[str, int] = {}
    low: dict[str, int] = {}
    high: dict[str, int] = {}

    def narrow(name: str, by: int, constant: int, extent: int) -> None:
        # 0 <= by*x + constant < extent
        ends = sorted((-constant / by, (extent - 1 - constant) / by))
        low[name] = max(low.get(name, -(10**9)), int(np.ceil(ends[0])))
        high[name] = min(high.get(name, 10**9), int(np.floor(ends[1])) + 1)

    accesses = value.accesses()
    for access in [*accesses, target]:
        if access is target and any(low[n] < 0 for n in low if n not in alone):
            # Whoever infers the value's ranges first, finds indices below zero.
            return None
        for affine, extent in zip(access.index, access.tensor.extents, strict=True):
            name = affine.alone()
            if name and not (elsewhere and access is target):
                if alone.setdefault(name, extent) != extent:
                    return None
            if len(affine.terms) == 1:
                narrow(affine.terms[0][0], affine.terms[0][1], affine.constant, extent)
    if any(name not in alone for name in order):
        return None
    ranges = {name: (low[name], high[name]) for name in order}
    if any(first >= last for first, last in ranges.values()):
        return None
    for access in [*accesses, target]:
        for affine, extent in zip(access.index, access.tensor.extents, strict=True):
            first, last = affine.span(ranges)
            if first < 0 or last >= extent:
                return None
    return ranges
