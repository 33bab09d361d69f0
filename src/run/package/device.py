

class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_size_t), ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]


class _OfDevice:
    """An array in memory of a device, with what the checks ask an array of NumPy."""

    def __init__(self, owner, address, shape, strides, dtype, is_written=True, device=0):
        self.owner, self.shape, self.dtype, self.device = owner, tuple(shape), dtype, device
        self.ndim, self.size = len(self.shape), int(np.prod(self.shape, dtype=np.int64))
        rows = [dtype.itemsize]
        for extent in reversed(self.shape[1:]):
            rows.insert(0, rows[0] * extent)
        self.strides = tuple(rows[:self.ndim]) if strides is None else tuple(strides)
        follows = zip(self.shape, self.strides, rows)
        is_dense = self.size == 0 or all(n == 1 or s == row for n, s, row in follows)
        self.flags = types.SimpleNamespace(c_contiguous=is_dense, writeable=is_written)
        self.ctypes = types.SimpleNamespace(data=address)

    def ends(self):
        """The addresses of its first byte and of the one after its last."""
        first = self.ctypes.data
        if self.size == 0:
            return first, first
        last = sum((n - 1) * stride for n, stride in zip(self.shape, self.strides))
        return first, first + last + self.dtype.itemsize


def _is_of_device(given):
    """Whether an array is in memory of a device of CUDA or HIP."""
    if isinstance(given, (np.ndarray, float, int)):
        return False
    device = getattr(given, "__dlpack_device__", None)
    # These are CUDA's devices in DLPack, memory of the device and managed memory, and HIP's.
    return device()[0] in (2, 13, 10) if device else hasattr(given, "__cuda_array_interface__")


def _of_device(function, name, given):
    """An array in memory of a device, without a copy. Its library has computed it."""
    if function not in _ON_DEVICE:
        raise TypeError(f"{function}: {name} is in memory of a device, and this kernel runs on the processor")
    try:
        if hasattr(given, "__dlpack__"):
            return _by_dlpack(given)
        return _by_interface(given.__cuda_array_interface__, given)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(f"{function}: {name} is an array that cannot be read: {error}") from error


def _by_dlpack(given):
    # Kernels run on the first stream of the device.
    capsule = given.__dlpack__(stream=0 if _BY_HIP else 1)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = [_Object, ctypes.c_char_p], ctypes.c_void_p
    tensor = ctypes.cast(pointer(capsule, b"dltensor"), ctypes.POINTER(_DLTensor)).contents
    if tensor.code > 2 or tensor.lanes != 1:
        raise TypeError("its elements are no numbers that NumPy has")
    dtype = np.dtype(f"{'iuf'[tensor.code]}{tensor.bits // 8}")
    strides = tensor.strides and [s * dtype.itemsize for s in tensor.strides[:tensor.ndim]]
    return _OfDevice(
        capsule, tensor.data + tensor.byte_offset, tensor.shape[:tensor.ndim], strides or None,
        dtype, device=given.__dlpack_device__()[1]
    )


def _by_interface(facts, given):
    address, is_read_only = facts["data"]
    stream = facts.get("stream")
    if stream not in (None, 1):
        driver = ctypes.CDLL("libamdhip64.so" if _BY_HIP else "libcuda.so.1")
        wait = driver.hipStreamSynchronize if _BY_HIP else driver.cuStreamSynchronize
        wait(ctypes.c_void_p(stream))
    dtype = np.dtype(facts["typestr"])
    return _OfDevice(given, address, facts["shape"], facts.get("strides"), dtype, not is_read_only)


def _new_of_device(function, tensor, like):
    """An array for a result, by the library that made another one."""
    library = sys.modules[type(like).__module__.partition(".")[0]]
    if hasattr(like, "new_empty"):
        return like.new_empty(tensor.shape, dtype=getattr(library, tensor.dtype.name))
    if hasattr(library, "empty"):
        return library.empty(tensor.shape, dtype=tensor.dtype)
    raise TypeError(f"{function}: {tensor.name} needs an array for the result, beside arrays of {library.__name__}")


def _are_of_device(function, pairs):
    """Whether a kernel finds its arrays in memory of the device. It takes all of them from there, or
    none."""
    arrays = [(t, a) for t, a in pairs if t.shape != () or t.written]
    there = [isinstance(array, _OfDevice) for _, array in arrays]
    if not any(there):
        return False
    if not all(there):
        (here, _), (beside, _) = arrays[there.index(False)], arrays[there.index(True)]
        raise TypeError(
            f"{function}: {beside.name} is in memory of a device and {here.name} is not; move one of them "
            f"first, for example by `cupy.asarray({here.name})` or `{here.name}.cuda()`"
        )
    devices = sorted({array.device for _, array in arrays})
    if len(devices) > 1:
        raise ValueError(f"{function}: its arrays are on the devices {devices}, and a kernel runs on one")
    return True
