"""The types of values in config.yaml: their forms, their checks and their JSON Schema."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    JsonValue,
    PlainSerializer,
    PlainValidator,
    TypeAdapter,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError
from pydantic_core.core_schema import with_info_plain_validator_function

from service.model.local_text import LocalText, local_text

T = TypeVar("T")
Network = IPv4Network | IPv6Network

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"([0-9]{1,10})([smhd])")
_MILLISECONDS = re.compile(r"([0-9]{1,6})ms")
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_LONGEST_TEXT = 1000
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,8}")
_JSON_OBJECT = TypeAdapter(dict[str, JsonValue])


def expected(what: str) -> PydanticCustomError:
    """The error that says what was expected; it never repeats the value, which may be a secret."""
    return PydanticCustomError("expected", "expected {what}", {"what": what})


def _duration(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    written = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if written is None:
        raise expected("whole seconds or a duration such as 90s, 15m, 8h or 30d")
    return int(written[1]) * _UNITS[written[2]]


def _timeout(value: object) -> float:
    written = _MILLISECONDS.fullmatch(value) if isinstance(value, str) else None
    return int(written[1]) / 1000 if written else float(_duration(value))


def _timestamp(value: object) -> int:
    if isinstance(value, str) and _RFC_3339.fullmatch(value):
        with suppress(ValueError, OverflowError):
            return int(datetime.fromisoformat(value.upper()).timestamp())
    raise expected("a time such as 2026-11-30T00:00:00Z (RFC 3339)")


def _thirty_two_bytes(text: str) -> bytes | None:
    """Decode hex or base64 of either alphabet; None if these are not 32 bytes."""
    if re.fullmatch(r"[0-9A-Fa-f]{64}", text):
        return bytes.fromhex(text)
    unpadded = text.rstrip("=").replace("+", "-").replace("/", "_")
    try:
        decoded = base64.b64decode(unpadded + "=" * (-len(unpadded) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded if len(decoded) == 32 else None  # noqa: PLR2004 - the length that the name says


def _sha256(value: object) -> bytes:
    digest = _thirty_two_bytes(value) if isinstance(value, str) else None
    if digest is None:
        raise expected(
            "the SHA-256 hash of a secret, 64 hex digits or 44 characters of base64; "
            "`token-service hash-secret` prints it between the quotes"
        )
    return digest


def _encryption_keys(value: object) -> tuple[bytes, ...]:
    listed = cast("list[object]", value) if isinstance(value, list) else [value]
    keys = [_thirty_two_bytes(key) if isinstance(key, str) else None for key in listed]
    if value is not None and None in keys:
        raise expected("32 bytes in base64url; `token-service new-key` makes them")
    return tuple(key for key in keys if key is not None)


def _web_url(value: str) -> str:
    try:
        url = urlsplit(value)
        is_web_url = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        is_web_url = False
    if not is_web_url or re.search(r"[\s\x00-\x1f\x7f]", value):
        raise expected("an absolute http or https URL")
    return value


def _network(value: object) -> Network:
    with suppress(ValueError):
        if isinstance(value, str):
            return ip_network(value)
    form = "a network such as 10.0.0.0/8, with no bits set behind its prefix, or an address"
    raise expected(form)


def _path(value: object, info: ValidationInfo) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        raise expected("a path")
    directory: Path = info.context["directory"] if info.context else Path()
    return directory / value


def _logo(value: object, info: ValidationInfo) -> Path | str:
    if isinstance(value, str) and re.match("https?:", value):
        return _web_url(value)
    return _path(value, info)


def _json_schema(value: object, info: ValidationInfo) -> Path | Mapping[str, object]:
    if not isinstance(value, dict):
        return _path(value, info)
    return _JSON_OBJECT.validate_python(value)


def _texts(value: object) -> str | LocalText:
    if not isinstance(value, dict):
        return _text(value)
    texts = cast("dict[str, object]", value)
    if not texts or not all(_LANGUAGE_TAG.fullmatch(tag) for tag in texts):
        raise expected("text, or texts by language such as {en: Orders, de: Bestellungen}")
    return local_text({tag: _text(text) for tag, text in texts.items()})


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise PydanticKnownError("string_type")
    if not value:
        raise PydanticKnownError("string_too_short", {"min_length": 1})
    if len(value) > _LONGEST_TEXT:
        raise PydanticKnownError("string_too_long", {"max_length": _LONGEST_TEXT})
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise PydanticKnownError("string_unicode") from error
    return value


def _match(pattern: str, what: str) -> AfterValidator:
    """Return a check that says in words what it expects, because a regular expression would puzzle."""
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise expected(what)
        return value

    return AfterValidator(check)


def written_as(*forms: dict[str, object]) -> WithJsonSchema:
    """Return the JSON Schema of a value by the forms in which it may be written."""
    return WithJsonSchema(forms[0] if len(forms) == 1 else {"anyOf": [*forms]})


Many = Annotated[tuple[T, ...], Field(strict=False)]
Several = Annotated[frozenset[T], Field(strict=False)]

_STRING: dict[str, object] = {"type": "string"}
_TEXT_SCHEMA: dict[str, object] = {**_STRING, "minLength": 1, "maxLength": _LONGEST_TEXT}
Duration = Annotated[
    int,
    BeforeValidator(_duration),
    written_as({"type": "integer", "minimum": 0}, {**_STRING, "pattern": r"^[0-9]+[smhd]?$"}),
]
Lifetime = Annotated[Duration, Field(ge=1)]
Timeout = Annotated[
    float,
    BeforeValidator(_timeout),
    Field(gt=0),
    written_as({"type": "integer", "minimum": 1}, {**_STRING, "pattern": r"^[0-9]+(ms|[smhd])?$"}),
]
Timestamp = Annotated[
    int, BeforeValidator(_timestamp), written_as({**_STRING, "format": "date-time"})
]
Sha256 = Annotated[
    bytes, PlainValidator(_sha256), written_as({**_STRING, "pattern": "^[A-Za-z0-9+/_-]{43,64}=?$"})
]
EncryptionKeys = Annotated[
    tuple[bytes, ...],
    PlainValidator(_encryption_keys),
    PlainSerializer(lambda _: None, return_type=None),  # no dump ever shows them
    written_as({"type": "null"}, _STRING, {"type": "array", "items": _STRING}),
]
WebUrl = Annotated[str, AfterValidator(_web_url), written_as({**_STRING, "pattern": "^https?://"})]
NetworkRange = Annotated[Network, PlainValidator(_network), written_as(_STRING)]
FilePath = Annotated[Path, PlainValidator(_path), written_as(_STRING)]
Logo = Annotated[Path | str, PlainValidator(_logo), written_as(_STRING)]
"""A file, or the URL of one."""
JsonSchema = Annotated[
    Path | Mapping[str, object],
    PlainValidator(_json_schema),
    written_as(_STRING, {"type": "object"}),
]
"""A JSON Schema, or the file that has it."""
Port = Annotated[int, Field(ge=0, le=65535)]
Text = Annotated[str, Field(min_length=1, max_length=_LONGEST_TEXT)]
Query = Annotated[str, Field(min_length=1, max_length=10_000)]
Uri = Annotated[str, Field(min_length=1, max_length=2048)]
ShortName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
KeyPrefix = Annotated[
    str, _match(r"[A-Za-z0-9._:-]{1,64}", "1 to 64 letters, digits and . _ : -, such as ts-prod")
]
"""Others are patterns to Redis, by which commands would look for keys that are not there."""
Texts = Annotated[
    str | LocalText,
    PlainValidator(_texts),
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
    dict[str, Annotated[Many[str | int | bool], Field(min_length=1)]], Field(min_length=1)
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


@cache
def adapter_of(section: Any) -> TypeAdapter[object]:
    """Return what checks a section by itself."""
    return TypeAdapter(section)


def built_when_needed(section: Any) -> CoreSchema:
    """Return a schema that builds the section's own with the first value; errors name their places as without it."""

    def check(value: object, info: ValidationInfo) -> object:
        return adapter_of(section).validate_python(value, context=info.context)

    return with_info_plain_validator_function(check, metadata={"section": section})
