"""Measures of loss and risk: one subject, one file; users call them through `mag.metrics` and `mag.privacy`."""
