"""The computation.  One backend, one folder, one line in a table; `protocol` is its interface.

The package has an underscore because `mag.backends` is a function.
"""

from mag._backends import cpu, cuda
from mag._backends.protocol import Backend, DeviceBackend

DEVICES: dict[str, DeviceBackend] = {"cuda": cuda}
BACKENDS: dict[str, Backend] = {"cpu": cpu, **DEVICES}
