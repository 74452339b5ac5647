"""Compiled code that several packages share, and how numba compiles and caches it."""
