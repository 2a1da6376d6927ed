"""Commands that look into the store of a running service."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from service.cli.program import program
from tests.conftest import ENCRYPTION_KEY
from tests.driving.service import RunningService

Command = Callable[..., Awaitable[Result]]


@pytest.fixture
def command(service: RunningService) -> Command:
    """Run a command with the service's configuration, which names a real Redis."""

    async def run(*arguments: str, given: str | None = None) -> Result:
        file = str(service.features.shared.configuration.file)
        return await asyncio.to_thread(
            CliRunner().invoke, program, [*arguments, "--config", file], input=given
        )

    return run


@pytest.fixture
def config_file(tmp_path: Path) -> str:
    """A configuration of which only the store matters."""
    file = tmp_path / "config.yaml"
    file.write_text(
        f"issuer: http://localhost:8080\nsigning: {{encryption_key: {ENCRYPTION_KEY}}}\n"
    )
    return str(file)
