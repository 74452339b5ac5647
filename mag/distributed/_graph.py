"""A graph of tasks from functions that know no engine; each engine runs it in its own way."""

from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any

Key = tuple[Any, ...]  # of a task


class Tasks:
    """A graph that grows task by task.

    Arguments of tasks are keys of earlier tasks, lists of keys, or plain values, but no tuples.  Engines that have a
    driver place results by the method: those of `tell` and `decide` are small, those of `add` stay where the result of
    the first key among the arguments is.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.tasks: dict[Key, Any] = {}
        self.told: set[Key] = set()
        self.decisions: set[Key] = set()

    def add(self, step: str, where: Sequence[int], function: Callable[..., Any], *arguments: Any) -> Key:
        """A task on the data; returns its key."""
        key = (f"{step}-{self.name}", *where)
        self.tasks[key] = (function, *arguments)
        return key

    def tell(self, step: str, where: Sequence[int], function: Callable[..., Any], *arguments: Any) -> Key:
        """A task on the data with a small result, which tasks in other places need."""
        key = self.add(step, where, function, *arguments)
        self.told.add(key)
        return key

    def decide(self, step: str, where: Sequence[int], function: Callable[..., Any], *arguments: Any) -> Key:
        """A task on small results."""
        key = self.add(step, where, function, *arguments)
        self.decisions.add(key)
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
