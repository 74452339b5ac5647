"""Some groups of a table that does not fit into memory, before and after masking: for its report."""

import os
import pathlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mag._lib.atomic import check_target
from mag._lib.errors import InputRuntimeError
from mag._lib.progress import Progress
from mag.api.options import progress_of
from mag.api.types import ProgressReport
from mag.frames import frame_of
from mag.methods.distances.partition import sample_groups
from mag.report import Audience, ReportFacts, is_external, write
from mag.tables._compared import BeforeAfter, Numbers
from mag.tables._facts import date_now, guaranteed_facts
from mag.tables._guarantee import Guarantee

MAX_SAMPLED_RECORDS = 2**17
BYTES_PER_SAMPLED_CELL = 128  # before and after, with what measures of them need


def records_of_sample(n_columns: int, memory: int) -> int:
    """As many records as fit into this memory."""
    return min(MAX_SAMPLED_RECORDS, memory // (BYTES_PER_SAMPLED_CELL * n_columns))


@dataclass
class GroupSample:
    """Whole groups, chosen at random: their classes are as large, and as hard to link, as those of the table."""

    n: int  # records of the table
    most: int  # records of the sample, about
    kinds: dict[Hashable, str] = field(default_factory=dict)
    labels: list[np.ndarray] = field(default_factory=list)
    before: list[Numbers] = field(default_factory=list)
    after: list[Numbers] = field(default_factory=list)
    n_groups: int = 0

    def add(self, original: Any, masked: Any, labels: np.ndarray) -> None:
        """Some groups of a part, whose records are rows of two tables of pyarrow."""
        rows, numbers = sample_groups(labels, len(self.labels), self.most / max(self.n, 1))
        pair = []
        for table in (original, masked):
            frame = frame_of(table.take(rows).select(masked.column_names))
            units = {name: frame.column(name).units() for name in frame.names}
            self.kinds = {name: own.kind for name, own in units.items()}
            pair.append({name: own.floats() for name, own in units.items()})
        self.append(numbers, *pair)

    def append(self, labels: np.ndarray, before: Numbers, after: Numbers) -> None:
        """The chosen groups of a part, which are numbered from 0."""
        self.labels.append(labels + self.n_groups)
        self.n_groups += int(labels.max(initial=-1)) + 1
        self.before.append(before)
        self.after.append(after)

    def write(
        self,
        path: str | os.PathLike[str],
        guarantee: Guarantee,
        manifest: Mapping[str, Any],
        sources: Sequence[pathlib.Path],
        *,
        title: str | None,
        overwrite: bool,
        about: Mapping[str, str] | None,
        progress: ProgressReport,
        audience: Audience,
    ) -> pathlib.Path:
        """Write the page about a release; the options are those of `Release.report`, and `sources` stay as they are."""
        check_target(path, sources, overwrite)
        if not self.n_groups:
            raise InputRuntimeError(
                f"report needs a sample of groups, about {self.most} of {self.n} records; none was drawn, since the "
                f"groups are large: there are {guarantee.n_groups}."
            )
        steps = Progress(progress_of(progress))
        first, last = steps.span(0.0, 0.7), steps.span(0.7, 1.0)
        if is_external(audience):
            facts = self.published_facts(guarantee, manifest, title, about or {})
        else:
            facts = self.facts(guarantee, manifest, title, about or {}, first.step)
        page = write(path, facts, overwrite, last.step)
        steps.finish()
        return page

    def facts(
        self,
        guarantee: Guarantee,
        manifest: Mapping[str, Any],
        title: str | None,
        about: Mapping[str, str],
        step: Callable[[float], object],
    ) -> ReportFacts:
        """All that the page shows."""
        names = list(guarantee.columns)
        before, after = (_joined(tables, names) for tables in (self.before, self.after))
        pair = BeforeAfter(np.column_stack([*before.values()]), np.column_stack([*after.values()]))
        utility = pair.utility(True, names, lambda: np.nan)
        step(0.6)
        risk = pair.risk()
        step(1.0)
        return replace(
            self.published_facts(guarantee, manifest, title, about),
            columns=(),
            original=before,
            masked=after,
            kinds={name: kind for name, kind in self.kinds.items() if kind == "datetime"},
            utility=utility,
            risk=risk,
            warnings=manifest["warnings"],
            manifest=manifest,
        )

    def published_facts(
        self, guarantee: Guarantee, manifest: Mapping[str, Any], title: str | None, about: Mapping[str, str]
    ) -> ReportFacts:
        """The facts that need no original, as an external page shows them."""
        labels = np.concatenate(self.labels)
        assert isinstance(guarantee.n_groups, int)
        sampled = {"Sample": f"{labels.size} of {self.n} records, in whole groups, for all below the counts of classes"}
        return guaranteed_facts(
            guarantee,
            title=title or "Microaggregation report",
            labels=labels,
            n_records=self.n,
            n_groups=guarantee.n_groups,
            manifest={key: value for key, value in manifest.items() if key != "seconds"},
            about={**about, "Date": date_now(), **(sampled if labels.size < self.n else {})},
        )


def _joined(tables: Sequence[Numbers], names: Sequence[Hashable]) -> Numbers:
    return {name: np.concatenate([table[name] for table in tables]) for name in names}
