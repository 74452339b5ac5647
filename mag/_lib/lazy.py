"""Properties that are computed once.

Python 3.11 computes those of `functools` under a lock that all objects of a class share: a process that is forked while
another thread computes one waits for it forever.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property:  # noqa: N801 - takes the place of functools'
        """A method whose result is kept under its name; threads that ask at once may compute it twice."""

        def __init__(self, function):
            self.function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = self.function(instance)
            return instance.__dict__.setdefault(self.name, value)
