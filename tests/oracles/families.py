"""The methods of Thaeter's thesis as its pseudo-code says, written down without haste."""

import numpy as np


def away(X, x):
    """Squared distances, columns added in order."""
    total = np.zeros(len(X))
    for j in range(X.shape[1]):
        total += (X[:, j] - x[j]) ** 2
    return total


def near(X, i, U, k):
    """N_{k-1}(x_i, U): i and its k-1 nearest in U."""
    others = [u for u in sorted(U) if u != i]
    distance = away(X[others], X[i])
    return [i, *(others[p] for p in np.argsort(distance, kind="stable")[: k - 1])]


def farthest(X, point, U):
    members = sorted(U)
    return members[int(np.argmax(away(X[members], point)))]


def cost(X, members):
    return np.square(X[members] - X[members].mean(axis=0)).sum()


def closest(X, i, C, rule="centroid"):
    """clos, clos' and clos'' of section 5.1."""
    if rule == "centroid":
        return int(np.argmin(away(np.array([X[c].mean(axis=0) for c in C]), X[i])))
    if rule == "member":
        nearest = min((away(X[[y]], X[i])[0], y) for c in C for y in c)[1]
        return next(g for g, c in enumerate(C) if nearest in c)
    return int(np.argmin([cost(X, [*c, i]) - cost(X, c) for c in C]))


def leftovers(X, U, C, rule):
    for x in sorted(U):
        C[closest(X, x, C, rule)].append(x)
    return C


def md(X, k, rule="centroid"):
    U, C = set(range(len(X))), []
    while len(U) >= 2 * k:
        pairs = [(-away(X[[s]], X[r])[0], r, s) for r in U for s in U if r < s]
        _, s, r = min(pairs)
        for x in (r, s):
            C.append(near(X, x, U, k))
            U -= set(C[-1])
    if len(U) >= k:
        return [*C, list(U)]
    return leftovers(X, U, C, rule)


def mdav(X, k):
    U, C = set(range(len(X))), []
    while len(U) >= 3 * k:
        r = farthest(X, X[sorted(U)].mean(axis=0), U)
        s = farthest(X, X[r], U)
        for x in (r, s):
            C.append(near(X, x, U, k))
            U -= set(C[-1])
    if len(U) >= 2 * k:
        C.append(near(X, farthest(X, X[sorted(U)].mean(axis=0), U), U, k))
        U -= set(C[-1])
    return [*C, list(U)]


def star(X, k, gamma=1.0, second=False, rule="centroid"):
    """MDAV+ with γ = 0, MDAV* with γ = 1, MDAV*γ with `second`."""
    U, C, center = set(range(len(X))), [], X.mean(axis=0)
    while len(U) >= k:
        r = farthest(X, center, U)
        new = near(X, r, U, k)
        if C and len(U) > k:
            c = closest(X, r, C, rule)
            beyond = near(X, new[1], U - {r}, k)
            extend = (cost(X, [*C[c], r]) - cost(X, C[c]) + cost(X, beyond)) / (k + 1)
            both = (cost(X, [*C[c], r, new[1]]) - cost(X, C[c])) / 2
            price = cost(X, new) / k
            if extend < gamma * price or (second and both < price):
                C[c].append(r)
                U -= {r}
                continue
        C.append(new)
        U -= set(new)
    return leftovers(X, U, C, rule)


def v_mdav(X, k, gamma, rule="centroid"):
    U, C, center = set(range(len(X))), [], X.mean(axis=0)
    while len(U) >= k:
        members = near(X, farthest(X, center, U), U, k)
        U -= set(members)
        while U and len(members) < 2 * k - 1:
            within, inside = min((away(X[[y]], X[x])[0], y) for x in members for y in U)
            between = min((away(X[[y]], X[inside])[0] for y in U - {inside}), default=np.inf)
            if not within < gamma * between:
                break
            members.append(inside)
            U -= {inside}
        C.append(members)
    return leftovers(X, U, C, rule)


def ona_star(X, k):
    """Split groups keep their number with their first part; the others are appended and visited in the same phase."""
    C = star(X, k)
    for g, c in enumerate(list(C)):
        if len(c) >= 2 * k:
            split(X, C, g, k, 0.0)
    for _ in range(30):
        before = [sorted(c) for c in C if c]
        for phase in (dissolve, reassign):
            g = 0
            while g < len(C):
                phase(X, C, g, k)
                g += 1
        if [sorted(c) for c in C if c] == before:
            break
    return [c for c in C if c]


def split(X, C, g, k, gamma=1.0):
    members = sorted(C[g])
    parts = [[members[p] for p in c] for c in star(X[members], k, gamma)]
    C[g] = parts[0]
    C += parts[1:]


def target(X, C, i, own):
    others = [h for h in range(len(C)) if C[h] and h != own]
    return min(((away(X[C[h]].mean(axis=0)[None], X[i])[0], h) for h in others), default=(0, None))[1]


def dissolve(X, C, g, k):
    targets = [target(X, C, s, g) for s in C[g]]
    if len(C[g]) != k or None in targets:
        return
    grown = {h: C[h] + [s for s, t in zip(C[g], targets, strict=True) if t == h] for h in targets}
    if cost(X, C[g]) + sum(cost(X, C[h]) for h in grown) > sum(cost(X, c) for c in grown.values()):
        C[g] = []
        for h, c in grown.items():
            C[h] = c
        for h in grown:
            if len(C[h]) >= 2 * k:
                split(X, C, h, k)


def reassign(X, C, g, k):
    while len(C[g]) > k:
        gains = []
        for s in sorted(C[g]):
            t = target(X, C, s, g)
            if t is None:
                return
            rest = [x for x in C[g] if x != s]
            gain = cost(X, C[g]) - cost(X, rest) - cost(X, [*C[t], s]) + cost(X, C[t])
            gains.append((-gain, s, t))
        gain, s, t = min(gains)
        if not -gain > 1e-12:
            return
        C[g].remove(s)
        C[t].append(s)
        if len(C[t]) >= 2 * k:
            split(X, C, t, k)


def mondrian(X, k, value):
    done, todo = [], [np.arange(len(X))]
    while todo:
        members = todo.pop()
        if len(members) <= 2 * k:
            done.append(members.tolist())
            continue
        members = members[np.argsort(value(X[members]), kind="stable")]
        todo += np.split(members, [len(members) // 2])
    return done


def widest(X):
    return X[:, np.argmax(np.ptp(X, axis=0))]


def most_variable(X):
    return X[:, np.argmax(X.var(axis=0))]


def most_variable_pair(X):
    d = X.shape[1]
    choices = [X[:, j] for j in range(d)]
    choices += [(X[:, i] + o * X[:, j]) / np.sqrt(2) for i in range(d) for j in range(i + 1, d) for o in (1, -1)]
    return choices[int(np.argmax([c.var() for c in choices]))]


ORACLES = {
    "md": md,
    "mdav": mdav,
    "mdav_plus": lambda X, k: star(X, k, 0.0),
    "v_mdav": lambda X, k: v_mdav(X, k, 0.2),
    "mdav_star": star,
    "mdav_star_gamma": lambda X, k: star(X, k, 0.9, True),
    "ona_star": ona_star,
    "mondrian": lambda X, k: mondrian(X, k, widest),
    "mondrian_v": lambda X, k: mondrian(X, k, most_variable),
    "mondrian_v2d": lambda X, k: mondrian(X, k, most_variable_pair),
}
