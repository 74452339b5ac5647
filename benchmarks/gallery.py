"""`python -m benchmarks.gallery`: the pictures of docs/figures/gallery.md, of the table that `mag demo` generates.

Pictures of the report are taken in headless Chromium; without it they stay as they are, and the command says so.
"""

import io
import pathlib
import re
import tempfile

import matplotlib
import numpy as np
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter
from PIL import Image

import mag
from benchmarks._measure import words
from mag.commands.survey import MASK_OPTIONS, MASKED_COLUMNS, people
from tests.report.browser import CHROMIUM, opened

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = pathlib.Path(__file__).parents[1] / "docs" / "figures" / "gallery"
GROUP_SIZES = (2, 3, 5, 10, 20)
METHODS = {
    "mdav": ("o", "0.55"),
    "mona": ("s", "tab:blue"),
    "mondrian": ("^", "0.35"),
    "ona_star": ("D", "black"),
    "projection": ("v", "tab:orange"),
    "tsp": ("P", "tab:green"),
}


def report_pictures(folder: pathlib.Path) -> None:
    """The report on a desk and on a phone, and two of its sections."""
    if CHROMIUM is None:
        print("report: no Chromium here, its pictures stay as they are")
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, "report.html")
        mag.microaggregate(people(), 5, MASKED_COLUMNS, **MASK_OPTIONS).report(
            path, title="A made-up register of people"
        )
        page = path.read_text(encoding="utf-8")
        _photograph(page, folder / "report.png", 1200, 1000)
        _photograph(page, folder / "report_phone.png", 390, 844)
        for name, title, size in (
            ("distributions", "Distributions", (1200, 800)),
            ("group_sizes", "Groups", (520, 340)),
        ):
            section = re.search(rf"<section><h2>{title}.*?</section>", page, re.S)
            alone = re.sub(
                r"<header>.*</footer>", lambda _, part=section: f"<main>{part.group()}</main>", page, flags=re.S
            )
            _photograph(alone, folder / f"{name}.png", *size)


def _photograph(page: str, target: pathlib.Path, width: int, height: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        shot = pathlib.Path(scratch, "shot.png")
        opened(page, width, height, f"--screenshot={shot}")
        with Image.open(shot) as picture:
            _save(picture.convert("RGB").crop((0, 0, width, height)), target)


def risk_and_utility(folder: pathlib.Path, n: int = 2000) -> None:
    """Loss and linkage risk of several methods, for several k."""
    table = people(n)
    X = np.column_stack(
        [np.nan_to_num(table[name].astype(float), nan=0) for name in ("age", "income", "rent", "children")]
    )
    figure, axes = plt.subplots(figsize=(7, 4.2), dpi=120)
    for method, (marker, color) in METHODS.items():
        points = []
        for k in GROUP_SIZES:
            masked = mag.multivariate(X, k, method=method).masked
            loss = mag.metrics.information_loss(X, masked)
            points.append((100 * loss, 100 * mag.privacy.distance_linkage(X, masked).expected))
        axes.plot(*zip(*points, strict=True), marker=marker, color=color, label=method, markersize=6, linewidth=1)
        if method == "ona_star":
            for (x, y), k in zip(points, GROUP_SIZES, strict=True):
                axes.annotate(f"k = {k}", (x, y), (-6, -12), textcoords="offset points", ha="right", fontsize=8)
    axes.set(
        xscale="log", yscale="log", xlabel="information loss, %", ylabel="records linked by distance, %", xlim=(0.7, 60)
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FormatStrFormatter("%g"))
        axis.set_minor_formatter(NullFormatter())
    axes.set_title(f"Further down is safer, further left is more useful ({n} people, 4 columns)", fontsize=10)
    axes.legend(frameon=False, fontsize=9)
    _finish(figure, axes, folder / "risk_utility.png")


def groups_in_the_plane(folder: pathlib.Path) -> None:
    """Records, their groups and their published values, by two methods."""
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(center, 0.6, (60, 2)) for center in ((0, 0), (3, 1), (1, 3))])
    figure, both = plt.subplots(1, 2, figsize=(9, 4.3), dpi=120, sharex=True, sharey=True)
    for axes, method in zip(both, ("mondrian", "ona_star"), strict=True):
        grouping = mag.multivariate(X, 6, method=method, standardize=False)
        for record, center in zip(X, grouping.masked, strict=True):
            axes.plot(*zip(record, center, strict=True), color="0.7", linewidth=0.8, zorder=1)
        axes.plot(*X.T, "o", color="tab:blue", markersize=3, zorder=2, label="record")
        axes.plot(
            *np.unique(grouping.masked, axis=0).T, "s", color="black", markersize=5.5, zorder=3, label="published"
        )
        axes.set_title(
            f"{method}: {grouping.n_groups} groups, information loss {100 * grouping.information_loss:.1f} %",
            fontsize=10,
        )
        axes.set(xlabel="first column", ylabel="second column" if axes is both[0] else "")
    both[0].legend(frameon=False, fontsize=9)
    _finish(figure, both, folder / "plane.png")


def _finish(figure: plt.Figure, axes: object, target: pathlib.Path) -> None:
    for each in np.ravel(axes):
        each.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    drawn = io.BytesIO()
    figure.savefig(drawn)
    plt.close(figure)
    with Image.open(drawn) as picture:
        _save(picture.convert("RGB"), target)


def _save(picture: Image.Image, target: pathlib.Path) -> None:
    """64 colors are enough for charts, and make small files."""
    picture.quantize(64, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(target, optimize=True)
    print(f"{target.name:<22}{target.stat().st_size / 1000:7.0f} kB", flush=True)


if __name__ == "__main__":
    words(__doc__)
    FOLDER.mkdir(exist_ok=True)
    for draw in (groups_in_the_plane, risk_and_utility, report_pictures):
        draw(FOLDER)
