"""TVM with TensorIR schedules by hand: tiles in registers, packed panels, and blocks of rows that
the level 2 cache holds. Products and sums are fused by LLVM."""

import os
from collections.abc import Callable

import numpy as np
import tvm
from tvm import s_tir, te

from peers import Prepared
from peers.kernels import Kernel, aligned

# f64 in a vector register.
LANES = 8


def version() -> str:
    return tvm.__version__


def prepare(kernel: Kernel, arrays: dict[str, np.ndarray], threads: int) -> Prepared | None:
    if kernel.name not in globals():
        return None
    os.environ["TVM_NUM_THREADS"] = str(threads)
    inputs = [te.placeholder(x.shape, "float64", name) for name, x in arrays.items()]
    schedule = globals()[kernel.name](*inputs, **kernel.size)
    processor = tvm.target.codegen.llvm_get_system_cpu()
    target = tvm.target.Target({"kind": "llvm", "mcpu": processor})
    call = tvm.compile(schedule.mod, target=target)["main"]
    output = kernel.new_output()
    tensors = [tvm.runtime.from_dlpack(x) for x in [*arrays.values(), output]]
    return Prepared(lambda: call(*tensors), lambda: output[kernel.computed])


def divisor(number: int, most: int) -> int:
    return max(d for d in range(1, most + 1) if number % d == 0)


def in_registers(s: s_tir.Schedule, rows: list, column) -> None:
    """All rows and columns of a tile at once."""
    vectors, lanes = s.split(column, [None, LANES])
    s.reorder(*rows, vectors, lanes)
    for loop in [*rows, vectors]:
        s.unroll(loop)
    s.vectorize(lanes)


def sum_in_registers(s: s_tir.Schedule, name: str, loop, axes: int) -> None:
    """The sum of a tile, which is computed at a loop, for all terms."""
    tile = s.get_sblock(name)
    s.compute_at(tile, loop, preserve_unit_loops=True)
    *rows, column, term = s.get_loops(tile)[-axes - 1 :]
    s.reorder(term, *rows, column)
    in_registers(s, rows, column)
    first = s.decompose_reduction(tile, term)
    *rows, vectors, lanes = s.get_loops(first)[-axes - 1 :]
    for loop in [*rows, vectors]:
        s.unroll(loop)
    s.vectorize(lanes)


def pack(s: s_tir.Schedule) -> None:
    panel, _, column = s.get_loops(s.get_sblock("panels"))
    s.parallel(panel)
    in_registers(s, [], column)


def gemm(
    inputs: list, left: Callable, right: Callable, last: Callable, m: int, n: int, k: int
) -> s_tir.Schedule:
    """The sum over r of left(i, r) * right(r, j), of which `last` makes the result."""
    width, height = 3 * LANES, divisor(m, 8)
    # Rows that half of the level 2 cache holds, panels that half of the level 3 cache does.
    rows = divisor(m // height, max(1, 2**16 // (height * k)))
    some = max(1, 2**21 // (width * k))
    count = -(-n // width)
    r = te.reduce_axis((0, k), "r")
    panels = te.compute(
        (count, k, width), lambda p, r, j: right(r, te.min(p * width + j, n - 1)), "panels"
    )
    term = lambda i, j: left(i, r) * panels[j // width, r, j % width]
    tile = te.compute((m, count * width), lambda i, j: te.sum(term(i, j), r), "tile")
    out = te.compute((m, n), lambda i, j: last(i, j, tile[i, j]), "out")
    s = s_tir.Schedule(te.create_prim_func([*inputs, out]))

    pack(s)
    i, j = s.get_loops(s.get_sblock("out"))
    ib, io, ii = s.split(i, [None, rows, height])
    jb, jo, ji = s.split(j, [None, some, width])
    s.reorder(jb, ib, jo, io, ii, ji)
    s.parallel(ib)
    in_registers(s, [ii], ji)
    sum_in_registers(s, "tile", io, 2)
    return s


def mm(a, b, m, n, k):
    return gemm([a, b], lambda i, r: a[i, r], lambda r, j: b[r, j], lambda i, j, x: x, m, n, k)


def tmm(a, b, m, n, k):
    return gemm([a, b], lambda i, r: a[r, i], lambda r, j: b[r, j], lambda i, j, x: x, m, n, k)


def sddmm(b, c, d, m, n, k):
    scaled = lambda i, j, x: b[i, j] * x
    return gemm([b, c, d], lambda i, r: c[i, r], lambda r, j: d[r, j], scaled, m, n, k)


def bmm(left, right, b, m, n, k):
    """Factors are small enough to be read where they are."""
    width = divisor(n, 9 * LANES)
    height = divisor(m, max(1, 18 * LANES // width))
    r = te.reduce_axis((0, k), "r")
    term = lambda e, i, j: left[e, i, r] * right[e, r, j]
    tile = te.compute((b, m, n), lambda *at: te.sum(term(*at), r), "tile")
    out = te.compute((b, m, n), lambda *at: tile[at], "out")
    s = s_tir.Schedule(te.create_prim_func([left, right, out]))

    e, i, j = s.get_loops(s.get_sblock("out"))
    (io, ii), (jo, ji) = s.split(i, [None, height]), s.split(j, [None, width])
    s.reorder(e, jo, io, ii, ji)
    s.parallel(e)
    in_registers(s, [ii], ji)
    sum_in_registers(s, "tile", io, 2)
    return s


def mttkrp(b, c, d, i, j, k, l):
    """Each tile of a slice's product with D is scaled and summed while it is in registers."""
    width, height = 2 * LANES, divisor(k, 12)
    count = -(-j // width)
    r, y = te.reduce_axis((0, l), "r"), te.reduce_axis((0, k), "y")
    panels = te.compute(
        (count, l, width), lambda p, r, x: d[r, te.min(p * width + x, j - 1)], "panels"
    )
    term = lambda z, y, x: b[z, y, r] * panels[x // width, r, x % width]
    tile = te.compute((i, k, count * width), lambda *at: te.sum(term(*at), r), "tile")
    scaled = lambda z, x: tile[z, y, x] * c[y, te.min(x, j - 1)]
    total = te.compute((i, count * width), lambda z, x: te.sum(scaled(z, x), y), "total")
    out = te.compute((i, j), lambda *at: total[at], "out")
    s = s_tir.Schedule(te.create_prim_func([b, c, d, out]))

    pack(s)
    z, x = s.get_loops(s.get_sblock("out"))
    xo, xi = s.split(x, [None, width])
    s.parallel(z)
    in_registers(s, [], xi)
    total = s.get_sblock("total")
    s.compute_at(total, xo, preserve_unit_loops=True)
    x, y = s.get_loops(total)[-2:]
    yo, yi = s.split(y, [None, height])
    s.reorder(yo, yi, x)
    in_registers(s, [yi], x)
    sum_in_registers(s, "tile", yo, 2)
    s.decompose_reduction(total, yo)
    return s
