"""The project's folder; data sets and published tables, which are not part of it, are next to it or at $MAG_DATA."""

import os
import pathlib

PROJECT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("MAG_DATA", PROJECT.parent / "shared" / "data"))
REFERENCE = DATA.parent / "reference" / "tables.json"  # the figures of papers
