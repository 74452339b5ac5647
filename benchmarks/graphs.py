"""k-degree anonymity: the changes of graphs, and the time: `python -m benchmarks.graphs [n]`.

The first table has the graphs of networkx: edges added by ``keep="edges"``, removed + added by ``keep="nodes"``, the
bound of each, and the fewest, proven (``exact=True``), for graphs of up to 40 vertices and k up to 3.  The second one
has seconds for an array of edges, of a Barabási–Albert graph of n vertices and 5·n edges, and their ratio to the time
in which networkx draws that graph.
"""

import time
import warnings
from functools import partial

import networkx as nx
import numpy as np

import mag
from benchmarks._measure import save, show, words

GRAPHS = ("florentine_families", "karate_club", "davis_southern_women", "les_miserables")
SIZES = (2, 3, 5, 10)
PROVEN = 3  # the largest k of integer programs that take seconds


def figures(name, k):
    """A line of the first table."""
    graph = getattr(nx, f"{name}_graph")()
    more, other = (mag.graphs.anonymize(graph, k=k, keep=keep) for keep in ("edges", "nodes"))
    fewest = {"edges": None, "nodes": None}
    if len(graph) <= 40 and k <= PROVEN:
        for keep in fewest:
            found = mag.graphs.anonymize(graph, k=k, keep=keep, exact=True)
            fewest[keep] = found.n_added + found.n_removed
    return {
        "graph": name,
        "n": len(graph),
        "m": graph.size(),
        "k": k,
        "edges: added": more.n_added,
        "bound": more.bound,
        "fewest": fewest["edges"],
        "nodes: removed + added": f"{other.n_removed} + {other.n_added}",
        "bound ": other.bound,
        "fewest ": fewest["nodes"],
    }


def seconds(function):
    """The time of a call, and its result."""
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def times(n):
    """Lines of the second table."""
    drawing, graph = seconds(lambda: nx.barabasi_albert_graph(n, 5, seed=1))
    edges = np.array(graph.edges())
    for keep in ("edges", "nodes", "degrees"):
        mag.graphs.anonymize(edges[:100], n, 2, keep=keep)  # compiles
        for k in SIZES:
            took, found = seconds(partial(mag.graphs.anonymize, edges, n, k, keep=keep))
            yield {
                "keep": keep,
                "k": k,
                "removed": found.n_removed,
                "added": found.n_added,
                "bound": found.bound,
                "seconds": took,
                "networkx draws it": drawing,
                "ratio": took / drawing,
            }


def main(n=10**5):
    """Print both tables and write them as JSON."""
    warnings.simplefilter("ignore", UserWarning)
    rows = [figures(name, k) for name in GRAPHS for k in SIZES]
    show("Edges changed", rows)
    timed = list(times(n))
    show(f"Barabási–Albert graph of {n} vertices", timed)
    save("graphs", rows + timed)


if __name__ == "__main__":
    main(*words(__doc__, type=int))
