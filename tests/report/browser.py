"""Pages in headless Chromium, at any width."""

import html
import pathlib
import shutil
import subprocess
import tempfile

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE_SECONDS = 900  # until something hangs: a busy machine may compile for minutes
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking --disable-sync "
    "--disable-component-update --no-first-run --hide-scrollbars"
)


def opened(page: str, width: int, height: int, *options: str, onload: str = "") -> str:
    """What Chromium prints for a page in a frame of this size: headless windows are never narrower than 500.

    `onload` is a script that runs in the frame's parent when the page is there.
    """
    frame = f"width={width} height={height} style='border:0; position:absolute; left:0; top:0' scrolling=no"
    text = f'<iframe {frame} onload="{html.escape(onload)}" srcdoc="{html.escape(page)}"></iframe>'
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, "frame.html")
        path.write_text(f"<!DOCTYPE html><meta charset=utf-8>{text}", encoding="utf-8")
        command = [CHROMIUM or "chromium", *FLAGS.split(), f"--user-data-dir={scratch}/profile"]
        command += [f"--window-size={max(width, 500)},{height + 100}", *options, path.as_uri()]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS).stdout
