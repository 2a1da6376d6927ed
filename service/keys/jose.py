"""The algorithms with their keys, and signing and verifying JWTs; with `jwe.py` the only file that knows joserfc (RFC 7518)."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from time import monotonic
from typing import Any, NewType

import msgspec
import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateNumbers, RSAPublicNumbers
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, OctKey, RSAKey
from joserfc.jws import JWSRegistry
from joserfc.util import base64_to_int

from service.events.timings import EmitTiming, Signed, ignore_timing
from service.keys.algorithms import ENCRYPTION_ALGORITHMS, KEYS, MAC_ALGORITHMS, MIN_RSA_BITS
from service.protocol import json_input
from service.protocol.authorization_details import PARAMETER
from service.protocol.octets import base64url, decode_base64url

VerifiedClaims = NewType("VerifiedClaims", Mapping[str, object])
"""Claims whose signature was verified, or that come from the service's own store."""

MAX_JWT_LENGTH = 51200
"""Characters; a longer one is refused before any work."""

_ES256, _P256_BYTES = ECDSA(SHA256()), 32
"""The algorithm, and the length of each half of its signature (RFC 7518 §3.4)."""

_RSA_MEMBERS = ("n", "e", "d", "p", "q", "dp", "dq", "qi")

_OPERATIONS: Mapping[str, frozenset[str]] = {
    "RSA": frozenset({"encrypt", "decrypt", "wrapKey", "unwrapKey"}),
    "EC": frozenset({"deriveKey", "deriveBits"}),
}
"""The operations of a key to encrypt to, by its type (RFC 7517 §4.3)."""

_SHORT = f"the key has fewer than {MIN_RSA_BITS} bits"
_SIGNATURES = frozenset({"sign", "verify"})
_DOTS = 2

_encode = msgspec.json.Encoder().encode


class JwtRefused(Exception):
    """A text is not an acceptable JWT; the message names the failed check, for the log only."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key for one algorithm, and so for one use, with its key id (RFC 7517 §4.5); a secret has none."""

    kid: str
    alg: str
    material: Any = field(repr=False)
    """The key of joserfc's."""
    timed: EmitTiming = field(default=ignore_timing, repr=False, compare=False)
    """Receives the duration of each signature."""

    @classmethod
    def generate(cls, alg: str) -> Key:
        """Make a new private key, named by its thumbprint (RFC 7638)."""
        key: Any = JWKRegistry.generate_key(*KEYS[alg])
        return cls(key.thumbprint(), alg, key)

    @classmethod
    def load(cls, source: Mapping[str, Any] | bytes, alg: str, *, is_own: bool = False) -> Key:
        """Read a JWK, its JSON or a PEM; ValueError if it is not a key for `alg`. `is_own`: this service made and sealed it."""
        try:
            key = _read_key(source, alg, is_own=is_own)
        except (JoseError, TypeError, KeyError, AttributeError) as error:
            raise ValueError("not a key that this service understands") from error
        return cls(key.kid or key.thumbprint(), alg, key)

    @classmethod
    def from_secret(cls, secret: str, alg: str) -> Key:
        """Return the key that is a client secret itself; ValueError if it is too short (OIDC Core §10.1)."""
        octets = secret.encode()
        if len(octets) < MAC_ALGORITHMS[alg]:
            raise ValueError(f"a secret for {alg} has at least {MAC_ALGORITHMS[alg]} bytes")
        return cls("", alg, OctKey(octets, octets))

    @property
    def use(self) -> str:
        """`sig` or `enc`, never both (RFC 7517 §4.2, RFC 8725 §2.7)."""
        return "enc" if self.alg in ENCRYPTION_ALGORITHMS else "sig"

    @property
    def is_private(self) -> bool:
        """Whether it can sign or decrypt, not only verify or encrypt."""
        return bool(self.material.is_private)

    @property
    def public_jwk(self) -> dict[str, Any]:
        """The entry in the JWKS (RFC 7517 §4)."""
        public = self.material.as_dict(private=False)
        return {**public, "kid": self.kid, "alg": self.alg, "use": self.use}

    @property
    def private_jwk(self) -> dict[str, Any]:
        """The whole key, not encrypted; it must be before it leaves the process."""
        return {**self.material.as_dict(private=True), "kid": self.kid}

    def derive_secret(self, purpose: bytes) -> bytes:
        """Return a secret of 32 bytes that only holders of this private key can compute, whether they made or loaded it."""
        private = str(self.material.as_dict(private=True)["d"])
        return hmac.digest(private.encode(), purpose, "sha256")

    async def sign(self, claims: Mapping[str, object], *, typ: str) -> str:
        """Return a JWT of these claims (RFC 7519 §7.1)."""
        if self.material.key_type == "RSA":  # a millisecond; the others are faster than the detour
            began = monotonic()
            signed = await asyncio.to_thread(self.sign_at_once, claims, typ=typ)
            seconds = monotonic() - began
        else:
            # With the next pass, so that signatures follow each other: they read tables that are larger than the CPU's first
            # cache, and each time anew they cost a tenth of a request (docs/decisions/keys/batched-signatures.md).
            loop = asyncio.get_running_loop()
            waiting: asyncio.Future[tuple[str, float]] = loop.create_future()
            loop.call_soon(self._sign_into, waiting, claims, typ)
            signed, seconds = await waiting
        self.timed(Signed(self.alg, seconds))
        return signed

    def _sign_into(
        self, waiting: asyncio.Future[tuple[str, float]], claims: Mapping[str, object], typ: str
    ) -> None:
        """Give a JWT, and the seconds that its signature took, to the request that waits for it."""
        if waiting.done():  # the request was cancelled
            return
        began = monotonic()
        try:
            waiting.set_result((self.sign_at_once(claims, typ=typ), monotonic() - began))
        except Exception as error:  # noqa: BLE001 - it is the request's
            waiting.set_exception(error)

    def sign_at_once(self, claims: Mapping[str, object], *, typ: str) -> str:
        """Return a JWT of these claims, in this thread."""
        signed = f"{_header(self.alg, self.kid, typ)}.{base64url(_encode(claims))}"
        return f"{signed}.{base64url(self.sign_bytes(signed.encode()))}"

    def sign_bytes(self, content: bytes) -> bytes:
        """Return the signature in the form of JWS (RFC 7518 §3)."""
        if self.alg != "ES256":
            return JWSRegistry.algorithms[self.alg].sign(content, self.material)
        # Most tokens are signed with ES256, and joserfc's way around costs a quarter of the signature.
        return raw_signature(self.material.raw_value.sign(content, _ES256))

    def verifies(self, signed: bytes, signature: bytes) -> bool:
        try:
            if self.alg != "ES256":
                return JWSRegistry.algorithms[self.alg].verify(signed, signature, self.material)
            self.material.public_key.verify(der_signature(signature), signed, _ES256)
        except (JoseError, ValueError, InvalidSignature):
            return False
        return True


def _read_own_rsa(jwk: Any) -> RSAKey:
    """Take the numbers of a private key as they are: that they fit was seen when it was made, and takes 40 ms to see again."""
    n, e, d, p, q, dp, dq, qi = (base64_to_int(jwk[name]) for name in _RSA_MEMBERS)
    numbers = RSAPrivateNumbers(p, q, d, dp, dq, qi, RSAPublicNumbers(e, n))
    return RSAKey(numbers.private_key(unsafe_skip_rsa_key_validation=True), jwk)


def _read_key(source: Mapping[str, Any] | bytes, alg: str, *, is_own: bool) -> Any:
    """Read a key of joserfc's for this algorithm, by its type, length, curve and own members (RFC 7518 §3.3)."""
    kind, size = KEYS[alg]
    if isinstance(source, bytes) and source.lstrip().startswith(b"{"):
        source = orjson.loads(source)
    if isinstance(source, Mapping):
        source = _read_members(source, alg)
    is_own_rsa = is_own and kind == "RSA"
    key: Any = _read_own_rsa(source) if is_own_rsa else JWKRegistry.import_key(source, kind)
    if kind == "RSA" and key.raw_value.key_size < MIN_RSA_BITS:
        raise ValueError(_SHORT)
    if kind == "OKP" and key.curve_name != size:  # not Ed448, which EdDSA may mean elsewhere
        raise ValueError(f"the key is not one of {size}")
    if alg in ENCRYPTION_ALGORITHMS:
        key.check_use("enc")
        key.check_alg(alg)
    elif not JWSRegistry.filter_algorithms(key, [alg]):
        raise ValueError(f"the key is not one for {alg}")
    return key


def _read_members(jwk: Mapping[str, Any], alg: str) -> dict[str, Any]:
    """Return the members for joserfc, which looks at some of these in another way, or only warns (RFC 7517 §4.1-4.4)."""
    members, (kind, _) = dict(jwk), KEYS[alg]
    operations = members.pop("key_ops", None)  # joserfc accepts one, and browsers export others
    usual = _OPERATIONS[kind] if alg in ENCRYPTION_ALGORITHMS else _SIGNATURES
    if members.get("kty") != kind or (operations and usual.isdisjoint(operations)):
        raise ValueError(f"the key is not one for {alg}")
    if kind == "RSA" and base64_to_int(members["n"]).bit_length() < MIN_RSA_BITS:
        raise ValueError(_SHORT)
    return members


@lru_cache(maxsize=100)  # there are as many as keys and types of tokens
def _header(alg: str, kid: str, typ: str) -> str:
    named = {"kid": kid} if kid else {}
    return base64url(orjson.dumps({"alg": alg, **named, "typ": typ}))


def raw_signature(der: bytes) -> bytes:
    """Return a P-256 signature as its two integers of 32 bytes (RFC 7518 §3.4).

    In DER each has its type and length before it, and no more bytes than it needs, but for the sign. To parse it by
    cryptography's function, which makes two numbers of it, takes five times as long.
    """
    end = 4 + der[3]
    r, s = der[4:end], der[end + 2 :]
    return r[-_P256_BYTES:].rjust(_P256_BYTES, b"\0") + s[-_P256_BYTES:].rjust(_P256_BYTES, b"\0")


def der_signature(raw: bytes) -> bytes:
    """Return the signature that `raw_signature` has made; ValueError for one of another length."""
    if len(raw) != 2 * _P256_BYTES:
        raise ValueError("the signature has another length")
    r, s = (int.from_bytes(half, "big") for half in (raw[:_P256_BYTES], raw[_P256_BYTES:]))
    return encode_dss_signature(r, s)


def looks_like_jwt(token: str) -> bool:
    """Whether the text has three parts and is not too long (RFC 7519 §3)."""
    return len(token) <= MAX_JWT_LENGTH and token.count(".") == _DOTS


def unverified_header(token: str) -> Mapping[str, object]:
    """Return the header of what looks like a JWT, or raise JwtRefused."""
    if not looks_like_jwt(token) or not token.isascii():
        raise JwtRefused("it is too long, or does not have three parts of ASCII")
    return decode_json(token.partition(".")[0])


def unverified_claims(token: str) -> Mapping[str, object]:
    """Return the claims of what looks like a JWT, or raise JwtRefused; the signature is not checked."""
    unverified_header(token)
    return decode_json(token.split(".")[1])


def type_of(header: Mapping[str, object]) -> str:
    """Return the type as all sets of accepted types have it: in small letters, without `application/` (RFC 7515 §4.1.9)."""
    return str(header.get("typ", "")).lower().removeprefix("application/")


def verify(
    token: str, find_key: Callable[[str], Key | None], *, typ: Collection[str]
) -> VerifiedClaims:
    """Return the claims of a JWT that one of the service's keys signed for this purpose (RFC 8725 §3)."""
    header = unverified_header(token)
    if "crit" in header:
        raise JwtRefused("it names critical header parameters")
    if type_of(header) not in typ:
        raise JwtRefused("it is a JWT of another type")
    key = find_key(str(header.get("kid")))
    if key is None or key.alg != header.get("alg"):
        raise JwtRefused("no key of the service has its key id and algorithm")
    return claims_signed_by(key, token)


def claims_signed_by(key: Key, token: str) -> VerifiedClaims:
    """Return the claims if the signature is this key's; the caller checks everything else."""
    signed, _, signature = token.rpartition(".")
    if not key.verifies(signed.encode(), _decode(signature)):
        raise JwtRefused("its signature does not verify")
    return VerifiedClaims(decode_json(signed.partition(".")[2]))


def require_claims(claims: VerifiedClaims, types: Mapping[str, type | tuple[type, ...]]) -> None:
    """Raise JwtRefused if one of these claims is missing or not of its type (RFC 8725 §3.11)."""
    for name, expected in types.items():
        if not isinstance(claims.get(name), expected):
            raise JwtRefused(f"its claim {name} is missing, or not what it has to be")


def _decode(text: str) -> bytes:
    """Decode base64url; other spellings of the same bytes are refused (RFC 7515 §2)."""
    try:
        content = decode_base64url(text)  # which passes over characters that mean nothing
    except ValueError as error:
        raise JwtRefused("a part of it is not base64url") from error
    if base64url(content) != text:
        raise JwtRefused("a part of it is not canonical base64url")
    return content


def decode_json(part: str) -> Mapping[str, object]:
    """Decode the JSON object in a part of a JWT; authorization details in it must have one meaning only (RFC 7515 §2)."""
    decoded = _decode(part)
    try:
        content = json_input.require_object(json_input.parse_json(decoded))
        if PARAMETER in content:
            json_input.require_exact_member(decoded, PARAMETER)
    except json_input.JsonRefused as refused:
        raise JwtRefused(f"a part of it {refused}") from refused
    return content
