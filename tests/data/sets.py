"""Data sets for tests, which skip without them, and figures of papers."""

import json

import numpy as np
import pytest

from tests.data.paths import DATA, REFERENCE


def read_records(name):
    """The records of "adult", "census", "eia" or "tarragona"; skips without them."""
    path = DATA / f"{name.lower()}.csv"
    if not path.exists():
        pytest.skip(f"{path.name} is not beside the project; MAG_DATA may say where it is")
    return np.loadtxt(path, delimiter=",", skiprows=1)


def read_published():
    """The figures of papers."""
    return json.loads(REFERENCE.read_text(encoding="utf-8"))
