"""Trusted issuers in config.yaml: what `check` says of them (RFC 7521 §8, RFC 7523 §3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.config.problem import Problem
from service.model.trusted_issuer import TrustedIssuer
from service.start.load import inspect, load
from tests.clients.signing import key_of
from tests.driving.registry import hashed
from tests.jwt_bearer.foreign import BEARER, ISSUER, presenter_entry

pytestmark = pytest.mark.rfc("7521#8", "7523#3")

PATH = "trusted_issuers[partner]"
KEYS = {"keys": [key_of("ES256").public_jwk]}
PROVIDER = {"name": "google", "issuer": "https://accounts.google.example", "client_id": "us"}

Problems = Callable[..., Mapping[str, Problem]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def configuration(*entries: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {
        "issuer": "https://auth.example.com",
        "api_resources": [{"name": "api1", "secrets": [{"sha256": hashed("api1")}]}],
        "identity_providers": [PROVIDER],
        "trusted_issuers": [{"name": "partner", "issuer": ISSUER} | entry for entry in entries],
        "clients": [presenter_entry("courier", hashed("courier"), allowed_scopes=["api1"])],
        **keys,
    }


@pytest.fixture
def problems(file: Path) -> Problems:
    def problems(written: dict[str, Any]) -> Mapping[str, Problem]:
        file.write_text(yaml.dump(written, sort_keys=False))
        return {each.path: each for each in inspect(file, {})}

    return problems


def test_the_defaults_are_those_of_the_contract(file: Path) -> None:
    file.write_text(yaml.dump(configuration({})))
    registry = load(file, {}).registry
    assert registry.trusted_issuers["partner"] == TrustedIssuer(
        name="partner",
        issuer=ISSUER,
        jwks_uri=None,
        jwks=None,
        algorithms=frozenset({"RS256", "ES256"}),
        audience=None,
        max_lifetime=600,
        subject=None,
        identity_provider=None,
        claims={},
        clients=frozenset(),
        existing_user=False,
        id_jag=False,
    )


SOUND: dict[str, dict[str, Any]] = {
    "a name and an issuer": {},
    "keys": {"jwks": KEYS, "issuer": "partner"},
    "a place of keys": {"jwks_uri": "https://keys.partner.example/jwks"},
    "a template": {"subject": "partner:{tenant}:{sub}"},
    "its users as ours": {"subject": "{sub}", "existing_user": True},
    "the users of a provider": {"identity_provider": "google", "issuer": PROVIDER["issuer"]},
    "the name of its own provider": {
        "name": "google",
        "identity_provider": "google",
        "issuer": PROVIDER["issuer"],
    },
    "a client": {"clients": ["courier"]},
    "claims": {"claims": {"mail": "email"}, "max_lifetime": "5m", "audience": "urn:us"},
}


@pytest.mark.parametrize("entry", SOUND.values(), ids=SOUND.keys())
def test_no_problem_has(problems: Problems, entry: dict[str, Any]) -> None:
    assert problems(configuration(entry)) == {}


def test_an_issuer_may_be_listed_for_both_kinds_of_assertions(problems: Problems) -> None:
    assert problems(configuration({}, {"name": "partner-jag", "id_jag": True})) == {}


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "subject and identity_provider": (
        {"subject": "{sub}", "identity_provider": "google"},
        "subject",
        "identity_provider is given too",
    ),
    "a provider that does not exist": (
        {"identity_provider": "goggle"},
        "identity_provider",
        "there is no identity provider goggle",
    ),
    "two places of keys": (
        {"jwks": KEYS, "jwks_uri": "https://keys.partner.example"},
        "jwks_uri",
        "only one may be",
    ),
    "a private key": (
        {"jwks": {"keys": [key_of("ES256").private_jwk]}},
        "jwks.keys[0]",
        "private or symmetric",
    ),
    "no keys": ({"jwks": {}}, "jwks", "expected a JWK set"),
    "no place of metadata": ({"issuer": "partner"}, "issuer", "is no URL"),
    "no algorithm": ({"algorithms": []}, "algorithms", "must not be empty"),
    "an algorithm by a secret": ({"algorithms": ["HS256"]}, "algorithms[0]", "expected"),
    "the issuer itself": ({"issuer": "https://auth.example.com"}, "issuer", "this service itself"),
    "the name of our own users": ({"name": "local"}, "name", "take another"),
    "the name of a provider": ({"name": "google"}, "name", "identity provider"),
    "a brace alone": ({"subject": "partner:{sub"}, "subject", "brace"),
    "empty braces": ({"subject": "partner:{}"}, "subject", "brace"),
    "no life": ({"max_lifetime": 0}, "max_lifetime", "at least 1"),
    "an unknown client": ({"clients": ["curier"]}, "clients[curier]", "there is no client curier"),
    "an unknown key": ({"subjects": "partner:{sub}"}, "subjects", "unknown key"),
}


@pytest.mark.parametrize(("entry", "key", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_error_is(problems: Problems, entry: dict[str, Any], key: str, message: str) -> None:
    found = problems(configuration(entry))
    problem = found[f"trusted_issuers[{entry.get('name', 'partner')}].{key}"]
    assert message in f"{problem.message} {problem.hint}"
    assert problem.severity == "error"
    assert problem.line > 0


def test_an_issuer_is_listed_once_for_a_kind(problems: Problems) -> None:
    found = problems(configuration({}, {"name": "again"}))
    assert "listed twice" in found["trusted_issuers[again].issuer"].message


def test_a_name_is_given_once(problems: Problems) -> None:
    found = problems(configuration({}, {"issuer": "https://other.example"}))
    assert "registered twice" in found[f"{PATH}.name"].message


UNWISE: dict[str, tuple[dict[str, Any], str]] = {
    "metadata without TLS": ({"issuer": "http://as.partner.example"}, "issuer"),
    "keys without TLS": ({"jwks_uri": "http://keys.partner.example"}, "jwks_uri"),
    "one subject for all": ({"subject": "partner"}, "subject"),
    "subjects of others": ({"subject": "{sub}"}, "subject"),
    "users of another issuer": ({"identity_provider": "google"}, "identity_provider"),
    "users that the provider decides on": (
        {"identity_provider": "google", "existing_user": True},
        "existing_user",
    ),
    "an audience that a specification decides": (
        {"id_jag": True, "audience": "urn:us"},
        "audience",
    ),
}


@pytest.mark.parametrize(("entry", "key"), UNWISE.values(), ids=UNWISE.keys())
def test_a_warning_is(problems: Problems, entry: dict[str, Any], key: str) -> None:
    assert problems(configuration(entry))[f"{PATH}.{key}"].severity == "warning"


def test_a_client_may_register_itself_later(problems: Problems) -> None:
    registration = {
        "enabled": True,
        "initial_access_token_sha256": [hashed("x")],
        "allowed_scopes": ["openid"],
    }
    found = problems(configuration({"clients": ["later"]}, registration=registration))
    assert found[f"{PATH}.clients[later]"].severity == "warning"


def test_client_without_a_trusted_issuer_of_assertions_is_a_warning(problems: Problems) -> None:
    found = problems(configuration())
    assert found[f"clients[courier].allowed_grant_types[{BEARER}]"].severity == "warning"


def test_a_listed_client_without_the_grant_type_is_a_warning(problems: Problems) -> None:
    written = configuration({"clients": ["courier"]})
    written["clients"][0]["allowed_grant_types"] = ["client_credentials"]
    assert problems(written)[f"{PATH}.clients[courier]"].severity == "warning"
