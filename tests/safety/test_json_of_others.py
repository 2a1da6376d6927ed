"""JSON that others wrote is bounded in depth wherever it is read, and has one meaning where a policy reads it (RFC 8259 §4, §6)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from service.keys.foreign_keys import ForeignKeys
from service.keys.jose import JwtRefused, unverified_claims, unverified_header
from service.protocol.json_input import (
    LARGEST_INTEGER,
    MAX_DEPTH,
    JsonRefused,
    parse_json,
    parse_unambiguous_json,
)
from service.protocol.octets import base64url

DEEP = '{"a":' * 1000 + "1" + "}" * 1000
READS_OWN_JSON = {
    "ciba/messages.py": "a record of the store",
    "cli/explain.py": "what this program wrote",
    "cli/schema.py": "what this program wrote",
    "config/detail_schemas.py": "a file of the operator",
    "endpoints/demonstration.py": "an answer of this service",
    "authorize/parking.py": "a record of the store",
    "clients/registration/registration.py": "an array of texts, where nothing is within another",
    "identity/factors/totp.py": "a record of the store",
    "identity/factors/passkey_challenges.py": "members of known types",
    "identity/sign_in.py": "a record of the store",
    "keys/jose.py": "keys of files and of the store",
    "keys/stored_keys.py": "a record of the store",
    "model/password_hash.py": "hashes of the operator",
    "observe/event_log.py": "what this program wrote",
    "protocol/json_input.py": "the reader",
    "store/records.py": "records of the store",
    "testing.py": "an answer of this service",
    "tokens/refresh_token.py": "a record of the store",
    "webhooks/queueing.py": "what this program wrote",
}


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    "text", [nested(MAX_DEPTH + 1), '{"a":' * 16 + nested(17) + "}" * 16, nested(10**5), DEEP]
)
@pytest.mark.parametrize("parse", [parse_json, parse_unambiguous_json])
def test_json_that_is_nested_too_deeply_is_refused(parse: type, text: str) -> None:
    for content in (text, text.encode()):
        with pytest.raises(JsonRefused):
            parse(content)


def test_json_within_the_limits_is_read() -> None:
    brackets = '"' + "[" * 1000 + '"'
    numbers = f"[{LARGEST_INTEGER}, {-LARGEST_INTEGER}, -0.5, 1.50, 1E2, 5e-324]"
    deepest = "[" * MAX_DEPTH + "1" + "]" * (MAX_DEPTH - 1) + ", [2]]"
    for text in (nested(MAX_DEPTH), deepest, brackets, numbers):
        assert parse_unambiguous_json(text) == parse_json(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        *('{"a": 1, "a": 1}', '[{"b": {"a": 1, "\\u0061": 2}}]', "1e400", "[NaN]", "-Infinity"),
        *("0.1000000000000000055", "9007199254740993", "-1e-999999999999999999999", "9" * 5000),
        *('"\\ud800"', '"\x01"', "\ufeff1", "01", ""),
    ],
    ids=lambda text: ascii(text[:30]),
)
def test_json_that_two_readers_may_understand_differently_is_refused(text: str) -> None:
    with pytest.raises(JsonRefused):
        parse_unambiguous_json(text)


@pytest.mark.parametrize(
    ("header", "claims"),
    [
        (DEEP, "{}"),
        ('{"alg": "RS256"}', DEEP),
        ('{"alg": "RS256"}', '{"authorization_details": [], "authorization_details": []}'),
        ('{"alg": "RS256"}', '{"authorization_details": [{"a": 1, "a": 1}]}'),
        ('{"alg": "RS256"}', '{"authorization_details": [{"a": 0.1000000000000000055}]}'),
        ('{"alg": "RS256"}', '{"authorization_details": [{"a": 9007199254740993}]}'),
    ],
    ids=["header", "claims", "member-twice", "member-within-twice", "inexact", "large"],
)
def test_jwt_with_such_json_is_refused(header: str, claims: str) -> None:
    token = ".".join(base64url(part.encode()) for part in (header, claims, "signature"))
    with pytest.raises(JwtRefused):
        unverified_header(token), unverified_claims(token)


def test_other_members_of_a_jwt_with_details_are_read_as_they_are() -> None:
    claims = '{"authorization_details": [{"a": 1.5}], "sub_id": 9007199254740993, "x": 0.1000000000000000055}'
    token = ".".join(base64url(part.encode()) for part in ("{}", claims, "signature"))
    assert unverified_claims(token)["sub_id"] == 9007199254740993


def test_jwk_set_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(ValueError, match="nested"):
        ForeignKeys.parse(b'{"keys": [{"kty": ' + nested(900).encode() + b"}]}")


def test_json_of_others_is_read_in_one_place() -> None:
    parsing = re.compile(r"\b(?:orjson|json)\.loads\b|\bmsgspec\.json\.(?:decode|Decoder)\b")
    service = Path("service")
    reading = {
        str(file.relative_to(service))
        for file in service.rglob("*.py")
        if parsing.search(file.read_text())
    }
    assert reading == READS_OWN_JSON.keys()
