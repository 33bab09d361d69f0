"""The ten kernels: sizes, inputs and what is computed, as in `scripts/`."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Input:
    """A tensor that is read, with its number among the tensors of the script."""

    number: int
    shape: Shape
    # What is added to each element: a divisor is never near zero.
    plus: float = 0.0

    def array(self) -> np.ndarray:
        """What `teml bench` gives it."""
        x = np.arange(np.prod(self.shape), dtype=np.int64)
        array = aligned(self.shape)
        values = (x * 7 + self.number * 13) % 101 / 101.0 - 0.5 + self.plus
        array[...] = values.reshape(self.shape)
        return array


@dataclass(frozen=True)
class Kernel:
    """A kernel at one size."""

    name: str
    # The parameters of the script.
    size: dict[str, int]
    # By their names in the script.
    inputs: dict[str, Input]
    output: str
    output_shape: Shape
    # Operations of the definition.
    flops: int
    # What is computed, by other means than the peers'.
    reference: Callable[..., np.ndarray]
    # The part of the output that is computed.
    computed: tuple[slice, ...] = (...,)

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: x.array() for name, x in self.inputs.items()}

    def new_output(self) -> np.ndarray:
        output = aligned(self.output_shape)
        output.fill(0)
        return output


def aligned(shape: Shape) -> np.ndarray:
    """An array that begins with a cache line, as everyone's allocator would have it."""
    count = int(np.prod(shape))
    space = np.empty(count + 8)
    first = -(space.ctypes.data // 8) % 8
    return space[first : first + count].reshape(shape)


def einsum(terms: str) -> Callable[..., np.ndarray]:
    return lambda *arrays: np.einsum(terms, *arrays, optimize="optimal")


def mm(m: int, n: int, k: int) -> Kernel:
    inputs = {"A": Input(1, (m, k)), "B": Input(2, (k, n))}
    size = {"m": m, "n": n, "k": k}
    return Kernel("mm", size, inputs, "C", (m, n), 2 * m * n * k, einsum("ik,kj->ij"))


def tmm(m: int, n: int, k: int) -> Kernel:
    inputs = {"A": Input(1, (k, m)), "B": Input(2, (k, n))}
    size = {"m": m, "n": n, "k": k}
    return Kernel("tmm", size, inputs, "C", (m, n), 2 * m * n * k, einsum("ki,kj->ij"))


def bmm(b: int, m: int, n: int, k: int) -> Kernel:
    inputs = {"A": Input(1, (b, m, k)), "B": Input(2, (b, k, n))}
    size = {"b": b, "m": m, "n": n, "k": k}
    return Kernel("bmm", size, inputs, "C", (b, m, n), 2 * b * m * n * k, einsum("bik,bkj->bij"))


def gconv(n: int, g: int, f: int, c: int, h: int, w: int, kh: int, kw: int) -> Kernel:
    def reference(images: np.ndarray, weights: np.ndarray) -> np.ndarray:
        windows = np.lib.stride_tricks.sliding_window_view(images, (kh, kw), axis=(3, 4))
        return np.einsum("ngchwxy,gfcxy->ngfhw", windows, weights)

    inputs = {
        "I": Input(1, (n, g, c, h + kh - 1, w + kw - 1)),
        "W": Input(2, (g, f, c, kh, kw)),
    }
    size = {"n": n, "g": g, "f": f, "c": c, "h": h, "w": w, "kh": kh, "kw": kw}
    flops = 2 * n * g * f * c * h * w * kh * kw
    return Kernel("gconv", size, inputs, "O", (n, g, f, h, w), flops, reference)


def mttkrp(i: int, j: int, k: int, l: int) -> Kernel:
    inputs = {"B": Input(1, (i, k, l)), "C": Input(2, (k, j)), "D": Input(3, (l, j))}
    size = {"i": i, "j": j, "k": k, "l": l}
    reference = einsum("ikl,kj,lj->ij")
    return Kernel("mttkrp", size, inputs, "A", (i, j), 3 * i * j * k * l, reference)


def sddmm(m: int, n: int, k: int) -> Kernel:
    inputs = {"B": Input(1, (m, n)), "C": Input(2, (m, k)), "D": Input(3, (k, n))}
    size = {"m": m, "n": n, "k": k}
    reference = einsum("ij,ik,kj->ij")
    return Kernel("sddmm", size, inputs, "A", (m, n), 3 * m * n * k, reference)


def interp(e: int, n: int) -> Kernel:
    inputs = {"A": Input(1, (n, n)), "u": Input(2, (e, n, n, n))}
    return Kernel(
        "interp",
        {"e": e, "n": n},
        inputs,
        "v",
        (e, n, n, n),
        6 * e * n**4,
        lambda a, u: einsum("il,jm,kn,elmn->eijk")(a, a, a, u),
    )


def helm(e: int, n: int) -> Kernel:
    def reference(a: np.ndarray, d: np.ndarray, u: np.ndarray) -> np.ndarray:
        r = einsum("li,mj,nk,elmn->eijk")(a, a, a, u) / d
        return einsum("il,jm,kn,elmn->eijk")(a, a, a, r)

    inputs = {
        "A": Input(1, (n, n)),
        "D": Input(1, (e, n, n, n), plus=1.5),
        "u": Input(2, (e, n, n, n)),
    }
    flops = 12 * e * n**4 + e * n**3
    return Kernel("helm", {"e": e, "n": n}, inputs, "v", (e, n, n, n), flops, reference)


def blur(h: int, w: int) -> Kernel:
    def reference(image: np.ndarray) -> np.ndarray:
        b = (image[:, :-2] + image[:, 1:-1] + image[:, 2:]) / 3
        return (b[:-2] + b[1:-1] + b[2:]) / 3

    inside = slice(1, -1)
    return Kernel(
        "blur",
        {"h": h, "w": w},
        {"image": Input(1, (h, w))},
        "out",
        (h, w),
        3 * h * (w - 2) + 3 * (h - 2) * (w - 2),
        reference,
        (inside, inside),
    )


def coars(h: int, w: int) -> Kernel:
    def reference(xx: np.ndarray, yy: np.ndarray, xy: np.ndarray) -> np.ndarray:
        return xx * yy - xy * xy - 0.04 * (xx + yy) * (xx + yy)

    inputs = {name: Input(number, (h, w)) for number, name in enumerate(["Sxx", "Syy", "Sxy"], 1)}
    return Kernel("coars", {"h": h, "w": w}, inputs, "R", (h, w), 7 * h * w, reference)


# How each is made, and of which numbers: those that figures are quoted for, and those of tests.
SIZES: dict[str, tuple[Callable[..., Kernel], Shape, Shape]] = {
    "mm": (mm, (1024, 1024, 1024), (17, 19, 23)),
    "tmm": (tmm, (1024, 1024, 1024), (17, 19, 23)),
    "bmm": (bmm, (8192, 72, 72, 26), (5, 9, 11, 7)),
    "gconv": (gconv, (32, 32, 4, 4, 32, 32, 7, 7), (2, 3, 2, 3, 5, 6, 3, 3)),
    "mttkrp": (mttkrp, (250, 250, 250, 250), (7, 11, 9, 13)),
    "sddmm": (sddmm, (2048, 2048, 2048), (17, 19, 23)),
    "interp": (interp, (50000, 7), (13, 5)),
    "helm": (helm, (5000, 13), (7, 5)),
    "blur": (blur, (4096, 4096), (29, 31)),
    "coars": (coars, (4096, 4096), (29, 31)),
}


def kernel(name: str, size: str) -> Kernel:
    """The kernel at `bench` or `mini` size."""
    make, bench, mini = SIZES[name]
    return make(*(bench if size == "bench" else mini))
