"""Checks authorization requests, leads users through their pages, and answers."""
