"""Hashes of other systems verify in their own formats, none costs more than a few seconds (RFC 9106, RFC 7914, RFC 8018)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.identity.hashing import matches
from service.model.password_hash import UnusableHash, is_outdated, parse_hash

RFC_7914 = bytes.fromhex(
    "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
    "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
)
"""§11: PBKDF2-HMAC-SHA256 of passwd with salt, once."""


def ab64(content: bytes) -> str:
    return base64.b64encode(content).decode().rstrip("=").replace("+", ".")


def keycloak(how: Mapping[str, object], digest: bytes, *, as_text: bool = True) -> str:
    """A credential as Keycloak exports it."""
    salt = base64.b64encode(b"salt-of-16-bytes").decode()
    secret = {"value": base64.b64encode(digest).decode(), "salt": salt, "additionalParameters": {}}
    parts: dict[str, object] = {"secretData": secret, "credentialData": how}
    if as_text:
        parts = {name: json.dumps(part) for name, part in parts.items()}
    return json.dumps({"id": "6e7c", "type": "password", "createdDate": 1693669854698, **parts})


PBKDF2 = {"hashIterations": 27500, "algorithm": "pbkdf2-sha256", "additionalParameters": {}}
ARGON2 = {
    "hashIterations": 5,
    "algorithm": "argon2",
    "additionalParameters": {
        "hashLength": ["32"],
        "memory": ["7168"],
        "type": ["id"],
        "version": ["1.3"],
        "parallelism": ["1"],
    },
}
OF_SPRING = hashlib.pbkdf2_hmac("sha256", b"password", b"salt-of-16-bytes", 310_000, 32)
OF_KEYCLOAK = hashlib.pbkdf2_hmac("sha256", b"password", b"salt-of-16-bytes", 27500, 64)


def keycloak_of(algorithm: str, function: str, size: int) -> str:
    """A credential at Keycloak's costs of before, to be quick."""
    digest = hashlib.pbkdf2_hmac(function, b"password", b"salt-of-16-bytes", 20_000, size)
    return keycloak({"hashIterations": 20_000, "algorithm": algorithm}, digest)


KNOWN = {
    "argon2id": (
        "password",
        "$argon2id$v=19$m=64,t=1,p=1$+7IKZA8j3rgslMDMZAXo7A$tbUeAqwMDR49GVwXQFbj9QIGoD+LLWos5Ecx3ZByMpI",
    ),
    "argon2i": (
        "password",
        "$argon2i$v=19$m=512,t=2,p=2$aI2R0hpDyLm3ltLa+1/rvQ$LqPKjd6n8yniKtAithoR7A",
    ),
    "bcrypt": ("password", "$2a$05$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe"),
    "scrypt": (
        "password",
        "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E",
    ),
    "PBKDF2": ("passwd", f"$pbkdf2-sha256$1${ab64(b'salt')}${ab64(RFC_7914)}"),
    "Django": (
        "lètmein",
        "pbkdf2_sha256$1000000$seasalt$r1uLUxoxpP2Ued/qxvmje7UH9PUJBkRrvf9gGPL7Cps=",
    ),
    "Keycloak, PBKDF2": ("password", keycloak(PBKDF2, OF_KEYCLOAK)),
    "Keycloak, PBKDF2 with SHA-1": ("password", keycloak_of("pbkdf2", "sha1", 64)),
    "Keycloak, PBKDF2 with SHA-256": ("password", keycloak_of("pbkdf2-sha256", "sha256", 32)),
    "Keycloak, PBKDF2 with SHA-512": ("password", keycloak_of("pbkdf2-sha512", "sha512", 64)),
    "Hydra, SHA-256": (
        "test",
        "$pbkdf2-sha256$i=100000,l=32$1jP+5Zxpxgtee/iPxGgOz0RfE9/KJuDElP1ley4VxXc$QJxzfvdbHYBpydCbHoFg3GJEqMFULwskiuqiJctoYpI",
    ),
    "Hydra, SHA-512": (
        "test",
        "$pbkdf2-sha512$i=100000,l=32$bdHBpn7OWOivJMVJypy2UqR0UnaD5prQXRZevj/05YU$+wArTfv1a+bNGO1iZrmEdVjhA+lL11wF4/IxpgYfPwc",
    ),
    "Keycloak, an object": ("password", keycloak(PBKDF2, OF_KEYCLOAK, as_text=False)),
    "Keycloak, Argon2": (
        "password",
        keycloak(ARGON2, base64.b64decode("7gNJ1R4IKjeKyUaq2RjOmT+c6xrOzhulN2uBeU5dqBY=")),
    ),
    "Django, bcrypt": (
        "password",
        "bcrypt$$2a$05$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe",
    ),
    "Spring, bcrypt": (
        "password",
        "{bcrypt}$2a$05$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe",
    ),
    "Spring, Argon2": (
        "password",
        "{argon2@SpringSecurity_v5_8}$argon2id$v=19$m=64,t=1,p=1$+7IKZA8j3rgslMDMZAXo7A$tbUeAqwMDR49GVwXQFbj9QIGoD+LLWos5Ecx3ZByMpI",
    ),
    "Spring, scrypt": (
        "password",
        "{scrypt}$e0801$8bWJaSu2IKSn9Z9kM+TPXfOc/9bdYSrN1oD9qfVThWEwdRTnO7re7Ei+fUZRJ68k9lTyuTeUp4of4g24hHnazw==$OAOec05+bXxvuu/1qZ6NUR+xQYvYv7BeL1QxwRpY5Pc=",
    ),
    "Spring, PBKDF2": (
        "password",
        "{pbkdf2}5d923b44a6d129f3ddf3e3c8d29412723dcbde72445e8ef6bf3b508fbf17fa4ed4d6b99ca763d8dc",
    ),
    "Spring 5.8, PBKDF2": (
        "password",
        "{pbkdf2@SpringSecurity_v5_8}" + (b"salt-of-16-bytes" + OF_SPRING).hex(),
    ),
    "ASP.NET v2": (
        "my password",
        "AAABAgMEBQYHCAkKCwwNDg+ukCEMDf0yyQ29NYubggHIVY0sdEUfdyeM+E1LtH1uJg==",
    ),
    "ASP.NET v3, SHA-1": (
        "my password",
        "AQAAAAAAAAD6AAAAEAhftMyfTJylOlZT+eEotFXd1elee8ih5WsjXaR3PA9M",
    ),
    "ASP.NET v3, SHA-256": (
        "my password",
        "AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==",
    ),
    "ASP.NET v3, SHA-512": (
        "my password",
        "AQAAAAIAAAAyAAAAEOMwvh3+FZxqkdMBz2ekgGhwQ4B6pZWND6zgESBuWiHw",
    ),
}
"""A password and its hash, as the other system, its library or the RFC gives it."""


@pytest.mark.parametrize(("password", "stored"), KNOWN.values(), ids=list(KNOWN))
def test_the_right_password_verifies_and_no_other(password: str, stored: str) -> None:
    known = parse_hash(stored)
    assert matches(password, known)
    assert not matches(password + "x", known)
    assert is_outdated(known)


UNUSABLE = {
    "nothing": "",
    "plain": "correct horse",
    "MD5": "$1$salt$qJH7.N4xYta3aEG/dfqo/0",
    "Spring, plain": "{noop}correct horse",
    "Spring, no hash": "{noop}$2a$05$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe",
    "Spring, MD5": "{MD5}5f4dcc3b5aa765d61d8327deb882cf99",
    "Spring, SHA-256": "{sha256}97cde38028ad898ebc02e690819fa220e88c62e0699403e94fff291cfffaf8410849f27605abcbc0",
    "Spring, scrypt for days": f"{{scrypt}}$ff0801$c29tZXNhbHQ=${'A' * 43}=",
    "Spring, scrypt without costs": f"{{scrypt}}$0$c29tZXNhbHQ=${'A' * 43}=",
    "Spring, scrypt of three parts": "{scrypt}$e0801$c29tZXNhbHQ=",
    "Spring, PBKDF2 without a digest": "{pbkdf2}5d923b44a6d129f3",
    "unknown version": "$argon2id$v=99$m=64,t=1,p=1$c29tZXNhbHQ$" + "A" * 43,
    "Argon2 without work": "$argon2id$v=19$m=64,t=0,p=1$c29tZXNhbHQ$" + "A" * 43,
    "Argon2 for hours": "$argon2id$v=19$m=65536,t=4000000000,p=1$c29tZXNhbHQ$" + "A" * 43,
    "Argon2 with all memory": "$argon2id$v=19$m=4194304,t=1,p=1$c29tZXNhbHQ$" + "A" * 43,
    "bcrypt for days": "$2b$31$" + "a" * 53,
    "scrypt with all memory": f"$scrypt$ln=22,r=8,p=1$c29tZXNhbHQ${'A' * 43}",
    "scrypt for days": f"$scrypt$ln=10,r=8,p=900000$c29tZXNhbHQ${'A' * 43}",
    "scrypt with a huge exponent": f"$scrypt$ln=99,r=8,p=1$c29tZXNhbHQ${'A' * 43}",
    "PBKDF2 for days": f"$pbkdf2-sha256$4000000000${ab64(b'salt')}${ab64(RFC_7914)}",
    "PBKDF2 of another length": f"$pbkdf2-sha256$i=1,l=31${ab64(b'salt')}${ab64(RFC_7914[:32])}",
    "PBKDF2 as PHC for days": f"$pbkdf2-sha256$i=4000000000,l=64${ab64(b'salt')}${ab64(RFC_7914)}",
    "PBKDF2 with another function": f"$pbkdf2-md5$i=1000,l=64${ab64(b'salt')}${ab64(RFC_7914)}",
    "a digest that some password has": f"$pbkdf2-sha256$1${ab64(b'salt')}${ab64(RFC_7914[:4])}",
    "a long digest": f"$pbkdf2-sha256$1${ab64(b'salt')}${ab64(bytes(1000))}",
    "Django without password": "!abcdefghij",
    "Django for days": "pbkdf2_sha256$9999999999$seasalt$" + base64.b64encode(bytes(32)).decode(),
    "Keycloak with nothing in it": "{}",
    "Keycloak with no JSON": "{",
    "Keycloak with another function": keycloak({**PBKDF2, "algorithm": "pbkdf2-md5"}, bytes(32)),
    "Keycloak for days": keycloak({**PBKDF2, "hashIterations": 10**12}, bytes(32)),
    "nested JSON": "[" * 1500,
    "ASP.NET v2, too short": "AAABAgMEBQYHCAkKCwwNDg+ukCEMDf0yyQ29NYubggE=",
    "ASP.NET v3, too short": "AQAAAAIAAAAyAAAAEOMwvh3+FZxqkdMBz2ekgGhwQ4A=",
    "ASP.NET v3, a salt beyond its end": base64.b64encode(b"\x01" + b"\xff" * 60).decode(),
    "too long": "$2b$05$" + "a" * 5000,
}


@pytest.mark.parametrize("stored", UNUSABLE.values(), ids=list(UNUSABLE))
def test_what_is_no_hash_or_would_take_too_long_is_refused_before_it_is_computed(
    stored: str,
) -> None:
    with pytest.raises(UnusableHash) as refused:
        parse_hash(stored)
    assert not stored or stored not in str(refused.value)


@given(
    st.one_of(
        st.text(max_size=100),
        st.builds(
            lambda stored, at, text: stored[:at] + text + stored[at:],
            st.sampled_from([stored for _, stored in KNOWN.values()]),
            st.integers(0, 80),
            st.text(max_size=3),
        ),
    )
)
def test_any_text_is_a_hash_that_can_be_afforded_or_is_refused(stored: str) -> None:
    try:
        known = parse_hash(stored)
    except UnusableHash:
        return
    assert known.work <= 3_000_000
    assert known.memory <= 256 << 20


def test_bcrypt_reads_as_much_of_a_long_password_as_other_systems_do() -> None:
    stored = parse_hash("$2b$04$abcdefghijklmnopqrstuuAg/vhymG.zjfOvPuw7BgQPjbFV1.SQW")
    assert matches("ä" * 200, stored)
    assert not matches("ä" * 35, stored)


@pytest.mark.parametrize("name", KNOWN)
def test_decoy_costs_as_much_as_the_hash_and_says_nothing_else_of_it(name: str) -> None:
    known = parse_hash(KNOWN[name][1])
    decoy = parse_hash(known.write_decoy())
    assert decoy.shape == known.shape
    other = replace(known, salt=b"another salt", digest=bytes(len(known.digest)))
    assert other.write_decoy() == known.write_decoy()
