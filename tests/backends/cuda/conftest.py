"""The host in place of a device."""

import pytest

from tests.cuda import runs


@pytest.fixture
def host_device():
    """While the host stands for a device: Resident arrays live there."""
    with runs.device():
        yield
