"""Graphs in which every degree belongs to at least k vertices."""

from mag.graphs.anonymize import KeepName, anonymize
from mag.graphs.degrees import DegreeCost, degrees
from mag.graphs.result import AnonymousGraph

__all__ = ["AnonymousGraph", "DegreeCost", "KeepName", "anonymize", "degrees"]
