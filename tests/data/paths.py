"""The project's folder; data sets, which are not part of it and lie next to it or at $MAG_DATA; figures of papers."""

import os
import pathlib

PROJECT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("MAG_DATA", PROJECT.parent / "shared" / "data"))
REFERENCE = PROJECT / "benchmarks" / "reference" / "tables.json"  # the figures of papers
