"""The facts about a table with suppressed cells that its report shows."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mag import verify
from mag._lib.keys import as_key
from mag._lib.missing import is_missing
from mag._lib.number import number_rows
from mag.frames import frame_of
from mag.frames.categories import is_category
from mag.hierarchy import text_of
from mag.measures.scales import labels_in_order
from mag.report import Category, ReportFacts, SuppressionFacts
from mag.tables._compared import Original, as_objects
from mag.tables._facts import date_now

if TYPE_CHECKING:
    from mag.tables.suppression.release import Suppression


def facts_of(release: "Suppression", original: Original, title: str | None, about: Mapping[str, str]) -> ReportFacts:
    """All that the page shows."""
    guarantee, facts = release.guarantee, published_facts(release, title, about)
    assert facts.suppression is not None
    return replace(
        facts,
        guarantee=str(guarantee),
        columns=(),
        categories={name: _compare(release, original, name) for name in guarantee.columns},
        warnings=release.warnings,
        suppression=replace(facts.suppression, suppressed=guarantee.suppressed or {}),
    )


def published_facts(release: "Suppression", title: str | None, about: Mapping[str, str]) -> ReportFacts:
    """The facts that need no original, as an external page shows them."""
    guarantee, published = release.guarantee, frame_of(release.data)
    classes = {
        own.columns: number_rows([_codes(release, name) for name in (*guarantee.by, *own.columns)])
        for own in guarantee.sets
    }
    labels = [next(own for names, own in classes.items() if name in names) for name in guarantee.columns]
    is_joint = guarantee.scope == "joint"
    own = guarantee.sets[0]
    least = own.smallest if is_joint else verify.recount(release.data, [*guarantee.by, *guarantee.columns])
    return ReportFacts(
        title=title or "Cell suppression report",
        guarantee=guarantee.promise,
        scope=guarantee.scope,
        k=guarantee.k,
        smallest=least,
        columns=guarantee.columns,
        original={},
        masked={},
        labels=labels[0] if is_joint else np.column_stack(labels),
        by=guarantee.by,
        untouched=guarantee.kept,
        unit=guarantee.unit,
        smallest_units=own.smallest_units if is_joint else None,
        sets=[*map(str, guarantee.sets)],
        with_kept=release.count_with_kept(),
        withheld=guarantee.withheld,
        manifest=release.manifest(),
        about={**about, "Date": date_now()},
        suppression=SuppressionFacts(
            guarantee.missing == "wildcard",
            guarantee.n_records,
            {name: sum(map(is_missing, published.column(name).cells())) for name in guarantee.columns},
            {},
            guarantee.below_k,
            [(", ".join(map(str, names)), np.bincount(own)) for names, own in classes.items()],
        ),
    )


def _codes(release: "Suppression", name: Hashable) -> np.ndarray:
    codes = frame_of(release.data).column(name).codes()
    return codes - codes.min(initial=0)


def _compare(release: "Suppression", original: Original, name: Hashable) -> Category:
    """A column before and after; published cells are those of the original."""
    cells = original.frame.column(name).cells()
    before = cells if original.rows is None else [cells[row] for row in original.rows.tolist()]
    after = frame_of(release.data).column(name).cells()
    own, published = (
        as_objects([None if is_missing(cell) else as_key(cell) for cell in column]) for column in (before, after)
    )
    order = labels_in_order(None, [], published.tolist())
    if not is_category(original.frame.column(name)):
        order = [text_of(cell) for cell in sorted({cell for cell in published.tolist() if cell is not None})]
    return Category(before=own, after=published, order=order, generalized=True)
