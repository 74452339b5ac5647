"""Publish: the file is counted once more, and comes with manifest, report, plan, command line and script."""

import pathlib
from collections.abc import Mapping
from typing import Any

from mag._lib.atomic import MANIFEST, check_target
from mag._lib.errors import InputValueError
from mag.app._commands import command_line, mask_words, script
from mag.app._fields import SWITCH, FormField, read_path
from mag.app._session import Session
from mag.app._work import DONE, RUNNING
from mag.app.steps import result

NEVER_REPLACED = "It never replaces a file that is read."
OUT_WORDS = ("--out", "out", "is no such folder", "is read by", "is not a file", "is the ledger")
FOR_OTHERS = "Also one without any figure that only the original gives."
REPLACED = "Release, manifest, reports, plan and script."


def show(session: Session, wish: Mapping[str, str]) -> dict[str, Any]:
    """The form and, once it is published, all that was written."""
    state, job = session.state, session.find("publish")
    folder = pathlib.Path.cwd() if state.is_dropped else session.path.parent
    target = folder / f"{session.path.stem}.masked{result.target_ending(session)}"
    before = session.published or {}
    own = before if before.get("of") == _decisions(session) else {}
    out = before["out"] if before and before["of"][0] == session.path else str(target)
    external, overwrite = ("yes" if own.get(name) else "no" for name in ("external", "overwrite"))
    fields = [
        FormField("out", "File to write", NEVER_REPLACED, OUT_WORDS, out),
        FormField("external", "Report for others", FOR_OTHERS, ("--external-report",), external, SWITCH),
        FormField("overwrite", "Replace files that exist", REPLACED, ("--overwrite", "overwrite"), overwrite, SWITCH),
    ]
    jobs = [job] if job is not None and (own or job.status == RUNNING) else []
    content = {"jobs": jobs, "fields": fields, "picture": result.show(session, {}).get("picture", "")}
    if job is None or job.status != DONE or not own:
        return content
    session.shown = {path.name: path for path in own["paths"].values()}
    return content | {"manifest": job.result["manifest"], **own}


def take(session: Session, form: Mapping[str, Any]) -> str:
    """Run the command that the page shows."""
    if result.job_of(session).status != DONE:
        return "result"
    if not form.get("out", "").strip():
        raise InputValueError("--out must name the file to write; got none.")
    out = read_path("--out", form["out"])
    plan, code, report = (out.with_name(f"{out.stem}.{end}") for end in ("plan.toml", "mask.py", "report.html"))
    external = out.with_name(f"{out.stem}.external.html") if form.get("external") == "yes" else None
    overwrite = form.get("overwrite") == "yes"
    for path in (out, plan, code, report):
        check_target(path, [session.path], overwrite)
    words = mask_words(session.path, out, plan, report, external)
    name = session.path.name if session.state.is_dropped else str(session.path)
    shown = [words[0], name, *words[2:]]
    text = script(session.path, name, out, plan, session.plan, shown)
    paths = {"The release": out, "Its manifest": out.with_name(out.name + MANIFEST), "Report": report}
    paths |= ({"Report for others": external} if external else {}) | {"Plan": plan, "Script": code}
    session.published = {
        "of": _decisions(session),
        "out": str(out),
        "external": external is not None,
        "overwrite": overwrite,
        "paths": paths,
        "command": command_line(shown),
        "script": text,
    }
    if (before := session.find("publish")) is not None and before.status != RUNNING:
        session.forget(before)  # a second click does not start running work again
    session.job(
        "publish",
        arguments=[*words, "--json", *(["--overwrite"] if overwrite else [])],
        plan=session.plan,
        place=plan,
        script=(code, text),
        sources=[session.path],
        overwrite=overwrite,
    )
    return "publish"


def _decisions(session: Session) -> tuple[Any, ...]:
    """What a release is of: after a change, this page shows none."""
    return session.path, session.state.text, session.plan
