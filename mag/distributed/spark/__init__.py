"""Frames of Spark: one function a file, and waves of its tasks."""
