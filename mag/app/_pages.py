"""Addresses and pages: every step has a page, a form, and a part that is asked for again while work goes on."""

import math
import pathlib
import shutil
import threading
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import jinja2
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from mag import __version__
from mag._lib.errors import InputError
from mag._lib.terminal import printable
from mag.app._fields import place_problem
from mag.app._guard import COOKIE, MAX_FORM_BYTES
from mag.app._session import Session
from mag.app._work import DONE, FAILED, RUNNING, Job, Workshop, sentence_of, tell_defect
from mag.app.steps import ORDER, STEP_MODULES, TITLES
from mag.report import draw_share, tally

STATIC_FILES = {
    "app.css": ("mag.app", "static/app.css", "text/css"),
    "app.js": ("mag.app", "static/app.js", "text/javascript"),
    "htmx.min.js": ("mag.app", "static/htmx.min.js", "text/javascript"),
    "report.css": ("mag.report", "style.css", "text/css"),
}
MAX_SESSIONS = 50  # tabs; the oldest is forgotten
MAX_COPIED_BYTES = 2**30  # of a file that is dropped on the page
MAX_FIELDS_WITH_FILE = 30  # fields of a form with a file
COPIES_OF_DROPPED = 3  # as received, as kept, and room for the result


class Pages:
    """The pages of all sessions."""

    def __init__(self, workshop: Workshop, folder: pathlib.Path, source: pathlib.Path | None) -> None:
        self._workshop, self._folder, self._source = workshop, folder, source
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("mag.app"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )
        self._templates.filters |= {"printable": printable, "tally": tally}
        self._templates.globals["share"] = draw_share

    def application(self) -> Starlette:
        """What answers requests that the guard lets through."""
        return Starlette(
            routes=[
                Route("/", self._enter, methods=["GET"]),
                Route("/s/{session}/static/{name}", self._static, methods=["GET"]),
                Route("/s/{session}/undo", self._undo, methods=["POST"]),
                Route("/s/{session}/files/{name}", self._file, methods=["GET"]),
                Route("/s/{session}/{step}", self._page, methods=["GET"]),
                Route("/s/{session}/{step}", self._take, methods=["POST"]),
                Route("/s/{session}/{step}/live", self._live, methods=["GET"]),
                Route("/s/{session}/{step}/stop", self._stop, methods=["POST"]),
                Route("/s/{session}/{step}/again", self._again, methods=["POST"]),
            ],
            exception_handlers={
                ClientDisconnect: lambda request, error: Response(status_code=400),  # a tab that was closed
                Exception: lambda request, error: PlainTextResponse(tell_defect(error), 500),
            },
        )

    def close(self) -> None:
        """End the work of all sessions."""
        for session in self._sessions.values():
            session.close()

    # ---- requests

    def _enter(self, request: Request) -> Response:
        """A new tab: a page that leads to it, because a redirect from elsewhere would not send the cookie along."""
        if not request.scope["secret"]:
            raise HTTPException(404)
        session = Session(self._workshop, self._folder)
        with self._lock:
            self._sessions[session.name] = session
            for name in list(self._sessions)[:-MAX_SESSIONS]:
                self._sessions.pop(name).close()
        if self._source is not None:
            session.change(f"open {self._source.name}", path=self._source)
        answer = HTMLResponse(self._templates.get_template("enter.html").render(session=session))
        path = f"/s/{session.name}/"  # a secret, so that no other page or port gets the cookie
        answer.set_cookie(COOKIE, request.scope["secret"], path=path, httponly=True, samesite="strict")
        return answer

    def _static(self, request: Request) -> Response:
        if request.path_params["name"] not in STATIC_FILES:
            raise HTTPException(404)
        package, path, kind = STATIC_FILES[request.path_params["name"]]
        return Response(files(package).joinpath(path).read_bytes(), media_type=kind)

    def _page(self, request: Request) -> Response:
        session, step = self._find(request)
        return self._show(session, step, dict(request.query_params))

    async def _take(self, request: Request) -> Response:
        session, step = self._find(request)
        limits: dict[str, Any] = {"max_files": math.inf, "max_fields": math.inf}
        if request.headers.get("content-type", "").startswith("multipart/"):
            limits = {"max_files": 1, "max_fields": MAX_FIELDS_WITH_FILE}
            most = min(MAX_COPIED_BYTES, shutil.disk_usage(self._folder).free // COPIES_OF_DROPPED)
            if int(request.headers["content-length"]) > most:
                async for _ in request.stream():  # or the browser would not read the answer
                    pass
                sentence = f"file must have at most {most} bytes to be copied; give the path of a larger one."
                return self._show(session, step, dict(request.query_params), sentence)
        async with request.form(**limits, max_part_size=MAX_FORM_BYTES) as form:
            answer = await run_in_threadpool(self._apply, session, step, dict(form), dict(request.query_params))
        if "HX-Request" in request.headers and answer.status_code == 303:  # or htmx would put the page into its target
            goal = answer.headers["Location"]
            stays = goal.partition("#")[0] == f"/s/{session.name}/{step}"  # where only the fragment differs
            return Response(headers={"HX-Refresh": "true"} if stays else {"HX-Redirect": goal})
        return answer

    def _apply(self, session: Session, step: str, form: Mapping[str, Any], wish: Mapping[str, str]) -> Response:
        if _is_closed(session, step):  # by an undo in another tab
            return self._show(session, step, wish)
        try:
            goal = STEP_MODULES[step].take(session, form)
        except (InputError, OSError) as error:
            words = {name: word for name, word in form.items() if isinstance(word, str)}
            return self._show(session, step, wish, sentence_of(error), words)
        place = goal.partition("?")[0]
        return RedirectResponse(f"/s/{session.name}/{goal}#{'content' if place == step else ''}".rstrip("#"), 303)

    def _live(self, request: Request) -> Response:
        """The part of the page that changes while work goes on."""
        session, step = self._find(request)
        if any(job.status == FAILED for job in self._jobs_of(request)) or _is_closed(session, step):
            return Response(headers={"HX-Refresh": "true"})  # the whole page shows an error beside its field
        return HTMLResponse(self._render(f"parts/{step}.html", session, step, dict(request.query_params), is_live=True))

    def _stop(self, request: Request) -> Response:
        for job in self._jobs_of(request):
            job.stop()
        return self._return(request)

    def _again(self, request: Request) -> Response:
        for job in self._jobs_of(request):
            if job.status not in (RUNNING, DONE):
                self._session(request).forget(job)
        return self._return(request)

    def _jobs_of(self, request: Request) -> list[Job]:
        """The work that a page shows; none where the step was closed by an undo in another tab."""
        session, step = self._find(request)
        if _is_closed(session, step):
            return []
        jobs: list[Job] = STEP_MODULES[step].show(session, dict(request.query_params))["jobs"]
        return jobs

    def _return(self, request: Request) -> Response:
        session, step = self._find(request)
        return RedirectResponse(f"/s/{session.name}/{step}{_query(request.query_params)}", 303)

    def _undo(self, request: Request) -> Response:
        session = self._session(request)
        session.undo()
        step = request.query_params.get("step", "open")
        return RedirectResponse(f"/s/{session.name}/{step if step in ORDER else 'open'}", 303)

    def _file(self, request: Request) -> Response:
        """A file that was published from this session, and no other one."""
        path = self._session(request).shown.get(request.path_params["name"])
        if path is None or not path.is_file():
            raise HTTPException(404)
        return FileResponse(path, filename=path.name, media_type="application/octet-stream")

    # ---- pages

    def _session(self, request: Request) -> Session:
        session = self._sessions.get(request.path_params["session"])
        if session is None:
            raise HTTPException(404, "This page is of a session that has ended; open the address of mag app again.")
        return session

    def _find(self, request: Request) -> tuple[Session, str]:
        if request.path_params["step"] not in STEP_MODULES:
            raise HTTPException(404)
        return self._session(request), request.path_params["step"]

    def _show(
        self,
        session: Session,
        step: str,
        wish: Mapping[str, str],
        problem: str = "",
        words: Mapping[str, str] | None = None,
    ) -> Response:
        if _is_closed(session, step):
            return RedirectResponse(f"/s/{session.name}/{ORDER[session.state.reached]}", 303)
        page = self._render(f"{step}.html", session, step, wish, problem=problem, words=words or {})
        return HTMLResponse(page, 422 if problem else 200)

    def _render(self, template: str, session: Session, step: str, wish: Mapping[str, str], **more: Any) -> str:
        content: dict[str, Any] = STEP_MODULES[step].show(session, wish)
        failed = [job.error for job in content["jobs"] if job.status == FAILED]
        problem = more.pop("problem", "") or "".join(failed[:1]) or content.get("failure", "")
        words: Mapping[str, str] = more.get("words", {})
        typed = [replace(field, value=words.get(field.name, field.value)) for field in content.get("fields", ())]
        content["fields"], problem = place_problem(typed, problem)
        return self._templates.get_template(template).render(
            content
            | more
            | {
                "words": words,
                "session": session,
                "state": session.state,
                "step": step,
                "steps": [(name, TITLES[name], ORDER.index(name) <= session.state.reached) for name in ORDER],
                "title": TITLES[step],
                "problem": problem,
                "version": __version__,
                "query": _query(wish),
                "is_working": any(job.status == RUNNING for job in content["jobs"]),
            }
        )


def _is_closed(session: Session, step: str) -> bool:
    """Whether the decisions for a step are missing."""
    return ORDER.index(step) > session.state.reached


def _query(wish: Mapping[str, str]) -> str:
    """What an address asked for, as its end."""
    return f"?{urlencode(wish)}" if wish else ""
