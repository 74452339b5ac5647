"""How many records are unique in the population, estimated from the sizes of the classes in a sample."""

import math

import numpy as np

MAX_ASCENTS = 200
CONVERGED = 1e-10
SMALLEST_STEP = 2.0**-40


def zayatz(sizes: np.ndarray, fraction: float) -> float:
    """The estimated number of population uniques by Zayatz (1991), as ARX counts it.

    Classes of the population are taken to have the sizes of those of the sample.  A class of K has exactly one of its
    members in the sample with the hypergeometric probability h(K); so a sample unique is a population unique with
    probability ``c = u_1 h(1) / Σ_K u_K h(K)`` for u_K classes of size K, and there are ``u_1 c / π`` of them.

    Examples
    --------
    >>> import numpy as np
    >>> from mag.risk.uniqueness import zayatz
    >>> round(zayatz(np.array([1, 1, 1, 2, 5]), fraction=0.1), 2)
    10.96
    """
    counts = np.bincount(sizes)
    if counts[1] == 0:
        return 0.0
    n = int(sizes.sum())
    N = max(round(n / fraction), n)
    i = np.arange(1, counts.size - 1)  # h(K) = K n / N · Π_{i<K} (N − n − i + 1) / (N − i)
    factors = np.maximum(N - n - i + 1, 0) / np.maximum(N - i, 1)
    once = np.arange(1, counts.size) * (n / N) * np.cumprod(np.append(1.0, factors))
    return float(counts[1] ** 2 * once[0] / (counts[1:] @ once) / fraction)


def pitman(sizes: np.ndarray, fraction: float) -> float:
    """The estimated number of population uniques by Pitman's model (Hoshino 2001), as ARX counts it.

    The sizes are a random partition with parameters θ and α, fitted by maximum likelihood; a population of N has
    ``Γ(θ+1) / Γ(θ+α) N^α`` uniques.  NaN where the likelihood has no maximum inside 0 < α < 1, θ > −α.

    Examples
    --------
    >>> import numpy as np
    >>> from mag.risk.uniqueness import pitman
    >>> round(pitman(np.repeat([1, 2, 3, 7], [30, 8, 4, 2]), fraction=0.1), 1)
    74.7
    """
    n = int(sizes.sum())
    fitted = fit_pitman(sizes)
    if fitted is None:
        return math.nan
    theta, alpha = fitted
    N = max(n / fraction, n)
    return min(math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha) + alpha * math.log(N)), N)


def fit_pitman(sizes: np.ndarray) -> tuple[float, float] | None:
    """θ and α of the largest likelihood, by Newton's method with shortened steps; None without a maximum inside."""
    counts = np.bincount(sizes)
    u, n = sizes.size, int(sizes.sum())
    if u < 2 or u == n:
        return None
    larger = u - np.cumsum(counts)[1:-1]  # classes of more than j records, for j from 1
    point = np.array([max(u / 10.0, 1.0), 0.5])
    value, slope, curve = _likelihood(point, u, n, larger)
    for _ in range(MAX_ASCENTS):
        step = _ascent(slope, curve)
        size = 1.0
        while size > SMALLEST_STEP:
            ahead = point + size * step
            if 0 < ahead[1] < 1 and ahead[0] > -ahead[1]:
                tried = _likelihood(ahead, u, n, larger)
                if tried[0] >= value:
                    break
            size /= 2
        else:
            break
        point, (value, slope, curve) = ahead, tried
    inside = 1e-6 < point[1] < 1 - 1e-6
    return (float(point[0]), float(point[1])) if inside and np.abs(slope).max() < CONVERGED * n else None


def _ascent(slope: np.ndarray, curve: np.ndarray) -> np.ndarray:
    """Newton's step; along the slope where the likelihood is not concave."""
    if curve[0, 0] < 0 and np.linalg.det(curve) > 0:
        return -np.linalg.solve(curve, slope)
    return slope / np.abs(curve).max()


def _likelihood(point: np.ndarray, u: int, n: int, larger: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Its logarithm, with the first and second derivatives."""
    theta, alpha = point
    i, j = np.arange(1.0, u), np.arange(1.0, larger.size + 1)
    a, b, c = theta + i * alpha, theta + np.arange(1.0, n), j - alpha
    value = np.log(a).sum() - np.log(b).sum() + larger @ np.log(c)
    slope = np.array([(1 / a).sum() - (1 / b).sum(), (i / a).sum() - (larger / c).sum()])
    cross = -(i / a**2).sum()
    curve = [[(1 / b**2).sum() - (1 / a**2).sum(), cross], [cross, -((i / a) ** 2).sum() - (larger / c**2).sum()]]
    return float(value), slope, np.array(curve)
