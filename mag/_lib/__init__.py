"""What several packages need, in plain Python: nothing here is compiled."""
