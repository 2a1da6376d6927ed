"""The demonstration, in which clients may register themselves."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.driving.process import REPOSITORY, serving
from tests.openapi.description import DESCRIPTION


@pytest.fixture(scope="session")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the running service."""
    config = (REPOSITORY / "config.yaml").read_text() + "\nregistration: {enabled: true}\n"
    config = config.replace("- name: api1\n", "- name: api1\n    url: https://api1.example\n", 1)
    machine = "- client_id: machine\n"
    config = config.replace(machine, f"{machine}    may_revoke_subjects: true\n", 1)
    with serving(config, tmp_path_factory.mktemp("described")) as address:
        yield f"http://{address}"


@pytest.fixture(scope="session")
def schemathesis() -> Any:
    """The library, imported where a test needs it: that takes longer than most modules of tests."""
    return importlib.import_module("schemathesis")


@pytest.fixture(scope="session")
def schema(schemathesis: Any) -> Any:
    """The description as it reads it."""
    return schemathesis.openapi.from_dict(DESCRIPTION)
