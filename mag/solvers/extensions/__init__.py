"""Weights, penalties and limits: what the solvers of the plain problem do not do."""
