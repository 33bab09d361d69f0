"""teml's plan: the last variant of the kernel's script, as `teml emit` writes it.

The C is compiled with the flags of `teml bench` and called on the same arrays as the peers, so that
its runs can stand between theirs.
"""

import ctypes
import json
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from peers import Prepared
from peers.kernels import Kernel, aligned

ROOT = Path(__file__).resolve().parents[2]
# Kernels are loaded from here.
SPACE = tempfile.TemporaryDirectory()


def binary() -> str:
    """The path of the binary."""
    path = shutil.which(os.environ["TEML"])
    if path is None:
        raise ImportError(f"no {os.environ['TEML']}: cargo build --release")
    return path


binary()


def teml(*arguments: str) -> str:
    return subprocess.run(
        [binary(), *arguments], check=True, capture_output=True, text=True
    ).stdout


def version() -> str:
    return teml("--version").split()[-1]


@cache
def flags() -> list[str]:
    """How `teml bench` compiles, by what it says of a kernel that takes no time."""
    report = Path(SPACE.name) / "flags.json"
    teml("bench", "--size", "mini", "--kernel", "mm", "--curve", "m=17", "--json", str(report))
    return json.loads(report.read_text())["flags"].split()


def prepare(kernel: Kernel, arrays: dict[str, np.ndarray], threads: int) -> Prepared:
    script = ROOT / "scripts" / f"{kernel.name}.rhai"
    source, library = (Path(SPACE.name) / f"{kernel.name}{end}" for end in [".c", ".so"])
    sizes = [f"--set={name}={value}" for name, value in kernel.size.items()]
    teml("emit", str(script), "-o", str(source), *sizes)
    compiler = os.environ.get("CC", "cc")
    visible = "-fvisibility=default"
    subprocess.run([compiler, *flags(), visible, str(source), "-o", str(library)], check=True)

    # The kernels of the file are its functions that are not static.
    name, parameters = re.findall(r"^void (\w+)\((.*?)\)$", source.read_text(), re.M | re.S)[-1]
    output = kernel.new_output()
    buffers = [buffer(text, {**arrays, kernel.output: output}) for text in parameters.split(",")]
    function = getattr(ctypes.CDLL(str(library)), name)
    function.restype = None
    # These keep the arrays.
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in buffers]
    return Prepared(lambda: function(*pointers), lambda: output[kernel.computed])


def buffer(parameter: str, known: dict[str, np.ndarray]) -> np.ndarray:
    """The array for a parameter such as `double (*TEML_RESTRICT A)[5] /* A[8][5] */`."""
    name, extents = re.search(r"/\* (\w+)((?:\[\d+\])+) \*/", parameter).groups()
    shape = tuple(int(extent) for extent in re.findall(r"\d+", extents))
    array = known.get(name)
    if array is None:
        array = aligned(shape)
        array.fill(0)
    assert array.shape == shape, f"{name} is {shape}, not {array.shape}"
    return array
