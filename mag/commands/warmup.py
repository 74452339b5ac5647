"""`mag warmup`."""

import time
from typing import Annotated, Any

import typer

from mag.commands._options import Quiet


def warmup(
    cost: Annotated[
        list[str] | None, typer.Option("--cost", "-c", help="Cost to compile for. Repeatable (default: sse).")
    ] = None,
    k: Annotated[
        list[int] | None, typer.Option("-k", help="Group size to compile for. Repeatable (default: 2 to 12).")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Compile ahead, so that the first call is fast (for container images)."""
    import numpy as np

    from mag.api.columns import columns
    from mag.api.univariate import univariate

    names: list[Any] = cost or ["sse"]
    for name in names:
        for size in k or range(2, 13):  # each k up to 11 has code of its own, all larger ones share theirs
            began = time.perf_counter()
            x = np.arange(max(8 * size, 200))
            for column in (x, x[::-1], x * 0.5, x[::-1] * 0.5):
                if name != "sse_int" or column.dtype.kind == "i":
                    _ = univariate(column, size, cost=name).masked
                    _ = columns(column[:, None], size, cost=name).labels
            if not quiet:
                print(f"{name:<10} k = {size:<6} {time.perf_counter() - began:5.1f} s", flush=True)
