"""Tasks for dask, from functions that are independent of it, and collections of their results."""

from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

Key = tuple[Any, ...]  # of a task


class Tasks:
    """A graph that grows task by task; `inputs` are the collections whose keys tasks refer to.

    Arguments of tasks are keys of other tasks, lists of keys, or plain values, but no tuples.
    """

    def __init__(self, what: str, inputs: Sequence[Any], *token: Any) -> None:
        self.name = f"mag-{what}-{dask.base.tokenize(*token)}"
        self.tasks: dict[Any, Any] = {}
        self._inputs = list(inputs)

    def add(self, step: str, where: Sequence[int], function: Callable[..., Any], *arguments: Any) -> Key:
        """A task; returns its key."""
        key = (f"{step}-{self.name}", *where)
        self.tasks[key] = (function, *arguments)
        return key

    def each(self, step: str, function: Callable[..., Any], keys: Sequence[Any], *arguments: Any) -> list[Key]:
        """A task for each key; the key is the first argument."""
        return [self.add(step, [i], function, key, *arguments) for i, key in enumerate(keys)]

    def entries(self, step: str, keys: Sequence[Any], i: int) -> list[Key]:
        """Tasks for entry i of the results of others."""
        return [self.add(step, [j, i], getitem, key, i) for j, key in enumerate(keys)]

    def exchange(self, step: str, keys: Sequence[Any], count: int) -> list[list[Key]]:
        """From tasks that return `count` pieces each: for each of these places, the pieces of all tasks."""
        return [self.entries(step, keys, i) for i in range(count)]

    def _with(self, name: str, layer: dict[Any, Any]) -> HighLevelGraph:
        graph = HighLevelGraph.from_collections(self.name, self.tasks, dependencies=self._inputs)
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
