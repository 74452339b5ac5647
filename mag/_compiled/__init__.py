"""What several packages need that numba compiles, and how it is compiled and kept."""
