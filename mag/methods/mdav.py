"""The maximum distance methods of chapter 5 of Thaeter's thesis: MD, MDAV, MDAV+, V-MDAV, MDAV* and MDAV*γ.

All of them start groups at records far from the centre, which are hard to place later.  Records that are equally far,
and groups that are equally close, are taken in the order of their numbers.
"""

import numpy as np

from mag.methods._centres import CLOSEST
from mag.methods._drive import drive
from mag.methods._pairs import pairs
from mag.methods._star import star
from mag.methods._vmdav import grow


def md(X, k, *, closest="centroid", threads, watch):
    return drive(pairs, X, k, CLOSEST[closest], False, threads=threads, watch=watch)


def mdav(X, k, *, threads, watch):
    return drive(pairs, X, k, CLOSEST["centroid"], True, threads=threads, watch=watch)


def mdav_plus(X, k, *, closest="centroid", threads, watch):
    return drive(star, X, k, CLOSEST[closest], 0.0, False, threads=threads, watch=watch)


def mdav_star(X, k, *, closest="centroid", threads, watch):
    return drive(star, X, k, CLOSEST[closest], 1.0, False, threads=threads, watch=watch)


def mdav_star_gamma(X, k, *, gamma="search", closest="centroid", threads, watch):
    return drive(star, X, k, CLOSEST[closest], float(gamma), True, threads=threads, watch=watch)


def v_mdav(X, k, *, gamma="search", closest="centroid", threads, watch):
    return drive(grow, X, k, CLOSEST[closest], float(gamma), threads=threads, watch=watch)
