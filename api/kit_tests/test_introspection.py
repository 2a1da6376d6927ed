"""Opaque tokens are introspected; answers are kept for a while, and never longer than the token lives (RFC 7662)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from joserfc import jwt
from oauth_resource_server import (
    ClientAssertion,
    ClientSecret,
    ResourceServer,
    private_key_jwt,
    tokens,
)
from oauth_resource_server.http import Answer
from oauth_resource_server.testing import LocalIssuer
from time_machine import TimeMachineFixture

from .conftest import MakeApi, authenticate, fetches, refusal_of, together

START = 1_900_000_000
METADATA = {"introspection_endpoint": "https://login.example.com/introspect"}


@pytest.fixture(autouse=True)
def _time(time_machine: TimeMachineFixture) -> None:
    time_machine.move_to(START, tick=False)


class Says:
    """An issuer that answers every introspection alike, and keeps what it was sent."""

    def __init__(self, answer: object, status: int = 200) -> None:
        self.answer, self.status = answer, status
        self.sent: list[tuple[Mapping[str, str], Mapping[str, str]]] = []

    async def send(
        self, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> Answer:
        self.sent.append((headers, form or {}))
        return Answer(self.status, json.dumps(self.answer).encode())

    async def aclose(self) -> None:
        """Nothing is open."""


async def test_opaque_token_describes_its_caller(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    caller = await authenticate(api, local_issuer.opaque_token("orders.read", acr="gold"))
    assert (caller.subject, caller.client_id, caller.acr) == ("alice", "app", "gold")
    assert caller.has_scope("orders.read")


async def test_every_request_asks_unless_answers_are_kept(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    token = local_issuer.opaque_token()
    await authenticate(api, token)
    local_issuer.revoke(token)
    assert "not active" in (await refusal_of(api, token)).description


async def test_kept_answer_is_used_until_its_time_is_over(
    make_api: MakeApi, local_issuer: LocalIssuer, time_machine: TimeMachineFixture
) -> None:
    api, token = make_api(introspection_cache=60), local_issuer.opaque_token()
    for second in (0, 30, 59):
        time_machine.move_to(START + second)
        await authenticate(api, token)
    assert fetches(local_issuer, "/introspect") == 1
    local_issuer.revoke(token)
    time_machine.move_to(START + 60)
    assert "not active" in (await refusal_of(api, token)).description


async def test_oldest_kept_answer_makes_room_for_a_new_one(
    make_api: MakeApi, local_issuer: LocalIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "CACHED_TOKENS", 3)
    api, sent = make_api(introspection_cache=60), [local_issuer.opaque_token() for _ in range(4)]
    for token in (*sent, sent[3], sent[1], sent[0]):
        await authenticate(api, token)
    assert fetches(local_issuer, "/introspect") == 5


async def test_kept_answer_never_outlives_the_token(
    make_api: MakeApi, local_issuer: LocalIssuer, time_machine: TimeMachineFixture
) -> None:
    api = make_api(introspection_cache=3600)
    token = local_issuer.opaque_token(exp=START + 10)
    time_machine.move_to(START + 9)
    await authenticate(api, token)
    time_machine.move_to(START + 10)
    assert (await refusal_of(api, token)).error == "invalid_token"


async def test_refusals_are_not_kept(make_api: MakeApi, local_issuer: LocalIssuer) -> None:
    api = make_api(introspection_cache=60)
    for _ in range(3):
        await refusal_of(api, "unknown")
    assert fetches(local_issuer, "/introspect") == 3


async def test_same_token_at_the_same_time_is_asked_about_once(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    token = local_issuer.opaque_token()
    callers = await together(*(authenticate(api, token) for _ in range(20)))
    assert {caller.subject for caller in callers} == {"alice"}
    assert fetches(local_issuer, "/introspect") == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"active": False, "sub": "alice", "aud": "orders"},
        {"active": True, "aud": "payments"},
        {"active": True},
        {"active": True, "aud": "orders", "iss": "https://other.example.com"},
        {"active": True, "aud": "orders", "exp": START},
        {"active": True, "aud": "orders", "exp": "later"},
        {"active": True, "aud": "orders", "nbf": START + 60},
        {"active": True, "aud": "orders", "token_type": "N_A"},
        {"active": True, "aud": "orders", "typ": "Refresh"},
        {"active": True, "aud": "orders", "cnf": {"kid": "unknown"}},
        {"active": True, "aud": "orders", "cnf": "unknown"},
    ],
    ids=str,
)
async def test_answer_about_another_token_is_refused(
    make_api: MakeApi, answer: dict[str, Any]
) -> None:
    refusal = await refusal_of(make_api(http=Says(answer), metadata=METADATA), "opaque")
    assert (refusal.status, refusal.error) == (401, "invalid_token")


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (401, {"error": "invalid_client"}),
        (302, {"active": True, "aud": "orders"}),
        (500, {"active": True, "aud": "orders"}),
        (200, {"active": "true", "aud": "orders"}),
        (200, {"active": 1, "aud": "orders"}),
        (200, [True]),
        (200, {}),
    ],
    ids=str,
)
async def test_empty_answer_accepts_no_user(make_api: MakeApi, status: int, answer: object) -> None:
    refusal = await refusal_of(make_api(http=Says(answer, status), metadata=METADATA), "opaque")
    assert (refusal.status, refusal.error) == (503, "temporarily_unavailable")


async def test_opaque_token_is_refused_without_credentials(
    make_api: MakeApi, local_issuer: LocalIssuer
) -> None:
    refusal = await refusal_of(make_api(credentials=None), local_issuer.opaque_token())
    assert (refusal.status, refusal.error) == (401, "invalid_token")
    assert local_issuer.requests == []


async def test_jwt_that_does_not_verify_is_not_introspected(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    await refusal_of(api, local_issuer.token(aud="payments"))
    assert fetches(local_issuer, "/introspect") == 0


async def test_jwts_are_introspected_where_the_api_says_so(
    make_api: MakeApi, local_issuer: LocalIssuer
) -> None:
    api = make_api(introspect="all")
    assert "not active" in (await refusal_of(api, local_issuer.token())).description
    assert fetches(local_issuer, "/jwks") == 0


def test_introspecting_all_tokens_needs_credentials(make_api: MakeApi) -> None:
    with pytest.raises(ValueError, match="credentials"):
        make_api(introspect="all", credentials=None)


async def test_secret_is_form_encoded_and_not_shown(make_api: MakeApi) -> None:
    says = Says({"active": True, "aud": "orders"})
    credentials = ClientSecret("an api", "s:ü")
    await authenticate(make_api(http=says, metadata=METADATA, credentials=credentials), "opaque")
    headers, form = says.sent[0]
    assert headers["Authorization"] == "Basic YW4rYXBpOnMlM0ElQzMlQkM="
    assert form == {"token": "opaque", "token_type_hint": "access_token"}
    assert "ü" not in repr(credentials)


async def test_assertion_of_a_pod_is_read_for_each_request(make_api: MakeApi) -> None:
    says = Says({"active": True, "aud": "orders"})
    assertions = iter(["first", "second"])
    credentials = ClientAssertion(lambda _: next(assertions))
    api = make_api(http=says, metadata=METADATA, credentials=credentials)
    await authenticate(api, "opaque")
    await authenticate(api, "opaque")
    assert [form["client_assertion"] for _, form in says.sent] == ["first", "second"]
    assert says.sent[0][1]["client_assertion_type"].endswith(":jwt-bearer")


async def test_private_key_signs_a_new_assertion_for_each_request(
    make_api: MakeApi, local_issuer: LocalIssuer
) -> None:
    key = local_issuer.keys[0]
    says = Says({"active": True, "aud": "orders"})
    credentials = private_key_jwt("orders", key.as_dict(private=True))
    api = make_api(http=says, metadata=METADATA, credentials=credentials)
    await authenticate(api, "opaque")
    await authenticate(api, "opaque")
    claims = [jwt.decode(form["client_assertion"], key).claims for _, form in says.sent]
    assert {(each["iss"], each["sub"], each["aud"]) for each in claims} == {
        ("orders", "orders", "https://login.example.com")
    }
    assert claims[0]["jti"] != claims[1]["jti"]
    assert claims[0]["exp"] - START <= 60
