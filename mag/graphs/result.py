"""The result of `mag.graphs.anonymize`."""

from dataclasses import dataclass
from typing import Any

from mag._lib.pictures import facts_table

HOLDERS = ("added", "removed")  # these would undo the anonymization; pickles do not contain them


@dataclass(frozen=True, repr=False, eq=False)
class AnonymousGraph:
    """A graph in which every degree belongs to at least k vertices, as returned by `mag.graphs.anonymize`.

    `graph`, `edges` and `degrees` may be published.  `added` and `removed` reveal the original: they are for its owner,
    and neither pickles nor copies contain them.

    Attributes
    ----------
    graph : array, networkx.Graph, igraph.Graph or sparse matrix
        The published graph, of the kind that was passed: vertices 0 to n-1, edges, and nothing else.
    edges : array of int, shape (m, 2)
        Its edges, ascending, the smaller vertex first.
    degrees : array of int, shape (n,)
        The degree of every vertex, counted on `graph`.
    k : int
        The requested k.
    smallest : int
        How many vertices share a degree at least, counted on `graph`.
    cost : int
        The cost of the changed degrees: the sum of the changes, or of their squares with ``cost="sse_int"``.
    n_added, n_removed : int
        How many edges were added and removed.
    bound : int
        How many edges any other graph would add, with ``keep="edges"``, or add and remove at least; with ``exact=True``
        the number that was proven.
    added, removed : array of int, shape (…, 2)
        The edges that were added and removed, in the vertex numbers of the original.
    """

    graph: Any
    edges: Any
    degrees: Any
    k: int
    smallest: int
    cost: int
    n_added: int
    n_removed: int
    bound: int
    added: Any
    removed: Any

    def __repr__(self) -> str:
        size = f"{len(self.degrees)} vertices, {len(self.edges)} edges"
        changes = f"{self.n_added} edges added, {self.n_removed} removed, bound {self.bound}"
        return f"<AnonymousGraph: {size}, k={self.k}, smallest class {self.smallest}, {changes}>"

    def _repr_html_(self) -> str:
        return facts_table(
            "AnonymousGraph",
            {
                "vertices": len(self.degrees),
                "edges": len(self.edges),
                "k": self.k,
                "smallest class of equal degrees": self.smallest,
                "edges added, removed": f"{self.n_added}, {self.n_removed}",
                "edges that must change at least": self.bound,
            },
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in HOLDERS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
