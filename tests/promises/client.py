"""A program of a user of mag, with types; `test_types.py` lets mypy and pyright read it.  It is never run."""

import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import mag
import mag.dp
import mag.graphs
import mag.metrics
import mag.privacy
import mag.verify


def arrays(x: npt.NDArray[np.float64], X: npt.NDArray[np.float64]) -> float:
    grouping = mag.univariate(x, 3, cost="sae", threads=2)
    columns = mag.columns(X, [3, 5], cost="sse")
    records = mag.multivariate(X, 5, method="mdav", time_limit=None)
    loss: float = records.information_loss
    groups: int = grouping.n_groups
    risk: float = mag.privacy.distance_linkage(X, X).expected
    tuned = mag.multivariate(X, 5, method="projection", directions=X, refine=3, integer=False, bound="lp").gap
    assert tuned is None or tuned >= 0
    return loss + groups + float(columns.labels.max()) + mag.metrics.sse(X, X) + risk


def graphs(edges: npt.NDArray[np.int64]) -> int:
    found = mag.graphs.anonymize(edges, 34, 5, keep="nodes", cost="sae", shuffle=True)
    changes: int = found.n_added + found.n_removed
    bound: int = found.bound
    return changes - bound + int(mag.graphs.degrees(found.degrees, 5, cost="roundup").sum())


def private(people: pl.DataFrame, folder: pathlib.Path) -> float:
    budget = mag.dp.Budget(epsilon=2, delta=1e-6, file=folder / "ledger.jsonl")
    domains = {"age": mag.dp.Numbers(0, 120, 10), "region": mag.dp.Categories(["north"])}
    release = mag.dp.sample(people, domains, epsilon=1, delta=1e-6, drop=["name"], budget=budget)
    counted = mag.dp.histogram(people, domains, 1, neighbors="add_remove", drop="name", budget=budget)
    release.write(folder / "out.csv")
    print(release.guarantee, counted.manifest()["epsilon"], budget.left)
    return mag.dp.delta_for(20, 0.1, 0.5) + mag.dp.k_for(1, 1e-6)


def tables(people: dict[str, list[Any]], folder: pathlib.Path) -> int:
    release = mag.microaggregate(people, 5, ["income", "age"], by="region", keep=["zip"], small_strata="merge")
    wish = mag.Closeness(0.2, ground="ordered")
    close = mag.microaggregate(people, 5, "age", diversity={"job": ("entropy", 2.5)}, closeness={"income": wish})
    print(close.guarantee.closeness["income"].counted, mag.verify.distinct(close.data, ["age"], "job"))
    counted: int = mag.verify.recount(release.data, ["region", "income", "age"])
    k: int | dict[Any, int] = release.guarantee.k
    return counted + (k if isinstance(k, int) else min(k.values()))


def frames(people: pl.DataFrame, folder: pathlib.Path) -> pl.DataFrame:
    release = mag.microaggregate(people, 5, ["income", "age"], method="anneal", restarts=2, rest="drop", random_state=1)
    file = mag.microaggregate(folder / "in.parquet", 5, "income", scope="per-column", output=folder / "out.parquet")
    print(file.path.name, publish(release))
    recoded = mag.generalize(
        people, 5, ["age"], hierarchies={"age": "age.csv"}, max_suppressed=0.02, diversity={"income": 3}
    )
    levels: dict[Any, int] | None = recoded.levels
    print(levels, recoded.lattice[0].loss)
    return recoded.data if recoded.proven else release.data


def publish(release: mag.Release) -> str:
    return str(release.guarantee)


def careful(x: list[float]) -> mag.Grouping | None:
    try:
        return mag.univariate(x, 2)
    except mag.NotAnonymousError:
        raise
    except mag.InputError as mistake:
        print(mistake)
        return None
