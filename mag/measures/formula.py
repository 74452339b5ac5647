"""Formulas of linear models, such as ``log(income) ~ age + region + age:sex``, and their columns of numbers."""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.nearest import ask_nearest

FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "square": np.square,
}
FACTOR = re.compile(r"\s*(?:(\w+)\s*\(\s*)?(?:`([^`]+)`|([^\s()+:~`]+))\s*(\))?\s*")


@dataclass(frozen=True)
class Factor:
    """A column, or a function of one."""

    column: str
    function: str | None = None

    def __str__(self) -> str:
        return self.column if self.function is None else f"{self.function}({self.column})"


@dataclass(frozen=True)
class Formula:
    """A response and terms, each a product of factors."""

    response: Factor
    terms: tuple[tuple[Factor, ...], ...]

    @property
    def columns(self) -> list[str]:
        """The names of all columns, each once."""
        factors = [self.response, *(factor for term in self.terms for factor in term)]
        return list(dict.fromkeys(factor.column for factor in factors))


def parse_formula(text: str) -> Formula:
    """Read a formula."""
    sides = text.split("~") if isinstance(text, str) else []
    if len(sides) != 2:
        raise InputValueError(f"formula must be text such as 'log(income) ~ age + region', with one ~; got {text!r}.")
    terms = tuple(tuple(_parse_factor(factor, text) for factor in term.split(":")) for term in sides[1].split("+"))
    return Formula(_parse_factor(sides[0], text), terms)


def _parse_factor(word: str, formula: str) -> Factor:
    found = FACTOR.fullmatch(word)
    if found is None or bool(found[1]) != bool(found[4]):
        raise InputValueError(
            f"formula must have columns joined by + and :, or functions of one column, such as log(income); got "
            f"{word.strip()!r} in {formula!r}."
        )
    if found[1] is not None and found[1] not in FUNCTIONS:
        question = ask_nearest(found[1], FUNCTIONS) or f"; the functions are {', '.join(FUNCTIONS)}."
        raise InputValueError(f"formula has the unknown function {found[1]!r}{question}")
    return Factor(found[2] or found[3], found[1])


def evaluate_factor(factor: Factor, column: np.ndarray) -> np.ndarray:
    """The numbers of a factor; a column of categories has none."""
    if column.dtype == object:
        raise InputTypeError(f"formula needs numbers in {str(factor)!r}; column {factor.column!r} holds categories.")
    if factor.function is None:
        return column
    with np.errstate(all="ignore"):
        numbers = FUNCTIONS[factor.function](column)
    if wrong := int((~np.isfinite(numbers) & np.isfinite(column)).sum()):
        raise InputValueError(
            f"{str(factor)!r} of formula is not a number for {wrong} records; choose another function."
        )
    return numbers


def find_levels(name: str, columns: Sequence[np.ndarray]) -> list[Hashable]:
    """The categories of a column that occur in all tables, in order; missing cells are no category."""
    kinds = [set(column.tolist()) - {None} for column in columns]
    levels = sorted(set.intersection(*kinds), key=str)
    if len(levels) < 2:
        raise InputValueError(
            f"formula needs two categories of column {name!r} that are in both tables; there are {len(levels)}."
        )
    return levels


def design_columns(
    formula: Formula, columns: Mapping[Hashable, np.ndarray], levels: Mapping[str, Sequence[Hashable]]
) -> dict[str, np.ndarray]:
    """The constant and all terms by name; a category has a column of 0 and 1 for every level but the first."""
    n = next(iter(columns.values())).size
    design = {"(constant)": np.ones(n)}
    for term in formula.terms:
        product = {"": np.ones(n)}
        for factor in term:
            own = _factor_columns(factor, columns[factor.column], levels.get(factor.column, ()))
            product = {
                f"{name}:{more}" if name else more: left * right
                for name, left in product.items()
                for more, right in own.items()
            }
        design |= product
    return design


def _factor_columns(factor: Factor, column: np.ndarray, levels: Sequence[Hashable]) -> dict[str, np.ndarray]:
    if column.dtype != object or factor.function is not None:
        return {str(factor): evaluate_factor(factor, column)}
    return {f"{factor}={level}": (column == level).astype(float) for level in levels[1:]}
