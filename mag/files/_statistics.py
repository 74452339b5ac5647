"""Files of Stata, SPSS and SAS, by pyreadstat, with the labels of their variables and values."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mag.files._format import Format


class Statistics(Format):
    """What the file declares as missing is missing where numbers are computed with, and stays where they are not."""

    as_stored: Mapping[str, Any] = MappingProxyType({})  # options of the reader for which declared missing values stay
    labels: tuple[str, ...] = ("file_label", "column_labels")  # that the writer takes

    def __init__(self, *endings: str, reader: str, writer: str):
        super().__init__(*endings)
        self._reader, self._writer = reader, writer

    def refused(self, error):
        return f"pyreadstat says {str(error).rstrip('.')!r}"  # which names columns, and no cells

    def schema(self, path):
        return dict(self._load(path)[0].schema)

    def names(self, path, layout):
        return self._load(path, metadataonly=True)[1].column_names

    def columns(self, path, wanted):
        return self._load(path, usecols=list(wanted), **self.as_stored)[0].select(wanted)

    def read(self, path, numbers, others, layout):
        columns = [name for name in self.names(path, layout) if name in {*numbers, *others}]
        _, meta = self._load(path, metadataonly=True, **self.as_stored)
        computed, _ = self._load(path, usecols=list(numbers))
        kept = self.columns(path, list(others)) if others else computed.select()
        frame = computed.hstack(kept.get_columns()).select(columns)
        labels = {name: getattr(meta, name) for name in LABELS}
        return frame, {"labels": labels, "formats": {self: meta.original_variable_types}}

    def write(self, frame, path, masked, meta, layout):
        import polars as pl
        import pyreadstat

        formats = meta.get("formats", {}).get(self)  # other programs write them in another way
        told = _for(meta.get("labels", {}) | {"formats": formats}, frame.columns, masked)
        frame = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
        labels = {name: told[name] for name in self.labels if told.get(name)}
        getattr(pyreadstat, self._writer)(frame, str(path), **labels)

    def _load(self, path, **options):
        import pyreadstat

        return getattr(pyreadstat, self._reader)(str(path), output_format="polars", **options)


LABELS = (
    "column_names_to_labels",
    "file_label",
    "missing_ranges",
    "notes",
    "variable_display_width",
    "variable_measure",
    "variable_value_labels",
)


def _for(labels, columns, masked):
    """The labels of these columns, by the names that writers use; a masked number must not be taken for missing."""
    known = set(columns)

    def of(name, left_out=()):
        told = labels.get(name) or {}
        return {column: label for column, label in told.items() if column in known - {*left_out} and label is not None}

    return {
        "file_label": labels.get("file_label"),
        "note": labels.get("notes"),
        "column_labels": of("column_names_to_labels"),
        "variable_value_labels": of("variable_value_labels"),
        "missing_ranges": of("missing_ranges", masked),
        "variable_display_width": of("variable_display_width"),
        "variable_measure": of("variable_measure"),
        "variable_format": of("formats", masked),
    }
