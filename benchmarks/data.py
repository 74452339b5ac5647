"""Data sets that benchmarks and tests read: `python -m benchmarks.data`.

They are not part of the project. The command says which of them are in the folder $MAG_DATA, by default ../shared/data,
which are not, where to get those, and which have other cells than the ones that figures of the documentation are of.
Figures that papers print are in benchmarks/reference.
"""

import hashlib
from dataclasses import dataclass

from benchmarks._data import DATA, published
from benchmarks._measure import show, words

SDCMICRO = "R package sdcMicro"
ARX = "github.com/arx-deidentifier/arx, data/adult.csv and data/adult_hierarchy_*.csv"
CREDIT = "UCI Machine Learning Repository, Default of Credit Card Clients"


@dataclass(frozen=True)
class Source:
    """Where a data set is from, how many records and columns it has, and the start of its SHA-256."""

    source: str
    shape: str
    sha256: str | None = None


SOURCES = {
    "census.csv": Source(f"{SDCMICRO}, CASCrefmicrodata", "1080 × 13", "40fb9156"),
    "tarragona.csv": Source(f"{SDCMICRO}, Tarragona", "834 × 13", "d5f719a1"),
    "eia.csv": Source(f"{SDCMICRO}, EIA, columns 1 and 6 to 15", "4092 × 11", "4384e99a"),
    "survey.csv": Source(f"{SDCMICRO}, testdata", "4580 × 15", "2d282512"),
    "francdat.csv": Source(f"{SDCMICRO}, francdat", "8 × 8", "c2c6f771"),
    "adult.csv": Source(
        "UCI Machine Learning Repository, Adult, adult.data then adult.test: age, education_num, hours_per_week",
        "48 842 × 3", "b2079f83",
    ),
    "adult_arx/adult.csv": Source(ARX, "30 162 × 9", "c700df93"),
    "credit_card.csv": Source(CREDIT, "30 000 × 24"),
}  # fmt: skip


def state_of(name: str, source: Source) -> str:
    """Whether a data set is there, with the cells that figures are of."""
    path = DATA / name
    if not path.exists():
        return "missing"
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    return "there" if source.sha256 is None or found.startswith(source.sha256) else "there, with other cells"


def main() -> None:
    """Print the data sets, and whose figures are at hand."""
    print(f"Data sets in {DATA}:")
    rows = [
        {"file": name, "state": state_of(name, source), "records × columns": source.shape, "source": source.source}
        for name, source in SOURCES.items()
    ]
    show("Data sets", rows)
    print("\nPrinted figures in benchmarks/reference/tables.json:")
    for source in published()["_sources"].values():
        print(f"- {source}")


if __name__ == "__main__":
    words(__doc__)
    main()
