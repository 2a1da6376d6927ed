"""The demonstration, in which clients may register themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.driving.process import REPOSITORY, serving


@pytest.fixture(scope="session")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the running service."""
    config = (REPOSITORY / "config.yaml").read_text() + "\nregistration: {enabled: true}\n"
    config = config.replace("- name: api1\n", "- name: api1\n    url: https://api1.example\n", 1)
    with serving(config, tmp_path_factory.mktemp("described")) as address:
        yield f"http://{address}"
