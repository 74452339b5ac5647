"""Parquet files of any length, masked out of core: one scope a file.

`joint` groups whole records in parts that fit into memory, `per_column` every column by itself; `_job` has the steps
that both take.
"""

from mag.tables.parquet._coded import CodedFile
from mag.tables.parquet._job import FileRelease
from mag.tables.parquet._source import is_source
from mag.tables.parquet.joint import release_joint_file
from mag.tables.parquet.per_column import release_file

__all__ = ["CodedFile", "FileRelease", "is_source", "release_file", "release_joint_file"]
