"""One command, one file; typer makes the command line of the function's signature, and the help of its docstring."""

from collections.abc import Callable

from mag.commands import check, compare, demo, info, mask, risk, utility, warmup

COMMANDS: dict[str, Callable[..., int | None]] = {
    "check": check.check,
    "compare": compare.compare,
    "demo": demo.demo,
    "info": info.info,
    "mask": mask.mask,
    "risk": risk.risk,
    "utility": utility.utility,
    "warmup": warmup.warmup,
}
