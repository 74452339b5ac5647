"""Arrays in and out.  The only file that names array libraries.

Input is viewed as NumPy, without a copy if the memory allows; output becomes an array of the same library on the same
device.  array-api-compat identifies the library and the device of an array, and makes arrays; DLPack identifies the
kind of device, and transfers memory.  This file handles the rest: tensors and tracers that hold no values, and number
types that NumPy does not have.  A library is recognized only if its user has imported it.
"""

import numbers
import sys
import warnings
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

import numpy as np

from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputTypeError

CPU, CUDA, PINNED, MANAGED = 1, 2, 3, 13  # devices of DLPack
NUMPY_HAS = {
    *("bool", "float16", "float32", "float64", "complex64", "complex128"),
    *(f"{kind}int{bits}" for kind in ("", "u") for bits in (8, 16, 32, 64)),
}
COPIED = 2**26  # bytes from a device to the host that are worth a word


class CopyWarning(UserWarning):
    """A large amount of data was copied from a device to the host, which runs the requested computation."""

    __module__ = "mag"


class Origin:
    """The origin of an array: its library's namespace, its device, and its dtype if NumPy does not have it."""

    def __init__(self, library: str, device: Any, narrow: Any = None) -> None:
        self.library, self.device, self.narrow = library, device, narrow

    def __call__(self, array: np.ndarray) -> Any:
        """The array in its user's library, on its device; memory is shared where the library can."""
        xp = import_module(self.library)
        return self._narrowed(xp, xp.asarray(array, device=self.device))

    def _narrowed(self, xp: Any, array: Any) -> Any:
        """Convert float32 to the dtype that NumPy does not have."""
        stands_in = self.narrow is not None and array.dtype == xp.float32
        return xp.astype(array, self.narrow) if stands_in else array

    def active(self) -> AbstractContextManager[Any]:
        """While its arrays are computed with: its device is the current one, and 64 bits are 64 bits."""
        if self.library == "jax.numpy":
            jax = sys.modules["jax"]
            return (jax if hasattr(jax, "enable_x64") else import_module("jax.experimental")).enable_x64(True)
        return self.device if self.library.endswith("cupy") else nullcontext()

    def __getstate__(self) -> dict[str, Any]:
        # JAX cannot pickle a device, and another process may not have it: results go to the default one there
        return self.__dict__ | {"device": None if self.library == "jax.numpy" else self.device}


class ResidentOrigin(Origin):
    """Converts CuPy results to the caller's library through DLPack, without copying."""

    def __call__(self, array: Any) -> Any:
        """CuPy's array in its user's library."""
        xp = import_module(self.library)
        if self.library == "jax.numpy":  # JAX does not accept strides
            array = _cupy().ascontiguousarray(array)
        return self._narrowed(xp, xp.from_dlpack(array))


def return_unchanged(array: Any) -> Any:
    """The conversion of CuPy's own arrays: none."""
    return array


# ---- in


def read(option: str, x: Any, quiet: bool = True) -> tuple[np.ndarray, Origin | None]:
    """The data as a NumPy array, without a copy if none is needed, and their origin; None for NumPy itself.

    `quiet`: do not warn of a large copy from a device.
    """
    if type(x) is np.ndarray or isinstance(x, (list, tuple)):
        return _numpy(option, x), None
    if isinstance(x, np.ma.MaskedArray):
        raise InputTypeError(
            f"{option} must not be a masked array; use {option}.compressed() or {option}.filled(...) first."
        )
    if type(x).__module__.startswith("scipy.sparse"):
        raise InputTypeError(
            f"{option} must be a dense array; got a sparse {type(x).__name__}, use {option}.toarray() first."
        )
    x = _on_cuda(option, x)
    if isinstance(x, np.ndarray) or not (_of_standard(x) and hasattr(x, "__dlpack__")):
        return _numpy(option, x), None
    xp, values = _namespace(x), _values(option, x)
    values, narrow = _readable(option, xp, values)
    if not quiet:
        warn_about_array_copy(option, x)
    return _in_host_memory(option, values), Origin(xp.__name__, _device(x), narrow)


def read_table(option: str, x: Any, quiet: bool = True) -> tuple[np.ndarray, Origin | None]:
    """The same of a table of numbers; a frame's columns of anything else are named."""
    values, origin = read(option, x, quiet)
    if values.dtype.kind not in "biuf" and values.ndim == 2 and hasattr(x, "columns"):
        wrong = [name for name, column in zip(x.columns, values.T, strict=True) if not _is_real(column)]
        if wrong:
            listed = ", ".join(map(repr, wrong[:5])) + (", …" if len(wrong) > 5 else "")
            raise InputTypeError(f"{option} must hold real numbers; encode or leave out the columns {listed}.")
    return values, origin


def on_host(option: str, x: Any) -> Any:
    """The data unchanged, but as a NumPy copy if they are on a device: for libraries that read the host alone."""
    x = _on_cuda(option, x)
    far = hasattr(x, "__cuda_array_interface__") or kind_of_device(x) not in (CPU, PINNED)
    return read(option, x)[0] if far else x


def resident(x: Any) -> tuple[Any, Any] | None:
    """Data on an NVIDIA GPU as CuPy's array, and how to make its library's of CuPy's; by DLPack, without a copy.

    None for data elsewhere, and if CuPy is not installed.
    """
    if isinstance(x, (np.ndarray, list, tuple)):
        return None
    try:
        x = _on_cuda("x", x)
        if kind_of_device(x) not in (CUDA, MANAGED) or not _has_cupy():
            return None
        if isinstance(x, _cupy().ndarray):
            return x, return_unchanged
        xp = _namespace(x)
        values, narrow = _readable("x", xp, _values("x", x))
    except InputTypeError:  # `read` raises the same error with the argument's name
        return None
    array = _shared_with_cupy("The array", values)
    if hasattr(values, "record_stream"):  # PyTorch must not give the memory away while CuPy's stream reads it
        with array.device:  # it need not be the current one
            stream = _cupy().cuda.get_current_stream().ptr
        values.record_stream(sys.modules["torch"].cuda.ExternalStream(stream, values.device))
    return array, ResidentOrigin(xp.__name__, None, narrow)


def _is_real(cells: np.ndarray) -> bool:
    """Whether cells of any type are numbers, one by one."""
    return all(isinstance(cell, (numbers.Real, np.bool_)) for cell in cells.tolist())


def _numpy(option: str, x: Any) -> np.ndarray:
    try:
        return np.asarray(x)
    except MemoryError:
        raise
    except Exception as error:  # of its library, such as polars'
        dtype = f" of dtype {describe_dtype(x.dtype)}" if hasattr(x, "dtype") else ""
        raise InputTypeError(
            f"{option} must be an array of numbers; NumPy cannot read the {type(x).__name__}{dtype} given."
        ) from error


def _in_host_memory(option: str, x: Any) -> np.ndarray:
    """An array as NumPy's: a view where the host can read its memory, else a copy."""
    from array_api_compat import is_jax_array, to_device

    try:
        if is_jax_array(x):  # also of several devices
            return np.asarray(x)
        x = to_device(x, "cpu") if kind_of_device(x) not in (CPU, PINNED) else x
        return x if isinstance(x, np.ndarray) else np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise InputTypeError(
            f"{option} must be readable by NumPy; got a {type(x).__name__} on {_device(x)}, move it to the CPU first."
        ) from error


# ---- which library, which device, which numbers


def _of_standard(x: Any) -> bool:
    from array_api_compat import is_array_api_obj

    return bool(is_array_api_obj(x))


def _namespace(x: Any) -> Any:
    from array_api_compat import array_namespace

    return array_namespace(x)


def _device(x: Any) -> Any:
    """The device of an array; None if it has several."""
    from array_api_compat import device, is_jax_array

    return None if is_jax_array(x) and len(x.devices()) > 1 else device(x)


def kind_of_device(x: Any) -> int:
    """DLPack's code for the kind of device that holds the memory of an array; CPU by default."""
    try:
        return int(x.__dlpack_device__()[0])
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        return CPU


def _values(option: str, x: Any) -> Any:
    """The tensor with the plain values, without graph or lazy view; raise if there are no values."""
    from array_api_compat import is_jax_array, is_torch_array

    if is_torch_array(x):
        torch = sys.modules["torch"]
        if x.layout is not torch.strided or x.is_quantized:
            raise InputTypeError(f"{option} must be a dense tensor; got {x.layout}, use {option}.to_dense() first.")
        if x.device.type == "meta":
            raise InputTypeError(f"{option} must hold values; got a tensor on the device 'meta'.")
        if torch._C._functorch.is_functorch_wrapped_tensor(x):
            raise InputTypeError(
                f"{option} must hold values; got a tensor inside of torch.vmap, grad or another transform of "
                "torch.func, call mag outside of it."
            )
        return x.detach().resolve_neg().resolve_conj()  # groups are not a differentiable function of the data
    if is_jax_array(x) and isinstance(x, sys.modules["jax"].core.Tracer):
        raise InputTypeError(
            f"{option} must hold values; got an array that JAX is tracing, call mag outside of jit, vmap and grad, or "
            "through jax.pure_callback."
        )
    return x


def _readable(option: str, xp: Any, x: Any) -> tuple[Any, Any]:
    """The numbers in a dtype that NumPy has, and the dtype of floats that it does not have: bfloat16, of 8 bits."""
    name = str(x.dtype).rpartition(".")[2]
    if name in NUMPY_HAS:
        return x, None
    try:
        if xp.isdtype(x.dtype, "real floating"):
            return xp.astype(x, xp.float32), x.dtype
        if xp.isdtype(x.dtype, "integral"):
            return xp.astype(x, xp.int8), None
    except (NotImplementedError, RuntimeError, TypeError, ValueError):
        pass
    raise InputTypeError(
        f"{option} must have a dtype that NumPy can read; got {describe_dtype(x.dtype)}, convert it first."
    )


def _on_cuda(option: str, x: Any) -> Any:
    """Columns and frames of cuDF, and other objects that only expose GPU memory, as CuPy arrays."""
    cudf = sys.modules.get("cudf")
    if cudf is not None and isinstance(x, (cudf.DataFrame, cudf.Series)):
        try:
            if isinstance(x, cudf.Series):
                return x.to_cupy()
            with x[x.columns[0]].to_cupy().device:  # to_cupy copies a frame by the current device
                return x.to_cupy()
        except (IndexError, NotImplementedError, TypeError, ValueError) as error:
            what = f"a cuDF {type(x).__name__} of other cells"
            raise InputTypeError(f"{option} must hold real numbers without missing ones; got {what}.") from error
    if hasattr(x, "__cuda_array_interface__") and not hasattr(x, "__dlpack__") and _has_cupy():
        return _cupy().asarray(x)
    if kind_of_device(x) in (CUDA, MANAGED) and not _of_standard(x) and _has_cupy():
        return _shared_with_cupy(option, x)  # of a library that has no functions of the standard
    return x


def _shared_with_cupy(what: str, x: Any) -> Any:
    """CuPy's view of memory on a device that DLPack shows."""
    try:
        return _cupy().from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:  # CuPy's CUDARuntimeError is a RuntimeError
        got = f"a {type(x).__name__} on CUDA device {x.__dlpack_device__()[1]}"
        raise InputTypeError(
            f"{what} must be readable by CuPy; got {got}, copy it or move it to the CPU first."
        ) from error


def _has_cupy() -> bool:
    try:
        return _cupy() is not None
    except Exception:
        return False


def _cupy() -> Any:
    return import_module("cupy")


# ---- copies from a device

_silent = False  # after the first word


def warn_about_array_copy(option: str, x: Any) -> None:
    """Say once that data of more than COPIED bytes are copied from their device to the host."""
    if kind_of_device(x) not in (CPU, PINNED):
        warn_about_copy(f"{option}, {{:.0f}} MB, is copied", getattr(x, "nbytes", 0), stacklevel=5)


def warn_about_copy(what: str, bytes_: int, stacklevel: int = 4) -> None:
    """Warn about a copy of `bytes_` bytes; `what` is a format string for the size in MB."""
    global _silent
    if _silent or bytes_ <= COPIED:
        return
    _silent = True
    copied = f"{what.format(bytes_ / 2**20)} from its device to the host, which runs this computation"
    warnings.warn(f"{copied}; pass backend='cpu' to silence this warning.", CopyWarning, stacklevel=stacklevel)
