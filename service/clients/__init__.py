"""Clients: finding them, their keys, their URLs and their registration."""
