"""Emulated devices in another mode: how many, of how much memory, and whether they run what nothing waits for."""

import os
import subprocess
import sys

import pytest

from tests import emulator
from tests.data.paths import PROJECT

PLUGIN = "tests.emulator.plugin"


def need():
    """Skip where a device cannot change its mode."""
    if emulator.DRIVER is None:
        pytest.skip("needs emulated devices, whose number and order of work can be set")


def environment(**modes):
    """The environment of a process whose devices have these modes, such as lazy=1, devices=2."""
    named = {f"EMULATOR_{mode.upper()}": str(value) for mode, value in modes.items()}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return kept | named


def run(code, *, variables=None, timeout=600, **modes):
    """Run a program on devices of these modes; what it printed."""
    before = "from tests import emulator; emulator.activate()\n"
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", before + code]
    settings = environment(**modes) | (variables or {})
    done = subprocess.run(command, cwd=PROJECT, env=settings, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_tests(*arguments, variables=None, timeout=1800, **modes):
    """Run pytest on devices of these modes; the process when it is done.  Plugins of the caller come first."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, "-p", PLUGIN]
    settings = environment(**modes) | (variables or {})
    return subprocess.run(command, cwd=PROJECT, env=settings, capture_output=True, text=True, timeout=timeout)
