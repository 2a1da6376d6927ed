"""Rows on DPoP proofs: what is wrong with them, and where another key is due."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from warnings import catch_warnings

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from service.protocol.octets import base64url
from tests.driving.dpop import DpopKey
from tests.refusals.attempts import ClientCredentials, NonceProof, Redemption, Refresh, Userinfo
from tests.refusals.authorization import Authorize, Push
from tests.refusals.row import Changes, refused, with_each

INVALID_PROOF = (400, "invalid_dpop_proof")
INVALID_GRANT = (400, "invalid_grant")
OTHER_EC = ECKey.generate_key("P-256")


def symmetric(key: DpopKey) -> str:
    """Make a proof that is authenticated by a secret in its header."""
    shared = OctKey.generate_key(256)
    jwk = shared.as_dict(private=True)
    return DpopKey(key.issuer, "HS256", shared).proof(header={"jwk": jwk})


def rsa_key(*, bits: int = 2048, exponent: int = 65537) -> RSAKey:
    """Make a key of this size; the exponent has to fit, which is tried again and again."""
    while True:
        made = rsa.generate_private_key(65537, bits).private_numbers()
        p, q, order = made.p, made.q, (made.p - 1) * (made.q - 1)
        with suppress(ValueError):  # the exponent has no inverse
            d = pow(exponent, -1, order)
            rest = (d % (p - 1), d % (q - 1), rsa.rsa_crt_iqmp(p, q))
            public = rsa.RSAPublicNumbers(exponent, p * q)
            key = rsa.RSAPrivateNumbers(p, q, d, *rest, public).private_key()
            with catch_warnings(action="ignore"):  # of a short key
                return RSAKey.import_key(
                    key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
                )


def unsigned(key: DpopKey) -> str:
    header = base64url(b'{"typ":"dpop+jwt","alg":"none"}')
    return f"{header}.{key.proof().split('.')[1]}."


def rsa_with_prime(key: DpopKey) -> str:
    """Make a proof whose header holds one factor of the modulus."""
    made = rsa_key()
    jwk = {**made.as_dict(private=False), "p": made.as_dict(private=True)["p"]}
    return DpopKey(key.issuer, "PS256", made).proof(header={"jwk": jwk})


def with_jwk(jwk: Callable[[DpopKey], object]) -> Callable[[DpopKey], str]:
    return lambda key: key.proof(header={"jwk": jwk(key)})


def with_header(**header: Any) -> Callable[[DpopKey], str]:
    return lambda key: key.proof(header=header)


def with_claims(**claims: Any) -> Callable[[DpopKey], str]:
    return lambda key: key.proof(**claims)


def seconds_from_now(claim: str, seconds: int) -> Callable[[DpopKey], str]:
    def make(key: DpopKey) -> str:
        claims: dict[str, Any] = {claim: int(time.time()) + seconds}
        return key.proof(**claims)

    return make


MALFORMED = {
    "no JWT": lambda _: "proof",
    "two parts": lambda key: key.proof().rpartition(".")[0],
    "not ASCII": lambda _: "ä.ö.ü",
    "too long": with_claims(more="m" * 8000),
    "another typ": with_header(typ="JWT"),
    "no typ": with_header(typ=None),
    "typ of an access token": with_header(typ="at+jwt"),
    "crit": with_header(crit=["b64"], b64=True),
}
KEYS = {
    "no jwk": with_header(jwk=None),
    "a jwk that is text": with_header(jwk="key"),
    "an empty jwk": with_header(jwk={}),
    "a private jwk": with_jwk(lambda key: key.key.as_dict(private=True)),
    "a jwk with a part of the private key": rsa_with_prime,
    "another jwk": with_jwk(lambda _: OTHER_EC.as_dict(private=False)),
    "a kid only": with_header(jwk=None, kid="1"),
    "a jwk of another curve": with_jwk(
        lambda _: ECKey.generate_key("P-384").as_dict(private=False)
    ),
    "a jwk to encrypt with": with_jwk(lambda key: {**key.key.as_dict(private=False), "use": "enc"}),
    "a jwk without its type": with_jwk(lambda key: {**key.key.as_dict(private=False), "kty": None}),
    "a jwk of another type": with_jwk(lambda key: {**key.key.as_dict(private=False), "kty": "OKP"}),
    "a key of Ed448": lambda key: DpopKey(
        key.issuer, "EdDSA", OKPKey.generate_key("Ed448")
    ).proof(),
    "an RSA key whose exponent has 33 bits": lambda key: DpopKey(
        key.issuer, "PS256", rsa_key(exponent=2**32 + 15)
    ).proof(),
    "an RSA key of 1024 bits": lambda key: DpopKey(key.issuer, "PS256", rsa_key(bits=1024)).proof(),
    "a symmetric key": symmetric,
    "alg none": unsigned,
    "another signature": lambda key: key.proof()[:-8] + key.proof()[-8:],
}
CLAIMS = {
    "no htm": with_claims(htm=None),
    "htm GET": with_claims(htm="GET"),
    "htm post": with_claims(htm="post"),
    "no htu": with_claims(htu=None),
    "htu of another path": lambda key: key.proof("/connect/userinfo"),
    "htu of another host": with_claims(htu="https://other.example/connect/token"),
    "htu of another port": with_claims(htu="http://localhost:1/connect/token"),
    "htu of another scheme": lambda key: key.proof(htu=key.issuer.replace("http", "https")),
    "htu with userinfo": lambda key: key.proof(htu=key.issuer.replace("//", "//a@")),
    "htu that is a path": with_claims(htu="/connect/token"),
    "htu that is a number": with_claims(htu=1),
    "htu that no parser reads": with_claims(htu="http://[::1/connect/token"),
    "htu of another host whose path is our URL": lambda key: key.proof(
        htu=f"http://other.example//{key.issuer.removeprefix('http://')}/connect/token"
    ),
    "htu of a slash more": lambda key: key.proof("/connect/token/"),
    "no iat": with_claims(iat=None),
    "iat that is text": with_claims(iat="now"),
    "iat that is true": with_claims(iat=True),
    "iat long ago": seconds_from_now("iat", -100),
    "iat in the future": seconds_from_now("iat", 100),
    "exp that is over": seconds_from_now("exp", -100),
    "nbf in the future": seconds_from_now("nbf", 100),
    "no jti": with_claims(jti=None),
    "an empty jti": with_claims(jti=""),
    "a jti that is a number": with_claims(jti=1),
    "a jti that is too long": with_claims(jti="j" * 257),
}
HOST = {
    "proof": with_claims(htu="http://other.example/connect/token"),
    "headers": {"Host": "other.example"},
}
NONCES = {
    "no nonce": None,
    "an empty nonce": "",
    "a short nonce": "x",
    "a nonce of another length": "A" * 28,
    "a nonce of this length": "A" * 43,
    "a nonce that is not ASCII": "ä" * 28,
    "a nonce that is a number": 1,
    "a nonce of dashes": "-" * 29,
}
THUMBPRINTS = with_each("dpop_jkt", {"short": "short", "long": "x" * 44, "no base64": "=" * 43})
WITHOUT: Changes = {"without a proof": {"headers": {}}}
OF_A_STRANGER: Changes = {"of another key": {"headers": lambda world: world.stranger.header()}}
SPOILED = {"a wrong proof": {"headers": {"DPoP": "wrong"}}}

UNPROVEN = {"headers": {"DPoP": None}}

ROWS = [
    *refused(
        ClientCredentials(),
        INVALID_PROOF,
        with_each("proof", {**MALFORMED, **KEYS, **CLAIMS}) | {"htu of the Host header": HOST},
        pytest.mark.rfc("9449#4.3"),
    ),
    *refused(
        ClientCredentials("bound-machine"),
        INVALID_PROOF,
        {"without a proof": UNPROVEN, "before its scope": {"scope": "unknown", **UNPROVEN}},
        pytest.mark.rfc("9449#5"),
    ),
    *refused(
        ClientCredentials("bound-machine"),
        (400, "unsupported_grant_type"),
        {"grant_type before the proof": {"grant_type": "unknown", **UNPROVEN}},
    ),
    *refused(
        NonceProof(),
        (400, "use_dpop_nonce"),
        with_each("nonce", NONCES),
        pytest.mark.rfc("9449#8"),
    ),
    *refused(Redemption(), INVALID_PROOF, SPOILED, pytest.mark.rfc("9449#5")),
    *refused(Redemption(bound="key"), INVALID_PROOF, WITHOUT, pytest.mark.rfc("9449#10")),
    *refused(Redemption(bound="key"), INVALID_GRANT, OF_A_STRANGER, pytest.mark.rfc("9449#10")),
    *refused(Refresh(), INVALID_PROOF, SPOILED, pytest.mark.rfc("9449#5")),
    *refused(
        Refresh("spa", bound="key"),
        INVALID_PROOF,
        WITHOUT,
        pytest.mark.rfc("9449#5", "9449#10"),
    ),
    *refused(
        Refresh("spa", bound="key"),
        INVALID_GRANT,
        OF_A_STRANGER,
        pytest.mark.rfc("9449#5", "9449#10"),
    ),
    *refused(Authorize(), (303, "invalid_request"), THUMBPRINTS, pytest.mark.rfc("9449#10")),
    *refused(Push(), (400, "invalid_request"), THUMBPRINTS, pytest.mark.rfc("9449#10.1")),
    *refused(
        Push(headers=lambda world: world.key.header("/connect/par")),
        (400, "invalid_request"),
        {"dpop_jkt of another key": {"dpop_jkt": DpopKey("").thumbprint}},
        pytest.mark.rfc("9449#10.1"),
    ),
    *refused(
        Push(headers=lambda world: world.key.header("/connect/par")),
        INVALID_PROOF,
        {"a proof for another endpoint": {"headers": lambda world: world.key.header()}},
        pytest.mark.rfc("9449#10.1"),
    ),
    *refused(
        Userinfo(),
        (401, "invalid_dpop_proof"),
        {
            "no ath": {"ath": None},
            "another ath": {"ath": "x"},
            "another method": {"htm": "POST"},
            "no jti": {"jti": None},
            "no proof": {"proven": False},
        },
        pytest.mark.rfc("9449#7.1"),
    ),
    *refused(
        Userinfo(),
        (401, "invalid_token"),
        {"as a bearer token": {"scheme": "Bearer"}, "another key": {"key": lambda w: w.stranger}},
        pytest.mark.rfc("9449#7.1", "9449#7.2"),
    ),
    *refused(
        Userinfo(bound=False),
        (401, "invalid_token"),
        {"as a bound token": {"scheme": "DPoP"}},
        pytest.mark.rfc("9449#7.1"),
    ),
]
