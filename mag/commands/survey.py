"""`mag demo`: a complete example on a generated table."""

import json
import os
import pathlib
import textwrap
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.atomic import writing
from mag._lib.errors import InputValueError
from mag._lib.wording import named

SEED = 1
MASKED_COLUMNS = ["age", "income", "rent", "children", "commute_minutes", "born"]
MASK_OPTIONS: dict[str, Any] = {
    "by": "region",
    "keep": "satisfaction",
    "drop": ["id", "name"],
    "missing": "group",
    "small_strata": "suppress",
    "round": 2,
}
MEASURE_TEXTS = {
    "k_anonymity": "smallest class of equal records",
    "uniques": "unique records",
    "distance_linkage": "linked by an intruder who knows the values",
}
REGIONS = ["Ahrland", "Börde", "Eifel", "Haardt", "Holtland", "Lahn", "Rhön", "Wetterau"]
FIRST_NAMES = [
    "Ada",
    "Bo",
    "Cem",
    "Dörte",
    "Eva",
    "Femi",
    "Gül",
    "Hao",
    "Ines",
    "Jan",
    "Kim",
    "Lea",
    "Mio",
    "Noa",
    "Olga",
]
LAST = ["Abel", "Berg", "Claasen", "Dietz", "Ebert", "Fuchs", "Graf", "Hahn", "Iwanow", "Jansen", "Kaya", "Lenz"]


def people(n: int = 10_000, seed: int = SEED) -> dict[str, np.ndarray]:
    """A made-up register: identifiers, a region, quasi-identifiers with missing cells, and an answer to a survey.

    Examples
    --------
    >>> from mag.commands.survey import people
    >>> list(people(3))
    ['id', 'name', 'region', 'age', 'income', 'rent', 'children', 'commute_minutes', 'born', 'satisfaction']
    """
    rng = np.random.default_rng(seed)
    days = np.minimum(18 + rng.gamma(2.5, 12.0, n), 104) * 365.25
    age = (days / 365.25).astype(np.int64)
    income = np.round(rng.lognormal(10.2, 0.6, n) * (1 + 0.01 * np.minimum(age, 50)), 2)
    rent = np.round(0.05 * income**0.8 * rng.lognormal(0, 0.3, n) + 150, 2)
    rent[rng.random(n) < 0.15] = np.nan  # those who own their home
    commute = np.round(rng.exponential(24, n))
    commute[(age > 66) & (rng.random(n) < 0.9)] = np.nan  # those who have retired
    return {
        "id": rng.permutation(n) + 100_000,
        "name": np.char.add(np.char.add(rng.choice(FIRST_NAMES, n), " "), rng.choice(LAST, n)),
        "region": rng.choice(REGIONS, n, p=np.arange(len(REGIONS), 0, -1) / 36),
        "age": age,
        "income": income,
        "rent": rent,
        "children": rng.poisson(np.where((age > 22) & (age < 55), 1.1, 0.1)),
        "commute_minutes": commute,
        "born": np.datetime64("2026-01-01") - days.astype("m8[D]"),
        "satisfaction": rng.integers(1, 6, n),
    }


def run(
    folder: str | os.PathLike[str] = "mag-demo",
    k: int = 5,
    *,
    overwrite: bool = False,
    say: Callable[[str], Any] = print,
) -> pathlib.Path:
    """Mask a generated table of 10 000 people and write the files of a typical publication.

    Parameters
    ----------
    folder : path
        Folder for report.html, manifest.json and, if polars is installed, people.csv and masked.csv.
    k : int
        The smallest number of people who share a published record.
    overwrite : bool
        Replace these files if they exist.
    say : function of a line
        Prints a line of progress; the first line is the path of the report.

    Returns
    -------
    pathlib.Path
        The report.
    """
    from mag import verify
    from mag.tables import microaggregate

    register = people()
    n = len(register["id"])
    checks.integer("k", k, 1, n, "n")
    frame = _polars(register)
    files = _files(pathlib.Path(folder), frame is not None, checks.flag("overwrite", overwrite))
    table = register if frame is None else frame

    def tell(text: str) -> None:
        for line in [*textwrap.wrap(text, 100, break_long_words=False), ""]:
            say(line)

    say(str(files["report.html"].resolve()))
    say("")
    smallest = verify.recount(table, ["region", *MASKED_COLUMNS])
    verdict = "passes" if smallest >= k else "fails"
    tell(f"A made-up register of {n} people: {', '.join(register)}.")
    tell(
        f"An intruder who knows region, {', '.join(MASKED_COLUMNS)} of a person looks for the record: the smallest "
        f"class of equal records has {smallest}. The check for k = {k} {verdict}."
    )
    options = ", ".join(f"{name}={value!r}" for name, value in MASK_OPTIONS.items())
    tell(f"mag.microaggregate(people, {k}, {MASKED_COLUMNS}, {options})")
    began = time.perf_counter()
    release = microaggregate(table, k, MASKED_COLUMNS, **MASK_OPTIONS)
    tell(f"… took {time.perf_counter() - began:.1f} s; the first run on a machine compiles.")
    tell(str(release.guarantee))
    for line in _measure(release):
        say(line)
    with writing(*files.values(), overwrite=overwrite) as drafts:
        for draft, name in zip(drafts, files, strict=True):
            _write(draft, name, frame, release)
    say("")
    tell(f"Written into {folder}: {', '.join(files)}.")
    return files["report.html"]


def _measure(release: Any) -> list[str]:
    """Risk before and after masking, and the information loss."""
    from mag.measures.assess import unmasked_risk

    before, after = unmasked_risk(list(release.numbers()[0].values())), release.risk()
    whose = f"{after['records']:.0f} people without missing cells"
    lines = [f"{whose:<48}{'before':>10}{'after':>10}"]
    for key, words in MEASURE_TEXTS.items():
        texts = [
            f"{100 * risk[key]:.1f} %" if key == "distance_linkage" else f"{risk[key]:.0f}" for risk in (before, after)
        ]
        lines.append(f"{words:<48}{texts[0]:>10}{texts[1]:>10}")
    return [*lines, f"{'information loss':<58}{100 * release.utility()['information_loss']:>8.2f} %"]


def _write(draft: pathlib.Path, name: str, frame: Any, release: Any) -> None:
    """One of the files."""
    if name == "report.html":
        release.report(draft, title="mag demo: a made-up register of people", overwrite=True)
    elif name == "manifest.json":
        draft.write_text(json.dumps(release.manifest(), indent=1, ensure_ascii=False), encoding="utf-8")
    else:
        (frame if name == "people.csv" else release.data).write_csv(draft)


def _polars(register: dict[str, np.ndarray]) -> Any:
    """The register as a polars frame with missing cells; None where polars is not installed."""
    try:
        import polars
    except ImportError:
        return None
    return polars.DataFrame(register).with_columns(polars.col("rent", "commute_minutes").fill_nan(None))


def _files(folder: pathlib.Path, tables: bool, overwrite: bool) -> dict[str, pathlib.Path]:
    """Paths of all files; raise before any work is done if one exists and must not be replaced."""
    names = ["report.html", "manifest.json", *(["people.csv", "masked.csv"] if tables else [])]
    files = {name: folder / name for name in names}
    there = [name for name, path in files.items() if path.exists()]
    if there and not overwrite:
        raise InputValueError(
            f"folder {str(folder)!r} already holds {', '.join(there)}; choose another folder, or pass "
            f"{named('overwrite', True)}."
        )
    folder.mkdir(parents=True, exist_ok=True)
    return files
