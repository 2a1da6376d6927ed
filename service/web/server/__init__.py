"""Listens, accepts connections, reads requests from them, reloads and stops."""
