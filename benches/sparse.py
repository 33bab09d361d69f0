#!/usr/bin/env python3
"""Sparse kernels of teml beside SciPy and, where it is installed, PyTorch.

`python3 benches/sparse.py`, with teml's Python package on the path (PYTHONPATH=src/python, and
TEML_PROGRAM for the program). Matrices are random: rows have lengths from 0 on, the same for all or
very different ones. Each line has the minimum of runs that take turns, and the time of the peer over
that of teml.
"""

import os
import platform
import time

import numpy as np

import teml

try:
    import scipy.sparse as scipy_sparse
except ImportError:
    scipy_sparse = None
try:
    import torch
except ImportError:
    torch = None


def processor():
    with open("/proc/cpuinfo") as file:
        facts = dict(line.split(":", 1) for line in file.read().split("\n\n")[0].splitlines() if ":" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    name = facts.get("model name", platform.processor())
    return f"{name} (family {facts.get('cpu family')}, model {facts.get('model')}), {os.cpu_count()} cores"


def matrix(rows, cols, entries, skewed, seed=1):
    """Row pointers, columns and values, with about `entries` entries."""
    random = np.random.default_rng(seed)
    weights = random.pareto(1.2, rows) if skewed else np.ones(rows)
    lengths = np.minimum(random.poisson(weights / weights.sum() * entries), cols)
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    col = np.concatenate([np.sort(random.choice(cols, n, replace=False)) for n in lengths])
    return ptr.astype(np.int64), col.astype(np.int64), random.random(ptr[-1]) - 0.5


SCRIPT = """
reductions("reassoc");
let rows = {rows}; let cols = {cols}; let entries = {entries}; let width = {width};
let ptr = indices([rows + 1], entries + 1, "increasing");
let col = indices([entries], cols);
let V = tensor([entries]); let x = tensor([cols]); let X = tensor([cols, width]); let P = tensor([rows, width]);
let A = csr(ptr, col, V);
let y = einsum("ij,j->i", A, x);
let Y = einsum("ij,jk->ik", A, X);
let S = einsum("ij,ik,jk->ij", A, P, X).values;
let spmv = schedules::optimize(build(y));
let spmm = schedules::optimize(build(Y));
let sddmm = schedules::optimize(build(S));
export_kernel(spmv, "spmv"); export_kernel(spmm, "spmm"); export_kernel(sddmm, "sddmm");
"""


def in_turns(calls, seconds=1.0):
    """The least time of each call, which take turns."""
    best = {name: float("inf") for name in calls}
    end = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end:
        for name, call in calls.items():
            begins = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - begins)
    return best


def row(kernel, case, calls):
    best = in_turns(calls)
    peers = [f"{name} {best[name] * 1e6:9.1f} us ({best[name] / best['teml']:.2f})" for name in calls if name != "teml"]
    print(f"{kernel:6} {case:28} teml {best['teml'] * 1e6:9.1f} us  " + "  ".join(peers), flush=True)


def main():
    print(processor())
    for rows, cols, entries, skewed in [
        (2_000, 2_000, 40_000, False),
        (100_000, 100_000, 2_000_000, False),
        (100_000, 100_000, 2_000_000, True),
    ]:
        ptr, col, V = matrix(rows, cols, entries, skewed)
        width = 64
        case = f"{rows} rows, {len(V)} entries" + (", skewed" if skewed else "")
        random = np.random.default_rng(2)
        x, X, P = random.random(cols), random.random((cols, width)), random.random((rows, width))
        path = f"/tmp/teml_sparse_{os.getpid()}.rhai"
        with open(path, "w") as file:
            file.write(SCRIPT.format(rows=rows, cols=cols, entries=len(V), width=width))
        kernels = teml.load(path)
        os.remove(path)
        y, Y, S = np.zeros(rows), np.zeros((rows, width)), np.zeros(len(V))
        by_name = {"ptr": ptr, "col": col, "V": V, "x": x, "X": X, "P": P}
        spmv = lambda: kernels.spmv(**{n: by_name[n] for n in ("ptr", "col", "V", "x")}, y=y)
        spmm = lambda: kernels.spmm(**{n: by_name[n] for n in ("ptr", "col", "V", "X")}, Y=Y)
        sddmm = lambda: kernels.sddmm(**{n: by_name[n] for n in ("ptr", "col", "V", "P", "X")}, S=S)
        calls = {"spmv": {"teml": spmv}, "spmm": {"teml": spmm}, "sddmm": {"teml": sddmm}}
        if scipy_sparse is not None:
            A = scipy_sparse.csr_matrix((V, col, ptr), (rows, cols))
            calls["spmv"]["SciPy"] = lambda: A @ x
            calls["spmm"]["SciPy"] = lambda: A @ X
            of_row = np.repeat(np.arange(rows), np.diff(ptr))
            calls["sddmm"]["NumPy"] = lambda: V * np.einsum("ek,ek->e", P[of_row], X[col])
            spmv(), spmm(), sddmm()
            assert np.allclose(y, A @ x) and np.allclose(Y, A @ X)
            assert np.allclose(S, V * np.einsum("ek,ek->e", P[of_row], X[col]))
        if torch is not None:
            T = torch.sparse_csr_tensor(torch.tensor(ptr), torch.tensor(col), torch.tensor(V), (rows, cols))
            tx, tX, tP = (torch.tensor(a) for a in (x, X, P))
            calls["spmv"]["torch"] = lambda: T @ tx
            calls["spmm"]["torch"] = lambda: T @ tX
            calls["sddmm"]["torch"] = lambda: torch.sparse.sampled_addmm(T, tP, tX.T, beta=0.0)
        for kernel, these in calls.items():
            row(kernel, case, these)


if __name__ == "__main__":
    main()
