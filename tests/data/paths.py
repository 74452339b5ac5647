<<<<<<< HEAD
"""The project's folder; data sets and published tables, which are not part of it, are next to it or at $MAG_DATA."""
=======
"""The project's folder; data sets, which are not part of it: beside it or at $MAG_DATA; figures of papers."""
>>>>>>> main

import os
import pathlib

PROJECT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("MAG_DATA", PROJECT.parent / "shared" / "data"))
REFERENCE = PROJECT / "benchmarks" / "reference" / "tables.json"  # the figures of papers
