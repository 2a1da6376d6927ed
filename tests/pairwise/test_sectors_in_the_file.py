"""The settings in config.yaml that pairwise subjects need (OIDC Core §8.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.start.load import inspect

pytestmark = pytest.mark.rfc("openid-core#8.1")

SALT = "pairwise_salt: a salt that nobody guesses\n"
CLIENT = """
issuer: https://auth.example.com
clients:
  - client_id: shop
    require_client_secret: false
    subject_type: pairwise
    access_token_type: reference
    allowed_scopes: [openid]
    redirect_uris: [{uris}]
"""


def severities(tmp_path: Path, text: str) -> dict[str, str]:
    """Return the severities of the findings by path."""
    file = tmp_path / "config.yaml"
    file.write_text(text, encoding="utf-8")
    return {problem.path: problem.severity for problem in inspect(file, {})}


@pytest.mark.parametrize(
    "uris",
    [
        "https://shop.example/a",
        "https://shop.example/a, https://SHOP.example:8443/b",
        "https://shop.example/a, 'com.example.shop:/a'",
        "'com.example.shop:/a', 'com.example.shop:/b'",
        "http://127.0.0.1/a",
    ],
)
def test_single_host_is_a_sector(tmp_path: Path, uris: str) -> None:
    assert severities(tmp_path, CLIENT.format(uris=uris) + SALT) == {}


def test_several_hosts_need_a_document_of_their_sector(tmp_path: Path) -> None:
    text = CLIENT.format(uris="https://a.example/, https://b.example/") + SALT
    assert severities(tmp_path, text) == {"clients[shop].sector_identifier_uri": "error"}
    named = text.replace(
        "    subject", "    sector_identifier_uri: https://s.example/\n    subject"
    )
    assert severities(tmp_path, named) == {}


def test_a_salt_is_needed(tmp_path: Path) -> None:
    found = severities(tmp_path, CLIENT.format(uris="https://shop.example/a"))
    assert found == {"clients[shop].subject_type": "error"}


def test_readable_access_tokens_are_warned_of(tmp_path: Path) -> None:
    text = CLIENT.format(uris="https://shop.example/a").replace("reference", "jwt") + SALT
    assert severities(tmp_path, text) == {"clients[shop].access_token_type": "warning"}
