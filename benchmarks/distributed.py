"""`python -m benchmarks.distributed [columns] [records] [growth]`: the cost of `mag.distributed` on local workers.

columns: `mag.distributed.columns` on two worker processes against one.
records: distributed `multivariate` on 2·10⁶ × 10 against `mona` in memory, information loss and time.
growth: time per row of `columns` (4 columns) and `univariate` from 10⁵ to 10⁷ rows, and of `multivariate` (4 columns,
    groups found in parts of 1000 records) from 10⁴ to 10⁶, on two worker processes.
"""

import contextlib
import time
from collections.abc import Callable, Iterator

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

import mag
import mag.distributed
from benchmarks._measure import machine, save, show, words
from mag.distributed._results import Scaled


@contextlib.contextmanager
def workers(count: int) -> Iterator[Client]:
    """A cluster of processes on loopback, one thread each."""
    settings = {"distributed.worker.memory.target": False, "distributed.worker.memory.spill": False}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=count, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def normal(n: int, d: int, rows: int) -> da.Array:
    """Correlated records, made by the workers and kept there."""
    mixed = np.random.default_rng(1).normal(size=(d, d))
    made = (da.random.default_rng(0).normal(size=(n, d), chunks=(rows, d)) @ mixed).persist()
    wait(made)
    return made


def clock(run: Callable[[da.Array], Scaled], X: da.Array, number: int) -> float:
    """The time until masked values are computed, where they are; every number has keys of its own."""
    scaled = run(X.map_blocks(_itself, number, dtype=X.dtype))
    began = time.perf_counter()
    wait(scaled.masked.persist())
    return time.perf_counter() - began


def _itself(block: np.ndarray, _: int) -> np.ndarray:
    return block


def columns() -> list[dict]:
    """Two worker processes against one, in turn, so that both meet the same neighbors on a shared machine."""
    rows = []
    n, d = 3_000_000, 16
    with workers(1) as one, workers(2) as two:
        data = {}
        for client in (one, two):
            with client.as_current():
                data[client] = da.random.default_rng(0).normal(size=(n, d), chunks=(n, 1)).persist()
                wait(data[client])
        for cost, k in (("sse", 5), ("sae", 100)):
            times = {one: float("inf"), two: float("inf")}
            for i in range(5):
                for client, X in data.items():
                    with client.as_current():
                        took = clock(lambda X, k=k, cost=cost: mag.distributed.columns(X, k, cost=cost), X, i)
                        times[client] = min(times[client], took if i else float("inf"))  # the first compiles
            rows.append(
                {
                    "n": n,
                    "columns": d,
                    "cost": cost,
                    "k": k,
                    "one worker, s": times[one],
                    "two, s": times[two],
                    "ratio": times[one] / times[two],
                }
            )
    return rows


def records() -> list[dict]:
    """Distributed against in memory, at the same ρ."""
    n, d, k = 2_000_000, 10, 5
    rows = []
    with workers(2):
        X = normal(n, d, n // 8)
        wait(mag.distributed.multivariate(X[:20_000], k).masked.persist())  # compiles
        for rho in (0.5,):
            scaled = mag.distributed.multivariate(X, k, rho=rho)
            began = time.perf_counter()
            masked, loss = dask.persist(scaled.masked, scaled.information_loss)
            loss = loss.compute()
            wait(masked)
            took = time.perf_counter() - began
            smallest = mag.distributed.verify(masked, k)
            began = time.perf_counter()
            whole = mag.multivariate(X.compute(), k, method="mona", rho=rho)
            rows.append(
                {
                    "n": n,
                    "d": d,
                    "k": k,
                    "rho": rho,
                    "loss in memory, %": 100 * whole.information_loss,
                    "distributed, %": 100 * loss,
                    "ratio": loss / whole.information_loss,
                    "smallest class": smallest,
                    "in memory, s": time.perf_counter() - began,
                    "distributed, s": took,
                }
            )
    return rows


def growth() -> list[dict]:
    """Microseconds per row, for rows in eight chunks."""
    runs = {
        "columns": (5, lambda X: mag.distributed.columns(X, 5)),
        "univariate": (5, lambda X: mag.distributed.univariate(X[:, 0], 5)),
        "multivariate": (4, lambda X: mag.distributed.multivariate(X, 5, rho=np.log(1000) / np.log(len(X)))),
    }
    rows = []
    with workers(2):
        for name, (power, run) in runs.items():
            times = []
            for n in (10**power, 10 ** (power + 1), 10 ** (power + 2)):
                X = normal(n, 4, n // 8)
                # the first compiles
                times.append(1e6 * min([clock(run, X, i) for i in range(4)][1:]) / n)
                del X
            first, second, third = times
            rows.append(
                {
                    "function": name,
                    "from, rows": f"1e{power}",
                    "µs a row": first,
                    "10 times as many": second,
                    "100 times": third,
                    "last / first": third / first,
                    "last / second": third / second,
                }
            )
    return rows


PARTS = {"columns": columns, "records": records, "growth": growth}


def main() -> None:
    """Measure, print and save."""
    asked = words(__doc__, choices=PARTS)
    print(machine())
    for name in asked or PARTS:
        found = PARTS[name]()
        show(name, found)
        save(f"scale_{name}", found)


if __name__ == "__main__":
    main()
