"""Nests that are written as texts: loops and statements, executed in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .expressions import (
    COMPARISONS,
    WIDE,
    Access,
    Binary,
    Cast,
    Expr,
    Function,
    Number,
    Power,
    Range,
    Scope,
    Select,
    Tensor,
    Value,
)


@dataclass
class Loop:
    name: str
    range: Range
    body: list[Loop | Statement | Local] = field(default_factory=list)


@dataclass
class Statement:
    target: Access
    # `=`, or the operation of an update: `+`, `-`, `*`, `/`, `min`, `max`.
    op: str
    value: Expr


@dataclass
class Local:
    """The declaration of a tensor that each iteration has for itself."""

    tensor: Tensor


Item = Loop | Statement | Local


def inside(body: list[Item]) -> Iterator[Item]:
    for item in body:
        yield item
        if isinstance(item, Loop):
            yield from inside(item.body)


@dataclass
class Text:
    body: list[Item]

    def statements(self) -> list[Statement]:
        return [item for item in inside(self.body) if isinstance(item, Statement)]

    def targets(self) -> set[str]:
        """What is assigned, without what is local."""
        local = {item.tensor.name for item in inside(self.body) if isinstance(item, Local)}
        return {statement.target.tensor.name for statement in self.statements()} - local

    def lines(self, tensors: list[str]) -> str:
        """The text, in which the script puts the declarations of its tensors."""
        lines = [f"${{{name}}}" for name in tensors]

        def write(body: list[Item], depth: int) -> None:
            for item in body:
                indent = "  " * depth
                match item:
                    case Loop():
                        # Steps are spelled differently here.
                        range_ = item.range.text().replace(" by ", " step ")
                        lines.append(f"{indent}for {item.name} in {range_}")
                        write(item.body, depth + 1)
                    case Statement():
                        op = "" if item.op == "=" else item.op
                        lines.append(f"{indent}{printed(item.target)} {op}= {printed(item.value)}")
                    case Local():
                        extents = "".join(f"[{n}]" for n in item.tensor.extents) or "[]"
                        lines.append(f"{indent}local {item.tensor.elem} {item.tensor.name}{extents}")

        write(self.body, 0)
        return "\n".join(lines) + "\n"

    def execute(self, store: dict[str, Value]) -> None:
        """Every iteration after the one before it."""

        def run(body: list[Item], point: dict[str, int]) -> None:
            for item in body:
                match item:
                    case Loop():
                        for at in item.range.at(point):
                            run(item.body, point | {item.name: at})
                    case Local():
                        of = np.zeros(item.tensor.extents, WIDE[item.tensor.elem])
                        store[item.tensor.name] = Value(of, np.zeros_like(of))
                    case Statement():
                        assign(item, point, store)

        run(self.body, {})

    def points(self) -> list[tuple[Statement, list[dict[str, int]]]]:
        """The iterations of each statement."""
        found: dict[int, list[dict[str, int]]] = {id(s): [] for s in self.statements()}

        def run(body: list[Item], point: dict[str, int]) -> None:
            for item in body:
                if isinstance(item, Statement):
                    found[id(item)].append(point)
                elif isinstance(item, Loop):
                    for at in item.range.at(point):
                        run(item.body, point | {item.name: at})

        run(self.body, {})
        return [(s, found[id(s)]) for s in self.statements()]


def assign(statement: Statement, point: dict[str, int], store: dict[str, Value]) -> None:
    target = statement.target
    scope = Scope({name: (at, at + 1) for name, at in point.items()}, target.tensor.elem, store)
    value = statement.value
    if statement.op != "=":
        value = Binary(statement.op, target, value)
    of, off = value.value(scope)
    index = tuple(affine.at(point) for affine in target.index)
    old, old_off = map(np.array, store[target.tensor.name])
    old[index], old_off[index] = np.reshape(of, ()), np.reshape(off, ())
    store[target.tensor.name] = Value(old, old_off)


def printed(of: Expr, inner: bool = False) -> str:
    """An expression as nests print it."""
    match of:
        case Access():
            return of.tensor.name + ("".join(f"[{affine.text()}]" for affine in of.index) or "[]")
        case Number():
            return repr(of.number)
        case Cast():
            return f"{of.elem}({printed(of.of)})"
        case Binary(op="min" | "max"):
            return f"{of.op}({printed(of.left)}, {printed(of.right)})"
        case Binary():
            text = f"{printed(of.left, True)} {of.op} {printed(of.right, True)}"
            return f"({text})" if inner else text
        case Function(function="relu"):
            return f"max({printed(of.of)}, 0)"
        case Function():
            return f"{of.function}({printed(of.of)})"
        case Power():
            return f"pow({printed(of.base)}, {of.exponent!r})"
        case Select():
            assert of.comparison in COMPARISONS
            left, right, yes, no = (printed(child) for child in of.children())
            return f"select({left} {of.comparison} {right}, {yes}, {no})"
    raise ValueError(of)
