"""The peers of `benches/peers.py`, one file each, and what all of them know.

A peer is a module with `version()` and `prepare(kernel, arrays, threads)`. The second one does what
users do once, compilation included, and returns a `Prepared`, or `None` where the library has
nothing for the kernel. Importing the module imports the library.
"""

from collections.abc import Callable
from dataclasses import dataclass

# As they stand in tables; teml's plan is measured like any of them.
NAMES = ["teml", "numpy", "jax", "torch", "halide"]


@dataclass(frozen=True)
class Prepared:
    """A computation that is ready to be timed."""

    # Computes everything once, and returns when that is done.
    run: Callable[[], object]
    # What the last run computed, as a NumPy array of the shape of the kernel's reference.
    result: Callable[[], object]
