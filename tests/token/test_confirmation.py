"""A token says to which key it is bound, from the token request to introspection (RFC 7800, RFC 9449 §6, RFC 8705 §3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.model.authorization import Confirmation
from service.model.handle import parse_handle
from service.tokens.granting import TokenRequest
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService, claims_in

pytestmark = pytest.mark.rfc("7800#3.1", "8705#3", "9449#5", "9449#6")

THUMBPRINT = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
KEY = Confirmation("jkt", THUMBPRINT)
BINDING = "urn:example:binding"
Prove = Callable[[Confirmation | None], None]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Three clients get tokens that are bound to a key."""
    config["extension_grants"] = [
        {"handler": "tests.extension_grants.exchanging:BindingGrant"},
        {"handler": "service.grants.delegation:DelegationGrant"},
    ]
    for name in ("frontend", "opaque", "spa"):
        client_in(config, name)["allowed_grant_types"].append(BINDING)
    return config


@pytest.fixture
def prove(monkeypatch: pytest.MonkeyPatch) -> Prove:
    """Let the client prove possession of a key with every token request."""

    def prove_key(cnf: Confirmation | None) -> None:
        def bound_request(**members: Any) -> TokenRequest:
            members["cnf"] = cnf
            return TokenRequest(**members)

        monkeypatch.setattr("service.endpoints.token.TokenRequest", bound_request)

    return prove_key


async def bound_token(service: RunningService, client: str, **form: str) -> Answer:
    """Get a token that is bound to a key."""
    form = {"jkt": THUMBPRINT, "scope": "api1"} | form
    if client == "spa":
        return await service.token(None, grant_type=BINDING, client_id=client, **form)
    return await service.token(client, grant_type=BINDING, **form)


async def refresh(service: RunningService, tokens: Answer) -> Answer:
    """Use the refresh token of the public client `spa`."""
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    return await service.token(None, client_id="spa", **form)


@pytest.mark.parametrize("client", ["frontend", "opaque"])
@pytest.mark.parametrize(
    ("parameter", "method", "token_type"),
    [("jkt", "jkt", "DPoP"), ("x5t", "x5t#S256", "Bearer")],
)
async def test_bound_token_names_its_key(
    service: RunningService, client: str, parameter: str, method: str, token_type: str
) -> None:
    form = {"jkt": "", parameter: THUMBPRINT}
    answer = await bound_token(service, client, **form)
    introspected = await service.introspect(answer["access_token"])
    assert answer["token_type"] == introspected["token_type"] == token_type
    assert introspected["cnf"] == {method: THUMBPRINT}


async def test_token_of_a_request_without_a_key_is_a_bearer_token(service: RunningService) -> None:
    answer = await service.user_token()
    assert answer["token_type"] == "Bearer"
    assert "cnf" not in claims_in(answer["access_token"])


@pytest.mark.parametrize("grant_type", ["password", "client_credentials", "delegation"])
async def test_key_of_the_request_is_the_key_of_the_token(
    service: RunningService, prove: Prove, grant_type: str
) -> None:
    forms = {
        "password": {"username": "alice", "password": "alice-password"},
        "delegation": {"token": (await service.user_token())["access_token"]},
    }
    client = {"password": "frontend", "delegation": "api1"}.get(grant_type, "machine")
    prove(KEY)
    form = forms.get(grant_type, {})
    answer = await service.token(client, grant_type=grant_type, scope="api1", **form)
    assert answer["token_type"] == "DPoP"
    assert claims_in(answer["access_token"])["cnf"] == {"jkt": THUMBPRINT}


async def test_key_of_the_code_request_is_the_key_of_its_token(
    app: ClientApp, prove: Prove
) -> None:
    prove(KEY)
    answer = await app.tokens()
    assert answer["token_type"] == "DPoP"
    assert claims_in(answer["access_token"])["cnf"] == {"jkt": THUMBPRINT}


async def test_refresh_token_of_a_public_client_keeps_its_key(
    service: RunningService, prove: Prove
) -> None:
    tokens = await bound_token(service, "spa", scope="api1 offline_access")
    prove(KEY)
    for _ in range(2):
        tokens = await refresh(service, tokens)
        assert claims_in(tokens["access_token"])["cnf"] == {"jkt": THUMBPRINT}
    prove(None)
    assert (await refresh(service, tokens)).refusal == (400, "invalid_dpop_proof")


@pytest.mark.parametrize(
    ("key", "error"),
    [(None, "invalid_dpop_proof"), (Confirmation("x5t#S256", THUMBPRINT), "invalid_grant")],
)
async def test_refresh_token_of_a_public_client_needs_its_key(
    service: RunningService, prove: Prove, key: Confirmation | None, error: str
) -> None:
    tokens = await bound_token(service, "spa", scope="api1 offline_access")
    prove(key)
    assert (await refresh(service, tokens)).refusal == (400, error)
    prove(KEY)
    assert (await refresh(service, tokens)).status == 200


async def test_confidential_client_may_change_its_key(
    service: RunningService, prove: Prove
) -> None:
    tokens = await bound_token(service, "frontend", scope="api1 offline_access")
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    prove(Confirmation("jkt", "another"))
    tokens = await service.token("frontend", **form)
    assert claims_in(tokens["access_token"])["cnf"] == {"jkt": "another"}
    prove(None)
    form["refresh_token"] = tokens["refresh_token"]
    tokens = await service.token("frontend", **form)
    assert claims_in(tokens["access_token"])["cnf"] == {"jkt": THUMBPRINT}


@pytest.mark.parametrize("cnf", [{"kid": "x"}, {}, {"jkt": 1}, {"jkt": "x", "kid": "x"}, "x"])
async def test_token_with_an_unknown_confirmation_is_inactive(
    service: RunningService, cnf: object
) -> None:
    token = (await service.user_token("opaque"))["access_token"]
    handle, records = (
        parse_handle(token, "access_token"),
        service.features.shared.stores.access_tokens,
    )
    assert handle is not None
    (claims,) = await service.features.shared.kv.read(records.read(handle.selector, handle.digest))
    changed = records.put({**(claims or {}), "cnf": cnf}, handle.selector, handle.digest, ttl=60)
    await service.features.shared.kv.write(changed)
    assert (await service.introspect(token)).json == {"active": False}
