"""The release as it would be: before and after, distributions, correlations, warnings."""

from collections.abc import Mapping
from typing import Any

from mag.app._session import Session
from mag.app._work import Job
from mag.files import File
from mag.report import inner_html, split_section


def inputs_of(session: Session) -> dict[str, Any]:
    """The inputs for masking by the present plan."""
    return {"path": session.path, "plan": session.plan, "ending": target_ending(session)}


def job_of(session: Session) -> Job:
    """The masking of the present plan."""
    return session.job("mask", **inputs_of(session))


def target_ending(session: Session) -> str:
    """The ending of the file, or that of text where its format cannot be written."""
    form = File(session.path).format
    return ".csv" if form.read_only else session.path.suffix


def show(session: Session, wish: Mapping[str, str]) -> dict[str, Any]:
    """The report of the release."""
    job = job_of(session)
    if job.result is None:
        return {"jobs": [job]}
    picture, page = split_section(inner_html(job.result["page"]), "Groups")
    return {"jobs": [job], "page": page, "picture": picture, "manifest": job.result["manifest"]}


def take(session: Session, form: Mapping[str, Any]) -> str:
    """Go on."""
    return "publish"
