"""Arrays of other libraries: their memory as arrays of NumPy, and results as arrays of theirs."""

import sys

import numpy as np


def shared(value):
    """The memory of an array as an array of NumPy, without a copy. None if it has no such form."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    return None


def returned_by(arguments):
    """What makes arrays of the library that all arrays among the arguments are of. None for those of
    NumPy, of several libraries, and of a library that cannot."""
    arrays = [value for value in arguments if hasattr(value, "__dlpack__")]
    libraries = {id(library): library for library in map(_library, arrays)}
    if len(libraries) != 1:
        return None
    [library] = libraries.values()
    return None if library is np else getattr(library, "from_dlpack", None)


def _library(array):
    if isinstance(array, (np.ndarray, np.generic)):
        return np
    # The standard of array libraries; PyTorch is its own namespace.
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    return sys.modules.get(type(array).__module__.partition(".")[0])
