"""The peers of `benches/peers.py`, one file each, and what all of them know.

A peer is a module with `version()` and `prepare(kernel, arrays, threads)`. The second one does what
users do once, compilation included, and returns a `Prepared`, or nothing for a kernel that the peer
does not have. Importing the module imports the library. To add a peer, write its module,
`NAME_peer.py`, and add its name here.
"""

from collections.abc import Callable
from dataclasses import dataclass

# As they stand in tables; teml's plan is measured like any of them.
PEERS = ["teml", "numpy", "jax", "torch", "inductor", "halide", "exo", "tvm"]
KERNELS = ["mm", "tmm", "bmm", "gconv", "mttkrp", "sddmm", "interp", "helm", "blur", "coars"]


@dataclass(frozen=True)
class Prepared:
    """A computation that is ready to be timed."""

    # Computes everything once, and returns when that is done.
    run: Callable[[], object]
    # What the last run computed, as a NumPy array of the shape of the kernel's reference.
    result: Callable[[], object]
