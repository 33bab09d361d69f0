
_library = ctypes.CDLL(_PATH)
# Functions that take Python's objects keep its lock.
_objects = ctypes.PyDLL(_PATH)
_Object, _Integer = ctypes.py_object, ctypes.c_int64
_float64, _float32 = np.dtype("float64"), np.dtype("float32")
_int64, _int32 = np.dtype("int64"), np.dtype("int32")
# Whether a device failed, if kernels run on one.
_FAILED = None
if hasattr(_library, "teml_device_failed"):
    _FAILED = ctypes.c_int.in_dll(_library, "teml_device_failed")
# Why arguments need a closer look.
_SLOW = (AttributeError, IndexError, TypeError, ValueError, ctypes.ArgumentError)


def _quick(name, types):
    """The function of the library that takes arrays as they are, if it has one."""
    function = getattr(_objects, name, None)
    if function is None:
        return lambda *_: True
    function.argtypes, function.restype = types, ctypes.c_int
    return function


if hasattr(_objects, "teml_python"):
    _objects.teml_python.argtypes = [_Object] * 3
    _objects.teml_python(np.ndarray, float, int)


class _Tensor:
    def __init__(self, name, shape, dtype, written, alignment, strided, entries=None):
        self.name, self.shape, self.written, self.strided = name, shape, written, strided
        self.entries = entries
        self.dtype = np.dtype(dtype)
        self.alignment = max(alignment, self.dtype.alignment)

    def new(self, function=None, *given):
        """An array for a result of a function, beside those that are given."""
        like = next(filter(_is_of_device, given), None)
        if like is not None:
            return _new_of_device(function, self, like)
        size = int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize
        memory = np.empty(size + self.alignment, np.uint8)
        start = -memory.ctypes.data % self.alignment
        return memory[start:start + size].view(self.dtype).reshape(self.shape)

    def check(self, function, array):
        """Refuses an array that the kernel would misread."""
        name = f"{function}: {self.name}"
        if array.dtype != self.dtype:
            raise TypeError(
                f"{name} must have elements of type {self.dtype}, not {array.dtype}; "
                f"astype(np.{self.dtype}) converts them"
            )
        if array.shape != self.shape:
            raise ValueError(f"{name} must have the shape {self.shape}, not {array.shape}")
        if not self.fits(array):
            needs = {
                None: "be stored row after row, without gaps",
                "rows": "have adjacent elements in rows that do not overlap",
                "all": "have whole elements, each in a place of its own if they are written",
            }
            raise ValueError(
                f"{name} must {needs[self.strided]}; its strides are {array.strides} bytes, and "
                "np.ascontiguousarray makes a copy that is as it must be"
            )
        if array.ctypes.data % self.alignment:
            raise ValueError(f"{name} must begin at a multiple of {self.alignment} bytes")
        if self.written and not array.flags.writeable:
            raise ValueError(f"{name} is written, but its array is read-only")

        if self.entries is not None and array.size:
            self.check_entries(name, array)

    def check_entries(self, name, array):
        """Refuses entries that are not as the facts about them say."""
        low, high, order, _ = self.entries
        if array.min() < low or array.max() >= high:
            raise ValueError(f"{name} has an entry outside of {low}..{high}")
        if order == "increasing" and (np.diff(array.ravel()) < 0).any():
            raise ValueError(f"{name} has an entry less than the one before it")
        if order == "distinct" and np.unique(array).size < array.size:
            raise ValueError(f"{name} has two equal entries")

    def check_rows(self, function, array, rows):
        """Refuses entries that do not increase in the rows that an array begins."""
        if not rows.size:
            return
        first = max(rows[0], 0)
        end = max(min(rows[-1], array.size), first + 1)
        wrong = np.flatnonzero(array[first + 1:end] <= array[first:end - 1]) + first + 1
        if not np.isin(wrong, rows).all():
            name = f"{function}: {self.name}"
            raise ValueError(f"{name} has entries in a row of {self.entries[3]} that do not increase")

    def fits(self, array):
        """Whether the strides of an array are as the kernel takes them."""
        if self.strided is None:
            return array.flags.c_contiguous
        return self.has_rows(array) if self.strided == "rows" else self.is_apart(array)

    def is_apart(self, array):
        """Whether elements are whole, and those that are written have places of their own."""
        if array.size == 0:
            return True
        steps = sorted((abs(s), n) for s, n in zip(array.strides, array.shape) if n > 1)
        span = self.dtype.itemsize
        for stride, extent in steps:
            if stride % self.dtype.itemsize or self.written and stride < span:
                return False
            span += (extent - 1) * stride
        return True

    def has_rows(self, array):
        """Whether the elements of a row are adjacent, and rows do not overlap."""
        least = self.dtype.itemsize
        if array.size == 0:
            return True
        for d in reversed(range(array.ndim)):
            stride, extent = array.strides[d], array.shape[d]
            if extent > 1:
                is_last = d == array.ndim - 1
                if stride < least or stride % self.dtype.itemsize or is_last and stride != least:
                    return False
                least = stride * extent
        return True

    def strides(self, array):
        """The distances that the kernel gets, in elements."""
        of = {None: (), "rows": array.strides[:-1], "all": array.strides}[self.strided]
        return [stride // self.dtype.itemsize for stride in of]

    def argument(self, array):
        """What the kernel gets: the address, or the number that it only reads."""
        if self.shape == () and not self.written:
            return np.ctypeslib.as_ctypes_type(self.dtype)(array.item())
        return ctypes.c_void_p(array.ctypes.data)


class _Entries(np.ndarray):
    """Entries that nothing can change. Parts and results of operations have no facts."""


def entries(array):
    """A copy of entries that nothing can change, such as the columns of a sparse matrix.

    Kernels check the facts about entries at each call. They check those of this copy once, here.
    """
    array = np.ascontiguousarray(array)
    if array.dtype.kind != "i":
        raise TypeError(f"entries must be integers, not of type {array.dtype}")
    if array.size == 0:
        return array.copy()
    made = np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape).view(_Entries)
    flat = made.view(np.ndarray).ravel()
    increases = bool((flat[1:] >= flat[:-1]).all())
    are_distinct = bool((flat[1:] > flat[:-1]).all()) or np.unique(flat).size == flat.size
    facts = [made.ctypes.data, made.nbytes, flat.min(), flat.max(), increases + 2 * are_distinct]
    made._teml_facts = np.array(facts, np.int64).tobytes()
    return made


def _number(function, name, given, dtype):
    """A number, as an array without dimensions."""
    value = np.asarray(given)
    if value.ndim:
        raise ValueError(f"{function}: {name} must be a number, not an array of shape {value.shape}")
    if value.dtype.kind not in "biuf" or not np.can_cast(value.dtype, dtype, "same_kind"):
        raise TypeError(f"{function}: {name} must be a number of type {dtype}, not {given!r}")
    converted = value.astype(dtype)
    if converted.dtype.kind == "i" and converted != value:
        raise OverflowError(f"{function}: {name} must be a number of type {dtype}, not {given}")
    return converted


def _array(function, name, given):
    """The memory of an array of NumPy or of another library, without a copy."""
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(
            f"{function}: {name} is a masked array, and the kernel would read what is masked: "
            f"{name}.filled(0) replaces it"
        )
    if isinstance(given, np.ndarray):
        return given
    if _is_of_device(given):
        return _of_device(function, name, given)
    try:
        if hasattr(given, "__array_interface__"):
            return np.asarray(given)
        if hasattr(given, "__dlpack__"):
            return np.from_dlpack(given)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(f"{function}: {name} is an array that NumPy cannot read: {error}") from error
    raise TypeError(
        f"{function}: {name} must be an array of NumPy or of a library that shares its memory "
        f"(`__array_interface__`, `__dlpack__`), not {type(given).__name__}"
    )


def _extent(function, name, given, rank, dimension, offset=0):
    """A size, as the shape of an array tells it."""
    array = _array(function, name, given)
    if array.ndim != rank:
        raise ValueError(f"{function}: {name} must have {rank} dimensions, not {array.ndim}")
    return array.shape[dimension] - offset


def _in_range(function, name, size, least, most, multiple):
    if not least <= size <= most or size % multiple:
        multiples = f", a multiple of {multiple}" if multiple > 1 else ""
        raise ValueError(f"{function}: {name} must be in {least}..={most}{multiples}, not {size}")


def _overlap(array, other):
    if isinstance(array, _OfDevice):
        (first, end), (other_first, other_end) = array.ends(), other.ends()
        return first < other_end and other_first < end
    try:
        return np.shares_memory(array, other, max_work=10000)
    except RuntimeError:
        # NumPy would take too long to find out.
        return True


def _called_as_view(function, tensors, arrays, views, sizes):
    """Calls the function for arrays in another layout, if there is one."""
    given = zip(tensors, arrays)
    arrays = {tensor.name: _array(function, tensor.name, array) for tensor, array in given}
    turned = tuple(
        tensor.name
        for tensor in tensors
        if any(tensor.name in view for view in views)
        and not tensor.has_rows(arrays[tensor.name])
        and tensor.has_rows(arrays[tensor.name].T)
    )
    known = [tensor for tensor in tensors if tensor.name in arrays]
    fit = all(tensor.name in turned or tensor.fits(arrays[tensor.name]) for tensor in known)
    if not turned and fit:
        return False
    if () in views and not (fit and turned in views):
        turned = ()
    if turned not in views:
        return False
    arrays.update((name, arrays[name].T) for name in turned)
    globals()[views[turned]](**arrays, **sizes)
    return True


def _call(function, tensors, arrays, sizes=()):
    """Calls a kernel on arrays, in the order of its parameters."""
    arrays = [_array(function, tensor.name, given) for tensor, given in zip(tensors, arrays)]
    pairs = list(zip(tensors, arrays))
    are_of_device = _are_of_device(function, pairs)
    for tensor, array in pairs:
        tensor.check(function, array)
    arrays_of = {tensor.name: array for tensor, array in pairs}
    for tensor, array in pairs:
        if tensor.entries is not None and tensor.entries[3] is not None:
            tensor.check_rows(function, array, arrays_of[tensor.entries[3]])
    for k, (tensor, array) in enumerate(pairs):
        for other, beside in pairs[k + 1:]:
            if (tensor.written or other.written) and _overlap(array, beside):
                raise ValueError(f"{function}: {tensor.name} and {other.name} overlap")
    arguments = [tensor.argument(array) for tensor, array in pairs]
    kernel = getattr(_library, function + "_on_device" if are_of_device else function)
    kernel.restype = None
    strides = [stride for tensor, array in pairs for stride in tensor.strides(array)]
    if _FAILED is not None:
        ctypes.c_int.in_dll(_library, "teml_device_asks").value = 1
    kernel(*map(ctypes.c_int64, [*sizes, *strides]), *arguments)
    if _FAILED is not None and _FAILED.value:
        _FAILED.value = 0
        reason = (ctypes.c_char * 4096).in_dll(_library, "teml_device_reason").value
        raise RuntimeError(f"{function}: {reason.decode(errors='replace').rstrip()}")
