"""Tensors with NumPy's operators, functions and methods."""

import math

import numpy as np

from .engine import ENGINE
from .values import _KINDS, Index, Value, evaluate, value_of

# NumPy's functions of elements, as scripts write them. Those with the same name are not listed.
_OPERATORS = {
    "add": "{} + {}",
    "subtract": "{} - {}",
    "multiply": "{} * {}",
    "divide": "{} / {}",
    "true_divide": "{} / {}",
    "power": "{} ** {}",
    "float_power": "{} ** {}",
    "remainder": "{} % {}",
    "floor_divide": "floor({} / {})",
    "matmul": "matmul({}, {})",
    "negative": "-{}",
    "positive": "{}",
    "greater": "{} > {}",
    "greater_equal": "{} >= {}",
    "less": "{} < {}",
    "less_equal": "{} <= {}",
    "equal": 'vselect({}, "==", {}, 1, 0)',
    "not_equal": 'vselect({}, "!=", {}, 1, 0)',
    "logical_and": "({}) & ({})",
    "logical_or": "({}) | ({})",
    "logical_not": "!({})",
    "bitwise_and": "({}) & ({})",
    "bitwise_or": "({}) | ({})",
    "invert": "!({})",
    "absolute": "abs({})",
    "fabs": "abs({})",
    "rint": "round({})",
    "fmax": "maximum({}, {})",
    "fmin": "minimum({}, {})",
    "reciprocal": "1 / {}",
}

_FUNCTIONS = {}


def implements(*functions):
    """Registers what NumPy's functions do with tensors."""

    def register(own):
        _FUNCTIONS.update((function, own) for function in functions)
        return own

    return register


def _operand(value, beside=()):
    """An operand of a tensor: arrays are constants of the trace."""
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return value.item()
        from .tracing import constant

        return constant(value)
    return value


def apply(name, *values):
    """A function of elements, by NumPy's name."""
    template = _OPERATORS.get(name)
    if template is None:
        template = f"{name}({', '.join(['{}'] * len(values))})"
    return evaluate(template, *map(_operand, values))


def _binary(name):
    def forward(self, other):
        return apply(name, self, other)

    def backward(self, other):
        return apply(name, other, self)

    return forward, backward


class Tensor(Value):
    """A tensor, or an expression of tensors. It has NumPy's operators, and NumPy's functions and
    methods count dimensions from 0. Functions of `teml` count them from 1, as scripts do."""

    __array_priority__ = 1000

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("subtract")
    __mul__, __rmul__ = _binary("multiply")
    __truediv__, __rtruediv__ = _binary("divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide")
    __mod__, __rmod__ = _binary("remainder")
    __pow__, __rpow__ = _binary("power")
    __matmul__, __rmatmul__ = _binary("matmul")
    __and__, __rand__ = _binary("logical_and")
    __or__, __ror__ = _binary("logical_or")
    __gt__, __lt__ = _binary("greater")[0], _binary("less")[0]
    __ge__, __le__ = _binary("greater_equal")[0], _binary("less_equal")[0]
    __eq__, __ne__ = _binary("equal")[0], _binary("not_equal")[0]
    __hash__ = object.__hash__

    def __neg__(self):
        return apply("negative", self)

    def __pos__(self):
        return self

    def __abs__(self):
        return apply("absolute", self)

    def __invert__(self):
        return apply("invert", self)

    def __bool__(self):
        raise TypeError(
            "a tensor has no truth value: `np.where(A > 0, x, y)` chooses for each element"
        )

    def __array__(self, *_, **__):
        raise TypeError(
            "a tensor of teml has no elements yet: NumPy's functions that teml knows take it, and "
            "`teml.run(C)` computes it"
        )

    def __float__(self):
        raise TypeError("a tensor of teml is not a number: it has no elements yet")

    __int__ = __index__ = __float__

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if method != "__call__" or options:
            return NotImplemented
        return apply(ufunc.__name__, *inputs)

    def __array_function__(self, function, types, arguments, options):
        own = _FUNCTIONS.get(function)
        if own is None:
            raise TypeError(f"teml has no `{function.__module__}.{function.__name__}` of tensors")
        return own(*arguments, **options)

    @property
    def shape(self):
        """The extents: numbers and sizes."""
        if "_shape" not in self.__dict__:
            self.__dict__["_shape"] = tuple(value_of(ENGINE.ask(extents=self._number)))
        return self.__dict__["_shape"]

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def T(self):
        return evaluate("vtranspose({})", self) if self.ndim > 1 else self

    def __len__(self):
        if not self.shape or isinstance(self.shape[0], Index):
            raise TypeError("this tensor has no length that is a number")
        return self.shape[0]

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key):
        return _part(self, key)

    def astype(self, dtype):
        return evaluate("vcast({}, {})", self, np.dtype(dtype))

    def copy(self):
        return evaluate("stored({})", self)

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        if not axes or axes == (None,):
            return self.T
        return evaluate("vtranspose({}, {})", self, [_dimension(self, axis) for axis in axes])

    def swapaxes(self, first, second):
        order = list(range(self.ndim))
        order[first], order[second] = order[second], order[first]
        return self.transpose(*order)

    def reshape(self, *shape):
        return _reshaped(self, shape[0] if isinstance(shape[0], (tuple, list)) else shape)

    def ravel(self):
        return self.reshape(-1)

    def sum(self, axis=None, keepdims=False):
        return _reduced("sum", self, axis, keepdims)

    def prod(self, axis=None, keepdims=False):
        return _reduced("prod", self, axis, keepdims)

    def min(self, axis=None, keepdims=False):
        return _reduced("min", self, axis, keepdims)

    def max(self, axis=None, keepdims=False):
        return _reduced("max", self, axis, keepdims)

    def mean(self, axis=None, keepdims=False):
        return _reduced("mean", self, axis, keepdims)

    def var(self, axis=None, keepdims=False):
        centered = self - self.mean(axis, keepdims=True)
        return (centered * centered).mean(axis, keepdims)

    def std(self, axis=None, keepdims=False):
        return apply("sqrt", self.var(axis, keepdims))

    def argmax(self, axis=None):
        return _index("argmax", self, axis)

    def argmin(self, axis=None):
        return _index("argmin", self, axis)

    def cumsum(self, axis=None):
        return _running_sum(self, axis)

    def clip(self, low=None, high=None):
        return _clipped(self, low, high)

    def round(self, decimals=0):
        return (
            apply("rint", self)
            if not decimals
            else apply("rint", self * 10.0**decimals) / 10.0**decimals
        )

    def dot(self, other):
        return self @ other

    def trace(self):
        return evaluate("trace({})", self)


_KINDS["tensor"] = Tensor


def _dimension(tensor, axis):
    """NumPy's axis as a dimension of scripts, which count from 1."""
    if not -tensor.ndim <= axis < tensor.ndim:
        raise np.exceptions.AxisError(axis, tensor.ndim)
    return axis % tensor.ndim + 1


def _reduced(name, tensor, axis, keepdims):
    axes = range(tensor.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    over = [_dimension(tensor, axis) for axis in axes]
    options = {"keep": True} if keepdims else {}
    if not over:
        return tensor
    if not options:
        return evaluate(f"{name}({{}}, {{}})", tensor, over)
    return evaluate(f"{name}({{}}, {{}}, {{}})", tensor, over, options)


def _index(name, tensor, axis):
    if axis is None and tensor.ndim != 1:
        raise TypeError(f"`{name}` needs an axis")
    return evaluate(f"{name}({{}}, {{}})", tensor, _dimension(tensor, axis or 0))


def _iterators(count, letter="i"):
    return [f"{letter}{k + 1}" for k in range(count)]


def _part(tensor, key):
    """Indices, slices, new dimensions and an ellipsis, as NumPy reads them."""
    keys = list(key) if isinstance(key, tuple) else [key]
    taken = sum(k is not None and k is not Ellipsis for k in keys)
    if taken > tensor.ndim:
        raise IndexError(f"a tensor with {tensor.ndim} dimensions has no {taken} indices")
    rest = [slice(None)] * (tensor.ndim - taken)
    if Ellipsis in [k for k in keys if not isinstance(k, Value)]:
        at = keys.index(Ellipsis)
        keys[at : at + 1] = rest
    else:
        keys += rest
    if all(isinstance(k, slice) and k == slice(None) for k in keys):
        return tensor
    extents = iter(tensor.shape)
    source, target, shape, ranges = [], [], [], {}
    for k in keys:
        if k is None:
            target.append(Text("0"))
            shape.append(1)
            continue
        extent = next(extents)
        if isinstance(k, (int, np.integer)):
            source.append(extent + int(k) if k < 0 else int(k))
        elif isinstance(k, slice):
            name = f"i{len(source) + 1}"
            start, count, step = _slice(k, extent)
            source.append(Text(f"{{}} + {step} * {name}", start))
            target.append(Text(name))
            shape.append(count)
            ranges[name] = Text("0..{}", count)
        else:
            raise TypeError(
                f"a tensor cannot be indexed with {type(k).__name__}: an index is a number, "
                "a slice, `...` or None; `np.where` selects by a condition"
            )
    template, values = Text.all(source)
    into, others = Text.all(target)
    extents, more = Text.all(shape)
    where = ", ".join(f"{name}: {text.text}" for name, text in ranges.items())
    last = [value for text in ranges.values() for value in text.values]
    arguments = f"[{template}] -> [{into}], [{extents}]"
    arguments += f", #{{{{{where}}}}}" if ranges else ""
    return evaluate(f"eq({{}}, {arguments})", tensor, *values, *others, *more, *last)


class Text:
    """A part of a statement, with `{}` for its values."""

    def __init__(self, text, *values):
        self.text, self.values = text, values

    @staticmethod
    def all(items):
        """A list of parts and values as one text."""
        items = [item if isinstance(item, Text) else Text("{}", item) for item in items]
        return ", ".join(i.text for i in items), [v for item in items for v in item.values]


def _slice(key, extent):
    """The first index, the number of indices, and their distance."""
    step = 1 if key.step is None else int(key.step)
    if isinstance(extent, int):
        indices = range(*key.indices(extent))
        if not indices:
            raise IndexError(f"the slice {key.start}:{key.stop} of {extent} elements is empty")
        return indices.start, len(indices), step

    def bound(given, otherwise):
        if given is None:
            return otherwise
        is_behind = not isinstance(given, Index) and given < 0
        return extent + int(given) if is_behind else given

    if step == -1 and key.start is None and key.stop is None:
        return extent - 1, extent, step
    if step != 1:
        raise TypeError(
            f"a slice with the step {step} needs an extent that is a number, not {extent}"
        )
    start, stop = bound(key.start, 0), bound(key.stop, extent)
    return start, stop - start, step


def _reshaped(tensor, shape):
    """Dimensions joined and split, where each new one is a part or a product of old ones."""
    old = tensor.shape
    if not all(isinstance(extent, int) for extent in old):
        raise TypeError("`reshape` needs extents that are numbers, not sizes")
    count = math.prod(old)
    shape = [int(extent) for extent in shape]
    if -1 in shape:
        shape[shape.index(-1)] = count // max(1, -math.prod(shape))
    if math.prod(shape) != count:
        raise ValueError(f"{count} elements have no shape {tuple(shape)}")
    source, target, ranges = [], [], {}
    old, new = list(old), list(shape)
    a = b = 0
    while a < len(old) or b < len(new):
        left, right = [old[a]] if a < len(old) else [], [new[b]] if b < len(new) else []
        a, b = a + len(left), b + len(right)
        while math.prod(left) != math.prod(right):
            if math.prod(left) < math.prod(right):
                left.append(old[a])
                a += 1
            else:
                right.append(new[b])
                b += 1
        if len(left) > 1 and len(right) > 1:
            raise TypeError(
                f"`reshape` from {tuple(old)} to {tuple(new)} cuts and joins dimensions"
            )
        many = left if len(left) > 1 else right
        names = [f"i{len(ranges) + k + 1}" for k in range(len(many))]
        ranges.update(zip(names, many))
        flat = [f"{math.prod(many[k + 1 :])} * {name}" for k, name in enumerate(names)]
        source += names if len(left) == len(names) and len(left) > 1 else [" + ".join(flat) or "0"]
        target += (
            names if len(right) == len(names) and not len(left) > 1 else [" + ".join(flat) or "0"]
        )
        if len(left) == 0:
            source.pop()
        if len(right) == 0:
            target.pop()
    where = ", ".join(f"{name}: 0..{extent}" for name, extent in ranges.items())
    text = f"eq({{}}, [{', '.join(source)}] -> [{', '.join(target)}], {{}}, #{{{{{where}}}}})"
    return evaluate(text, tensor, shape)


def _running_sum(tensor, axis):
    if axis is None and tensor.ndim != 1:
        raise TypeError("`cumsum` needs an axis")
    at = _dimension(tensor, axis or 0) - 1
    names = _iterators(tensor.ndim)
    inside = [*names[:at], "k", *names[at + 1 :]]
    text = (
        f"eq(vsum(vat({{}}, [{', '.join(inside)}]), [k], #{{{{k: 0..{names[at]} + 1}}}}), "
        f"[{', '.join(names)}], {{}})"
    )
    return evaluate(text, tensor, list(tensor.shape))


def _clipped(tensor, low=None, high=None):
    if low is not None:
        tensor = apply("maximum", tensor, low)
    return tensor if high is None else apply("minimum", tensor, high)


def _reduction(name):
    @implements(getattr(np, name))
    def reduce(a, axis=None, keepdims=False):
        return getattr(a, name)(axis, keepdims)


for _name in ("sum", "prod", "mean", "var", "std"):
    _reduction(_name)


@implements(np.max, np.amax)
def _(a, axis=None, keepdims=False):
    return a.max(axis, keepdims)


@implements(np.min, np.amin)
def _(a, axis=None, keepdims=False):
    return a.min(axis, keepdims)


@implements(np.argmax)
def _(a, axis=None):
    return a.argmax(axis)


@implements(np.argmin)
def _(a, axis=None):
    return a.argmin(axis)


@implements(np.cumsum)
def _(a, axis=None):
    return a.cumsum(axis)


@implements(np.where)
def _(condition, x, y):
    return evaluate("where({}, {}, {})", _operand(condition), _operand(x), _operand(y))


@implements(np.clip)
def _(a, a_min=None, a_max=None, min=None, max=None):
    return _clipped(a, a_min if min is None else min, a_max if max is None else max)


@implements(np.round, np.around)
def _(a, decimals=0):
    return a.round(decimals)


@implements(np.einsum)
def _(spec, *operands):
    holes = ", ".join(["{}"] * len(operands))
    return evaluate(f"einsum({{}}, {holes})", spec, *map(_operand, operands))


@implements(np.dot, np.inner)
def _(a, b):
    return apply("matmul", a, b)


@implements(np.outer)
def _(a, b):
    return apply("multiply", a[:, None], b[None, :])


@implements(np.transpose)
def _(a, axes=None):
    return a.transpose(*(axes or ()))


@implements(np.swapaxes)
def _(a, first, second):
    return a.swapaxes(first, second)


@implements(np.reshape)
def _(a, shape):
    return a.reshape(shape)


@implements(np.trace)
def _(a):
    return a.trace()


@implements(np.concatenate)
def _(arrays, axis=0):
    arrays = [_operand(a) for a in arrays]
    tensor = next(a for a in arrays if isinstance(a, Tensor))
    return evaluate("concat({}, {})", arrays, _dimension(tensor, axis))


@implements(np.stack)
def _(arrays, axis=0):
    arrays = [_operand(a) for a in arrays]
    before = (slice(None),) * (axis % (arrays[0].ndim + 1))
    return np.concatenate([a[(*before, None)] for a in arrays], len(before))


@implements(np.vstack)
def _(arrays):
    arrays = [_operand(a) for a in arrays]
    return np.concatenate([a[None] if a.ndim == 1 else a for a in arrays])


@implements(np.hstack)
def _(arrays):
    return np.concatenate(arrays, min(arrays[0].ndim, 2) - 1)


def _triangle(tensor, relation, diagonal):
    """The elements of the last two dimensions on one side of a diagonal, and 0 on the other."""
    names = _iterators(tensor.ndim)
    row, column = names[-2:]
    text = (
        f"vselect(vindex({column} - ({diagonal})), \"{relation}\", vindex({row}), {{}}, 0, "
        f"[(), (), [{', '.join(names)}], ()])"
    )
    return evaluate(f"stored(veq({text}, [{', '.join(names)}]))", tensor)


@implements(np.tril)
def _(m, k=0):
    return _triangle(m, "<=", k)


@implements(np.triu)
def _(m, k=0):
    return _triangle(m, ">=", k)


@implements(np.pad)
def _(array, pad_width, mode="constant", constant_values=0):
    if mode != "constant" or not isinstance(constant_values, (int, float)):
        raise TypeError("teml pads with one number: `np.pad(x, 1)`, `constant_values=2`")
    borders = np.broadcast_to(pad_width, (array.ndim, 2)).tolist()
    return evaluate("padded({}, {}, {})", array, borders, constant_values)


@implements(np.repeat)
def _(a, repeats, axis):
    at = _dimension(a, axis) - 1
    names = _iterators(a.ndim)
    target = [*names[:at], f"{repeats} * {names[at]} + k", *names[at + 1 :]]
    shape = [*a.shape[:at], a.shape[at] * repeats, *a.shape[at + 1 :]]
    text = (
        f"eq({{}}, [{', '.join(names)}] -> [{', '.join(target)}], {{}}, #{{{{k: 0..{repeats}}}}})"
    )
    return evaluate(text, a, shape)


@implements(np.linalg.norm)
def _(x, ord=None, axis=None, keepdims=False):
    if ord not in (None, 2, "fro"):
        raise TypeError(f"teml has no norm of the order {ord!r}")
    return apply("sqrt", (x * x).sum(axis, keepdims))


@implements(np.shape)
def _(a):
    return a.shape


@implements(np.ndim)
def _(a):
    return a.ndim


@implements(np.zeros_like)
def _(a):
    return a * 0


@implements(np.ones_like)
def _(a):
    return a * 0 + 1
