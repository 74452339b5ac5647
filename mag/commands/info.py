"""`mag info`."""

from mag.commands._environment import show
from mag.commands._options import Json


def info(as_json: Json = False) -> None:
    """Show backends, versions, SIMD, threads and the folder of compiled code; put it into bug reports.

    Examples:
    mag info
    """
    show(as_json)
