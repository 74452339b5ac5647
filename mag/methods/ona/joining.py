# mypy: allow-untyped-defs, no-check-untyped-defs
"""What it costs when the members of a group join others."""

from mag._compiled.jit import called
from mag._compiled.memory import part
from mag.methods.mdav.centroids import cost_of


@called
def is_first(targets, p):
    """Whether no earlier target is the same group."""
    earlier = 0
    for q in range(p):
        earlier += targets[q] == targets[p]
    return earlier == 0


@called
def joint_cost(journal, members, targets, count, inside):
    """What it costs more if members[p] joins group targets[p]: each target gets them as a group of their own.

    `inside` is memory for `count` numbers.
    """
    rows, d, total = journal.rows, journal.d, 0.0
    for p in range(count):
        if is_first(targets, p):
            g, many = targets[p], 0
            for q in range(p, count):
                if targets[q] == g:
                    inside[many] = members[q]
                    many += 1
            size, away = journal.size[g], 0.0
            for j in range(d):
                s = 0.0
                for q in range(many):
                    s += rows[inside[q], j]
                away += (s / many - journal.sums[g, j] / size) ** 2
            total += cost_of(rows, d, inside[0], part(inside, 1), many - 1) + many * size / (many + size) * away
    return total
