"""Lazy arrays and dataframes of Dask: one function a file, and the graph of its tasks."""
