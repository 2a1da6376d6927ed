"""Reads Authorization, Accept and Retry-After, and writes WWW-Authenticate (RFC 7617, RFC 6750 §3, RFC 9110 §10.2.3, §12.5.1)."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from email.utils import mktime_tz, parsedate_tz

from service.protocol.errors import InvalidClient, MissingToken, OAuthError
from service.protocol.params import Params, form_decoded

MAX_ACCEPT = 1000
"""Characters; a longer Accept header is not read."""

MAX_RETRY_AFTER = 64
"""Characters; a longer Retry-After is not read."""

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?')  # an open quote ends with the header, so this is linear
_QUALITY = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")


def parse_basic_auth(header: str) -> tuple[str, str] | None:
    """Return the name and secret that are form-encoded in a Basic header, or None for another scheme (RFC 6749 §2.3.1)."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, secret = b64decode(encoded.strip(), validate=True).decode().partition(":")
        if not colon:
            raise InvalidClient("the Basic credentials hold no colon")
        name, secret = form_decoded(name), form_decoded(secret)
    except ValueError as error:
        raise InvalidClient("the Basic credentials are not base64 of form-encoded UTF-8") from error
    Params({"client_id": (name,), "client_secret": (secret,)}).refuse_too_long()
    return name, secret


def basic_challenge(realm: str) -> Mapping[str, str]:
    """Ask for Basic credentials (RFC 7617 §2)."""
    return {"WWW-Authenticate": f'Basic realm="{_quote(realm)}", charset="UTF-8"'}


def bearer_challenge(realm: str, error: OAuthError, parameters: str = "") -> Mapping[str, str]:
    """Ask for a bearer token, and name the error unless the request held no token (RFC 6750 §3)."""
    challenge = f'Bearer realm="{_quote(realm)}"'
    if not isinstance(error, MissingToken):
        challenge += f', error="{error.code}", error_description="{_quote(error.description)}"'
    return {"WWW-Authenticate": challenge + parameters}


def token_challenges(
    realm: str,
    error: OAuthError,
    *,
    algorithms: Iterable[str],
    is_dpop: bool,
    parameters: str = "",
) -> Mapping[str, str]:
    """Ask for a bearer or a DPoP-bound token, and name the error of the scheme that was used (RFC 9449 §7.1).

    `parameters` are further ones for that scheme, each after a comma.
    """
    dpop = f'DPoP algs="{" ".join(algorithms)}"'
    if not is_dpop:
        bearer = bearer_challenge(realm, error, parameters)["WWW-Authenticate"]
        return {"WWW-Authenticate": f"{bearer}, {dpop}"}
    named = f'error="{error.code}", error_description="{_quote(error.description)}"'
    return {"WWW-Authenticate": f'Bearer realm="{_quote(realm)}", {dpop}, {named}{parameters}'}


def _quote(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def prefers(accept: str, media_type: str, *, to: str) -> bool:
    """Return whether an Accept header names `media_type`, with no less quality than it gives to `to`.

    A range such as */* names no type: a caller that does not know `media_type` never gets it.
    """
    if len(accept) > MAX_ACCEPT or media_type not in accept.lower():
        return False
    qualities = read_qualities(accept)
    preferred = qualities.get(media_type, 0)
    ranges = (to, f"{to.partition('/')[0]}/*", "*/*")
    usual = next((qualities[each] for each in ranges if each in qualities), 0)
    return preferred > 0 and preferred >= usual


def read_qualities(accept: str) -> Mapping[str, float]:
    """Return the quality of each media or language range; one with a malformed quality is left out."""
    qualities: dict[str, float] = {}
    for entry in _QUOTED.sub("", accept).lower().split(","):
        media_range, *parameters = [part.strip() for part in entry.split(";")]
        weight = next((each[2:] for each in parameters if each.startswith("q=")), "1")
        if _QUALITY.fullmatch(weight):
            qualities[media_range] = float(weight)
    return qualities


def read_retry_after(value: str, *, now: int) -> int | None:
    """Return the seconds of a Retry-After, which has their number or a date; None if it is neither (RFC 9110 §10.2.3, §5.6.7)."""
    if len(value) > MAX_RETRY_AFTER or not value.isascii():
        return None
    if value.isdigit():
        return int(value)
    try:
        date = parsedate_tz(value)
        return None if date is None else max(0, mktime_tz(date) - now)
    except (ValueError, OverflowError):
        return None
