"""Passkeys are asked for once, and only what the right authenticator signed for the right page counts (WebAuthn §7.1, §7.2)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from fido2 import cbor
from fido2.utils import websafe_encode
from hypothesis import given, settings
from hypothesis import strategies as st

from service.identity.factors import webauthn
from service.identity.factors.passkey_challenges import (
    MAX_RESPONSE,
    Asking,
    PasskeyRefused,
    Passkeys,
    RelyingParty,
    find_relying_party,
)
from service.model.factors import Passkey
from service.protocol.errors import TooManyRequests
from service.store.keyvalue import KeyValue
from service.store.rate_limit import RateLimit
from service.store.stores import Stores
from tests.driving.authenticator import (
    ATTESTED,
    BACKED_UP,
    ELIGIBLE,
    EXTENDED,
    PRESENT,
    VERIFIED,
    Authenticator,
)

pytestmark = pytest.mark.rfc("webauthn#7.1", "webauthn#7.2", "webauthn#13.4.3")

PARTY = RelyingParty(rp_id="example.com", origin="https://login.example.com")
ALICE: dict[str, Any] = {"username": "alice", "display_name": "Alice"}
HERE = Asking(purpose="sign-in", browser="browser", address="192.0.2.7")
ENROLMENT = msgspec.structs.replace(HERE, purpose="enrolment", subject="1")
SECOND_FACTOR = msgspec.structs.replace(
    HERE, purpose="second factor", parked_id="request", subject="1"
)
SOME_PASSKEY = Passkey(
    credential_id="aWQ",
    public_key=websafe_encode(cbor.encode(Authenticator(origin=PARTY.origin).key)),
    user_handle="aGFuZGxl",
    sign_count=0,
    backup_eligible=False,
    name="Key",
    created_at=0,
)


@dataclass(frozen=True)
class Person:
    """Somebody with a passkey, and the ways to use it."""

    passkeys: Passkeys
    authenticator: Authenticator
    passkey: Passkey

    async def signs_in(self, asking: Asking = HERE) -> Passkey:
        response = self.authenticator.use(await self.passkeys.ask(asking))
        return await self.sends(response, asking)

    async def sends(self, response: Any, asking: Asking = HERE) -> Passkey:
        answer = await self.passkeys.open(asking, json.dumps(response))
        used = self.passkeys.verify(answer, self.passkey, alone=asking is HERE)
        return msgspec.structs.replace(used, last_used=None)


@pytest.fixture
def passkeys(stores: Stores, kv: KeyValue) -> Passkeys:
    limit = RateLimit(kv=kv, prefix="ts", name="passkey", per_minute=None)
    return Passkeys(party=PARTY, stores=stores, rate_limit=limit)


@pytest.fixture
async def person(passkeys: Passkeys) -> Person:
    return await enrol(passkeys, Authenticator(origin=PARTY.origin))


async def enrol(passkeys: Passkeys, authenticator: Authenticator) -> Person:
    options = await passkeys.ask_for_new(ENROLMENT, **ALICE, known=())
    answer = await passkeys.open(ENROLMENT, json.dumps(authenticator.create(options)))
    return Person(passkeys, authenticator, passkeys.register(ENROLMENT, answer, name="Key"))


async def reason(attempt: Awaitable[object]) -> str:
    with pytest.raises(PasskeyRefused) as refused:
        await attempt
    return refused.value.reason


@pytest.mark.parametrize("kind", ["ES256", "RS256", "EdDSA"])
async def test_new_passkey_signs_in_alone(passkeys: Passkeys, kind: str) -> None:
    person = await enrol(passkeys, Authenticator(origin=PARTY.origin, kind=kind))
    assert await person.signs_in() == person.passkey


async def test_the_browser_may_ask_for_it_without_knowing_the_user(passkeys: Passkeys) -> None:
    options = await passkeys.ask(HERE)
    assert options["allowCredentials"] == []
    assert options["userVerification"] == "required"


async def test_authenticator_with_a_known_passkey_is_asked_for_no_second_one(
    person: Person,
) -> None:
    options = await person.passkeys.ask_for_new(ENROLMENT, **ALICE, known=[person.passkey])
    assert options["excludeCredentials"] == [
        {"type": "public-key", "id": person.passkey.credential_id, "transports": ("internal",)}
    ]


async def test_passkeys_of_one_user_have_one_handle(person: Person) -> None:
    """So that an authenticator knows that they are of the same account."""
    handle = person.passkey.user_handle
    asking = msgspec.structs.replace(ENROLMENT, user_handle=handle)
    options = await person.passkeys.ask_for_new(asking, **ALICE, known=[person.passkey])
    other = Authenticator(origin=PARTY.origin).create(options)
    assert await reason(person.passkeys.open(ENROLMENT, json.dumps(other))) == "expired"
    answer = await person.passkeys.open(asking, json.dumps(other))
    assert person.passkeys.register(asking, answer, name="Key").user_handle == handle
    unrelated = await enrol(person.passkeys, Authenticator(origin=PARTY.origin))
    assert unrelated.passkey.user_handle != handle


@pytest.mark.parametrize(
    ("flags", "amr"), [(0, ("hwk", "user")), (ELIGIBLE, ("swk", "user"))], ids=["bound", "synced"]
)
async def test_passkey_that_can_be_copied_is_a_software_key(
    passkeys: Passkeys, flags: int, amr: tuple[str, ...]
) -> None:
    authenticator = Authenticator(origin=PARTY.origin, flags=PRESENT | VERIFIED | flags)
    assert (await enrol(passkeys, authenticator)).passkey.amr == amr


async def test_passkey_without_user_verification_is_a_second_factor_only(person: Person) -> None:
    person.authenticator.flags = PRESENT
    assert await reason(person.signs_in()) == "unverified"
    assert await person.signs_in(SECOND_FACTOR) == person.passkey


async def test_challenge_counts_once(person: Person) -> None:
    response = person.authenticator.use(await person.passkeys.ask(HERE))
    outcomes = await asyncio.gather(
        *[person.sends(response) for _ in range(20)], return_exceptions=True
    )
    assert outcomes.count(person.passkey) == 1
    assert {one.reason for one in outcomes if isinstance(one, PasskeyRefused)} == {"expired"}


async def test_refused_response_consumes_the_challenge(person: Person) -> None:
    options = await person.passkeys.ask(HERE)
    honest = person.authenticator.use(options)
    person.authenticator.origin = "https://evil.example"
    assert await reason(person.sends(person.authenticator.use(options))) == "unverified"
    assert await reason(person.sends(honest)) == "expired"


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"browser": "another"},
        {"parked_id": "another"},
        {"subject": "2"},
        {"purpose": "enrolment"},
    ],
    ids=lambda changed: next(iter(changed)),
)
async def test_challenge_counts_for_one_browser_request_user_and_purpose(
    person: Person, elsewhere: dict[str, Any]
) -> None:
    response = person.authenticator.use(await person.passkeys.ask(SECOND_FACTOR))
    other = msgspec.structs.replace(SECOND_FACTOR, **elsewhere)
    assert await reason(person.sends(response, other)) == "expired"
    assert await person.sends(response, SECOND_FACTOR) == person.passkey


@pytest.mark.parametrize(
    "lie",
    [
        {"origin": "https://example.com"},
        {"origin": "https://login.example.com:8443"},
        {"origin": "http://login.example.com"},
        {"client_data": {"crossOrigin": True}},
        {"client_data": {"topOrigin": "https://evil.example"}},
        {"client_data": {"type": "webauthn.create"}},
        {"rp_id": "login.example.com"},
        {"flags": VERIFIED},
        {"flags": PRESENT | VERIFIED | BACKED_UP},
        {"flags": PRESENT | VERIFIED | ELIGIBLE},
        {"sign": lambda _: b"signature"},
        {"user_handle": "c29tZWJvZHk"},
        {"user_handle": ""},
    ],
    ids=[
        "parent-domain",
        "port",
        "no-tls",
        "frame",
        "frame-of-another-site",
        "registration",
        "rp-id",
        "user-absent",
        "backed-up-but-not-eligible",
        "eligible-since-lately",
        "signature",
        "another-user",
        "no-user",
    ],
)
async def test_use_that_is_not_what_was_asked_for_is_refused(
    person: Person, lie: dict[str, Any]
) -> None:
    for name, value in lie.items():
        setattr(person.authenticator, name, value)
    assert await reason(person.signs_in()) == "unverified"


async def test_passkey_of_another_authenticator_is_refused(person: Person) -> None:
    other = await enrol(person.passkeys, Authenticator(origin=PARTY.origin))
    response = other.authenticator.use(await person.passkeys.ask(HERE))
    assert await reason(person.sends(response)) == "unverified"


@pytest.mark.parametrize(
    ("before", "now", "accepted"),
    [(0, 0, True), (0, 1, True), (5, 6, True), (5, 5, False), (5, 4, False), (5, 0, False)],
)
async def test_counter_has_to_go_up_unless_it_is_always_zero(
    person: Person, before: int, now: int, accepted: bool
) -> None:
    passkey = msgspec.structs.replace(person.passkey, sign_count=before)
    person = replace(person, passkey=passkey)
    person.authenticator.count = now
    if accepted:
        assert (await person.signs_in()).sign_count == now
    else:
        assert await reason(person.signs_in()) == "counter"


@pytest.mark.parametrize(
    "change",
    [
        lambda authenticator: authenticator.key.__setitem__(3, -35),
        lambda authenticator: authenticator.key.__setitem__(3, -65535),
        lambda authenticator: authenticator.key.__setitem__(-2, b"\0" * 32),
        lambda authenticator: authenticator.key.pop(-3),
        lambda authenticator: setattr(authenticator, "credential_id", bytes(1024)),
        lambda authenticator: setattr(authenticator, "origin", "https://evil.example"),
        lambda authenticator: setattr(authenticator, "flags", 0),
    ],
    ids=["not-offered", "unknown", "not-on-curve", "incomplete", "long-id", "origin", "absent"],
)
async def test_passkey_that_could_never_be_used_is_not_registered(
    passkeys: Passkeys, change: Callable[[Authenticator], object]
) -> None:
    authenticator = Authenticator(origin=PARTY.origin)
    change(authenticator)
    assert await reason(enrol(passkeys, authenticator)) in {"unverified", "malformed"}


@pytest.mark.parametrize(
    "response",
    [
        "",
        "null",
        "[" * MAX_RESPONSE,
        " " * (MAX_RESPONSE + 1),
        '{"id": "a", "type": "public-key", "response": {"clientDataJSON": "a"}}',
        '{"id": "a", "type": "public-key", "response": {"clientDataJSON": "/+=="}}',
        '{"id": "a", "type": "public-key", "response": {"clientDataJSON": "e30"}}',
    ],
    ids=["nothing", "null", "deep", "long", "cut", "other alphabet", "empty"],
)
async def test_what_is_no_response_is_refused_as_malformed(
    passkeys: Passkeys, response: str
) -> None:
    assert await reason(passkeys.open(HERE, response)) == "malformed"


@given(st.data(), st.sampled_from([PRESENT, PRESENT | ATTESTED, PRESENT | EXTENDED]))
@settings(max_examples=300)
def test_any_bytes_of_an_authenticator_are_refused_and_nothing_else_happens(
    data: st.DataObject, flags: int
) -> None:
    """The beginning is right, so that every parser has its turn."""
    some = st.binary(max_size=200) | st.integers(1, 600).map(lambda depth: b"\x81" * depth)
    beginning = sha256(PARTY.rp_id.encode()).digest() + bytes([flags, 0, 0, 0, 1])
    identifier = b"\0" * 16 + b"\0\1i" if flags & ATTESTED else b""
    found = beginning + identifier + data.draw(some)
    attestation = cbor.encode({"fmt": "none", "attStmt": {}, "authData": found})
    page = webauthn.WebAuthn(rp_id=PARTY.rp_id, origin=PARTY.origin, challenge="Y2hhbGxlbmdl")
    with pytest.raises(PasskeyRefused):
        page.register(_sent("create", attestationObject=attestation))
    with pytest.raises(PasskeyRefused):
        page.register(_sent("create", attestationObject=data.draw(some)))
    use = _sent("get", authenticatorData=found, signature=data.draw(some))
    with pytest.raises(PasskeyRefused):
        page.verify(use, SOME_PASSKEY, user_verification=False)


def _sent(kind: str, **response: bytes) -> dict[str, Any]:
    """A response of which everything is right but these members."""
    page = {"type": f"webauthn.{kind}", "challenge": "Y2hhbGxlbmdl", "origin": PARTY.origin}
    members = {"clientDataJSON": json.dumps(page).encode(), **response}
    return {
        "rawId": "aWQ",
        "response": {name: websafe_encode(value) for name, value in members.items()},
    }


@pytest.mark.usefixtures("fresh_minute")
async def test_network_gets_so_many_challenges_in_a_minute(stores: Stores, kv: KeyValue) -> None:
    limit = RateLimit(kv=kv, prefix="ts", name="passkey", per_minute=2)
    passkeys = Passkeys(party=PARTY, stores=stores, rate_limit=limit)
    await passkeys.ask(HERE)
    await passkeys.ask(HERE)
    with pytest.raises(TooManyRequests):
        await passkeys.ask(HERE)
    await passkeys.ask(msgspec.structs.replace(HERE, address="192.0.2.8"))


@pytest.mark.parametrize(
    ("issuer", "expected"),
    [
        ("https://login.example.com", ("login.example.com", "https://login.example.com")),
        ("https://Login.example.com:443/t", ("login.example.com", "https://login.example.com")),
        ("https://example.com:8443", ("example.com", "https://example.com:8443")),
        ("http://localhost:8080", ("localhost", "http://localhost:8080")),
        ("http://example.com", None),
        ("https://192.0.2.1", None),
        ("https://[::1]:8443", None),
        ("http://127.0.0.1:8080", None),
    ],
)
def test_issuer_that_browsers_have_passkeys_for(
    issuer: str, expected: tuple[str, str] | None
) -> None:
    found = find_relying_party(issuer, None)
    assert (found and (found.rp_id, found.origin)) == expected
