"""The budget, in Fractions, so that ten tenths are one; it is charged before a table is read."""

import contextlib
import datetime
import decimal
import json
import os
import pathlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mag._lib import checks
from mag._lib.errors import InputRuntimeError, InputTypeError, InputValueError
from mag.dp._delta import positive
from mag.dp._domain import exact
from mag.dp._ledger import NO_LEDGER, Ledger, LedgerLines
from mag.dp._random import source

NEIGHBORS = {"add_remove": "one record more or fewer", "replace": "one record replaced"}


class BudgetExceededError(InputRuntimeError):
    """A call that would spend more than is left; nothing was read."""

    __module__ = "mag.dp"


@dataclass(frozen=True)
class Entry:
    """One line of a ledger."""

    what: str
    columns: tuple[str, ...]
    epsilon: Fraction
    delta: Fraction
    neighbors: str
    contributions: int
    time: str

    def to_json(self) -> dict[str, Any]:
        """With fractions as text."""
        return vars(self) | {"columns": list(self.columns), "epsilon": str(self.epsilon), "delta": str(self.delta)}

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> "Entry":
        """The entry of such a dictionary."""
        fractions = {name: Fraction(line[name]) for name in ("epsilon", "delta")}
        return cls(**line | fractions | {"columns": tuple(line["columns"])})


class Budget:
    """All that may be spent on one table, over any number of calls (sequential composition).

    A call that would exceed it raises `BudgetExceededError` before the table is read.  A charge stays charged, even
    where the call fails later.

    Parameters
    ----------
    epsilon : number
        All ε.
    delta : number, optional
        All δ; default 0.
    file : path, optional
        A ledger that several processes share, one line of JSON for each call; it is only ever appended to.  A budget is
        bound to the file, not to its name: links lead to one budget, and a ledger that was removed, replaced
        or shortened is an error.

    Examples
    --------
    >>> import mag.dp
    >>> budget = mag.dp.Budget(epsilon=1, delta=1e-6)
    >>> ages = {"age": [31, 33, 35, 38, 52, 57]}
    >>> _ = mag.dp.sample(ages, {"age": mag.dp.Numbers(0, 120, 30)}, epsilon=0.7, delta=1e-6, budget=budget)
    >>> budget.left
    (Fraction(3, 10), Fraction(0, 1))
    >>> _ = mag.dp.sample(ages, {"age": mag.dp.Numbers(0, 120, 30)}, epsilon=0.5, delta=1e-6, budget=budget)
    Traceback (most recent call last):
    ...
    mag.dp.BudgetExceededError: this call needs epsilon 0.5, but 0.3 of 1 are left.
    """

    def __init__(
        self, epsilon: float | Fraction, delta: float | Fraction = 0, file: str | os.PathLike[str] | None = None
    ) -> None:
        self.epsilon, self.delta = positive("epsilon", epsilon), exact("delta", delta)
        if not 0 <= self.delta < 1:
            raise InputValueError(f"delta must be a number from 0 to below 1; got {delta}.")
        self._ledger = None if file is None else Ledger(file)
        self._entries: list[Entry] = []
        self._lock = threading.Lock()
        if self._ledger is not None:
            self._ledger.begin(json.dumps(self._head()))
            with self._ledger.held() as lines:
                self._read(lines)
                lines.mark()

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> "Budget":
        """The budget of a ledger that exists, with the ε and δ that it was begun with."""
        ledger = Ledger(file)
        with ledger.held() as lines:
            try:
                head = json.loads(lines.read()[0])
                epsilon, delta = Fraction(head["epsilon"]), Fraction(head["delta"])
            except (ValueError, TypeError, KeyError):
                raise InputValueError(NO_LEDGER.format(ledger.place.name)) from None
        return cls(epsilon, delta, ledger.place)

    @property
    def file(self) -> pathlib.Path | None:
        """Where the ledger is."""
        return None if self._ledger is None else self._ledger.place

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """All charges: mechanism, columns, ε, δ, neighbors, contributions, time."""
        with self._lock, self._held():
            return tuple(self._entries)

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """ε and δ that were charged."""
        return _sum(self.ledger)

    @property
    def left(self) -> tuple[Fraction, Fraction]:
        """ε and δ that are left."""
        epsilon, delta = self.spent
        return self.epsilon - epsilon, self.delta - delta

    def __repr__(self) -> str:
        epsilon, delta = self.left
        return (
            f"Budget(epsilon={written(self.epsilon)}, delta={written(self.delta)}; "
            f"{written(epsilon)} and {written(delta)} are left)"
        )

    def charge(self, entry: Entry) -> None:
        """Enter a call, or raise `BudgetExceededError`."""
        with self._lock, self._held() as lines:
            self._check(entry)
            if lines is not None:
                lines.add(json.dumps(entry.to_json()))
            self._entries.append(entry)

    def _check(self, entry: Entry) -> None:
        for name in ("neighbors", "contributions"):
            first = getattr(self._entries[0], name) if self._entries else getattr(entry, name)
            if getattr(entry, name) != first:
                raise InputValueError(
                    f"{name} must be the same in all calls of a budget, {first!r}; got {getattr(entry, name)!r}."
                )
        epsilon, delta = _sum(self._entries)
        for name, needed, left, whole in (
            ("epsilon", entry.epsilon, self.epsilon - epsilon, self.epsilon),
            ("delta", entry.delta, self.delta - delta, self.delta),
        ):
            if needed > left:
                raise BudgetExceededError(
                    f"this call needs {name} {written(needed)}, but {written(left)} of {written(whole)} are left."
                )

    @contextlib.contextmanager
    def _held(self) -> Iterator[LedgerLines | None]:
        """The lines of the ledger, if there is one, once they are read."""
        if self._ledger is None:
            yield None
            return
        with self._ledger.held() as lines:
            self._read(lines)
            yield lines

    def _head(self) -> dict[str, str]:
        return {"epsilon": str(self.epsilon), "delta": str(self.delta)}

    def _read(self, lines: LedgerLines) -> None:
        assert self.file is not None
        try:
            first, *others = [json.loads(line) for line in lines.read()]
            entries = [Entry.from_json(line) for line in others]
        except (ValueError, TypeError, KeyError, AttributeError):
            raise InputValueError(NO_LEDGER.format(self.file.name)) from None
        if first != self._head():
            raise InputValueError(f"{self.file.name!r} is the ledger of another budget; pass its epsilon and delta.")
        self._entries = entries


def _sum(entries: Sequence[Entry]) -> tuple[Fraction, Fraction]:
    zero = Fraction(0)
    return sum((entry.epsilon for entry in entries), zero), sum((entry.delta for entry in entries), zero)


def written(number: Fraction) -> str:
    """0.3 for three tenths."""
    return f"{float(number):.6g}"


def written_up(number: Fraction) -> str:
    """Six digits that do not promise more than holds."""
    near = written(number)
    if Fraction(near) >= number:
        return near
    with decimal.localcontext(prec=6, rounding=decimal.ROUND_CEILING):
        return f"{decimal.Decimal(number.numerator) / number.denominator:.6g}"


def charge(
    budget: Any,
    what: str,
    columns: Sequence[Any],
    epsilon: Fraction,
    delta: Fraction,
    neighbors: str,
    contributions: int,
) -> tuple[Entry, ...]:
    """The entries of a call, charged to its budget if it has one."""
    if budget is not None and not isinstance(budget, Budget):
        raise InputTypeError(f"budget must be a mag.dp.Budget; got {checks.describe(budget)}.")
    if not source().holds:
        what = f"{what} (NOT PRIVATE: drawn with a known seed)"
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    entry = Entry(what, tuple(map(str, columns)), epsilon, delta, neighbors, contributions, now)
    if budget is not None:
        budget.charge(entry)
    return (entry,)
