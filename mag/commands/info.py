"""`mag info`."""

from mag.commands._options import Json
from mag.commands._output import dump, say


def info(as_json: Json = False) -> None:
    """Show backends, versions, SIMD, threads and the folder of compiled code; put it into bug reports.

    Examples:
    mag info
    """
    from mag.info import facts

    if as_json:
        dump(facts())
        return
    for name, fact in facts().items():
        say(f"{name:<17} {fact}")
