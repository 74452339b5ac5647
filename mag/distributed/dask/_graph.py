"""Tasks for dask, and collections of their results."""

from collections.abc import Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from mag.distributed._graph import Key, Tasks


class DaskTasks(Tasks):
    """As `Tasks`; `inputs` are the collections whose keys tasks refer to."""

    def __init__(self, what: str, inputs: Sequence[Any], *token: Any) -> None:
        super().__init__(f"mag-{what}-{dask.base.tokenize(*token)}")
        self._inputs = list(inputs)

    def _with(self, name: str, layer: dict[Any, Any]) -> HighLevelGraph:
        tasks: dict[Any, Any] = {**self.tasks}
        graph = HighLevelGraph.from_collections(self.name, tasks, dependencies=self._inputs)
        return HighLevelGraph({**graph.layers, name: layer}, {**graph.dependencies, name: {self.name}})

    def array(self, what: str, keys: dict[Key, Key], chunks: Key, dtype: Any) -> da.Array:
        """The array whose block at each place is the result of a task."""
        name = f"{what}-of-{self.name}"
        layer = {(name, *place): (_itself, key) for place, key in keys.items()}
        return da.Array(self._with(name, layer), name, chunks, meta=np.empty((0,) * len(chunks), dtype))

    def value(self, what: str, key: Key) -> Delayed:
        """The result of one task."""
        name = f"{what}-of-{self.name}"
        return Delayed(name, self._with(name, {name: (_itself, key)}))


def _itself(result: Any) -> Any:
    return result
