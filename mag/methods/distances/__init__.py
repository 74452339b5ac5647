"""Distances between records, shared by the families: blocks of near records, neighbors, remaining records."""
