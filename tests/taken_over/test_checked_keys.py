"""Files of keys that only verify are judged at a start, with file and key id (RFC 7517 §4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.config.problem import Problem
from service.protocol.octets import base64url
from service.start.checks import START_RULES
from service.start.load import inspect
from tests.taken_over.conftest import at, old_key

KEY = old_key().public_jwk | {"kid": "k1"}
SHORT = {"kty": "RSA", "n": base64url(b"\xff" * 128), "e": "AQAB"}

Judge = Callable[..., list[Problem]]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Return the problems of a configuration whose files of keys have these contents."""

    def judge(*contents: object, until: str = at(days=1)) -> list[Problem]:
        entries = []
        for number, content in enumerate(contents):
            path = tmp_path / f"{number}.json"
            path.write_text(content if isinstance(content, str) else json.dumps(content))
            entries.append({"jwks": path.name, "until": until})
        file = tmp_path / "config.yaml"
        settings = {"issuer": "https://id.example.com", "signing": {"verify_only": entries}}
        file.write_text(yaml.safe_dump(settings))
        return [*inspect(file, {}, START_RULES)]

    return judge


def keys(*several: dict[str, Any]) -> dict[str, Any]:
    return {"keys": [*several]}


def test_public_keys_for_known_algorithms_have_no_problem(judge: Judge) -> None:
    ec = old_key("ES384").public_jwk | {"kid": "k2"}
    del ec["alg"]
    assert (
        judge(keys(KEY, ec, {"kty": "RSA", "use": "enc", "kid": "e", "n": "AQ", "e": "AQAB"})) == []
    )


WRONG: dict[str, tuple[object, str]] = {
    "private": (
        keys(old_key().private_jwk | {"kid": "k1"}),
        "0.json: the key k1 is private or symmetric; leave only the public part in the file",
    ),
    "a private one to encrypt to": (
        keys(KEY, {"kid": "e", "use": "enc", "kty": "RSA", "n": "AQ", "e": "AQAB", "d": "AQ"}),
        "0.json: the key e is private",
    ),
    "symmetric": (keys({"kty": "oct", "kid": "s", "k": "AAAA"}), "the key s is private or symm"),
    "no kid": (
        keys(KEY, {name: KEY[name] for name in KEY if name != "kid"}),
        "0.json: keys[1] has no kid, by which tokens name it",
    ),
    "one kid twice": (keys(KEY, KEY), "0.json: two keys have the key id k1"),
    "an unknown algorithm": (keys(KEY | {"alg": "RS1"}), "the key k1 is for RS1; known: RS256, "),
    "an unknown type": (keys({"kty": "X", "kid": "k1"}), "the key k1 is for no algorithm; known: "),
    "an algorithm of another type": (keys(KEY | {"alg": "ES256"}), "the key k1: the key is not"),
    "a short key": (
        keys(SHORT | {"kid": "k1"}),
        "0.json: the key k1: the key has fewer than 2048 bits",
    ),
    "a long exponent": (keys(KEY | {"e": "AQAB" * 9}), "the key k1 is longer than any key"),
    "no list": ({"keys": 7}, "0.json: is no JWK set (RFC 7517 §5)"),
    "no JSON": ("-----BEGIN PUBLIC KEY-----", "0.json: is no JWK set (RFC 7517 §5)"),
    "nothing": (keys(), "0.json: holds no key that verifies signatures"),
    "only one to encrypt to": (keys(KEY | {"use": "enc"}), "0.json: holds no key that verifies"),
}


@pytest.mark.parametrize(("content", "message"), WRONG.values(), ids=WRONG)
def test_a_file_with_a_wrong_key_is_an_error(judge: Judge, content: object, message: str) -> None:
    (problem,) = judge(content)
    assert (problem.severity, problem.path) == ("error", "signing.verify_only[0].jwks")
    assert message in problem.message
    assert problem.line


def test_a_file_that_is_missing_is_an_error(judge: Judge, tmp_path: Path) -> None:
    judge(keys(KEY))
    (tmp_path / "0.json").unlink()
    (problem,) = inspect(tmp_path / "config.yaml", {}, START_RULES)
    assert "there is no file" in problem.message


def test_a_key_id_in_two_files_is_an_error(judge: Judge) -> None:
    (problem,) = judge(keys(KEY), keys(KEY))
    assert (problem.severity, problem.path) == ("error", "signing.verify_only[1].jwks")
    assert "another file has a key with the key id k1" in problem.message


def test_a_time_that_has_passed_is_a_warning(judge: Judge) -> None:
    (problem,) = judge(keys(KEY), until="2026-01-01T00:00:00Z")
    assert (problem.severity, problem.path) == ("warning", "signing.verify_only[0].until")
