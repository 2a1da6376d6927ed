"""How many requests a CPU-second serves, beside the least that the same work can cost."""
