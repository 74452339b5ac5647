"""The risk before masking: class sizes, which columns make people unique, what few columns reveal."""

from collections.abc import Mapping
from typing import Any

from mag.app._session import Session
from mag.report import draw_class_sizes, inner_html


def show(session: Session, wish: Mapping[str, str]) -> dict[str, Any]:
    """The page of `mag.assess`, and a picture of the class sizes."""
    job = session.job("risk", path=session.path, plan=session.plan)
    if job.result is None:
        return {"jobs": [job]}
    return {"jobs": [job], "page": inner_html(job.result["page"]), "picture": draw_class_sizes(job.result["sizes"])}


def take(session: Session, form: Mapping[str, Any]) -> str:
    """Go on."""
    return "hierarchies"
