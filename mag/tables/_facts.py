"""The facts about a release that its report shows."""

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from mag._lib.missing import is_missing
from mag.frames import frame_of
from mag.report import Level, RecodingFacts, ReportFacts
from mag.tables._compared import BeforeAfter, Original

if TYPE_CHECKING:
    from mag.tables._release import Release


def facts_of(release: "Release", original: Original, compared: BeforeAfter, title: str | None) -> ReportFacts:
    """All that the page shows."""
    guarantee = release.guarantee
    before, after = release.numbers()
    categories = compared.categories(guarantee.generalized, release.levels)
    kinds = original.kinds([*before, *compared.ranges])
    return ReportFacts(
        title=title or ("Microaggregation report" if release.levels is None else "Generalization report"),
        guarantee=str(guarantee),
        scope=guarantee.scope,
        k=guarantee.k,
        smallest=guarantee.smallest,
        original=before,
        masked=after,
        labels=_labels_of(release, [*after, *compared.ranges, *categories]),
        kinds={name: kind for name, kind in kinds.items() if kind == "datetime"},
        categories=categories,
        ranges=compared.ranges,
        utility=release.utility(),
        risk=release.risk(),
        by=guarantee.by,
        untouched=guarantee.kept,
        unit=guarantee.unit,
        smallest_units=guarantee.smallest_units,
        household=guarantee.household,
        smallest_households=guarantee.smallest_households,
        sets=[*map(str, guarantee.sets)],
        with_kept=release.count_with_kept(),
        withheld=release.withheld,
        promises=[*map(str, guarantee.diversity.values()), *map(str, guarantee.closeness.values())],
        warnings=release.warnings,
        manifest=release.manifest(),
        recoding=_recoding_of(release, original),
    )


def _labels_of(release: "Release", names: list[Hashable]) -> np.ndarray:
    """The groups of records, or of every column in the order of the report."""
    labels, columns = release.grouping.labels, release.grouping.columns
    return labels if labels.ndim == 1 else labels[:, [columns.index(name) for name in names]]


def _recoding_of(release: "Release", original: Original) -> RecodingFacts | None:
    """The facts about levels that the report shows."""
    if release.levels is None:
        return None
    levels = {}
    for name, level in release.levels.items():
        tree = original.categories[name].tree
        assert tree is not None
        labels = {cell for cell in frame_of(release.data).column(name).cells() if not is_missing(cell)}
        levels[name] = Level(level, tree.levels.shape[1] - 1, len(labels))
    return RecodingFacts(levels, release.lattice[0].loss, bool(release.proven))
