"""Times what Python libraries and teml make of the ten kernels, all in the same run.

    python3 benches/peers.py [--size mini|bench] [--kernel NAME]... [--peer NAME]... [--threads N]
                             [--rounds N] [--teml PATH] [--json FILE]

Peers are NumPy, JAX, PyTorch with and without its compiler, and Halide, Exo and TVM with schedules
by hand, each as an expert would write the kernel (`benches/peers/`). What is not installed is left
out, but NumPy is needed:

    pip install numpy jax halide exo-lang apache-tvm
    pip install torch --index-url https://download.pytorch.org/whl/cpu

PyTorch's compiler needs g++ and takes minutes for gconv, once: it keeps what it made. Exo needs gcc
and a processor with AVX-512; Exo and TVM do not have all kernels.

teml's plan is the last variant of the kernel's script: the C of `teml emit`, compiled with the
flags of `teml bench`.

All work on the same inputs, and every result is compared with NumPy's einsum before anything is
timed. Each round measures one after the other: warm, without compilation, and, where a library
lets its user say where a result goes, without allocation. Tables show the shortest run and the
median of the medians of all rounds.
"""

import argparse
import ctypes
import importlib
import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from peers import KERNELS, PEERS, Prepared

# How far a result may be from the reference, relative to the largest element.
TOLERANCE = 1e-9
# What a peer may take in one round, in seconds, and how often it runs in it.
WARM, TIME, FEWEST, MOST = 0.1, 0.4, 2, 20


def main() -> int:
    options = arguments()
    bind(options.threads)
    keep_memory()
    os.environ["TEML"] = options.teml
    try:
        import numpy as np
    except ImportError:
        print("numpy: absent; it checks all others: pip install numpy", file=sys.stderr)
        return 1
    from peers.kernels import kernel

    libraries = {}
    for name in [name for name in PEERS if name in (options.peer or PEERS)]:
        module = name if name == "teml" else f"{name}_peer"
        try:
            libraries[name] = importlib.import_module(f"peers.{module}")
        except (ImportError, OSError) as why:
            print(f"{name}: absent: {why}", file=sys.stderr)
    versions = {name: library.version() for name, library in libraries.items()}
    print(", ".join(f"{name} {version}" for name, version in versions.items()))
    print(f"{options.size} sizes, threads: {options.threads}, rounds: {options.rounds}")

    measured = []
    for name in options.kernel or KERNELS:
        one = kernel(name, options.size)
        arrays = one.arrays()
        expected = one.reference(*arrays.values())
        lines = []
        for peer, library in libraries.items():
            prepared = library.prepare(one, arrays, options.threads)
            if prepared is None:
                continue
            prepared.run()
            error = float(np.abs(prepared.result() - expected).max() / np.abs(expected).max())
            lines.append(Line(peer, prepared, error))
        right = [line for line in lines if line.error <= TOLERANCE]
        for number in range(options.rounds):
            # Nobody always comes after the one whose threads are slow to rest.
            first = number % max(1, len(right))
            for line in right[first:] + right[:first]:
                line.rounds.append(measure(line.prepared.run))
        lines.sort(key=lambda line: line.median)
        data = [line.data() for line in lines]
        measured.append({"kernel": name, "flops": one.flops, "peers": data})
        print(table(name, one.flops, lines), flush=True)
    print(summary(measured, list(libraries)))
    if options.json:
        about = {"size": options.size, "threads": options.threads, "versions": versions}
        Path(options.json).write_text(json.dumps({**about, "kernels": measured}, indent=1) + "\n")
    wrong = [line for group in measured for line in group["peers"] if line["median"] is None]
    return 1 if wrong else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=["bench", "mini"], default="bench")
    parser.add_argument("--kernel", action="append", choices=KERNELS)
    parser.add_argument("--peer", action="append", choices=PEERS)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    built = Path(__file__).resolve().parents[1] / "target" / "release" / "teml"
    help_of_teml = "the binary; target/release/teml by default"
    parser.add_argument("--teml", metavar="PATH", default=str(built), help=help_of_teml)
    parser.add_argument("--json", metavar="FILE", help="write what was measured to a file, too")
    options = parser.parse_args()
    if options.teml != str(built) and not shutil.which(options.teml):
        parser.error(f"--teml: {options.teml} is no program")
    if not 1 <= options.threads <= len(os.sched_getaffinity(0)):
        parser.error(f"--threads: there are {len(os.sched_getaffinity(0))} cores")
    if options.rounds < 1:
        parser.error("--rounds: at least one")
    return options


def bind(threads: int) -> None:
    """As many cores and threads for everyone; libraries ask when they are loaded."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    # OpenBLAS finds out itself what the processor can do; an environment may have it do less.
    for name in [name for name in os.environ if name.startswith("OPENBLAS_")]:
        del os.environ[name]
    for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "HL_NUM_THREADS"]:
        os.environ[name] = str(threads)


def keep_memory() -> None:
    """What a library allocates in a run is memory that it gave back in the last one: nobody waits
    for pages of the system, where the allocator (glibc's) can be told so."""
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        m_trim_threshold, m_mmap_max = -1, -4
        library.mallopt(m_mmap_max, 0)
        library.mallopt(m_trim_threshold, 2**31 - 1)


class Line:
    """What was measured of a peer."""

    def __init__(self, name: str, prepared: Prepared, error: float) -> None:
        self.name, self.prepared, self.error = name, prepared, error
        self.rounds: list[list[float]] = []

    @property
    def median(self) -> float:
        """The median of the medians of rounds; infinite where nothing was timed."""
        medians = [statistics.median(runs) for runs in self.rounds]
        return statistics.median(medians) if medians else float("inf")

    def data(self) -> dict:
        runs = [run for runs in self.rounds for run in runs]
        about = {"name": self.name, "error": self.error, "rounds": self.rounds}
        if not runs:
            return {**about, "min": None, "median": None}
        return {**about, "min": min(runs), "median": self.median}


def measure(run: Callable[[], object]) -> list[float]:
    """The times of some runs, after some that bring caches and threads to where they are used."""
    begin = time.perf_counter()
    while True:
        run()
        if time.perf_counter() - begin > WARM:
            break
    times = []
    while len(times) < FEWEST or (sum(times) < TIME and len(times) < MOST):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return times


def table(kernel: str, flops: int, lines: list[Line]) -> str:
    rows = [
        f"{kernel}:",
        "| peer     | runs |    min, ms | median, ms | rounds | GFLOP/s |   error |",
        "|----------|------|------------|------------|--------|---------|---------|",
    ]
    for line in lines:
        if not line.rounds:
            rows.append(f"| {line.name:<8} | wrong: the error is {line.error:.1e}")
            continue
        medians = [statistics.median(runs) for runs in line.rounds]
        runs = [run for runs in line.rounds for run in runs]
        spread = 100 * (max(medians) - min(medians)) / line.median
        rows.append(
            f"| {line.name:<8} | {len(runs):4} | {1e3 * min(runs):10.3f} "
            f"| {1e3 * line.median:10.3f} | {spread:4.1f} % "
            f"| {flops / line.median / 1e9:7.2f} | {line.error:7.1e} |"
        )
    return "\n".join(rows)


def summary(measured: list[dict], names: list[str]) -> str:
    """One row for each kernel: medians in ms, the fastest, and how teml compares."""
    columns = " | ".join(f"{name + ', ms':>12}" for name in names)
    rows = [
        f"| kernel | {columns} | fastest  | fastest peer over teml |",
        f"|--------|{'--------------|' * len(names)}----------|------------------------|",
    ]
    for group in measured:
        medians = {line["name"]: line["median"] for line in group["peers"] if line["median"]}
        cells = [
            f"{1e3 * medians[name]:12.3f}" if name in medians else f"{'–':>12}" for name in names
        ]
        others = [median for name, median in medians.items() if name != "teml"]
        ratio = f"{min(others) / medians['teml']:.2f}x" if others and "teml" in medians else "–"
        fastest = min(medians, key=medians.get, default="–")
        rows.append(f"| {group['kernel']:<6} | {' | '.join(cells)} | {fastest:<8} | {ratio:>22} |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
