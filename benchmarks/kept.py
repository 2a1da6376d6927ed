"""One of everything that is kept in Redis for a while, made as the service makes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace

from benchmarks.work import HOUR, VERIFIER, authorization_of
from service.clock import clock
from service.identity.access import Wishes
from service.identity.sessions import queue_logouts
from service.identity.sign_in import SignIn
from service.model.authorization import Authorization, AuthorizationCode, new_family_key
from service.model.client_metadata import RegisteredClient
from service.model.handle import digest, new_handle, new_selector
from service.model.session import PendingSignIn, Session
from service.protocol.params import Params
from service.protocol.pkce import S256, CodeChallenge, s256
from service.tokens.liveness import begin
from service.tokens.refresh_token import begin_family
from service.wiring.features import Features

Make = Callable[[Features, int], Awaitable[None]]
"""Makes the one of this number; every number is another person."""

DAY = 24 * HOUR
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


@dataclass(frozen=True, slots=True)
class Kind:
    """A line of the table."""

    name: str
    make: Make


def _authorization(number: int, *, offline: bool) -> Authorization:
    scope = frozenset({"openid", "profile", "api1", *(["offline_access"] if offline else [])})
    return msgspec.structs.replace(
        authorization_of(),
        subject=f"person-{number:010}",
        scope=scope,
        family_key=new_family_key(scope),
    )


async def session(features: Features, number: int) -> None:
    """A sign-in that has been used."""
    sessions = replace(features.shared.sessions, emit=lambda _: None)
    subject, now = f"person-{number:010}", clock()
    who = SignIn(subject=subject, idp="local", amr=("pwd",), auth_time=now)
    begun, _ = await sessions.start(who, previous=None, user_agent=AGENT)
    await sessions.touch(begun)


async def authorization(features: Features, number: int) -> None:
    """The records that every token of a user needs, and the only ones of a JWT."""
    granted = _authorization(number, offline=False)
    await features.shared.kv.write(*begin(features.shared.stores, granted, ttl=HOUR))


async def reference_token(features: Features, number: int) -> None:
    """The token alone."""
    granted, tokens = _authorization(number, offline=False), features.access_tokens
    minted = await tokens.mint(
        granted,
        features.shared.registry.current.clients["web"],
        target=tokens.targets.find(granted, frozenset({"openid", "api1"})),
        user_claims={},
    )
    await features.shared.kv.write(*minted.writes)


async def revoked_jwt(features: Features, _: int) -> None:
    """Until the JWT would have expired."""
    selector = new_selector()
    await features.shared.kv.write(
        features.shared.stores.revoked.put(True, selector, selector + "j" * 22, ttl=HOUR)
    )


async def refresh_family(features: Features, number: int) -> None:
    """An authorization and its one live refresh token, after any number of rotations."""
    granted = _authorization(number, offline=True)
    client = features.shared.registry.current.clients["web"]
    first = begin_family(features.shared.stores, granted, client, {})
    assert first is not None
    await features.shared.kv.write(*begin(features.shared.stores, granted, ttl=DAY), first.write)


async def code(features: Features, number: int) -> None:
    """A code that is not redeemed yet, without its authorization."""
    handle = new_handle("authorization_code", new_selector())
    record = AuthorizationCode(
        redirect_uri="https://web.example/callback",
        code_challenge=CodeChallenge(value=s256(VERIFIER), method=S256),
        nonce=f"nonce-{number:016}",
    )
    await features.shared.kv.write(
        features.shared.stores.codes.put(record, handle.selector, handle.digest, ttl=60)
    )


async def consent(features: Features, number: int) -> None:
    """One that is remembered."""
    asked = Wishes(scope=frozenset({"openid", "profile", "api1"}), claims=frozenset())
    await features.shared.consents.remember(
        f"person-{number:010}",
        features.shared.registry.current.clients["web"],
        asked=asked,
        allowed=asked,
        unverified_client_host=None,
    )


async def parked_request(features: Features, number: int) -> None:
    """An authorization request that waits for a person."""
    params = Params.parse(
        urlencode(
            {
                "client_id": "web",
                "redirect_uri": "https://web.example/callback",
                "response_type": "code",
                "scope": "openid profile api1",
                "state": f"state-{number:016}",
                "nonce": f"nonce-{number:016}",
                "code_challenge": s256(VERIFIER),
                "code_challenge_method": S256,
            }
        )
    )
    await features.parked_requests.park(params, browser=new_selector(), address=f"person-{number}")


async def pending_sign_in(features: Features, number: int) -> None:
    """A person on the way to a provider."""
    pending = PendingSignIn(
        provider="provider",
        issuer="https://provider.example",
        issuer_is_sent=True,
        browser_digest=digest("browser"),
        nonce="n" * 43,
        code_verifier="v" * 64,
        began_at=clock(),
        anew=False,
        max_age=None,
    )
    records = features.shared.stores.pending_sign_ins
    await features.shared.kv.write(records.put(pending, digest(f"state-{number}"), "", ttl=HOUR))


async def registered_client(features: Features, number: int) -> None:
    """With an origin of its own."""
    selector = new_selector()
    record = RegisteredClient(
        client_id=f"dc_{selector}",
        issued_at=clock(),
        expires_at=clock() + DAY,
        metadata={
            "redirect_uris": [f"https://app{number}.example/callback"],
            "client_name": "An application",
            "token_endpoint_auth_method": "client_secret_basic",
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "scope": "openid profile api1",
        },
        access_token_digest=digest("token"),
        secret_sha256=bytes(32),
        sealed_secret=None,
    )
    await features.shared.kv.write(
        features.shared.stores.registered_clients.put(record, selector, ttl=DAY)
    )
    await features.origins.add(record)


async def assertion(features: Features, number: int) -> None:
    """The `jti` of a client's assertion that was used."""
    used = features.shared.stores.used_assertions
    await features.shared.kv.write(used.put_new(new_selector(), digest(f"web\n{number}"), ttl=60))


async def logout_delivery(features: Features, number: int) -> None:
    """A client that is to be told that a session has ended."""
    ended = Session(
        id=new_selector(),
        cookie_digest="",
        subject=f"person-{number:010}",
        idp="local",
        amr=("pwd",),
        auth_time=0,
        started_at=0,
        ends_at=0,
        remember=False,
        user_agent="",
    )
    await features.shared.kv.write(
        *queue_logouts(features.shared.stores, [(ended.subject, ended.id, "web")])
    )


KINDS = (
    Kind("session", session),
    Kind("authorization of a person (all that a JWT takes)", authorization),
    Kind("reference token", reference_token),
    Kind("revoked JWT", revoked_jwt),
    Kind("refresh family", refresh_family),
    Kind("code", code),
    Kind("consent", consent),
    Kind("parked request", parked_request),
    Kind("sign-in at a provider", pending_sign_in),
    Kind("registered client", registered_client),
    Kind("used assertion", assertion),
    Kind("logout delivery", logout_delivery),
)
