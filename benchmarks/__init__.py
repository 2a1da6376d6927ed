"""Measures how many requests a CPU-second serves, compared with the least that the same work can cost."""
