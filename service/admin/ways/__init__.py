"""Computes what a registry allows: the ways in which clients get tokens for APIs."""
