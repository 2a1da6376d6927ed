"""The registry cannot name the client of the console, nor change it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.config.problem import ConfigError
from service.start.load import load

NAMED = "admin-console is the client of the admin console"


@pytest.mark.parametrize(
    ("section", "entry"),
    [
        ("clients", {"client_id": "admin-console", "require_client_secret": False}),
        ("api_resources", {"name": "admin-console"}),
    ],
    ids=["a client", "an API"],
)
def test_entry_with_the_name_of_the_console_is_an_error(
    tmp_path: Path, section: str, entry: dict[str, Any]
) -> None:
    file = tmp_path / "config.yaml"
    admin = {"port": 8443, "url": "https://admin.example"}
    written: dict[str, Any] = {"issuer": "https://id.example", "admin": admin, section: [entry]}
    file.write_text(json.dumps(written))
    with pytest.raises(ConfigError) as error:
        load(file, {})
    assert NAMED in str(error.value)
