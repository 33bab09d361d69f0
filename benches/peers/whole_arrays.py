"""Kernels in operators on whole arrays, from which compilers of array libraries make loops: sums of a
few terms are written out.
"""

from itertools import product


def gconv(images, weights):
    groups, channels, height, width = images.shape[1:]
    rows, columns = weights.shape[3:]
    height, width = height - rows + 1, width - columns + 1
    total = 0
    for c, kh, kw in product(range(channels), range(rows), range(columns)):
        window = images[:, :, None, c, kh : kh + height, kw : kw + width]
        total = total + window * weights[None, :, :, c, kh, kw, None, None]
    return total


def sddmm(b, c, d):
    return b * (c @ d)


def along_axes(a, u):
    t = sum(a[:, k, None, None] * u[:, None, k] for k in range(len(a)))
    t = sum(a[:, k, None] * t[:, :, None, k] for k in range(len(a)))
    return sum(a[:, k] * t[:, :, :, k, None] for k in range(len(a)))


def interp(a, u):
    return along_axes(a, u)


def helm(a, d, u):
    return along_axes(a, along_axes(a.T, u) / d)


def blur(image):
    b = (image[:, :-2] + image[:, 1:-1] + image[:, 2:]) / 3
    return (b[:-2] + b[1:-1] + b[2:]) / 3


def coars(xx, yy, xy):
    return xx * yy - xy * xy - 0.04 * (xx + yy) * (xx + yy)
