"""NumPy with the BLAS that it brings: `out=` everywhere, and pieces that stay in the cache.

NumPy's own loops run on one thread, so that pieces are shared out among threads; products of large
matrices are left to the BLAS and its threads.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from peers import Prepared
from peers.kernels import Kernel


def version() -> str:
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{np.__version__}, {blas['name']} {blas['version']}"


def prepare(kernel: Kernel, arrays: dict[str, np.ndarray], threads: int) -> Prepared:
    output = kernel.new_output()
    run = globals()[kernel.name](*arrays.values(), output, Pieces(threads))
    return Prepared(run, lambda: output[kernel.computed])


class Pieces:
    """Runs a function on ranges of an axis, on all threads."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def run(self, extent: int, length: int, work: Callable[[int, int, int], object]) -> None:
        """Calls `work(begin, end, thread)` for ranges of `length` and the rest."""

        def all_of(thread: int) -> None:
            first, last = (extent * t // self.threads for t in (thread, thread + 1))
            for begin in range(first, last, length):
                work(begin, min(begin + length, last), thread)

        if self.pool:
            list(self.pool.map(all_of, range(self.threads)))
        else:
            all_of(0)

    def space(self, *shape: int) -> np.ndarray:
        """A place of its own for each thread."""
        return np.empty((self.threads, *shape))


def mm(a, b, c, pieces):
    return lambda: np.matmul(a, b, out=c)


def tmm(a, b, c, pieces):
    return lambda: np.matmul(a.T, b, out=c)


def bmm(a, b, c, pieces):
    def piece(begin, end, thread):
        np.matmul(a[begin:end], b[begin:end], out=c[begin:end])

    return lambda: pieces.run(len(a), 16, piece)


def gconv(images, weights, output, pieces):
    """A product for each group of each image, of windows that are copied into rows."""
    _, groups, channels, height, width = images.shape
    _, filters, _, rows, columns = weights.shape
    height, width = height - rows + 1, width - columns + 1
    windows = np.lib.stride_tricks.sliding_window_view(images, (height, width), axis=(3, 4))
    terms = channels * rows * columns
    factors = np.ascontiguousarray(weights.reshape(groups, filters, terms))
    space = pieces.space(channels, rows, columns, height, width)

    def piece(n, _, thread):
        for g in range(groups):
            space[thread] = windows[n, g]
            copied = space[thread].reshape(terms, height * width)
            np.matmul(factors[g], copied, out=output[n, g].reshape(filters, height * width))

    return lambda: pieces.run(len(images), 1, piece)


def mttkrp(b, c, d, a, pieces):
    """A product for each slice, which is scaled and summed while it is in the cache."""
    space = np.empty(c.shape)

    def run():
        for i in range(len(b)):
            np.matmul(b[i], d, out=space)
            np.einsum("kj,kj->j", space, c, out=a[i])

    return run


def sddmm(b, c, d, a, pieces):
    def piece(begin, end, thread):
        np.multiply(a[begin:end], b[begin:end], out=a[begin:end])

    def run():
        np.matmul(c, d, out=a)
        pieces.run(len(a), 16, piece)

    return run


def along_axes(a, u, spaces):
    """(A x A x A) u for some elements: thrice a product along the first axis, which becomes the
    last one. `spaces` are two places for results, the first of which has the last one."""
    shape, n = u.shape, len(a)
    for k in range(3):
        turned = u.reshape(-1, n, n * n).transpose(0, 2, 1)
        u = np.matmul(turned, a.T, out=spaces[k % 2].reshape(-1, n * n, n))
    return u.reshape(shape)


def interp(a, u, v, pieces):
    piece_length = 64
    space = pieces.space(piece_length, *u.shape[1:])

    def piece(begin, end, thread):
        along_axes(a, u[begin:end], [v[begin:end], space[thread, : end - begin]])

    return lambda: pieces.run(len(u), piece_length, piece)


def helm(a, d, u, v, pieces):
    piece_length = 16
    space = pieces.space(2, piece_length, *u.shape[1:])

    def piece(begin, end, thread):
        own = space[thread, :, : end - begin]
        t = along_axes(a.T, u[begin:end], own)
        r = np.divide(t, d[begin:end], out=t)
        along_axes(a, r, [v[begin:end], own[1]])

    return lambda: pieces.run(len(u), piece_length, piece)


def blur(image, out, pieces):
    height, width = image.shape
    piece_length = 8
    space = pieces.space(piece_length + 2, width - 2)

    def piece(begin, end, thread):
        rows, b = image[begin : end + 2], space[thread, : end + 2 - begin]
        to = out[begin + 1 : end + 1, 1:-1]
        np.add(rows[:, :-2], rows[:, 1:-1], out=b)
        np.add(b, rows[:, 2:], out=b)
        np.divide(b, 3, out=b)
        np.add(b[:-2], b[1:-1], out=to)
        np.add(to, b[2:], out=to)
        np.divide(to, 3, out=to)

    return lambda: pieces.run(height - 2, piece_length, piece)


def coars(xx, yy, xy, r, pieces):
    piece_length = 4
    space = pieces.space(piece_length, xx.shape[1])

    def piece(begin, end, thread):
        x, y, z, to = (array[begin:end] for array in (xx, yy, xy, r))
        t = space[thread, : end - begin]
        np.add(x, y, out=t)
        np.multiply(t, t, out=t)
        np.multiply(t, 0.04, out=t)
        np.multiply(x, y, out=to)
        np.subtract(to, t, out=to)
        np.multiply(z, z, out=t)
        np.subtract(to, t, out=to)

    return lambda: pieces.run(len(xx), piece_length, piece)
