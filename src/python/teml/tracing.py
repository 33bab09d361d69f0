"""Kernels: functions of NumPy-like expressions, traced, compiled and called."""

import functools
import importlib.util
import inspect
import itertools
import pathlib
import threading

import numpy as np

from .arrays import returned_by, shared
from .engine import ENGINE, Error
from .tensors import Tensor
from .values import ELEMENTS, RESULTS, Function, Value, evaluate, is_name

_LETTERS = "MNKLPQRSTUVWXYZ"
_TRACES = threading.local()


def constant(array):
    """An array inside of a traced function: one more input, which every call passes."""
    traces = getattr(_TRACES, "all", None)
    if not traces:
        raise TypeError(
            "an operand is an array: tensors and arrays meet in functions of `teml.kernel`, and "
            "`teml.init(A, array)` sets the contents of a tensor"
        )
    return traces[-1].constant(array)


# The least extents that sizes stand for, from general kernels to special ones: with 16, there are
# rows enough for most windows. None: all extents are numbers.
_LEAST = (1, 16, None)


# The most shapes whose calls are counted.
_MOST_COUNTED = 10000


def _key(arguments):
    return tuple(
        [(a.dtype, a.shape, a.strides) if isinstance(a, np.ndarray) else type(a) for a in arguments]
    )


def _shapes(arguments):
    return tuple([getattr(a, "shape", ()) for a in arguments])


def _typed(values):
    """Numbers of Python as arrays: of the first floating type of the arrays, as in NumPy."""
    floats = [v.dtype for v in values if isinstance(v, np.ndarray) and v.dtype.kind == "f"]

    def typed(value):
        if isinstance(value, np.ndarray):
            return value
        return np.asarray(value, floats[0] if floats else np.result_type(type(value)))

    return [typed(value) for value in values]


class Signature:
    """Which arrays a trace is of: their types, and their shapes up to the values of sizes. Extents
    below `least` are numbers, and equal extents are one size."""

    def __init__(self, names, values, least):
        self.names, self.least, self.tensors, self.sizes = names, least, [], {}
        values = _typed(values)
        letters = (letter for letter in _LETTERS if letter not in names)
        by_extent = {}
        for name, value in zip(names, values):
            dims = []
            for extent in value.shape:
                if least is not None and extent >= least and extent > 1 and extent not in by_extent:
                    by_extent[extent] = next(letters, None) or extent
                    self.sizes[by_extent[extent]] = extent
                dims.append(by_extent.get(extent, extent))
            self.tensors.append((value.dtype.name, tuple(dims), _layout(value)))
        self.sizes = {name: extent for name, extent in self.sizes.items() if name != extent}

    def fits(self, values):
        """Whether a kernel of this signature takes these arrays."""
        found = {}
        for value, (dtype, dims, layout) in zip(_typed(values), self.tensors):
            if value.dtype.name != dtype or value.ndim != len(dims):
                return False
            if _layout(value) not in (layout, _INSTEAD.get(layout)):
                return False
            for extent, dim in zip(value.shape, dims):
                if isinstance(dim, int):
                    fits = extent == dim
                else:
                    fits = extent >= self.least and found.setdefault(dim, extent) == extent
                if not fits:
                    return False
        return True


# A kernel for arrays with gaps between their rows takes those without gaps.
_INSTEAD = {"rows": "dense", "columns": "transposed"}
_TEMPLATES = {
    "rows": "strided(tensor({}, {}))",
    "columns": "strided(tensor({}, {}))",
    "all": 'strided(tensor({}, {}), "all")',
}


def _layout(array):
    """How an array is stored: `dense`, in `rows` with gaps, its transpose in either way, or `all` for
    elements at any other distances."""
    if array.flags.c_contiguous:
        return "dense"
    if array.flags.f_contiguous:
        return "transposed"
    if array.ndim > 1:
        if _has_rows(array):
            return "rows"
        if _has_rows(array.T):
            return "columns"
    return "dense" if any(stride % array.itemsize for stride in array.strides) else "all"


def _has_rows(array):
    """Whether the elements of a row are adjacent, and rows do not overlap."""
    steps = list(zip(array.strides, array.shape))
    inner = [stride * extent for stride, extent in steps[1:]]
    return steps[-1][0] == array.itemsize and all(s >= i for (s, _), i in zip(steps, inner))


class Trace:
    """A traced function: its tensors, its results, and the nests that compute them."""

    def __init__(self, function, signature):
        self.signature, self.constants = signature, {}
        self.sizes = {
            name: evaluate(
                "size({}, {})", name, {"least": signature.least, "likely": extent}, variable=name
            )
            for name, extent in signature.sizes.items()
        }
        self.inputs = [
            self._input(name, *tensor) for name, tensor in zip(signature.names, signature.tensors)
        ]
        traces = _TRACES.__dict__.setdefault("all", [])
        code = getattr(function, "__code__", None)
        traces.append(self)
        RESULTS[code] = "result"
        try:
            result = function(*self.inputs)
        finally:
            traces.pop()
            RESULTS.pop(code, None)
        self.structure, outputs = _flat(result)
        self.outputs = []
        for number, value in enumerate(outputs):
            self.outputs.append(self._output(number, value))
        self.program = evaluate("program({})", self.outputs, variable="program")
        self.results = evaluate("variables({})", self.program)["outputs"]

    def _input(self, name, dtype, dims, layout):
        extents = [self.sizes.get(dim, dim) for dim in dims]
        if not dims:
            return evaluate("scalar({})", ELEMENTS[dtype], variable=name)
        turned = layout in ("transposed", "columns")
        template = _TEMPLATES.get(layout, "tensor({}, {})")
        tensor = evaluate(
            template, extents[::-1] if turned else extents, ELEMENTS[dtype], variable=name
        )
        return tensor.T if turned else tensor

    def _output(self, number, value):
        if isinstance(value, (int, float, np.number)):
            raise TypeError(
                f"result {number + 1} is the number {value}, which depends on no argument"
            )
        if not isinstance(value, Tensor):
            raise TypeError(
                f"result {number + 1} is {type(value).__name__}, not a tensor: a kernel returns a "
                "tensor, or a tuple, a list or a map of tensors"
            )
        taken = [
            t._name for t in [*self.inputs, *(t for t, _ in self.constants.values()), *self.outputs]
        ]
        name = value._name if value._name and value._name not in taken else f"result_{number + 1}"
        if value._virtual or name != value._name:
            return evaluate("stored({})", value, variable=name)
        return value

    def constant(self, array):
        """The input for an array that the function closes over."""
        if array.dtype.name not in ELEMENTS:
            array = array.astype(np.float64)
        for tensor, known in self.constants.values():
            if known is array:
                return tensor
        name = f"constant_{len(self.constants) + 1}"
        tensor = self._input(name, array.dtype.name, array.shape, "dense")
        self.constants[name] = (tensor, np.ascontiguousarray(array))
        return tensor

    @property
    def nests(self):
        """The nests as `build` makes them: one, or several in order."""
        nests = evaluate("nests({})", self.program)
        return nests[0] if len(nests) == 1 else nests


def _flat(result):
    """How results are nested, and all of them."""
    if isinstance(result, dict):
        return list(result), list(result.values())
    if isinstance(result, (tuple, list)):
        return type(result), list(result)
    return None, [result]


def _built(structure, arrays):
    if structure is None:
        return arrays[0]
    if isinstance(structure, list):
        return dict(zip(structure, arrays))
    return structure(arrays)


class Compiled:
    """A compiled trace. Calls take arrays in the order of the function's arguments."""

    def __init__(self, name, trace, nests):
        self.trace, self.nests, self.notes = trace, nests, ""
        listed = [nests] if isinstance(nests, Value) else list(nests)
        for nest in listed:
            if not isinstance(nest, Value):
                raise TypeError(f"a schedule returns a nest or a list of nests, not {nest!r}")
            nest._check()
        answer = ENGINE.ask(
            library={
                "name": name,
                "nests": [nest._number for nest in listed],
                "outputs": trace.results,
                "otherwise": str(ENGINE.directory),
            }
        )
        self.module = module(name, answer["directory"])
        self.function = getattr(self.module, name)
        tensors = answer["parameters"][name]
        names, outputs = trace.signature.names, trace.results
        given = [t["label"] for t in tensors if t["given"]]
        self.order = [names.index(label) if label in names else label for label in given]
        unknown = [label for label in given if label not in names and label not in trace.constants]
        if unknown:
            raise Error(
                f"nothing proves that `{name}` sets all of `{unknown[0]}` before it reads it"
            )
        by_label = {t["label"]: t["name"] for t in tensors}
        self.results = [by_label[label] for label in outputs]
        returned = [t["label"] for t in tensors if t["returned"]]
        self.places = [returned.index(label) for label in outputs]
        self.constants = {label: array for label, (_, array) in trace.constants.items()}
        # Whether the library's function is the function: the same arguments and one result.
        self.quick = getattr(self.module, f"_{name}_at_once")
        count = len(trace.signature.names)
        self.is_direct = (
            self.order == list(range(count)) and len(outputs) == 1 and trace.structure is None
        )
        # Temporaries with sizes are results of the library's function as well.
        self.is_alone = len(returned) == 1
        turned = ("transposed", "columns")
        self.is_direct = self.is_direct and not any(t[2] in turned for t in trace.signature.tensors)
        self.turned = [
            k for k, (_, _, layout) in enumerate(trace.signature.tensors) if layout in turned
        ]

    def at_once(self, values, out):
        """The call for arrays that the kernel takes as they are; None for any others."""
        if not self.is_direct:
            return None
        made = self.quick(*values, **dict(zip(self.results, out))) if out else self.quick(*values)
        return made if made is None or self.is_alone else made[self.places[0]]

    def __call__(self, values, out, returned=None):
        """The call, or why it cannot be made. `returned` makes results of arrays of NumPy."""
        if self.turned:
            values = list(values)
            for k in self.turned:
                values[k] = values[k].T
        arguments = [values[k] if isinstance(k, int) else self.constants[k] for k in self.order]
        made = self.function(*arguments, **dict(zip(self.results, out)))
        made = [made[place] for place in self.places] if isinstance(made, tuple) else [made]
        if returned is not None and not out:
            made = [returned(array) for array in made]
        return _built(self.trace.structure, made)


_MODULES = itertools.count(1)


def module(name, directory):
    """The Python module of a library."""
    path = pathlib.Path(directory) / name / "__init__.py"
    spec = importlib.util.spec_from_file_location(f"teml_library_{next(_MODULES)}", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


class Kernel:
    """A function that is traced, scheduled and compiled when it is called with arrays of new types
    or shapes. Extents become sizes, so that one kernel serves all shapes in which the same extents
    are equal; `sizes=False` compiles one for each shape. With `special=100`, shapes get a kernel of
    their own at the hundredth call."""

    def __init__(self, function, schedule=None, sizes=True, special=None):
        functools.update_wrapper(self, function)
        self.function, self.schedule, self.sizes = function, schedule, sizes
        self.special, self._specials = special, {}
        self._parameters = inspect.signature(function)
        self._names = list(self._parameters.parameters)
        wrong = [name for name in self._names if not is_name(name)]
        if wrong:
            raise TypeError(f"`{wrong[0]}` cannot be the name of a tensor, because scripts use it")
        self._compiled, self._known = [], {}
        self._lock = threading.Lock()

    def __call__(self, *arguments, out=None, **named):
        if named or len(arguments) != len(self._names):
            arguments = self._bound(arguments, named)
        out = () if out is None else tuple(out) if isinstance(out, (tuple, list)) else (out,)
        for compiled in self._candidates(arguments):
            made = compiled.at_once(arguments, out)
            if made is not None:
                return made
        if not all(isinstance(a, (np.ndarray, float, int)) for a in arguments):
            return self._of_others(arguments, out)
        return self._called(arguments, out)

    def _of_others(self, arguments, out):
        """The call for arrays of other libraries, whose results are theirs as well."""
        returned = returned_by(arguments)
        arguments = [self._array(name, value) for name, value in zip(self._names, arguments)]
        try:
            views = tuple(map(shared, out))
        except (BufferError, RuntimeError, TypeError, ValueError):
            # The slow call says why.
            views = out
        for compiled in self._candidates(arguments):
            made = compiled.at_once(arguments, views)
            if made is not None:
                return out[0] if out else made if returned is None else returned(made)
        return self._called(arguments, out, returned)

    def _candidates(self, arguments):
        """The kernels that may take these arguments, the one for their shapes first."""
        if self.special is None:
            return self._compiled
        key = _shapes(arguments)
        found = self._specials.get(key, 0)
        if isinstance(found, int):
            found = self._specials[key] = self._special(arguments, found + 1)
        return self._compiled if isinstance(found, int) else (found, *self._compiled)

    def _special(self, arguments, calls):
        """The kernel for the shapes of these arguments at the call that asks for it; otherwise, the
        number of calls."""
        # A shape that can have no kernel of its own is tried once.
        if calls != self.special:
            # Shapes that are new each time are not kept.
            if len(self._specials) > _MOST_COUNTED:
                self._specials = {k: v for k, v in self._specials.items() if not isinstance(v, int)}
            return calls
        with self._lock:
            values = self._arrays(arguments, {})
            try:
                return self._made(Trace(self.function, Signature(self._names, values, None)))
            except (Error, TypeError, IndexError):
                # The general kernel goes on.
                return calls

    def _called(self, arguments, out, returned=None):
        key = _key(arguments)
        known = self._known.get(key)
        if known is None:
            arguments = self._arrays(arguments, {})
            known = self._known[key] = self._chosen(arguments)
        special = self._specials.get(_shapes(arguments))
        if isinstance(special, Compiled) and special.trace.signature.fits(arguments):
            known = special
        return known(arguments, out, returned)

    def _bound(self, arguments, named):
        bound = self._parameters.bind(*arguments, **named)
        bound.apply_defaults()
        return list(bound.arguments.values())

    def _array(self, name, value):
        if isinstance(value, (bool, np.generic)):
            value = np.asarray(value)
        if isinstance(value, (int, float)):
            return value
        if isinstance(value, np.ma.MaskedArray):
            raise TypeError(
                f"{self.__name__}: {name} is a masked array, and a kernel would read all of it: "
                f"`{name}.filled(0)` replaces it"
            )
        try:
            array = shared(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            what = f"{self.__name__}: {name} is an array that NumPy cannot read"
            known = f"kernels have elements of type {', '.join(ELEMENTS)}"
            raise TypeError(f"{what}: {error} ({known})") from error
        if array is None:
            raise TypeError(
                f"{self.__name__}: {name} must be an array or a number, not {type(value).__name__}"
            )
        value = array
        if value.dtype.name not in ELEMENTS:
            known = ", ".join(ELEMENTS)
            raise TypeError(
                f"{self.__name__}: {name} has elements of type {value.dtype}, "
                f"and kernels have {known}"
            )
        return value

    def _chosen(self, arguments):
        """The kernel for arrays: one that was compiled before, or a new one."""
        with self._lock:
            for compiled in self._compiled:
                if compiled.trace.signature.fits(arguments):
                    return compiled
            compiled = self.compile(*arguments)
            self._compiled.insert(0, compiled)
            return compiled

    def _arrays(self, arguments, named):
        """The arguments as arrays. Numbers of Python stay: their type follows from the arrays."""
        values = self._bound(arguments, named)
        return [self._array(name, value) for name, value in zip(self._names, values)]

    def trace(self, *arguments, **named):
        """The function on tensors that are like these arrays."""
        return self._tried(self._arrays(arguments, named), lambda trace: trace)

    def compile(self, *arguments, **named):
        """The compiled kernel for arrays like these."""
        return self._tried(self._arrays(arguments, named), self._made)

    def _tried(self, values, finish):
        """The most general trace that can be finished: some functions need numbers as extents."""
        for least in _LEAST if self.sizes else _LEAST[-1:]:
            signature = Signature(self._names, values, least)
            if least is not None and not signature.sizes:
                continue
            try:
                return finish(Trace(self.function, signature))
            except (Error, TypeError, IndexError):
                # With numbers for all extents, it is the function that is wrong.
                if least is None:
                    raise

    def _made(self, trace):
        # Neither a word of C nor the name of a tensor.
        name = f"kernel_{self.__name__}" if is_name(self.__name__) else "kernel"
        if self.schedule is not None:
            return Compiled(name, trace, self.schedule(trace.nests))
        # Nobody chose the schedule, so that remarks about it are for those who ask.
        with ENGINE.collected() as notes:
            compiled = Compiled(name, trace, Function("schedules::optimize")(trace.nests))
        compiled.notes = "".join(notes)
        return compiled

    def nests(self, *arguments, **named):
        """The nests for arrays like these, before they are scheduled."""
        return self.trace(*arguments, **named).nests

    def plan(self, *arguments, **named):
        """The nests for arrays like these, as they are compiled."""
        return self.compile(*arguments, **named).nests

    def __repr__(self):
        return f"<teml kernel {self.__name__}{self._parameters}>"


def kernel(function=None, *, schedule=None, sizes=True, special=None):
    """Makes a kernel of a function of arrays: `@teml.kernel`, or
    `@teml.kernel(schedule=lambda nest: nest.parallelize("i"))`. `sizes` and `special` are those of
    `Kernel`."""
    if function is None:
        return lambda function: Kernel(function, schedule, sizes, special)
    return Kernel(function, schedule, sizes, special)


def load(file, name=None, **settings):
    """The kernels that a script exports: `teml.load("gemm.rhai", n=512).gemm(A, B)`."""
    path = pathlib.Path(file)
    answer = ENGINE.ask(
        load={
            "file": str(path),
            "name": name or path.stem.lower().replace("-", "_"),
            "settings": [(key, str(value)) for key, value in settings.items()],
            "otherwise": str(ENGINE.directory),
        }
    )
    return module(name or path.stem.lower().replace("-", "_"), answer["directory"])
