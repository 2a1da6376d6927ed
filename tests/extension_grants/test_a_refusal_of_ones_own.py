"""The words of a handler's refusal reach the caller in the form that an error response allows (RFC 6749 §5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from service.protocol.errors import InvalidClient, InvalidGrant
from service.tokens.granting import GrantResult, GrantServices, TokenRequest
from tests.driving.registry import client_in
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("6749#5.2")

DESCRIPTION = 'Müller said "no"\r\nSet-Cookie: a=b \\ \x00'
MEMBERS = {"error": "none", "error_code": 7, "errors": ["late"], "error_description": "nothing"}
TOKENS = dict.fromkeys(("access_token", "token_type", "refresh_token", "id_token", "scope"), "x")


class Refusing:
    """Refuses with words that neither a header nor an error response can hold."""

    grant_type: ClassVar[str] = "urn:example:refusing"

    def __init__(self, options: Mapping[str, object], services: GrantServices) -> None:
        """Take nothing."""

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Refuse, and the client itself where the parameter `refused` says so."""
        if request.params.get("refused") == "client":
            return InvalidClient("the client is not known to the partner")
        return InvalidGrant(DESCRIPTION, members=MEMBERS | TOKENS)


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The handler, and two clients that may use it; `spa` is public."""
    config["extension_grants"].append({"handler": f"{__name__}:Refusing"})
    client_in(config, "spa")["allowed_grant_types"].append(Refusing.grant_type)
    client_in(config, "gateway")["allowed_grant_types"] = [Refusing.grant_type]
    return config


async def test_description_of_a_refusal_is_made_ascii(service: RunningService) -> None:
    answer = await service.token("gateway", grant_type=Refusing.grant_type, scope="api2")
    assert answer.refusal == (400, "invalid_grant")
    assert answer["error_description"] == "M?ller said ?no???Set-Cookie: a=b ? ?"


async def test_members_of_a_refusal_are_added_to_the_standard_ones(service: RunningService) -> None:
    answer = await service.token("gateway", grant_type=Refusing.grant_type, scope="api2")
    assert answer.refusal == (400, "invalid_grant")
    assert (answer["error_code"], answer["errors"]) == (7, ["late"])
    assert not TOKENS.keys() & answer.json.keys()


async def test_a_refused_client_that_used_basic_is_challenged(service: RunningService) -> None:
    form = {"grant_type": Refusing.grant_type, "scope": "api2", "refused": "client"}
    answer = await service.token("gateway", **form)
    assert answer.refusal == (401, "invalid_client")
    challenge = f'Basic realm="{service.issuer}", charset="UTF-8"'
    assert answer.headers["WWW-Authenticate"] == challenge


async def test_a_refused_client_that_sent_no_header_is_not_challenged(
    service: RunningService,
) -> None:
    form = {"grant_type": Refusing.grant_type, "scope": "api1", "refused": "client"}
    answer = await service.token(None, client_id="spa", **form)
    assert answer.refusal == (401, "invalid_client")
    assert "WWW-Authenticate" not in answer.headers
