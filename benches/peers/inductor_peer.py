"""PyTorch's `torch.compile`: each kernel as one function, of which Inductor makes C++ with vectors
and OpenMP. Results are copied into `into`, which Inductor takes as where to compute them.

Sums of a few terms are written out, and are one loop; products of large matrices would be calls of
the same BLAS as without the compiler, and are left out, but for one with something to fuse.
"""

import numpy as np
import torch
from torch._inductor import config

from peers import Prepared
from peers.kernels import Kernel
from peers.whole_arrays import blur, coars, gconv, helm, interp, sddmm  # noqa: F401

# A sum of 196 terms stays one expression, not a pass through memory for every few of them.
for name in ["realize_cpu_acc_reads_threshold", "realize_cpu_opcount_threshold"]:
    setattr(config, name, 10**6)
config.realize_acc_reads_threshold = config.realize_opcount_threshold = 10**6


def version() -> str:
    return torch.__version__


def prepare(kernel: Kernel, arrays: dict[str, np.ndarray], threads: int) -> Prepared | None:
    function = globals().get(kernel.name)
    if function is None:
        return None
    torch.set_num_threads(threads)
    compiled = torch.compile(lambda into, *inputs: into.copy_(function(*inputs)), dynamic=False)
    output = kernel.new_output()
    into = torch.from_numpy(output)[kernel.computed]
    inputs = [torch.from_numpy(array) for array in arrays.values()]
    # Elements of a mesh whose intermediate results stay in the cache.
    some = {"interp": 500, "helm": 100}.get(kernel.name)
    if some is None:
        return Prepared(lambda: compiled(into, *inputs), lambda: output[kernel.computed])

    def run():
        factor, *tensors = inputs
        for begin in range(0, len(into), some):
            part = slice(begin, begin + some)
            compiled(into[part], factor, *(tensor[part] for tensor in tensors))

    return Prepared(run, lambda: output)


def bmm(a, b):
    return sum(a[:, :, k, None] * b[:, k, None, :] for k in range(a.shape[2]))
