"""Imports of what other servers export, by the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from service.cli.program import program

Import = Callable[..., Result]


@pytest.fixture
def import_realm(tmp_path: Path) -> Import:
    """Import a realm, which is written as JSON unless it is text, into the folder `out`."""

    def run(realm: object, *options: str, out: str | None = "out") -> Result:
        export = tmp_path / "export.json"
        if isinstance(realm, bytes):
            export.write_bytes(realm)
        elif not isinstance(realm, Path):
            export.write_text(realm if isinstance(realm, str) else json.dumps(realm))
        source = str(realm) if isinstance(realm, Path) else str(export)
        target = ["--out", str(tmp_path / out)] if out else []
        return invoke("import", "keycloak", source, *target, *options)

    return run


def invoke(*arguments: str) -> Result:
    """Run a command; an exception other than SystemExit fails the test."""
    return CliRunner().invoke(program, list(arguments), catch_exceptions=False)


def a_realm(**members: Any) -> dict[str, Any]:
    """A realm with one client and nobody in it."""
    usual: dict[str, Any] = {
        "realm": "shop",
        "clients": [a_client()],
        "users": [],
        "components": {"org.keycloak.keys.KeyProvider": []},
    }
    return usual | members


def a_client(**members: Any) -> dict[str, Any]:
    """A client with a secret, to which users sign in."""
    usual: dict[str, Any] = {
        "clientId": "web",
        "secret": "a-secret-of-the-client",
        "redirectUris": ["https://shop.example.com/callback"],
    }
    return usual | members


def report_of(result: Result) -> dict[str, Any]:
    """The report as JSON."""
    report: dict[str, Any] = json.loads(result.stdout)
    return report
