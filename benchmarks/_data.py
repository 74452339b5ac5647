"""Public data sets and published tables, not part of the project: they lie beside it or where MAG_DATA says."""

import json
import os
import pathlib

import numpy as np

SHARED = pathlib.Path(__file__).resolve().parents[2] / "shared"
DATA = pathlib.Path(os.environ.get("MAG_DATA", SHARED / "data"))


def table(name: str) -> np.ndarray:
    """The records of "adult", "census", "eia" or "tarragona"."""
    return np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1)


def published() -> dict:
    """The tables of the papers."""
    return json.loads((DATA.parent / "reference" / "tables.json").read_text())
