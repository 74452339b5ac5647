"""Notes on codes and on columns of units, for the terminal of the owner of the data; they go into no file."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mag.commands._output import warn

if TYPE_CHECKING:
    import polars as pl

    from mag.files import File
    from mag.measures.codes import Codes

MAX_COLUMNS_READ = 20  # columns that are not computed with, and are read for a note only


def note_codes(frame: "pl.DataFrame", columns: Sequence[str], k: Any, quiet: bool) -> None:
    """Say which columns have values that look like codes."""
    from mag.measures.codes import find_codes

    for name in () if quiet else columns:
        if frame[name].dtype.is_numeric():
            least = k.get(name, 1) if isinstance(k, Mapping) else k
            for sentence in describe_codes(name, find_codes(frame[name].alias("").drop_nulls().to_numpy()), least):
                warn(sentence)


def note_units(file: "File", dropped: Sequence[str], kept: Sequence[str], quiet: bool) -> None:
    """Say which column looks like the names of people or households of several records, which k does not count."""
    from mag.frames import frame_of
    from mag.tables.repeats import describe_units, find_units

    names = [*dropped, *kept][:MAX_COLUMNS_READ]
    if quiet or not names:
        return
    frame = frame_of(file.read([], names)[0])
    found = find_units(frame, [name for name in dropped if name in names], [name for name in kept if name in names])
    if found is not None:
        warn(describe_units(*found, frame.n, f"--unit {found[0]}"))


def describe_codes(name: str, codes: "Codes", least: int) -> list[str]:
    """Sentences about one column; values that fewer than `least` records have are counted, not named."""
    sentences = []
    if codes.missing:
        sentences.append(
            f"column {name!r} has values that look like missing codes: {codes.describe_missing(least)}. They are "
            f"averaged as numbers unless you declare them: --null {name}={','.join(codes.named_missing(least))}"
        )
    if codes.top:
        sentences.append(
            f"the largest value of column {name!r} occurs in {codes.top} records, like a top code; masking averages it "
            "with smaller values."
        )
    if codes.categories:
        sentences.append(
            f"column {name!r} has {codes.categories} whole values; means of codes tell nothing: --aggregate "
            f"{name}=mode, or --keep {name}"
        )
    return sentences
