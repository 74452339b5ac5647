"""Code that several packages share, in plain Python: nothing here is compiled."""
