"""Each check of a proof refuses what fails it, and nothing is spent (RFC 9449 §4.3)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey

from service.protocol.base64url import base64url
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("9449#4.3")

PRIVATE = ECKey.generate_key("P-256")
SPOILED: dict[str, Callable[[DpopKey], str]] = {
    "no JWT": lambda _: "proof",
    "two parts": lambda key: key.proof().rpartition(".")[0],
    "another typ": lambda key: key.proof(header={"typ": "JWT"}),
    "no typ": lambda key: key.proof(header={"typ": None}),
    "typ of an access token": lambda key: key.proof(header={"typ": "at+jwt"}),
    "crit": lambda key: key.proof(header={"crit": ["b64"], "b64": True}),
    "no jwk": lambda key: key.proof(header={"jwk": None}),
    "a jwk that is text": lambda key: key.proof(header={"jwk": "key"}),
    "an empty jwk": lambda key: key.proof(header={"jwk": {}}),
    "a private jwk": lambda key: key.proof(header={"jwk": key.key.as_dict(private=True)}),
    "another jwk": lambda key: key.proof(header={"jwk": PRIVATE.as_dict(private=False)}),
    "a kid only": lambda key: key.proof(header={"jwk": None, "kid": "1"}),
    "a jwk of another curve": lambda key: key.proof(
        header={"jwk": ECKey.generate_key("P-384").as_dict(private=False)}
    ),
    "a jwk to encrypt with": lambda key: key.proof(
        header={"jwk": {**key.key.as_dict(private=False), "use": "enc"}}
    ),
    "a symmetric key": lambda key: symmetric(key.issuer),
    "alg none": lambda key: unsigned(key.proof()),
    "another signature": lambda key: key.proof()[:-8] + key.proof()[-8:],
    "no htm": lambda key: key.proof(htm=None),
    "htm GET": lambda key: key.proof(htm="GET"),
    "htm post": lambda key: key.proof(htm="post"),
    "no htu": lambda key: key.proof(htu=None),
    "htu of another path": lambda key: key.proof("/connect/userinfo"),
    "htu of another host": lambda key: key.proof(htu="https://other.example/connect/token"),
    "htu of another port": lambda key: key.proof(htu="http://localhost:1/connect/token"),
    "htu of another scheme": lambda key: key.proof(htu=key.issuer.replace("http", "https")),
    "htu with userinfo": lambda key: key.proof(htu=key.issuer.replace("//", "//a@")),
    "htu that is a path": lambda key: key.proof(htu="/connect/token"),
    "htu that is a number": lambda key: key.proof(htu=1),
    "htu that no parser reads": lambda key: key.proof(htu="http://[::1/connect/token"),
    "htu of a slash more": lambda key: key.proof("/connect/token/"),
    "htu of another host whose path is our URL": lambda key: key.proof(
        htu=f"http://other.example//{key.issuer.removeprefix('http://')}/connect/token"
    ),
    "no iat": lambda key: key.proof(iat=None),
    "iat that is text": lambda key: key.proof(iat="now"),
    "iat that is true": lambda key: key.proof(iat=True),
    "iat long ago": lambda key: key.proof(iat=int(time.time()) - 100),
    "iat in the future": lambda key: key.proof(iat=int(time.time()) + 100),
    "exp that is over": lambda key: key.proof(exp=int(time.time()) - 100),
    "nbf in the future": lambda key: key.proof(nbf=int(time.time()) + 100),
    "no jti": lambda key: key.proof(jti=None),
    "an empty jti": lambda key: key.proof(jti=""),
    "a jti that is a number": lambda key: key.proof(jti=1),
    "a jti that is too long": lambda key: key.proof(jti="j" * 257),
    "too long": lambda key: key.proof(more="m" * 8000),
    "not ASCII": lambda _: "ä.ö.ü",
}
"""Proofs that are wrong in one way each."""


def symmetric(issuer: str) -> str:
    """A proof that is authenticated by a secret in its header."""
    shared = OctKey.generate_key(256)
    jwk = shared.as_dict(private=True)
    return DpopKey(issuer, "HS256", shared).proof(header={"jwk": jwk})


def unsigned(proof: str) -> str:
    header = base64url(b'{"typ":"dpop+jwt","alg":"none"}')
    return f"{header}.{proof.split('.')[1]}."


@pytest.mark.usefixtures("one_store")
@pytest.mark.parametrize("spoiled", SPOILED.values(), ids=SPOILED)
async def test_a_wrong_proof_is_refused(
    service: RunningService, key: DpopKey, spoiled: Callable[[DpopKey], str]
) -> None:
    headers = {"DPoP": spoiled(key)}
    answer = await service.token("machine", grant_type="client_credentials", headers=headers)
    assert answer.refusal == (400, "invalid_dpop_proof")


async def test_two_proofs_are_refused(service: RunningService, key: DpopKey) -> None:
    body = "grant_type=client_credentials&client_id=machine&client_secret=machine-secret"
    headers = [("DPoP", key.proof()), ("DPoP", key.proof())]
    content = ("Content-Type", "application/x-www-form-urlencoded")
    answer = await service.request("POST", "/connect/token", data=body, headers=[*headers, content])
    assert answer.refusal == (400, "invalid_dpop_proof")


async def test_a_proof_counts_once(service: RunningService, key: DpopKey) -> None:
    headers = key.header()
    form: dict[str, Any] = {"grant_type": "client_credentials", "headers": headers}
    assert (await service.token("machine", **form)).status == 200
    assert (await service.token("machine", **form)).refusal == (400, "invalid_dpop_proof")


async def test_a_right_proof_is_used_up_whatever_follows(
    service: RunningService, key: DpopKey
) -> None:
    headers = key.header()
    form: dict[str, Any] = {"grant_type": "client_credentials", "headers": headers}
    refused = await service.token("machine", scope="unknown", **form)
    assert refused.refusal == (400, "invalid_scope")
    assert (await service.token("machine", **form)).refusal == (400, "invalid_dpop_proof")


async def test_another_key_may_use_the_same_jti(service: RunningService, key: DpopKey) -> None:
    for each in (key, DpopKey(service.issuer)):
        headers = each.header(jti="the-same")
        answer = await service.token("machine", grant_type="client_credentials", headers=headers)
        assert answer.status == 200


@pytest.mark.parametrize(
    "spell",
    [
        lambda url: url + "?query=1#fragment",
        lambda url: url.replace("http", "HTTP"),
        lambda url: url.replace("localhost", "LocalHost"),
        lambda url: url.replace("token", "%74oken"),
        lambda url: url.replace("/connect", "/other/../connect"),
    ],
    ids=["query and fragment", "scheme", "host", "escaped", "dots"],
)
@pytest.mark.rfc("3986#6.2.2")
async def test_htu_is_compared_by_what_it_means(
    service: RunningService, key: DpopKey, spell: Callable[[str], str]
) -> None:
    headers = key.header(htu=spell(f"{service.issuer}/connect/token"))
    answer = await service.token("machine", grant_type="client_credentials", headers=headers)
    assert answer.status == 200


async def test_the_host_header_says_nothing_about_htu(
    service: RunningService, key: DpopKey
) -> None:
    headers = key.header(htu="http://other.example/connect/token") | {"Host": "other.example"}
    answer = await service.token("machine", grant_type="client_credentials", headers=headers)
    assert answer.refusal == (400, "invalid_dpop_proof")


@pytest.mark.rfc("9449#5", "9449#10")
async def test_a_bad_proof_leaves_the_code_unspent(app: ClientApp, key: DpopKey) -> None:
    code = await app.code()
    refused = await app.redeem(code, headers={"DPoP": "wrong"})
    assert refused.refusal == (400, "invalid_dpop_proof")
    assert (await app.redeem(code, headers=key.header()))["token_type"] == "DPoP"
