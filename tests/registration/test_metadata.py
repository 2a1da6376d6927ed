"""Every value is judged, and the refusal names the field (RFC 7591 §2, §3.2.2, OpenID Connect Registration §2)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from service.model.client_metadata import registered_names
from tests.driving.registering import REGISTER, RegisteredApp, register
from tests.driving.service import RunningService

pytestmark = [
    pytest.mark.rfc("7591#2", "7591#3.2.2", "openid-registration#2"),
    pytest.mark.usefixtures("one_store"),  # nothing is stored before a refusal
]

PUBLIC_KEY = {
    "kty": "EC",
    "crv": "P-256",
    "kid": "one",
    "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
    "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
}
JWKS = {"keys": [PUBLIC_KEY]}
URL = "https://registered.example/x"

REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "a grant type for passwords": ("grant_types", {"grant_types": ["password"]}),
    "an extension grant": ("grant_types", {"grant_types": ["delegation"]}),
    "an unknown grant type": ("grant_types", {"grant_types": ["wish"]}),
    "grant types that are no list": ("grant_types", {"grant_types": "authorization_code"}),
    "a response type without its grant": ("response_types", {"response_types": ["id_token"]}),
    "a hybrid one without implicit": ("response_types", {"response_types": ["code token"]}),
    "an unknown response type": ("response_types", {"response_types": ["wish"]}),
    "a code grant without code": (
        "response_types",
        {"grant_types": ["authorization_code", "implicit"], "response_types": ["id_token"]},
    ),
    "implicit without a token": (
        "response_types",
        {"grant_types": ["authorization_code", "implicit"], "response_types": ["code"]},
    ),
    "no response type": ("response_types", {"response_types": []}),
    "an unknown method": ("token_endpoint_auth_method", {"token_endpoint_auth_method": "wish"}),
    "a method that is a list": ("token_endpoint_auth_method", {"token_endpoint_auth_method": []}),
    "a method of certificates": (
        "token_endpoint_auth_method",
        {"token_endpoint_auth_method": "tls_client_auth"},
    ),
    "a method without its keys": (
        "token_endpoint_auth_method",
        {"token_endpoint_auth_method": "private_key_jwt"},
    ),
    "an assertion algorithm of another method": (
        "token_endpoint_auth_signing_alg",
        {
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks": JWKS,
            "token_endpoint_auth_signing_alg": "HS256",
        },
    ),
    "a public client for itself": (
        "grant_types",
        {"token_endpoint_auth_method": "none", "grant_types": ["client_credentials"]},
    ),
    "an algorithm nobody has": (
        "id_token_signed_response_alg",
        {"id_token_signed_response_alg": "XX256"},
    ),
    "an algorithm that is not offered": (
        "id_token_signed_response_alg",
        {"id_token_signed_response_alg": "PS512"},
    ),
    "identity tokens that nobody signs": (
        "id_token_signed_response_alg",
        {"id_token_signed_response_alg": "none"},
    ),
    "a secret's algorithm without a secret": (
        "id_token_signed_response_alg",
        {"token_endpoint_auth_method": "none", "id_token_signed_response_alg": "HS256"},
    ),
    "userinfo by an algorithm nobody has": (
        "userinfo_signed_response_alg",
        {"userinfo_signed_response_alg": "XX256"},
    ),
    "encryption without a key": (
        "id_token_encrypted_response_alg",
        {"id_token_encrypted_response_alg": "RSA-OAEP"},
    ),
    "an enc without its alg": (
        "userinfo_encrypted_response_enc",
        {"userinfo_encrypted_response_enc": "A128GCM"},
    ),
    "an unknown enc": (
        "id_token_encrypted_response_enc",
        {
            "jwks": JWKS,
            "id_token_encrypted_response_alg": "ECDH-ES",
            "id_token_encrypted_response_enc": "A1",
        },
    ),
    "a private key": ("jwks", {"jwks": {"keys": [PUBLIC_KEY | {"d": "secret"}]}}),
    "a symmetric key": ("jwks", {"jwks": {"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}}),
    "keys that are none": ("jwks", {"jwks": {"keys": "none"}}),
    "a key that is none": ("jwks", {"jwks": {"keys": ["none"]}}),
    "jwks that is no object": ("jwks", {"jwks": [PUBLIC_KEY]}),
    "a key that is nested deep": ("jwks", {"jwks": {"keys": [json.loads("[" * 28 + "]" * 28)]}}),
    "both jwks and jwks_uri": ("jwks_uri", {"jwks": JWKS, "jwks_uri": URL}),
    "a jwks_uri without TLS": ("jwks_uri", {"jwks_uri": "http://registered.example/jwks"}),
    "a jwks_uri that is none": ("jwks_uri", {"jwks_uri": "keys"}),
    "an application type": ("application_type", {"application_type": "toaster"}),
    "a subject type": ("subject_type", {"subject_type": "anonymous"}),
    "pairwise without salt": ("subject_type", {"subject_type": "pairwise"}),
    "a sector without TLS": (
        "sector_identifier_uri",
        {"sector_identifier_uri": "http://registered.example/sector"},
    ),
    "a login started without TLS": (
        "initiate_login_uri",
        {"initiate_login_uri": "http://registered.example/start"},
    ),
    "a login started at a fragment": ("initiate_login_uri", {"initiate_login_uri": URL + "#here"}),
    "a request_uri without TLS": (
        "request_uris",
        {"request_uris": ["http://registered.example/r"]},
    ),
    "a request_uri without TLS on loopback": (
        "request_uris",
        {"request_uris": ["http://127.0.0.1:8000/r"]},
    ),
    "request_uris that are no list": ("request_uris", {"request_uris": URL}),
    "a max age of words": ("default_max_age", {"default_max_age": "15m"}),
    "a max age below none": ("default_max_age", {"default_max_age": -1}),
    "a max age that is true": ("default_max_age", {"default_max_age": True}),
    "an auth_time of words": ("require_auth_time", {"require_auth_time": "yes"}),
    "acr values that are no list": ("default_acr_values", {"default_acr_values": "password"}),
    "contacts that are no list": ("contacts", {"contacts": "me@registered.example"}),
    "a contact that is a number": ("contacts", {"contacts": [1]}),
    "a name that is a number": ("client_name", {"client_name": 1}),
    "a name that turns the text": ("client_name", {"client_name": "Bank\u202eknaB"}),
    "a name with an Arabic mark": ("client_name", {"client_name": "Bank\u061c"}),
    "a name with a space of no width": ("client_name", {"client_name": "Ba\u200bnk"}),
    "a name with a C1 control character": ("client_name", {"client_name": "Bank\u009b"}),
    "a name with a line break": ("client_name", {"client_name": "Bank\nYou have won"}),
    "a home page that looks like another": (
        "client_uri",
        {"client_uri": "https://bank.example@registered.example/"},
    ),
    "keys behind a password": ("jwks_uri", {"jwks_uri": "https://me:secret@registered.example/"}),
    "a script for a logo": ("logo_uri", {"logo_uri": "javascript:alert(1)"}),
    "a script for a policy": ("policy_uri", {"policy_uri": "javascript:alert(1)"}),
    "terms by file": ("tos_uri", {"tos_uri": "file:///etc/passwd"}),
    "a home page by data": ("client_uri", {"client_uri": "data:text/html,hello"}),
    "a long logo_uri": ("logo_uri", {"logo_uri": "https://a.example/" + "x" * 2048}),
    "a logout URI with a fragment": (
        "post_logout_redirect_uris",
        {"post_logout_redirect_uris": [URL + "#bye"]},
    ),
    "a logout URI without TLS": (
        "post_logout_redirect_uris",
        {"post_logout_redirect_uris": ["http://registered.example/bye"]},
    ),
    "a back channel with a fragment": (
        "backchannel_logout_uri",
        {"backchannel_logout_uri": URL + "#bye"},
    ),
    "a back channel without TLS": (
        "backchannel_logout_uri",
        {"backchannel_logout_uri": "http://registered.example/bye"},
    ),
    "a front channel elsewhere": (
        "frontchannel_logout_uri",
        {"frontchannel_logout_uri": "https://other.example/bye"},
    ),
    "unknown scopes alone": ("scope", {"scope": "wish api2"}),
    "a scope that is a list": ("scope", {"scope": ["openid"]}),
    "a scope that is no scope": ("scope", {"scope": '"'}),
    "a name with languages inside": ("client_name", {"client_name": {"en": "Application"}}),
    "a name in another language that deceives": ("client_name#de", {"client_name#de": "a\u202eb"}),
    "a name in another language that is none": ("client_name#de", {"client_name#de": 1}),
    "a policy in another language that is none": ("policy_uri#de", {"policy_uri#de": "x"}),
}

ACCEPTED: dict[str, dict[str, Any]] = {
    "what people are shown": {
        "client_name": "Eine Anwendung",
        "client_uri": URL,
        "logo_uri": URL,
        "policy_uri": URL,
        "tos_uri": URL,
        "contacts": ["me@registered.example"],
    },
    "other languages": {
        "client_name": "An application",
        "client_name#de": "Eine Anwendung",
        "client_name#ja-Jpan-JP": "アプリ",
        "tos_uri#fr": URL,
    },
    "every response type": {
        "grant_types": ["authorization_code", "implicit", "refresh_token"],
        "response_types": [
            "code",
            "id_token",
            "token id_token",
            "code id_token",
            "code token",
            "code id_token token",
        ],
    },
    "keys": {"jwks": JWKS, "token_endpoint_auth_method": "private_key_jwt"},
    "keys behind a link": {"jwks_uri": URL, "token_endpoint_auth_method": "private_key_jwt"},
    "an algorithm of the secret": {
        "token_endpoint_auth_method": "client_secret_jwt",
        "token_endpoint_auth_signing_alg": "HS512",
        "id_token_signed_response_alg": "HS256",
        "userinfo_signed_response_alg": "ES256",
    },
    "session rules": {
        "default_max_age": 3600,
        "require_auth_time": True,
        "default_acr_values": ["password"],
        "initiate_login_uri": URL,
        "request_uris": [URL + "#digest"],
    },
    "logout": {
        "post_logout_redirect_uris": [URL],
        "frontchannel_logout_uri": URL,
        "frontchannel_logout_session_required": True,
        "backchannel_logout_uri": URL,
        "backchannel_logout_session_required": True,
    },
    "what software it is": {"software_id": "4NRB1", "software_version": "2.1"},
    "nothing pushed": {"require_pushed_authorization_requests": False},
}


@pytest.mark.parametrize(("field", "metadata"), REFUSED.values(), ids=REFUSED)
async def test_an_invalid_value_is_refused_with_its_name(
    service: RunningService, field: str, metadata: dict[str, Any]
) -> None:
    answer = await register(service, **metadata)
    assert answer.refusal == (400, "invalid_client_metadata")
    assert answer["error_description"].startswith(field)
    assert "15m" not in answer["error_description"]  # durations are for config.yaml
    assert len(answer["error_description"]) < 300


@pytest.mark.parametrize("metadata", ACCEPTED.values(), ids=ACCEPTED)
async def test_a_valid_value_is_registered_and_returned(
    service: RunningService, metadata: dict[str, Any]
) -> None:
    answer = await register(service, **metadata)
    assert answer.status == 201, answer.json
    assert answer.json.items() >= metadata.items()


ABSENT = {"null": None, "empty": "", "blank": " ", "an empty entry": [""], "a null entry": [None]}


@pytest.mark.rfc("7592#2.2")
@pytest.mark.parametrize("absent", ABSENT.values(), ids=ABSENT)
async def test_empty_members_count_as_absent(service: RunningService, absent: object) -> None:
    """MCP Inspector sends an empty scope, and serializers write every member that they know."""
    names = [*registered_names(), "scope", "software_statement", "client_secret", "client_name#de"]
    empty = {name: absent for name in names if name != "redirect_uris"}
    answer = await register(service, **dict[str, Any](redirect_uris=[URL], **empty))
    plain = await register(service, redirect_uris=[URL])
    of_one = {"client_id", "client_secret", "client_id_issued_at"}
    of_one |= {"registration_access_token", "registration_client_uri", "client_secret_expires_at"}
    assert answer.status == 201
    left = [{k: v for k, v in each.json.items() if k not in of_one} for each in (answer, plain)]
    assert left[0] == left[1]


async def test_empty_entries_count_as_absent(service: RunningService) -> None:
    keys = {"keys": [PUBLIC_KEY | {"use": None, "alg": "", "d": None}]}
    answer = await register(
        service, redirect_uris=[URL, "", None], contacts=["me@a.example", " "], jwks=keys
    )
    assert (answer.status, answer["redirect_uris"]) == (201, [URL])
    assert (answer["contacts"], answer["jwks"]) == (["me@a.example"], JWKS)


@pytest.mark.rfc("7592#2.2")
async def test_empty_members_of_a_change_count_as_absent(
    registering: Callable[..., Awaitable[RegisteredApp]],
) -> None:
    client = await registering(client_name="Mine")
    read_only = dict.fromkeys(["registration_access_token", "registration_client_uri"])
    answer = await client.change(client_name="", client_secret="", **read_only)
    assert (answer.status, "client_name" in answer.json) == (200, False)


@pytest.mark.rfc("7591#3.2.1")
async def test_scope_values_that_cannot_be_registered_are_left_out_of_the_answer(
    service: RunningService,
) -> None:
    answer = await register(service, scope="openid wish api2 api1")
    assert (answer.status, answer["scope"]) == (201, "api1 openid")


async def test_settings_of_the_operator_are_ignored(service: RunningService) -> None:
    decided: dict[str, Any] = {
        "require_consent": False,
        "enabled": False,
        "claims": {"admin": True},
    }
    answer = await register(service, **decided, access_token_lifetime=10**9)
    client = await service.features.clients.find(answer["client_id"])
    assert client is not None
    assert (client.require_consent, client.enabled, client.claims) == (True, True, {})
    assert client.access_token_lifetime == 3600
    assert not decided.keys() & answer.json.keys()


@pytest.mark.rfc("openid-registration#2")
async def test_encryption_without_an_enc_uses_the_default(service: RunningService) -> None:
    metadata: dict[str, Any] = {"jwks": JWKS, "userinfo_encrypted_response_alg": "ECDH-ES"}
    answer = await register(service, **metadata)
    assert answer["userinfo_encrypted_response_enc"] == "A128CBC-HS256"


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("no JWT", "invalid_software_statement"),
        (17, "invalid_software_statement"),
        ("eyJhbGciOiJub25lIn0.eyJzb2Z0d2FyZV9pZCI6IngifQ.", "unapproved_software_statement"),
        ("eyJhbGciOiJSUzI1NiJ9.eyJzb2Z0d2FyZV9pZCI6IngifQ.c2ln", "unapproved_software_statement"),
    ],
    ids=["text", "number", "unsigned", "signed"],
)
@pytest.mark.rfc("7591#2.3")
async def test_a_software_statement_is_never_trusted(
    service: RunningService, statement: object, error: str
) -> None:
    answer = await register(service, software_statement=statement)
    assert answer.refusal == (400, error)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ('"client_name": "a", "client_name": "b"', "has a member more than once"),
        (f'"x": {"[" * 900 + "]" * 900}', "is nested more than 32 levels deep"),
        ('"x": 9007199254740993', "has an integer of more than 53 bits"),
    ],
)
async def test_registration_that_has_two_meanings_is_refused(
    service: RunningService, members: str, reason: str
) -> None:
    body = f'{{"redirect_uris": ["https://registered.example/cb"], {members}}}'
    headers = {"Content-Type": "application/json"}
    answer = await service.request("POST", REGISTER, data=body.encode(), headers=headers)
    assert answer.status == 400
    assert answer["error_description"] == f"the body {reason}"
