"""Nobody but this service sets a claim of the protocol, though others may add claims to a token (RFC 9068 §2.2.2, RFC 8725 §3.12)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, ClassVar

import pytest

from service.protocol.token_types import JWT_BEARER
from service.tokens.claims import PROTOCOL_CLAIMS
from service.tokens.granting import GrantResult, GrantServices, TokenRequest
from tests.driving.client_app import ClientApp
from tests.driving.listening import listening
from tests.driving.registry import client_in, hashed
from tests.driving.service import RunningService, claims_in
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import Journey, provider_entry, userinfo
from tests.jwt_bearer.foreign import Partner, partner_entry, presenter_entry
from tests.token_exchange.exchanging import EXCHANGE, exchange

MARK = "impostor"
SET = dict.fromkeys([*PROTOCOL_CLAIMS, "badge"], MARK)
"""Every claim of the protocol, and one that anybody may set, by which a test sees that the others could have arrived."""
THEIRS = {f"their_{name}": name for name in SET}
"""The same for those who map the claims of others."""
FOREIGN: dict[str, Any] = dict.fromkeys(THEIRS, MARK)


class ForgingGrant:
    """A plug-in that sets every claim."""

    grant_type: ClassVar[str] = "urn:example:forging"

    def __init__(self, options: Mapping[str, object], services: GrantServices) -> None:
        pass

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Grant tokens of alice."""
        return request.granted_to("818727", claims=SET)


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    provider = FakeProvider(userinfo=FOREIGN)
    async with listening(provider.handle) as provider.issuer:
        yield provider


@pytest.fixture
def config(config: dict[str, Any], fake: FakeProvider) -> dict[str, Any]:
    """All that may add claims try to add every one."""
    names = [*SET]
    config["identity_resources"] = [
        {"name": "openid", "user_claims": ["sub"]},
        {"name": "all", "user_claims": names},
    ]
    config["api_resources"][0]["user_claims"] = names
    config["users"]["list"][0]["claims"] = SET
    config["identity_providers"] = [provider_entry(fake.issuer, claims=THEIRS)]
    config["trusted_issuers"] = [partner_entry(clients=["courier", "api1"], claims=THEIRS)]
    config["token_exchange"] = [
        {
            "clients": ["api1"],
            "subject_token_types": ["jwt"],
            "subject_issuers": ["partner"],
            "requested_token_types": ["access_token", "id_token"],
            "scopes": ["openid", "all", "api1"],
            "audiences": ["api1"],
        }
    ]
    config["extension_grants"] = [{"handler": f"{__name__}:ForgingGrant"}]
    config["clients"] += [
        presenter_entry("courier", hashed("courier")),
        presenter_entry("forger", hashed("forger"), allowed_grant_types=[ForgingGrant.grant_type]),
    ]
    for name in ("web", "frontend"):
        own = {"allowed_scopes": ["openid", "all", "api1"], "always_send_client_claims": True}
        own |= {"always_include_user_claims_in_id_token": True}
        client_in(config, name).update(own)
    client_in(config, "machine").update(claims=SET, client_claims_prefix="")
    client_in(config, "api1").update(
        allowed_grant_types=[EXCHANGE], allowed_scopes=["openid", "all", "api1"]
    )
    return config


def check_that_only_the_badge_was_set(claims: dict[str, Any]) -> None:
    """Check it, and that every claim of this service itself is known as one of the protocol."""
    assert {name for name, value in claims.items() if value == MARK} == {"badge"}
    assert claims.keys() - PROTOCOL_CLAIMS == {"badge"}


async def test_the_configuration_sets_none_by_claims_of_a_client(service: RunningService) -> None:
    answer = await service.token("machine", grant_type="client_credentials", scope="api1")
    check_that_only_the_badge_was_set(claims_in(answer["access_token"]))


async def test_a_plugin_sets_none_by_its_result(service: RunningService) -> None:
    answer = await service.token("forger", grant_type=ForgingGrant.grant_type, scope="api1")
    check_that_only_the_badge_was_set(claims_in(answer["access_token"]))


@pytest.mark.parametrize("token", ["access_token", "id_token", "userinfo"])
async def test_a_user_source_sets_none(app: ClientApp, service: RunningService, token: str) -> None:
    answer = await app.tokens(scope="openid all api1")
    told = await userinfo(service, answer) if token == "userinfo" else claims_in(answer[token])
    check_that_only_the_badge_was_set(told)


@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_a_user_source_sets_none_in_introspection(
    service: RunningService, client: str
) -> None:
    token = (await service.user_token(client))["access_token"]
    check_that_only_the_badge_was_set((await service.introspect(token)).json)


@pytest.mark.parametrize("token", ["access_token", "id_token", "userinfo"])
async def test_a_provider_sets_none(
    app: ClientApp, service: RunningService, fake: FakeProvider, token: str
) -> None:
    async with Journey.beginning(app, fake.issuer) as journey:
        sent = await journey.away(scope="openid all api1")
        page = await app.browser.get(fake.answer(sent))
        answer = await app.redeem(page.parameters["code"])
    told = await userinfo(service, answer) if token == "userinfo" else claims_in(answer[token])
    check_that_only_the_badge_was_set(told)


async def test_an_assertion_sets_none(service: RunningService) -> None:
    assertion = await Partner(service).assertion(**FOREIGN)
    answer = await service.token(
        "courier", grant_type=JWT_BEARER, assertion=assertion, scope="api1"
    )
    check_that_only_the_badge_was_set(claims_in(answer["access_token"]))


@pytest.mark.parametrize("requested", ["access_token", "id_token"])
async def test_an_exchange_sets_none(service: RunningService, requested: str) -> None:
    assertion = await Partner(service).assertion(**FOREIGN)
    scope = "api1" if requested == "access_token" else "openid all"
    answer = await exchange(
        service, assertion, of_type="jwt", scope=scope, requested_token_type=requested
    )
    check_that_only_the_badge_was_set(claims_in(answer["access_token"]))
