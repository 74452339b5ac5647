"""What users call with arrays: one function, one file."""
