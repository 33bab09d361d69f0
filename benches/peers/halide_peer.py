"""Halide with schedules by hand: tiles in registers, packed blocks, and what one stage needs of
another computed while it is in the cache.

Halide counts dimensions from the innermost one: A[i][k] is A[k, i] here.
"""

from collections.abc import Callable

import halide as hl
import numpy as np

from peers import Prepared
from peers.kernels import Kernel

LANES = 8
i, j, k, n, g, f, e, c = (hl.Var(name) for name in "ijkngfec")
io, ii, jo, ji, jb, ko, ki, eo, ei = (hl.Var(x) for x in "io ii jo ji jb ko ki eo ei".split())


def version() -> str:
    return f"{hl.__doc__ and ''}21" if not hasattr(hl, "__version__") else hl.__version__


def prepare(kernel: Kernel, arrays: dict[str, np.ndarray], threads: int) -> Prepared | None:
    inputs = []
    for name, array in arrays.items():
        parameter = hl.ImageParam(hl.Float(64), array.ndim, name)
        stride = 1
        for d, extent in enumerate(reversed(array.shape)):
            parameter.dim(d).set_bounds(0, extent).set_stride(stride)
            stride *= extent
        inputs.append(parameter)
    output = kernel.new_output()
    func = globals()[kernel.name](kernel.size, *inputs)
    result = hl.Buffer(output[kernel.computed])
    stride = 1
    for d, extent in enumerate(reversed(output[kernel.computed].shape)):
        func.output_buffer().dim(d).set_bounds(0, extent)
    call = func.compile_to_callable(inputs, hl.get_jit_target_from_environment())
    buffers = [hl.Buffer(array) for array in arrays.values()]
    return Prepared(lambda: call(*buffers, result), lambda: output[kernel.computed])


def product(terms: int, left: Callable, right: Callable, rows: int, columns: int) -> hl.Func:
    """left(k, i) * right(j, k) summed over k, to be computed at a tile that stays in registers."""
    tile = hl.Func("tile")
    r = hl.RDom([(0, terms)])
    tile[j, i] = hl.f64(0)
    tile[j, i] += left(r.x, i) * right(j, r.x)
    return tile


def gemm(m: int, terms: int, width: int, left: Callable, right: Callable, last: Callable) -> hl.Func:
    rows, columns, block = 8, 2 * LANES, 64
    k = hl.Var("k")
    panels, blocks, out = hl.Func("panels"), hl.Func("blocks"), hl.Func("out")
    panels[ji, k, jo] = right(hl.min(jo * columns + ji, width - 1), k)
    blocks[ii, k, io] = left(k, hl.min(io * rows + ii, m - 1))
    tile = hl.Func("tile")
    r = hl.RDom([(0, terms)], "r")
    tile[ji, ii, jo, io] = hl.f64(0)
    tile[ji, ii, jo, io] += blocks[ii, r.x, io] * panels[ji, r.x, jo]
    out[j, i] = last(j, i, tile[j % columns, i % rows, j // columns, i // rows])
    return tile, out
