"""Data sets and published tables for tests, which skip without them."""

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
    """The figures of papers; skips without them."""
    if not REFERENCE.exists():
        pytest.skip("the published tables are not beside the project")
    return json.loads(REFERENCE.read_text())
