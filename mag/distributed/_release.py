"""Masked, held, counted: the steps of `mag.distributed.microaggregate`, of any engine."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag import __version__
from mag._lib.errors import InputValueError
from mag._lib.roles import name_of_one, names_of
from mag.distributed._frames import columns_to_group
from mag.distributed._results import ScaledRecords, ScaledRelease
from mag.tables import Guarantee
from mag.tables.group_sample import GroupSample, records_of_sample

SAMPLE_MEMORY = 2**30  # bytes on the driver, for a sample and the measures of it

Part = tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]  # labels of some groups, and columns before and after


@dataclass(frozen=True)
class Engine:
    """The functions of an engine.

    `hold` computes and stores a masked frame, and returns it with the number of groups, the loss, and the sample.
    """

    multivariate: Callable[..., ScaledRecords]
    verify: Callable[..., int]
    select: Callable[[Any, Any], Any]
    hold: Callable[[ScaledRecords], tuple[Any, int, float, tuple[int, list[Part]]]]


def release(X: Any, k: int, drop: Any, roles: dict[str, Any], options: dict[str, Any], engine: Engine) -> ScaledRelease:
    """Mask, hold and count."""
    known, unit = list(X.columns), roles["unit"]
    if unit is not None:
        roles |= {"unit": (unit := name_of_one("unit", unit, known, "X"))}
    dropped = names_of(drop, known)
    if wrong := [name for name in dropped if name not in known]:
        raise InputValueError(f"drop must name columns of X; got {wrong[0]!r}.")
    left = [name for name in known if name not in dropped]
    weights = [] if roles["weights"] is None else [roles["weights"]]
    names = columns_to_group(left, roles["columns"], [*names_of(roles["keep"], left), *weights], roles["by"], unit)
    by, most = names_of(roles["by"], left), records_of_sample(max(len(names), 1), SAMPLE_MEMORY)
    scaled = engine.multivariate(
        engine.select(X, left), k, roles=roles, options=options, publish_unit=True, sampled=most
    )
    data, n_groups, loss, (n, parts) = engine.hold(scaled)
    assert isinstance(scaled.k, int)
    smallest = engine.verify(data, k, columns=[*names, *by], unit=unit)
    published = [name for name in left if name != unit]
    guarantee = Guarantee(
        scope="joint",
        k=scaled.k,
        columns=tuple(names),
        by=tuple(by),
        kept=tuple(name for name in published if name not in {*names, *by}),
        n_records=n,
        withheld=0,
        n_groups=n_groups,
        smallest=smallest if unit is None else engine.verify(data, 1, columns=[*names, *by], unit=None),
        unit=unit,
        smallest_units=None if unit is None else smallest,
    )
    manifest = {"mag": __version__, "options": {**options, "weights": roles["weights"]}, "warnings": []}
    held, sample = engine.select(data, published), _collect(n, most, names, parts)
    return ScaledRelease(held, k, smallest, n_groups, loss, guarantee, manifest, sample)


def _collect(n: int, most: int, names: list[Hashable], parts: list[Part]) -> GroupSample:
    """The sample of the table, of those of its parts."""
    sample = GroupSample(n, most)
    for labels, before, after in parts:
        sample.append(labels, dict(zip(names, before, strict=True)), dict(zip(names, after, strict=True)))
    return sample
