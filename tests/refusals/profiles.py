"""Rows on profiles: requests that are weaker than the profile of their client."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from joserfc.jwk import RSAKey

from tests.driving.authority import self_signed
from tests.driving.dpop import DpopKey
from tests.refusals.authorization import Authorize, RequestObject
from tests.refusals.certificates import CertifiedClient, own_certificate
from tests.refusals.held import TYP, HeldCode, HeldPush, HeldToken, HeldVisit
from tests.refusals.row import refused, with_each
from tests.refusals.world import World

INVALID_REQUEST, INVALID_CLIENT = (400, "invalid_request"), (401, "invalid_client")
INVALID_OBJECT, INVALID_PROOF = (400, "invalid_request_object"), (400, "invalid_dpop_proof")
UNAUTHORIZED = (400, "unauthorized_client")
PASSWORD = {"grant_type": "password", "username": "alice", "password": "alice-password"}


def only_key(alg: str) -> Callable[[World], DpopKey]:
    return lambda world: DpopKey.for_algorithm(alg, world.service)


AUDIENCES: dict[str, Callable[[str], object]] = {
    "the token endpoint": lambda issuer: f"{issuer}/connect/token",
    "the PAR endpoint": lambda issuer: f"{issuer}/connect/par",
    "the issuer in an array": lambda issuer: [issuer],
    "the issuer and somebody else": lambda issuer: [issuer, "https://other.example"],
}
ANOTHER_HOUR: dict[str, dict[str, Any]] = {
    "no nbf": {"nbf": None},
    "no exp": {"exp": None},
    "no aud": {"aud": None},
    "another aud": {"aud": "https://other.example"},
    "over and old": {"nbf": timedelta(minutes=-61), "exp": timedelta(minutes=-1, seconds=30)},
    "old": {"nbf": timedelta(minutes=-62), "exp": timedelta(seconds=30)},
    "long": {"exp": timedelta(minutes=61)},
    "over": {"exp": timedelta(minutes=-1)},
    "of the future": {"nbf": timedelta(minutes=2)},
}
MINUTE_AHEAD = {"iat": timedelta(seconds=61), "nbf": timedelta(seconds=61)}
MODES = ("query", "fragment", "form_post")


def in_object(changes: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return changes of the request object."""
    return with_each("object_changes", changes)


PUSHED_BY_SECURITY = [
    *refused(
        HeldPush(),
        INVALID_REQUEST,
        {"no redirect_uri": {"redirect_uri": None}},
        pytest.mark.profile("pushed_redirect_uri"),
    ),
    *refused(
        HeldPush(),
        INVALID_REQUEST,
        with_each(
            "redirect_uri",
            {
                f"redirect_uri with {end}": f"https://security.example/callback{end}"
                for end in ("/", "?more=1", "/../callback")
            },
        ),
        pytest.mark.profile("exact_redirect_uris", "https_redirect_uris"),
    ),
    *refused(
        HeldPush(),
        UNAUTHORIZED,
        with_each("response_type", {kind: kind for kind in ("token", "code id_token", "id_token")}),
        pytest.mark.profile("only_codes"),
    ),
    *refused(
        HeldPush(),
        INVALID_REQUEST,
        {
            "no challenge": {"code_challenge": None, "code_challenge_method": None},
            "a plain challenge": {"code_challenge_method": "plain"},
            "a challenge that is plain by default": {"code_challenge_method": None},
        },
        pytest.mark.profile("s256"),
    ),
    *refused(
        HeldPush(),
        INVALID_CLIENT,
        {
            f"an assertion for {name}": {"claims": lambda issuer, aud=aud: {"aud": aud(issuer)}}
            for name, aud in AUDIENCES.items()
        },
        pytest.mark.profile("assertion_audience"),
    ),
    *refused(
        HeldPush(),
        INVALID_CLIENT,
        with_each("alg", {f"an assertion by {alg}": alg for alg in ("RS256", "PS384", "ES384")}),
        pytest.mark.rfc("fapi2#5.4.1"),
        pytest.mark.profile("algorithms"),
    ),
    *refused(
        HeldPush(),
        INVALID_CLIENT,
        {"an assertion of a minute later": {"claims": MINUTE_AHEAD}},
        pytest.mark.profile("clock_skew"),
    ),
    *refused(
        HeldPush(),
        INVALID_OBJECT,
        in_object(
            {f"an object by {alg}": {"alg": alg} for alg in ("RS256", "ES384")}
            | {f"an object of typ {typ}": {"typ": typ} for typ in ("JWT", "at+jwt")}
        ),
        pytest.mark.rfc("fapi2#5.4.1"),
        pytest.mark.profile("algorithms", "explicit_type"),
    ),
]
SECURITY = [
    *refused(HeldToken(), UNAUTHORIZED, {"password": PASSWORD}, pytest.mark.profile("only_codes")),
    *refused(
        HeldToken(),
        INVALID_PROOF,
        with_each("key", {f"a proof by {alg}": only_key(alg) for alg in ("RS256", "ES384")}),
        pytest.mark.rfc("fapi2#5.4.1"),
        pytest.mark.profile("algorithms"),
    ),
    *refused(
        HeldToken(),
        INVALID_PROOF,
        {"a short RSA key": {"key": lambda world: short_key(world.service.issuer)}},
        pytest.mark.filterwarnings("ignore:Key size"),
        pytest.mark.rfc("fapi2#5.4.1"),
        pytest.mark.profile("key_sizes"),
    ),
    *refused(
        HeldCode(),
        INVALID_PROOF,
        {"no proof": {"headers": {}}},
        pytest.mark.profile("bound_tokens"),
    ),
    *refused(
        HeldVisit(),
        (303, "invalid_request"),
        {"not pushed": {"pushed": False}},
        pytest.mark.profile("pushed_requests"),
    ),
    *refused(
        CertifiedClient("fapi-certified", own_certificate, scope="api2"),
        INVALID_CLIENT,
        {"no certificate": {"shown": None}, "another": {"shown": lambda _: self_signed("CN=x")}},
        pytest.mark.profile("client_authentication", "bound_tokens"),
    ),
]
SIGNING = [
    *refused(
        HeldPush("signing"),
        INVALID_REQUEST,
        {"no object": {"plain": True}},
        pytest.mark.profile("signed_requests"),
    ),
    *refused(
        HeldPush("signing"),
        INVALID_OBJECT,
        {"no signature": {"make": lambda sender: sender.unsigned()}},
        pytest.mark.profile("signed_requests"),
    ),
    *refused(
        HeldPush("signing"),
        INVALID_OBJECT,
        in_object(ANOTHER_HOUR),
        pytest.mark.profile("fresh_requests"),
    ),
    *refused(
        HeldPush("signing"),
        INVALID_OBJECT,
        in_object({f"typ {typ}": {"typ": typ} for typ in ("JWT", "jwt", "at+jwt")}),
        pytest.mark.profile("explicit_type"),
    ),
    *refused(
        HeldPush("signing"),
        INVALID_OBJECT,
        in_object({"an object by RS256": {"alg": "RS256"}}),
        pytest.mark.profile("algorithms"),
    ),
    *refused(
        HeldPush("signing"),
        INVALID_REQUEST,
        in_object({mode: {"response_mode": mode} for mode in MODES}),
        pytest.mark.profile("signed_responses"),
    ),
    *refused(
        HeldVisit("signing"),
        (303, "invalid_request"),
        {"not pushed": {"pushed": False}}
        | {mode: {"pushed": False, "response_mode": mode} for mode in MODES},
        pytest.mark.profile("pushed_requests", "signed_responses"),
    ),
]
MODERN_VISIT = Authorize("modern", {"scope": "openid api2"})
MODERN = [
    *refused(
        MODERN_VISIT,
        (303, "unauthorized_client"),
        with_each("response_type", {kind: kind for kind in ("token", "code id_token")}),
        pytest.mark.profile("only_codes"),
    ),
    *refused(
        MODERN_VISIT,
        (303, "invalid_request"),
        with_each("code_challenge_method", {"plain": "plain", "plain by default": None}),
        pytest.mark.profile("s256"),
    ),
    *refused(
        MODERN_VISIT,
        (400, "invalid_request"),
        with_each(
            "redirect_uri",
            {
                uri: uri
                for uri in ("https://modern.example/callback/", "http://modern.example/callback")
            },
        ),
        pytest.mark.profile("exact_redirect_uris", "encrypted_redirect_uris"),
    ),
    *refused(
        RequestObject("modern", usual={"scope": "openid api2", "typ": TYP}),
        (303, "invalid_request_object"),
        {"an object of typ JWT": {"typ": "JWT"}},
        pytest.mark.profile("explicit_type"),
    ),
]


def short_key(issuer: str) -> DpopKey:
    return DpopKey(issuer, "PS256", RSAKey.generate_key(1024))


ROWS = [*PUSHED_BY_SECURITY, *SECURITY, *SIGNING, *MODERN]
