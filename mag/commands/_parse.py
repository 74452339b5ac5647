"""Translate the values of command-line options into arguments of the package's functions."""

import csv
import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from mag._lib.errors import InputError, InputValueError
from mag.api.table_options import OF_CATEGORIES
from mag.files import File


def parse_integers(option: str, words: Sequence[str]) -> Any:
    """One integer, or NAME=INTEGER for every column."""
    pairs = [word.rpartition("=") for word in words]
    try:
        if len(pairs) == 1 and not pairs[0][1]:
            return int(words[0])
        if all(equals for _, equals, _ in pairs):
            numbers: dict[str, int] = {}
            for name, _, number in pairs:
                _check_once(option, name, numbers)
                numbers[name] = int(number)
            return numbers
    except InputError:
        raise
    except ValueError:
        pass
    raise InputValueError(
        f"{option} must be one integer, or NAME=INTEGER for each column; got {', '.join(map(repr, words))}."
    )


def parse_sets(words: Sequence[str], columns: Sequence[str], role: str = "-c") -> list[Any]:
    """Sets of columns, NAME+NAME or NAME+NAME=K; a name may contain + and =."""
    sets: list[Any] = []
    for word in words:
        listed, equals, k = word.rpartition("=")
        names, own = _split_names(word, columns), None
        if names is None and equals and k.isdecimal():
            names, own = _split_names(listed, columns), int(k)
        if names is None:
            raise InputValueError(f"--set must be NAME+NAME or NAME+NAME=K, of columns of {role}; got {word!r}.")
        sets.append(names if own is None else (names, own))
    return sets


def write_set(own: Any) -> str:
    """A set as `parse_sets` reads it."""
    if len(own) == 2 and isinstance(own[0], list):
        return f"{'+'.join(map(str, own[0]))}={own[1]}"
    return "+".join(map(str, own))


def _split_names(text: str, columns: Sequence[str]) -> list[str] | None:
    """The columns that are joined by + in a text; the longest name first where several begin it."""
    for name in sorted(columns, key=len, reverse=True):
        if text == name:
            return [name]
        if text.startswith(f"{name}+") and (others := _split_names(text[len(name) + 1 :], columns)) is not None:
            return [name, *others]
    return None


def parse_pairs(
    option: str, form: str, words: Sequence[str], columns: Sequence[str], role: str = "-c"
) -> dict[str, str]:
    """Read NAME=… for every column that is named; a name may contain =."""
    pairs: dict[str, str] = {}
    for word in words:
        names = [name for name in columns if word.startswith(f"{name}=")]
        if not names:
            raise InputValueError(f"{option} must be {form}, of a column of {role}; got {word!r}.")
        name = max(names, key=len)
        _check_once(option, name, pairs)
        pairs[name] = word[len(name) + 1 :]
    return pairs


def _check_once(option: str, name: Any, known: Collection[Any]) -> None:
    if name in known:
        raise InputValueError(f"{option} must name a column once; {name!r} is named twice.")


def parse_aggregates(words: Sequence[str], columns: Sequence[str]) -> Any:
    """One for all columns, or NAME=HOW for some."""
    if not words:
        return None
    if len(words) == 1 and "=" not in words[0]:
        return dict.fromkeys(columns, words[0]) if words[0] in OF_CATEGORIES else words[0]
    return parse_pairs("--aggregate", "one aggregate for all columns, or NAME=HOW", words, columns)


def parse_hierarchies(words: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
    """The hierarchy of every column that has one, NAME=FILE; read before anything long begins."""
    from mag.hierarchy import Hierarchy

    return {
        name: Hierarchy.read(path) for name, path in parse_pairs("--hierarchy", "NAME=FILE", words, columns).items()
    }


def take_others(trees: Mapping[str, Any], other: str, options: str = "--hierarchy") -> dict[str, Any]:
    """Apply --other: add a leaf for values that have none, or leave the hierarchies as they are."""
    from mag._lib.checks import one_of

    if one_of("--other", other, ["error", "root"]) == "error":
        return dict(trees)
    if not trees:
        raise InputValueError(f"--other is not used without {options}; got {other!r}.")
    return {name: tree.with_other() for name, tree in trees.items()}


def parse_orders(words: Sequence[str], columns: Sequence[str], role: str = "-c") -> dict[str, list[str]]:
    """The categories of every column that has an order, NAME=A,B,…; one with a comma is quoted."""
    orders = {}
    for name, listed in parse_pairs("--order", "NAME=A,B,...", words, columns, role).items():
        try:
            [orders[name]] = csv.reader([listed], skipinitialspace=True)
        except csv.Error:
            raise InputValueError(
                f"--order must list categories of at most {csv.field_size_limit()} characters; {name} has a longer one."
            ) from None
        if "" in orders[name] or len(set(orders[name])) < len(orders[name]):
            raise InputValueError(
                f"--order must list different categories, those with a comma in quotes; got {name}={listed}."
            )
    return orders


def parse_importance(words: Sequence[str], columns: Sequence[str]) -> dict[str, float]:
    """A factor for every column that has one, NAME=NUMBER."""
    factors = {}
    for name, number in parse_pairs("--importance", "NAME=NUMBER", words, columns).items():
        try:
            factors[name] = float(number)
        except ValueError:
            raise InputValueError(
                f"--importance must be NAME=NUMBER, of a column of -c; got '{name}={number}'."
            ) from None
    return factors


def parse_follow(words: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """The column that each one follows, NAME=NAME."""
    return parse_pairs("--follow", "NAME=NAME", words, names, "IN")


def parse_sums(words: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    """The parts of each sum, NAME=NAME+NAME."""
    sums = {}
    for name, listed in parse_pairs("--sum", "NAME=NAME+NAME", words, names, "IN").items():
        parts = _split_names(listed, names)
        if parts is None:
            raise InputValueError(f"--sum must be NAME=NAME+NAME, of columns of IN; got '{name}={listed}'.")
        sums[name] = parts
    return sums


def parse_special(words: Sequence[str], columns: Sequence[str]) -> dict[str, list[float]]:
    """The special values of every column that has some, NAME=CODE,CODE,…"""
    special = {}
    for name, listed in parse_pairs("--special", "NAME=CODES", words, columns).items():
        codes = [_value(code) for code in listed.split(",")]
        if any(isinstance(code, (str, bool)) for code in codes):
            raise InputValueError(f"--special must be NAME=CODES, which are numbers; got '{name}={listed}'.")
        special[name] = codes
    return special


def parse_categories(
    columns: Sequence[str],
    aggregate: Sequence[str] | None,
    hierarchy: Sequence[str] | None,
    order: Mapping[str, list[str]],
    importance: Sequence[str] | None,
    other: str,
) -> tuple[list[str], dict[str, Any]]:
    """Read which columns are categories and the options of each column, as arguments of `mag.microaggregate`."""
    options = {
        "aggregate": parse_aggregates(aggregate or [], columns),
        "hierarchies": take_others(parse_hierarchies(hierarchy or [], columns), other) or None,
        "order": order or None,
        "importance": parse_importance(importance or [], columns) or None,
    }
    how = options["aggregate"]
    hows = how if isinstance(how, dict) else dict.fromkeys(columns, how)
    known = {*(options["hierarchies"] or ()), *(options["order"] or ())}
    return [name for name in columns if name in known or hows.get(name) in OF_CATEGORIES], options


class Demands(NamedTuple):
    """Sensitive columns, and the criteria that the command line requests for them."""

    columns: list[str]
    ranked: list[str]  # read as numbers, because closeness may follow their natural order
    diversity: dict[Any, Any]
    closeness: dict[Any, Any]
    order: dict[str, list[str]]

    @classmethod
    def parsed(
        cls,
        file: File,
        diversity: Sequence[str] | None,
        closeness: Sequence[str] | None,
        order: Sequence[str] | None,
        sensitive: Sequence[str] = (),
        masked: Sequence[str] = (),
    ) -> "Demands":
        """Of columns of the file; --order may name `masked` columns, too."""
        names = file.names()
        diverse, close = parse_diversity(diversity or [], names), parse_closeness(closeness or [], names)
        keys = [key if isinstance(key, tuple) else (key,) for key in (*diverse, *close)]
        columns = list(dict.fromkeys([*sensitive, *(name for key in keys for name in key)]))
        file.check_names(columns)
        role = "-c or --closeness" if masked else "--closeness"
        orders = parse_orders(order or [], [*masked, *(key for key in close if isinstance(key, str))], role)
        return cls(columns, _ranked(file, close, orders), diverse, close, orders)


def _ranked(file: File, closeness: Mapping[Any, Any], order: Mapping[str, Any]) -> list[str]:
    follow = [name for name, wish in closeness.items() if getattr(wish, "ground", "auto") in ("auto", "ordered")]
    follow = [name for name in follow if getattr(closeness[name], "hierarchy", None) is None and name not in order]
    return [name for name in file.numeric() if name in follow] if follow else []


def parse_diversity(words: Sequence[str], columns: Sequence[str]) -> dict[Any, Any]:
    """The diversity of every sensitive column, or tuple of columns: L, entropy:L or recursive:C,L."""
    wishes: dict[Any, Any] = {}
    for word in words:
        name, equals, wish = word.rpartition("=")
        kind, colon, rest = wish.rpartition(":")
        numbers = [_value(part) for part in rest.split(",")]
        if not (name and equals) or any(isinstance(number, (str, bool)) for number in numbers):
            raise InputValueError(f"--diversity must be NAME=L, NAME=entropy:L or NAME=recursive:C,L; got {word!r}.")
        key = _columns_named(name, columns)
        _check_once("--diversity", key, wishes)
        wishes[key] = (kind, *numbers) if colon else numbers[0]
    return wishes


def parse_closeness(words: Sequence[str], columns: Sequence[str]) -> dict[Any, Any]:
    """The closeness of every sensitive column, or tuple of columns: T, T:ordered, T:equal or T:FILE."""
    wishes: dict[Any, Any] = {}
    for word in words:
        name, equals, wish = word.rpartition("=")
        number, colon, ground = wish.partition(":")
        t = _value(number)
        if not (name and equals) or isinstance(t, (str, bool)) or (colon and not ground):
            raise InputValueError(f"--closeness must be NAME=T, or NAME=T:ordered, :equal or :FILE; got {word!r}.")
        from mag.tables.criteria import Closeness

        key = _columns_named(name, columns)
        _check_once("--closeness", key, wishes)
        if not colon:
            wishes[key] = t
        elif ground in ("equal", "ordered"):
            wishes[key] = Closeness(t, ground)
        else:
            wishes[key] = Closeness(t, hierarchy=ground)
    return wishes


def _columns_named(name: str, columns: Sequence[str]) -> str | tuple[str, ...]:
    """A column, or several columns whose combined values count: A+B; the name of a column may contain +."""
    return tuple(name.split("+")) if name not in columns and "+" in name else name


def parse_method_options(words: Sequence[str]) -> dict[str, Any]:
    """Options of a method, NAME=VALUE; options that all methods share have their own flags."""
    options = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise InputValueError(f"--option must be NAME=VALUE; got {word!r}.")
        options[name] = _value(value)
    if not options:
        return {}
    from mag.tables import microaggregate

    shared = [name for name in options if name in inspect.signature(microaggregate).parameters]
    if shared:
        raise InputValueError(f"--option is for options of the method; got {', '.join(shared)}, see --help.")
    return options


def _value(word: str) -> Any:
    """True and false, integers, numbers, words."""
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
