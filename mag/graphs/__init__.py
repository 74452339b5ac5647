"""Graphs in which every degree belongs to at least k vertices."""

from mag.graphs.degrees import degrees

__all__ = ["degrees"]
