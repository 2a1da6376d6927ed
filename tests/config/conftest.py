"""A configuration file for one test, and what is found in it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.config.configuration import Configuration
from service.config.problem import Problem
from service.start.load import inspect, load

ISSUER = "issuer: https://auth.example.com\n"


@pytest.fixture(autouse=True)
def _garbage_is_collected_after_a_start_that_failed() -> Iterator[None]:
    """`serve` pauses the collector until everything is there; a start that fails ends the process, but not that of tests."""
    yield
    gc.enable()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The path of this test's configuration file."""
    return tmp_path / "config.yaml"


@pytest.fixture
def read(file: Path) -> Callable[..., Configuration]:
    """Reads a text as the rest of a configuration file that begins with an issuer."""

    def read(text: str = "", **environ: str) -> Configuration:
        file.write_text(ISSUER + text, encoding="utf-8")
        return load(file, environ)

    return read


@pytest.fixture
def problems(file: Path) -> Callable[..., dict[str, Problem]]:
    """Inspects such a text, and returns problems by path; an error before a warning."""

    def problems(text: str = "", **environ: str) -> dict[str, Problem]:
        file.write_text(ISSUER + text, encoding="utf-8")
        return {problem.path: problem for problem in reversed(inspect(file, environ))}

    return problems
