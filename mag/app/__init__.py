"""A page in a browser, on this machine alone, that leads from a raw file to a verified release.

Nothing is computed here: every step calls public functions of the package in a process of its own (`_tasks`), and what
is published is written by the command that the page shows (`mag mask`).  `_guard` refuses requests from elsewhere.
"""

from mag.app._server import serve
from mag.app._work import Run, work

__all__ = ["Run", "serve", "work"]
