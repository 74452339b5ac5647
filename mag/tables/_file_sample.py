"""Some groups of a file that is masked jointly, before and after: what its report can show of a table out of memory."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mag.frames import frame_of
from mag.report import ReportFacts
from mag.tables._compared import BeforeAfter, Numbers
from mag.tables._facts import date_now
from mag.tables._guarantee import Guarantee

if TYPE_CHECKING:
    from mag.tables._file_job import FileRelease

MAX_SAMPLED_RECORDS = 2**17
BYTES_PER_SAMPLED_CELL = 128  # before and after, with what measures of them need


@dataclass
class FileSample:
    """Whole groups, chosen at random: their classes are as large, and as hard to link, as those of the file."""

    n: int  # records of the file
    most: int  # records of the sample, about
    kinds: dict[Hashable, str] = field(default_factory=dict)
    labels: list[np.ndarray] = field(default_factory=list)
    before: list[Numbers] = field(default_factory=list)
    after: list[Numbers] = field(default_factory=list)
    n_groups: int = 0

    @classmethod
    def of(cls, n: int, n_columns: int, memory: int) -> "FileSample":
        """Of as many records as fit into this memory."""
        return cls(n, min(MAX_SAMPLED_RECORDS, memory // (BYTES_PER_SAMPLED_CELL * n_columns)))

    def add(self, original: Any, masked: Any, labels: np.ndarray) -> None:
        """Some groups of a part, whose records are rows of two tables of pyarrow."""
        chance = np.random.default_rng([0, len(self.labels)]).random(int(labels.max()) + 1)
        rows = np.flatnonzero((chance < self.most / max(self.n, 1))[labels])
        numbers = np.unique(labels[rows], return_inverse=True)[1]
        self.labels.append(numbers + self.n_groups)
        self.n_groups += int(numbers.max(initial=-1)) + 1
        for tables, table in ((self.before, original), (self.after, masked)):
            frame = frame_of(table.take(rows).select(masked.column_names))
            units = {name: frame.column(name).units() for name in frame.names}
            self.kinds = {name: own.kind for name, own in units.items()}
            tables.append({name: own.floats() for name, own in units.items()})

    def facts(
        self, release: "FileRelease", title: str | None, about: Mapping[str, str], step: Callable[[float], object]
    ) -> ReportFacts:
        """All that the page shows."""
        names = list(release.guarantee.columns)
        before, after = (_joined(tables, names) for tables in (self.before, self.after))
        pair = BeforeAfter(np.column_stack([*before.values()]), np.column_stack([*after.values()]))
        utility = pair.utility(True, names, lambda: np.nan)
        step(0.6)
        risk = pair.risk()
        step(1.0)
        return replace(
            self.published_facts(release, title, about),
            columns=(),
            original=before,
            masked=after,
            kinds={name: kind for name, kind in self.kinds.items() if kind == "datetime"},
            utility=utility,
            risk=risk,
            warnings=release.warnings,
            manifest=release.manifest(),
        )

    def published_facts(self, release: "FileRelease", title: str | None, about: Mapping[str, str]) -> ReportFacts:
        """The facts that need no original, as an external page shows them."""
        guarantee: Guarantee = release.guarantee
        labels = np.concatenate(self.labels)
        assert isinstance(guarantee.n_groups, int)
        sampled = {"Sample": f"{labels.size} of {self.n} records, in whole groups, for all below the counts of classes"}
        return ReportFacts(
            title=title or "Microaggregation report",
            guarantee=str(guarantee),
            scope=guarantee.scope,
            k=guarantee.k,
            smallest=guarantee.smallest,
            columns=guarantee.columns,
            original={},
            masked={},
            labels=labels,
            n_records=self.n,
            n_groups=guarantee.n_groups,
            by=guarantee.by,
            untouched=guarantee.kept,
            manifest={key: value for key, value in release.manifest().items() if key != "seconds"},
            about={**about, "Date": date_now(), **(sampled if labels.size < self.n else {})},
        )


def _joined(tables: Sequence[Numbers], names: Sequence[Hashable]) -> Numbers:
    return {name: np.concatenate([table[name] for table in tables]) for name in names}
