"""A session as in a notebook: trace, schedule, check, tune and call, in threads and forked."""

import concurrent.futures
import os
import pathlib
import signal
import tempfile

import numpy as np

import teml

rng = np.random.default_rng(7)


def refused(kind, part, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"not refused: {part}")


# Nests as in scripts, named after variables.
A, B = teml.tensor([48, 32]), teml.tensor([32, 40])
C = teml.einsum("ik,kj->ij", A, B)
naive = teml.build(C)
plan = naive.interchange("j", "k").parallelize("i").vectorize("j")
assert repr(plan).splitlines()[0] == "f64 C[48][40], A[48][32], B[32][40]"
assert naive.check() and plan.check().legal is True
tiles = naive.stripmine("i", 8)
assert repr(tiles.made().outer) == "i_o" and tiles.loops() == ["i_o", "i_i", "j", "k"]
assert repr(teml.eq(A, teml.arrow(*[teml.iterators(names) for names in ("i j", "j i")]))).endswith(
    "[j][i] = A[i][j]"
)
assert "stripmine(nest, " in teml.stripmine.__doc__ and "gemm" in dir(teml.schedules)
assert {"tile", "check", "autotune"} <= set(dir(naive))

# A counterexample, as a value, as text, and in a notebook.
wrong = naive.parallelize("k")
verdict = wrong.check()
assert not verdict and verdict.legal is False
assert "its iterations share C[0][0]" in verdict.to_dict()["message"]
assert '`parallelize("k")` at session.py:' in str(verdict), verdict
assert "illegal" in verdict._repr_html_() and "<pre" in naive._repr_html_()
refused(teml.Error, "in the variant `wrong`", wrong.compare)
refused(teml.Mistake, "no loop is named `nope`", naive.vectorize, "nope")
refused(AttributeError, "a nest has no attribute `nope`", getattr, naive, "nope")
refused(AttributeError, "teml has no function `nope`", getattr, teml, "nope")

# Results as data.
rows = teml.compare([naive, plan])
assert [row["name"] for row in rows.records()] == ["naive", "plan"] and rows[0].ok
assert "speed-up" in rows._repr_html_()
moves = naive.moves()
assert len(moves) == len(moves.records()) > 3
assert repr(moves[0].apply(naive)) == repr(naive.parallelize("i"))
assert plan.predict().to_dict()["seconds"] > 0
a, b = rng.random((48, 32)), rng.random((32, 40))
teml.init(A, a)
teml.init(B, b)
assert np.allclose(teml.run(plan).C, a @ b)


# The fastest point; refused points are counted.
def variant(p):
    return naive.stripmine("k", p.terms).reorder(["k_o", "i", "k_i", "j"]) if p.terms < 32 else None


best = teml.tune({"terms": [4, 8, 32], "lanes": lambda p: [p.terms]}, variant, trials=4)
assert best.parameters in ({"terms": 4, "lanes": 4}, {"terms": 8, "lanes": 8}) and best.nest.check()
assert naive.autotune(trials=3).nest.check()


# A kernel: traced, compiled once for all sizes, called on arrays of every layout.
@teml.kernel
def attention(Q, K, V, scale):
    S = Q @ K.T * scale
    e = np.exp(S - S.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ V


def expected(Q, K, V, scale):
    S = Q @ K.T * scale
    e = np.exp(S - S.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ V


def right(*arguments):
    return np.allclose(attention(*arguments), expected(*arguments))


whole = rng.random((90, 64))
Q, K, V = rng.random((12, 8)), rng.random((15, 8)), rng.random((15, 6))
assert right(Q, K, V, 0.5)
compiled = attention.plan(Q, K, V, 0.5)
assert compiled.check() and attention.nests(Q, K, V, 0.5)
for scale in (2, np.float64(0.25), np.array(0.5)):
    assert right(rng.random((7, 5)), rng.random((9, 5)), rng.random((9, 30)), scale)
count = len(attention._compiled)
assert right(Q, K, V, 1) and len(attention._compiled) == count == 1, "one kernel for all sizes"
out = np.empty((12, 6))
assert attention(Q, K, V, 0.5, out=out) is out and np.allclose(out, expected(Q, K, V, 0.5))
assert attention(Q, K=K, V=V, scale=0.5).shape == (12, 6)


@teml.kernel
def scaled(X, y):
    centered = X - X.mean(axis=0)
    return {"centered": centered, "scaled": centered * y, "first": X[1:] - X[:-1]}


for X in (whole[:12, :9], whole[::2, 3:12], whole.T[:9, :20], np.asfortranarray(whole[:12, :9])):
    y = rng.random(X.shape[1])
    made, c = scaled(X, y), X - X.mean(axis=0)
    for name, value in [("centered", c), ("scaled", c * y), ("first", X[1:] - X[:-1])]:
        assert np.allclose(made[name], value), name
X, y = rng.random((6, 5)).astype(np.float32), rng.random(5).astype(np.float32)
assert scaled(X, y)["scaled"].dtype == np.float32


# Arrays beside each other, triangles and borders.
for program in (
    lambda X, Y: np.concatenate([X, np.maximum(X @ Y.T, 0)], axis=1),
    lambda X, Y: np.stack([X, Y], axis=-1),
    lambda X, Y: np.vstack([X, Y]) * 2,
    lambda X, Y: np.hstack([X, Y]),
    lambda X, Y: np.tril(X, -1) + np.triu(Y, 2),
    lambda X, Y: np.pad(X + Y, ((1, 0), (2, 3)), constant_values=4),
):
    X, Y = rng.random((6, 5)), rng.random((6, 5))
    assert np.allclose(teml.kernel(program)(X, Y), program(X, Y))
X, y = rng.random((6, 5)).astype(np.float32), rng.random(5).astype(np.float32)


class Capsule:
    """An array of a library that hands out capsules, as PyTorch does."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


assert np.allclose(scaled(Capsule(X), Capsule(y))["scaled"], scaled(X, y)["scaled"])
refused(TypeError, "X is a masked array", scaled, np.ma.masked_array(X), y)
refused(TypeError, "elements of type float16", scaled, X.astype(np.float16), y)
refused(TypeError, "must be an array or a number, not list", scaled, X.tolist(), y)
for part in whole[:12, :18:2], whole[:12, 8::-1], whole[11::-1, :9], whole[:9, 11::-1].T:
    y = rng.random(9)
    for weights in y, y[::-1], np.broadcast_to(y[0], 9):
        expected = scaled.function(part, weights)["scaled"]
        assert np.allclose(scaled(part, weights)["scaled"], expected), (part.strides, weights.strides)
refused(ValueError, "stored row after row", attention, Q, K, V, 0.5, out=np.empty((12, 12))[:, ::2])


@teml.kernel(special=3)
def often(A, x):
    return A @ x + 1


for calls in range(1, 6):
    for n in 4, 5:
        A, x = rng.random((n, n + calls % 2)), rng.random(n + calls % 2)
        assert np.allclose(often(A, x), A @ x + 1)
# The general kernel, and those of the two shapes that came three times.
assert len(often._compiled) == 1
assert [type(found).__name__ for found in often._specials.values()].count("Compiled") == 2

# Where a shape has no kernel of its own, the general one goes on, and nothing is tried again.
tries = []


def fails(trace):
    tries.append(trace)
    raise TypeError("no kernel")


often._made = fails
A, x = rng.random((7, 8)), rng.random(8)
for calls in range(6):
    assert np.allclose(often(A, x), A @ x + 1)
assert len(tries) == 1
frozen = np.empty((12, 6))
frozen.flags.writeable = False
refused(ValueError, "read-only", attention, Q, K, V, 0.5, out=frozen)
refused(teml.Error, "cannot be contracted", attention, Q, V, V, 0.5)
refused(TypeError, "result 1 is NoneType", teml.kernel(lambda A: None), Q)
refused(TypeError, "no truth value", teml.kernel(lambda A: A if A > 0 else -A), Q)
refused(TypeError, "teml has no `numpy.fft.fft`", teml.kernel(lambda A: np.fft.fft(A)), Q)


@teml.kernel(schedule=lambda nest: nest.parallelize("i"))
def product(A, B):
    return np.einsum("ik,kj->ij", A, B)


big = [rng.random((120, 130)), rng.random((130, 110))]
wanted = big[0] @ big[1]


def computes(*_):
    return np.allclose(product(*big), wanted)


with concurrent.futures.ThreadPoolExecutor(4) as threads:
    assert all(threads.map(computes, range(12)))
child = os.fork()
if not child:
    signal.alarm(120)
    # The engine of the parent is not the child's: its nests are not there, and kernels are.
    refused(teml.Error, "belongs to an engine", naive.check)
    doubled = teml.kernel(lambda A: 2 * A)(Q)
    os._exit(not (computes() and computes() and np.allclose(doubled, 2 * Q)))
assert os.waitpid(child, 0)[1] == 0 and computes() and naive.check()

# Kernels that a script exports, with its parameters.
with tempfile.TemporaryDirectory() as directory:
    script = pathlib.Path(directory) / "scripted.rhai"
    script.write_text(
        'let n = param("n", 4); let x = tensor([n]); let y = stored(2 * x);\n'
        'export_kernel(build(y), "twice");\n'
    )
    for n in (4, 9):
        x = rng.random(n)
        assert np.allclose(teml.load(script, n=n).twice(x), 2 * x)
    refused(teml.Error, 'no param("m"', teml.load, script, m=3)
    script.write_text("let x = tensor([n]);")
    refused(teml.Error, "n", teml.load, script)

# Entries that index others are checked before a kernel reads them.
with tempfile.TemporaryDirectory() as place:
    script = pathlib.Path(place) / "rows.rhai"
    script.write_text(
        """
        let m = size("m"); let n = size("n"); let z = size("z");
        let ptr = indices([m + 1], z + 1, "increasing");
        let col = indices([z], n, "distinct", "i32");
        let V = tensor([z]); let x = tensor([n]);
        let y = einsum("ij,j->i", csr(ptr, col, V), x);
        export_kernel(schedules::optimize(build(y)), "rows");
        """
    )
    rows = teml.load(script).rows
    V, x = rng.random(9), rng.random(12)
    ptr, col = np.array([0, 2, 4, 4, 9]), np.arange(2, 11, dtype=np.int32)
    expected = [V[p:q] @ x[col[p:q]] for p, q in zip(ptr, ptr[1:])]
    assert np.allclose(rows(ptr, col, V, x), expected)
    for wrong, why in [
        ([0, 2, 1, 4, 9], "ptr has an entry less than the one before it"),
        ([0, 2, 4, 4, 10], "ptr has an entry outside of 0..10"),
    ]:
        refused(ValueError, why, rows, np.array(wrong), col, V, x)
    for at, value, why in [(8, 2, "two equal entries"), (3, 12, "outside of 0..12"), (3, -1, "outside")]:
        wrong = col.copy()
        wrong[at] = value
        refused(ValueError, why, rows, ptr, wrong, V, x)

    # Entries that nothing can change are checked once, and so are no others.
    module = teml.load(script)
    fixed = module.entries(ptr), module.entries(col)
    assert np.allclose(module.rows(*fixed, V, x), expected)
    for change in [lambda a: a.__setitem__(0, 1), lambda a: a.setflags(write=True)]:
        refused(ValueError, "", change, fixed[1])
    ptr[1] = 9
    assert np.allclose(module.rows(*fixed, V, x), expected)
    refused(ValueError, "less than the one before it", module.rows, ptr, col, V, x)
    assert np.allclose(module.rows(fixed[0][:3], fixed[1][:4], V[:4], x), expected[:2])
    refused(ValueError, "outside of 0..7", module.rows, *fixed, V, x[:7])
    for wrong, why in [([2] * 9, "two equal entries"), ([12] * 9, "outside of 0..12")]:
        refused(ValueError, why, module.rows, fixed[0], module.entries(np.array(wrong, np.int32)), V, x)
    refused(ValueError, "less than", module.rows, module.entries(np.array([0, 2, 1, 4, 9])), col, V, x)
    refused(TypeError, "must be integers", module.entries, V)

    # Columns that increase in rows.
    script.write_text(
        """
        let m = size("m"); let n = size("n"); let z = size("z");
        let ptr = indices([m + 1], z + 1, "increasing");
        let col = sorted(indices([z], n), ptr); let V = tensor([z]);
        let spread_out = scatter(V[e], [i, col[e]], #{e: ptr[i]..ptr[i + 1]});
        export_kernel(build(spread_out).vectorize("e"), "spread");
        """
    )
    spread = teml.load(script).spread
    ptr, col = np.array([0, 2, 4, 4, 9]), np.array([0, 11, 3, 7, 0, 2, 4, 6, 8])
    expected = np.zeros((4, 12))
    for i, (p, q) in enumerate(zip(ptr, ptr[1:])):
        expected[i, col[p:q]] = V[p:q]
    assert np.allclose(spread(ptr, col, V, n=12), expected)
    for at, value in [(1, 0), (3, 2), (8, 6), (5, 0)]:
        wrong = col.copy()
        wrong[at] = value
        why = "col has entries in a row of ptr that do not increase"
        refused(ValueError, why, spread, ptr, wrong, V, n=12)
print("all is well")
