"""The figures of `mag.assess`, computed once each, and the tables that list them."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mag._lib.lazy import cached_property
from mag._lib.missing import is_missing
from mag._lib.number import find_first_rows
from mag.frames import Frame
from mag.report import SubsetRisk
from mag.risk.frequencies import Frequencies
from mag.risk.household import household_risk
from mag.risk.individual import expected_inverse
from mag.risk.subsets import Subsets
from mag.risk.suda import dis_scores, points_by_size, share_by_column, share_by_level
from mag.risk.uniqueness import pitman, zayatz
from mag.tables._keys import Key, KeyTable

MIN_LEVEL_RECORDS = 10  # rarer values of a quasi-identifier are not named
USUAL_FRACTION = 0.01  # of the population that is in a table without weights, as sdcMicro takes for DIS-SUDA
WORST_PER_SIZE = 3  # subsets that the report lists
SMALL_SIZES = (2, 3, 5)  # count records in classes below these
Columns = dict[Hashable, np.ndarray]


class ColumnRisk(NamedTuple):
    """What a quasi-identifier does to the classes.

    `values`, `missing` : its distinct values and missing cells; `unique_alone`, `unique_without` : records that are
    unique on this column alone, and on all others without it; `suda_share` : the share of all points of minimal
    uniques that those with the column have.
    """

    column: Hashable
    values: int
    missing: int
    unique_alone: int
    unique_without: int
    suda_share: float


@dataclass(frozen=True)
class Risks:
    """The risks of a table of quasi-identifiers."""

    table: KeyTable
    max_size: int
    sampling_fraction: float | None

    @property
    def m(self) -> int:
        """The number of quasi-identifiers."""
        return len(self.table.keys)

    @cached_property
    def counted(self) -> Frequencies:
        """Classes on all quasi-identifiers, numbered by size."""
        classes, sample, population = self.table.count(range(self.m))
        order = np.argsort(sample, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        return Frequencies(rank[classes], sample[order], population[order])

    @cached_property
    def sizes(self) -> np.ndarray:
        """The size of every record's class."""
        return self.counted.sample[self.counted.classes]

    @cached_property
    def by_class(self) -> np.ndarray:
        """The individual risk of the records of every class."""
        return expected_inverse(self.counted.sample, self.counted.population)

    @cached_property
    def individual(self) -> np.ndarray:
        """The individual risk of every record."""
        return self.by_class[self.counted.classes]

    @cached_property
    def household(self) -> np.ndarray | None:
        """The household risk of every record."""
        homes = self.table.homes
        return None if homes is None else household_risk(self.individual, homes, self.table.units)

    @cached_property
    def found(self) -> Subsets:
        """All subsets, and the scores of all records."""
        return self.table.search(self.max_size, points_by_size(self.m))

    @cached_property
    def fraction(self) -> float | None:
        """The share of the population that the table holds, if it is known."""
        if self.sampling_fraction is not None or self.table.weights is None:
            return self.sampling_fraction
        return min(self.table.n / float(self.table.weights.sum()), 1.0)

    @cached_property
    def dis(self) -> np.ndarray:
        """The DIS-SUDA score of every record."""
        uniques, doubles = (int((self.sizes == size).sum()) for size in (1, 2))
        return dis_scores(self.found.scores, uniques, doubles, self.m, self.fraction or USUAL_FRACTION)

    def summarize(self) -> dict[str, Any]:
        """The figures of the whole table."""
        table, n = self.table, self.table.n
        people = n if table.units is None else int(table.units.max()) + 1
        expected = table.sum_over_people(self.individual)
        summary: dict[str, Any] = {"records": n} | ({} if table.units is None else {"units": people})
        summary |= {
            "quasi_identifiers": [key.name for key in table.keys],
            "max_size": self.max_size,
            "sampling_fraction": self.fraction or USUAL_FRACTION,
            "classes": self.counted.sample.size,
            "smallest": self.counted.sample[0].item(),
            "uniques": int((self.sizes < SMALL_SIZES[0]).sum()),
            **{f"below_{size}": int((self.sizes < size).sum()) for size in SMALL_SIZES[1:]},
            "expected_reidentifications": expected,
            "mean_risk": expected / people,
            "largest_risk": float(self.by_class.max()),
        }
        if self.household is not None:
            expected = table.sum_over_people(self.household)
            summary |= {"household_reidentifications": expected, "mean_household_risk": expected / people}
        summary |= self._estimate_population()
        single = {str(name): self._count_single(values) for name, values in table.sensitive.items()}
        return summary | {"sensitive": single}

    def _estimate_population(self) -> dict[str, float]:
        """How many are unique in the population; nothing without its size, or where classes are no partition."""
        if self.fraction is None or self.table.alpha is not None:
            return {}
        sizes, people = self.counted.sample, float(self.counted.sample.sum())
        models = {"zayatz": zayatz(sizes, self.fraction), "pitman": pitman(sizes, self.fraction)}
        uniques = {f"population_uniques_{name}": number for name, number in models.items() if number == number}
        return {"population": people / self.fraction, **uniques}

    def _count_single(self, values: np.ndarray) -> dict[str, int]:
        """Classes of at least two with one sensitive value, and their records."""
        single = (self.table.count_distinct(self.counted.classes, values) == 1) & (self.counted.sample >= 2)
        return {"classes": int(single.sum()), "records": int(single[self.counted.classes].sum())}

    def describe_columns(self) -> list[ColumnRisk]:
        """What each quasi-identifier does to the classes; the largest shares first."""
        shares = share_by_column(self.found.scores, self.found.shares).tolist()
        rows = []
        for place, (key, share) in enumerate(zip(self.table.keys, shares, strict=True)):
            counted = self.table.count([other for other in range(self.m) if other != place])
            without = int((counted.sample[counted.classes] < SMALL_SIZES[0]).sum())
            alone = int(self.found.figures["uniques"][place])
            values = key.first.size - (key.n_missing > 0)
            rows.append(ColumnRisk(key.name, values, key.n_missing, alone, without, share))
        return sorted(rows, key=lambda row: -row.suda_share)

    def list_columns(self, rows: list[ColumnRisk]) -> Columns:
        """One row a quasi-identifier."""
        names, *figures = zip(*rows, strict=True)
        columns: Columns = {"column": _texts([*map(str, names)])}
        columns.update(zip(ColumnRisk._fields[1:], map(np.array, figures), strict=True))
        return columns

    def list_records(self) -> Columns:
        """One row a record, in the order of the table."""
        classes, sample, population = self.counted
        columns: Columns = {"class": classes, "fk": sample[classes], "Fk": population[classes], "risk": self.individual}
        if self.household is not None:
            columns["household_risk"] = self.household
        columns |= {"suda": self.found.scores, "dis_suda": self.dis}
        with np.errstate(invalid="ignore"):
            shares = np.nan_to_num(self.found.shares / self.found.scores[:, None])
        for key, share in zip(self.table.keys, shares.T, strict=True):
            columns[f"{key.name}_contribution"] = share
        return columns

    def list_classes(self) -> Columns:
        """One row a class, the smallest first; row i has the records whose ``class`` is i."""
        classes, sample, population = self.counted
        columns: Columns = {"records": np.bincount(classes), "fk": sample, "Fk": population, "risk": self.by_class}
        for name, values in self.table.sensitive.items():
            columns[f"{name}_distinct"] = self.table.count_distinct(classes, values)
        return columns | {"first_record": find_first_rows(classes)}

    def find_worst_subsets(self) -> list[SubsetRisk]:
        """Of every size, the subsets that make most records unique."""
        found, keys, order = self.found, self.table.keys, self._order_of_subsets
        rank = np.arange(order.size) - np.searchsorted(found.members.sum(axis=1), found.members[order].sum(axis=1))
        return [
            SubsetRisk(
                tuple(key.name for key, has in zip(keys, found.members[place], strict=True) if has),
                int(found.figures["uniques"][place]),
                int(found.figures["below_5"][place]),
                int(found.minimal[place]),
            )
            for place in order[rank < WORST_PER_SIZE].tolist()
        ]

    @cached_property
    def _order_of_subsets(self) -> np.ndarray:
        """Small subsets first, and those of a size by the records that they make unique."""
        return np.lexsort((-self.found.figures["uniques"], self.found.members.sum(axis=1)))

    def list_subsets(self) -> Columns:
        """One row a subset, small subsets first, and those of a size by the records that they make unique."""
        found, names = self.found, [str(key.name) for key in self.table.keys]
        sizes, order = found.members.sum(axis=1), self._order_of_subsets
        texts = [", ".join(name for name, has in zip(names, own, strict=True) if has) for own in found.members[order]]
        columns: Columns = {"subset": _texts(texts), "size": sizes[order]}
        columns |= {name: column[order] for name, column in found.figures.items()}
        return columns | {"minimal_uniques": found.minimal[order]}

    def list_levels(self, frame: Frame) -> Columns:
        """One row a value of a quasi-identifier; values of few records are not named."""
        parts = [self._list_levels_of(frame, place, key) for place, key in enumerate(self.table.keys)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _list_levels_of(self, frame: Frame, place: int, key: Key) -> Columns:
        people, shares = self.table.count_people(key.codes), share_by_level(key.codes, self.found.shares[:, place])
        cells = frame.column(key.name).cells()
        known = [row if count >= MIN_LEVEL_RECORDS else None for row, count in zip(key.first, people, strict=True)]
        texts = [None if row is None or is_missing(cells[row]) else str(cells[row]) for row in known]
        order = np.lexsort((-people, -np.nan_to_num(shares)))
        return {
            "column": _texts([str(key.name)] * people.size),
            "level": _texts(texts)[order],
            "records": people[order],
            "suda_share": shares[order],
            "first_record": key.first[order],
        }


def _texts(texts: list[Any]) -> np.ndarray:
    return np.array([*texts, None], object)[:-1]
