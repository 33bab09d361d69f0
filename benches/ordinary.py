#!/usr/bin/env python3
"""Computations that people write every day, in teml, NumPy, PyTorch, opt_einsum, TBLIS and SciPy.

`python3 benches/ordinary.py [--group NAME]... [--elem f32|f64] [--compiled] [--seconds S]`, with
teml's Python package on the path (PYTHONPATH=src/python, and TEML_PROGRAM for the program). NumPy is
needed, and peers that are not installed are left out:

    pip install numpy scipy opt_einsum pytblis
    pip install torch --index-url https://download.pytorch.org/whl/cpu

Each computation is a script of ordinary operations, which `schedules::optimize` schedules. Sums may be
regrouped, as peers do it. All results are compared with NumPy's in f64 first. Then all take turns: one
runs until its threads are where they run, then some times more, which count. A row has the minimum of
each, and the last column is the time of teml over that of the fastest peer. `--compiled` adds
PyTorch's compiler, which needs g++ and takes minutes.
"""

import argparse
import math
import os
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sparse import library, load, processor

torch = library("torch")
opt_einsum = library("opt_einsum")
pytblis = library("pytblis")
scipy_linalg = library("scipy.linalg")


@dataclass
class Case:
    """A computation with arrays in one element type."""

    group: str
    name: str
    arrays: dict[str, np.ndarray]
    # Statements that end with `R`, the result.
    script: str
    # The reference, in any type.
    numpy: Callable
    # Functions of PyTorch's tensors; of arrays.
    torch: Callable | None = None
    others: dict[str, Callable] = field(default_factory=dict)


def random(*shape):
    return np.random.default_rng(len(shape)).random(shape) - 0.5


CONTRACTIONS = {
    "ik,kj->ij": dict(i=512, j=512, k=512),
    "ki,kj->ij": dict(i=400, j=500, k=600),
    "bik,bkj->bij": dict(b=128, i=96, j=96, k=96),
    "ijk,jk->i": dict(i=300, j=200, k=300),
    "aebf,dfce->abcd": dict.fromkeys("abcdef", 24),
    "imjn,lnkm->ijkl": dict.fromkeys("ijklmn", 24),
    "aebf,fdec->abcd": dict.fromkeys("abcdef", 24),
    "dbea,ec->abcd": dict.fromkeys("abcde", 32),
    "ecbfa,fd->abcde": dict.fromkeys("abcdef", 20),
    "bda,dc->abc": dict.fromkeys("abcd", 100),
    "cad,dcb->ab": dict(a=200, b=180, c=60, d=70),
    "ea,ebcd->abcd": dict.fromkeys("abcde", 36),
    "ikl,kj,lj->ij": dict(i=128, j=96, k=128, l=128),
    "ij,jk,kl->il": dict(i=400, j=300, k=500, l=300),
    "il,jm,kn,lmn->ijk": dict.fromkeys("ijklmn", 48),
    "ij,ji->": dict(i=1000, j=1000),
}


def contraction(spec, extents):
    terms = spec.split("->")[0].split(",")
    arrays = {name: random(*(extents[x] for x in term)) for name, term in zip("ABCD", terms)}
    # A single sum of many numbers is compared without rounding: its order matters in f32.
    is_sum = spec.endswith(">")
    exact = " ".join(f"init({name}, |i, j| (i * 7 + j * 3) % 2);" for name in arrays) if is_sum else ""
    others = {}
    if opt_einsum:
        others["opt_einsum"] = lambda *x: opt_einsum.contract(spec, *x)
    if pytblis and not is_sum:
        others["TBLIS"] = lambda *x: pytblis.einsum(spec, *x)
    return Case(
        "contraction",
        spec.replace(",", " "),
        arrays,
        f'{exact} let R = einsum("{spec}", {", ".join(arrays)});',
        lambda *x: np.einsum(spec, *x, optimize=True),
        lambda *x: torch.einsum(spec, *x),
        others,
    )


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(name, heads, rows, depth, near=None, text="true"):
    """Attention of rows with those that `near` and `text` allow."""
    i, j = np.ogrid[:rows, :rows]
    mask = None if near is None else near(i, j)
    arrays = {x: random(heads, rows, depth) + k / 10 for k, x in enumerate("QKV")}
    script = f"""
      let S = {1 / math.sqrt(depth)} * einsum("hid,hjd->hij", Q, K);
      {"let M = S;" if near is None else f"let M = eq(where({text}, vat(S, [h, i, j]), -1e30), [h, i, j]);"}
      let R = einsum("hij,hjd->hid", softmax(M), V);
    """

    def numpy(q, k, v):
        s = q @ k.swapaxes(1, 2) / math.sqrt(depth)
        return softmax(s if mask is None else np.where(mask, s, -np.inf).astype(s.dtype)) @ v

    def of_torch(q, k, v):
        given = {}
        if mask is not None:
            is_causal = bool((mask == (j <= i)).all())
            given = {"is_causal": True} if is_causal else {"attn_mask": torch.from_numpy(mask)}
        call = torch.nn.functional.scaled_dot_product_attention
        return call(q[None], k[None], v[None], **given)[0]

    return Case("attention", name, arrays, script, numpy, of_torch)


def rows(name, shape, script, numpy, of_torch):
    return Case("rows", name, {"X": random(*shape)}, script, numpy, of_torch)


def norms():
    f = torch.nn.functional if torch else None
    x = (1024, 1024)
    yield rows("softmax", x, "let R = stored(softmax(X));", softmax, lambda x: torch.softmax(x, 1))
    yield rows(
        "log softmax",
        x,
        "let R = stored(log_softmax(X));",
        lambda x: np.log(softmax(x)),
        lambda x: torch.log_softmax(x, 1),
    )
    yield rows(
        "layer norm",
        x,
        "let R = stored(layer_norm(X, 1e-5));",
        lambda x: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5),
        lambda x: f.layer_norm(x, x.shape[1:]),
    )
    yield rows(
        "RMS norm",
        x,
        "let R = stored(rms_norm(X, 1e-5));",
        lambda x: x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5),
        lambda x: f.rms_norm(x, x.shape[1:], eps=1e-5),
    )
    yield rows(
        "norm of columns",
        x,
        "let c = X - mean(X, 1, #{keep: true}); let R = stored(c / sqrt(mean(c * c, 1, #{keep: true}) + 1e-5));",
        lambda x: (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5),
        lambda x: f.batch_norm(x, None, None, training=True, eps=1e-5),
    )


def mlp():
    n, d, h = 256, 512, 2048
    arrays = {"X": random(n, d), "U": random(d, h), "b": random(h), "V": random(h, d), "c": random(d)}

    def numpy(x, u, b, v, c):
        return np.maximum(x @ u + b, 0) @ v + c

    def of_torch(x, u, b, v, c):
        return torch.addmm(c, torch.addmm(b, x, u).relu_(), v)

    yield Case("mlp", "relu", arrays, "let R = stored(matmul(relu(matmul(X, U) + b), V) + c);", numpy, of_torch)

    def with_gelu(x, u, b, v, c):
        return torch.addmm(c, torch.nn.functional.gelu(torch.addmm(b, x, u)), v)

    if torch:
        yield Case(
            "mlp",
            "gelu",
            arrays,
            "let R = stored(matmul(gelu(matmul(X, U) + b), V) + c);",
            lambda *x: with_gelu(*(torch.from_numpy(a) for a in x)).numpy(),
            with_gelu,
        )


def convolution(name, images, channels, filters, size, window, stride=1, groups=1):
    """A convolution of images that have their borders."""
    whole = stride * (size - 1) + window
    arrays = {
        "X": random(images, channels, whole, whole),
        "W": random(filters, channels // groups, window, window),
    }
    step = "" if stride == 1 else f"{stride} * "
    image = f"{step}y + ky, {step}x + kx"
    if window == 1:
        script = 'let R = einsum("ncyx,fc->nfyx", X, W_);'.replace("W_", "V")
        arrays = {"X": arrays["X"], "V": arrays["W"].reshape(filters, channels)}
    elif groups == 1:
        script = f"let R = eq(vsum(vmul(X, W, [[n, c, {image}], [f, c, ky, kx]]), [c, ky, kx]), [n, f, y, x], [{images}, {filters}, {size}, {size}]);"
    else:
        arrays["W"] = arrays["W"].reshape(filters, window, window)
        script = f"let R = eq(vsum(vmul(X, W, [[n, f, {image}], [f, ky, kx]]), [ky, kx]), [n, f, y, x], [{images}, {filters}, {size}, {size}]);"

    def numpy(x, w):
        view = np.lib.stride_tricks.sliding_window_view(x, (window, window), axis=(2, 3))
        view = view[:, :, ::stride, ::stride]
        if groups > 1:
            return np.einsum("ncyxuv,cuv->ncyx", view, w, optimize=True)
        w = w.reshape(filters, channels, window, window)
        return np.tensordot(view, w, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)

    def of_torch(x, w):
        w = w.reshape(filters, channels // groups, window, window)
        return torch.nn.functional.conv2d(x, w, stride=stride, groups=groups)

    return Case("convolution", name, arrays, script, numpy, of_torch)


def convolutions():
    yield convolution("1x1", 8, 128, 128, 28, 1)
    yield convolution("3x3", 8, 64, 64, 28, 3)
    yield convolution("3x3, few channels", 8, 3, 32, 112, 3)
    yield convolution("3x3, stride 2", 8, 64, 64, 28, 3, stride=2)
    yield convolution("3x3, depthwise", 8, 128, 128, 56, 3, groups=128)


def factorizations():
    for count, n in [(8192, 8), (512, 32)]:
        a = random(count, n, n) + n * np.eye(n)
        script = f"""
          let R = tensor([{count}, {n}, {n}], "ELEM");
          let made = nest(`
            ${{X}}
            ${{R}}
            for m in 0..{count}
              for i in 0..{n}
                for j in 0..{n}
                  R[m][i][j] = X[m][i][j]
              for k in 0..{n}
                for i in k + 1..{n}
                  R[m][i][k] = R[m][i][k] / R[m][k][k]
                  for j in k + 1..{n}
                    R[m][i][j] -= R[m][i][k] * R[m][k][j]
          `);
        """

        def lu(x):
            r = x.copy()
            for k in range(r.shape[1]):
                r[:, k + 1 :, k] /= r[:, k, k, None]
                r[:, k + 1 :, k + 1 :] -= r[:, k + 1 :, k, None] * r[:, k, None, k + 1 :]
            return r

        # Rows are dominated by their diagonal, so that pivots change nothing.
        others = {"SciPy": lambda x: scipy_linalg.lu_factor(x)[0]} if scipy_linalg else {}
        yield Case("factorization", f"LU, {count} of {n}", {"X": a}, script, lu, lambda x: torch.linalg.lu_factor(x)[0], others)
        a = a + a.swapaxes(1, 2)
        script = f"""
          let R = tensor([{count}, {n}, {n}], "ELEM");
          let made = nest(`
            ${{X}}
            ${{R}}
            for m in 0..{count}
              for i in 0..{n}
                for j in 0..{n}
                  R[m][i][j] = select(index(j) <= index(i), X[m][i][j], 0)
              for k in 0..{n}
                R[m][k][k] = sqrt(R[m][k][k])
                for i in k + 1..{n}
                  R[m][i][k] = R[m][i][k] / R[m][k][k]
                for i in k + 1..{n}
                  for j in k + 1..i + 1
                    R[m][i][j] -= R[m][i][k] * R[m][j][k]
          `);
        """
        yield Case("factorization", f"Cholesky, {count} of {n}", {"X": a}, script, np.linalg.cholesky, lambda x: torch.linalg.cholesky(x))


def scans():
    for name, shape in [("rows", (1024, 2048)), ("columns", (1024, 2048)), ("one row", (1 << 20,))]:
        if len(shape) == 1:
            loops = f"R[0] = X[0]\n for i in 1..{shape[0]}\n  R[i] = R[i - 1] + X[i]"
        elif name == "rows":
            loops = f"for i in 0..{shape[0]}\n  R[i][0] = X[i][0]\n  for j in 1..{shape[1]}\n   R[i][j] = R[i][j - 1] + X[i][j]"
        else:
            loops = f"for j in 0..{shape[1]}\n  R[0][j] = X[0][j]\n for i in 1..{shape[0]}\n  for j in 0..{shape[1]}\n   R[i][j] = R[i - 1][j] + X[i][j]"
        dims = list(shape)
        script = f'let R = tensor({dims}, "ELEM");\nlet made = nest(`\n ${{X}}\n ${{R}}\n {loops}\n`);'
        axis = 0 if name == "columns" else -1
        yield Case(
            "scan",
            name,
            {"X": random(*shape)},
            script,
            lambda x, axis=axis: np.cumsum(x, axis),
            lambda x, axis=axis: torch.cumsum(x, axis),
        )


def sums():
    x = (2000, 2000)
    for name, script, numpy, of_torch in [
        ("sums of rows", "let R = sum(X, [2]);", lambda x: x.sum(1), lambda x: x.sum(1)),
        ("sums of columns", "let R = sum(X, [1]);", lambda x: x.sum(0), lambda x: x.sum(0)),
        ("sum", "let R = sum(X, [1, 2]);", lambda x: x.sum(), lambda x: x.sum()),
        ("maxima of rows", "let R = max(X, [2]);", lambda x: x.max(1), lambda x: x.amax(1)),
        ("variances of rows", "let R = stored(variance(X, -1));", lambda x: x.var(1), lambda x: x.var(1, correction=0)),
    ]:
        yield Case("sum", name, {"X": random(*x)}, script, numpy, of_torch)


def transforms():
    """Fourier transforms of rows of complex numbers, by the stages of Stockham's algorithm."""
    rows, n = 256, 1024
    stages = n.bit_length() - 1
    angles = -2 * np.pi * np.arange(n // 2) / n
    arrays = {"X": random(rows, n, 2), "W": np.stack([np.cos(angles), np.sin(angles)])}
    place = lambda name, part, at: f"{name}[b][{at}][{part}]" if name in "XR" else f"{name}{part}[{at}]"
    lines = [f"for b in 0..{rows}"]
    lines += [f" local ELEM {name}{part}[{n}]" for name in "ST" for part in (0, 1)]
    for stage in range(stages):
        apart = 2**stage
        source = "X" if stage == 0 else "ST"[stage % 2]
        target = "R" if stage == stages - 1 else "TS"[stage % 2]
        first, second = f"q + {apart} * p", f"q + {apart} * p + {n // 2}"
        low, high = f"q + {2 * apart} * p", f"q + {2 * apart} * p + {apart}"
        lines += [f" for p in 0..{n // 2 // apart}", f"  for q in 0..{apart}"]
        difference = []
        for part in (0, 1):
            a, b = place(source, part, first), place(source, part, second)
            lines.append(f"   {place(target, part, low)} = {a} + {b}")
            difference.append(f"({a} - {b})")
        re, im = difference
        cos, sin = f"W[0][{apart} * p]", f"W[1][{apart} * p]"
        lines.append(f"   {place(target, 0, high)} = {re} * {cos} - {im} * {sin}")
        lines.append(f"   {place(target, 1, high)} = {re} * {sin} + {im} * {cos}")
    loops = "\n ".join(lines)
    script = f'let R = tensor([{rows}, {n}, 2], "ELEM");\nlet made = nest(`\n ${{X}}\n ${{W}}\n ${{R}}\n {loops}\n`);'

    def numpy(x, w):
        of_pairs = {np.dtype("f4"): np.complex64, np.dtype("f8"): np.complex128}[x.dtype]
        return np.fft.fft(x.view(of_pairs)[..., 0]).view(x.dtype).reshape(x.shape)

    def of_torch(x, w):
        return torch.view_as_real(torch.fft.fft(torch.view_as_complex(x)))

    yield Case("transform", f"FFT, {rows} of {n}", arrays, script, numpy, of_torch)


def cases():
    for spec, extents in CONTRACTIONS.items():
        yield contraction(spec, extents)
    yield attention("1 head", 1, 512, 64)
    yield attention("8 heads", 8, 512, 64)
    yield attention("8 heads, causal", 8, 512, 64, lambda i, j: j <= i, "vindex(j) <= vindex(i)")
    near = "(vindex(j) <= vindex(i)) & (vindex(i) - vindex(j) < 128)"
    yield attention("8 heads, window", 8, 512, 64, lambda i, j: (j <= i) & (i - j < 128), near)
    yield from norms()
    yield from mlp()
    yield from convolutions()
    yield from factorizations()
    yield from scans()
    yield from sums()
    yield from transforms()


def script_of(case, elem):
    """The script of a case, whose nests are scheduled and exported as `f`."""
    tensors = [f'let {name} = tensor({list(a.shape)}, "{elem}");' for name, a in case.arrays.items()]
    nests = "made" if "let made" in case.script else "nests(R)"
    script = case.script.replace("ELEM", elem)
    return "\n".join(['reductions("reassoc");', *tensors, script, f'export_kernel(schedules::optimize({nests}), "f");'])


def in_turns(calls, seconds):
    """The least time of each call. One after the other runs for some milliseconds, of which the last
    ones count: threads of others are at rest then."""
    best = dict.fromkeys(calls, float("inf"))
    end = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end:
        for name, call in calls.items():
            begins = time.perf_counter()
            rested = begins + 0.02
            while True:
                before = time.perf_counter()
                call()
                now = time.perf_counter()
                if before > rested:
                    best[name] = min(best[name], now - before)
                if now > rested + 0.04 and before > rested:
                    break
    return best


def measured(case, elem, options):
    """The least times of all that compute the same, by name."""
    dtype = {"f32": np.float32, "f64": np.float64}[elem]
    arrays = {name: np.ascontiguousarray(a, dtype) for name, a in case.arrays.items()}
    expected = np.asarray(case.numpy(*(a.astype(np.float64) for a in arrays.values())))
    calls = {"NumPy": lambda: case.numpy(*arrays.values())}
    for name, call in case.others.items():
        calls[name] = lambda call=call: call(*arrays.values())
    if torch and case.torch:
        given = [torch.from_numpy(a) for a in arrays.values()]
        calls["torch"] = lambda: case.torch(*given)
        if options.compiled:
            # Functions of one place in this file share a limit of compilations.
            torch.compiler.reset()
            compiled = torch.compile(case.torch)
            calls["compiled"] = lambda: compiled(*given)
    out = np.zeros(expected.shape, dtype)
    kernel = load(script_of(case, elem)).f
    calls["teml"] = lambda: kernel(**arrays, R=out)
    if options.only_teml:
        calls = {"teml": calls["teml"]}
    for name, call in list(calls.items()):
        try:
            found = call()
        except Exception as error:
            print(f"{name} cannot {case.name}: {str(error).splitlines()[0]}")
            del calls[name]
            continue
        found = out if name == "teml" else np.asarray(found)
        error = np.abs(found.reshape(expected.shape) - expected).max() / np.abs(expected).max()
        assert error < {"f32": 2e-4, "f64": 1e-11}[elem], f"{name} differs by {error:.1e}: {case.name}"
    return in_turns(calls, options.seconds)


def main():
    warnings.filterwarnings("ignore")
    every = list(cases())
    groups = list(dict.fromkeys(case.group for case in every))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", action="append", choices=groups)
    parser.add_argument("--case", help="only those whose name contains this text")
    parser.add_argument("--elem", action="append", choices=["f64", "f32"])
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--only-teml", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.7, help="for each that is measured")
    options = parser.parse_args()
    if torch:
        torch.set_num_threads(len(os.sched_getaffinity(0)))
    if pytblis:
        pytblis.set_num_threads(len(os.sched_getaffinity(0)))
    print(processor(), flush=True)
    print("| group | computation | type | teml, ms | peers, ms | teml / fastest peer |\n|---|---|---|---|---|---|", flush=True)
    ratios = {}
    for case in every:
        if case.group not in (options.group or groups) or options.case and options.case not in case.name:
            continue
        for elem in options.elem or ["f64", "f32"]:
            best = {name: 1e3 * t for name, t in measured(case, elem, options).items()}
            teml = best.pop("teml")
            peers = ", ".join(f"{name} {t:.3g}" for name, t in best.items())
            ratio = teml / min(best.values(), default=math.nan)
            ratios.setdefault(case.group, []).append(ratio)
            print(f"| {case.group} | {case.name} | {elem} | {teml:.3g} | {peers} | {ratio:.2f} |", flush=True)
    for group, of in ratios.items():
        print(f"{group}: geometric mean {statistics.geometric_mean(of):.2f} of {len(of)}")


if __name__ == "__main__":
    main()
