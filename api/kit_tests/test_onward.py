"""An API gets tokens for its calls on behalf of callers, and keeps them until shortly before their end (RFC 8693)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from oauth_resource_server import Caller, ExchangeRefused, Refusal, ResourceServer
from oauth_resource_server.http import Answer
from oauth_resource_server.testing import LocalIssuer
from time_machine import TimeMachineFixture

from .conftest import MakeApi, authenticate, fetches, together

START = 1_900_000_000
METADATA = {"token_endpoint": "https://login.example.com/token"}
GOOD = {"access_token": "onward", "token_type": "Bearer", "expires_in": 300}


@pytest.fixture(autouse=True)
def _time(time_machine: TimeMachineFixture) -> None:
    time_machine.move_to(START, tick=False)


@pytest.fixture
async def caller(api: ResourceServer, local_issuer: LocalIssuer) -> Caller:
    """Return a caller whose token lives for a while."""
    return await authenticate(api, local_issuer.token(exp=START + 1000))


class TokenEndpoint:
    """An issuer that answers every token request alike."""

    def __init__(self, status: int, answer: object) -> None:
        self.status, self.answer = status, answer
        self.forms: list[Mapping[str, str]] = []

    async def send(
        self, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> Answer:
        self.forms.append(form or {})
        return Answer(self.status, json.dumps(self.answer).encode())

    async def aclose(self) -> None:
        """Nothing is open."""


async def test_token_for_the_next_api_is_fetched_once(
    api: ResourceServer, local_issuer: LocalIssuer, caller: Caller
) -> None:
    tokens = await together(*(api.on_behalf_of(caller, "stock.read") for _ in range(10)))
    assert len(set(tokens)) == 1
    assert fetches(local_issuer, "/token") == 1
    await api.on_behalf_of(caller, "stock.write")
    assert fetches(local_issuer, "/token") == 2


def test_blocking_callers_get_the_same(api: ResourceServer, local_issuer: LocalIssuer) -> None:
    caller = Caller.from_claims(local_issuer.token(), local_issuer.claims())
    token = api.on_behalf_of_blocking(caller, "stock.read")
    assert api.on_behalf_of_blocking(caller, "stock.read") == token


async def test_callers_do_not_share_tokens(
    api: ResourceServer, local_issuer: LocalIssuer, caller: Caller
) -> None:
    other = await authenticate(api, local_issuer.token(subject="bob"))
    assert await api.on_behalf_of(caller, "stock") != await api.on_behalf_of(other, "stock")


async def test_delegation_is_used_where_the_issuer_has_it(
    api: ResourceServer, local_issuer: LocalIssuer, caller: Caller
) -> None:
    await api.on_behalf_of(caller, "stock")
    form = {"grant_type": "delegation", "scope": "stock", "token": caller.token}
    assert local_issuer.requests[-1] == ("/token", form)


@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        ({}, {}),
        ({"audience": "warehouse"}, {"audience": "warehouse"}),
    ],
    ids=["scope", "audience"],
)
async def test_token_exchange_is_used_elsewhere(
    make_api: MakeApi, caller: Caller, arguments: dict[str, Any], more: dict[str, str]
) -> None:
    issuer = TokenEndpoint(200, GOOD)
    api = make_api(http=issuer, metadata=METADATA)
    assert await api.on_behalf_of(caller, "stock", **arguments) == "onward"
    assert issuer.forms == [
        {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "scope": "stock",
            "subject_token": caller.token,
            "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
            **more,
        }
    ]


@pytest.mark.parametrize(
    ("expires_in", "last"),
    [(300, 269), (5000, 969), (20, -1), (None, -1), ("300", -1)],
    ids=["its own end", "the caller's end", "too short", "unknown", "no number"],
)
async def test_kept_token_is_used_until_shortly_before_an_end(
    make_api: MakeApi,
    caller: Caller,
    time_machine: TimeMachineFixture,
    expires_in: object,
    last: int,
) -> None:
    issuer = TokenEndpoint(200, GOOD | {"expires_in": expires_in})
    api = make_api(http=issuer, metadata=METADATA)
    await api.on_behalf_of(caller, "stock")
    for second, asked in ((max(last, 0), 2 if last < 0 else 1), (last + 1, 3 if last < 0 else 2)):
        time_machine.move_to(START + second)
        await api.on_behalf_of(caller, "stock")
        assert len(issuer.forms) == asked


@pytest.mark.parametrize(
    ("status", "answer", "error"),
    [
        (400, {"error": "invalid_scope", "error_description": "no"}, "invalid_scope"),
        (400, [], "400"),
        (302, GOOD, "302"),
        (200, {"token_type": "Bearer"}, "200"),
        (200, GOOD | {"access_token": 1}, "200"),
        (200, GOOD | {"token_type": "DPoP"}, "unsupported_token_type"),
        (200, GOOD | {"token_type": "N_A"}, "unsupported_token_type"),
    ],
    ids=str,
)
async def test_refusal_of_the_issuer_is_raised(
    make_api: MakeApi, caller: Caller, status: int, answer: object, error: str
) -> None:
    api = make_api(http=TokenEndpoint(status, answer), metadata=METADATA)
    with pytest.raises(ExchangeRefused) as refused:
        await api.on_behalf_of(caller, "stock")
    assert refused.value.error == error
    assert caller.token not in str(refused.value)


async def test_unavailable_issuer_is_not_a_refusal(make_api: MakeApi, caller: Caller) -> None:
    api = make_api(http=TokenEndpoint(503, {}), metadata=METADATA)
    with pytest.raises(Refusal) as refused:
        await api.on_behalf_of(caller, "stock")
    assert refused.value.status == 503


async def test_credentials_are_needed(make_api: MakeApi, caller: Caller) -> None:
    with pytest.raises(ValueError, match="credentials"):
        await make_api(credentials=None).on_behalf_of(caller, "stock")
