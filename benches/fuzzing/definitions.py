"""Assignments and programs of them: their text, and what they compute."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from .expressions import (
    BINARY,
    FLOATS,
    FUNCTIONS,
    REDUCTIONS,
    UNIT,
    WIDE,
    Access,
    Binary,
    Cast,
    Expr,
    Function,
    Number,
    Power,
    Range,
    Reduce,
    Scope,
    Select,
    Tensor,
    Value,
)
from .texts import Text


# Below, numbers lose digits, or are zero.
TINY = {"f64": 1e-290, "f32": 1e-30}


@dataclass
class Assignment:
    target: Access
    value: Expr
    # The values of all iterators: the target's in its order, then those that are summed.
    ranges: dict[str, tuple[int, int]]
    # What the elements get that no iteration assigns.
    elsewhere: float | None = None
    # Elements are assigned one after the other, of what the ones before have become.
    in_order: bool = False
    # Iterators that the target does not have: each of their values adds to it.
    added: Expr | None = None
    # How the script says it, if not as an expression with iterators.
    spelled: str | None = None
    # Whether the extents are given with the assignment, rather than before it.
    given: bool = False
    # Ranges that the script gives, within the values above.
    within: dict[str, Range] = field(default_factory=dict)
    # Whether the operation that also assigns says it: `add`, `tanh`, `select`, `cast`, `sum`.
    direct: bool = False

    def lines(self, declared: set[str]) -> list[str]:
        """The script's lines; `declared` are the variables that there are."""
        name = self.target.tensor.name
        text = self.spelled or self.text()
        if name in declared:
            return [f"{name} = {text};"]
        if self.spelled or self.given:
            return [f"let {name} = {text};"]
        return [f"let {name} = {self.target.tensor.declared()};", f"{name} = {text};"]

    def text(self) -> str:
        extents = ""
        if self.given:
            extents = f", [{', '.join(map(str, self.target.tensor.extents))}]"
            if self.elsewhere is not None:
                extents += f", {self.elsewhere!r}"
        summed = self.value.over if isinstance(self.value, Reduce) else ()
        value = self.value.text(given(self.within, summed)) if summed else self.value.text()
        ranges = given(self.within, [name for name in self.within if name not in summed])
        shortly = self.shortly() if self.direct and not extents and not self.within else None
        return shortly or f"eq({value}, {self.target.list()}{extents}{ranges})"

    def shortly(self) -> str | None:
        """The assignment by the operation of its value, if one assigns."""
        value = self.value

        def called(name: str, operands: list[Expr], word: str = "") -> str:
            lists = [o.list() if isinstance(o, Access) and not o.order else "()" for o in operands]
            names = [o.tensor.name if isinstance(o, Access) and not o.order else o.text() for o in operands]
            if word:
                names.insert(1, f'"{word}"')
            given = f"[{', '.join(lists)}]" if len(operands) > 1 else lists[0]
            return f"{name}({', '.join(names)}, {given} -> {self.target.list()})"

        match value:
            case Binary() if not all(isinstance(o, Number) for o in value.children()):
                return called(BINARY[value.op].removeprefix("v"), value.children())
            case Function():
                return called(FUNCTIONS[value.function].removeprefix("v"), value.children())
            case Power():
                return called("pow", [value.base, Number(value.exponent)])
            case Select():
                return called("select", value.children(), value.comparison)
            case Cast():
                return called("cast", value.children(), value.elem)
            case Reduce():
                rest = [name for name in value.of.iterators() if name not in value.over]
                if rest == [affine.alone() for affine in self.target.index]:
                    name = REDUCTIONS[value.kind].removeprefix("v")
                    return f"{name}({value.of.text()}, [{', '.join(value.over)}])"
        return None

    def execute(self, store: dict[str, Value]) -> None:
        if not self.in_order:
            return self.assign(store, self.ranges)
        names = list(self.ranges)
        for point in itertools.product(*(range(*self.ranges[name]) for name in names)):
            self.assign(store, {name: (at, at + 1) for name, at in zip(names, point, strict=True)})
        return None

    def assign(self, store: dict[str, Value], ranges: dict[str, tuple[int, int]]) -> None:
        tensor = self.target.tensor
        scope = Scope(ranges, tensor.elem, store, self.within)
        of, off = self.value.value(scope)
        of_target = self.target.iterators()
        free = [name for name in scope.axes if name in of_target]
        shape = [scope.values[name].size for name in free]
        shape += [1] * (len(scope.axes) - len(free))
        if self.added is not None:
            of, off = self.accumulated(scope)
        of, off = np.broadcast_to(of, shape), np.broadcast_to(off, shape)
        index = tuple(np.broadcast_to(one, shape) for one in scope.index(self.target.index))
        if self.within:
            inside = np.broadcast_to(scope.inside(free), shape)
            of, off = of[inside], off[inside]
            index = tuple(one[inside] for one in index)
        old, old_off = store[tensor.name]
        if self.elsewhere is not None:
            old, old_off = np.full_like(old, self.elsewhere), np.zeros_like(old_off)
        new, new_off = old.copy(), old_off.copy()
        if tensor.extents:
            new[index], new_off[index] = of, off
        else:
            new, new_off = np.array(of).reshape(()).copy(), np.array(off).reshape(()).copy()
        store[tensor.name] = Value(new, new_off)

    def accumulated(self, scope: Scope) -> tuple[np.ndarray, np.ndarray]:
        """What the target held, and the sum of what each iteration adds."""
        assert self.added is not None
        free = self.target.iterators()
        extra = tuple(k for k, name in enumerate(scope.axes) if name not in free)
        shape = [scope.values[name].size for name in scope.axes]
        a, da = (np.broadcast_to(x, shape) for x in self.added.value(scope))
        x, dx = self.target.value(scope)
        count = int(np.prod([shape[k] for k in extra])) + 1
        of = x + np.add.reduce(a, axis=extra, keepdims=True, dtype=a.dtype)
        most = np.abs(x) + dx + np.add.reduce(np.abs(a) + da, axis=extra, keepdims=True)
        off = dx + np.add.reduce(da, axis=extra, keepdims=True)
        if self.target.tensor.elem in FLOATS:
            off = off + count * UNIT[self.target.tensor.elem] * most
        return of, off


def given(ranges: dict[str, Range], names: Iterable[str]) -> str:
    """An argument that gives ranges to these iterators, if any have one."""
    texts = [f"{name}: {ranges[name].text()}" for name in names if name in ranges]
    return f", #{{{', '.join(texts)}}}" if texts else ""


class Several(Expr):
    """The values of several pieces."""

    def __init__(self, values: list[Expr]):
        self.values = values

    def children(self) -> list[Expr]:
        return self.values


class Partition(Assignment):
    """Pieces of one target, of which each has assignments of its own elements."""

    def __init__(
        self,
        target: Access,
        pieces: list[Assignment],
        otherwise: Number | Access | Assignment | None,
        given: bool,
    ):
        values = [piece.value for piece in pieces]
        if isinstance(otherwise, Assignment):
            values.append(otherwise.value)
        elif isinstance(otherwise, Access):
            values.append(otherwise)
        super().__init__(target, Several(values), {}, given=given)
        self.pieces = pieces
        self.otherwise = otherwise

    def text(self) -> str:
        pieces = ", ".join(piece.text() for piece in self.pieces)
        otherwise = ""
        if isinstance(self.otherwise, Number):
            otherwise = ", " + self.otherwise.text()
        elif isinstance(self.otherwise, Access):
            otherwise = ", " + self.otherwise.tensor.name
        elif self.otherwise:
            otherwise = ", " + self.otherwise.text()
        extents = ""
        if self.given and isinstance(self.otherwise, Number):
            extents = f", [{', '.join(map(str, self.target.tensor.extents))}]"
        return f"partition([{pieces}]{otherwise}{extents})"

    def execute(self, store: dict[str, Value]) -> None:
        name, elem = self.target.tensor.name, self.target.tensor.elem
        before = dict(store)
        of, off = store[name]
        if isinstance(self.otherwise, Number):
            of, off = np.full_like(of, self.otherwise.number), np.zeros_like(off)
        elif isinstance(self.otherwise, Access):
            of, off = store[self.otherwise.tensor.name]
        elif self.otherwise:
            part = dict(before)
            self.otherwise.assign(part, self.otherwise.ranges)
            of, off = part[name]
        of, off = of.copy(), off.copy()
        for piece in self.pieces:
            part = dict(before)
            part[name] = Value(of, off)
            if any(x.tensor.name == name for x in piece.value.accesses()):
                raise ValueError("a piece that reads the target")
            piece.assign(part, piece.ranges)
            of, off = part[name]
        store[name] = Value(of, off)


@dataclass
class Program:
    """Assignments, each with a nest of its own."""

    elem: str
    family: str
    tensors: dict[str, Tensor] = field(default_factory=dict)
    # What the tensors hold at first.
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    assignments: list[Assignment] = field(default_factory=list)
    # The target of an assignment that becomes several, and how: a call in the script.
    algebra: tuple[str, str] | None = None
    # A loop in time around all of them, and its number of steps.
    repeat: tuple[str, int] | None = None
    # Instead of assignments: a nest that is written as a text.
    text: Text | None = None

    def targets(self) -> set[str]:
        if self.text:
            return self.text.targets()
        return {a.target.tensor.name for a in self.assignments}

    def definition(self) -> list[str]:
        """Lines that put the nests into the list `PLAN`."""
        if self.text:
            lines = [f"let {name} = {tensor.declared()};" for name, tensor in self.tensors.items()]
            return [*lines, f"PLAN.push(nest(`\n{self.text.lines(list(self.tensors))}`));"]
        targets = {a.target.tensor.name for a in self.assignments}
        read = {x.tensor.name for a in self.assignments for x in a.value.accesses()}
        early = set()
        for assignment in self.assignments:
            own = {x.tensor.name for x in assignment.value.accesses()}
            early |= own & (targets - {a.target.tensor.name for a in self.before(assignment)})
        inputs = [name for name in self.tensors if name in read - targets or name in early]
        lines = [f"let {name} = {self.tensors[name].declared()};" for name in inputs]
        declared = set(inputs)
        for assignment in self.assignments:
            lines += assignment.lines(declared)
            declared.add(assignment.target.tensor.name)
            if self.algebra and assignment.target.tensor.name == self.algebra[0]:
                several = f"let STEPS = []; try {{ STEPS = {self.algebra[1]}; }} catch {{}}\n"
                several += f"if STEPS.is_empty() {{ STEPS = [{assignment.target.tensor.name}]; }}\n"
                lines.append(several + "for STEP in STEPS { PLAN.push(build(STEP)); }")
                continue
            make = "sweep" if assignment.in_order else "build"
            lines.append(f"PLAN.push({make}({assignment.target.tensor.name}));")
        if self.repeat:
            while_more = "while PLAN.len() > 1 {\n    let SECOND = PLAN.remove(1);\n"
            lines.append(while_more + "    PLAN[0] = fuse_outer(PLAN[0], SECOND, 0);\n}")
            iterator, steps = self.repeat
            lines.append(f'PLAN[0] = PLAN[0].repeat("{iterator}", {steps});')
        return lines

    def before(self, assignment: Assignment) -> Iterator[Assignment]:
        return itertools.takewhile(lambda a: a is not assignment, self.assignments)

    def results(self) -> dict[str, Value]:
        """What all tensors hold in the end."""
        store = {}
        for name, array in self.inputs.items():
            of = array.astype(WIDE[self.tensors[name].elem])
            store[name] = Value(of, np.zeros_like(of))
        steps = self.repeat[1] if self.repeat else 1
        with np.errstate(all="ignore"):
            if self.text:
                self.text.execute(store)
            for _ in range(steps):
                for assignment in self.assignments:
                    assignment.execute(store)
        return store

    def last(self) -> set[str]:
        """The tensors that are results whatever a schedule does: nothing reads them later."""
        if self.text:
            return self.targets()
        final = set()
        for k, assignment in enumerate(self.assignments):
            name = assignment.target.tensor.name
            later = self.assignments[k + 1 :]
            used = {x.tensor.name for a in later for x in a.value.accesses()}
            if name not in used | {a.target.tensor.name for a in later} and not self.repeat:
                final.add(name)
        return final


def differs(found: np.ndarray, expected: Value, elem: str) -> str | None:
    """Where a kernel computed something else than it may, in words."""
    of, off = expected
    if found.shape != of.shape:
        return f"shape {found.shape} instead of {of.shape}"
    if elem not in FLOATS:
        wrong = found != of
    else:
        off = 2 * off + 4 * UNIT[elem] * np.abs(of)
        # Beyond, what is computed first decides whether a number overflows.
        known = np.isfinite(of) & np.isfinite(off) & (np.abs(of) + off < 1e30)
        with np.errstate(all="ignore"):
            wrong = known & ~(np.abs(found.astype(of.dtype) - of) <= off + TINY[elem])
    if not wrong.any():
        return None
    at = tuple(int(k) for k in np.argwhere(wrong)[0]) if of.shape else ()
    place = "".join(f"[{k}]" for k in at)
    return f"{int(wrong.sum())} of {of.size} elements, first {place}: {found[at]} instead of {of[at]}"
