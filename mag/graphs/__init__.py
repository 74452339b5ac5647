"""Graphs in which every degree belongs to at least k vertices."""

from mag.graphs.anonymize import anonymize
from mag.graphs.degrees import degrees
from mag.graphs.result import AnonymousGraph

__all__ = ["AnonymousGraph", "anonymize", "degrees"]
