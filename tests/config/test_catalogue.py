"""One catalogue says what is supported: without an implementation in its list, a name is not supported anywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from scripts.docs.json_schema import plain_json_schema
from service.authorize.response_modes import RESPONSE_MODE_NAMES
from service.clients.authentication import CLIENT_AUTH_METHODS
from service.config.problem import Problem
from service.grants import BUILTIN_GRANTS
from service.model.polling import CIBA
from service.start import load as catalogue
from service.start.load import builtin_catalogue, inspect

Found = Callable[..., dict[str, Problem]]

USES = {
    "client_id": "app",
    "jwks_uri": "https://app.example/keys",
    "token_endpoint_auth_method": "private_key_jwt",
    "allowed_grant_types": ["authorization_code", "password", CIBA],
    "redirect_uris": ["https://app.example/callback"],
    "default_response_mode": "form_post",
    "backchannel_user_code_parameter": True,
}


@pytest.fixture
def found(file: Path) -> Found:
    """Inspects a client by the catalogue of this moment."""

    def found(**keys: object) -> dict[str, Problem]:
        content = {"issuer": "https://auth.example.com", "clients": [USES | keys]}
        file.write_text(yaml.dump(content))
        return {each.path: each for each in inspect(file, {})}

    return found


def test_names_of_the_catalogue_are_supported(found: Found) -> None:
    assert found() == {}


def test_a_grant_without_an_implementation_is_not_supported(found: Found) -> None:
    with patch.dict(BUILTIN_GRANTS):  # which is in its order again afterwards
        del BUILTIN_GRANTS["password"]
        problem = found()["clients[app].allowed_grant_types[password]"]
    assert problem.message == "the grant type password is not supported"


def test_a_method_without_an_implementation_is_not_supported(found: Found) -> None:
    with patch.dict(CLIENT_AUTH_METHODS):  # which is in its order again afterwards
        del CLIENT_AUTH_METHODS["private_key_jwt"]
        problem = found()["clients[app].token_endpoint_auth_method"]
    assert problem.message == "this value is not supported"


def test_a_response_mode_without_an_implementation_is_not_supported(
    found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tuple(name for name in RESPONSE_MODE_NAMES if name != "form_post")
    monkeypatch.setattr(catalogue, "RESPONSE_MODE_NAMES", left)
    problem = found()["clients[app].default_response_mode"]
    assert (problem.severity, problem.message) == ("error", "this value is not supported")


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("allowed_grant_types", "urn:example:one-minute"),
        ("token_endpoint_auth_method", "house_secret"),
        ("default_response_mode", "json_fragment"),
    ],
)
def test_name_that_was_not_added_is_an_error(found: Found, key: str, name: str) -> None:
    problems = found(**{key: [name] if key == "allowed_grant_types" else name})
    (problem,) = (each for path, each in problems.items() if key in path)
    assert (problem.severity, "is not supported" in problem.message) == ("error", True)


def test_a_grant_that_is_added_to_the_list_is_supported(
    found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = BUILTIN_GRANTS["client_credentials"]
    monkeypatch.setitem(BUILTIN_GRANTS, "urn:example:one-minute", added)
    names = ["authorization_code", CIBA, "urn:example:one-minute"]
    assert found(allowed_grant_types=names) == {}
    assert "urn:example:one-minute" in builtin_catalogue().registrable_grant_types


def test_the_json_schema_lists_the_names_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    names = (*RESPONSE_MODE_NAMES, "json_fragment")
    monkeypatch.setattr(catalogue, "RESPONSE_MODE_NAMES", names)
    client = plain_json_schema(builtin_catalogue())["$defs"]["ClientEntry"]["properties"]
    assert "json_fragment" in client["default_response_mode"]["anyOf"][0]["enum"]


def test_every_key_is_described_in_the_json_schema() -> None:
    sections = plain_json_schema(builtin_catalogue())["$defs"]
    undescribed = [
        f"{section}.{name}"
        for section, schema in sections.items()
        for name, key in schema.get("properties", {}).items()
        if "description" not in key and "$ref" not in key
    ]
    assert undescribed == []
