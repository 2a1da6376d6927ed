"""Clients that authenticate by the tokens of their platforms."""
