"""Reads factors.json: the second factors that people had at another server (docs/second-factors.md, "From another server")."""

from __future__ import annotations

import re
from base64 import b32decode, b32encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from service.clock import clock
from service.identity.factors.enrolment import MAX_NAME
from service.identity.factors.passkey_challenges import MAX_CREDENTIAL_ID, PasskeyRefused
from service.identity.factors.passkeys import MAX_PASSKEYS
from service.identity.factors.totp import STEP
from service.model.factors import Passkey, Totp
from service.model.marks import Confidential
from service.model.user import MAX_SUB
from service.protocol.octets import base64url, decode_base64url
from service.takeover.reading import Unreadable, read_members

VERSION = 1
MAX_USER_HANDLE = 64
"""Bytes (WebAuthn Level 3 §14.6.1)."""

SEED_BYTES = range(16, 129)
"""A shared secret has at least 128 bits (RFC 4226 §4)."""
_SEED = re.compile(r"[A-Za-z2-7]+=*")
_SEED_FILE = re.compile(r"\$\{file:([^{}]+)\}")
_LONGEST_SEED = 1024
_UNKNOWN_MEMBER = re.compile(r"Object contains unknown field `([a-z_]{1,30})`")

_Name = Annotated[str, msgspec.Meta(max_length=MAX_NAME)]
_Seconds = Annotated[int, msgspec.Meta(ge=0, lt=2**40)]
_Count = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_CREDENTIAL_ID)]
_Transport = Annotated[str, msgspec.Meta(pattern="^[a-z-]{1,20}$")]


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    rp_id: str | None = None


class _Totp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    seed: str
    name: _Name = ""
    created_at: _Seconds | None = None
    digits: int = 6
    period: int = STEP
    algorithm: str = "SHA1"


class _Passkey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    credential_id: _Text
    public_key: _Text
    user_handle: _Text
    sign_count: _Count
    transports: Annotated[tuple[_Transport, ...], msgspec.Meta(max_length=8)] = ()
    backup_eligible: bool | None = None
    name: _Name = ""
    created_at: _Seconds | None = None


class _User(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sub: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_SUB)]
    totp: _Totp | None = None
    passkeys: Annotated[tuple[_Passkey, ...], msgspec.Meta(max_length=MAX_PASSKEYS)] = ()


Part = TypeVar("Part", _Header, _User)


class LoadedUser(Confidential, frozen=True, kw_only=True):
    """The second factors that one person had at the other server."""

    sub: str
    totp: Totp | None
    passkeys: tuple[Passkey, ...]


class _Unfit(Exception):
    """A value that cannot be loaded; the arguments are its place in the entry, and the message, which does not repeat it."""


class FactorsFile(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    rp_id: str | None
    """That of this service; None where it has no passkeys."""
    with_passkeys: bool

    def read(self) -> Iterator[LoadedUser | str]:
        """Yield the users, and in place of one that cannot be loaded the problem with its place; read on as far as possible."""
        try:
            yield from self._read()
        except _Unfit as error:
            yield f"{self.path}: {': '.join(error.args)}"
        except Unreadable as error:
            yield str(error)

    def _read(self) -> Iterator[LoadedUser | str]:
        members, known, seen = dict[str, object](), set[int](), set[str]()
        header: _Header | None = None
        for node in read_members(self.path, seen=seen):
            if node.key != "users":
                members[node.key] = node.value
                continue
            header = header or self._read_header(members)
            try:
                yield self._read_user(node.value, header, known)
            except _Unfit as error:
                place, message = error.args
                yield f"{self.path}: {node.place}{place and '.'}{place}: {message}"
        if "users" not in seen:
            raise _Unfit("users", "is missing")
        if header != self._read_header(members):
            raise _Unfit("users", "is not the last member")

    def _read_header(self, members: Mapping[str, object]) -> _Header:
        header = _convert(members, _Header)
        if header.version != VERSION:
            raise _Unfit("version", f"this release reads version {VERSION} alone")
        if self.with_passkeys and header.rp_id not in {None, self.rp_id}:
            ours = "none" if self.rp_id is None else self.rp_id
            hint = "set mfa.webauthn.rp_id, or leave the passkeys out by --without-passkeys"
            message = f"browsers use these passkeys nowhere else; here it is {ours}; {hint}"
            raise _Unfit("rp_id", message)
        return header

    def _read_user(self, value: object, header: _Header, known: set[int]) -> LoadedUser:
        entry = _convert(value, _User)
        _require_first(entry.sub, known)
        passkeys = entry.passkeys if self.with_passkeys else ()
        if passkeys and header.rp_id is None:
            raise _Unfit("passkeys", "the file does not say for which rp_id they are")
        read = [_read_passkey(one, f"passkeys[{at}]") for at, one in enumerate(passkeys)]
        if len({one.credential_id for one in read}) < len(read):
            raise _Unfit("passkeys", "has a credential_id twice")
        totp = None if entry.totp is None else _read_totp(entry.totp, self.path.parent)
        return LoadedUser(sub=entry.sub, totp=totp, passkeys=tuple(read))


def _require_first(sub: str, known: set[int]) -> None:
    """Raise _Unfit for a user with an earlier entry; of 100,000 users the hashes take some megabytes."""
    if not sub.isprintable():
        raise _Unfit("sub", "has characters that cannot be printed")
    if hash(sub) in known:
        raise _Unfit("sub", "the user has an entry before")
    known.add(hash(sub))


def _convert(value: object, part: type[Part]) -> Part:
    """Return the part of the file; raise _Unfit with the place, and without any value."""
    try:
        return msgspec.convert(value, part)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        if message.startswith("Object contains unknown field"):
            known = _UNKNOWN_MEMBER.fullmatch(message)
            message = f"unknown member {known[1]}" if known else "unknown member"
        raise _Unfit(place.strip(".`"), message[:1].lower() + message[1:]) from None


def _read_totp(entry: _Totp, folder: Path) -> Totp:
    if (entry.digits, entry.period, entry.algorithm) != (6, STEP, "SHA1"):
        raise _Unfit("totp", f"only 6 digits, {STEP} seconds and SHA1 can be verified here")
    now = clock()
    return Totp(
        secret=_read_seed(entry.seed, folder),
        name=_read_name(entry.name, "totp"),
        created_at=now if entry.created_at is None else entry.created_at,
        # A code that the other server has accepted just now must not count here, too (RFC 6238 §5.2).
        last_step=now // STEP,
    )


def _read_seed(seed: str, folder: Path) -> str:
    """Return the seed in base32 without padding, which may be in a file of its own."""
    place, written = "totp.seed", _SEED_FILE.fullmatch(seed)
    text = seed if written is None else _read_file(written[1], folder, place)
    if not _SEED.fullmatch(text):
        raise _Unfit(place, "is neither base32 nor ${file:…} of a file that has base32")
    try:
        content = _decode_seed(text)
    except ValueError:
        raise _Unfit(place, "is no base32 of whole bytes") from None
    if len(content) not in SEED_BYTES:
        raise _Unfit(place, f"has not from {SEED_BYTES[0]} to {SEED_BYTES[-1]} bytes")
    return b32encode(content).decode().rstrip("=")


def _decode_seed(text: str) -> bytes:
    unpadded = text.rstrip("=")
    return b32decode(unpadded + "=" * (-len(unpadded) % 8), casefold=True)


def is_seed(text: str) -> bool:
    """Return whether a text is a seed that can be loaded: base32 of a sound length."""
    try:
        return _SEED.fullmatch(text) is not None and len(_decode_seed(text)) in SEED_BYTES
    except ValueError:
        return False


def _read_file(name: str, folder: Path, place: str) -> str:
    path = Path(name)
    if path.is_absolute() or ".." in path.parts:
        raise _Unfit(place, "the file must be below the folder of this one")
    try:
        if not (folder / path).is_file():
            raise _Unfit(place, "there is no such file below the folder of this one")
        with (folder / path).open("rb") as file:
            return file.read(_LONGEST_SEED).decode("ascii").strip()
    except (OSError, ValueError):
        raise _Unfit(place, "the file cannot be read, or is not text") from None


def _read_passkey(entry: _Passkey, place: str) -> Passkey:
    from service.identity.factors.webauthn import read_public_key  # noqa: PLC0415 - a library, for those who have passkeys

    try:
        public_key = read_public_key(entry.public_key)
    except PasskeyRefused:
        hint = "is no COSE key of ES256, EdDSA or RS256 (2048 to 4096 bits)"
        raise _Unfit(f"{place}.public_key", hint) from None
    return Passkey(
        credential_id=_read_octets(entry.credential_id, 1023, f"{place}.credential_id"),
        public_key=public_key,
        user_handle=_read_octets(entry.user_handle, MAX_USER_HANDLE, f"{place}.user_handle"),
        sign_count=entry.sign_count,
        transports=entry.transports,
        backup_eligible=entry.backup_eligible is not False,
        learns_backup_eligible=entry.backup_eligible is None,
        name=_read_name(entry.name, place),
        created_at=clock() if entry.created_at is None else entry.created_at,
    )


def _read_octets(text: str, longest: int, place: str) -> str:
    """Return base64url as this service writes it."""
    try:
        octets = decode_base64url(text)
    except ValueError:
        octets = b""
    if not re.fullmatch("[A-Za-z0-9_-]+", text) or not 0 < len(octets) <= longest:
        raise _Unfit(place, f"is no base64url, without padding, of at most {longest} bytes")
    return base64url(octets)


def _read_name(name: str, place: str) -> str:
    if not name.isprintable():
        raise _Unfit(f"{place}.name", "has characters that cannot be printed")
    return name
