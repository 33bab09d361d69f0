"""teml for Python: kernels of NumPy-like functions, and every function of teml's scripts.

`teml.kernel` makes a kernel of a function, `teml.load` takes the kernels that a script exports.
`teml.tensor`, `teml.build`, `teml.compare`, `teml.schedules.gemm` and all others are functions of
scripts; `help(teml.build)` shows their help. Functions that take a nest first are its methods.
"""

from .engine import ENGINE, Error, Limitation, Mistake, Refusal, Warning
from .search import tune
from .tensors import Tensor
from .tracing import Kernel, Trace, kernel, load
from .values import (
    Arrow,
    Function,
    Index,
    Moves,
    Namespace,
    Nest,
    Nests,
    Prediction,
    Record,
    Rows,
    Value,
    Verdict,
    evaluate,
    evaluate_text,
)

__all__ = [
    "Error",
    "Index",
    "Kernel",
    "Limitation",
    "Mistake",
    "Moves",
    "Nest",
    "Nests",
    "Prediction",
    "Record",
    "Refusal",
    "Rows",
    "Tensor",
    "Trace",
    "Value",
    "Verdict",
    "Warning",
    "arrow",
    "iterators",
    "kernel",
    "load",
    "rhai",
    "tune",
]


def arrow(source, target):
    """`source -> target`, as in `teml.eq(A, teml.arrow([i, j], [j, i]))`."""
    return Arrow(source, target)


def iterators(names):
    """Iterators: `i, j, k = teml.iterators("i j k")`."""
    made = [
        evaluate("iter({})", name, variable=f"{name}_") for name in names.replace(",", " ").split()
    ]
    return made[0] if len(made) == 1 else made


def rhai(text, **values):
    """The value of a statement of a script, in which the keywords are variables."""
    return evaluate_text(text, values)


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    if name in ENGINE.catalog:
        return Function(name)
    if any(known.startswith(f"{name}::") for known in ENGINE.catalog):
        return Namespace(name)
    raise AttributeError(f"teml has no function `{name}`")


def __dir__():
    return [*__all__, *{known.split("::")[0] for known in ENGINE.catalog}]
