"""Default streams of threads, on emulated devices that run nothing before something waits for it."""

import ast
import pathlib

import pytest

import mag
from tests.cuda import emulated

SOURCES = sorted(pathlib.Path(mag.__file__).parent.joinpath("_backends/cuda").glob("*.py"))


@pytest.mark.gpu
def test_streams_of_lazy_devices_where_each_thread_has_a_default_stream(cupy):
    emulated.need()
    own = {"CUPY_CUDA_PER_THREAD_DEFAULT_STREAM": "1"}
    some = "thread or univariate or one_column_of_another_device or table_of_the_host"
    done = emulated.run_tests("-m", "gpu", "-k", some, "tests/test_cupy_streams.py", variables=own, lazy=1, devices=2)
    assert done.returncode == 0, done.stdout[-4000:]
    assert "skipped" not in done.stdout, done.stdout[-400:]


def test_one_file_copies_between_devices():
    """`copyto` is CuPy's only function here that takes an array of another device on purpose."""
    calls = {
        path.name
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("copyto", "memcpyPeerAsync", "copy_from_device_async")
        if not (isinstance(node.value, ast.Name) and node.value.id == "np")
    }
    assert calls == {"transfer.py"}
