"""The operator's own keys come from PEM and JWK files (RFC 7517 §4, RFC 7468 §10)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as ec_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as rsa_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from service.config.schema.server import SigningKey
from service.keys.jose import Key
from service.keys.key_source import FileKeys, read_key_files
from service.keys.keyring import KeyRing
from service.keys.schedule import KeyFileError, RotationPolicy
from tests.keys.conftest import Clock

ALGORITHMS = ("RS256", "ES256", "EdDSA")
POLICY = RotationPolicy(
    algorithms=ALGORITHMS, rotate_every=900, announce_before=100, retire_after=200, longest_token=10
)


def key_file(path: Path, **settings: Any) -> SigningKey:
    """Return an entry of `signing.keys`."""
    return SigningKey(path=path, **settings)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    def write(name: str, key: object, password: bytes | None = None) -> None:
        protection = BestAvailableEncryption(password) if password else NoEncryption()
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, protection)  # type: ignore[attr-defined]
        (tmp_path / name).write_bytes(pem)

    write("rsa.pem", rsa_key(65537, 2048))
    write("short.pem", rsa_key(65537, 1024))  # noqa: S505 - to be refused
    write("ec.pem", ec_key(SECP256R1()))
    write("ed.pem", Ed25519PrivateKey.generate())
    write("locked.pem", Ed25519PrivateKey.generate(), b"password")
    key = Key.generate("ES256")
    (tmp_path / "key.jwk").write_bytes(orjson.dumps({**key.private_jwk, "kid": "2026"}))
    (tmp_path / "public.jwk").write_bytes(orjson.dumps(key.public_jwk))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty").touch()
    (tmp_path / "half.jwk").write_text('{"kty":')
    return tmp_path


async def ring_of(*files: SigningKey, clock: Clock) -> FileKeys:
    keys = FileKeys(ring=KeyRing(ALGORITHMS), files=files, policy=lambda: POLICY, now=clock)
    await keys.start()
    return keys


async def test_each_file_signs_with_the_algorithm_that_fits(folder: Path) -> None:
    files = [key_file(folder / name) for name in ("rsa.pem", "ec.pem", "ed.pem")]
    ring = (await ring_of(*files, clock=Clock())).ring
    assert not ring.missing
    assert [ring.signing_key(alg).alg for alg in ALGORITHMS] == list(ALGORITHMS)


async def test_a_jwk_keeps_its_key_id(folder: Path) -> None:
    ring = (await ring_of(key_file(folder / "key.jwk"), clock=Clock())).ring
    assert [key["kid"] for key in json.loads(ring.public_jwks)["keys"]] == ["2026"]
    assert ring.missing == ("RS256", "EdDSA")


async def test_a_file_signs_and_stops_at_its_times(folder: Path) -> None:
    clock = Clock(1000)
    old, new = (
        key_file(folder / "ec.pem", retire_at=2500),
        key_file(folder / "key.jwk", sign_from=2000),
    )
    keys = await ring_of(old, new, clock=clock)
    states = []
    for now in (1000, 2000, 2570):
        clock.time = now
        await keys.refresh()
        states.append(
            (
                keys.ring.signing_key("ES256").kid == "2026",
                len(json.loads(keys.ring.public_jwks)["keys"]),
            )
        )
    assert states == [(False, 2), (True, 2), (True, 2)]
    clock.time = 2700
    await keys.refresh()
    assert len(json.loads(keys.ring.public_jwks)["keys"]) == 1


async def test_a_file_that_is_replaced_signs_with_its_new_key_and_publishes_both(
    folder: Path,
) -> None:
    clock = Clock(1000)
    keys = await ring_of(key_file(folder / "ec.pem"), clock=clock)
    before = keys.ring.signing_key("ES256").kid
    (folder / "ec.pem").write_bytes((folder / "key.jwk").read_bytes())
    keys.read_files()
    await keys.refresh()
    assert keys.ring.signing_key("ES256").kid == "2026"
    assert {key["kid"] for key in json.loads(keys.ring.public_jwks)["keys"]} == {before, "2026"}
    clock.time += POLICY.kept_after
    await keys.refresh()
    assert len(json.loads(keys.ring.public_jwks)["keys"]) == 1


async def test_a_file_that_holds_no_key_any_more_changes_nothing(folder: Path) -> None:
    keys = await ring_of(key_file(folder / "ec.pem"), clock=Clock(1000))
    before = keys.ring.signing_key("ES256").kid
    (folder / "ec.pem").write_bytes(b"half of a k")
    with pytest.raises(KeyFileError):
        keys.read_files()
    await keys.refresh()
    assert keys.ring.signing_key("ES256").kid == before


@pytest.mark.rfc("8725#2.7", "7517#4.2")
async def test_an_encryption_key_decrypts_and_does_not_sign(folder: Path) -> None:
    files = [key_file(folder / name, use="enc") for name in ("ec.pem", "rsa.pem")]
    ring = (await ring_of(*files, clock=Clock())).ring
    published = json.loads(ring.public_jwks)["keys"]
    assert {key["alg"]: key["use"] for key in published} == {
        "ECDH-ES": "enc",
        "RSA-OAEP-256": "enc",
    }
    assert [ring.find(key["kid"]) for key in published] == [None, None]
    assert [len(ring.decryption_keys(key["alg"], key["kid"])) for key in published] == [1, 1]
    assert ring.missing == ALGORITHMS


@pytest.mark.rfc("openid-core#10.2.1")
async def test_an_encryption_key_that_retires_is_hidden_and_decrypts_on(folder: Path) -> None:
    clock = Clock(1000)
    keys = await ring_of(key_file(folder / "ec.pem", use="enc", retire_at=2000), clock=clock)
    states: list[tuple[int, int]] = []
    for clock.time in (1000, 2000, 2199, 2200):
        await keys.refresh()
        published = json.loads(keys.ring.public_jwks)["keys"]
        states.append((len(published), len(keys.ring.decryption_keys("ECDH-ES", None))))
    assert states == [(1, 1), (0, 1), (0, 1), (0, 0)]


@pytest.mark.parametrize(("use", "algorithm"), [("sig", "ECDH-ES"), ("enc", "ES256")])
def test_an_algorithm_belongs_to_its_use(folder: Path, use: str, algorithm: str) -> None:
    with pytest.raises(KeyFileError, match=f"use: {use}"):
        read_key_files([key_file(folder / "ec.pem", use=use, algorithm=algorithm)], ALGORITHMS)


@pytest.mark.parametrize(
    ("name", "algorithm", "reason"),
    [
        ("missing.pem", None, "No such file"),
        ("empty", None, "no unencrypted PEM or JWK key"),
        ("binary", None, "no unencrypted PEM or JWK key"),
        ("half.jwk", None, "no unencrypted PEM or JWK key"),
        ("locked.pem", None, "no unencrypted PEM or JWK key"),
        pytest.param(
            *("short.pem", "RS256", "fewer than 2048 bits"),
            marks=pytest.mark.filterwarnings("ignore:Key size"),
        ),
        ("ec.pem", "RS256", "key for RS256"),
        ("ec.pem", "ES384", "key for ES384"),
        ("public.jwk", None, "a public key"),
    ],
)
def test_a_wrong_file_is_named_with_the_reason(
    folder: Path, name: str, algorithm: str | None, reason: str
) -> None:
    with pytest.raises(KeyFileError, match=reason) as refused:
        read_key_files([key_file(folder / name, algorithm=algorithm)], ALGORITHMS)
    assert str(refused.value).startswith(f"{folder / name}: ")


def test_a_key_may_be_listed_once(folder: Path) -> None:
    with pytest.raises(KeyFileError, match="another file"):
        read_key_files([key_file(folder / "ec.pem"), key_file(folder / "ec.pem")], ALGORITHMS)
