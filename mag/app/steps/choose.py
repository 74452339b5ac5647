"""Choose the method, k and all other options; the picture compares methods and k, and fills while you look."""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mag._lib import checks
from mag._lib.errors import InputValueError
from mag.api.names import FAMILIES
from mag.api.table_options import GROUPING_PANEL, OPTIONS
from mag.app._fields import (
    FormField,
    field_of,
    options_of_column,
    options_of_table,
    read_word,
)
from mag.app._session import Session, Trial
from mag.app._work import Job
from mag.app.steps.result import inputs_of
from mag.report import TradeoffPoint, draw_tradeoff
from mag.tables.plan import Plan

ABOUT_K = "Smallest group size; with scope per-column also NAME=K, NAME=K."
LOSS_NAMES = {"ncp": "normalized certainty penalty", "information_loss": "information loss"}


def show(session: Session, wish: Mapping[str, str]) -> dict[str, Any]:
    """The picture, then the fields."""
    plan, trial = session.plan, session.state.trial
    job = job_of(session)
    rows = [row for row in job.parts if "problem" not in row]
    measure = next((name for name in LOSS_NAMES if rows and name in rows[0]), "information_loss")
    options = plan.options
    points = [_point(session, row, measure) for row in rows]
    k = FormField("k", "k", ABOUT_K, ("-k", "k"), _write_k(options))
    table = [field_of(name, options.get(name)) for name in options_of_table()]
    unpublished = [str(name) for role in ("drop", "keep") for name in plan.names_of(role)]
    weights = replace(field_of("weights", options.get("weights")), choices=[("", ["", *unpublished])])
    of_method = " ".join(f"{name}={value}" for name, value in options.items() if name not in ("k", *OPTIONS))
    words, example = ("--option",), "NAME=VALUE, such as rho=0.5"
    own = FormField("of-method", "options of the method", example, words, of_method, panel=GROUPING_PANEL)
    return {
        "jobs": [job],
        "rows": rows,
        "refused": [row for row in job.parts if "problem" in row],
        "picture": draw_tradeoff(points, f"{LOSS_NAMES[measure]}, %") if points else "",
        "measure": measure,
        "fields": [*_trial_fields(trial), k, *table, weights, own, *_by_column(plan)],
        "panels": list(dict.fromkeys(field.panel for field in table)),
        "columns": {str(at): one.name for at, one in enumerate(plan.columns) if one.role in ("mask", "sensitive")},
        "families": {"": ["auto"], **FAMILIES},
        "trial": trial,
        "failure": session.failure("mask", **inputs_of(session)),
    }


def _point(session: Session, row: Mapping[str, Any], measure: str) -> TradeoffPoint:
    """A link that takes the method and k of a row."""
    method, k, options = row["method"], row["k"], session.plan.options
    vals = json.dumps({"action": "point", "method": method, "k": k})
    link = {"id": f"{method}-{k}", "href": "#picture", "hx-post": f"/s/{session.name}/choose", "hx-vals": vals}
    is_chosen = (method, k) == (options.get("method", "auto"), options.get("k"))
    return TradeoffPoint(method, k, 100 * row[measure], 100 * row["distance_linkage"], link, is_chosen)


def job_of(session: Session) -> Job:
    """Methods and sizes on the present plan, which may have any of them."""
    plan, trial = session.plan, session.state.trial
    others = {name: value for name, value in plan.options.items() if name not in ("k", "method")}
    return session.job(
        "tried",
        path=session.path,
        plan=replace(plan, options=others),
        methods=trial.methods,
        sizes=trial.sizes,
        records=trial.records,
    )


def _write_k(options: Mapping[str, Any]) -> str:
    k = options.get("k", "")
    return ", ".join(f"{name}={own}" for name, own in k.items()) if isinstance(k, Mapping) else str(k)


def _trial_fields(trial: Trial) -> list[FormField]:
    sizes, records = ", ".join(map(str, trial.sizes)), str(trial.records or "")
    return [
        FormField("sizes", "Group sizes to try", "Such as 3, 5, 10.", ("sizes must",), sizes),
        FormField("records", "Records to try", "A random sample, or all if empty.", ("records must",), records),
    ]


def _by_column(plan: Plan) -> Iterable[FormField]:
    """The fields of every column that groups or criteria depend on."""
    for place, column in enumerate(plan.columns):
        for name in options_of_column(column.role):
            yield field_of(name, column.settings.get(name), str(place))


def take(session: Session, form: Mapping[str, Any]) -> str:
    """Take a point, or all fields; then try, or go on."""
    plan, action, n = session.plan, form.get("action"), _records(session)
    if action == "point":
        k = checks.integer("k", _read("k", form.get("k", "")), 1, n, "n")
        options = {**plan.options, "k": k, "method": str(form.get("method"))}
        if options["method"] == "auto":
            del options["method"]
        session.change(f"{form.get('method')}, k = {k}", plan=replace(plan, options=options))
        return "choose"
    new, trial = _read_plan(plan, form, n), session.state.trial
    if action == "try":
        trial = _read_trial(form, n)
    if new != plan or trial != session.state.trial:
        session.change("the options", plan=new, trial=trial)
    if action == "try":
        return "choose"
    return "result"


def _records(session: Session) -> int:
    """How many records the file has; without limit where that is not known any more."""
    job = session.find("look")
    return job.result["records"] if job is not None and job.result is not None else sys.maxsize


def _read_plan(plan: Plan, form: Mapping[str, Any], n: int) -> Plan:
    """The plan with all fields of the form."""
    options: dict[str, Any] = {"k": _read("k", form.get("k", ""))}
    if options["k"] is None:
        raise InputValueError("-k must be an integer of at least 1; got none.")
    if isinstance(options["k"], str) and "=" in options["k"]:
        options["k"] = {
            name: _read("k", k) for name, _, k in (word.rpartition("=") for word in options["k"].split(","))
        }
    elif not isinstance(options["k"], Mapping):
        checks.integer("k", options["k"], 1, n, "n")
    for name in (*options_of_table(), "weights"):
        if (value := _read(name, form.get(name, ""))) is not None:
            options[name] = value
    for word in str(form.get("of-method", "")).split():
        name, equals, value = word.partition("=")
        if not (equals and name.isidentifier()) or name in ("k", *OPTIONS):
            raise InputValueError(f"--option must be NAME=VALUE, of the method alone; got {word!r}.")
        options[name] = _read(name, value)
    columns = []
    for place, column in enumerate(plan.columns):
        settings = dict(column.settings)
        for name in options_of_column(column.role):
            settings.pop(name, None)
            word = str(form.get(f"{place}-{name}", "")).strip().removeprefix(f"{column.name}=")  # as in a command
            if (value := _read(name, word)) is not None:
                settings[name] = value
        columns.append(replace(column, settings=settings))
    return replace(plan, columns=tuple(columns), options=options)


def _read_trial(form: Mapping[str, Any], n: int) -> Trial:
    """The methods and sizes to compare."""
    sizes = [checks.integer("sizes", _read("", word), 1, n, "n") for word in str(form.get("sizes", "")).split(",")]
    word = _read("", form.get("records", ""))
    records = None if word is None else checks.integer("records", word, 1, sys.maxsize, "n")
    methods = tuple(name for names in ({"": ["auto"]} | FAMILIES).values() for name in names if form.get(f"try-{name}"))
    if not methods:
        raise InputValueError("at least one method must be tried.")
    return Trial(methods, tuple(sorted(set(sizes))), records)


def _read(option: str, word: Any) -> Any:
    return read_word(option, str(word))
