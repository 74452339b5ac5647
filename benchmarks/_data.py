"""Public data sets, which are not part of the project, and figures of papers (their paths: tests/data/paths.py)."""

import json

import numpy as np

from tests.data.paths import DATA, REFERENCE


def table(name: str) -> np.ndarray:
    """The records of "adult", "census", "eia" or "tarragona"."""
    return np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1)


def published() -> dict:
    """The tables of the papers."""
    return json.loads(REFERENCE.read_text(encoding="utf-8"))
