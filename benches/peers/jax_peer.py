"""JAX: each kernel as one function that XLA compiles, with all numbers in double precision.

Sums of a few terms are written out where XLA makes one loop of them, which is quicker than its
products of small matrices.
"""

import os
from importlib.metadata import version as version_of

import numpy as np

from peers import Prepared
from peers.kernels import Kernel
from peers.whole_arrays import blur, coars, gconv, helm, interp, sddmm  # noqa: F401

# Read when the library is loaded; without it, one thread would share its core with others.
if os.environ.get("OMP_NUM_THREADS") == "1":
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def version() -> str:
    return version_of("jax")


def prepare(kernel: Kernel, arrays: dict[str, np.ndarray], threads: int) -> Prepared:
    function = globals()[kernel.name]
    inputs = [jnp.asarray(array) for array in arrays.values()]
    # The last result is given away, so that the next one can be in its place.
    into = jax.jit(lambda _, *inputs: function(*inputs), donate_argnums=0, keep_unused=True)
    last = [jax.jit(function)(*inputs)]
    compiled = into.lower(last[0], *inputs).compile()

    def run():
        last[0] = compiled(last[0], *inputs).block_until_ready()

    return Prepared(run, lambda: np.asarray(last[0]))


def mm(a, b):
    return a @ b


def tmm(a, b):
    return a.T @ b


def bmm(a, b):
    return sum(a[:, :, k, None] * b[:, k, None, :] for k in range(a.shape[2]))


def mttkrp(b, c, d):
    """Some slices at a time, whose products stay in the cache."""
    return jax.lax.map(lambda part: ((part @ d) * c).sum(0), b, batch_size=5)
