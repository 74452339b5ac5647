"""Every kernel, for every cost and type, compiles for real devices: without spills, without fused operations."""

import re

import pytest

from mag._backends.cuda import sources
from mag.costs import COSTS
from tests.cuda import nvrtc

FUSED_OR_LOOSE = re.compile(r"\bfma\.|\bmad\.\w*\.?f(32|64)|\b(?:add|sub|mul)\.(?:ftz\.)?f(?:32|64)\b")


def check(compiled):
    for (number, name, options), (ptx, uses) in compiled:
        assert uses, f"{name} has kernels"
        for kernel, use in uses.items():
            print(f"sm_{number} {kernel:14} {use} {options}")
            assert use.spilled == 0, (number, kernel, options, use)
            assert use.registers <= 255
        # every operation is rounded by itself, so that ptxas may not fuse them either
        assert not FUSED_OR_LOOSE.search(ptx), (number, name, options)


@pytest.mark.parametrize("architecture", nvrtc.ARCHITECTURES)
def test_every_kernel_compiles_without_spills(architecture):
    check(nvrtc.matrix([architecture]))


@pytest.mark.long
def test_every_kernel_compiles_for_every_small_k():
    check(nvrtc.matrix(nvrtc.ARCHITECTURES, every_k=True))


def test_a_fused_operation_would_be_found():
    source = 'extern "C" __global__ void f(double* x) { x[0] = x[1] * x[2] + x[3]; }'
    assert FUSED_OR_LOOSE.search(nvrtc.compiled(source, (), 80)[0])
    assert not FUSED_OR_LOOSE.search(nvrtc.compiled(source, nvrtc.NVRTC_OPTIONS, 80)[0])


def test_costs_in_cuda_equal_the_table():
    files = {path.stem for path in (sources.folder() / "costs").glob("*.cuh")}
    assert files == set(COSTS)
    for cost in COSTS:
        text = (sources.folder() / "costs" / f"{cost}.cuh").read_text()
        (base,) = re.findall(rf"^struct {sources.struct_of(cost)} (?:: (\w+) )?{{$", text, re.M)
        assert base or f"enum {{ terms = {COSTS[cost].kernel.n_terms} }};" in text


def test_sources_are_flat():
    for path in sources.folder().glob("*.cu"):
        text = sources.source(path.stem)
        assert "#include" not in text
        assert text.count("typedef long long i64;") == 1


def test_every_kernel_says_what_it_does_and_how():
    for path in sources.folder().glob("*.cu"):
        text = path.read_text()
        for name in re.findall(r'extern "C" __global__ void __launch_bounds__\([\d, ]+\)\s+(\w+)\(', text):
            assert re.search(rf"^// {name}: .*(\n// .*)*\n//   mapping  .*(\n//.*)*\n//   memory   ", text, re.M), name
        assert text.count("__global__") == len(re.findall(r"^//   mapping  ", text, re.M))
