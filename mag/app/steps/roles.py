"""The role of every column: suggestions with their reason, one by one or in bulk."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mag._lib.errors import InputValueError
from mag.app._session import Session
from mag.tables.look import ColumnLook
from mag.tables.plan import ROLES, Plan, PlannedColumn, suggest_options, suggest_settings

K = 5  # before the user chooses one
NUMBER_TYPES = ("number", "whole number")
MEANINGS = {
    "mask": "an intruder may know it: published alike for at least k records",
    "by": "an intruder may know it: unchanged, and groups never mix its values",
    "keep": "published unchanged, not protected",
    "sensitive": "published unchanged; classes should not reveal it",
    "drop": "not published",
    "unit": "names the person of several records; not published",
    "household": "names the household; not published",
}
BULK: dict[str, Callable[[ColumnLook], bool]] = {
    "selected columns": lambda look: False,
    "all columns": lambda look: True,
    "all columns of numbers": lambda look: look.type in NUMBER_TYPES,
    "all columns of text": lambda look: look.type == "text",
}


def show(session: Session, wish: Mapping[str, str]) -> dict[str, Any]:
    """One table of all columns."""
    state = session.state
    looked = session.job("look", path=state.path, text=dict(state.text))
    content: dict[str, Any] = {
        "jobs": [looked],
        "meanings": {role: MEANINGS[role] for role in ROLES},
        "bulk": list(BULK),
    }
    if looked.result is None:
        return content
    k = min(K, max(looked.result["records"], 1))
    suggested = session.job("suggest", path=state.path, text=dict(state.text), k=k)
    content["jobs"] = [looked, suggested]
    if suggested.result is None:
        return content
    plan = state.plan or suggested.result
    rows = list(zip(plan.columns, suggested.result.columns, looked.result["columns"], strict=True))
    counts = {role: len(plan.names_of(role)) for role in ROLES}
    return content | {"rows": rows, "counts": counts, "most": max(counts.values(), default=1)}


def take(session: Session, form: Mapping[str, Any]) -> str:
    """Take the roles of all columns, then those of a bulk change."""
    content = show(session, {})
    if "rows" not in content:
        return "roles"
    plan, action = session.state.plan or content["jobs"][1].result, form.get("action")
    is_in_bulk = BULK.get(form.get("bulk", ""), lambda look: False)
    columns = []
    for place, (column, suggested, look) in enumerate(content["rows"]):
        role = form.get(f"role-{place}", column.role)
        if action == "bulk" and (is_in_bulk(look) or form.get(f"select-{place}")):
            role = form.get("bulk-role", role)
        columns.append(column if role == column.role else _changed(suggested, look, role))
    looks = [look for *_, look in content["rows"]]
    new = Plan(tuple(columns), plan.options, plan.text)
    if wanted := suggest_options(looks, new.names_of("mask")):
        new = replace(new, options={**wanted, **plan.options})
    if new != session.state.plan:
        session.change("the roles", plan=new)
    if action == "bulk":
        return "roles"
    if not new.names_of("mask"):
        raise InputValueError("role must be mask for at least one column.")
    session.advance(3)
    return "risk"


def _changed(suggested: PlannedColumn, look: ColumnLook, role: str) -> PlannedColumn:
    """A column in another role, with the settings that the role needs."""
    if suggested.role == role:
        return suggested
    return replace(suggested, role=role, reason="chosen in mag app", settings=suggest_settings(look, role))
