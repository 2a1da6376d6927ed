"""Questions to a registry take time in proportion to its size: twice the clients and rules, twice the work."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.cli.program import program

SECRET = 'client_secrets: [{sha256: "b13z1hoikMvamifVhPp+UJwoEdqP1n6rDcXDnDeJu34="}]'
EXCHANGE = '"urn:ietf:params:oauth:grant-type:token-exchange"'


def registry(clients: int) -> Iterator[str]:
    """Every client begins authorizations, and delegates or exchanges; the exchanging ones have a rule each."""
    yield "issuer: http://localhost:8080"
    yield "api_resources:"
    yield from (f"  - {{name: api{at}, scopes: [api{at}.read, api{at}.write]}}" for at in range(9))
    yield "clients:"
    for at in range(clients):
        grant = (EXCHANGE, "delegation", "password")[at % 3]
        yield f"  - client_id: c{at}"
        yield f"    {SECRET}"
        yield f"    allowed_grant_types: [client_credentials, password, {grant}]"
        yield f"    allowed_scopes: [api{at % 9}.read, api{at % 7}.write]"
    yield "token_exchange:"
    for at in range(0, clients, 3):
        yield f"  - {{clients: [c{at}], scopes: [api{at % 9}.read], audiences: [api{at % 9}],"
        yield "     subject_audience: [api1]}"


def count_calls(*arguments: str) -> int:
    """Run a command that succeeds, and return how many functions were called for it."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        result = CliRunner().invoke(program, arguments)
    finally:
        sys.setprofile(before)
    assert result.exit_code == 0, result.output
    return calls


@pytest.mark.parametrize("command", ["graph", "why", "diff", "test"])
def test_twice_the_clients_are_twice_the_work(tmp_path: Path, command: str) -> None:
    few, many, rows = tmp_path / "few.yaml", tmp_path / "many.yaml", tmp_path / "rows.yaml"
    few.write_text("\n".join(registry(300)))
    many.write_text("\n".join(registry(600)))
    rows.write_text("- {client: c3, can: [api3], cannot: [api8]}")

    def ask(file: Path) -> int:
        asked = {
            "graph": ("--config", str(file), "--format", "json"),
            "why": ("c3", "api3", "--config", str(file)),
            "diff": (str(file), str(file)),
            "test": (str(rows), "--config", str(file)),
        }
        return count_calls(command, *asked[command])

    ask(few)  # what is imported and compiled once
    assert ask(many) < 2.2 * ask(few)
