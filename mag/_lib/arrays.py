"""Arrays in and out.  The only file that names array libraries.

What comes in is viewed as NumPy, without a copy where the memory allows; what goes out becomes an array of the same
library on the same device.  A library is recognized only if its user has imported it, and never imported here.
"""

import numbers
import sys
import warnings
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from mag._lib.errors import TypeMistake

CPU, CUDA, PINNED, MANAGED = 1, 2, 3, 13  # devices of DLPack
COPIED = 2**26  # bytes from a device to the host that are worth a word


class CopyWarning(UserWarning):
    """Many data were copied from a device to the host, because what was asked for is computed there."""

    __module__ = "mag"


class Home:
    """Where an array came from: its library, its device, and its dtype where NumPy has none like it (bfloat16)."""

    def __init__(self, library: str, device: Any, narrow: Any = None) -> None:
        self.library, self.device, self.narrow = library, device, narrow

    def __call__(self, array: np.ndarray) -> Any:
        """The array in its user's library, on its device; memory is shared where the library can."""
        # float32 stood in for what NumPy does not have
        dtype = self.narrow if array.dtype == np.float32 else None
        return _GOING.get(self.library, _to_standard)(self, array, dtype)

    def active(self) -> AbstractContextManager[Any]:
        """While its arrays are computed with: its device is the current one, and 64 bits are 64 bits."""
        if self.library == "jax":
            return sys.modules["jax"].enable_x64(True)
        return self.device if self.library == "cupy" else nullcontext()

    def __getstate__(self) -> dict[str, Any]:
        # JAX cannot pickle a device, and another process may not have it: results go to the default one there
        return {
            "library": self.library,
            "narrow": self.narrow,
            "device": None if self.library == "jax" else self.device,
        }


def read(option: str, x: Any, told: bool = True) -> tuple[np.ndarray, Home | None]:
    """The data as a NumPy array, without a copy where none is needed, and their home; None if that is NumPy itself.

    `told` says that nobody is surprised by a copy from a device.
    """
    if type(x) is np.ndarray or isinstance(x, (list, tuple)):
        return _numpy(option, x), None
    if isinstance(x, np.ma.MaskedArray):
        raise TypeMistake(
            f"{option} must not be a masked array; use {option}.compressed() or {option}.filled(...) first."
        )
    if type(x).__module__.startswith("scipy.sparse"):
        raise TypeMistake(
            f"{option} must be a dense array; got a sparse {type(x).__name__}, use {option}.toarray() first."
        )
    for library, coming in _COMING.items():
        if library in sys.modules and (read_as := coming(option, x)) is not None:
            if not told:
                tell_of_copy(option, x)
            return read_as
    return _numpy(option, x), None


_silent = False  # after the first word


def tell_of_copy(option: str, x: Any) -> None:
    """Say once that data of more than COPIED bytes are copied from their device to the host."""
    global _silent
    if _silent or getattr(x, "nbytes", 0) <= COPIED or not on_accelerator(x):
        return
    _silent = True
    what = (
        f"{option}, {x.nbytes / 2**20:.0f} MB, is copied from its device to the host, which computes what was asked for"
    )
    warnings.warn(f"{what}; backend='cpu' says that this is meant.", CopyWarning, stacklevel=4)


def on_accelerator(x: Any) -> bool:
    """Whether an array lies in the memory of a device, by DLPack."""
    try:
        return x.__dlpack_device__()[0] not in (CPU, PINNED)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        return False


def read_table(option: str, x: Any, told: bool = True) -> tuple[np.ndarray, Home | None]:
    """The same of a table of numbers; a frame's columns of anything else are named."""
    values, home = read(option, x, told)
    if values.dtype.kind not in "biuf" and values.ndim == 2 and hasattr(x, "columns"):
        wrong = [name for name, column in zip(x.columns, values.T, strict=True) if not _is_real(column)]
        if wrong:
            listed = ", ".join(map(repr, wrong[:5])) + (", …" if len(wrong) > 5 else "")
            raise TypeMistake(f"{option} must hold real numbers; encode or leave out the columns {listed}.")
    return values, home


def _is_real(cells: np.ndarray) -> bool:
    """Whether cells of any type are numbers, one by one."""
    return all(isinstance(cell, (numbers.Real, np.bool_)) for cell in cells.tolist())


def _numpy(option: str, x: Any) -> np.ndarray:
    try:
        return np.asarray(x)
    except MemoryError:
        raise
    except Exception as error:  # of its library, such as polars'
        dtype = f" of dtype {x.dtype}" if hasattr(x, "dtype") else ""
        raise TypeMistake(
            f"{option} must be an array of numbers; NumPy cannot read the {type(x).__name__}{dtype} given."
        ) from error


# ---- on a device


def resident(x: Any) -> tuple[Any, Any] | None:
    """An array on an NVIDIA GPU as CuPy's, and how to make its library's of CuPy's; by DLPack, without a copy.

    None for arrays elsewhere, and where CuPy is not there to look at them.
    """
    if isinstance(x, (np.ndarray, list)):
        return None
    cupy, torch, jax = (sys.modules.get(library) for library in ("cupy", "torch", "jax"))
    if cupy is not None and isinstance(x, cupy.ndarray):
        return x, _stay
    if torch is not None and isinstance(x, torch.Tensor) and x.is_cuda and _has_cupy():
        values, narrow = x.detach(), None
        if values.is_floating_point() and values.dtype not in (torch.float64, torch.float32, torch.float16):
            values, narrow = values.to(torch.float32), x.dtype
        return _cupy().from_dlpack(values.contiguous()), partial(_to_resident_torch, narrow=narrow)
    if jax is not None and isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer):
        platforms = [one.platform for one in x.devices()]
        if platforms in (["gpu"], ["cuda"]) and _has_cupy():
            return _cupy().from_dlpack(x), _to_resident_jax
    return None


# Ways home from CuPy: functions of this module, which can be pickled with a result.


def _stay(array: Any) -> Any:
    return array


def _to_resident_torch(array: Any, narrow: Any) -> Any:
    """By DLPack; float32 stood in for what NumPy does not have."""
    tensor = sys.modules["torch"].from_dlpack(array)
    return tensor if narrow is None or str(tensor.dtype) != "torch.float32" else tensor.to(narrow)


def _to_resident_jax(array: Any) -> Any:
    return sys.modules["jax"].dlpack.from_dlpack(_cupy().ascontiguousarray(array))


def _has_cupy() -> bool:
    try:
        return _cupy() is not None
    except Exception:
        return False


def _cupy() -> Any:
    from importlib import import_module

    return import_module("cupy")


# ---- in


def _from_torch(option: str, x: Any) -> tuple[np.ndarray, Home] | None:
    torch = sys.modules["torch"]
    if not isinstance(x, torch.Tensor):
        return None
    if x.layout is not torch.strided or x.is_quantized:
        raise TypeMistake(f"{option} must be a dense tensor; got {x.layout}, use {option}.to_dense() first.")
    if x.device.type == "meta":
        raise TypeMistake(f"{option} must hold values; got a tensor on the device 'meta'.")
    # groups are no differentiable function of the data
    values, home = x.detach(), Home("torch", x.device)
    if torch._C._functorch.is_functorch_wrapped_tensor(x):
        raise TypeMistake(
            f"{option} must hold values; got a tensor inside of torch.vmap, grad or another transform of torch.func, "
            "call mag outside of it."
        )
    try:
        if values.is_floating_point() and values.dtype not in (torch.float64, torch.float32, torch.float16):
            home.narrow, values = x.dtype, values.to(torch.float32)
        return values.resolve_neg().resolve_conj().cpu().numpy(), home
    except (NotImplementedError, RuntimeError, TypeError):  # fewer than 8 bits, or several numbers in one
        raise TypeMistake(f"{option} must have a dtype that NumPy can read; got {x.dtype}, convert it first.") from None


def _from_jax(option: str, x: Any) -> tuple[np.ndarray, Home] | None:
    jax = sys.modules["jax"]
    if not isinstance(x, jax.Array):
        return None
    if isinstance(x, jax.core.Tracer):
        raise TypeMistake(
            f"{option} must hold values; got an array that JAX is tracing, call mag outside of jit, vmap and grad, or "
            "through jax.pure_callback."
        )
    several = len(x.devices()) > 1
    home = Home("jax", None if several else next(iter(x.devices())))
    if np.dtype(x.dtype).isbuiltin != 1:  # NumPy does not have it: bfloat16 and floats of 8 bits, integers of 4
        if jax.numpy.issubdtype(x.dtype, jax.numpy.integer):
            x = x.astype(np.int8)
        elif jax.numpy.issubdtype(x.dtype, jax.numpy.floating):
            home.narrow, x = x.dtype, x.astype(np.float32)
        else:
            raise TypeMistake(f"{option} must hold numbers; got a JAX array of dtype {x.dtype}.")
    return np.asarray(x), home


def _from_cupy(option: str, x: Any) -> tuple[np.ndarray, Home] | None:
    cupy = sys.modules["cupy"]
    return (cupy.asnumpy(x), Home("cupy", x.device)) if isinstance(x, cupy.ndarray) else None


def _from_standard(option: str, x: Any) -> tuple[np.ndarray, Home] | None:
    """Any other array of the array API standard, such as array-api-strict's."""
    if isinstance(x, np.ndarray) or not (hasattr(x, "__array_namespace__") and hasattr(x, "__dlpack__")):
        return None
    from array_api_compat import device

    try:
        values = np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeMistake(
            f"{option} must be readable by NumPy; got a {type(x).__name__} on {device(x)}, move it to the CPU first."
        ) from error
    return values, Home(x.__array_namespace__().__name__, device(x))


# ---- out


def _to_torch(home: Home, array: np.ndarray, dtype: Any) -> Any:
    return sys.modules["torch"].from_numpy(array).to(home.device, dtype)


def _to_jax(home: Home, array: np.ndarray, dtype: Any) -> Any:
    moved = sys.modules["jax"].device_put(array, home.device)
    return moved if dtype is None else moved.astype(dtype)


def _to_cupy(home: Home, array: np.ndarray, dtype: Any) -> Any:
    with home.device:
        return sys.modules["cupy"].asarray(array)


def _to_standard(home: Home, array: np.ndarray, dtype: Any) -> Any:
    return sys.modules[home.library].asarray(array, device=home.device)


# NumPy is always there: the last reader is for every other library
_COMING = {"torch": _from_torch, "jax": _from_jax, "cupy": _from_cupy, "numpy": _from_standard}
_GOING = {"torch": _to_torch, "jax": _to_jax, "cupy": _to_cupy}
