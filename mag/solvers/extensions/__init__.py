"""Weights, penalties and limits, which the solvers of the plain problem do not support."""
