"""Arrays of PyTorch and of JAX: no copies, results of the same library, forked data loaders."""

import importlib.util

import numpy as np
import teml


def is_there(library):
    found = importlib.util.find_spec(library) is not None
    if not found:
        print(f"{library} is not installed: its arrays are not tried")
    return found


def refused(part, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except (TypeError, ValueError) as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"{part} is not refused")


@teml.kernel
def softmax(X):
    e = np.exp(X - X.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@teml.kernel
def both(A, x):
    return {"product": A @ x, "more": A + 1}


@teml.kernel
def scaled(X):
    return 3 * X


class Rows:
    """A data set whose items are computed in the processes of a loader."""

    def __init__(self, data, kernel):
        self.data, self.kernel = data, kernel

    def __len__(self):
        return len(self.data)

    def __getitem__(self, k):
        return self.kernel(self.data[k])


def of_pytorch():
    import torch
    from torch.utils.data import DataLoader

    data = torch.rand(8, 30, 20, dtype=torch.float64)
    X = data[0]
    Y = softmax(X)
    assert isinstance(Y, torch.Tensor) and torch.allclose(Y, torch.softmax(X, 1))
    made = both(X, torch.ones(20, dtype=torch.float64))
    assert all(isinstance(value, torch.Tensor) for value in made.values())
    assert torch.allclose(made["product"], X.sum(1)) and torch.equal(made["more"], X + 1)
    # Rows of a larger tensor, a transposed one, and memory that is written where it is.
    for view in (torch.rand(60, 40, dtype=torch.float64)[5:35, 3:23], data[1].T):
        assert torch.allclose(softmax(view), torch.softmax(view, 1))
    place = torch.zeros(30, 20, dtype=torch.float64)
    address = place.data_ptr()
    assert softmax(X, out=place) is place and place.data_ptr() == address
    assert torch.allclose(place, torch.softmax(X, 1))
    single = softmax(X.float())
    assert single.dtype == torch.float32 and torch.allclose(single, torch.softmax(X.float(), 1))
    # With arrays of two libraries, results are NumPy's.
    assert isinstance(both(X, np.ones(20))["product"], np.ndarray)
    refused("tensor.detach()", softmax, X.clone().requires_grad_())
    refused("kernels have elements of type", softmax, X.bfloat16())
    refused("shape", softmax, X, out=torch.empty(30, 21, dtype=torch.float64))
    refused("np.ascontiguousarray", softmax, torch.rand(30, 40, dtype=torch.float64)[:, ::2])
    # Two processes are forked, with threads of PyTorch in this one; the last kernel is compiled
    # there.
    for kernel, expected in ((softmax, torch.softmax(data, 2)), (scaled, 3 * data)):
        batches = list(DataLoader(Rows(data, kernel), batch_size=4, num_workers=2))
        assert torch.allclose(torch.cat(batches), expected)


def of_jax():
    import jax.numpy as jnp

    X = jnp.asarray(np.random.rand(30, 20).astype(np.float32))
    Y = softmax(X)
    assert type(Y) is type(X) and np.allclose(Y, softmax(np.asarray(X)))
    refused("read-only", softmax, X, out=X)


if is_there("torch"):
    of_pytorch()
if is_there("jax"):
    of_jax()
print("all is well")
