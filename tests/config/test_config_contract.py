"""Every key of the contract is known, and has the contract's default (contract.yaml is the contract's own example)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from service.config.judge import judge
from service.config.reading.files import FilesRead
from service.config.reading.source import Source
from service.config.schema.file import ConfigurationFile
from service.model.client_entry import ClientEntry
from service.model.resources import ApiResourceEntry
from service.start.load import builtin_catalogue
from service.start.rules import file_rules

CONTRACT = Path(__file__).parent / "contract.yaml"
EXAMPLES = {
    "client_id", "client_name", "name", "display_name", "secrets", "scopes",
}  # fmt: skip


@pytest.fixture(scope="module")
def contract() -> ConfigurationFile:
    source = Source(CONTRACT, {}, FilesRead())
    file, _ = judge(
        source.values,
        file_rules(builtin_catalogue()),
        replaced=source.replaced,
        directory=CONTRACT.parent,
    )
    assert file is not None
    return file


@pytest.mark.parametrize(
    "section",
    [
        "server",
        "store",
        "signing",
        "session",
        "limits",
        "tenants",
        "authentication_contexts",
        "pairwise_salt",
        "ciba",
        "outgoing",
        "registration",
        "ui",
    ],
)
def test_a_section_has_the_defaults_of_the_contract(contract: Any, section: Any) -> None:
    assert getattr(contract, section) == getattr(
        ConfigurationFile(issuer="https://auth.example.com"), section
    )


@pytest.mark.parametrize(
    ("example", "default"),
    [
        ("clients", ClientEntry(client_id="web")),
        ("api_resources", ApiResourceEntry(name="api1")),
    ],
)
def test_an_entry_has_the_defaults_of_the_contract(
    contract: Any, example: Any, default: Any
) -> None:
    shown = {name: getattr(default, name) for name in EXAMPLES if hasattr(default, name)}
    assert replace(getattr(contract, example)[0], **shown) == default


def test_a_user_is_enabled_unless_the_file_says_otherwise(contract: Any) -> None:
    assert contract.users.list[0].enabled is True


def test_an_extension_grant_may_take_ten_seconds(contract: Any) -> None:
    assert contract.extension_grants[0].timeout == 10
