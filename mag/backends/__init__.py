"""Where numbers are crunched.  One backend, one file, one line in the table."""

import sys
from types import ModuleType

from mag.backends import cpu

BACKENDS = {"cpu": cpu}


def automatic() -> str:
    """The backend of "auto"."""
    return "cpu"


class _Backends(ModuleType):
    """The package is callable: ``mag.backends()`` says what can run here, and the backends live in this folder."""

    def __call__(self) -> dict[str, str]:
        """What can run here, and why not.

        Returns
        -------
        dict
            "ok" for every backend that can be used, else the reason in one sentence.

        Examples
        --------
        >>> import mag
        >>> mag.backends()["cpu"]
        'ok'
        """
        return {name: backend.status() or "ok" for name, backend in BACKENDS.items()}


sys.modules[__name__].__class__ = _Backends
