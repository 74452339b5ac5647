"""Measures of loss and risk: one subject, one file; `mag.metrics` and `mag.privacy` are what users call."""
