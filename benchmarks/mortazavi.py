"""`python -m benchmarks.mortazavi`: table 3 of Mortazavi 2020, our figures next to his.

Columns are standardized with ddof = 1 and ordered; the values are then multiplied by 100 and rounded, and grouped in
that order for real means (IMHM) or for integer ones (IMHMI).  Integer means are published in both cases.
"""

import numpy as np

from benchmarks._data import published, table
from benchmarks._measure import machine, save, show, words
from mag._backends import cpu
from mag._lib.progress import Progress
from mag.methods.orders import npn, projection, tsp, zscore
from mag.methods.orders.consecutive import IntegerColumns, best_in_orders

GROUPS = (2, 3, 4, 5, 10)
NAMES = {"Tarragona": "tarragona", "census": "census", "EIA": "eia"}


def by_principal_component(Z: np.ndarray) -> np.ndarray:
    """Records in the order of the first principal component."""
    lines = projection.projections_for(Z, 2, cpu, 1)
    return next(lines.orders([projection.principal(lines, *Z.shape)]))


def tours(Z: np.ndarray) -> list[np.ndarray]:
    """The tours of method "tsp"."""
    return list(tsp.orders(Z, 10, np.random.default_rng(0), 2, Progress()))


ORDERS = {
    "NPN": lambda Z: [npn.order(Z)],
    "PCA": lambda Z: [by_principal_component(Z)],
    "TSP": tours,
    "Z-score": lambda Z: [zscore.order(Z)],
}


def away(x: np.ndarray) -> np.ndarray:
    """The nearest integers, half away from zero."""
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def loss(x: np.ndarray, labels: np.ndarray) -> int:
    """Squared distances of integers to the rounded means of their groups."""
    total = np.zeros((labels.max() + 1, x.shape[1]))
    np.add.at(total, labels, x)
    sizes = np.bincount(labels)[:, None]
    centers = np.sign(total) * ((2 * np.abs(total) + sizes) // (2 * sizes))
    return int(np.square(x - centers[labels]).sum())


def rows(name: str, order: str) -> list[dict]:
    """Ours and his for one data set and order, for every k, real and integer."""
    X, his = table(NAMES[name]), published()["mortazavi"]["table3"]["data"][name]
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    x = away(100 * Z)
    orders, found = ORDERS[order](Z), []
    for k in GROUPS:
        row = {"data": name, "order": order, "k": k}
        for program, whole in (("IMHM", None), ("IMHMI", IntegerColumns(x, np.ones(x.shape[1])))):
            row[program] = loss(x, best_in_orders(x, orders, k, whole))
            row[f"his {program}"] = his[f"{order}-{program}"][str(k)]
        row["ratio"] = row["IMHMI"] / row["his IMHMI"]
        found.append(row)
    return found


def main() -> None:
    """Print and save the table, and how many integers are equal."""
    print(machine())
    found = [row for name in NAMES for order in ORDERS for row in rows(name, order)]
    show("Sum of squares, integer means", found)
    pairs = [(row[p], row[f"his {p}"]) for row in found if row["order"] != "TSP" for p in ("IMHM", "IMHMI")]
    print(f"\n{sum(ours == his for ours, his in pairs)} of {len(pairs)} integers of NPN, PCA and Z-score are equal")
    print(f"TSP: at most {max(row['ratio'] for row in found if row['order'] == 'TSP'):.4f} of his")
    save("mortazavi", found)


if __name__ == "__main__":
    words(__doc__)
    main()
