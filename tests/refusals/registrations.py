"""Rows on the registration of clients for mutual TLS, JARM and authorization details."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.authority import self_signed
from tests.jarm.conftest import PUBLIC_JWKS
from tests.refusals.attempts import Registration
from tests.refusals.row import refused

INVALID = (400, "invalid_client_metadata")
JWK = self_signed("CN=anything").jwk
MACHINE = {"grant_types": ["client_credentials"], "response_types": []}
SIGNED, ALG = "authorization_signed_response_alg", "authorization_encrypted_response_alg"
ENC = "authorization_encrypted_response_enc"
TYPES = "authorization_details_types"
OF_AUTHORITY: dict[str, Any] = {
    "token_endpoint_auth_method": "tls_client_auth",
    "tls_client_auth_subject_dn": "CN=shop,O=Example",
}
OWN: dict[str, Any] = {
    "token_endpoint_auth_method": "self_signed_tls_client_auth",
    "jwks": {"keys": [JWK]},
}

ROWS = [
    *refused(
        Registration({**MACHINE, **OF_AUTHORITY}),
        INVALID,
        {
            "no name": {"tls_client_auth_subject_dn": None},
            "two names": {"tls_client_auth_san_dns": "a.example"},
            "no distinguished name": {"tls_client_auth_subject_dn": "shop"},
        },
        pytest.mark.rfc("8705#2.1.2"),
    ),
    *refused(
        Registration({**MACHINE, **OWN}),
        INVALID,
        {
            "no x5c": {"jwks": {"keys": [{**JWK, "x5c": None}]}},
            "no certificate": {"jwks": {"keys": [{**JWK, "x5c": ["AAAA"]}]}},
        },
        pytest.mark.rfc("8705#2.2.2"),
    ),
    *refused(
        Registration({**MACHINE, "tls_client_certificate_bound_access_tokens": True}),
        INVALID,
        {"bound twice": {"dpop_bound_access_tokens": True}},
        pytest.mark.rfc("8705#3.4"),
    ),
    *(
        row
        for parameter, value in (
            *((SIGNED, alg) for alg in ("none", "PS512", "HS256")),
            *((ALG, alg) for alg in ("RSA1_5", "RSA-OAEP")),
            (ENC, "A128GCM"),
        )
        for row in refused(
            Registration({"jwks": PUBLIC_JWKS}),
            INVALID,
            {f"{parameter} {value}": {parameter: value, "named": f"{parameter}: "}},
            pytest.mark.rfc("jarm#3", "7591#3.2.2"),
        )
    ),
    *(
        row
        for types in (["unknown"], ["payment_initiation", "unknown"], "x", [1])
        for row in refused(
            Registration({TYPES: ["payment_initiation"]}),
            INVALID,
            {f"{TYPES} {types}": {TYPES: types, "named": TYPES}},
            pytest.mark.rfc("9396#10"),
        )
    ),
]
