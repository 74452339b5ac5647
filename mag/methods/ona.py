"""The Lloyd-based methods of chapter 6 of Thaeter's thesis: LMaS, ONA, ONA* and ONA*γ."""

from mag.methods._polish import polish
from mag.methods.mdav import mdav_star, mdav_star_gamma

def ona_star(X, k, *, rounds=30, threads, watch):
    return polish(X, k, mdav_star(X, k, threads=threads, watch=watch), rounds, threads, watch)

def ona_star_gamma(X, k, *, gamma="search", rounds=30, threads, watch):
    return polish(X, k, mdav_star_gamma(X, k, gamma=gamma, threads=threads, watch=watch), rounds, threads, watch)
