#!/usr/bin/env python3
"""Sparse kernels of teml beside SciPy and, where they are installed, PyTorch, pyttb and sparse.

`python3 benches/sparse.py`, with teml's Python package on the path (PYTHONPATH=src/python, and
TEML_PROGRAM for the program). Matrices are random: rows have lengths from 0 on, the same for all or
very different ones. Indices are of 32 bits, which SciPy and PyTorch compute with. All check them once,
before the calls that are timed; `--each-call` lets teml check them at each call. Each line has the
minimum of runs that take turns, and the time of the peer over that of teml.
"""

import importlib
import os
import platform
import sys
import tempfile
import time
import warnings

import numpy as np

import teml

# A library has the name of this file.
sys.path.pop(0)

EACH_CALL = "--each-call" in sys.argv


def library(name):
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed: its column is left out")
        return None


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
    return ptr.astype(np.int32), col.astype(np.int32), random.random(ptr[-1]) - 0.5


def tensor(extents, entries, seed=1):
    """The indices of a random tensor in each mode, sorted, without duplicates, and values."""
    random = np.random.default_rng(seed)
    # Places near 0 are more frequent, as in most data.
    at = [(random.random(entries) ** 2 * n).astype(np.int32) for n in extents]
    at = np.unique(np.stack(at, axis=1), axis=0)
    return [np.ascontiguousarray(of) for of in at.T], random.random(len(at)) - 0.5


def tree(at):
    """The nodes and pointers of the CSF format."""
    nodes, pointers, starts = [], [], None
    changed = np.zeros(len(at[0]), bool)
    for of in at[:-1]:
        changed[1:] |= of[1:] != of[:-1]
        changed[0] = True
        now = np.flatnonzero(changed)
        nodes.append(of[now])
        if starts is not None:
            pointers.append(np.append(np.searchsorted(now, starts), len(now)).astype(np.int32))
        starts = now
    pointers.append(np.append(starts, len(at[0])).astype(np.int32))
    return nodes + [at[-1]], pointers


MATRIX = """
reductions("reassoc");
let rows = {rows}; let cols = {cols}; let entries = {entries}; let width = {width};
let ptr = indices([rows + 1], entries + 1, "increasing", "i32");
let col = indices([entries], cols, "any", "i32");
let V = tensor([entries]); let x = tensor([cols]); let X = tensor([cols, width]); let P = tensor([rows, width]);
let A = csr(ptr, col, V);
let y = einsum("ij,j->i", A, x);
let Y = einsum("ij,jk->ik", A, X);
let S = einsum("ij,ik,jk->ij", A, P, X).values;
export_kernel(schedules::optimize(build(y)), "spmv");
export_kernel(schedules::optimize(build(Y)), "spmm");
export_kernel(schedules::optimize(build(S)), "sddmm");
"""

TENSOR = """
reductions("reassoc");
let r = {width};
let B = tensor([{extents[1]}, r]); let C = tensor([{extents[2]}, r]); let V = tensor([{entries}]);
let a = indices([{nodes[0]}], {extents[0]}, "distinct", "i32");
let b = indices([{nodes[1]}], {extents[1]}, "any", "i32");
let c = indices([{entries}], {extents[2]}, "any", "i32");
let p = indices([{nodes[0]} + 1], {nodes[1]} + 1, "increasing", "i32");
let q = indices([{nodes[1]} + 1], {entries} + 1, "increasing", "i32");
let M = einsum("ijk,jr,kr->ir", csf([a, b, c], [p, q], V), B, C);
export_kernel(schedules::optimize(build(M)), "mttkrp");
"""


def load(script):
    """The kernels that a script exports."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sparse.rhai")
        with open(path, "w") as file:
            file.write(script)
        return teml.load(path)


def checked(kernels, array):
    """A copy that kernels need not check at each call, unless that is asked for."""
    return array if EACH_CALL else kernels.entries(array)


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


def row(kernel, case, result, calls):
    """Prints a line, after each peer has given the same result."""
    calls["teml"]()
    for name, call in calls.items():
        found = call() if name != "teml" else result
        assert np.allclose(np.asarray(found).reshape(result.shape), result), f"{name} computes another {kernel}"
    best = in_turns(calls)
    peers = [f"{name} {best[name] * 1e6:9.1f} us ({best[name] / best['teml']:.2f})" for name in calls if name != "teml"]
    print(f"{kernel:6} {case:38} teml {best['teml'] * 1e6:9.1f} us  " + "  ".join(peers), flush=True)


def matrices(scipy_sparse, torch, rows, cols, entries, skewed, width=64):
    ptr, col, V = matrix(rows, cols, entries, skewed)
    case = f"{rows} rows, {len(V)} entries" + (", skewed" if skewed else "")
    random = np.random.default_rng(2)
    x, X, P = random.random(cols), random.random((cols, width)), random.random((rows, width))
    kernels = load(MATRIX.format(rows=rows, cols=cols, entries=len(V), width=width))
    y, Y, S = np.zeros(rows), np.zeros((rows, width)), np.zeros(len(V))
    A = {"ptr": checked(kernels, ptr), "col": checked(kernels, col), "V": V}
    calls = {
        "spmv": (y, {"teml": lambda: kernels.spmv(**A, x=x, y=y)}),
        "spmm": (Y, {"teml": lambda: kernels.spmm(**A, X=X, Y=Y)}),
        "sddmm": (S, {"teml": lambda: kernels.sddmm(**A, P=P, X=X, S=S)}),
    }
    of_row = np.repeat(np.arange(rows), np.diff(ptr))
    calls["sddmm"][1]["NumPy"] = lambda: V * np.einsum("ek,ek->e", P[of_row], X[col])
    if scipy_sparse:
        B = scipy_sparse.csr_matrix((V, col, ptr), (rows, cols))
        calls["spmv"][1]["SciPy"] = lambda: B @ x
        calls["spmm"][1]["SciPy"] = lambda: B @ X
    if torch:
        T = torch.sparse_csr_tensor(torch.tensor(ptr), torch.tensor(col), torch.tensor(V), (rows, cols))
        ones = torch.sparse_csr_tensor(torch.tensor(ptr), torch.tensor(col), torch.ones(len(V), dtype=torch.float64), (rows, cols))
        tx, tX, tP, tV = (torch.from_numpy(a) for a in (x, X, P, V))
        calls["spmv"][1]["torch"] = lambda: T @ tx
        calls["spmm"][1]["torch"] = lambda: T @ tX
        calls["sddmm"][1]["torch"] = lambda: tV * torch.sparse.sampled_addmm(ones, tP, tX.T, beta=0.0).values()
    for kernel, (result, these) in calls.items():
        row(kernel, case, result, these)


def tensors(scipy_sparse, torch, pyttb, sparse, extents, entries, width=32):
    """MTTKRP. No peer has it for lists of entries but pyttb; the others compose it."""
    at, V = tensor(extents, entries)
    nodes, pointers = tree(at)
    random = np.random.default_rng(2)
    B, C = random.random((extents[1], width)), random.random((extents[2], width))
    script = TENSOR.format(extents=extents, entries=len(V), width=width, nodes=[len(n) for n in nodes])
    kernels = load(script)
    kernel = kernels.mttkrp
    M = np.zeros((extents[0], width))
    of_nodes = {name: checked(kernels, of) for name, of in zip("abcpq", [*nodes, *pointers])}
    calls = {"teml": lambda: kernel(**of_nodes, V=V, B=B, C=C, M=M)}
    if scipy_sparse:
        rows = scipy_sparse.csr_matrix((V, (at[0], np.arange(len(V)))), (extents[0], len(V)))
        calls["SciPy"] = lambda: rows @ (B[at[1]] * C[at[2]])
    if torch:
        tB, tC, tV = (torch.from_numpy(a) for a in (B, C, V))
        ta, tb, tc = (torch.from_numpy(a) for a in at)
        zeros = torch.zeros(extents[0], width, dtype=torch.float64)
        calls["torch"] = lambda: zeros.index_add(0, ta, tV[:, None] * tB[tb] * tC[tc])
    if pyttb:
        X = pyttb.sptensor(np.stack(at, axis=1).astype(int), V[:, None], tuple(extents))
        A = np.ones((extents[0], width))
        calls["pyttb"] = lambda: X.mttkrp([A, B, C], 0)
    if sparse:
        S = sparse.COO(np.stack(at), V, tuple(extents))
        calls["sparse"] = lambda: sparse.einsum("ijk,jr,kr->ir", S, B, C).todense()
    row("mttkrp", f"{extents} {len(V)} entries", M, calls)


def main():
    warnings.filterwarnings("ignore")
    print(processor())
    scipy_sparse, torch, pyttb, sparse = (library(name) for name in ("scipy.sparse", "torch", "pyttb", "sparse"))
    for rows, entries, skewed in [
        (2_000, 40_000, False),
        (10_000, 2_000_000, False),
        (100_000, 2_000_000, False),
        (100_000, 2_000_000, True),
    ]:
        matrices(scipy_sparse, torch, rows, rows, entries, skewed)
    for extents, entries in [((300, 400, 500), 40_000), ((12_000, 9_000, 28_000), 2_000_000)]:
        tensors(scipy_sparse, torch, pyttb, sparse, extents, entries)


if __name__ == "__main__":
    main()
