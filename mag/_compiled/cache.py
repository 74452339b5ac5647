"""Machine code on disk: where, under which name, and until when."""

import hashlib
import os
import pickle
import warnings

from mag._compiled.internals import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    InTreeCacheLocator,
    UserWideCacheLocator,
    global_compiler_lock,
)
from mag._compiled.stamp import stamp
from mag._lib.errors import CacheWarning
from mag._lib.lazy import cached_property
from mag._lib.notice import SECONDS

# files of others, or cut short, or of a version that had other modules and classes
UNREADABLE = (OSError, EOFError, pickle.UnpicklingError, ImportError, AttributeError)


class _ReadOnly(InTreeCacheLocator):
    """Read-only cache next to the source: use code that `mag warmup` stored there."""

    def ensure_cache_path(self):
        pass


class _Places(CompileResultCacheImpl):
    _locator_classes = [*CompileResultCacheImpl._locator_classes, _ReadOnly]  # noqa: RUF012 - numba's is a list


class _CacheFiles(IndexDataCacheFile):
    """Every entry has a file of its own, and none is required: without a file, code is compiled in memory.

    Numba numbers the files: two processes that compile at the same time can take the same number, and a third one then
    runs the code of one cost, or one k, in place of another.  Files that are missing are read from the folder `spare`.
    """

    def __init__(self, folder, base, function, spare=None):
        super().__init__(folder, base, None)
        self._function = function
        self._spare = spare and _CacheFiles(spare, base, function)

    @cached_property
    def _stamp(self):
        return stamp(self._function)  # on the first call: functions that it calls may be defined below it

    # Numba checks the function's own file only, and would miss a changed cost in another.
    _source_stamp = property(lambda self: self._stamp, lambda self, ignored: None)

    def save(self, key, data):
        overloads = self._load_index()
        try:
            if key not in overloads:
                name = hashlib.sha256(str(key).encode()).hexdigest()[:16]
                overloads[key] = self._index_name.removesuffix("nbi") + f"{name}.nbc"
                self._save_index(overloads)
            self._save_data(overloads[key], data)
        except OSError as error:
            _warn_once(error.strerror)

    def load(self, key):
        try:
            data = super().load(key)
        except UNREADABLE:
            data = None
        return self._spare.load(key) if data is None and self._spare else data

    def _load_index(self):
        try:
            return super()._load_index()
        except UNREADABLE:
            return {}


class Cache(FunctionCache):
    """The machine code of one function on disk, where that can be written.

    A user who cannot write next to the sources has a cache folder at home; code that `mag warmup` stored next to them
    is used as well.
    """

    _impl_class = _Places

    def __init__(self, function):
        super().__init__(function)
        at_home = isinstance(self._impl.locator, UserWideCacheLocator)

        spare = os.path.join(os.path.dirname(function.__code__.co_filename), "__pycache__") if at_home else None
        self._cache_file = _CacheFiles(self._cache_path, self._impl.filename_base, function, spare)

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:  # the directory is gone, or not ours anymore
            _warn_once(error.strerror)


_warned = False


def _warn_once(reason):
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"mag cannot keep its compiled code on disk ({reason}): every process compiles it again, which takes about "
            f"{SECONDS['univariate']} s for single columns, {SECONDS['ona_star']} s for records and up to "
            f"{max(SECONDS.values())} s for other methods; set NUMBA_CACHE_DIR to a directory that can be written.",
            CacheWarning,
            stacklevel=2,
        )


if hasattr(os, "register_at_fork"):  # or a forked process may wait for a thread that it does not have to compile
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
