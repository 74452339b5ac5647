"""How much is compiled."""

import gc

from numba.core.dispatcher import Dispatcher


def compiled():
    """How many compiled functions there are, loaded or made."""
    # by its type: some objects of other libraries warn where they are asked for their class
    return sum(len(one.overloads) for one in gc.get_objects() if issubclass(type(one), Dispatcher))
