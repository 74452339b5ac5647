"""Several GPUs: data decide the device, and `devices=` deals columns out; real or emulated, `EMULATOR_DEVICES=2`."""

import ast
import pathlib

import numpy as np
import pytest

import mag
from mag._backends.cuda.launch import Device

SOURCES = sorted(pathlib.Path(mag.__file__).parent.joinpath("_backends/cuda").glob("*.py"))
NAMES = ("labels", "n_groups", "sizes", "cost", "representatives", "masked", "information_loss")
X = np.random.default_rng(0).random((130, 5)).round(2)

pytestmark = pytest.mark.gpu


@pytest.fixture
def two(device):
    """CuPy with two devices, which solve all columns themselves."""
    if device.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("needs two devices: with emulated ones, EMULATOR_DEVICES=2")
    return device


@pytest.fixture
def touched(monkeypatch):
    """The devices of all launches."""
    numbers, launch = [], Device.launch
    monkeypatch.setattr(
        Device, "launch", lambda self, *args, **chosen: numbers.append(self.number) or launch(self, *args, **chosen)
    )
    return numbers


def on(two, number, array):
    with two.cuda.Device(number):
        return two.asarray(array)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("now", [0, 1])
def test_the_data_decide_the_device_and_not_the_current_one(two, touched, number, now):
    table, column = on(two, number, X), on(two, number, X[:, 2])
    expected = mag.columns(X, 3, backend="cpu")
    with two.cuda.Device(now):
        found, single = mag.columns(table, 3), mag.univariate(column, 3)
        for name in NAMES:
            array = getattr(found, name)
            assert array.device.id == number, name
            assert array.get().tobytes() == getattr(expected, name).tobytes(), name
        for name in ("labels", "masked", "sizes", "representatives"):
            assert getattr(single, name).device.id == number
            assert np.array_equal(getattr(single, name).get(), getattr(expected[2], name)), name
        assert single.information_loss == expected[2].information_loss
        assert two.cuda.runtime.getDevice() == now
    assert set(touched) == {number}


@pytest.mark.parametrize("devices", [[0, 1], [1, 0], [1], (0, 1)])
def test_columns_of_the_host_are_dealt_out(two, touched, devices):
    expected = mag.columns(X, 3, backend="cpu")
    for backend in ("auto", "cuda"):
        found = mag.columns(X, 3, devices=devices, backend=backend)
        for name in NAMES:
            assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert set(touched) == set(devices)


@pytest.mark.parametrize("devices", [[0, 1], [1, 0], [1]])
def test_columns_of_a_device_are_dealt_out_and_come_back(two, touched, devices):
    options = {"k": [3, 20, 3, 13, 3], "cost": ["sse", "sae", "roundup", "sse", "sse"]}
    expected, found = mag.columns(X, **options), mag.columns(on(two, 0, X), devices=devices, **options)
    for name in NAMES:
        array = getattr(found, name)
        assert array.device.id == 0, name
        assert array.get().tobytes() == getattr(expected, name).tobytes(), name
    for j in range(5):
        assert found[j].labels.device.id == found[j].masked.device.id == 0
        assert np.array_equal(found[j].masked.get(), expected[j].masked)
        assert found[j].information_loss == expected[j].information_loss
        assert found[j].cost == expected[j].cost
    assert set(touched) == set(devices)


def test_all_devices_are_at_work_before_one_is_waited_for(two, monkeypatch):
    from mag._backends.cuda.columns import ColumnBatch

    order = []
    finish, begin = ColumnBatch.finish, ColumnBatch.__init__
    monkeypatch.setattr(ColumnBatch, "__init__", lambda self, *a, **n: order.append("begin") or begin(self, *a, **n))
    monkeypatch.setattr(ColumnBatch, "finish", lambda self: order.append("finish") or finish(self))
    mag.columns(X, 3, devices=[0, 1])
    assert order == ["begin", "begin", "finish", "finish"]


def test_more_devices_than_columns(two):
    found = mag.columns(X[:, :1], 3, devices=[0, 1])
    assert np.array_equal(found.labels, mag.columns(X[:, :1], 3, backend="cpu").labels)


@pytest.mark.parametrize(
    ("devices", "sentence"),
    [
        ([], r"devices must be a sequence of device numbers, each once; got \[\]\."),
        ([0, 0], r"devices must be a sequence of device numbers, each once; got \[0, 0\]\."),
        ([-1], r"devices must be a sequence of device numbers, each once; got \[-1\]\."),
        ([True], r"devices must be a sequence of device numbers, each once; got a list\."),
        (1, r"devices must be a sequence of device numbers, each once; got 1\."),
        ([0, 64], r"devices must be numbers of GPUs from 0 to \d+; got 64\."),
    ],
)
def test_wrong_devices_get_one_sentence(cupy, devices, sentence):
    with pytest.raises((TypeError, ValueError), match=f"^{sentence}$"):
        mag.columns(X, 3, devices=devices)


def test_devices_are_not_for_the_cpu(cupy):
    with pytest.raises(ValueError, match=r"^devices is not used by backend 'cpu'; leave it out\.$"):
        mag.columns(X, 3, devices=[0], backend="cpu")
    with pytest.raises(ValueError, match=r"^backend must be 'cpu' with group_penalty, max_groups or soft; got"):
        mag.columns(X, 3, devices=[0], soft=1.0)


def test_all_devices(cupy):
    devices = list(range(cupy.cuda.runtime.getDeviceCount()))
    expected = mag.columns(X, 3)
    assert np.array_equal(mag.columns(X, 3, devices=devices).labels, expected.labels)
    for number in devices:
        with cupy.cuda.Device(number):
            table = cupy.asarray(X)
        found = mag.columns(table, 3, devices=devices)
        assert found.masked.device.id == number
        assert np.array_equal(found.masked.get(), expected.masked)
        assert np.array_equal(mag.univariate(table[:, 1], 3).labels.get(), expected[1].labels)


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
