"""The server: on this machine alone, on a port of its own, until Ctrl-C; then its files are removed."""

import contextlib
import pathlib
import secrets
import shutil
import signal
import socket
import tempfile
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import uvicorn

from mag.app._guard import Guard
from mag.app._pages import Pages
from mag.app._work import Workshop

GRACE_SECONDS_OF_REQUESTS = 1


def serve(
    source: pathlib.Path | None,
    worker: Sequence[str],
    say: Callable[[str], object],
    open_browser: bool = True,
) -> None:
    """Serve the pages until Ctrl-C or SIGTERM.

    Parameters
    ----------
    source : path, optional
        The file that every new tab opens.
    worker : sequence of str
        The command of a process that calls `work`.
    say : callable
        Is told the address.
    open_browser : bool
        Whether to open the address in a browser.
    """
    token = secrets.token_urlsafe(32)
    with _private_folder() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        workshop = Workshop(worker, folder)
        pages = Pages(workshop, folder, source)
        config = uvicorn.Config(
            Guard(pages.application(), port, token),
            http="h11",
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_level="critical",  # addresses of requests hold secrets
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_SECONDS_OF_REQUESTS,
        )
        address = f"http://127.0.0.1:{port}/?token={token}"
        say(address)
        if open_browser:
            webbrowser.open(_redirect(folder, address))
        try:
            workshop.warm()
            with _ended_by_hangup(server := uvicorn.Server(config)), contextlib.suppress(KeyboardInterrupt):
                server.run(sockets=[listener])
        finally:
            pages.close()
            workshop.close()


def _redirect(folder: pathlib.Path, address: str) -> str:
    """A private file that leads to the address: other users see the words of a browser's command, but not its files."""
    page = folder / "open.html"
    page.write_text(f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={address}"><title>mag app</title>')
    return page.as_uri()


@contextlib.contextmanager
def _private_folder() -> Iterator[pathlib.Path]:
    """A folder that only this user can open, for temporary files of the server, too; it is removed at the end."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mag-app-"))  # 0700
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = before
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _ended_by_hangup(server: uvicorn.Server) -> Iterator[None]:
    """End when the terminal closes, as well."""
    if not hasattr(signal, "SIGHUP"):
        yield
        return

    def end(number: int, frame: Any) -> None:
        server.should_exit = True

    before = signal.signal(signal.SIGHUP, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
