"""The works of machines that are measured, and what each needs prepared in Redis."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.browser import BROWSER_WORKS
from benchmarks.load import Requests
from benchmarks.users import subject
from benchmarks.work import (
    DAY,
    HOUR,
    USERS,
    VERIFIER,
    Prepare,
    Work,
    authorization_of,
    basic,
    each_once,
    give_authorizations,
    proven,
    user_token,
    write_all,
    write_forms,
)
from service.clock import clock
from service.model.authorization import AuthorizationCode
from service.model.handle import new_handle
from service.model.polling import DEVICE_CODE, PolledRequest
from service.protocol.pkce import S256, CodeChallenge, s256
from service.protocol.token_types import GRANT_TYPE, uri_of
from service.store.verbs import Command
from service.tokens.polling import start
from service.tokens.refresh_token import begin_family
from service.wiring.features import Features

DELEGATION, EXCHANGE = "delegation, reference in and out", "token exchange, reference to ES256"
"""The names of works that others are compared with."""


async def introspect_reference(features: Features, _: Path, __: int) -> Requests:
    """An API resource asks about a reference token of a user."""
    token = await user_token(features, "web")
    return Requests(path="/connect/introspect", authorization=basic("api1"), body=f"token={token}")


def introspect_of_user_with(authorizations: int) -> Prepare:
    """The same of a user with so many authorizations."""

    async def prepare(features: Features, _: Path, __: int) -> Requests:
        sub = subject(10 + len(str(authorizations)))  # no other work's
        await give_authorizations(features, sub, authorizations)
        token = await user_token(features, "web", sub)
        return Requests(
            path="/connect/introspect",
            authorization=basic("api1"),
            body=f"token={token}",
            shows='"active":true',
        )

    return prepare


async def introspect_jwt(features: Features, _: Path, __: int) -> Requests:
    """An API resource asks about an ES256 JWT of a user."""
    token = await user_token(features, "signed")
    return Requests(path="/connect/introspect", authorization=basic("api1"), body=f"token={token}")


async def gateway_check(features: Features, _: Path, __: int) -> Requests:
    """A trusted proxy asks whether a request with a reference token of a user may pass."""
    token = await user_token(features, "web")
    path = "/connect/check/api1?scope=api1"
    return Requests(path=path, authorization=f"Bearer {token}")


async def client_credentials_reference(_: Features, __: Path, ___: int) -> Requests:
    """A client gets a reference token for itself."""
    return client_credentials("reference", "api1")


async def client_credentials_es256(_: Features, __: Path, ___: int) -> Requests:
    """A client gets a JWT signed with ES256."""
    return client_credentials("jwt", "api1")


async def client_credentials_dpop(features: Features, folder: Path, most: int) -> Requests:
    """A client gets a JWT signed with ES256, and bound to the key of an ES256 proof."""
    sent = client_credentials("jwt", "api1")
    return proven(sent, features.shared.issuer + sent.path, folder / "proofs", most)


async def client_credentials_rs256(_: Features, __: Path, ___: int) -> Requests:
    """A client gets a JWT signed with RS256."""
    return client_credentials("jwt", "rsa")


async def code(features: Features, folder: Path, most: int) -> Requests:
    """A code with PKCE is redeemed: reference token, identity token (ES256), refresh token."""
    writes: list[Command] = []
    bodies: list[str] = []
    for _ in range(most):
        authorization = authorization_of()
        handle = new_handle("authorization_code", authorization.id)
        record = AuthorizationCode(
            redirect_uri="https://web.example/callback",
            code_challenge=CodeChallenge(value=s256(VERIFIER), method=S256),
            nonce="n",
        )
        writes += [
            features.shared.stores.authorizations.put(authorization, authorization.id, ttl=HOUR),
            features.shared.stores.codes.put(record, handle.selector, handle.digest, ttl=HOUR),
        ]
        form = {
            "grant_type": "authorization_code",
            "code": handle.text,
            "redirect_uri": record.redirect_uri,
            "code_verifier": VERIFIER,
        }
        bodies.append(urlencode(form))
    await write_all(features, writes)
    return each_once(bodies, folder / "codes")


async def refresh(features: Features, folder: Path, most: int) -> Requests:
    """A refresh token is rotated: reference token, identity token (ES256), successor."""
    stores, client = features.shared.stores, features.shared.registry.current.clients["web"]
    writes: list[Command] = []
    bodies: list[str] = []
    for _ in range(most):
        authorization = authorization_of()
        token = begin_family(stores, authorization, client, {})
        assert token is not None
        writes += [stores.authorizations.put(authorization, authorization.id, ttl=DAY), token.write]
        sent = {"grant_type": "refresh_token", "refresh_token": token.handle.text}
        bodies.append(urlencode(sent))
    await write_all(features, writes)
    return each_once(bodies, folder / "refresh")


def delegation(sources: int) -> Prepare:
    """An API exchanges the reference tokens of so many users for its own."""

    async def prepare(features: Features, folder: Path, _: int) -> Requests:
        file = folder / f"delegation{sources}"
        forms = [
            {
                "grant_type": "delegation",
                "scope": "api2",
                "token": await user_token(features, "web"),
            }
            for _ in range(sources)
        ]
        write_forms(file, forms)
        return Requests(
            path="/connect/token", authorization=basic("api1"), bodies=file, in_turns=True
        )

    return prepare


def token_exchange(sources: int) -> Prepare:
    """An API exchanges the reference tokens of so many users for JWTs signed with ES256 (RFC 8693)."""

    async def prepare(features: Features, folder: Path, _: int) -> Requests:
        file, form = folder / f"exchange{sources}", {"audience": "api2"}
        return await _exchanges(features, file, "exchanger", form, sources)

    return prepare


async def transaction_token(features: Features, folder: Path, __: int) -> Requests:
    """A gateway gets transaction tokens, signed with ES256, for the reference tokens of some users."""
    form = {
        "requested_token_type": uri_of("txn_token"),
        "audience": "shop",
        "scope": "checkout",
        "request_details": '{"cart_id":"c1","amount":12}',
        "request_context": '{"req_ip":"192.0.2.1"}',
    }
    return await _exchanges(features, folder / "transactions", "gateway", form)


async def _exchanges(
    features: Features, file: Path, client: str, form: dict[str, str], sources: int = USERS
) -> Requests:
    usual = {"grant_type": GRANT_TYPE, "subject_token_type": uri_of("access_token"), **form}
    forms = [{**usual, "subject_token": await user_token(features, "web")} for _ in range(sources)]
    write_forms(file, forms)
    return Requests(path="/connect/token", authorization=basic(client), bodies=file, in_turns=True)


async def device_poll(features: Features, folder: Path, most: int) -> Requests:
    """A device asks whether its user has decided, who has not (RFC 8628 §3.5)."""
    writes: list[Command] = []
    bodies: list[str] = []
    for _ in range(most):
        waiting = PolledRequest(
            client_id="tv",
            grant_type=DEVICE_CODE,
            scope=frozenset({"openid", "api1"}),
            expires_at=clock() + HOUR,
        )
        started = start(features.shared.stores, waiting, "device_code")
        writes += started.writes
        bodies.append(urlencode({"grant_type": DEVICE_CODE, "device_code": started.handle.text}))
    await write_all(features, writes)
    return replace(each_once(bodies, folder / "polls", "tv"), are_refused=True)


async def revocation(features: Features, folder: Path, most: int) -> Requests:
    """A client revokes reference tokens of its users (RFC 7009 §2.1)."""
    bodies = [urlencode({"token": await user_token(features, "web")}) for _ in range(most)]
    sent = each_once(bodies, folder / "revocations")
    return replace(sent, path="/connect/revocation")


async def discovery(_: Features, __: Path, ___: int) -> Requests:
    """The OpenID configuration."""
    return Requests(path="/.well-known/openid-configuration")


async def jwks(_: Features, __: Path, ___: int) -> Requests:
    """The public keys."""
    return Requests(path="/.well-known/jwks.json")


MACHINE_WORKS: tuple[Work, ...] = (
    Work(
        name="introspect a reference token",
        prepare=introspect_reference,
        floor="introspect-reference",
        round_trips=1,
        at_least=0.95,
        at_least_of_peer=3.6,
    ),
    Work(
        name="introspect, a user with 100 grants",
        prepare=introspect_of_user_with(100),
        floor="introspect-reference",
        round_trips=1,
        at_least=0.95,
        beside=("introspect a reference token", 0.95),
    ),
    Work(
        name="introspect, a user with 10,000 grants",
        prepare=introspect_of_user_with(10_000),
        floor="introspect-reference",
        round_trips=1,
        at_least=0.95,
        beside=("introspect a reference token", 0.95),
    ),
    Work(
        name="introspect an ES256 JWT",
        prepare=introspect_jwt,
        floor="introspect-jwt",
        round_trips=1,
        at_least=0.95,
    ),
    Work(
        name="gateway check, reference token",
        prepare=gateway_check,
        floor="gateway-check",
        round_trips=1,
        at_least=0.66,
        beside=("introspect a reference token", 0.80),
    ),
    Work(
        name="client_credentials, reference token",
        prepare=client_credentials_reference,
        floor="client-credentials-reference",
        round_trips=1,
        at_least=0.88,
        at_least_of_peer=3.4,
    ),
    Work(
        name="client_credentials, ES256",
        prepare=client_credentials_es256,
        floor="client-credentials-es256",
        round_trips=0,
        at_least=1.20,
        at_least_of_peer=2.9,
    ),
    Work(
        name="client_credentials, RS256",
        prepare=client_credentials_rs256,
        floor="client-credentials-rs256",
        round_trips=0,
        at_least=0.94,
        at_least_of_peer=1.2,
    ),
    Work(
        name="client_credentials, ES256, DPoP",
        prepare=client_credentials_dpop,
        floor="client-credentials-dpop",
        round_trips=1,
        at_least=0.88,
        at_least_of_peer=2.5,
        once=True,
    ),
    Work(
        name="refresh with rotation, ES256 id token",
        prepare=refresh,
        floor="refresh",
        round_trips=2,
        at_least=0.70,
        at_least_of_peer=3.3,
        once=True,
    ),
    Work(
        name="code with PKCE, ES256 id token",
        prepare=code,
        floor="code",
        round_trips=2,
        at_least=0.68,
        at_least_of_peer=3.0,
        once=True,
    ),
    Work(
        name="device code, polled while the user decides",
        prepare=device_poll,
        floor="device-poll",
        round_trips=1,
        at_least=1.05,
        once=True,
    ),
    Work(
        name=DELEGATION,
        prepare=delegation(USERS),
        floor="delegation",
        round_trips=2,
        at_least=0.65,
    ),
    Work(
        name=EXCHANGE,
        prepare=token_exchange(USERS),
        floor="token-exchange",
        round_trips=2,
        at_least=0.68,
    ),
    Work(
        name="delegation of a hundred tokens",
        prepare=delegation(100),
        floor="delegation",
        round_trips=2,
        at_least=0.62,
        beside=(DELEGATION, 0.9),
    ),
    Work(
        name="delegation of one token",
        prepare=delegation(1),
        floor="delegation",
        round_trips=2,
        at_least=0.62,
        beside=(DELEGATION, 0.9),
    ),
    Work(
        name="token exchange of one token",
        prepare=token_exchange(1),
        floor="token-exchange",
        round_trips=2,
        at_least=0.62,
        beside=(EXCHANGE, 0.9),
    ),
    Work(
        name="transaction token, ES256",
        prepare=transaction_token,
        floor="transaction-token",
        round_trips=1,
        at_least=0.86,
    ),
    Work(
        name="revoke a reference token",
        prepare=revocation,
        floor="revocation",
        round_trips=3,
        at_least=0.7,
        once=True,
    ),
    Work(
        name="discovery",
        prepare=discovery,
        floor="discovery",
        round_trips=0,
        at_least=1.90,
        at_least_of_peer=5.6,
    ),
    Work(
        name="JWKS",
        prepare=jwks,
        floor="jwks-document",
        round_trips=0,
        at_least=1.90,
        at_least_of_peer=3.3,
    ),
)


def client_credentials(client: str, scope: str) -> Requests:
    """A client gets a token for itself."""
    form = {"grant_type": "client_credentials", "scope": scope}
    return Requests(path="/connect/token", authorization=basic(client), body=urlencode(form))


WORKS = (*MACHINE_WORKS, *BROWSER_WORKS)
