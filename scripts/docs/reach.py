"""Draws what the registry of examples/delegation allows, for docs/reach.md."""

from __future__ import annotations

from pathlib import Path

from service.cli.ways.drawing import Edge, as_svg
from service.cli.ways.finding import find_ways
from service.cli.ways.places import Places, find_workloads
from service.start.load import load_with_source

REPOSITORY = Path(__file__).parents[2]
FILE = REPOSITORY / "examples/delegation/config.yaml"


def render() -> str:
    """Return the picture; places are relative to the repository."""
    environ = {"ISSUER": "http://localhost:8080"}
    configuration, source = load_with_source(FILE, environ)
    registry, places = configuration.registry, Places(source)
    edges = [Edge(way, places.way(way)) for way in find_ways(registry)]
    return as_svg(edges, find_workloads(registry)).replace(f"{REPOSITORY}/", "") + "\n"
