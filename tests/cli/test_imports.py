"""A library that is imported does not do then what only few need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from service.cli.shared_store import STORE_UNREACHABLE
from tests.documentation.reading import REPOSITORY

SERVING = {
    "aiohttp",
    "jinja2",
    "hiredis",
    "joserfc",
    "service.grants.refresh_token",
    "service.keys.jose",
}
"""Modules of a process that serves, some of each kind."""
RARE = {"asyncio", "cryptography.x509", "ssl", "structlog"}
"""What only some files need, or commands that open the store."""
OF_SIGN_IN = {
    "pyotp",
    "service.ciba.pending",
    "service.clients.authentication.authentication",
    "service.identity.factors.passkey_challenges",
    "service.identity.providers.sign_in",
    "service.identity.password_sign_in",
    "service.identity.sources.outside",
}
"""What signs users in, or authenticates clients."""
OF_OTHERS = {"aiohttp", "fakeredis", "prometheus_client"}
AWAY = "--config {file} --store redis://127.0.0.1:1"
"""Where nobody answers: what a command imports to ask the store is imported by then."""


@pytest.mark.parametrize(
    ("command", "unwanted"),
    [
        ("check {file}", SERVING | {"service.admin.ways.finding"} | RARE),
        ("graph --config {file}", SERVING | RARE),
        ("diff {file} {file}", SERVING | RARE),
        ("schema", SERVING | RARE | {"yaml"}),
        ("new-secret", SERVING | RARE | {"service.config.load"}),
        (f"keys list {AWAY}", OF_OTHERS | OF_SIGN_IN | {"joserfc"}),
        (f"sessions list {AWAY}", OF_OTHERS | OF_SIGN_IN | {"joserfc"}),
        ("users list --config {file}", OF_OTHERS | OF_SIGN_IN | {"joserfc"}),
        (f"users end --subject a {AWAY}", OF_OTHERS | OF_SIGN_IN | {"joserfc"}),
        (f"explain abc {AWAY}", OF_OTHERS),
        (
            "explain http://localhost:8080/connect/authorize?client_id=web --config {file}",
            OF_OTHERS,
        ),
    ],
)
def test_commands_do_not_wait_for_imports_that_they_do_not_need(
    tmp_path: Path, command: str, unwanted: set[str]
) -> None:
    file = tmp_path / "config.yaml"
    key = 'signing:\n  encryption_key: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"\n'
    file.write_text((REPOSITORY / "config.yaml").read_text().replace("signing:\n", key))
    arguments = command.format(file=file).split()
    asked = (
        "import sys; from service.__main__ import program; "
        f"program({arguments!r}, standalone_mode=False)"
    )
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", asked],
        check=False,
        capture_output=True,
        text=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.returncode in {0, STORE_UNREACHABLE}, done.stderr
    assert "service.cli.program" in imported
    assert imported & unwanted == set()


BUILT = """
import json, os, sys
from pathlib import Path
from service.cli.importing import without_unwanted
with without_unwanted():
    from service.cli.serving import Serving
    from service.start.load import load_to_serve
configuration = load_to_serve(Path(sys.argv[1]), os.environ)
Serving(configuration=configuration, environ=os.environ, flags={}, watch=False).make()
print(json.dumps([*sys.modules]))
"""
SHARED = """
issuer: https://op.example
store: {url: 'redis://localhost'}
signing: {encryption_key: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY}
"""
UNUSED = {
    "babel",
    "ctypes",
    "service.web.pages.locales",
}
"""What the first page takes, and what was needed for a stop only."""


def imported_by_a_service(tmp_path: Path, settings: str) -> set[str]:
    """Return the modules of a process that is about to serve; nothing has connected to the store yet."""
    file = tmp_path / "config.yaml"
    file.write_text(f"{SHARED}{settings}")
    command = [sys.executable, "-c", BUILT, str(file)]
    return {*json.loads(subprocess.run(command, check=True, capture_output=True).stdout)}


def test_a_service_does_not_import_what_no_configured_feature_uses(tmp_path: Path) -> None:
    imported = imported_by_a_service(tmp_path, "ui: {locales: [en]}")
    assert "service.endpoints.login" in imported
    assert imported & UNUSED == set()
