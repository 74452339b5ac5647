"""A generated table of people, and what `mag demo` shows of it."""

import numpy as np

SEED = 1


def table(n: int = 10_000) -> dict[str, np.ndarray]:
    """Columns of a made-up population register: skewed, tied, integer and real."""
    rng = np.random.default_rng(SEED)
    age = np.clip(rng.gamma(6.0, 7.5, n), 0, 104).astype(np.int64)
    income = np.round(rng.lognormal(10.2, 0.6, n), 2)
    return {
        "age": age,
        "income": income,
        "rent": np.round(0.05 * income**0.8 * rng.lognormal(0, 0.3, n) + 150, 2),
        "children": rng.poisson(np.where((age > 22) & (age < 55), 1.1, 0.1)),
        "commute_minutes": np.round(rng.exponential(24, n)),
    }


def summary(k: int = 5) -> str:
    """Every column of the table grouped by itself, as a text table."""
    from mag.api import univariate

    rows = [f"{'column':<16}{'distinct':>10}{'groups':>9}{'sizes':>9}{'masked':>9}{'information loss':>19}"]
    for name, column in table().items():
        grouping = univariate(column, k)
        sizes = f"{grouping.sizes.min()}-{grouping.sizes.max()}"
        published = np.unique(grouping.masked).size
        rows.append(
            f"{name:<16}{np.unique(column).size:>10}{grouping.n_groups:>9}{sizes:>9}{published:>9}"
            f"{100 * grouping.information_loss:>17.6f} %"
        )
    return "\n".join(rows)
