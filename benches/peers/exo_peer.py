"""Exo with schedules by hand for AVX-512: tiles in registers, the right factor packed into panels
as wide, blocks of rows that the level 2 cache holds. Its C is compiled by gcc with OpenMP.

Blocks and packing are written as they are to be; a tile is a call of a procedure, whose equal in
registers is made by a schedule and takes its place.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from importlib.metadata import version as version_of
from pathlib import Path

import numpy as np
from exo import DRAM, instr, proc
from exo.API import compile_procs
from exo.core.memory import Memory
from exo.stdlib.scheduling import *

from peers import Prepared
from peers.kernels import Kernel, aligned

if "avx512f" not in Path("/proc/cpuinfo").read_text():
    raise ImportError("its schedules need a processor with AVX-512")

# Kernels are loaded from here.
SPACE = tempfile.TemporaryDirectory()
FLAGS = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
# The columns of a tile, three vectors of 8.
W = 24


def version() -> str:
    return version_of("exo-lang")


def prepare(kernel: Kernel, arrays: dict[str, np.ndarray], threads: int) -> Prepared | None:
    # Rows of small factors are whole vectors.
    known = kernel.name in ["mm", "tmm", "sddmm"]
    if not known and not (kernel.name == "bmm" and kernel.size["n"] % 8 == 0):
        return None
    procedure, space = globals()[kernel.name](**kernel.size)
    compile_procs([procedure], Path(SPACE.name), f"{kernel.name}.c", f"{kernel.name}.h")
    source, library = (Path(SPACE.name) / f"{kernel.name}{end}" for end in [".c", ".so"])
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, *FLAGS, str(source), "-o", str(library)], check=True)
    output = kernel.new_output()
    function = getattr(ctypes.CDLL(str(library)), procedure.name())
    buffers = [*arrays.values(), output, *(aligned(shape) for shape in space)]
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in buffers]
    return Prepared(lambda: function(None, *pointers), lambda: output[kernel.computed])


class Vectors(Memory):
    """Registers of eight f64; those that Exo brings have f32."""

    @classmethod
    def global_(cls):
        return "#include <immintrin.h>"

    @classmethod
    def can_read(cls):
        return False

    @classmethod
    def alloc(cls, new_name, prim_type, shape, srcinfo):
        assert prim_type == "double" and shape[-1] == "8"
        return f"__m512d {new_name}{''.join(f'[{extent}]' for extent in shape[:-1])};"

    @classmethod
    def free(cls, new_name, prim_type, shape, srcinfo):
        return ""

    @classmethod
    def window(cls, basetyp, baseptr, indices, strides, srcinfo):
        return baseptr + "".join(f"[{index}]" for index in indices[:-1])


@instr("{to_data} = _mm512_setzero_pd();")
def zero(to: [f64][8] @ Vectors):
    for l in seq(0, 8):
        to[l] = 0.0


@instr("{to_data} = _mm512_loadu_pd(&{at_data});")
def load(to: [f64][8] @ Vectors, at: [f64][8] @ DRAM):
    assert stride(at, 0) == 1
    for l in seq(0, 8):
        to[l] = at[l]


@instr("_mm512_storeu_pd(&{at_data}, {x_data});")
def store(at: [f64][8] @ DRAM, x: [f64][8] @ Vectors):
    assert stride(at, 0) == 1
    for l in seq(0, 8):
        at[l] = x[l]


@instr("{to_data} = _mm512_set1_pd({at_data});")
def broadcast(to: [f64][8] @ Vectors, at: [f64][1] @ DRAM):
    for l in seq(0, 8):
        to[l] = at[0]


@instr("{to_data} = _mm512_fmadd_pd({a_data}, {b_data}, {to_data});")
def multiply_add(to: [f64][8] @ Vectors, a: [f64][8] @ Vectors, b: [f64][8] @ Vectors):
    for l in seq(0, 8):
        to[l] += a[l] * b[l]


def in_registers(tile, w: int):
    """Vectors for a tile's `w` columns, its sum in registers for all terms, no loop but theirs."""
    tile = rename(tile, tile.name() + "_in_registers")
    tile = repeat(lambda p: divide_loop(p, "for j in _: _", 8, ["v", "l"], perfect=True))(tile)
    tile = simplify(divide_dim(tile, "sum", 1, 8))
    tile = expand_dim(expand_dim(bind_expr(tile, "B[_]", "b"), "b", 8, "l"), "b", w // 8, "v")
    tile = lift_alloc(tile, "b", n_lifts=4)
    tile = fission(tile, tile.find("b[_] = _").after(), n_lifts=3)
    tile = remove_loop(tile, tile.find("b[_] = _").parent().parent().parent())
    tile = lift_alloc(expand_dim(bind_expr(tile, "A[_]", "a"), "a", 8, "l"), "a", n_lifts=4)
    tile = fission(tile, tile.find("a[_] = _").after(), n_lifts=2)
    tile = remove_loop(tile, tile.find("a[_] = _").parent().parent())
    for name in ["sum", "a", "b"]:
        tile = set_memory(tile, name, Vectors)
    tile = replace_all(tile, [zero, load, store, broadcast, multiply_add])
    for loop in ["v", "i"]:
        tile = repeat(lambda p: unroll_loop(p, f"for {loop} in _: _"))(tile)
    return simplify(tile)


def divisor(number: int, most: int) -> int:
    return max(d for d in range(1, most + 1) if number % d == 0)


def product_of(h: int, w: int, k: int):
    """A tile of `h` rows and `w` columns."""

    @proc
    def tile(A: [f64][h, k], B: [f64][k, w], C: [f64][h, w]):
        assert stride(B, 1) == 1
        assert stride(C, 1) == 1
        sum: f64[h, w]
        for i in seq(0, h):
            for j in seq(0, w):
                sum[i, j] = 0.0
        for p in seq(0, k):
            for i in seq(0, h):
                for j in seq(0, w):
                    sum[i, j] += A[i, p] * B[p, j]
        for i in seq(0, h):
            for j in seq(0, w):
                C[i, j] = sum[i, j]

    return tile


def gemm(m: int, n: int, k: int):
    """The rows of a block, the count of panels, how many of them half of the level 3 cache holds;
    a procedure that packs them, one that multiplies a block by some, and what puts its schedule in
    the place of that one."""
    h = divisor(m, 8)
    rows = h * divisor(m // h, max(1, 2**16 // (h * k)))
    count = -(-n // W)
    some = -(-count // -(-count * W * k // 2**21))

    tile = product_of(h, W, k)

    @proc
    def pack(B: f64[k, n], panels: f64[count, k, W]):
        for jo in par(0, count):
            for p in seq(0, k):
                for j in seq(0, W):
                    if W * jo + j < n:
                        panels[jo, p, j] = B[p, W * jo + j]

    @proc
    def block(
        row: index, panel: index, A: f64[m, k], panels: f64[count, k, W], C: f64[m, n]
    ):
        assert row >= 0
        assert row + rows <= m
        assert panel >= 0
        for jo in seq(0, some):
            for io in seq(0, rows / h):
                if W * (panel + jo) + W <= n:
                    tile(
                        A[row + h * io : row + h * io + h, :],
                        panels[panel + jo, :, :],
                        C[row + h * io : row + h * io + h, W * (panel + jo) : W * (panel + jo) + W],
                    )
                else:
                    if W * (panel + jo) < n:
                        rest: f64[h, W]
                        tile(
                            A[row + h * io : row + h * io + h, :],
                            panels[panel + jo, :, :],
                            rest[:, :],
                        )
                        for i in seq(0, h):
                            for j in seq(0, W):
                                if W * (panel + jo) + j < n:
                                    C[row + h * io + i, W * (panel + jo) + j] = rest[i, j]

    scheduled = call_eqv(simplify(rename(block, "scheduled")), tile, in_registers(tile, W))
    return rows, count, some, pack, block, lambda p: call_eqv(simplify(p), block, scheduled)


def mm(m: int, n: int, k: int):
    rows, count, some, pack, block, schedule = gemm(m, n, k)

    @proc
    def mm(A: f64[m, k], B: f64[k, n], C: f64[m, n], panels: f64[count, k, W]):
        pack(B, panels)
        for jo in seq(0, (count + some - 1) / some):
            for io in par(0, m / rows):
                block(rows * io, some * jo, A, panels, C)

    return schedule(mm), [(count, k, W)]


def tmm(m: int, n: int, k: int):
    """Rows of the left factor's transpose are packed, so that the tiles of `mm` can read them."""
    rows, count, some, pack, block, schedule = gemm(m, n, k)
    h = divisor(rows, 8)

    @proc
    def tmm(
        A: f64[k, m], B: f64[k, n], C: f64[m, n], panels: f64[count, k, W], turned: f64[m, k]
    ):
        pack(B, panels)
        for io in par(0, m / h):
            for p in seq(0, k):
                for i in seq(0, h):
                    turned[h * io + i, p] = A[p, h * io + i]
        for jo in seq(0, (count + some - 1) / some):
            for io in par(0, m / rows):
                block(rows * io, some * jo, turned, panels, C)

    return schedule(tmm), [(count, k, W), (m, k)]


def sddmm(m: int, n: int, k: int):
    """Rows are scaled when all their panels are done: the last group's time, in the cache."""
    rows, count, some, pack, block, schedule = gemm(m, n, k)

    @proc
    def sddmm(
        X: f64[m, n], A: f64[m, k], B: f64[k, n], C: f64[m, n], panels: f64[count, k, W]
    ):
        pack(B, panels)
        for jo in seq(0, (count + some - 1) / some):
            for io in par(0, m / rows):
                block(rows * io, some * jo, A, panels, C)
                for i in seq(0, rows):
                    for j in seq(0, W * some):
                        if W * some * jo + j < n:
                            C[rows * io + i, W * some * jo + j] = (
                                C[rows * io + i, W * some * jo + j]
                                * X[rows * io + i, W * some * jo + j]
                            )

    return schedule(sddmm), [(count, k, W)]


def bmm(b: int, m: int, n: int, k: int):
    """Factors are small enough to be read where they are; as many whole rows at once as registers
    hold are written one after the other, as memory likes it."""
    h = divisor(m, max(1, 18 * 8 // n))
    tile = product_of(h, n, k)

    @proc
    def bmm(A: f64[b, m, k], B: f64[b, k, n], C: f64[b, m, n]):
        for e in par(0, b):
            for io in seq(0, m / h):
                tile(A[e, h * io : h * io + h, :], B[e, :, :], C[e, h * io : h * io + h, :])

    return call_eqv(simplify(bmm), tile, in_registers(tile, n)), []
