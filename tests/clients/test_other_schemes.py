"""An Authorization header that authenticates no client is ignored by the endpoints where clients authenticate (RFC 6749 §2.3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.registry import client_in, secret_of
from tests.driving.service import RunningService, basic

pytestmark = pytest.mark.rfc("6749#2.3", "6749#2.1")

CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
PUSHED = {
    "response_type": "code",
    "redirect_uri": "https://spa.example/callback",
    "scope": "openid",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
}
PUBLIC: dict[str, tuple[str, dict[str, str], tuple[int, str | None]]] = {
    "token": (
        "/connect/token",
        {"grant_type": "refresh_token", "refresh_token": "x"},
        (400, "invalid_grant"),
    ),
    "revocation": ("/connect/revocation", {"token": "x"}, (200, None)),
    "device": ("/connect/deviceauthorization", {"scope": "openid"}, (200, None)),
    "PAR": ("/connect/par", PUSHED, (201, None)),
}
CONFIDENTIAL = ["/connect/token", "/connect/introspect", "/connect/revocation"]
HEADERS = ["Bearer abc", "bearer", "Negotiate YII=", "DPoP abc", "Digest username=x", "abc", "é x"]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    client_in(config, "spa")["allowed_grant_types"].append(DEVICE_GRANT)
    return config


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize(("path", "form", "outcome"), PUBLIC.values(), ids=PUBLIC)
async def test_public_client_is_known_by_its_client_id(
    service: RunningService,
    path: str,
    form: dict[str, str],
    outcome: tuple[int, str | None],
    header: str,
) -> None:
    headers = {"Authorization": header}
    answer = await service.post(path, headers=headers, client_id="spa", **form)
    error = answer.error if answer.body else None
    assert (answer.status, error) == outcome


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("path", CONFIDENTIAL)
async def test_confidential_client_is_known_by_its_body(
    service: RunningService, path: str, header: str
) -> None:
    form = {"client_id": "machine", "client_secret": secret_of("machine")}
    grant = {"grant_type": "client_credentials", "token": "x"}
    answer = await service.post(path, headers={"Authorization": header}, **form, **grant)
    assert answer.status == 200


@pytest.mark.parametrize("path", [path for path, _, _ in PUBLIC.values()])
async def test_credentials_in_two_ways_are_refused_with_any_header(
    service: RunningService, path: str
) -> None:
    form = {"client_id": "machine", "client_secret": secret_of("machine")}
    for others in ({"client_assertion": "a.b.c"}, {}):
        header = "Bearer abc" if others else basic("machine", secret_of("machine"))
        answer = await service.post(path, headers={"Authorization": header}, **form, **others)
        assert answer.refusal == (400, "invalid_request")
