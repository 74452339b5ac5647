"""What the CUDA backend should cost, from counts: bytes, operations, launches, the bus.  No device was measured.

Bytes of device memory, float64 operations and launches of columns, projections and Mondrian are those that the emulator
counted (`python -m benchmarks.gpu --profile`, benchmarks/_gpu_counts.json), those of orders and lists are worked out by
hand.  Assumed: memory at SHARE of its peak, as scattered writes reach at best, a second cache FASTER times that, SHARE
of four instructions a cycle and multiprocessor, whichever takes longest; float64 without fused operations; a thread
that waits for itself STEP cycles an operation, a warp SEARCH cycles a search of four columns and FOLLOW the sizes of
one end; LAUNCH seconds a launch, TRIP seconds a wait for the device; BUS bytes per second on the bus.
"""

from benchmarks._gpu_profile import CACHE, FEWER, load
from mag._backends.cuda.launch import (
    ON_HOST,
    PER_SM,
    Device,
    chunks_of,
    device_time,
    host_is_sooner,
    resident_warps,
    warm_start,
)
from mag.solvers._narrow import LARGEST_K, PANEL

# memory in bytes/s; additions or multiplications in float64 per second; multiprocessors; clock; shared memory of each
DEVICES = {
    "A100 40 GB": {"memory": 1.555e12, "float64": 9.7e12 / 2, "processors": 108, "clock": 1.41e9, "shared": 163 << 10},
    "RTX 4090": {"memory": 1.008e12, "float64": 1.29e12 / 2, "processors": 128, "clock": 2.52e9, "shared": 99 << 10},
}
SHARE, FASTER = 0.6, 3
SEARCH = 400
STEP = 6
FOLLOW = 150
LAUNCH, TRIP, BUS = 5e-6, 20e-6, 20e9
COUNTED_RECORDS = -(-100_000 // FEWER)
STEPS = {
    "transpose": "transpose",
    **dict.fromkeys(("sample", "assign", "lay_out", "deal", "settle", "place"), "sort"),
    **dict.fromkeys(("keys", "count", "offsets", "scatter", "lift"), "sort"),
    **dict.fromkeys(("narrow", "narrow_repair", "block", "block_repair", "ending"), "solve"),
    **dict.fromkeys(("walk", "compose", "link", "spread"), "walk, link"),
    **{step: step for step in ("cut", "label", "represent", "mask")},
    **dict.fromkeys(("tally", "check"), "count"),
}
GROUPING = ("transpose", "sort", "solve", "walk, link", "cut", "label", "count", "others")


def moved_by(case: str) -> dict[str, float]:
    """Bytes of device memory per value, by step, as they were counted; CuPy's own kernels are others."""
    steps: dict[str, float] = {}
    for kernel, row in load(case).items():
        step = STEPS.get(kernel, "others")
        steps[step] = steps.get(step, 0.0) + row["read"] + row["written"]
    return steps


def bytes_per_value(k: int) -> dict[str, float]:
    """Bytes of device memory per value that each step of `columns` moves, and `represent` and `mask` of its results."""
    own, results = moved_by(f"columns, k = {k}"), moved_by("results, k = 5")
    return {step: own.get(step, 0.0) for step in GROUPING} | {step: results[step] for step in ("represent", "mask")}


def launches_of(case: str) -> float:
    """How many launches a call needs."""
    return sum(row["launches"] for row in load(case).values())


def busy(device: dict, case: str) -> float:
    """Seconds per value of the second cache, which serves what warps request, or of instructions."""
    rows = load(case).values()
    requested, executed = (sum(row[name] for row in rows) for name in ("requested", "instructions"))
    cycles = executed / 32 / (4 * SHARE * device["processors"])
    return max(requested / (FASTER * SHARE * device["memory"]), cycles / device["clock"])


def operations_per_value(k: int) -> float:
    """Operations in float64 per value, cost "sse", of lanes that wait too; warm starts included."""
    return sum(row["float64"] for row in load(f"columns, k = {k}").values())


def solving(device: dict, cols: int, n: int, k: int) -> dict[str, float]:
    """Seconds of the solver: of arithmetic, and of a thread or warp that waits for itself."""
    lanes, warm, operations = PER_SM * device["processors"], warm_start(k), operations_per_value(k)
    if k <= LARGEST_K:
        units = -(-n // PANEL)
        chunks, length = chunks_of(units, cols, lanes, warm)
        more = 1 + (chunks - 1) * warm / units  # warm starts, which were counted
        rounds = max(1.0, cols * chunks / lanes)
        cycles = (length + (warm if chunks > 1 else 0)) * PANEL * operations / more * STEP * rounds
    else:
        warps = resident_warps(Device(None, None, shared=device["shared"], lanes=lanes), k)
        cycles = n / 4 * SEARCH * max(1.0, cols / warps)
    return {"float64": cols * n * operations / device["float64"], "latency": cycles / device["clock"]}


def columns_time(device: dict, cols: int, n: int, k: int, steps: tuple[str, ...] = GROUPING) -> float:
    """Seconds of a call: memory of all steps but the solver's, the longest of what the solver needs, launches."""
    moved, rate = bytes_per_value(k), SHARE * device["memory"]
    others = sum(moved[step] for step in steps if step != "solve")
    own = max(moved["solve"] * cols * n / rate, *solving(device, cols, n, k).values())
    case = f"columns, k = {k}"
    return max(others * cols * n / rate + own, busy(device, case) * cols * n) + launches_of(case) * LAUNCH


def model(cols: int, n: int, on_cpu: dict[int, float]) -> list[dict]:
    """Milliseconds for a table; `on_cpu` are nanoseconds per value of one core."""
    rows = []
    for name, device in DEVICES.items():
        for k, nanoseconds in on_cpu.items():
            moved, own = bytes_per_value(k), solving(device, cols, n, k)
            rows.append(
                {
                    "device": name,
                    "k": k,
                    "bytes/value": sum(moved[step] for step in GROUPING),
                    "with masked": sum(moved.values()),
                    "sort ms": 1e3 * moved["sort"] * cols * n / (SHARE * device["memory"]),
                    "float64 ms": 1e3 * own["float64"],
                    "latency ms": 1e3 * own["latency"],
                    "call ms": 1e3 * columns_time(device, cols, n, k),
                    "16 cores ms": 1e-6 * nanoseconds * cols * n / 16,
                }
            )
    return rows


def one_column() -> list[dict]:
    """The rule that chooses the hybrid way for one column on an A100: nanoseconds per value, bytes over the bus."""
    rows, lanes = [], PER_SM * DEVICES["A100 40 GB"]["processors"]
    for n, k in ((10_000, 3), (1_000_000, 3), (1_000_000, 10), (100_000, 100), (2_000_000, 20), (2_000_000, 100)):
        device = Device(None, None, lanes=lanes, hybrid=True, threads=16)
        chosen = "hybrid" if host_is_sooner(device, 1, n, k) else "device"
        times = {"device, ns": device_time(device, 1, n, k), "hybrid, ns": ON_HOST}
        rows.append({"n": n, "k": k, **times, "chosen": chosen, "bus, bytes": 8 + 4 / k if chosen == "hybrid" else 0.0})
    return rows


def projections(m: int, n: int, d: int, k: int, on_cpu: float) -> list[dict]:
    """Directions projected, grouped and scored; `on_cpu` are nanoseconds per direction and record of one core."""
    rows, case = [], f"projection, k = {k}"
    moved = sum(moved_by(case).values()) - moved_by(case)["solve"]
    for name, device in DEVICES.items():
        rate, own = SHARE * device["memory"], solving(device, m, n, k).values()
        bus = {"up": 8 * n * d + 8 * m * d, "down": 12 * m + 4 * n + 8 * d * d}
        whole = moved * m * n / rate + max(moved_by(case)["solve"] * m * n / rate, *own)
        whole = max(whole, busy(device, case) * m * n)
        rows.append(
            {
                "device": name,
                "bytes/value": sum(moved_by(case).values()),
                "bus up, MB": bus["up"] / 1e6,
                "of a table there": 8 * m * d / 1e6,
                "bus down, MB": bus["down"] / 1e6,
                "call ms": 1e3 * (whole + launches_of(case) * LAUNCH + sum(bus.values()) / BUS),
                "16 cores ms": 1e-6 * on_cpu * m * n / 16,
            }
        )
    return rows


def orders(m: int, n: int, d: int, k: int, on_cpu: float) -> list[dict]:
    """The best groups in the orders of m lines; `on_cpu` are nanoseconds per order and record of one core.

    A group reads its first record, and its sums, d numbers of two kinds, are read and written; a warp takes FOLLOW
    cycles to compare the sizes of one end.
    """
    rows, moved = [], (2 * k - 2) * (8 * d + 4 * 8 * d) + 16 * k
    for name, device in DEVICES.items():
        costs, follow = moved * m * n / (SHARE * device["memory"]), n * FOLLOW / device["clock"]
        rows.append(
            {
                "device": name,
                "bytes/value": moved,
                "costs ms": 1e3 * costs,
                "follow ms": 1e3 * follow,
                "call ms": 1e3 * (costs + follow)
                + 1e3 * moved_by(f"columns, k = {k}")["sort"] * m * n / (SHARE * device["memory"]),
                "one core ms": 1e-6 * on_cpu * m * n,  # which looks at one order after the other
            }
        )
    return rows


def lists(n: int, d: int, k: int, counted: dict[str, float], on_cpu: float) -> list[dict]:
    """MDAV's lists; `counted` per record, and `on_cpu` seconds per n², of one core.

    Half of the records are free on average, and no box is skipped: the most that a scan can take.
    """
    near, far = counted["near"] * n, counted["far"] * n
    bus = {"up": 8 * n * d + 8 * n + 4 * (near + far), "down": near * (12 * (2 * k + 6) + 4) + far * (12 * 8 + 4)}
    launches, waits = counted["launches"] * n, counted["waits"] * n
    rows = []
    for name, device in DEVICES.items():
        scanned = (near + far) * n / 2 * d
        time = max(3 * scanned / device["float64"], 8 * scanned / (2 * device["memory"]))  # half from the second cache
        rows.append(
            {
                "device": name,
                "n": n,
                "lists": near + far,
                "launches": launches,
                "bus up, MB": bus["up"] / 1e6,
                "bus down, MB": bus["down"] / 1e6,
                "call s": time + launches * LAUNCH + waits * TRIP + sum(bus.values()) / BUS,
                "16 cores s": on_cpu * n * n / 16,
            }
        )
    return rows


def _levels(n: int, k: int) -> int:
    """How often the records are halved."""
    return max(1, (n // (2 * k)).bit_length())


def halving(n: int, d: int, k: int, on_cpu: float) -> list[dict]:
    """Mondrian by variances; `on_cpu` are nanoseconds per record and level of one core.

    The sums of a part are added up in the CPU's order, by a thread per column: it waits for itself, longest at first.
    Launches of a level are those of COUNTED_RECORDS records.  So are bytes where the records stay in the second cache;
    else they are all that warps asked for.
    """
    levels, counted = _levels(n, k), _levels(COUNTED_RECORDS, k)
    stays = (8 * d + 24) * n <= CACHE  # records and what is sorted
    rows_counted = load(f"mondrian_v, k = {k}").values()
    moved = sum(
        row["read"] + row["written"] if stays else row["requested"] * row["of it %"] / 100 for row in rows_counted
    )
    moved /= counted
    launches = levels * launches_of(f"mondrian_v, k = {k}") / counted
    rows = []
    for name, device in DEVICES.items():
        waiting = 2 * n * 2 * STEP / device["clock"]
        bus = 8 * n * d + 4 * n + 8 * n / k
        rows.append(
            {
                "device": name,
                "n": n,
                "levels": levels,
                "bytes/value": moved * levels,
                "launches": launches,
                "bus, MB": bus / 1e6,
                "call ms": 1e3 * (moved * levels * n / (SHARE * device["memory"]) + waiting + bus / BUS)
                + 1e3 * launches * LAUNCH,
                "16 cores ms": 1e-6 * on_cpu * n * levels / 16,
            }
        )
    return rows
