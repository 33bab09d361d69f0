"""Cases: a program with a schedule, as a part of a script, and what became of it."""

from __future__ import annotations

import dataclasses
import os
import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import families, schedules
from .definitions import Program, differs
from .expressions import TYPES
from .schedules import BUNDLE, PRELUDE, RUN, Step


@dataclass(frozen=True)
class Setting:
    """What all cases of a process have in common."""

    reassociate: bool
    threads: int
    compiler: str
    # Flags that the compiler gets after teml's own.
    flags: str
    # Whether the C is compiled and called as others do, from what `bundle` writes.
    bundled: bool = False


@dataclass
class Case:
    number: int
    program: Program
    steps: list[Step]
    # Whether each step has to keep the meaning, rather than the last one.
    checked: bool
    # The names that were picked where the steps ran, if they are known.
    names: list[list[str]] | None = None

    @property
    def label(self) -> str:
        return f"case_{self.number}"

    def lines(self, inputs: str) -> list[str]:
        """Its part of a script. Tensors are read from the file `inputs`."""
        lines = [f'print("@case {self.number}");', "{", "let PLAN = [];"]
        lines += [f"let CHECKED = {str(self.checked).lower()};", "try {"]
        lines += self.program.definition()
        for name in self.program.inputs:
            if name in self.program.tensors:
                lines.append(f'init({name}, load("{inputs}", "{name}"));')
        lines.append("let BEFORE = [];")
        for k, step in enumerate(self.steps):
            lines.append("BEFORE.push(PLAN);")
            lines.append(step.line(self.names[k] if self.names else None))
        lines += [f'finish("{self.label}", PLAN, BEFORE);', "} catch (failure) {"]
        return [*lines, "print(`@error ${said(failure)}`);", "}", "}"]

    def with_steps(self, kept: list[int]) -> Case:
        names = [self.names[k] for k in kept] if self.names else None
        return dataclasses.replace(self, steps=[self.steps[k] for k in kept], names=names)


@dataclass
class Outcome:
    """What became of a case."""

    case: Case
    # For each step: `ok`, `no`, `illegal`, the message, and the names that were picked.
    steps: list[tuple[str, str, list[str]]] = field(default_factory=list)
    # `right`, `refused` where there is no code, `undefined` where there is no definition, or what was
    # found.
    status: str = "lost"
    message: str = ""

    def accepted(self) -> list[int]:
        return [k for k, (status, _, _) in enumerate(self.steps) if status == "ok"]

    def is_finding(self) -> bool:
        return self.status not in ("right", "refused", "undefined")


def make(seed: int, number: int, special: bool = True) -> Case:
    """The case of a seed and a number, perhaps with infinities and what is no number."""
    rng = random.Random(f"{seed} {number}")
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    prefix = "Q" + letters[number // 24 % 24] + letters[number % 24]
    program = families.program(rng.getrandbits(48), prefix, special)
    steps = schedules.Schedule(rng, program).steps()
    return Case(number, program, steps, rng.random() < 0.8)


def script(cases: list[Case], setting: Setting, inputs: str) -> str:
    """A script of several cases."""
    lines = [PRELUDE, BUNDLE if setting.bundled else RUN]
    if setting.reassociate:
        lines.append('reductions("reassoc");')
    for case in cases:
        lines += case.lines(inputs)
    return "\n".join(lines) + "\n"


def save_inputs(cases: list[Case], path: Path) -> None:
    arrays = {name: x for case in cases for name, x in case.program.inputs.items()}
    np.savez(path, **arrays)


def compare(case: Case, directory: Path, setting: Setting) -> str | None:
    """How the results in a directory differ from NumPy's, if they do."""
    if setting.bundled:
        return called(directory / case.label, setting)
    expected = case.program.results()
    last = case.program.last()
    for name in sorted(case.program.targets()):
        elem = case.program.tensors[name].elem
        path = directory / f"{case.label}_{name}.npy"
        if not path.exists():
            # What a step made local is none.
            if name in last and not any("localize(" in step.text for step in case.steps):
                return f"{name} is no result"
            continue
        found = np.load(path)
        if found.dtype != TYPES[elem]:
            return f"{name} has elements of {found.dtype}"
        wrong = differs(found, expected[name], elem)
        if wrong:
            return f"{name}: {wrong}"
    return None


# What a caller does: tensors begin anywhere, and sanitizers see every access.
CALLER = "-DTEML_OFFSET=8 -g -fsanitize=address,undefined -fno-sanitize-recover=all"


def called(directory: Path, setting: Setting) -> str | None:
    """What is wrong with the C that `bundle` wrote, compared with its own reference."""
    extra = f"EXTRA={CALLER} {setting.flags}".rstrip()
    environment = dict(os.environ, OMP_NUM_THREADS=str(setting.threads), ASAN_OPTIONS="detect_leaks=0")
    command = ["make", "run", "RUNS=0", f"CC={setting.compiler}", extra]
    try:
        done = subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
    except subprocess.TimeoutExpired:
        return "the driver of the bundle does not end"
    if done.returncode == 0:
        return None
    return (done.stdout + done.stderr)[-1500:].replace("\n", " | ")
