"""Times what Python libraries make of the kernels, on the inputs of `teml bench`.

    python3 benches/peers.py [--size mini|bench] [--kernel NAME]... [--threads N]

Libraries that are not installed are left out: NumPy, JAX, PyTorch. NumPy, which checks all others,
is needed. Columns are those of `teml bench`; the numbers do not come from the same run as its own.
"""

import argparse
import os
import statistics
import sys
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--size", choices=["bench", "mini"], default="bench")
parser.add_argument("--kernel", action="append")
parser.add_argument("--threads", type=int, default=os.cpu_count())
options = parser.parse_args()

# Libraries read these when they are loaded.
for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]:
    os.environ[name] = str(options.threads)
os.environ["XLA_FLAGS"] = (
    f"--xla_cpu_multi_thread_eigen={'true' if options.threads > 1 else 'false'}"
)
try:
    import numpy as np
except ImportError:
    sys.exit("NumPy is not installed: pip install numpy")


def pattern(number, shape):
    """What tensor `number` holds unless a script says otherwise."""
    x = np.arange(np.prod(shape), dtype=np.int64)
    return ((x * 7 + number * 13) % 101 / 101.0 - 0.5).reshape(shape)


def gconv(xp, image, weights):
    images, groups, channels, height, width = image.shape
    _, filters, _, rows, columns = weights.shape
    height, width = height - rows + 1, width - columns + 1
    windows = [
        image[..., kh : kh + height, kw : kw + width] for kh in range(rows) for kw in range(columns)
    ]
    windows = xp.stack(windows, 3).reshape(images, groups, -1, height * width)
    product = weights.reshape(groups, filters, -1) @ windows
    return product.reshape(images, groups, filters, height, width)


def along_axes(xp, a, u):
    elements, n = u.shape[:2]
    t = (a @ u.reshape(elements, n, n * n)).reshape(u.shape)
    return (a @ t) @ a.T


def blur(xp, image):
    b = (image[:, :-2] + image[:, 1:-1] + image[:, 2:]) / 3
    return (b[:-2] + b[1:-1] + b[2:]) / 3


def coars(xp, xx, yy, xy):
    return xx * yy - xy * xy - 0.04 * (xx + yy) * (xx + yy)


def mttkrp(xp, b, c, d):
    return ((b @ d) * c).sum(1)


# Each with its sizes, the shapes of its inputs, their numbers among the tensors of the script, the
# computation, and its operations.
KERNELS = {
    "mm": (
        {"bench": (1024, 1024, 1024), "mini": (17, 19, 23)},
        lambda m, n, k: [(1, (m, k)), (2, (k, n))],
        lambda xp, a, b: a @ b,
        lambda m, n, k: 2 * m * n * k,
    ),
    "tmm": (
        {"bench": (1024, 1024, 1024), "mini": (17, 19, 23)},
        lambda m, n, k: [(1, (k, m)), (2, (k, n))],
        lambda xp, a, b: a.T @ b,
        lambda m, n, k: 2 * m * n * k,
    ),
    "bmm": (
        {"bench": (8192, 72, 72, 26), "mini": (5, 9, 11, 7)},
        lambda b, m, n, k: [(1, (b, m, k)), (2, (b, k, n))],
        lambda xp, a, b: a @ b,
        lambda b, m, n, k: 2 * b * m * n * k,
    ),
    "gconv": (
        {"bench": (32, 32, 4, 4, 32, 32, 7, 7), "mini": (2, 3, 2, 3, 5, 6, 3, 3)},
        lambda n, g, f, c, h, w, kh, kw: [
            (1, (n, g, c, h + kh - 1, w + kw - 1)),
            (2, (g, f, c, kh, kw)),
        ],
        gconv,
        lambda n, g, f, c, h, w, kh, kw: 2 * n * g * f * c * h * w * kh * kw,
    ),
    "mttkrp": (
        {"bench": (250, 250, 250, 250), "mini": (7, 11, 9, 13)},
        lambda i, j, k, l: [(1, (i, k, l)), (3, (k, j)), (2, (l, j))],
        mttkrp,
        lambda i, j, k, l: 3 * i * j * k * l,
    ),
    "sddmm": (
        {"bench": (2048, 2048, 2048), "mini": (17, 19, 23)},
        lambda m, n, k: [(1, (m, n)), (2, (m, k)), (3, (k, n))],
        lambda xp, b, c, d: b * (c @ d),
        lambda m, n, k: 3 * m * n * k,
    ),
    "interp": (
        {"bench": (50000, 7), "mini": (13, 5)},
        lambda e, n: [(1, (n, n)), (2, (e, n, n, n))],
        along_axes,
        lambda e, n: 6 * e * n**4,
    ),
    "helm": (
        {"bench": (5000, 13), "mini": (7, 5)},
        lambda e, n: [(1, (n, n)), (None, (e, n, n, n)), (2, (e, n, n, n))],
        lambda xp, a, d, u: along_axes(xp, a, along_axes(xp, a.T, u) / d),
        lambda e, n: 12 * e * n**4 + e * n**3,
    ),
    "blur": (
        {"bench": (4096, 4096), "mini": (29, 31)},
        lambda h, w: [(1, (h, w))],
        blur,
        lambda h, w: 3 * h * (w - 2) + 3 * (h - 2) * (w - 2),
    ),
    "coars": (
        {"bench": (4096, 4096), "mini": (29, 31)},
        lambda h, w: [(1, (h, w)), (2, (h, w)), (3, (h, w))],
        coars,
        lambda h, w: 7 * h * w,
    ),
}


def inputs(shapes):
    # The one that is divided by is never near zero.
    return [
        pattern(1, shape) + 1.5 if number is None else pattern(number, shape)
        for number, shape in shapes
    ]


def libraries():
    """Name, how an array gets there, how a computation is prepared, and how its end is awaited."""
    yield "numpy", lambda x: x, lambda f: lambda *a: f(np, *a), lambda y: y, np.asarray
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        jit = lambda f: jax.jit(lambda *a: f(jax.numpy, *a))
        yield "jax", jax.numpy.asarray, jit, lambda y: y.block_until_ready(), np.asarray
    except ImportError:
        print("jax: absent", file=sys.stderr)
    try:
        import torch

        torch.set_num_threads(options.threads)
        eager = lambda f: lambda *a: f(torch, *a)
        yield "torch", torch.from_numpy, eager, lambda y: y, lambda y: y.numpy()
    except ImportError:
        print("torch: absent", file=sys.stderr)


def measure(run):
    start = time.perf_counter()
    run()
    warm = time.perf_counter() - start
    times = []
    while len(times) < 5 or (sum(times) < 2 and len(times) < 30):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
        if warm > 8:
            break
    return times


def spread(times):
    if len(times) < 2:
        return 0.0
    quartiles = statistics.quantiles(times, n=4, method="inclusive")
    return (quartiles[2] - quartiles[0]) / statistics.median(times)


peers = list(libraries())
for kernel, (sizes, shapes, compute, flops) in KERNELS.items():
    if options.kernel and kernel not in options.kernel:
        continue
    size = sizes[options.size]
    arrays = inputs(shapes(*size))
    expected = None
    print(f"{kernel}:")
    print("| variant | runs |     min, s |  median, s |  spread | GFLOP/s |   error |")
    print("|---------|------|------------|------------|---------|---------|---------|")
    for name, convert, prepare, wait, back in peers:
        own = [convert(x) for x in arrays]
        function = prepare(compute)
        result = back(wait(function(*own)))
        if expected is None:
            expected = result
        error = np.abs(result - expected).max() / np.abs(expected).max()
        if not error <= 1e-9:
            sys.exit(f"{name} computes a wrong {kernel}: the error is {error}")
        times = measure(lambda: wait(function(*own)))
        median = statistics.median(times)
        print(
            f"| {name:<7} | {len(times):4} | {min(times):10.3e} | {median:10.3e} | "
            f"{100 * spread(times):5.1f} % | {flops(*size) / median / 1e9:7.2f} | {error:7.1e} |"
        )
