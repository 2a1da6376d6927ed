"""The types of values in config.yaml: their forms, their checks and their JSON Schema."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Literal, cast

from msgspec import Meta

from service.model.local_text import LocalText, local_text
from service.model.marks import After, Before, ReadBy, expected, unfit, written_as
from service.protocol.uris import is_web_url

Network = IPv4Network | IPv6Network
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_RFC_3339 = r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"
_LONGEST_TEXT = 1000
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,8}")


def read_text(value: object) -> str:
    """Return a text; raise Unfit for anything else."""
    if not isinstance(value, str):
        raise expected("text", "text", value=value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise unfit("has characters that are no Unicode") from error
    return value


def read_duration(value: object) -> int:
    """Return the seconds of a duration."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    written = re.fullmatch(r"([0-9]{1,10})([smhd])", value) if isinstance(value, str) else None
    if written is None:
        raise expected("whole seconds or a duration such as 90s, 15m, 8h or 30d")
    return int(written[1]) * _UNITS[written[2]]


def _timeout(value: object) -> float:
    written = re.fullmatch(r"([0-9]{1,6})ms", value) if isinstance(value, str) else None
    return int(written[1]) / 1000 if written else float(read_duration(value))


def _timestamp(value: object) -> int:
    if isinstance(value, str) and re.fullmatch(_RFC_3339, value):
        with suppress(ValueError, OverflowError):
            return int(datetime.fromisoformat(value.upper()).timestamp())
    raise expected("a time such as 2026-11-30T00:00:00Z (RFC 3339)")


def _read_bytes(text: str, size: int) -> bytes | None:
    """Decode hex or base64 of either alphabet; None if these are not so many bytes."""
    if re.fullmatch(rf"[0-9A-Fa-f]{{{2 * size}}}", text):
        return bytes.fromhex(text)
    unpadded = text.rstrip("=").replace("+", "-").replace("/", "_")
    try:
        decoded = base64.b64decode(unpadded + "=" * (-len(unpadded) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded if len(decoded) == size else None


def _sha256(value: object) -> bytes:
    digest = _read_bytes(value, 32) if isinstance(value, str) else None
    if digest is None:
        raise expected(
            "the SHA-256 hash of a secret, 64 hex digits or 44 characters of base64; "
            "`token-service hash-secret` prints it between the quotes"
        )
    return digest


def _sha512(value: object) -> bytes:
    digest = _read_bytes(value, 64) if isinstance(value, str) else None
    if digest is None:
        raise expected("the SHA-512 hash of a secret, 128 hex digits or 88 characters of base64")
    return digest


def _encryption_keys(value: object) -> tuple[bytes, ...]:
    listed = cast("list[object]", value) if isinstance(value, list) else [value]
    keys = [_read_bytes(key, 32) if isinstance(key, str) else None for key in listed]
    if value is not None and None in keys:
        raise expected("32 bytes in base64url; `token-service new-key` makes them")
    return tuple(key for key in keys if key is not None)


def _web_url(value: str) -> str:
    if not is_web_url(value):
        raise expected("an absolute http or https URL")
    return value


def _network(value: object) -> Network:
    with suppress(ValueError):
        if isinstance(value, str):
            return ip_network(value)
    form = "a network such as 10.0.0.0/8, with no bits set behind its prefix, or an address"
    raise expected(form)


def _path(value: object) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        raise expected("a path")
    return Path(value)


def _logo(value: object) -> Path | str:
    if not isinstance(value, str):
        raise expected("a path, or an http or https URL")
    return _web_url(value) if re.match("https?:", value) else _path(value)


def _json_schema(value: object) -> Path | Mapping[str, object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value)
    if not isinstance(value, str):
        raise expected("a path, or a JSON Schema as keys and values")
    return _path(value)


def _hosts(value: object) -> object:
    if isinstance(value, str):
        return value.replace(",", " ").split()
    if not isinstance(value, list):
        raise expected("text, or a list of texts", "list", value=value)
    return cast("list[object]", value)


def _texts(value: object) -> str | LocalText:
    if isinstance(value, str):
        return _text(value)
    texts = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    if not texts or not all(_LANGUAGE_TAG.fullmatch(tag) for tag in texts):
        what = "text, or texts by language such as {en: Orders, de: Bestellungen}"
        raise expected(what, "text", value=value)
    return local_text({tag: _text(text) for tag, text in texts.items()})


def _text(value: object) -> str:
    text = read_text(value)
    if not text:
        raise unfit("must not be empty")
    if len(text) > _LONGEST_TEXT:
        raise unfit(f"must have at most {_LONGEST_TEXT} characters")
    return text


def _match(pattern: str, what: str) -> After:
    """Return a check that says in words what it expects, because a regular expression would puzzle."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise expected(what)
        return value

    return After(check)


_STRING: Mapping[str, object] = {"type": "string"}
_TEXT_SCHEMA: Mapping[str, object] = {**_STRING, "minLength": 1, "maxLength": _LONGEST_TEXT}
Duration = Annotated[
    int,
    ReadBy(read_duration),
    written_as({"type": "integer", "minimum": 0}, {**_STRING, "pattern": r"^[0-9]+[smhd]?$"}),
]
Lifetime = Annotated[Duration, Meta(ge=1)]
Timeout = Annotated[
    float,
    ReadBy(_timeout),
    Meta(gt=0),
    written_as({"type": "integer", "minimum": 1}, {**_STRING, "pattern": r"^[0-9]+(ms|[smhd])?$"}),
]
Timestamp = Annotated[int, ReadBy(_timestamp), written_as({**_STRING, "format": "date-time"})]
Sha256 = Annotated[
    bytes, ReadBy(_sha256), written_as({**_STRING, "pattern": "^[A-Za-z0-9+/_-]{43,64}=?$"})
]
Sha512 = Annotated[
    bytes, ReadBy(_sha512), written_as({**_STRING, "pattern": "^[A-Za-z0-9+/_-]{86,128}={0,2}$"})
]
EncryptionKeys = Annotated[
    tuple[bytes, ...],
    ReadBy(_encryption_keys),
    written_as({"type": "null"}, _STRING, {"type": "array", "items": _STRING}),
]
WebUrl = Annotated[str, After(_web_url), written_as({**_STRING, "pattern": "^https?://"})]
NetworkRange = Annotated[Network, ReadBy(_network), written_as(_STRING)]
FilePath = Annotated[Path, ReadBy(_path), written_as(_STRING)]
Logo = Annotated[Path | str, ReadBy(_logo), written_as(_STRING)]
"""A file, or the URL of one."""
JsonSchema = Annotated[
    Path | Mapping[str, object], ReadBy(_json_schema), written_as(_STRING, {"type": "object"})
]
"""A JSON Schema, or the file that has it."""
LinkName = Literal["help", "privacy", "imprint", "forgot_password", "change_password", "register"]
"""The operator's own pages that are linked from ours."""
Port = Annotated[int, Meta(ge=0, le=65535)]

Text = Annotated[str, Meta(min_length=1, max_length=_LONGEST_TEXT)]
_HOST: dict[str, object] = {"type": "string", "minLength": 1}
Hosts = Annotated[
    tuple[Text, ...],
    Before(_hosts),
    Meta(min_length=1),
    written_as(_HOST, {"type": "array", "items": _HOST, "minItems": 1}),
]
"""The addresses to listen on: a list, or a text with commas, which is how a variable has several."""

Query = Annotated[str, Meta(min_length=1, max_length=10_000)]
Uri = Annotated[str, Meta(min_length=1, max_length=2048)]
ShortName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
KeyPrefix = Annotated[
    str, _match(r"[A-Za-z0-9._:-]{1,64}", "1 to 64 letters, digits and . _ : -, such as ts-prod")
]
"""Others are patterns to Redis, by which commands would look for keys that are not there."""
Texts = Annotated[
    str | LocalText,
    ReadBy(_texts),
    written_as(
        _TEXT_SCHEMA, {"type": "object", "minProperties": 1, "additionalProperties": _TEXT_SCHEMA}
    ),
]
"""One text, or one for each language."""
ClientId = Annotated[
    str, _match(r"[\x20-\x7e]{1,256}", "1 to 256 printable ASCII characters (RFC 6749 §A.1)")
]
HostAndPort = Annotated[
    str,
    _match(
        r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?",
        "a host in small letters such as app.example.com, or with its port app.example.com:8443",
    ),
]
ScopeValue = Annotated[
    str,
    _match(
        r"[\x21\x23-\x5b\x5d-\x7e]{1,256}",
        'one scope value: ASCII without spaces, " and \\ (RFC 6749 §3.3)',
    ),
]
PluginName = Annotated[
    str,
    _match(
        r"[A-Za-z_][\w.-]*(:[A-Za-z_]\w*)?",
        "an import path such as my_package.module:MyClass, or an entry point's name",
    ),
]

AttributeName = Annotated[
    str,
    _match(
        r"[A-Za-z][A-Za-z0-9-]*|[0-9]+(\.[0-9]+)+",  # a name or an OID (RFC 4512 §2.5)
        "the name of an attribute, such as uid or memberOf",
    ),
]
Condition = Annotated[
    dict[str, Annotated[tuple[str | int | bool, ...], Meta(min_length=1)]], Meta(min_length=1)
]
"""Claims with the values of which each has to have one."""

SigningAlgorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]
RegisteredAlgorithm = Literal[SigningAlgorithm, "HS256", "HS384", "HS512"]
PublicKeyAlgorithm = Literal[
    "RSA-OAEP", "RSA-OAEP-256", "ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A256KW"
]
KeyManagementAlgorithm = Literal[PublicKeyAlgorithm, "A128KW", "A256KW", "dir"]
ContentEncryption = Literal[
    "A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512", "A128GCM", "A192GCM", "A256GCM"
]
