"""`pytest -p tests.emulator.plugin`: tests find emulated devices; what one kernel did wrong ends with its test."""

from collections.abc import Generator

import pytest

from tests import emulator
from tests.emulator import build

WHY_NOT: str | None = None


def pytest_configure() -> None:
    """Emulate devices, before tests that import CuPy are collected; an import of this file alone emulates none."""
    global WHY_NOT
    try:
        emulator.activate()
    except build.CannotBuild as error:
        WHY_NOT = f"There is no emulated device: {error}"


def pytest_report_header() -> str:
    """Say what tests run on."""
    return WHY_NOT or "devices: emulated"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a device, with the reason, where there is none."""
    if WHY_NOT:
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason=WHY_NOT))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say what a kernel did wrong."""
    report = yield
    if call.when == "call" and emulator.DRIVER is not None:
        if report.failed and (said := emulator.DRIVER.emulator_error()):
            report.sections.append(("emulated device", said.decode()))
        emulator.DRIVER.emulator_forget()
    return report
