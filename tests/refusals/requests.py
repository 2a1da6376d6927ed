"""Rows on authorization requests: pushed, by a browser, by request_uri, in request objects, and for responses as JWTs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.clients.signing import unsigned
from tests.refusals.authorization import Authorize, Push, Pushed, PushedObject, RequestObject
from tests.refusals.row import Outcome, refused, with_each

INVALID_REQUEST = (400, "invalid_request")
URN = "urn:ietf:params:oauth:request_uri:"
NO_CHALLENGE = {"code_challenge": None, "code_challenge_method": None}
TWICE: dict[str, Any] = {"nonce": ["1", "2"]}

PUSHED: dict[Outcome, dict[str, dict[str, Any]]] = {
    INVALID_REQUEST: {
        "a request_uri": {"request_uri": URN + "x"},
        "another redirect_uri": {"redirect_uri": "https://other.example/"},
        "no redirect_uri": {"redirect_uri": None},
        "no response_type": {"response_type": None},
        "no code_challenge": NO_CHALLENGE,
        "a plain code_challenge": {"code_challenge_method": "plain"},
        "prompts that exclude each other": {"prompt": "none login"},
        "a max_age that is no number": {"max_age": "soon"},
        "claims that are no JSON": {"claims": "{"},
        "a nonce that is sent twice": TWICE,
    },
    (400, "unsupported_response_type"): {"an unknown type": {"response_type": "unknown"}},
    (400, "unauthorized_client"): {"another response_type": {"response_type": "token"}},
    (400, "invalid_scope"): {
        "an unknown scope": {"scope": "openid unknown"},
        "no scope": {"scope": None},
    },
    (400, "invalid_target"): {"an unknown resource": {"resource": "https://unknown.example"}},
    (400, "registration_not_supported"): {"registration": {"registration": "{}"}},
    (400, "invalid_request_object"): {"a request that is no JWT": {"request": "a.b.c"}},
    (401, "invalid_client"): {
        "another client_id": {"client_id": "spa"},
        "a wrong secret": {"auth": ("web", "wrong")},
    },
}
JARM: dict[str, tuple[dict[str, Any], str]] = {
    "no response_type": ({"response_type": None}, "invalid_request"),
    "an unknown response_type": ({"response_type": "unknown"}, "unsupported_response_type"),
    "another response_type": ({"response_type": "id_token"}, "unauthorized_client"),
    "an unknown scope": ({"scope": "openid unknown"}, "invalid_scope"),
    "a request that is no JWT": ({"request": "a.b.c"}, "invalid_request_object"),
    "an unknown resource": ({"resource": "api9"}, "invalid_target"),
}
MODES = {"jwt": 303, "fragment.jwt": 303, "form_post.jwt": 200}
UNKNOWN_MODES = ("header.jwt", "JWT", ".jwt", "query.jwt.jwt", "query jwt")

ago, ahead = timedelta(minutes=-2), timedelta(minutes=2)
TYPES: dict[str, dict[str, Any]] = {
    "max_age that is no integer": {"max_age": 1.5},
    "max_age that is true": {"max_age": True},
    "max_age that is an array": {"max_age": [5]},
    "scope that is an array": {"scope": ["openid", "api1"]},
    "claims that are an array": {"claims": ["email"]},
    "claims that are a number": {"claims": 1},
    "prompt that is an array": {"prompt": ["none"]},
    "prompt that is an object": {"prompt": {"login": True}},
    "resource with a number": {"resource": ["api1", 5]},
    "resource that is an object": {"resource": {"api1": 1}},
}
WITHOUT_REDIRECT_URI = {"beside": {"redirect_uri": None, "state": None}}
CLAIMS: dict[str, dict[str, Any]] = {
    "another iss": {"iss": "spa"},
    "iss that is an array": {"iss": ["web"]},
    "another aud": {"aud": "https://other.example"},
    "only other aud": {"aud": ["https://other.example"]},
    "no aud in the array": {"aud": []},
    "aud that is a number": {"aud": 5},
    "exp that is over": {"exp": ago},
    "exp that is text": {"exp": "never"},
    "nbf in the future": {"nbf": ahead},
    "nbf that is true": {"nbf": True},
    "iat in the future": {"iat": ahead},
    "iat that is an array": {"iat": [1]},
    "another client_id": {"client_id": "spa"},
    "another response_type": {"response_type": "id_token"},
    "a request inside": {"request": "eyJ.eyJ."},
    "a request_uri inside": {"request_uri": "https://web.example/request"},
    "a request that is a number": {"request": 5},
    "state that is a number": {"state": 7},
    "redirect_uri that is an array": {"redirect_uri": ["https://web.example/callback"]},
    **TYPES,
    **{f"typ {typ}": {"typ": typ} for typ in ("at+jwt", "logout+jwt", "JWE")},
    "typ of an assertion": {"typ": "client-authentication+jwt"},
    **{
        f"the key of somebody else, {alg}": {"alg": alg, "number": 1}
        for alg in ("ES256", "RS256", "HS256")
    },
    "no signature": {"make": lambda sender: sender.unsigned()},
}
UNSIGNED = {
    "a signature": ({"alg": "none"}, "AA"),
    "none in another spelling": ({"alg": "None"}, ""),
    "crit": ({"alg": "none", "crit": ["exp"]}, ""),
    "another typ": ({"alg": "none", "typ": "at+jwt"}, ""),
    "no alg": ({}, ""),
}
OF_NOBODY = {
    name: {"make": lambda sender, header=header, end=end: unsigned(header, sender.claims()) + end}
    for name, (header, end) in UNSIGNED.items()
}
AT_CLIENT = (303, "invalid_request_object")

ROWS = [
    *(
        row
        for refusal, changes in PUSHED.items()
        for row in refused(Push(), refusal, changes, pytest.mark.rfc("9126#2.3"))
    ),
    *refused(
        Pushed(),
        (400, "invalid_request_uri"),
        {
            **{
                name: {"request_uri": URN + uri}
                for name, uri in {
                    "an empty one": "",
                    "an unknown one": "unknown",
                    "a long one": "x" * 100,
                    "one that is not ASCII": "ä",
                }.items()
            },
            "another client": {"client_id": "spa"},
        },
        pytest.mark.rfc("9126#2.2", "9126#4"),
    ),
    *(
        row
        for mode, status in MODES.items()
        for name, (change, error) in JARM.items()
        for row in refused(
            Authorize(usual={"response_mode": mode}),
            (status, error),
            {f"{name}, by {mode}": change},
            pytest.mark.rfc("jarm#2.1", "6749#4.1.2.1"),
        )
    ),
    *refused(
        Authorize(),
        (303, "invalid_request"),
        with_each("response_mode", {f"response_mode {mode}": mode for mode in UNKNOWN_MODES}),
        pytest.mark.rfc("jarm#2.3"),
    ),
    *(
        row
        for place in (Push("keyless-web"), Authorize("keyless-web"))
        for row in refused(
            place,
            (400, "unauthorized_client"),
            {"a response that cannot be encrypted": {"response_mode": "jwt"}},
            pytest.mark.rfc("jarm#3"),
        )
    ),
    *refused(
        RequestObject(),
        AT_CLIENT,
        CLAIMS,
        pytest.mark.rfc("openid-core#6.1", "9101#4", "9101#6.3"),
    ),
    *refused(
        RequestObject(),
        AT_CLIENT,
        {
            f"{name}, and redirect_uri in the object alone": change | WITHOUT_REDIRECT_URI
            for name, change in TYPES.items()
        },
        pytest.mark.rfc("6749#4.1.2.1"),
    ),
    *refused(
        RequestObject(),
        (303, "invalid_request"),
        {"a request_uri as well": {"beside": {"request_uri": "https://web.example/request"}}},
    ),
    *refused(
        RequestObject(),
        (303, "registration_not_supported"),
        {"registration": {"registration": {"client_name": "Somebody"}}},
    ),
    *refused(
        RequestObject(),
        (400, "invalid_request"),
        {
            "a redirect_uri of somebody else": {"redirect_uri": "https://evil.example/"},
            "no client_id": {"beside": {"client_id": None}},
            "an unknown client_id": {"beside": {"client_id": "nobody"}},
        },
        pytest.mark.rfc("6749#4.1.2.1"),
    ),
    *(
        row
        for uri in (None, "https://evil.example/", "https://web.example/")
        for row in refused(
            RequestObject(),
            (400, "invalid_request_object"),
            {f"no signature, back to {uri}": {"number": 1, "beside": {"redirect_uri": uri}}},
            pytest.mark.rfc("6749#4.1.2.1", "9101#7"),
        )
    ),
    *refused(
        RequestObject("spa", "ES384"),
        AT_CLIENT,
        {
            **with_each("alg", {alg: alg for alg in ("ES256", "RS256", "HS256")}),
            "no signature": {"make": lambda sender: sender.unsigned()},
        },
        pytest.mark.rfc("9101#6.2", "openid-registration#2"),
    ),
    *refused(
        RequestObject("implicit", "none"),
        AT_CLIENT,
        OF_NOBODY
        | with_each("alg", {alg: alg for alg in ("ES256", "RS256", "HS256")})
        | {"another aud": {"aud": "https://other.example"}},
        pytest.mark.rfc("openid-core#6.1", "7515#4.1.11", "8725#3.2"),
    ),
    *refused(
        RequestObject("consenting"),
        AT_CLIENT,
        {
            "no signature": {"make": lambda sender: sender.unsigned()},
            "another client_id": {"client_id": "web"},
        },
        pytest.mark.rfc("9101#10.5"),
    ),
    *refused(
        PushedObject(),
        (400, "invalid_request_object"),
        {
            "the key of somebody else": {"number": 1},
            "another client_id": {"client_id": "spa"},
            "a request inside": {"request": "https://web.example/request"},
            "a request_uri inside": {"request_uri": "https://web.example/request"},
        },
        pytest.mark.rfc("9126#3", "9101#4"),
    ),
]
