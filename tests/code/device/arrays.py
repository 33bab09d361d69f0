"""A kernel of a device on arrays of its memory, as those of CuPy and PyTorch, in a package made by
teml. The driver is that of driver.c: its memory is that of the processor, and it counts copies."""

import ctypes
import os
import sys
import types

import numpy as np

import doubled

driver = ctypes.CDLL("libcuda.so.1")
copies = ctypes.c_int.in_dll(driver, "copies")
synchronized = ctypes.c_int.in_dll(driver, "synchronized")

library = types.ModuleType("arrays_of_a_device")
sys.modules["arrays_of_a_device"] = library


class ByDLPack:
    __module__ = "arrays_of_a_device"

    def __init__(self, values, device=0):
        self.values, self.device = np.asarray(values), device

    def __dlpack_device__(self):
        return 2, self.device

    def __dlpack__(self, *, stream=None):
        assert stream == 1
        return self.values.__dlpack__()


class ByInterface:
    __module__ = "arrays_of_a_device"

    def __init__(self, values, stream=None, **facts):
        self.values = np.asarray(values)
        facts = {**self.values.__array_interface__, "version": 3, "stream": stream, **facts}
        self.__cuda_array_interface__ = facts


library.empty = lambda shape, dtype: ByDLPack(np.empty(shape, dtype))


def refused(kind, *texts):
    def decorated(run):
        try:
            run()
        except kind as error:
            for text in texts:
                assert text in str(error), error
        else:
            raise AssertionError(f"not refused: {texts}")

    return decorated


values = np.arange(5.0)
assert np.array_equal(doubled.twice(values), 2 * values)
assert copies.value == 2

# Nothing is copied, and results are arrays of the same library.
for given in [ByDLPack(values), ByInterface(values)]:
    made = doubled.twice(given)
    assert type(made) is ByDLPack and np.array_equal(made.values, 2 * values)
out = np.zeros(5)
assert doubled.twice(ByDLPack(values), R=ByInterface(out)).values is out
assert np.array_equal(out, 2 * values) and copies.value == 2

# Work of another stream is done before.
assert synchronized.value == 0
doubled.twice(ByInterface(values, stream=7))
assert synchronized.value == 7


@refused(TypeError, "twice: R is in memory of a device and A is not", "cupy.asarray(A)")
def mixed():
    doubled.twice(values, R=ByDLPack(out))


@refused(TypeError, "must have elements of type float64, not float32")
def types_differ():
    doubled.twice(ByDLPack(values.astype("float32")))


@refused(ValueError, "must be stored row after row")
def gaps():
    doubled.twice(ByInterface(values[::2]))


@refused(ValueError, "R is written, but its array is read-only")
def read_only():
    doubled.twice(ByDLPack(values), R=ByInterface(out, data=(out.ctypes.data, True)))


@refused(ValueError, "overlap")
def overlapping():
    doubled.twice(ByDLPack(out[1:]), R=ByDLPack(out[:4]))


@refused(ValueError, "on the devices [0, 1]")
def two_devices():
    doubled.twice(ByDLPack(values), R=ByDLPack(out, device=1))


@refused(TypeError, "thrice: A is in memory of a device, and this kernel runs on the processor")
def of_the_processor():
    doubled.thrice(ByDLPack(values))


# A device that fails ends no program, and keeps no memory.
checked = doubled._library.twice_checked
checked.restype = ctypes.c_char_p
pieces = ctypes.c_int.in_dll(driver, "pieces")
place = [ctypes.c_void_p(array.ctypes.data) for array in (out, values)]
of_checked = [ctypes.c_int64(5), place[0], None, place[1], None]
for what, why in [("memory", "cuMemAlloc: out of memory"), ("launch", "too many resources")]:
    os.environ["FAILS"] = what
    refused(RuntimeError, "twice: ", why)(lambda: doubled.twice(values))
    assert why in checked(*of_checked).decode()
    assert pieces.value == 0

# More elements than 32 bits count take another kernel, once.
wide = ctypes.c_int.in_dll(driver, "wide")
for n, count in [((1 << 31) - 200, 0), (1 << 31, 1), (1 << 33, 1)]:
    ctypes.c_int.in_dll(doubled._library, "teml_device_asks").value = 1
    doubled._library.twice_on_device(ctypes.c_int64(n), ctypes.c_uint64(0), ctypes.c_uint64(0))
    assert wide.value == count
    doubled._FAILED.value = 0
os.environ["FAILS"] = ""
assert checked(*of_checked) is None and pieces.value == 0
assert np.array_equal(doubled.twice(values), 2 * values)

print("all is well")
