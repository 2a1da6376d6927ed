"""docs/openapi.yaml describes the paths that are served, and every answer of the service is as it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings

from service.app import create_app
from service.start.load import load
from tests.driving.process import REPOSITORY
from tests.openapi.description import DESCRIPTION

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
EXAMPLES = settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
FOR_PROGRAMS = re.compile(r"/(connect|\.well-known|health|metrics)\b")


def list_described_operations() -> set[tuple[str, str]]:
    """Every method and path of the description."""
    return {
        (method.upper(), path)
        for path, item in DESCRIPTION["paths"].items()
        for method in item
        if method != "parameters"
    }


def list_served_operations(folder: Path) -> Iterator[tuple[str, str]]:
    """Every method and path that programs are served at."""
    config = yaml.safe_load((REPOSITORY / "config.yaml").read_text())
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump(config | {"registration": {"enabled": True}}))
    for route in create_app(load(file, {}), environ={}).app.router.routes():
        assert route.resource
        if (route.method, route.resource.canonical) == ("*", "/connect/check/{below}"):
            yield "GET", "/connect/check/{api}"  # every method, and every path below
        elif route.resource.canonical == "/.well-known/oauth-protected-resource/{below}":
            if route.method == "GET":
                yield "GET", "/.well-known/oauth-protected-resource/{api}"
        elif route.method != "HEAD" and FOR_PROGRAMS.match(route.resource.canonical):
            yield route.method, route.resource.canonical


def test_it_is_valid(schema: Any) -> None:
    schema.validate()


def test_it_describes_what_is_served_and_nothing_else(tmp_path: Path) -> None:
    assert list_described_operations() == set(list_served_operations(tmp_path))


def test_it_has_the_version_of_the_service() -> None:
    assert (
        f'version = "{DESCRIPTION["info"]["version"]}"'
        in (REPOSITORY / "pyproject.toml").read_text()
    )


@pytest.mark.parametrize(("method", "path"), sorted(list_described_operations()))
def test_every_answer_is_one_that_it_describes(
    method: str, path: str, schema: Any, schemathesis: Any, base_url: str
) -> None:
    checks = [getattr(schemathesis.checks, name) for name in CHECKS]

    @EXAMPLES
    @given(case=schema[path][method].as_strategy())
    def ask(case: Any) -> None:
        case.call_and_validate(base_url=base_url, allow_redirects=False, checks=checks)

    ask()
