"""Draws what the registry of examples/delegation allows, for docs/reach.md."""

from __future__ import annotations

from pathlib import Path

from service.admin.ways.drawing import Edge, as_svg
from service.admin.ways.finding import find_ways
from service.admin.ways.places import Places, find_workloads
from service.start.load import load_with_source

REPOSITORY = Path(__file__).parents[2]
FILE = REPOSITORY / "examples/delegation/config.yaml"


def render() -> str:
    """Return the picture; places are relative to the repository."""
    environ = {"ISSUER": "http://localhost:8080"}
    registry = load_with_source(FILE, environ)[0].registry
    places = Places(registry)
    edges = [Edge(way, places.way(way)) for way in find_ways(registry)]
    return as_svg(edges, find_workloads(registry)).replace(f"{REPOSITORY}/", "") + "\n"
