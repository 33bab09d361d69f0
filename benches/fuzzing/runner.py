"""Processes of teml that run scripts of several cases, watched from outside."""

from __future__ import annotations

import os
import re
import resource
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from .cases import Case, Outcome, Setting, compare, save_inputs, script

# What a message of a failed run means. The first one that fits counts.
MEANINGS = [
    ("wrong (teml's check)", r"computes a wrong|cannot compare"),
    ("unstable", r"gave another"),
    ("crash", r"crashed \(|ended its process|process that runs kernels failed"),
    ("C that does not compile", r"the C compiler .* refused"),
    ("compiler killed", r"was killed by"),
    ("compiler hangs", r"was still at kernel"),
    ("kernel hangs", r"was still running after"),
    ("writes outside", r"wrote outside"),
    ("bug", r"please report|a bug|panicked|isl_|ErrorIn|not found:|being changed"),
]


@dataclass(frozen=True)
class Runner:
    teml: str
    # Where compiled kernels are kept.
    cache: Path
    # Seconds that a case may take.
    limit: float

    def run(self, cases: list[Case], setting: Setting, again: bool = True) -> list[Outcome]:
        """All cases, in as few processes as can be."""
        outcomes: list[Outcome] = []
        left = list(cases)
        while left:
            made = self.process(left, setting)
            if not made and len(left) > 1 and again:
                # The script cannot be read: one of them is no script at all.
                return outcomes + [o for case in left for o in self.run([case], setting)]
            if not made:
                made = [Outcome(left[0], status="no script")]
            outcomes += made
            left = left[len(made) :]
        return outcomes

    def process(self, cases: list[Case], setting: Setting) -> list[Outcome]:
        """The outcomes of the first cases: all of them, unless one ends the process."""
        with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
            directory = Path(name)
            save_inputs(cases, directory / "inputs.npz")
            (directory / "batch.rhai").write_text(script(cases, setting, "inputs.npz"))
            watch = Watch(cases, self.limit)
            errors = directory / "errors"
            with errors.open("w") as stderr:
                child = subprocess.Popen(
                    self.command("batch.rhai", setting),
                    cwd=directory,
                    env=self.environment(setting),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    start_new_session=True,
                )
                ended = watch.follow(child)
            outcomes = watch.outcomes
            said = errors.read_text(errors="replace").strip()
            if outcomes and outcomes[-1].status == "lost":
                last = outcomes[-1]
                last.status = "bug" if "panicked" in said or child.returncode else "lost"
                last.message = said[-2000:] or f"exit status {child.returncode}"
                if not ended:
                    last.status = "hang"
            elif not outcomes and said:
                outcomes = [Outcome(cases[0], status="no script", message=said[-1500:])][: len(cases) == 1]
            for outcome in outcomes:
                if outcome.case.number in watch.bugs:
                    outcome.status, outcome.message = "bug", watch.bugs[outcome.case.number]
                if outcome.status == "ran":
                    wrong = compare(outcome.case, directory, setting)
                    kind = "wrong (as a caller)" if setting.bundled else "wrong (NumPy)"
                    outcome.status = kind if wrong else "right"
                    outcome.message = wrong or ""
            return outcomes

    def command(self, script: str, setting: Setting) -> list[str]:
        teml = str(Path(self.teml).resolve())
        return [teml, "run", script, "--threads", str(setting.threads), "--time-limit", "10"]

    def start(self, script: str, directory: Path, setting: Setting) -> tuple[str, str]:
        """What a script in a directory prints, and what is said of it."""
        done = subprocess.run(
            self.command(script, setting),
            cwd=directory,
            env=self.environment(setting),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout, done.stderr

    def environment(self, setting: Setting) -> dict[str, str]:
        environment = dict(os.environ, TEML_CACHE_DIR=str(self.cache), NO_COLOR="1")
        compiler = shutil.which(setting.compiler) or setting.compiler
        if setting.flags and not setting.bundled:
            # What comes last counts.
            name = re.sub("[^a-zA-Z0-9]+", "-", f"{setting.compiler} {setting.flags}")
            wrapper = self.cache / "compilers" / name
            if not wrapper.exists():
                wrapper.parent.mkdir(parents=True, exist_ok=True)
                new = wrapper.with_suffix(f".{threading.get_ident()}")
                new.write_text(f'#!/bin/sh\nexec {compiler} "$@" {setting.flags}\n')
                new.chmod(0o755)
                new.replace(wrapper)
            compiler = str(wrapper)
        environment["CC"] = compiler
        return environment


class Watch:
    """Reads what a process prints, and ends it if a case takes too long."""

    def __init__(self, cases: list[Case], limit: float):
        self.cases = {case.number: case for case in cases}
        self.limit = limit
        self.outcomes: list[Outcome] = []
        # Messages of steps that are no refusals.
        self.bugs: dict[int, str] = {}

    def follow(self, child: subprocess.Popen) -> bool:
        """Whether the process ended by itself."""
        assert child.stdout is not None
        os.set_blocking(child.stdout.fileno(), False)
        selector = selectors.DefaultSelector()
        selector.register(child.stdout, selectors.EVENT_READ)
        rest, since, used = b"", time.monotonic(), spent(child.pid)
        while True:
            ready = selector.select(1.0)
            data = child.stdout.read() if ready else None
            if ready and not data:
                child.wait()
                return True
            if data:
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    text = line.decode(errors="replace")
                    if text.startswith("@"):
                        since, used = time.monotonic(), spent(child.pid)
                    self.line(text)
            # Others use the machine, too: what counts is the time that the process was given.
            if time.monotonic() - since > self.limit:
                busy = spent(child.pid) - used
                if busy > self.limit or time.monotonic() - since > 6 * self.limit:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
                    return False

    def never(self, outcome: Outcome, status: str, text: str) -> None:
        """Notes what whole schedules never do to legal nests: refuse, or make illegal ones."""
        op, _, message = text.partition(" ")
        is_legal = outcome.case.checked or not outcome.accepted()
        # Options that no one means, and what it says it does not schedule: loops with steps.
        named = any(w in message for w in ("diamond", "the option", "outside of what is scheduled"))
        if status in ("no", "illegal") and op in ("schedules::optimize", "pluto") and is_legal and not named:
            self.bugs[outcome.case.number] = f"{op}: {status}: {message}"

    def line(self, text: str) -> None:
        kind, _, rest = text.partition(" ")
        if kind == "@case":
            self.outcomes.append(Outcome(self.cases[int(rest)]))
            return
        if not self.outcomes or not kind.startswith("@"):
            return
        last = self.outcomes[-1]
        match kind:
            case "@step":
                last.steps.append(("lost", "", []))
            case "@pick":
                last.steps[-1][2].append(rest)
            case "@ok" | "@no" | "@illegal":
                message = rest.partition(" ")[2]
                if re.search(MEANINGS[-1][1], message):
                    self.bugs[last.case.number] = message
                last.steps[-1] = (kind[1:], message, last.steps[-1][2])
                self.never(last, kind[1:], rest)
            case "@bad":
                self.bugs[last.case.number] = rest
            case "@undone":
                kept = last.accepted()
                if kept:
                    _, message, names = last.steps[kept[-1]]
                    last.steps[kept[-1]] = ("illegal", message, names)
            case "@ran":
                last.status = "ran"
            case "@failed":
                meaning = (name for name, pattern in MEANINGS if re.search(pattern, rest))
                last.status, last.message = next(meaning, "refused"), rest
            case "@error":
                last.status, last.message = "undefined", rest
                if re.search(MEANINGS[-1][1], rest):
                    last.status = "bug"


def spent(process: int) -> float:
    """Seconds that a process and what it started computed, as far as that is known."""
    total = 0.0
    try:
        # The children have its session, which is its own.
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == process:
                total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    return total
