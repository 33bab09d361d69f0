"""The programs of ../numpy/programs.py, traced as they are: the same functions, called by NumPy and
compiled. The named ones get sizes instead of numbers as extents."""

import inspect
import pathlib
import sys

import numpy as np

import teml

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "numpy"))
import programs

SIZES = {"softmax", "mse_loss", "first_differences", "laplacian", "outer_sum", "residual_norm"}

# They need the elements of a tensor: a vectorized function of Python, and arrays of tensors.
BEYOND = {"gelu", "histogram", "cluster_sums"}

known = 0
for name, program in vars(programs).items():
    if not inspect.isfunction(program) or name in {"i64", "digest"}:
        continue
    inputs = [p.default for p in inspect.signature(program).parameters.values()]
    # Arrays that index others are not traced.
    if any(isinstance(given, programs.Indices) for given in inputs):
        continue
    inputs = [given.values(k) for k, given in enumerate(inputs)]
    kernel = teml.kernel(program, sizes=name in SIZES)
    if name in BEYOND:
        try:
            kernel(*inputs)
        except TypeError as error:
            assert "no elements yet" in str(error), (name, error)
            continue
        raise AssertionError(f"{name} is compiled")
    expected, found = np.asarray(program(*inputs)), kernel(*inputs)
    assert found.shape == expected.shape, name
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-12), name
    assert bool(kernel._compiled[0].trace.sizes) == (name in SIZES), name
    known += 1
assert known >= 40, known
print("all is well")
