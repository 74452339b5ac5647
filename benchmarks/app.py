"""`python -m benchmarks.app`: the path of `mag app` in Chromium, and the time and memory of each step.

`--pictures` takes the pictures of docs/guide/app.md on the way: each step on a desk, one on a phone.
"""

import argparse
import contextlib
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

from benchmarks._measure import machine, show
from mag.commands.survey import MASKED_COLUMNS, people
from tests.report.browser import CHROMIUM, FLAGS

FOLDER = pathlib.Path(__file__).parents[1] / "docs" / "guide" / "app"
DESK: ViewportSize = {"width": 1100, "height": 760}
PHONE: ViewportSize = {"width": 390, "height": 760}
COLORS = 64  # of a picture
PATIENCE_MS = 3_600_000


@contextlib.contextmanager
def served() -> Iterator[tuple[int, str]]:
    """The number of the process of `mag app`, and its address."""
    command = [sys.executable, "-m", "mag", "app", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.pid, process.stdout.readline().split()[1]
    finally:
        process.terminate()
        process.wait()


def walk(page: Page, address: str, source: pathlib.Path, out: pathlib.Path) -> Iterator[str]:
    """The name of every step, once its page is complete."""

    def press(label: str) -> None:
        page.get_by_role("button", name=label, exact=True).click()

    page.goto(address)
    page.fill("#path", str(source))
    press("Open")
    page.wait_for_selector("text=Continue to roles")
    yield "open"
    press("Continue to roles")
    page.wait_for_selector("text=Continue to the risk")
    for name in people(1):
        role = "mask" if name in MASKED_COLUMNS else {"region": "by", "satisfaction": "keep"}.get(name, "drop")
        page.get_by_label(f"Role of {name}", exact=True).select_option(role)
    yield "roles"
    press("Continue to the risk")
    page.wait_for_selector(".report")
    yield "risk"
    press("Continue to hierarchies")
    page.wait_for_selector("text=Continue to methods and k")
    yield "hierarchies"
    press("Continue to methods and k")
    page.wait_for_selector("svg.tradeoff a")
    yield "choose, first point"
    page.wait_for_selector("#live:not([hx-get])")
    yield "choose"
    press("Continue to the result")
    page.wait_for_selector("text=Continue to publish")
    yield "result"
    press("Continue to publish")
    page.fill("#out", str(out))
    press("Publish")
    page.wait_for_selector("#command")
    yield "publish"


def grow(page: Page) -> None:
    """A tree of intervals, for a picture."""
    page.get_by_role("link", name="age", exact=True).click()
    page.click("summary:has-text('Intervals')")
    for field, word in (("low", "0"), ("high", "120"), ("widths", "5, 10, 20, 60")):
        page.fill(f"#{field}", word)
    page.locator("details:has(#widths) button").click()
    page.wait_for_selector("text=Remove it")


def used_by(server: int) -> tuple[float, float]:
    """Seconds of processor time of the server and its processes, and the most memory that one of them has held, GB."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(server)], capture_output=True, text=True, check=False)
    seconds, most = 0.0, 0.0
    for number in (str(server), *listed.stdout.split()):
        with contextlib.suppress(OSError):
            status = pathlib.Path("/proc", number, "status").read_text()
            most = max(most, int(status.partition("VmHWM:")[2].split()[0]) / 2**20)
            ticks = pathlib.Path("/proc", number, "stat").read_text().rpartition(")")[2].split()[11:15]
            seconds += sum(map(int, ticks)) / 100
    return seconds, most


def photograph(page: Page, step: str) -> None:
    """The top of a page, small enough to be kept."""
    for name, size in ((step, DESK), (f"{step}_phone", PHONE)):
        if size is DESK or step == "choose":
            page.set_viewport_size(size)
            target = FOLDER / f"{name}.png"
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=target)
            with Image.open(target) as picture:
                picture.convert("RGB").quantize(COLORS).save(target, optimize=True)
    page.set_viewport_size(DESK)


def main() -> None:
    """Print the table of steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=1_000_000, help="records (default: 1 000 000)")
    parser.add_argument("--pictures", action="store_true", help="also take the pictures of the guide")
    given = parser.parse_args()
    import polars as pl

    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch, served() as (server, address), sync_playwright() as driver:
        source, out = pathlib.Path(scratch, "people.csv"), pathlib.Path(scratch, "masked.csv")
        pl.DataFrame(people(given.n), nan_to_null=True).write_csv(source)
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        page = browser.new_page(viewport=DESK)
        page.set_default_timeout(PATIENCE_MS)
        began, spent = time.perf_counter(), used_by(server)[0]
        for step in walk(page, address, source, out):
            now, (seconds, most) = time.perf_counter(), used_by(server)
            rows.append({"step": step, "seconds": now - began, "processor": seconds - spent, "most memory, GB": most})
            if given.pictures and step == "hierarchies":
                grow(page)
            if given.pictures and "," not in step:
                photograph(page, step)
            if given.pictures and step == "hierarchies":
                page.get_by_role("button", name="Remove it").click()
            began, spent = time.perf_counter(), used_by(server)[0]
        browser.close()
    print(machine())
    show(f"mag app, {given.n} made-up people: each step", rows)


if __name__ == "__main__":
    main()
