"""Text separated by tabs; everything else is as in `mag.files.csv`."""

from mag.files.csv import Csv

FORMAT = Csv(".tab", ".tsv", delimiter="\t")
