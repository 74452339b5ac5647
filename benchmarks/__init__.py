"""Commands that measure: each prints a table, run as ``python -m benchmarks.NAME``."""
