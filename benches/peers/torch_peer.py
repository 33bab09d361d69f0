"""PyTorch with the BLAS that it brings (MKL on x86): `out=` everywhere, and pieces that stay in the
cache. Its own loops run on all threads."""

import numpy as np
import torch

from peers import Prepared
from peers.kernels import Kernel


def version() -> str:
    return torch.__version__


def prepare(kernel: Kernel, arrays: dict[str, np.ndarray], threads: int) -> Prepared:
    torch.set_num_threads(threads)
    output = kernel.new_output()
    inputs = [torch.from_numpy(array) for array in arrays.values()]
    run = globals()[kernel.name](*inputs, torch.from_numpy(output))
    return Prepared(run, lambda: output[kernel.computed])


def mm(a, b, c):
    return lambda: torch.matmul(a, b, out=c)


def tmm(a, b, c):
    return lambda: torch.matmul(a.T, b, out=c)


def bmm(a, b, c):
    return lambda: torch.bmm(a, b, out=c)


def gconv(images, weights, output):
    """A product for each group, of windows that are copied into rows; the convolution of the
    library is slower in double precision."""
    groups, filters, channels, rows, columns = weights.shape
    height, width = output.shape[3:]
    windows = images.unfold(3, height, 1).unfold(4, width, 1)
    space = torch.empty(windows.shape[1:], dtype=images.dtype)
    terms = channels * rows * columns
    factors = weights.reshape(groups, filters, terms)

    def run():
        for image, to in zip(windows, output):
            copied = space.copy_(image).view(groups, terms, height * width)
            torch.bmm(factors, copied, out=to.view(groups, filters, height * width))

    return run


def mttkrp(b, c, d, a):
    """A product for each slice, which is scaled and summed while it is in the cache."""
    space = torch.empty_like(c)

    def run():
        for i in range(len(b)):
            torch.mm(b[i], d, out=space)
            torch.sum(space.mul_(c), 0, out=a[i])

    return run


def sddmm(b, c, d, a):
    def run():
        torch.mm(c, d, out=a)
        a.mul_(b)

    return run


def along_axes(a, u, spaces):
    """(A x A x A) u for some elements: thrice a product along the first axis, which becomes the
    last one. `spaces` are two places for results, the first of which has the last one."""
    shape, n = u.shape, len(a)
    factors = a.T.expand(len(u), n, n)
    for k in range(3):
        turned = u.view(-1, n, n * n).transpose(1, 2)
        u = torch.bmm(turned, factors, out=spaces[k % 2].view(-1, n * n, n))
    return u.view(shape)


def interp(a, u, v):
    space = torch.empty_like(u[:512])

    def run():
        for begin in range(0, len(u), 512):
            part = slice(begin, begin + 512)
            along_axes(a, u[part], [v[part], space[: len(u[part])]])

    return run


def helm(a, d, u, v):
    spaces = torch.empty(2, *u[:64].shape, dtype=u.dtype)

    def run():
        for begin in range(0, len(u), 64):
            part = slice(begin, begin + 64)
            own = spaces[:, : len(u[part])]
            t = along_axes(a.T, u[part], own)
            along_axes(a, t.div_(d[part]), [v[part], own[1]])

    return run


def blur(image, out):
    height, width = image.shape
    space = torch.empty(34, width - 2, dtype=image.dtype)

    def run():
        for begin in range(0, height - 2, 32):
            rows = image[begin : begin + 34]
            b, to = space[: len(rows)], out[begin + 1 : begin + len(rows) - 1, 1:-1]
            torch.add(rows[:, :-2], rows[:, 1:-1], out=b)
            b.add_(rows[:, 2:]).div_(3)
            torch.add(b[:-2], b[1:-1], out=to)
            to.add_(b[2:]).div_(3)

    return run


def coars(xx, yy, xy, r):
    space = torch.empty_like(xx[:16])

    def run():
        for begin in range(0, len(xx), 16):
            x, y, z, to = (array[begin : begin + 16] for array in (xx, yy, xy, r))
            t = space[: len(x)]
            torch.add(x, y, out=t)
            torch.mul(x, y, out=to)
            to.addcmul_(t, t, value=-0.04).addcmul_(z, z, value=-1)

    return run
