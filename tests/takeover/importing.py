"""Runs `token-service import`, and makes what it wrote the configuration of a service in a test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml
from click.testing import CliRunner, Result

from service.cli.program import program
from tests.driving.browser import Browser
from tests.driving.service import RunningService

FILES = Path(__file__).parent / "files"


@dataclass(frozen=True)
class Imported:
    """The folder and the report of a run of the command."""

    folder: Path
    exit_code: int
    report: dict[str, Any]

    @property
    def configuration(self) -> dict[str, Any]:
        """All written files as one, for a service whose port is not known yet."""
        merged: dict[str, Any] = {}
        for file in sorted(self.folder.glob("*.yaml")):
            text = file.read_text().replace("${file:secrets/", f"${{file:{self.folder}/secrets/")
            merged |= yaml.safe_load(text) or {}
        merged.pop("include", None)
        return merged | {"issuer": "http://localhost:0", "signing": merged.get("signing", {})}

    def entry(self, section: str, name: str) -> dict[str, Any]:
        """An entry of the registry."""
        key = "client_id" if section == "clients" else "name"
        found: dict[str, Any] = next(
            each for each in self.configuration[section] if each[key] == name
        )
        return found

    def client(self, client_id: str) -> dict[str, Any]:
        """A client that was taken."""
        return self.entry("clients", client_id)

    def reasons(self, place: str) -> list[str]:
        """The reasons that the report has for a place."""
        rows = [*self.report["changed"], *self.report["not_taken"]]
        return [row["reason"] for row in rows if row["place"] == place]

    @property
    def left_out(self) -> dict[str, str]:
        """The reason of each place that was not taken."""
        return {row["place"]: row["reason"] for row in self.report["not_taken"]}


def run_command(*arguments: str, environ: dict[str, str] | None = None) -> Result:
    """Run a command of the service."""
    return CliRunner().invoke(program, [*arguments], env=environ)


def run_import(
    kind: str, source: Path, out: Path, *options: str, environ: dict[str, str] | None = None
) -> Imported:
    """Take over, and see that `check` accepts what was written."""
    written = run_command(
        *("import", kind, str(source), "--out", str(out), "--report", "json", *options),
        environ=environ,
    )
    assert written.exit_code in {0, 4}, written.output
    checked = run_command("check", str(out / "config.yaml"))
    assert checked.exit_code == 0, checked.output
    return Imported(out, written.exit_code, json.loads(written.stdout))


async def sign_in(
    service: RunningService, username: str, password: str, **parameters: str
) -> Mapping[str, str]:
    """Sign in for a client in a new browser; what its redirect URI gets."""
    browser = Browser(service.issuer)
    try:
        usual = {"response_type": "code", "state": "s", "nonce": "n"}
        query = urlencode(usual | parameters)
        page = await browser.get(f"{service.issuer}/connect/authorize?{query}")
        return (await browser.log_in(page, username, password=password)).parameters
    finally:
        await browser.close()
