"""Random programs, by family: contractions, windows, stencils, chains of functions, reductions, in
place, in order, in time, several assignments, pieces of one target, texts."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .definitions import Assignment, Partition, Program
from .expressions import (
    FUNCTIONS,
    FLOATS,
    TYPES,
    Access,
    Affine,
    Binary,
    Cast,
    Expr,
    Function,
    Index,
    Number,
    Power,
    Range,
    Reduce,
    Select,
    Tensor,
    ranges_of,
)
from .texts import Local, Loop, Statement, Text

# The most instances of a statement, and of an assignment whose elements follow each other.
MOST, MOST_IN_ORDER = 30_000, 400
EXTENTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 19, 20, 23, 24, 25, 31, 32, 33, 37, 40]
ITERATORS = ["i", "j", "k", "a", "b", "c", "x", "y", "z", "p", "q", "kh", "kw", "i2", "u", "w"]
EXPONENTS = [2.0, 3.0, 4.0, 5.0, 7.0, -1.0, -2.0, 0.5, 1.5, -0.5, 2.5, 0.25, 9.0]


class Maker:
    """Makes one program. All that is random comes from `rng`."""

    def __init__(self, rng: random.Random, prefix: str, special: bool):
        self.rng = rng
        self.prefix = prefix
        self.elem = rng.choices(["f64", "f32", "i32", "i64"], [5, 3, 2, 1.5])[0]
        self.program = Program(self.elem, "")
        self.most = MOST
        # What the numbers of integers are between, and whether floats have fractions.
        self.wide = rng.random() < 0.3
        self.special = rng.random() < 0.05 and special
        # Whether assignments may leave out elements that others read.
        self.alone = True

    # Tensors

    def tensor(self, extents: list[int]) -> Tensor:
        letters = "ABCDEFGHJKMNPQRSTUVWXYZ"
        name = f"{self.prefix}_{letters[len(self.program.tensors)]}"
        strided = len(extents) > 1 and self.rng.random() < 0.25
        tensor = Tensor(name, tuple(extents), self.elem, strided=strided)
        self.program.tensors[name] = tensor
        self.program.inputs[name] = self.numbers(extents)
        return tensor

    def numbers(self, extents: list[int]) -> np.ndarray:
        source = np.random.default_rng(self.rng.getrandbits(64))
        if self.elem not in FLOATS:
            ends = np.iinfo(TYPES[self.elem])
            low, high = (ends.min, ends.max) if self.wide else (-40, 40)
            return source.integers(low, high, extents, TYPES[self.elem], endpoint=True)
        if self.special:
            # Some are no numbers, infinite, or as small as can be. The largest ones are not among them:
            # whether their products overflow depends on what is rounded (`fma`).
            ends = np.finfo(TYPES[self.elem])
            odd = [np.nan, np.inf, -np.inf, -0.0, ends.tiny / 4, ends.eps]
            numbers = source.integers(-12, 13, extents) / 4
            return np.where(
                source.random(extents) < 0.1, source.choice(odd, extents), numbers
            ).astype(TYPES[self.elem])
        if self.wide:
            return source.uniform(-2, 2, extents).astype(TYPES[self.elem])
        return (source.integers(-12, 13, extents) / 4).astype(TYPES[self.elem])

    def extent(self, most: int = 40) -> int:
        most = max(1, most)
        fitting = [n for n in EXTENTS if n <= most]
        return self.rng.choice(fitting)

    def extents(self, count: int, most: int | None = None) -> list[int]:
        left = most or self.most
        found = []
        for k in range(count):
            n = self.extent(min(40, int(left ** (1 / (count - k))) * self.rng.choice([1, 2, 3])))
            n = max(1, min(n, left))
            found.append(n)
            left //= n
        self.rng.shuffle(found)
        return found

    def iterators(self, count: int) -> list[str]:
        return self.rng.sample(ITERATORS, count)

    def some(self, items: list, fewest: int = 0) -> list:
        count = self.rng.randint(min(fewest, len(items)), len(items))
        return self.rng.sample(items, count)

    def shuffled(self, items: list) -> list:
        return self.rng.sample(items, len(items))

    # Expressions

    def number(self) -> Number:
        if self.elem in FLOATS:
            return Number(self.rng.choice([0.5, 2.0, -1.0, 0.25, 3.0, -0.75, 1.0, -2.5, 0.0]))
        return Number(self.rng.choice([2, -1, 3, 5, -7, 1, 0, 100]))

    def access(self, tensor: Tensor, names: list[str]) -> Access:
        return Access(tensor, tuple(Affine.of(name) for name in names))

    def operand(self, extents: dict[str, int], names: list[str], plain: bool = False) -> Access:
        """A tensor that is indexed by these iterators, most of them alone in a dimension."""
        index, sizes = [], []
        for name in names:
            n = extents[name]
            kind = 1.0 if plain else self.rng.random()
            if kind < 0.06:
                affine = Affine.of(name, -1, n - 1)
                sizes.append(n)
            elif kind < 0.1:
                affine = Affine.of(name, 2, self.rng.randint(0, 1))
                sizes.append(2 * n + self.rng.randint(1, 2))
            elif kind < 0.14:
                by = self.rng.randint(1, 3)
                affine = Affine.of(name, 1, by)
                sizes.append(n + by + self.rng.randint(0, 1))
            else:
                affine = Affine.of(name)
                sizes.append(n)
            index.append(affine)
        if not plain and index and self.rng.random() < 0.05:
            at = self.rng.randrange(len(index))
            index[at], sizes[at] = Affine((), 1), 2 + self.rng.randint(0, 2)
        if not plain and len(index) == 1 and self.rng.random() < 0.05:
            index, sizes = index * 2, sizes * 2
        if int(np.prod(sizes, initial=1)) > 4 * self.most:
            return self.operand(extents, names[1:], plain)
        if not sizes and self.rng.random() < 0.5:
            tensor = dataclasses.replace(self.tensor([]), scalar=True)
            self.program.tensors[tensor.name] = tensor
            return Access(tensor, ())
        order: tuple[int, ...] = ()
        if index and self.rng.random() < 0.06:
            order = tuple(self.shuffled(list(range(len(index)))))
        return Access(self.tensor(sizes), tuple(index), order)

    @contextmanager
    def typed(self, elem: str) -> Iterator[None]:
        """In between, tensors and numbers have this type."""
        before, self.elem = self.elem, elem
        try:
            yield
        finally:
            self.elem = before

    def other_type(self) -> str:
        return self.rng.choice([elem for elem in TYPES if elem != self.elem])

    def exact(self, sizes: dict[str, int], names: list[str]) -> Expr:
        """A value of the present type that no rounding changes."""
        if self.elem == "i64" and names and self.rng.random() < 0.35:
            return Index(self.place(names, sizes))
        access = self.operand(sizes, self.some(names), plain=True)
        if self.rng.random() < 0.3:
            return Function(self.rng.choice(["neg", "abs", "relu"]), access)
        return access

    def place(self, names: list[str], sizes: dict[str, int]) -> Affine:
        """An index that is the value of itself."""
        chosen = self.some(names, 1)[:2]
        terms = tuple((name, self.rng.choice([1, 1, -1, 2])) for name in chosen)
        return Affine(terms, self.rng.choice([0, 0, 1, -3]))

    def foreign(self, sizes: dict[str, int], names: list[str]) -> Expr:
        """A value of another type, converted."""
        elem = self.elem
        source = self.rng.choice(["i64", self.other_type()]) if self.elem != "i64" else self.other_type()
        with self.typed(source):
            of = self.exact(sizes, names)
            if source not in FLOATS and self.rng.random() < 0.3:
                of = Binary(self.rng.choice(["+", "*", "-"]), of, self.number())
            if source not in FLOATS and self.rng.random() < 0.2:
                of = Binary("%", of, Number(self.rng.choice([2, 3, 7, -4])))
            if source in FLOATS and elem in FLOATS and self.rng.random() < 0.3:
                of = Function("tanh", of)
        return Cast(of, source, elem)

    def chosen(self, value: Expr, sizes: dict[str, int], names: list[str]) -> Expr:
        """The value or another one, by a comparison of values of another type."""
        rng = self.rng
        compared = rng.choice(["i64", self.other_type()]) if self.elem != "i64" else self.other_type()
        with self.typed(compared):
            left = self.exact(sizes, names)
            right = self.number() if rng.random() < 0.5 else self.exact(sizes, names)
        other = self.number() if rng.random() < 0.6 else self.operand(sizes, self.some(names), plain=True)
        comparison = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        pair = [value, other] if rng.random() < 0.6 else [other, value]
        return Select(comparison, left, right, *pair, compared=compared)

    def varied(self, leaves: list[Expr], sizes: dict[str, int], names: list[str]) -> list[Expr]:
        """The leaves, and perhaps one of another type."""
        if self.rng.random() < 0.2:
            leaves.insert(self.rng.randint(0, len(leaves)), self.foreign(sizes, names))
        if self.elem not in FLOATS and self.rng.random() < 0.15:
            divisor = self.positive(self.operand(sizes, self.some(names), plain=True))
            leaves[0] = Binary("%", leaves[0], divisor)
        return leaves

    def within(self, names: list[str], free: list[str], ranges: dict[str, tuple[int, int]]) -> dict[str, Range]:
        """Ranges that are given, of numbers or between bounds that other iterators move."""
        rng = self.rng
        found: dict[str, Range] = {}
        for k, name in enumerate(names):
            if rng.random() < 0.4:
                continue
            low, high = ranges[name]
            before = [n for n in names[:k] if n in free]
            lows, highs = [Affine((), low)], [Affine((), high)]
            step = 1
            kind = rng.random()
            if kind < 0.4 or not before:
                first = rng.randint(low, high - 1)
                lows, highs = [Affine((), first)], [Affine((), rng.randint(first + 1, high))]
                step = rng.choice([1, 1, 1, 2, 3])
            elif kind < 0.6:
                highs.append(Affine.of(rng.choice(before), 1, rng.randint(0, 3)))
            elif kind < 0.8:
                lows.append(Affine.of(rng.choice(before), 1, rng.randint(-2, 1)))
            else:
                other = rng.choice(before)
                lows.append(Affine.of(other, 1, -rng.randint(0, 2)))
                highs.append(Affine.of(other, 1, rng.randint(1, 3)))
            found[name] = Range(tuple(lows), tuple(highs), step)
        return found

    def reused(self, extents: dict[str, int], results: list[Tensor]) -> Access | None:
        """One of the results, read with iterators that fit."""
        if not results:
            return None
        tensor = self.rng.choice(results)
        index = []
        free = dict(extents)
        for n in tensor.extents:
            fitting = [name for name in free if free[name] == n]
            near = [name for name in free if free[name] < n]
            if fitting and (not near or self.rng.random() < 0.85):
                name = self.rng.choice(fitting)
                affine = Affine.of(name)
            elif near:
                name = self.rng.choice(near)
                affine = Affine.of(name, 1, self.rng.randint(1, n - free[name]))
            else:
                index.append(Affine((), self.rng.randrange(n)))
                continue
            index.append(affine)
            if self.rng.random() < 0.95:
                del free[name]
        return Access(tensor, tuple(index))

    def tree(self, leaves: list[Expr], depth: int = 3) -> Expr:
        """An expression of all of the leaves, each at least once."""
        rng = self.rng
        if len(leaves) == 1:
            return self.touched(leaves[0], depth)
        at = rng.randint(1, len(leaves) - 1)
        left, right = self.tree(leaves[:at], depth - 1), self.tree(leaves[at:], depth - 1)
        kind = rng.random()
        if kind < 0.12:
            return self.select(left, right, self.number(), rng.choice([left, self.number()]))
        if kind < 0.2:
            return Binary("/", left, self.positive(right))
        op = rng.choices(["+", "-", "*", "min", "max"], [4, 2, 4, 1, 1])[0]
        return self.touched(Binary(op, left, right, rng.random() < 0.7), depth - 1)

    def select(self, a: Expr, b: Expr, c: Expr, d: Expr) -> Expr:
        comparison = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return Select(comparison, *self.shuffled([a, b, c, d]))

    def positive(self, of: Expr) -> Expr:
        """Something well above zero, made of this."""
        if self.elem not in FLOATS:
            small = Function("abs", of)
            return self.rng.choice(
                [Binary("max", small, Number(1)), Number(3), Number(-1), Number(2), Number(-5)]
            )
        kind = self.rng.random()
        if kind < 0.5:
            return Binary("+", Function("abs", of), Number(1.0))
        if kind < 0.8:
            return Binary("+", Number(1.0), Binary("*", of, of))
        return Binary("max", of, Number(0.5))

    def touched(self, of: Expr, depth: int) -> Expr:
        rng = self.rng
        if self.elem not in FLOATS and rng.random() < 0.1:
            return Binary("%", of, Number(rng.choice([2, 3, 7])))
        if depth < 1 or rng.random() < 0.5:
            return of
        if rng.random() < 0.4:
            op = rng.choice(["+", "-", "*", "min", "max"])
            pair = [of, self.number()]
            return Binary(op, *(pair if rng.random() < 0.7 else pair[::-1]))
        if self.elem not in FLOATS:
            return Function(rng.choice(["neg", "abs", "relu"]), of)
        kinds = [*FUNCTIONS, "pow"]
        kind = rng.choice(kinds)
        match kind:
            case "sqrt" | "log":
                return Function(kind, self.positive(of))
            case "pow":
                base = Binary("min", self.positive(of), Number(3.0))
                return Power(base, rng.choice(EXPONENTS))
            case "exp":
                return Function(kind, Binary("min", of, Number(2.0)))
            case "sin" | "cos":
                return Function(kind, Binary("max", Binary("min", of, Number(20.0)), Number(-20.0)))
            case _:
                return Function(kind, of)

    # Assignments

    def finished(
        self,
        value: Expr,
        free: list[str],
        summed: list[str],
        extents: dict[str, int],
        target: Tensor | None = None,
        **more,
    ) -> Assignment | None:
        """The assignment to a target indexed by the free iterators, each alone in a dimension, or with
        some elements around those that are assigned."""
        rng = self.rng
        index = [Affine.of(name) for name in free]
        sizes = [extents[name] for name in free]
        elsewhere = None
        given = target is None and rng.random() < 0.3
        alone = {f.alone() for access in value.accesses() for f in access.index}
        if target is None and rng.random() < 0.12 and not more and alone >= set(free):
            for k, name in enumerate(free):
                before, after = rng.randint(0, 2), rng.randint(0, 2)
                index[k] = Affine.of(name, 1, before)
                sizes[k] += before + after
            given = True
            if rng.random() < 0.6 or sizes == [extents[name] for name in free]:
                elsewhere = self.number().number
                if isinstance(value, Reduce):
                    if value.kind not in ("sum", "mean"):
                        return None
                    elsewhere = 0 if self.elem not in FLOATS else 0.0
        if not set(value.iterators()) >= set(free + summed):
            return None
        target = target or self.tensor(sizes)
        access = Access(target, tuple(index))
        ranges = ranges_of(access, value, elsewhere is not None, free + summed)
        if ranges is None:
            return None
        if np.prod([high - low for low, high in ranges.values()], initial=1) > self.most:
            return None
        within: dict[str, Range] = {}
        if set(more) <= {"in_order"} and rng.random() < 0.15:
            names = (free if self.alone or rng.random() < 0.1 else []) + summed
            if isinstance(value, Reduce) and value.kind == "mean":
                names = [name for name in names if name in free]
            within = self.within(names, free, ranges)
        # Sums that an access would cut short need a range.
        reads = [affine for x in value.accesses() for affine in x.index]
        for name in summed:
            cut = any(len(f.terms) == 1 and f.terms[0][0] == name and f.constant for f in reads)
            whole = any(f.alone() == name for f in reads)
            if cut and whole and name not in within and "spelled" not in more and rng.random() < 0.8:
                low, high = ranges[name]
                within[name] = Range((Affine((), low),), (Affine((), high),))
        direct = rng.random() < 0.25
        assignment = Assignment(
            access, value, ranges, elsewhere, given=given, within=within, direct=direct, **more
        )
        self.program.assignments.append(assignment)
        return assignment

    def contraction(self, results: list[Tensor]) -> Assignment | None:
        rng = self.rng
        batch, left, right, summed = (
            rng.choices([0, 1], [3, 1])[0],
            rng.choices([0, 1, 2], [1, 5, 1])[0],
            rng.choices([0, 1, 2], [1, 5, 1])[0],
            rng.choices([1, 2], [4, 1])[0],
        )
        names = self.iterators(batch + left + right + summed)
        sizes = dict(zip(names, self.extents(len(names)), strict=True))
        shared, rest = names[:batch], names[batch:]
        lefts, rest = rest[:left], rest[left:]
        rights, sums = rest[:right], rest[right:]
        order = self.shuffled if rng.random() < 0.5 else list
        plain = rng.random() < 0.8
        is_triangle = left == 1 and len(sums) == 1 and not batch and rng.random() < 0.15
        if is_triangle:
            sizes[sums[0]] = sizes[lefts[0]] = min(sizes[sums[0]], sizes[lefts[0]])
            plain = True
        a = self.operand(sizes, order(shared + lefts + sums), plain)
        b = self.operand(sizes, order(shared + sums + rights), plain)
        if is_triangle:
            a = self.triangular(a)
            product = Binary("*", *([a, b] if rng.random() < 0.7 else [b, a]), lists=rng.random() < 0.6)
            return self.finished(Reduce("sum", tuple(sums), product), lefts + rights, sums, sizes, spelled=None)
        if rng.random() < 0.3:
            a = self.reused(sizes, results) or a
        product = Binary("*", a, b, rng.random() < 0.6)
        if rng.random() < 0.08:
            return self.paired(a, b, lefts + rights, sums, sizes)
        if rng.random() < 0.2:
            third = self.operand(sizes, self.some(names, 1), plain)
            pair = [product, third] if rng.random() < 0.7 else [third, product]
            product = Binary(rng.choice(["*", "*", "+", "-"]), *pair)
        free = shared + lefts + rights
        if rng.random() < 0.2:
            rng.shuffle(free)
        if rng.random() < 0.1:
            return self.accumulated(product, free, sums, sizes)
        kind = rng.choices(["sum", "max", "min"], [12, 1, 1])[0]
        value: Expr = Reduce(kind, tuple(self.shuffled(sums)), product)
        factors = product.accesses()
        is_einsum = kind == "sum" and all(f.alone() and len(f.alone()) == 1 for x in factors for f in x.index)
        if is_einsum and product.is_product() and rng.random() < 0.4:
            operands = ",".join("".join(f.alone() for f in x.index) for x in factors)
            tensors = ", ".join(x.tensor.name for x in factors)
            spelled = f'einsum("{operands}->{"".join(free)}", {tensors})'
            made = self.finished(value, free, sums, sizes, spelled=spelled)
            if made and len(factors) > 2 and rng.random() < 0.6:
                name = made.target.tensor.name
                split = f"factor_out({name}, {factors[-1].tensor.name})"
                self.program.algebra = (name, rng.choice([f"contraction_chain({name})", split]))
            return made
        return self.finished(value, free, sums, sizes)

    def triangular(self, access: Access) -> Access:
        """The access, of a tensor that has zeros outside of a triangle."""
        tensor = dataclasses.replace(access.tensor, triangle=self.rng.choice(["lower", "upper"]))
        self.program.tensors[tensor.name] = tensor
        keep = np.tril if tensor.triangle == "lower" else np.triu
        # What is no number stays one times zero.
        self.program.inputs[tensor.name] = keep(np.nan_to_num(self.program.inputs[tensor.name], posinf=1, neginf=-1))
        return Access(tensor, access.index)

    def paired(
        self, a: Access, b: Access, free: list[str], sums: list[str], sizes: dict[str, int]
    ) -> Assignment | None:
        """`vcontract`, where that says it."""
        (left, right) = ([affine.alone() for affine in x.index] for x in (a, b))
        if None in left + right or len(set(left)) < len(left) or len(set(right)) < len(right):
            return None
        if set(left) & set(right) != set(sums) or not set(left + right) >= set(free):
            return None
        pairs = [[left.index(name) + 1, right.index(name) + 1] for name in sums]
        rest = [name for name in left + right if name not in sums]
        text = f"vcontract({a.tensor.name}, {b.tensor.name}, {pairs[0] if len(pairs) == 1 else pairs})"
        spelled = f"eq({text}, [{', '.join(rest)}] -> [{', '.join(free)}])"
        return self.finished(Reduce("sum", tuple(sums), Binary("*", a, b)), free, sums, sizes, spelled=spelled)

    def accumulated(
        self, terms: Expr, free: list[str], sums: list[str], sizes: dict[str, int]
    ) -> Assignment | None:
        """X[i] = X[i] + terms[i, k]: each k adds to it."""
        target = self.tensor([sizes[name] for name in free])
        value = Binary("+", self.access(target, free), terms)
        return self.finished(value, free, sums, sizes, target, added=terms)

    def windows(self, results: list[Tensor]) -> Assignment | None:
        """A convolution, or a filter."""
        rng = self.rng
        spatial = rng.choices([1, 2, 3], [5, 4, 1])[0]
        free_count = rng.choices([0, 1, 2], [3, 4, 2])[0]
        channels = rng.choices([0, 1], [1, 2])[0]
        names = self.iterators(2 * spatial + free_count + channels)
        places, windows = names[:spatial], names[spatial : 2 * spatial]
        others, sums = names[2 * spatial : 2 * spatial + free_count], names[2 * spatial + free_count :]
        window_sizes = [rng.choice([1, 2, 3, 3, 4, 5]) for _ in windows]
        left = max(1, self.most // int(np.prod(window_sizes)))
        rest = self.extents(spatial + free_count + channels, left)
        sizes = dict(zip(places + others + sums, rest, strict=True))
        sizes |= dict(zip(windows, window_sizes, strict=True))
        index, extents = [], []
        stride, dilation = rng.choice([1, 1, 1, 2, 3]), rng.choice([1, 1, 1, 2])
        for place, window in zip(places, windows, strict=True):
            backwards = rng.random() < 0.06
            last = dilation * (sizes[window] - 1)
            by = -dilation if backwards else dilation
            affine = Affine(((place, stride), (window, by)), last if backwards else 0)
            index.append(affine)
            extents.append(stride * (sizes[place] - 1) + last + 1 + rng.choice([0, 0, 1]))
        image, filters = self.some(others), self.some(others)
        lead = self.shuffled(image + sums) if rng.random() < 0.3 else image + sums
        extents = [sizes[name] for name in lead] + extents
        a = Access(self.tensor(extents), (*(Affine.of(name) for name in lead), *index))
        b = self.operand(sizes, filters + sums + windows, plain=True)
        free = [name for name in others if name in image + filters] + places
        # Both get their iterators at once: those of the one alone would not say where windows end.
        value: Expr = Binary(rng.choices(["*", "+"], [9, 1])[0], a, b, lists=True)
        kind = rng.choices(["sum", "max"], [9, 1])[0]
        value = Reduce(kind, tuple(sums + windows), value)
        # Places stand alone in the target only.
        target = self.tensor([sizes[name] for name in free])
        return self.finished(value, free, sums + windows, sizes, target)

    def library(self, results: list[Tensor]) -> Assignment | None:
        """What the library spells."""
        made = [self.convolution, self.transposed, self.bordered, self.entrywise, self.neighbors]
        return self.rng.choice(made)()

    def convolution(self) -> Assignment | None:
        """`conv` with its options."""
        rng = self.rng
        spatial = rng.choices([1, 2, 3], [4, 4, 1])[0]
        n, g, f, c, *rest = self.iterators(4 + 2 * spatial)
        places, windows = rest[:spatial], rest[spatial:]
        stride, dilation = rng.choice([1, 1, 2, 3]), rng.choice([1, 1, 2])
        groups = rng.choice([1, 1, 2, 3])
        sizes = {n: rng.choice([1, 2, 3]), g: groups, f: rng.choice([1, 2, 3, 5, 8]), c: rng.choice([1, 2, 3])}
        sizes |= {name: rng.choice([1, 2, 3, 4]) for name in windows}
        most = {1: 40, 2: 11, 3: 5}[spatial]
        sizes |= {name: self.extent(most) for name in places}
        inputs = [stride * (sizes[p] - 1) + dilation * (sizes[w] - 1) + 1 for p, w in zip(places, windows)]
        image = self.tensor([sizes[n], groups * sizes[c], *inputs])
        weights = self.tensor([groups * sizes[f], sizes[c], *(sizes[w] for w in windows)])
        target = self.tensor([sizes[n], groups * sizes[f], *(sizes[p] for p in places)])
        of_group = Affine(((f, 1), (g, sizes[f])))
        moving = [Affine(((p, stride), (w, dilation))) for p, w in zip(places, windows)]
        read = Access(image, (Affine.of(n), Affine(((c, 1), (g, sizes[c]))), *moving))
        weight = Access(weights, (of_group, Affine.of(c), *(Affine.of(w) for w in windows)))
        free, sums = [n, g, f, *places], [c, *windows]
        value = Reduce("sum", tuple(sums), Binary("*", read, weight))
        access = Access(target, (Affine.of(n), of_group, *(Affine.of(p) for p in places)))
        ranges = {name: (0, sizes[name]) for name in free + sums}
        if np.prod(list(sizes.values())) > self.most:
            return None
        options = f"#{{stride: {stride}, dilation: {dilation}, groups: {groups}}}"
        spelled = f"conv({image.name}, {weights.name}, {options})"
        assignment = Assignment(access, value, ranges, spelled=spelled)
        self.program.assignments.append(assignment)
        return assignment

    def transposed(self) -> Assignment | None:
        rank = self.rng.choice([2, 2, 3, 4])
        names = self.iterators(rank)
        sizes = dict(zip(names, self.extents(rank), strict=True))
        order = self.shuffled(list(range(rank)))
        source = self.tensor(list(sizes.values()))
        spelled = f"transpose({source.name}, [{', '.join(str(k + 1) for k in order)}])"
        value = self.access(source, names)
        return self.finished(value, [names[k] for k in order], [], sizes, spelled=spelled)

    def bordered(self) -> Assignment | None:
        """`padded`."""
        rng = self.rng
        rank = rng.choice([1, 2, 3])
        names = self.iterators(rank)
        sizes = dict(zip(names, self.extents(rank), strict=True))
        source = self.tensor(list(sizes.values()))
        ends = [(rng.randint(0, 3), rng.randint(0, 3)) for _ in names]
        number = self.number()
        borders = ", ".join(f"[{before}, {after}]" for before, after in ends)
        spelled = f"padded({source.name}, [{borders}], {number.text()})"
        target = self.tensor([sizes[name] + sum(end) for name, end in zip(names, ends)])
        index = tuple(Affine.of(name, 1, before) for name, (before, _) in zip(names, ends))
        ranges = {name: (0, sizes[name]) for name in names}
        value = self.access(source, names)
        assignment = Assignment(Access(target, index), value, ranges, number.number, spelled=spelled)
        self.program.assignments.append(assignment)
        return assignment

    def entrywise(self) -> Assignment | None:
        """Operators between tensors of one shape, and numbers."""
        rng = self.rng
        rank = rng.choice([1, 2, 2, 3])
        names = self.iterators(rank)
        sizes = dict(zip(names, self.extents(rank), strict=True))
        value: Expr = self.access(self.tensor(list(sizes.values())), names)
        text = value.accesses()[0].tensor.name
        for _ in range(rng.randint(1, 4)):
            op = rng.choice(["+", "-", "*"])
            other: Expr = self.number()
            word = other.text()
            if rng.random() < 0.6:
                other = self.access(self.tensor(list(sizes.values())), names)
                word = other.tensor.name
            first = rng.random() < 0.5
            value = Binary(op, value, other) if first else Binary(op, other, value)
            text = f"({text} {op} {word})" if first else f"({word} {op} {text})"
        iterators = ", ".join(names)
        spelled = f"eq({text}, [{iterators}] -> [{iterators}])"
        return self.finished(value, names, [], sizes, spelled=spelled)

    def neighbors(self) -> Assignment | None:
        """`vstencil`."""
        rng = self.rng
        rank = rng.choice([1, 2, 2, 3])
        names = self.iterators(rank)
        sizes = {name: max(5, n) for name, n in zip(names, self.extents(rank), strict=True)}
        source = self.tensor(list(sizes.values()))
        offsets = [[rng.choice([0, 0, -1, 1, 2, -2]) for _ in names] for _ in range(rng.randint(2, 6))]
        weights = [self.number() for _ in offsets]
        value: Expr | None = None
        for offset, weight in zip(offsets, weights):
            index = tuple(Affine.of(name, 1, by) for name, by in zip(names, offset))
            term = Binary("*", weight, Access(source, index))
            value = term if value is None else Binary("+", value, term)
        assert value is not None
        numbers = ", ".join(weight.text() for weight in weights)
        iterators = ", ".join(names)
        extents = ", ".join(map(str, source.extents))
        spelled = f"eq(vstencil({source.name}, {offsets}, [{numbers}]), [{iterators}] -> [{iterators}], [{extents}])"
        target = self.tensor(list(source.extents))
        return self.finished(value, names, [], sizes, target, spelled=spelled)

    def stencil(self, results: list[Tensor]) -> Assignment | None:
        rng = self.rng
        rank = rng.choices([1, 2, 3], [3, 5, 2])[0]
        batch = rng.choices([0, 1], [4, 1])[0]
        names = self.iterators(rank + batch)
        extents = self.extents(rank + batch)
        sizes = {name: max(n, 4) for name, n in zip(names, extents, strict=True)}
        moving = names[batch:]
        same = [t for t in results if list(t.extents) == [sizes[name] for name in names]]
        tensor = rng.choice(same) if same else self.tensor([sizes[name] for name in names])
        accesses: list[Expr] = []
        for _ in range(rng.randint(2, 6)):
            offsets = [rng.choice([0, 0, 0, -1, 1, 2, -2]) for _ in moving]
            index = [Affine.of(name) for name in names[:batch]]
            index += [Affine.of(n, 1, by) for n, by in zip(moving, offsets, strict=True)]
            accesses.append(Access(tensor, tuple(index)))
        if rng.random() < 0.3:
            accesses.append(self.operand(sizes, self.some(names, 1), plain=True))
        if rng.random() < 0.6:
            value: Expr = Binary("*", accesses[0], self.number())
            for access in accesses[1:]:
                op = rng.choice(["+", "+", "+", "-", "max", "min"])
                weighted = access if rng.random() < 0.5 else Binary("*", self.number(), access)
                value = Binary(op, value, weighted)
        else:
            value = self.tree(accesses, 2)
        target = self.tensor([sizes[name] for name in names])
        return self.finished(value, names, [], sizes, target)

    def pointwise(self, results: list[Tensor]) -> Assignment | None:
        rng = self.rng
        rank = rng.choices([0, 1, 2, 3, 4, 5], [1, 4, 7, 3, 2, 1])[0]
        names = self.iterators(rank)
        sizes = dict(zip(names, self.extents(rank), strict=True))
        order = self.shuffled if rng.random() < 0.4 else list
        leaves: list[Expr] = [self.operand(sizes, order(names))]
        for _ in range(rng.choice([0, 1, 1, 2])):
            reused = self.reused(sizes, results) if rng.random() < 0.6 else None
            leaves.append(reused or self.operand(sizes, self.some(names)))
        rng.shuffle(leaves)
        value = self.tree(self.varied(leaves, sizes, names))
        if rng.random() < 0.2:
            value = self.chosen(value, sizes, names)
        if self.alone and rng.random() < 0.1:
            other = self.rng.choice(FLOATS)
            if other != self.elem:
                value = Cast(value, self.elem, other)
                with self.typed(other):
                    return self.finished(value, names, [], sizes)
        return self.finished(value, names, [], sizes)

    def reduction(self, results: list[Tensor]) -> Assignment | None:
        rng = self.rng
        free, sums = rng.choices([0, 1, 2, 3], [2, 4, 2, 1])[0], rng.choices([1, 2], [3, 1])[0]
        names = self.iterators(free + sums)
        sizes = dict(zip(names, self.extents(len(names)), strict=True))
        order = self.shuffled if rng.random() < 0.5 else list
        leaves: list[Expr] = [self.operand(sizes, order(names))]
        for _ in range(rng.choice([0, 0, 1, 1])):
            reused = self.reused(sizes, results) if rng.random() < 0.6 else None
            leaves.append(reused or self.operand(sizes, self.some(names, 1)))
        inner = self.tree(self.varied(leaves, sizes, names), 2)
        if rng.random() < 0.15:
            inner = self.chosen(inner, sizes, names)
        kinds = ["sum", "prod", "min", "max"] + ["mean"] * (self.elem in FLOATS)
        kind = rng.choice(kinds)
        summed = names[free:]
        if kind == "prod" and self.elem in FLOATS:
            inner = Binary("+", Number(1.0), Binary("*", Function("tanh", inner), Number(0.0625)))
        value: Expr = Reduce(kind, tuple(self.shuffled(summed)), inner)
        return self.finished(value, names[:free], summed, sizes)

    def in_place(self, results: list[Tensor], in_order: bool = False) -> Assignment | None:
        """x of the old x, or of what it has become."""
        rng = self.rng
        rank = rng.choices([1, 2, 3], [3, 5, 1])[0]
        names = self.iterators(rank)
        most = MOST_IN_ORDER if in_order else self.most
        sizes = dict(zip(names, self.extents(rank, most), strict=True))
        if rank == 2 and rng.random() < 0.3:
            sizes = {name: min(sizes.values()) for name in names}
        if rng.random() < 0.25 and rank > 1:
            return self.in_part(names, sizes, in_order)
        target = self.tensor([sizes[name] for name in names])
        leaves: list[Expr] = []
        for _ in range(rng.randint(1, 3)):
            index = [Affine.of(n, 1, rng.choice([0, 0, 0, -1, -1, 1, -2, 2])) for n in names]
            kind = rng.random()
            if kind < 0.15:
                at = rng.randrange(rank)
                index[at] = Affine.of(names[at], -1, sizes[names[at]] - 1)
            elif kind < 0.25 and rank == 2 and len(set(sizes.values())) == 1:
                index.reverse()
            leaves.append(Access(target, tuple(index)))
        if rng.random() < 0.6:
            leaves.append(self.operand(sizes, self.some(names, 1), plain=True))
        if rng.random() < 0.2:
            leaves.append(self.number())
        value: Expr = leaves[0]
        for leaf in leaves[1:]:
            value = Binary(rng.choice(["+", "+", "-", "max", "min"]), value, leaf)
        if self.elem in FLOATS:
            value = Binary("*", value, Number(1.0 / 2 ** max(1, len(leaves) - 1)))
        return self.finished(value, names, [], sizes, target, in_order=in_order)

    def in_part(
        self, names: list[str], sizes: dict[str, int], in_order: bool
    ) -> Assignment | None:
        """One part of x of another one: the first dimension of both is known."""
        rng = self.rng
        target = self.tensor([3] + [sizes[name] for name in names])
        first = Access(target, (Affine((), 1), *(Affine.of(name) for name in names)))
        by = rng.choice([-1, 0, 1])
        other = (Affine((), rng.randint(0, 2)), *(Affine.of(name, 1, by) for name in names))
        value = Binary("+", Access(target, other), self.operand(sizes, names, plain=True))
        ranges = ranges_of(first, value, False, names)
        if ranges is None:
            return None
        assignment = Assignment(first, value, ranges, in_order=in_order)
        self.program.assignments.append(assignment)
        return assignment

    def sweep(self, results: list[Tensor]) -> Assignment | None:
        return self.in_place(results, in_order=True)

    def time(self) -> bool:
        """Two arrays that compute each other, or one, again and again."""
        rng = self.rng
        steps = rng.choice([1, 2, 3, 4, 5, 7])
        self.most = 3000
        self.alone = False
        program = self.program
        if rng.random() < 0.35:
            first = self.in_place([], in_order=rng.random() < 0.7)
            program.repeat = ("t", steps)
            return first is not None
        rank = rng.choices([1, 2], [1, 1])[0]
        names = self.iterators(rank)
        sizes = {name: max(5, n) for name, n in zip(names, self.extents(rank), strict=True)}
        pair = [self.tensor(list(sizes.values())) for _ in range(2)]
        for k, (source, target) in enumerate([pair, pair[::-1]]):
            if k == 1 and rng.random() < 0.5:
                value: Expr = self.access(source, names)
            else:
                value = self.access(source, names)
                for _ in range(rng.randint(1, 4)):
                    index = [Affine.of(n, 1, rng.choice([0, -1, 1, 1, -2, 2])) for n in names]
                    value = Binary("+", value, Access(source, tuple(index)))
                if self.elem in FLOATS:
                    value = Binary("*", value, Number(0.25))
            if self.finished(value, names, [], sizes, target) is None:
                return False
        program.repeat = ("t", steps)
        return True

    def several(self) -> bool:
        """Assignments of which later ones read what the ones before compute."""
        rng = self.rng
        self.most = 8000
        self.alone = False
        families = [
            self.contraction, self.pointwise, self.reduction, self.stencil, self.windows, self.pieces
        ]  # fmt: skip
        results: list[Tensor] = []
        for k in range(rng.randint(2, 4)):
            if results and rng.random() < 0.6:
                made = self.follower(results)
            elif results and rng.random() < 0.1:
                made = self.in_place(results)
            else:
                made = rng.choices(families, [2, 3, 2, 3, 1, 1])[0](results)
            if made is None:
                return False
            results.append(made.target.tensor)
        return True

    def follower(self, results: list[Tensor]) -> Assignment | None:
        """An assignment of the elements of what was computed last."""
        rng = self.rng
        source = results[-1]
        names = self.iterators(len(source.extents))
        sizes = dict(zip(names, source.extents, strict=True))
        leaves: list[Expr] = [self.access(source, names)]
        if rng.random() < 0.4 and names:
            for _ in range(rng.randint(1, 2)):
                index = [Affine.of(n, 1, rng.choice([0, -1, 1])) for n in names]
                leaves.append(Access(source, tuple(index)))
        if rng.random() < 0.5:
            reused = self.reused(sizes, results) if rng.random() < 0.5 else None
            leaves.append(reused or self.operand(sizes, self.some(names), plain=True))
        value = self.tree(self.varied(leaves, sizes, names), 2)
        if names and rng.random() < 0.15:
            value = self.chosen(value, sizes, names)
        free, summed = names, []
        if names and rng.random() < 0.3:
            free = self.some(names)
            free = [name for name in names if name in free]
            summed = [name for name in names if name not in free]
            if summed:
                value = Reduce(rng.choice(["sum", "max", "min"]), tuple(summed), value)
        if any(len(access.index) for access in value.accesses()) or not free:
            target = None
            if any(affine.constant for leaf in leaves if isinstance(leaf, Access) for affine in leaf.index):
                target = self.tensor([sizes[name] for name in free])
            return self.finished(value, free, summed, sizes, target)
        return None


    def pattern(self) -> bool:
        """What the library has schedules for: a softmax, a product and what comes after it, operators
        on the elements of a mesh, two filters."""
        self.most = 12000
        self.alone = False
        made = self.rng.choice([self.softmax, self.epilogue, self.mesh, self.filters])()
        return made is not None

    def softmax(self) -> Assignment | None:
        """Rows less their greatest element, then over their sum."""
        rng = self.rng
        i, j = self.iterators(2)
        sizes = dict(zip((i, j), self.extents(2), strict=True))
        source = self.tensor(list(sizes.values()))
        row = self.finished(Reduce(rng.choice(["max", "min", "sum"]), (j,), self.access(source, [i, j])), [i], [j], sizes)
        if row is None:
            return None
        if len(row.target.index[0].terms) != 1 or row.elsewhere is not None or row.target.index[0].constant:
            return None
        less: Expr = Binary("-", self.access(source, [i, j]), self.access(row.target.tensor, [i]))
        if self.elem in FLOATS:
            less = Function("exp", Binary("min", less, Number(2.0)))
        target = self.tensor([sizes[i], sizes[j]])
        if self.finished(less, [i, j], [], sizes, target) is None or rng.random() < 0.2:
            return self.program.assignments[-1]
        total = self.tensor([sizes[i]])
        again = self.access(target, [i, j])
        if self.finished(Reduce("sum", (j,), again), [i], [j], sizes, total) is None:
            return None
        over = self.access(total, [i])
        value: Expr = Binary("/", again, self.positive(over)) if rng.random() < 0.7 else Binary("*", again, over)
        return self.finished(value, [i, j], [], sizes, self.tensor([sizes[i], sizes[j]]))

    def epilogue(self) -> Assignment | None:
        """A product, and a function of its elements with a bias."""
        rng = self.rng
        i, j, k, b = self.iterators(4)
        batch = [b] if rng.random() < 0.25 else []
        names = [*batch, i, j, k]
        sizes = dict(zip(names, self.extents(len(names)), strict=True))
        left = self.tensor([sizes[n] for n in [*batch, i, k]])
        right = self.tensor([sizes[n] for n in [*batch, k, j]])
        free = [*batch, i, j]
        product = Binary("*", self.access(left, [*batch, i, k]), self.access(right, [*batch, k, j]), True)
        target = self.tensor([sizes[n] for n in free])
        if self.finished(Reduce("sum", (k,), product), free, [k], sizes, target) is None:
            return None
        value: Expr = self.access(target, free)
        for _ in range(rng.randint(1, 2)):
            other = self.operand(sizes, self.some(free, 1), plain=True)
            value = self.touched(Binary(rng.choice(["+", "*", "-", "max"]), value, other), 2)
        kind = rng.random()
        if kind < 0.2:
            return self.finished(Reduce("sum", (j,), value), free[:-1], [j], sizes)
        if kind < 0.35:
            return self.finished(value, free[:-2] + [j, i], [], sizes)
        return self.finished(value, free, [], sizes, self.tensor([sizes[n] for n in free]))

    def mesh(self) -> Assignment | None:
        """Small contractions on each element."""
        rng = self.rng
        rank = rng.choice([1, 2, 2, 3])
        names = self.iterators(2 * rank + 1)
        e, inner, outer = names[0], names[1 : rank + 1], names[rank + 1 :]
        small = [rng.choice([2, 3, 4, 5, 7]) for _ in range(rank)]
        sizes = {e: self.extent(24)} | dict(zip(inner, small, strict=True)) | dict(zip(outer, small, strict=True))
        now = self.tensor([sizes[e], *small])
        order = list(inner)
        made = None
        for k in range(rank):
            matrix = self.tensor([small[k], small[k]])
            product = Binary("*", self.access(matrix, [outer[k], inner[k]]), self.access(now, [e, *order]), True)
            order[k] = outer[k]
            target = self.tensor([sizes[e], *(sizes[n] for n in order)])
            made = self.finished(Reduce("sum", (inner[k],), product), [e, *order], [inner[k]], sizes, target)
            if made is None:
                return None
            now = target
            if rng.random() < 0.3:
                factor = self.operand(sizes, [e, *order], plain=True)
                target = self.tensor(list(now.extents))
                value = Binary("*", self.access(now, [e, *order]), factor, True)
                made = self.finished(value, [e, *order], [], sizes, target)
                now = target
        return made

    def filters(self) -> Assignment | None:
        """Neighbors in rows, then in columns of what they make."""
        rng = self.rng
        y, x = self.iterators(2)
        sizes = {y: max(5, self.extent()), x: max(5, self.extent())}
        now = self.tensor([sizes[y], sizes[x]])
        made = None
        for k in range(rng.choice([2, 2, 3])):
            offsets = sorted(rng.sample([-2, -1, 0, 1, 2], rng.choice([2, 3, 3])))
            value: Expr | None = None
            for by in offsets:
                index = (Affine.of(y, 1, by if k % 2 else 0), Affine.of(x, 1, 0 if k % 2 else by))
                term: Expr = Access(now, index)
                if rng.random() < 0.4:
                    term = Binary("*", term, self.number())
                value = term if value is None else Binary("+", value, term)
            assert value is not None
            if self.elem in FLOATS and rng.random() < 0.6:
                value = Binary("/", value, Number(float(len(offsets))))
            target = self.tensor(list(now.extents))
            made = self.finished(value, [y, x], [], sizes, target)
            if made is None:
                return None
            now = target
        return made

    def pieces(self, results: list[Tensor]) -> Assignment | None:
        """Boxes of one target, each with a value of its own."""
        rng = self.rng
        rank = rng.choice([1, 1, 2, 2, 3])
        extents = [max(3, n) for n in self.extents(rank, min(self.most, 6000))]
        boxes = [[(0, n) for n in extents]]
        for _ in range(rng.randint(1, 4)):
            box = boxes.pop(rng.randrange(len(boxes)))
            at = rng.randrange(rank)
            low, high = box[at]
            if high - low < 2:
                boxes.append(box)
                continue
            middle = rng.randint(low + 1, high - 1)
            boxes += [box[:at] + [part] + box[at + 1 :] for part in ((low, middle), (middle, high))]
        target = self.tensor(extents)
        otherwise: Number | Access | Assignment | None = None
        given = rng.random() < 0.5
        names = self.iterators(rank)
        if rng.random() < 0.6:
            boxes = self.some(boxes, 1)
            kind = rng.random()
            if kind < 0.4:
                otherwise, given = self.number(), True
            elif kind < 0.7:
                other = self.tensor(extents)
                otherwise = self.access(other, names)
            else:
                value = self.piece(names, dict(zip(names, extents, strict=True)))
                ranges = {name: (0, n) for name, n in zip(names, extents, strict=True)}
                otherwise = Assignment(self.access(target, names), value, ranges)
        else:
            given = False
        parts = []
        for box in self.shuffled(boxes):
            names = self.iterators(rank)
            sizes = {name: high - low for name, (low, high) in zip(names, box, strict=True)}
            if rng.random() < 0.5:
                # Counted from the corner of the box.
                value = self.piece(names, sizes)
                index = tuple(Affine.of(name, 1, low) for name, (low, _) in zip(names, box, strict=True))
                ranges = {name: (0, n) for name, n in sizes.items()}
                parts.append(Assignment(Access(target, index), value, ranges))
            else:
                value = self.piece(names, dict(zip(names, extents, strict=True)))
                ranges = dict(zip(names, box, strict=True))
                within = {
                    name: Range((Affine((), low),), (Affine((), high),)) for name, (low, high) in ranges.items()
                }
                parts.append(Assignment(self.access(target, names), value, ranges, within=within))
        assignment = Partition(target=self.access(target, names), pieces=parts, otherwise=otherwise, given=given)
        self.program.assignments.append(assignment)
        return assignment

    def piece(self, names: list[str], sizes: dict[str, int]) -> Expr:
        """A value that has all of these iterators."""
        rng = self.rng
        leaves: list[Expr] = [self.operand(sizes, self.shuffled(names), plain=True)]
        if rng.random() < 0.5:
            leaves.append(self.operand(sizes, self.some(names), plain=True))
        value = self.tree(self.varied(leaves, sizes, names), 2)
        return self.chosen(value, sizes, names) if rng.random() < 0.15 else value

    # Texts

    def text(self) -> bool:
        """Loops with bounds of all kinds, around statements that read what others have assigned."""
        rng = self.rng
        size = rng.choice([4, 5, 6, 7, 9, 12])
        elems = [self.elem] * 3 + [self.other_type()] * (rng.random() < 0.15)
        tensors = []
        for _ in range(rng.randint(2, 4)):
            with self.typed(rng.choice(elems)):
                tensors.append(self.tensor([size] * rng.choice([0, 1, 1, 2, 2])))
        free = self.iterators(len(ITERATORS))
        empty = Number(0)

        def body(around: list[str]) -> list:
            made: list = []
            for _ in range(rng.choice([1, 1, 2, 2, 3])):
                if len(around) < 3 and free and rng.random() < (0.55 if around else 1.0):
                    name = free.pop()
                    loop = Loop(name, self.bounds(around, size))
                    loop.body = body([*around, name])
                    made.append(loop)
                elif around:
                    made.append(Statement(Access(rng.choice(tensors), ()), "=", empty))
            if not made:
                made.append(Statement(Access(rng.choice(tensors), ()), "=", empty))
            if around and rng.random() < 0.12:
                number = sum(tensor.name.startswith(f"{self.prefix}_L") for tensor in tensors)
                local = Tensor(f"{self.prefix}_L{len(locals_) + number}", (), self.elem)
                locals_[local.name] = local
                made.insert(0, Statement(Access(local, ()), "=", empty))
                made.insert(0, Local(local))
            return made

        locals_: dict[str, Tensor] = {}
        text = Text([item for _ in range(rng.choice([1, 1, 2])) for item in body([])])
        points = text.points()
        if not 0 < sum(len(at) for _, at in points) <= 500:
            return False
        scopes = self.scopes(text)
        for statement, at in points:
            elem = statement.target.tensor.elem
            if statement.target.tensor.name not in locals_:
                statement.target = self.reach(statement.target.tensor, at)
            near = [t for t in scopes[id(statement)] if t is not statement.target.tensor]
            with self.typed(elem):
                self.fill(statement, at, tensors, near)
        self.program.text = text
        return True

    def scopes(self, text: Text) -> dict[int, list[Tensor]]:
        """The local tensors that each statement sees."""
        found: dict[int, list[Tensor]] = {}

        def walk(items: list, seen: list[Tensor]) -> None:
            for item in items:
                if isinstance(item, Local):
                    seen = [*seen, item.tensor]
                elif isinstance(item, Statement):
                    found[id(item)] = seen
                else:
                    walk(item.body, seen)

        walk(text.body, [])
        return found

    def bounds(self, around: list[str], size: int) -> Range:
        rng = self.rng
        lows, highs = [Affine((), rng.choice([0, 0, 0, 1, 2]))], [Affine((), size - rng.choice([0, 0, 1]))]
        if around:
            outer = rng.choice(around)
            kind = rng.random()
            if kind < 0.2:
                highs = [Affine.of(outer, 1, rng.choice([0, 1, 1]))]
            elif kind < 0.4:
                lows = [Affine.of(outer, 1, rng.choice([0, 1, 1]))]
            elif kind < 0.5:
                lows.append(Affine.of(outer, 1, -rng.choice([1, 2])))
                highs.append(Affine.of(outer, 1, rng.choice([1, 2])))
            elif kind < 0.6:
                highs = [Affine.of(outer, -1, size)]
        step = rng.choice([1, 1, 1, 1, 1, 2, 3])
        return Range(tuple(lows), tuple(highs), step)

    def reach(self, tensor: Tensor, points: list[dict[str, int]]) -> Access:
        """An access that stays inside in all of these iterations."""
        rng = self.rng
        index = []
        names = list(points[0]) if points else []
        for n in tensor.extents:
            terms: tuple[tuple[str, int], ...] = ()
            if names and rng.random() < 0.9:
                terms = ((rng.choice(names), rng.choices([1, -1, 2], [12, 1, 1])[0]),)
                if len(names) > 1 and rng.random() < 0.12:
                    other = rng.choice([name for name in names if name != terms[0][0]])
                    terms += ((other, rng.choice([1, -1])),)
            values = [Affine(terms).at(point) for point in points] or [0]
            low, high = min(values), max(values)
            if high - low >= n:
                terms, low, high = (), 0, 0
            constant = rng.choice([0, 0, 0, -1, 1])
            constant = min(max(constant, -low), n - 1 - high)
            index.append(Affine(terms, constant))
        return Access(tensor, tuple(index))

    def fill(
        self, statement: Statement, points: list[dict[str, int]], tensors: list[Tensor], near: list[Tensor]
    ) -> None:
        """Gives a statement its value, and perhaps an update."""
        rng = self.rng
        leaves: list[Expr] = []
        for _ in range(rng.choice([1, 2, 2, 3])):
            tensor = rng.choice(near) if near and rng.random() < 0.5 else rng.choice(tensors)
            leaf: Expr = self.reach(tensor, points)
            if tensor.elem != self.elem:
                if tensor.elem in FLOATS and self.elem not in FLOATS:
                    # What is rounded becomes no integer.
                    leaf = self.number()
                else:
                    leaf = Cast(leaf, tensor.elem, self.elem)
            leaves.append(leaf)
        value = self.tree(leaves, 2)
        if self.elem in FLOATS:
            value = Binary("*", value, Number(0.25))
        is_local = not statement.target.index and "_L" in statement.target.tensor.name
        statement.op = "=" if is_local else rng.choices(["=", "+", "-", "*", "min", "max"], [4, 3, 1, 0.5, 0.5, 0.5])[0]
        statement.value = value


FAMILIES = {
    "contraction": 18,
    "windows": 12,
    "stencil": 12,
    "pointwise": 13,
    "reduction": 12,
    "in_place": 6,
    "sweep": 6,
    "time": 7,
    "several": 18,
    "pattern": 10,
    "library": 8,
    "pieces": 8,
    "text": 16,
}


def program(seed: int, prefix: str, special: bool) -> Program:
    """The program of a seed, which may compute with infinities and what is no number."""
    rng = random.Random(seed)
    family = rng.choices(list(FAMILIES), list(FAMILIES.values()))[0]
    while True:
        maker = Maker(rng, prefix, special)
        try:
            whole = {"time": maker.time, "several": maker.several, "pattern": maker.pattern}
            whole["text"] = maker.text
            made = whole[family]() if family in whole else getattr(maker, family)([])
        except IndexError:
            # More tensors than letters.
            continue
        if not made:
            continue
        used = {a.target.tensor.name for a in maker.program.assignments}
        used |= {x.tensor.name for a in maker.program.assignments for x in a.value.accesses()}
        if maker.program.text:
            statements = maker.program.text.statements()
            used = {x.tensor.name for s in statements for x in [s.target, *s.value.accesses()]}
        maker.program.tensors = {n: t for n, t in maker.program.tensors.items() if n in used}
        maker.program.inputs = {n: x for n, x in maker.program.inputs.items() if n in used}
        maker.program.family = family
        return maker.program
