"""Keys are fetched when they are needed, once for all, and never as often as callers like (RFC 7517, RFC 8414)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest
from joserfc.jwk import ECKey
from oauth_resource_server import Caller, ResourceServer
from oauth_resource_server.http import Answer
from oauth_resource_server.testing import LocalIssuer
from time_machine import TimeMachineFixture

from .conftest import MakeApi, authenticate, fetches, refusal_of, request, together

START = 1_900_000_000


@pytest.fixture(autouse=True)
def _time(time_machine: TimeMachineFixture) -> None:
    time_machine.move_to(START, tick=False)


class Unreachable:
    """An issuer that can be switched off."""

    def __init__(self, issuer: LocalIssuer) -> None:
        self.issuer, self.is_away = issuer, False

    async def send(
        self, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> Answer:
        if self.is_away:
            raise ConnectionError
        return await self.issuer.send(url, headers, form)

    async def aclose(self) -> None:
        """Nothing is open."""


async def test_many_first_requests_cause_one_fetch(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    tokens = [local_issuer.token() for _ in range(50)]
    callers = await together(*(authenticate(api, token) for token in tokens))
    assert {caller.subject for caller in callers} == {"alice"}
    assert fetches(local_issuer, "/jwks") == 1


def test_many_threads_cause_one_fetch(api: ResourceServer, local_issuer: LocalIssuer) -> None:
    tokens = [local_issuer.token() for _ in range(50)]
    with ThreadPoolExecutor(20) as threads:
        callers = list(threads.map(lambda token: api.authenticate_blocking(request(token)), tokens))
    assert {caller.subject for caller in callers} == {"alice"}
    assert fetches(local_issuer, "/jwks") == 1


class Slow(Unreachable):
    """An issuer whose answers wait until the test lets them go."""

    def __init__(self, issuer: LocalIssuer) -> None:
        super().__init__(issuer)
        self.asked, self.open = Event(), Event()

    async def send(
        self, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> Answer:
        self.asked.set()
        await asyncio.to_thread(self.open.wait)
        return await super().send(url, headers, form)


async def test_callers_that_come_during_the_first_fetch_join_it(
    make_api: MakeApi, local_issuer: LocalIssuer
) -> None:
    http = Slow(local_issuer)
    api = make_api(http=http)
    first = asyncio.create_task(authenticate(api, local_issuer.token()))
    await asyncio.to_thread(http.asked.wait)
    others = [asyncio.create_task(authenticate(api, local_issuer.token())) for _ in range(20)]
    await asyncio.sleep(0)  # they have begun
    http.open.set()
    callers = await asyncio.gather(first, *others)
    assert {caller.subject for caller in callers} == {"alice"}
    assert fetches(local_issuer, "/jwks") == 1


def test_threads_that_come_during_the_first_fetch_join_it(
    make_api: MakeApi, local_issuer: LocalIssuer
) -> None:
    http = Slow(local_issuer)
    api = make_api(http=http)
    with ThreadPoolExecutor(20) as threads:

        def call() -> Future[Caller]:
            return threads.submit(api.authenticate_blocking, request(local_issuer.token()))

        first = call()
        http.asked.wait()
        callers = [first, *(call() for _ in range(10))]
        http.open.set()
        assert {caller.result().subject for caller in callers} == {"alice"}
    assert fetches(local_issuer, "/jwks") == 1


async def test_invented_key_ids_cause_one_fetch_in_thirty_seconds(
    api: ResourceServer, local_issuer: LocalIssuer, time_machine: TimeMachineFixture
) -> None:
    await authenticate(api, local_issuer.token())
    for second in range(60):
        time_machine.move_to(START + second)
        forged = [local_issuer.token(header={"kid": f"{second}-{n}"}) for n in range(20)]
        await together(*(refusal_of(api, token) for token in forged))
    assert fetches(local_issuer, "/jwks") == 2


async def test_new_key_is_fetched_when_a_token_names_it(
    api: ResourceServer, local_issuer: LocalIssuer, time_machine: TimeMachineFixture
) -> None:
    await authenticate(api, local_issuer.token())
    local_issuer.rotate()
    time_machine.move_to(START + 31)
    await authenticate(api, local_issuer.token())
    assert fetches(local_issuer, "/jwks") == 2


async def test_withdrawn_key_is_not_used_after_a_refresh(
    api: ResourceServer, local_issuer: LocalIssuer, time_machine: TimeMachineFixture
) -> None:
    token = local_issuer.token(exp=START + 9000)
    await authenticate(api, token)
    local_issuer.keys = [ECKey.generate_key("P-256", {"kid": "new"})]
    time_machine.move_to(START + 601)
    await authenticate(api, token)  # remembered still; the keys are fetched in the background
    await together(*(authenticate(api, token) for _ in range(3)))
    assert "no such key" in (await refusal_of(api, token)).description


async def test_withdrawn_key_is_not_used_after_a_pause(
    api: ResourceServer, local_issuer: LocalIssuer, time_machine: TimeMachineFixture
) -> None:
    token = local_issuer.token(exp=START + 9000)
    await authenticate(api, token)
    local_issuer.keys = [ECKey.generate_key("P-256", {"kid": "new"})]
    time_machine.move_to(START + 1300)
    assert "no such key" in (await refusal_of(api, token)).description


async def test_keys_are_used_for_a_day_while_the_issuer_is_unavailable(
    make_api: MakeApi,
    local_issuer: LocalIssuer,
    time_machine: TimeMachineFixture,
    caplog: pytest.LogCaptureFixture,
) -> None:
    away = Unreachable(local_issuer)
    api = make_api(http=away)
    await authenticate(api, local_issuer.token())
    away.is_away = True
    time_machine.move_to(START + 80_000)
    await authenticate(api, local_issuer.token())
    assert "cannot be fetched: the last ones are used" in caplog.text
    time_machine.move_to(START + 90_000)
    refusal = await refusal_of(api, local_issuer.token())
    assert "cannot be fetched: no token can be verified" in caplog.text
    assert (refusal.status, refusal.error) == (503, "temporarily_unavailable")
    assert refusal.headers["Retry-After"] == "5"
    assert "WWW-Authenticate" not in refusal.headers


async def test_api_recovers_when_the_issuer_is_back(
    make_api: MakeApi,
    local_issuer: LocalIssuer,
    time_machine: TimeMachineFixture,
    caplog: pytest.LogCaptureFixture,
) -> None:
    away = Unreachable(local_issuer)
    api = make_api(http=away)
    away.is_away = True
    assert (await refusal_of(api, local_issuer.token())).status == 503
    assert "cannot be fetched: no token can be verified" in caplog.text
    away.is_away = False
    time_machine.move_to(START + 2)
    await authenticate(api, local_issuer.token())


@pytest.mark.parametrize(
    ("issuer", "paths"),
    [
        ("https://login.example.com", ["/.well-known/oauth-authorization-server"]),
        ("https://login.example.com/a", ["/.well-known/oauth-authorization-server/a"]),
    ],
)
async def test_metadata_are_found_where_rfc_8414_has_them(
    local_issuer: LocalIssuer, issuer: str, paths: list[str]
) -> None:
    local_issuer.url = issuer
    api = ResourceServer(issuer, audience="orders", http=local_issuer)
    await authenticate(api, local_issuer.token())
    asked = [path for path, _ in local_issuer.requests]
    assert asked == [*paths, "/jwks"]


class Documents:
    """An issuer that publishes these documents."""

    def __init__(self, documents: Mapping[str, bytes]) -> None:
        self.documents = documents

    async def send(
        self, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> Answer:
        return Answer(200, self.documents[url]) if url in self.documents else Answer(404, b"")

    async def aclose(self) -> None:
        """Nothing is open."""


OPENID = "https://login.example.com/.well-known/openid-configuration"
JWKS = "https://login.example.com/jwks"
METADATA = b'{"issuer": "https://login.example.com", "jwks_uri": "https://login.example.com/jwks"}'


@pytest.mark.parametrize(
    "documents",
    [
        {},
        {OPENID: b"[]"},
        {OPENID: METADATA.replace(b"login", b"attacker", 1)},
        {
            OPENID: METADATA.replace(
                b"https://login.example.com/jwks", b"http://login.example.com/jwks"
            )
        },
        {OPENID: METADATA.replace(b"https://login.example.com/jwks", b"file:///etc/passwd")},
        {OPENID: METADATA},
        {OPENID: METADATA, JWKS: b"{}"},
        {OPENID: METADATA, JWKS: b'{"keys": {}}'},
        {OPENID: METADATA, JWKS: b"[" * 300_000},
        {OPENID: METADATA, JWKS: b'{"keys": [' + b"{}," * 100 + b"{}]}"},
    ],
    ids=range(10),
)
async def test_documents_that_prove_nothing_are_not_used(
    make_api: MakeApi, local_issuer: LocalIssuer, documents: Mapping[str, bytes]
) -> None:
    refusal = await refusal_of(make_api(http=Documents(documents)), local_issuer.token())
    assert (refusal.status, refusal.error) == (503, "temporarily_unavailable")


async def test_unusable_entries_of_a_jwk_set_are_skipped(
    make_api: MakeApi, local_issuer: LocalIssuer
) -> None:
    good = ECKey.generate_key("P-256", {"kid": "k"})
    local_issuer.keys = [good]
    secret = {"kty": "oct", "k": "AA", "kid": "k"}
    jwks = json.dumps({"keys": [{}, 1, secret, good.as_dict(private=False)]}).encode()
    api = make_api(http=Documents({OPENID: METADATA, JWKS: jwks}))
    assert (await authenticate(api, local_issuer.token())).subject == "alice"
