"""Which columns of a file a plan needs, and how each is read: the same way in tasks and in the script."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mag.api.table_options import OF_CATEGORIES
from mag.files import File
from mag.tables.plan import Plan


class ColumnsByReading(NamedTuple):
    """Columns by how they are read, and the arguments of `mag.microaggregate` for them."""

    numbers: list[str]  # computed with
    categories: list[str]
    others: list[str]  # published unchanged
    owners: list[str]  # units and households, which are not published
    options: dict[str, Any]
    weights: str | None

    @classmethod
    def of(cls, plan: Plan, file: File) -> "ColumnsByReading":
        """As `mag mask --plan` reads them."""
        options = plan.keywords()
        options.pop("drop", None)  # columns that are not read
        weights = options.pop("weights", None)
        masked: list[Any] = [column.name for column in plan.columns if column.role == "mask"]
        how, declared = options.get("aggregate"), {*options.get("hierarchies", ()), *options.get("order", ())}
        hows = how if isinstance(how, Mapping) else dict.fromkeys(masked, how)
        categories = [name for name in masked if name in declared or hows.get(name) in OF_CATEGORIES]
        keys = [*options.get("diversity", ()), *options.get("closeness", ())]  # names, or tuples of them
        demanded = [name for key in keys for name in (key if isinstance(key, tuple) else (key,))]
        sensitive = list(dict.fromkeys([*options.get("sensitive", ()), *demanded]))
        ranked = _ranked(options, file)
        others = [*options.get("by", ()), *(name for name in options.get("keep", ()) if name not in sensitive)]
        return cls(
            numbers=[*(name for name in masked if name not in categories), *ranked],
            categories=categories,
            others=[*others, *(name for name in sensitive if name not in ranked)],
            owners=[options[role] for role in ("unit", "household") if role in options],
            options=options,
            weights=weights,
        )


def _ranked(options: Mapping[str, Any], file: File) -> list[str]:
    """Sensitive columns whose closeness follows the natural order of numbers."""
    wishes, order = options.get("closeness", {}), options.get("order", {})
    follow = [name for name, wish in wishes.items() if getattr(wish, "ground", "auto") in ("auto", "ordered")]
    follow = [name for name in follow if getattr(wishes[name], "hierarchy", None) is None and name not in order]
    return [name for name in file.numeric() if name in follow] if follow else []
