"""Findings: made smaller, kept in a folder, run again."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path

import numpy as np

from .cases import Case, Outcome, Setting, save_inputs, script
from .definitions import differs
from .expressions import Value
from .runner import Runner


def keep(runner: Runner, outcome: Outcome, setting: Setting, folder: Path, seed: int) -> Path:
    """Writes a finding into a folder of its own."""
    case, setting = smaller(runner, outcome, setting)
    where = folder / f"seed_{seed}_{case.label}"
    where.mkdir(parents=True, exist_ok=True)
    save_inputs([case], where / "inputs.npz")
    (where / "case.rhai").write_text(script([case], setting, "inputs.npz"))
    results = case.program.results()
    wide = {name: np.asarray(x.of) for name, x in results.items()}
    arrays = {name: x.astype(np.float64) if x.dtype == np.longdouble else x for name, x in wide.items()}
    off = {f"{name} off": np.asarray(x.off).astype(np.float64) for name, x in results.items()}
    np.savez(where / "expected.npz", **arrays, **off)
    about = {
        "status": outcome.status,
        "label": case.label,
        "elems": {name: tensor.elem for name, tensor in case.program.tensors.items()},
        "setting": dataclasses.asdict(setting),
    }
    (where / "setting.json").write_text(json.dumps(about, indent=1) + "\n")
    (where / "finding.txt").write_text(f"{outcome.status}\n{outcome.message}\n")
    return where


def smaller(runner: Runner, outcome: Outcome, setting: Setting) -> tuple[Case, Setting]:
    """A case with fewer steps, on one thread and with the usual flags where these do, that is the
    same finding."""

    def same(case: Case, setting: Setting) -> bool:
        return runner.run([case], setting)[0].status == outcome.status

    case = outcome.case
    if outcome.status in ("hang", "no script"):
        return case, setting
    # From here on, with the names that were picked.
    names = [list(picked) for _, _, picked in outcome.steps]
    if len(names) == len(case.steps):
        named = dataclasses.replace(case, names=names).with_steps(outcome.accepted())
        case = named if same(named, setting) else case
    for simple in (
        dataclasses.replace(setting, flags="", compiler="gcc"),
        dataclasses.replace(setting, flags=""),
        dataclasses.replace(setting, compiler="gcc"),
    ):
        if simple != setting and same(case, simple):
            setting = simple
            break
    if setting.threads > 1 and same(case, dataclasses.replace(setting, threads=1)):
        setting = dataclasses.replace(setting, threads=1)
    k = 0
    while k < len(case.steps):
        fewer = case.with_steps([j for j in range(len(case.steps)) if j != k])
        if same(fewer, setting):
            case = fewer
        else:
            k += 1
    return case, setting


def again(runner: Runner, where: Path) -> int:
    """Runs a finding that was kept, and says what it computes now."""
    about = json.loads((where / "setting.json").read_text())
    setting = Setting(**about["setting"])
    expected = np.load(where / "expected.npz")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        directory = Path(name)
        for file in ("case.rhai", "inputs.npz"):
            (directory / file).write_bytes((where / file).read_bytes())
        printed, said = runner.start("case.rhai", directory, setting)
        print(printed + said)
        failed = "@ran" not in printed
        for file in sorted(directory.glob("*.npy")):
            tensor = file.stem.removeprefix(about["label"] + "_")
            value = Value(expected[tensor], expected[f"{tensor} off"])
            wrong = differs(np.load(file), value, about["elems"][tensor])
            print(f"{tensor}: {wrong or 'as NumPy says'}")
            failed = failed or wrong is not None
    return 1 if failed else 0
