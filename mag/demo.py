"""The whole story on a generated table: what `mag demo` does."""

import json
import os
import pathlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mag import _checks

SEED = 1
COLUMNS = ["age", "income", "rent", "children", "commute_minutes", "born"]
REGIONS = ["Ahrland", "Börde", "Eifel", "Haardt", "Holtland", "Lahn", "Rhön", "Wetterau"]
FIRST = ["Ada", "Bo", "Cem", "Dörte", "Eva", "Femi", "Gül", "Hao", "Ines", "Jan", "Kim", "Lea", "Mio", "Noa", "Olga"]
LAST = ["Abel", "Berg", "Claasen", "Dietz", "Ebert", "Fuchs", "Graf", "Hahn", "Iwanow", "Jansen", "Kaya", "Lenz"]
MEASURES = {  # of the risk, before and after: share or count
    "k_anonymity": "smallest class of equal records",
    "uniques": "records unlike any other",
    "distance_linkage": "found by someone who knows all values",
}


def people(n: int = 10_000, seed: int = SEED) -> dict[str, np.ndarray]:
    """A made-up register: identifiers, a region, quasi-identifiers with missing cells, and an answer to a survey.

    Examples
    --------
    >>> from mag.demo import people
    >>> list(people(3))
    ['id', 'name', 'region', 'age', 'income', 'rent', 'children', 'commute_minutes', 'born', 'satisfaction']
    """
    rng = np.random.default_rng(seed)
    days = np.clip(rng.gamma(6.0, 7.5, n), 18, 104) * 365.25
    born = np.datetime64("2026-01-01") - days.astype("m8[D]")
    age = (days / 365.25).astype(np.int64)
    income = np.round(rng.lognormal(10.2, 0.6, n) * (1 + 0.01 * np.minimum(age, 50)), 2)
    rent = np.round(0.05 * income**0.8 * rng.lognormal(0, 0.3, n) + 150, 2)
    rent[rng.random(n) < 0.15] = np.nan  # those who own their home
    commute = np.round(rng.exponential(24, n))
    commute[(age > 66) & (rng.random(n) < 0.9)] = np.nan  # those who have retired
    return {
        "id": rng.permutation(n) + 100_000,
        "name": np.char.add(np.char.add(rng.choice(FIRST, n), " "), rng.choice(LAST, n)),
        "region": rng.choice(REGIONS, n, p=np.arange(len(REGIONS), 0, -1) / 36),
        "age": age,
        "income": income,
        "rent": rent,
        "children": rng.poisson(np.where((age > 22) & (age < 55), 1.1, 0.1)),
        "commute_minutes": commute,
        "born": born,
        "satisfaction": rng.integers(1, 6, n),
    }


def run(
    folder: str | os.PathLike[str] = "mag-demo",
    k: int = 5,
    *,
    overwrite: bool = False,
    say: Callable[[str], Any] = print,
) -> pathlib.Path:
    """Mask a generated table of 10 000 people and write what a publisher would want to see.

    Parameters
    ----------
    folder : path
        Where report.html, manifest.json and, where polars is installed, people.csv and masked.csv go.
    k : int
        The smallest number of people who are published alike.
    overwrite : bool
        Replace these files if they are there.
    say : function of a line
        What is told meanwhile; the first line is the path of the report.

    Returns
    -------
    pathlib.Path
        The report.
    """
    from mag import assess, verify
    from mag.table import microaggregate

    register = people()
    n = len(register["id"])
    _checks.integer("k", k, 1, n, "n")
    frame = _polars(register)
    files = _files(pathlib.Path(folder), frame is not None, overwrite)
    table = register if frame is None else frame
    say(str(files["report.html"].resolve()))
    say("")
    say(f"A made-up register of {n} people: {', '.join(register)}.")
    say(f"Whoever knows region, {', '.join(COLUMNS)} of someone looks them up:")
    before = verify.recount(table, ["region", *COLUMNS])
    say(f"  {'passes' if before >= k else 'fails'}: the smallest class has {before}, asked for were {k}.")
    say("")
    say(f"mag.microaggregate(people, k={k}, columns=[{', '.join(COLUMNS)}], by='region', keep='satisfaction',")
    say("                   drop=['id', 'name'], missing='group', small_strata='suppress')")
    began = time.perf_counter()
    release = microaggregate(
        table,
        k,
        COLUMNS,
        by="region",
        keep="satisfaction",
        drop=["id", "name"],
        missing="group",
        small_strata="suppress",
    )
    say(f"  {time.perf_counter() - began:.1f} s, with compilation on the first run.")
    say("")
    say(str(release.guarantee))
    original, _ = release.numbers()
    X = np.column_stack(list(original.values()))
    unmasked, masked, lost = assess.risk(X, X), release.risk(), release.utility()
    say("")
    say(f"  {'risk':<42}{'before':>10}{'after':>10}")
    for key, words in MEASURES.items():
        say(f"  {words:<42}{_shown(unmasked[key], key):>10}{_shown(masked[key], key):>10}")
    say(f"  {'information loss':<42}{'':>10}{100 * lost['information_loss']:>8.2f} %")
    release.report(files["report.html"], title="mag demo: a made-up register of people")
    _write(files, frame, release)
    say("")
    say("Written: " + ", ".join(str(path) for path in files.values()))
    return files["report.html"]


def _polars(register: dict[str, np.ndarray]) -> Any:
    """The register as a polars frame with missing cells; None where polars is not installed."""
    try:
        import polars
    except ImportError:
        return None
    return polars.DataFrame(register).with_columns(polars.col("rent", "commute_minutes").fill_nan(None))


def _write(files: dict[str, pathlib.Path], frame: Any, release: Any) -> None:
    """The manifest, and the tables if there is a frame."""
    from mag._atomic import writing

    with writing(files["manifest.json"], overwrite=True) as path:
        path.write_text(json.dumps(release.manifest(), indent=1, ensure_ascii=False), encoding="utf-8")
    if frame is not None:
        for name, table in (("people.csv", frame), ("masked.csv", release.data)):
            with writing(files[name], overwrite=True) as path:
                table.write_csv(path)


def _files(folder: pathlib.Path, tables: bool, overwrite: bool) -> dict[str, pathlib.Path]:
    """Where everything goes; refused where it would replace something."""
    names = ["report.html", "manifest.json", *(["people.csv", "masked.csv"] if tables else [])]
    files = {name: folder / name for name in names}
    there = [name for name, path in files.items() if path.exists()]
    if there and not overwrite:
        raise ValueError(f"folder {str(folder)!r} already holds {', '.join(there)}; choose another or allow to overwrite.")
    folder.mkdir(parents=True, exist_ok=True)
    return files


def _shown(number: float, key: str) -> str:
    return f"{100 * number:.1f} %" if key == "distance_linkage" else f"{number:.0f}"
