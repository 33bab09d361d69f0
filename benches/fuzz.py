"""Random scripts through `teml run`, their results compared with NumPy's.

    python3 benches/fuzz.py [--cases N] [--seed S] [--jobs J] [--keep DIR] [--time-limit SECONDS]
                            [--first K] [--teml PATH] [--json FILE] [--compilers]
    python3 benches/fuzz.py --again DIR/CASE [--teml PATH]

A case is a program (contractions, windows, stencils, chains of functions, reductions, broadcasts,
assignments in place, sweeps, time loops, several assignments, partitions, nests as texts; f64, f32,
i32, i64, converted and compared; given ranges; rank 0 to 5, extents 1 to about 40) and a schedule: up to ten operations and more, the library's schedules and
`pluto` among them, on loops and tensors that are picked where the script runs. What an operation
refuses is left out, and so is what `check` calls illegal. NumPy, which knows nothing of teml, says
what each tensor has to hold, and how far rounding may lead from it.

The tool says which operations there are (`teml doc`). One that no case can call is an error at
the start, and one that none of a thousand cases has called is an error at the end.

Cases run twenty in a process, with one of several compilers, numbers of threads and flags: lanes of
other machines, poisoned local tensors, sanitizers. With `--compilers`, each runs under all of these:
gcc at -O0 to -O3, clang, UBSan, and ASan as a caller would see it. Everything follows from `--seed` and the number
of a case.

Findings are wrong values, crashes, C that does not compile, panics, messages that ask for a report,
legal nests for which `schedules::optimize` or `pluto` gives an error or an illegal nest, and cases or steps that take longer than the time limit. Each is made smaller as long as it stays
the same finding, and kept in a folder of its own, three of a kind: `case.rhai`, `inputs.npz`, `expected.npz` and
`finding.txt`. `--again` runs one once more. The exit status is 1 if there are findings.

Needs Python 3.11 and NumPy.
"""

import argparse
import dataclasses
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzzing import keep
from fuzzing.cases import Outcome, Setting, make
from fuzzing.runner import Runner

# Cases of one process.
BATCH = 20
# How many processes bundle C, which is called with sanitizers, rather than run it.
BUNDLED = 0.1
# Compilers, which may be missing, and flags that they get after teml's own.
COMPILERS = ["gcc", "gcc", "gcc", "gcc", "gcc-11", "clang-16", "clang"]
FLAGS = [
    "",
    "",
    "",
    "-DTEML_POISON=1",
    "-DTEML_POISON=2 -O2",
    "-march=x86-64-v3",
    "-march=x86-64",
    "-DTEML_MVEC=0",
    "-fsanitize=undefined -fsanitize-undefined-trap-on-error",
]
# What `--compilers` runs each case under.
EVERY = [
    Setting(True, 2, "gcc", "-O0"),
    Setting(False, 2, "gcc", "-O1"),
    Setting(True, 2, "gcc", "-O2"),
    Setting(False, 2, "gcc", "-O3"),
    Setting(True, 2, "clang", ""),
    Setting(False, 1, "gcc", "-fsanitize=undefined -fsanitize-undefined-trap-on-error"),
    Setting(True, 2, "gcc", "", bundled=True),
]
# Topics of the reference that list the table of operations.
TABLE = ("tensors", "expressions", "transformations")
# These make no values of a case, or need sizes or the same computation in other steps, which tests in
# Rust have.
APART = ("elem", "size", "specialize", "prefer", "redefine", "bind", "indices", "scatter")


def main() -> int:
    options = arguments()
    cache = Path(options.cache or tempfile.mkdtemp(prefix="teml-fuzz-"))
    runner = Runner(options.teml, cache.resolve(), options.time_limit)
    try:
        if options.again:
            return keep.again(runner, Path(options.again))
        return fuzz(options, runner)
    finally:
        if not options.cache:
            shutil.rmtree(cache, ignore_errors=True)


def fuzz(options: argparse.Namespace, runner: Runner) -> int:
    total = Summary(operations(options.teml))
    kinds: Counter = Counter()
    start = time.monotonic()
    last = options.first + options.cases
    batches = [range(k, min(k + BATCH, last)) for k in range(options.first, last, BATCH)]
    with ThreadPoolExecutor(options.jobs) as pool:
        for done in pool.map(lambda batch: run(runner, options, batch), batches):
            for outcome, setting in done:
                total.add(outcome)
                kind = re.sub(r"[0-9]+|`[^`]*`|Q[A-Z]+_[A-Z]", "", outcome.status + outcome.message[:120])
                if outcome.is_finding():
                    kinds[kind] += 1
                if outcome.is_finding() and kinds[kind] <= 3:
                    where = keep.keep(runner, outcome, setting, Path(options.keep), options.seed)
                    print(f"case {outcome.case.number}: {outcome.status}: {where}", flush=True)
                    print(f"    {outcome.message[:300]}", flush=True)
    print(total.text())
    print(f"seed {options.seed}, {time.monotonic() - start:.0f} s")
    if options.json:
        Path(options.json).write_text(json.dumps(total.data(), indent=1) + "\n")
    return 1 if total.findings() or total.uncalled() else 0


def operations(teml: str) -> list[str]:
    """The table of operations, of which each has to be one that cases can call."""
    page = subprocess.run([teml, "doc"], capture_output=True, text=True, check=True).stdout
    names: list[str] = []
    for topic in TABLE:
        chapter = page.partition(f'<section id="topic-{topic}">')[2].partition("</section>")[0]
        names += re.findall(r'<h3[^>]*><a href="#([a-z_0-9]+)">', chapter)
    if len(names) < 20:
        sys.exit(f"`{teml} doc` lists no operations")
    here = Path(__file__).resolve().parent / "fuzzing"
    known = "\n".join(path.read_text() for path in here.glob("*.py"))
    names = [name for name in names if name not in APART]
    unknown = [name for name in names if not re.search(rf'\b{name}\(|"v?{name}"', known)]
    if unknown:
        sys.exit(f"no case calls {', '.join(unknown)}: see fuzzing/schedules.py and expressions.py")
    return names


def run(runner: Runner, options: argparse.Namespace, numbers: range) -> list[tuple[Outcome, Setting]]:
    seed = options.seed
    if options.compilers:
        cases = [make(seed, number) for number in numbers]
        settings = [setting for setting in EVERY if shutil.which(setting.compiler)]
        return [(outcome, setting) for setting in settings for outcome in runner.run(cases, setting)]
    rng = random.Random(f"{seed} {numbers[0]}")
    compiler = rng.choice([name for name in COMPILERS if shutil.which(name)] or ["cc"])
    flags = rng.choice(FLAGS)
    if "trap" in flags and "clang" in compiler:
        flags = "-fsanitize=undefined -fsanitize-trap=undefined"
    bundled = rng.random() < BUNDLED
    if bundled and ("sanitize" in flags or "MVEC" in flags):
        flags = ""
    setting = Setting(rng.random() < 0.5, rng.choice([1, 2, 2, 3]), compiler, flags, bundled)
    # Signaling numbers stop a kernel, and so do operations that have no value.
    special = "POISON=1" not in flags
    cases = [make(seed, number, special) for number in numbers]
    return [(outcome, setting) for outcome in runner.run(cases, setting)]


@dataclasses.dataclass
class Summary:
    table: list[str]
    calls: Counter = dataclasses.field(default_factory=Counter)
    statuses: Counter = dataclasses.field(default_factory=Counter)
    families: Counter = dataclasses.field(default_factory=Counter)
    lengths: Counter = dataclasses.field(default_factory=Counter)
    steps: dict[str, Counter] = dataclasses.field(default_factory=lambda: defaultdict(Counter))

    def add(self, outcome: Outcome) -> None:
        self.statuses[outcome.status] += 1
        self.families[f"{outcome.case.program.family} {outcome.case.program.elem}"] += 1
        self.lengths[len(outcome.accepted())] += 1
        if outcome.status != "undefined":
            called = re.findall(r"\b[a-z_0-9]+(?=\()", "\n".join(outcome.case.program.definition()))
            self.calls.update(set(called) & set(self.table))
        for step, (status, _, _) in zip(outcome.case.steps, outcome.steps, strict=False):
            if status == "ok":
                called = re.findall(r"\b[a-z_0-9]+(?=\()", step.text)
                # The script has functions that call these.
                called.append(step.op)
                self.calls.update(set(called) & set(self.table))
        for step, (status, _, _) in zip(outcome.case.steps, outcome.steps, strict=False):
            self.steps[step.op][status] += 1

    def findings(self) -> int:
        usual = ("right", "refused", "undefined")
        return sum(count for status, count in self.statuses.items() if status not in usual)

    def uncalled(self) -> list[str]:
        """What none of many cases has called."""
        if self.statuses.total() < 1000:
            return []
        return [name for name in self.table if not self.calls[name]]

    def rows(self) -> Iterator[tuple[str, int, int, int]]:
        for op, counts in sorted(self.steps.items()):
            yield op, counts["ok"], counts["no"], counts["illegal"]

    def text(self) -> str:
        lines = [f"{'operation':28}{'accepted':>9}{'refused':>9}{'illegal':>9}"]
        sums = [0, 0, 0]
        for op, *counts in self.rows():
            lines.append(f"{op:28}" + "".join(f"{count:9}" for count in counts))
            sums = [total + count for total, count in zip(sums, counts, strict=True)]
        lines.append(f"{'all':28}" + "".join(f"{count:9}" for count in sums))
        calls = ", ".join(f"{name} {self.calls[name]}" for name in self.table)
        lines.append(f"cases with each operation: {calls}")
        if self.uncalled():
            lines.append(f"no case has called {', '.join(self.uncalled())}")
        scheduled = sum(count for steps, count in self.lengths.items() if steps)
        lines.append(
            f"{self.statuses.total()} cases, {scheduled} of them with a schedule: "
            + ", ".join(f"{count} {status}" for status, count in self.statuses.most_common())
        )
        return "\n".join(lines)

    def data(self) -> dict[str, object]:
        return {
            "statuses": self.statuses,
            "families": self.families,
            "accepted steps": self.lengths,
            "operations": self.steps,
            "calls": self.calls,
        }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--keep", default="fuzz-findings", help="where findings are kept")
    parser.add_argument("--time-limit", type=float, default=20, help="seconds for a step of a case")
    parser.add_argument("--compilers", action="store_true", help="each case under many compilers")
    parser.add_argument("--cache", help="where compiled kernels are kept, if they are to be")
    parser.add_argument("--json", help="a file for the counts")
    parser.add_argument("--again", metavar="DIR", help="runs a finding that was kept once more")
    root = Path(__file__).resolve().parent.parent
    teml = os.environ.get("TEML", str(root / "target/release/teml"))
    parser.add_argument("--teml", default=teml, help="the binary ($TEML, target/release/teml)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
