"""The facts about a release that its report shows."""

import datetime
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mag import verify
from mag._lib.missing import is_missing
from mag.frames import frame_of
from mag.report import Level, RecodingFacts, ReportFacts, SensitiveFacts
from mag.tables._compared import BeforeAfter, Original
from mag.tables._guarantee import Guarantee

if TYPE_CHECKING:
    from mag.tables._release import Release


def facts_of(
    release: "Release",
    original: Original,
    compared: BeforeAfter,
    title: str | None,
    about: Mapping[str, str],
    step: Callable[[float], object],
) -> ReportFacts:
    """All that the page shows; `step` is told the fraction that is done."""
    before, after = release.numbers()
    categories = compared.categories(release.guarantee.generalized, release.levels)
    kinds = original.kinds([*before, *compared.ranges])
    utility = release.utility()
    step(0.6)
    risk = release.risk()
    step(1.0)
    return replace(
        published_facts(release, title, about),
        columns=(),
        original=before,
        masked=after,
        labels=_labels_of(release, [*after, *compared.ranges, *categories]),
        kinds={name: kind for name, kind in kinds.items() if kind == "datetime"},
        categories=categories,
        ranges=compared.ranges,
        utility=utility,
        risk=risk,
        warnings=[warning for warning in release.warnings if warning not in release._linked],
        linked=release._linked,
        recoding=_recoding_of(release, original),
    )


def published_facts(release: "Release", title: str | None, about: Mapping[str, str]) -> ReportFacts:
    """The facts that need no original, as an external page shows them."""
    guarantee = release.guarantee
    return guaranteed_facts(
        guarantee,
        title=title or ("Microaggregation report" if release.levels is None else "Generalization report"),
        labels=_labels_of(release, [*guarantee.columns]),
        with_kept=release.count_with_kept(),
        withheld=release.withheld,
        manifest=release.manifest(),
        sensitive=_sensitive_of(release),
        about={**about, "Date": date_now()},
    )


def guaranteed_facts(guarantee: Guarantee, **others: Any) -> ReportFacts:
    """The facts of a guarantee, and others of its release."""
    return ReportFacts(
        guarantee=str(guarantee),
        scope=guarantee.scope,
        k=guarantee.k,
        smallest=guarantee.smallest,
        columns=guarantee.columns,
        original={},
        masked={},
        by=guarantee.by,
        untouched=guarantee.kept,
        unit=guarantee.unit,
        smallest_units=guarantee.smallest_units,
        household=guarantee.household,
        smallest_households=guarantee.smallest_households,
        sets=[*map(str, guarantee.sets)],
        promises=[*map(str, guarantee.diversity.values()), *map(str, guarantee.closeness.values())],
        **others,
    )


def date_now() -> str:
    """The date and time, to the minute."""
    return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC"


def _sensitive_of(release: "Release") -> list[SensitiveFacts]:
    """Diversity and closeness in numbers, counted on the published table."""
    guarantee, facts = release.guarantee, []
    for promise in (*guarantee.diversity.values(), *guarantee.closeness.values()):
        counts = verify.sensitive_counts(release.data, [*guarantee.by, *guarantee.columns], promise.key)
        bound = "t" if promise.is_closeness else "c" if "c" in promise.required else "l"
        facts.append(
            SensitiveFacts(
                promise.name, str(promise), float(promise.required[bound]), promise.counted, bound != "l",
                [len(own) for own in counts],
            )
        )  # fmt: skip
    return facts


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
