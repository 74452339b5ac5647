"""Public functions for arrays: one function, one file."""
