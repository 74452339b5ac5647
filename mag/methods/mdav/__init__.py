"""The maximum distance methods of chapter 5 of Thaeter's thesis (2021): MD, MDAV, MDAV+, V-MDAV, MDAV* and MDAV*γ.

All of them start groups at records far from the center, which are hard to place later.  Records that are equally far,
and groups that are equally close, are taken in the order of their numbers.
"""

from mag._lib.checks import one_of
from mag.methods._best_of import best_gamma, gammas_of
from mag.methods.mdav.centroids import CENTROID, CLOSEST
from mag.methods.mdav.pairs import pairs
from mag.methods.mdav.run import run_steps
from mag.methods.mdav.star import star
from mag.methods.mdav.variable import grow


def check(k, *, closest="centroid", gamma="search"):
    """Refuse what the options cannot be."""
    gammas_of(gamma)
    return _rule(closest)


def md(X, k, *, closest="centroid", threads, progress):
    """Groups around the two records that are farthest from each other (algorithm 1; Domingo-Ferrer & Mateo-Sanz)."""
    return run_steps(pairs, X, k, _rule(closest), False, ends=True, threads=threads, progress=progress)


def mdav(X, k, *, threads, progress):
    """… around the record farthest from the centroid, and the one farthest from that (algorithm 2).

    As while, not repeat: fewer than 3k records would otherwise leave a group below k.
    """
    return run_steps(pairs, X, k, CENTROID, True, ends=True, threads=threads, progress=progress)


def mdav_plus(X, k, *, closest="centroid", threads, progress):
    """… around the record farthest from the centroid of all (algorithm 3)."""
    return run_steps(star, X, k, _rule(closest), 0.0, False, threads=threads, progress=progress)


def v_mdav(X, k, *, gamma="search", closest="centroid", threads, progress):
    """MDAV+ whose groups grow while the next record is closer to them than to others (algorithm 4)."""
    rule = _rule(closest)

    def run(gamma, threads, progress):
        return run_steps(grow, X, k, rule, gamma, threads=threads, progress=progress)

    return best_gamma(run, gamma, X, threads, progress)


def mdav_star(X, k, *, closest="centroid", threads, progress):
    """MDAV+ in which a record joins an existing group where that costs less than a new one (algorithm 5)."""
    return run_steps(star, X, k, _rule(closest), 1.0, False, threads=threads, progress=progress)


def mdav_star_gamma(X, k, *, gamma="search", closest="centroid", threads, progress):
    """MDAV* with a gain factor and a look at two records at once (algorithm 6)."""
    rule = _rule(closest)

    def run(gamma, threads, progress):
        return run_steps(star, X, k, rule, gamma, True, threads=threads, progress=progress)

    return best_gamma(run, gamma, X, threads, progress)


def _rule(closest):
    return CLOSEST[one_of("closest", closest, CLOSEST)]
