"""One page about a release, in one file that needs no network: its guarantee, its information loss, its warnings."""

import os
import pathlib
from collections.abc import Callable

from mag._lib.atomic import writing
from mag.report._assessment import (
    AssessmentFacts,
    SubsetRisk,
    describe_assessment,
    draw_exposure,
    percent,
    write_assessment,
)
from mag.report._facts import Audience, Category, ReportFacts, is_external
from mag.report._page import page, page_of_entries
from mag.report._parts import TradeoffPoint, draw_class_sizes, draw_share, draw_tradeoff, inner_html, split_section
from mag.report._plot import draw_columns
from mag.report._recoding import Level, RecodingFacts
from mag.report._sensitive import SensitiveFacts
from mag.report._suppression import SuppressionFacts
from mag.report._text import tally

__all__ = [
    "AssessmentFacts",
    "Audience",
    "Category",
    "Level",
    "RecodingFacts",
    "ReportFacts",
    "SensitiveFacts",
    "SubsetRisk",
    "SuppressionFacts",
    "TradeoffPoint",
    "describe_assessment",
    "draw_class_sizes",
    "draw_columns",
    "draw_exposure",
    "draw_share",
    "draw_tradeoff",
    "inner_html",
    "is_external",
    "page",
    "page_of_entries",
    "percent",
    "split_section",
    "tally",
    "write",
    "write_assessment",
]


def write(
    path: str | os.PathLike[str],
    facts: ReportFacts,
    overwrite: bool = False,
    step: Callable[[float], object] | None = None,
) -> pathlib.Path:
    """Write the page about a release, the whole page or nothing.

    Parameters
    ----------
    path : path
        A file in a folder that exists.
    facts : ReportFacts
        The content of the page.
    overwrite : bool
        Replace a file that exists.
    step : callable, optional
        Called with the fraction of the page that is done.

    Returns
    -------
    pathlib.Path
        The page.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from mag import report
    >>> facts = report.ReportFacts(
    ...     title="Ages", guarantee="Two people share every age.", scope="joint", k=2, smallest=2,
    ...     original={"age": np.array([31.0, 33.0, 50.0, 54.0])}, masked={"age": np.array([32.0, 32.0, 52.0, 52.0])},
    ...     labels=np.array([0, 0, 1, 1]),
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report.write(pathlib.Path(folder, "report.html"), facts).read_text(encoding="utf-8")
    >>> page[:15], "Two people share every age." in page
    ('<!DOCTYPE html>', True)
    """
    with writing(path, overwrite=overwrite) as [draft]:
        draft.write_text(page(facts, step), encoding="utf-8")
    return pathlib.Path(path)
