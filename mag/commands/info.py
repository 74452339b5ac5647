"""`mag info`."""

from mag.commands._options import Json
from mag.commands._output import dump, say


def info(as_json: Json = False) -> None:
    """Say what can run here: backends, versions, SIMD, threads, the folder of compiled code."""
    from mag.info import facts

    if as_json:
        dump(facts())
        return
    for name, fact in facts().items():
        say(f"{name:<17} {fact}")
