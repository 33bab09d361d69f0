"""Halide with schedules by hand: tiles in registers, packed blocks, and what one stage needs of
another computed while it is in the cache.

Halide counts dimensions from the innermost one: A[i][k] is A[k, i] here.
"""

from collections.abc import Callable
from importlib.metadata import version as version_of

import halide as hl
import numpy as np

from peers import Prepared
from peers.kernels import Kernel

# f64 in a vector register.
LANES = 8
# What of a tile or a vector is beyond the end is not computed.
GUARD = hl.TailStrategy.GuardWithIf


def version() -> str:
    return version_of("halide")


def prepare(kernel: Kernel, arrays: dict[str, np.ndarray], threads: int) -> Prepared:
    # Vectors begin and end anywhere in an element of a mesh.
    if kernel.name in ["interp", "helm"]:
        arrays = {name: x if name == "A" else x.reshape(-1) for name, x in arrays.items()}
    # Shapes are known when the code is made, as they are to teml.
    inputs = []
    for name, array in arrays.items():
        parameter = hl.ImageParam(hl.Float(64), array.ndim, name)
        known(parameter, array)
        inputs.append(parameter)
    whole = kernel.new_output()
    output = whole[kernel.computed]
    func = globals()[kernel.name](*inputs, **kernel.size)
    known(func.output_buffer(), output)
    target = hl.get_jit_target_from_environment()
    call = func.compile_to_callable(inputs, target)
    buffers = [hl.Buffer(array) for array in [*arrays.values(), output]]
    return Prepared(lambda: call(*buffers), lambda: output)


def known(parameter, array: np.ndarray) -> None:
    """Says the shape of a parameter, or of the output."""
    sizes = zip(reversed(array.shape), reversed(array.strides))
    for d, (extent, stride) in enumerate(sizes):
        parameter.dim(d).set_bounds(0, extent).set_stride(stride // array.itemsize)


def variables(names: str) -> list[hl.Var]:
    return [hl.Var(name) for name in names.split()]


def divisor(number: int, most: int) -> int:
    return max(d for d in range(1, most + 1) if number % d == 0)


def unrolled(stage, column: hl.Var, *rows: hl.Var):
    """All rows and columns of a tile at once, in vector registers."""
    stage.vectorize(column, LANES).unroll(column)
    for row in rows:
        stage.unroll(row)
    return stage


def prefetch(stage: hl.Func, image: hl.ImageParam, loop: hl.Var, ahead: int) -> None:
    """What the loop reads of an image some iterations later. The types are named, since the image
    would otherwise be converted to a function, of which nothing is read."""
    loop = hl.VarOrRVar(loop)
    stage.prefetch(image, loop, loop, hl.Expr(ahead))


def gemm(
    left: Callable, right: Callable, last: Callable, rows: int, columns: int, terms: int
) -> hl.Func:
    """The sum over k of left(k, i) * right(j, k), of which `last` makes the result: blocks of both
    are packed, and a tile of the sum stays in registers for all terms."""
    j, i, k, jo, ji, ib, io, ii = variables("j i k jo ji ib io ii")
    width, height = 3 * LANES, 8
    # Of the left factor, what half of the level 2 cache holds.
    block = max(1, 2**16 // (height * terms))
    panels, blocks, tile, out = (hl.Func(name) for name in ["panels", "blocks", "tile", "out"])
    r = hl.RDom([(0, terms)], "r")
    panels[ji, k, jo] = right(hl.min(jo * width + ji, columns - 1), k)
    blocks[ii, k, io] = left(k, hl.min(io * height + ii, rows - 1))
    tile[j, i] = hl.f64(0)
    tile[j, i] += blocks[i % height, r.x, i / height] * panels[j % width, r.x, j / width]
    out[j, i] = last(j, i, tile[j, i])

    panels.compute_root().parallel(jo).vectorize(ji, LANES).unroll(ji)
    out.tile(j, i, jo, io, ji, ii, width, height, GUARD).split(io, ib, io, block, GUARD)
    unrolled(out.reorder(ji, ii, io, jo, ib), ji, ii).parallel(ib)
    blocks.compute_at(out, ib).unroll(ii)
    unrolled(tile.compute_at(out, io), j, i)
    unrolled(tile.update().reorder(j, i, r.x), j, i)
    return out


def mm(a, b, m, n, k):
    return gemm(lambda k, i: a[k, i], lambda j, k: b[j, k], lambda j, i, x: x, m, n, k)


def tmm(a, b, m, n, k):
    return gemm(lambda k, i: a[i, k], lambda j, k: b[j, k], lambda j, i, x: x, m, n, k)


def sddmm(b, c, d, m, n, k):
    return gemm(lambda k, i: c[k, i], lambda j, k: d[j, k], lambda j, i, x: b[j, i] * x, m, n, k)


def bmm(left, right, b, m, n, k):
    """Factors are small enough to be read where they are; as many whole rows at once as registers
    hold are written one after the other, as memory likes it."""
    j, i, e, jo, ji, io, ii = variables("j i e jo ji io ii")
    tile, out = hl.Func("tile"), hl.Func("out")
    width = divisor(n, 9 * LANES)
    height = divisor(m, max(1, 18 * LANES // width))
    r = hl.RDom([(0, k)], "r")
    tile[j, i, e] = hl.f64(0)
    column = hl.min(j, n - 1) if n % LANES else j
    tile[j, i, e] += left[r.x, i, e] * right[column, r.x, e]
    out[j, i, e] = tile[j, i, e]

    out.tile(j, i, jo, io, ji, ii, width, height)
    unrolled(out, ji, ii).parallel(e)
    unrolled(tile.compute_at(out, jo), j, i)
    unrolled(tile.update().reorder(j, i, r.x), j, i)
    return out


def gconv(images, weights, n, g, f, c, h, w, kh, kw):
    """A row of all filters in registers, for all terms."""
    x, y, z, u, v, xo, xi = variables("x y z u v xo xi")
    tile, out = hl.Func("tile"), hl.Func("out")
    r = hl.RDom([(0, kw), (0, kh), (0, c)], "r")
    tile[x, y, z, u, v] = hl.f64(0)
    image = images[hl.min(x + r.x, w + kw - 2), y + r.y, r.z, u, v]
    tile[x, y, z, u, v] += image * weights[r.x, r.y, r.z, z, u]
    out[x, y, z, u, v] = tile[x, y, z, u, v]

    out.split(x, xo, xi, 4 * LANES, GUARD).reorder(xi, z, xo, y, u, v)
    unrolled(out, xi, z).parallel(v)
    unrolled(tile.compute_at(out, xo), x, z)
    unrolled(tile.update().reorder(x, z, r.x, r.y, r.z), x, z).unroll(r.x)
    return out


def mttkrp(b, c, d, i, j, k, l):
    """Each tile of a slice's product with D is scaled and summed while it is in registers."""
    x, y, z, xo, xi = variables("x y z xo xi")
    width, height = 2 * LANES, divisor(k, 10)
    panels, tile, total, out = (hl.Func(name) for name in ["panels", "tile", "total", "out"])
    r, rows = hl.RDom([(0, l)], "r"), hl.RDom([(0, height), (0, k // height)], "rows")
    row = rows.y * height + rows.x
    panels[xi, y, xo] = d[hl.min(xo * width + xi, j - 1), y]
    tile[x, y, z] = hl.f64(0)
    tile[x, y, z] += b[r.x, y, z] * panels[x % width, r.x, x / width]
    total[x, z] = hl.f64(0)
    total[x, z] += tile[x, row, z] * c[hl.min(x, j - 1), row]
    out[x, z] = total[x, z]

    panels.compute_root().vectorize(xi, LANES)
    unrolled(out.split(x, xo, xi, width, GUARD), xi).parallel(z)
    unrolled(total.compute_at(out, xo), x)
    unrolled(total.update().reorder(x, rows.x, rows.y), x).unroll(rows.x)
    unrolled(tile.compute_at(total, rows.y), x, y)
    unrolled(tile.update().reorder(x, y, r.x), x, y)
    return out


def blur(image, h, w):
    """Rows of a strip, in registers."""
    x, y, xo, xi, yo, yi = variables("x y xo xi yo yi")
    b, out = hl.Func("b"), hl.Func("out")
    b[x, y] = (image[x, y] + image[x + 1, y] + image[x + 2, y]) / 3
    out[x, y] = (b[x, y] + b[x, y + 1] + b[x, y + 2]) / 3

    out.tile(x, y, xo, yo, xi, yi, LANES, 8, GUARD)
    unrolled(out, xi, yi).parallel(yo)
    unrolled(b.compute_at(out, xo), x, y)
    return out


def coars(xx, yy, xy, h, w):
    x, y = variables("x y")
    out = hl.Func("out")
    trace = xx[x, y] + yy[x, y]
    out[x, y] = xx[x, y] * yy[x, y] - xy[x, y] * xy[x, y] - hl.f64(0.04) * trace * trace

    out.vectorize(x, LANES, GUARD).parallel(y)
    return out


def elements(u, extent: int) -> Callable:
    """An element of a mesh by its place in memory, so that vectors may begin in one row and end in
    the next; behind the end is what is at the end."""
    inside = hl.BoundaryConditions.repeat_edge(u)
    return lambda x, y, z, e: inside[x + extent * (y + extent * (z + extent * e))]


class OfElements:
    """Stages of what is computed of an element of a mesh. The last axis is in vector lanes, and its
    rows are filled up to whole vectors, of which those that share what they read are in registers
    for a whole sum."""

    def __init__(self, extent: int) -> None:
        self.extent = extent
        self.stages: list[hl.Func] = []

    def along_axes(
        self, factor: Callable, u: Callable, last: Callable = lambda v, *at: v
    ) -> hl.Func:
        """(A x A x A) u, axis by axis, where `factor` gives the elements of A."""
        x, y = variables("x y")
        columns = hl.Func("columns")
        columns[x, y] = factor(hl.min(x, self.extent - 1), y)
        columns.compute_root().vectorize(x, LANES, hl.TailStrategy.RoundUp)
        first = self.stage(lambda x, y, z, e, l: factor(z, l) * u(x, y, l, e), "z")
        second = self.stage(lambda x, y, z, e, m: factor(y, m) * first[x, m, z, e], "y")
        return self.stage(lambda x, y, z, e, n: columns[x, n] * second[n, y, z, e], "y", last)

    def stage(self, term: Callable, at_once: str, last: Callable = lambda v, *at: v) -> hl.Func:
        """The sum of the terms, with all rows along an axis at once."""
        x, y, z, e = variables("x y z e")
        rows, loop = (y, z) if at_once == "y" else (z, y)
        r = hl.RDom([(0, self.extent)], "r")
        tile, stage = hl.Func("tile"), hl.Func("stage")
        tile[x, y, z, e] = hl.f64(0)
        tile[x, y, z, e] += term(x, y, z, e, r.x)
        stage[x, y, z, e] = last(tile[x, y, z, e], x, y, z, e)

        tile.compute_at(stage, loop)
        for part in [tile, tile.update().reorder(x, rows, r.x)]:
            part.vectorize(x, LANES, hl.TailStrategy.RoundUp).unroll(x).unroll(rows)
        stage.reorder(x, rows, loop, e).unroll(rows)
        self.stages.append(stage)
        return stage

    def schedule(self) -> hl.Func:
        """All stages of an element after each other, while they are in the cache."""
        *before, out = self.stages
        x, y, z, e = out.args()
        block, element = variables("block element")
        out.vectorize(x, LANES, hl.TailStrategy.PredicateStores).unroll(x)
        out.split(e, block, element, 32, GUARD).parallel(block)
        for stage in before:
            stage.compute_at(out, element).store_in(hl.MemoryType.Stack)
            stage.vectorize(x, LANES, hl.TailStrategy.RoundUp).unroll(x)
        return out


def interp(a, u, e, n):
    mesh = OfElements(n)
    mesh.along_axes(lambda row, term: a[term, row], elements(u, n))
    return mesh.schedule()


def helm(a, d, u, e, n):
    mesh = OfElements(n)
    divisor = elements(d, n)
    transposed = lambda row, term: a[row, term]
    r = mesh.along_axes(transposed, elements(u, n), lambda t, *at: t / divisor(*at))
    # Nobody else fetches what is divided by before it is needed.
    prefetch(r, d, r.args()[2], 2)
    mesh.along_axes(lambda row, term: a[term, row], lambda *at: r[at])
    return mesh.schedule()
