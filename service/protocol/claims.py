"""Claims: their names, languages and types, and the claims parameter (OIDC Core §5.1, §5.2, §5.5)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import cast

import msgspec

from service.protocol.errors import InvalidRequest
from service.protocol.json_input import JsonRefused, parse_unambiguous_json

MOST_LOCALES = 10

ADDRESS_MEMBERS = frozenset(
    {"formatted", "street_address", "locality", "region", "postal_code", "country"}
)
"""All of them strings (OIDC Core §5.1.1)."""

_STRING_CLAIMS = frozenset(
    {
        "name",
        "given_name",
        "family_name",
        "middle_name",
        "nickname",
        "preferred_username",
        "profile",
        "picture",
        "website",
        "email",
        "gender",
        "birthdate",
        "zoneinfo",
        "locale",
        "phone_number",
    }
)
_VERIFICATIONS = frozenset({"email_verified", "phone_number_verified"})
_ORDINARY_NAME = re.compile(r"[A-Za-z0-9_.:/#-]{1,80}")
_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,6}")


def remove_language(name: str) -> str | None:
    """Return the name without its language, or None if the # is not followed by a language tag."""
    base, mark, tag = name.partition("#")
    return base if not mark or _TAG.fullmatch(tag) else None


def parse_locales(text: str | None) -> tuple[str, ...]:
    """Return the languages in order of preference, without words that are not language tags."""
    tags = dict.fromkeys(tag for tag in (text or "").split() if _TAG.fullmatch(tag))
    return tuple(tags)[:MOST_LOCALES]


def find_claim(claims: Mapping[str, object], name: str, locales: Collection[str]) -> str:
    """Return the name under which the claims hold this one, in the first language that exists (BCP 47 §2.1.1)."""
    if "#" in name:  # it means that language
        return _find_spelling(claims, name) or name
    wanted = (f"{name}#{tag}" for locale in locales for tag in _widen(locale))
    return next((spelled for one in wanted if (spelled := _find_spelling(claims, one))), name)


def find_text(claims: Mapping[str, object], *names: str) -> str | None:
    """Return the first of these claims that is a text; another system may send any value (OIDC Core §5.1)."""
    found = (claims.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), None)


def read_verifications(claims: Mapping[str, object]) -> dict[str, object]:
    """Return another issuer's claims with `email_verified` and `phone_number_verified` as booleans (OIDC Core §5.1).

    Some providers, such as Apple and Amazon Cognito, send "true" and "false"; no other value is true.
    """
    flags = {
        name: claims[name] is True or claims[name] == "true"
        for name in _VERIFICATIONS & claims.keys()
    }
    return {**claims, **flags}


def find_expected_type(name: str, value: object) -> str | None:
    """Return the type of a standard claim, in any language, if the value is of another one."""
    name = name.partition("#")[0]
    if value is None:
        return None
    if name in _STRING_CLAIMS:
        return None if isinstance(value, str) else "a string"
    if name in _VERIFICATIONS:
        return None if isinstance(value, bool) else "true or false"
    if name == "updated_at":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return None if is_number else "a number of seconds"
    if name == "address" and not _is_address(value):
        return "an object whose members such as locality are strings"
    return None


def _is_address(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    members = cast("dict[str, object]", value)
    return all(isinstance(members[name], str) for name in ADDRESS_MEMBERS & members.keys())


def _find_spelling(claims: Mapping[str, object], name: str) -> str | None:
    if name in claims:
        return name
    base, _, tag = name.partition("#")
    same = (known for known in claims if known.startswith(base + "#"))
    return next((known for known in same if known[len(base) + 1 :].lower() == tag.lower()), None)


def _widen(locale: str) -> Iterator[str]:
    """Yield de-AT, then de: a text in a language of wider use will do (RFC 4647 §3.4)."""
    parts = locale.split("-")
    for length in range(len(parts), 0, -1):
        yield "-".join(parts[:length])


class ClaimsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The part of it that an authorization keeps: names for each place, and languages."""

    id_token: tuple[str, ...] = ()
    userinfo: tuple[str, ...] = ()
    locales: tuple[str, ...] = ()
    """The languages preferred for claims, the best one first (OIDC Core §5.2)."""

    @property
    def names(self) -> frozenset[str]:
        """The requested names, whatever their language."""
        return frozenset(name.partition("#")[0] for name in (*self.id_token, *self.userinfo))

    def cut_to(self, names: Collection[str]) -> ClaimsRequest:

        def cut(asked: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in asked if name.partition("#")[0] in names)

        return msgspec.structs.replace(
            self, id_token=cut(self.id_token), userinfo=cut(self.userinfo)
        )


class ClaimRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One requested claim; null requests it without more (OIDC Core §5.5.1)."""

    essential: bool = False
    values: tuple[object, ...] = ()
    """The acceptable values, the best one first; empty for any."""


class ClaimsParameter(msgspec.Struct, frozen=True, kw_only=True):
    """The claims requested in the ID token and at userinfo."""

    id_token: Mapping[str, ClaimRequest]
    userinfo: Mapping[str, ClaimRequest]

    @property
    def acr(self) -> ClaimRequest | None:
        return self.id_token.get("acr")

    @property
    def acr_values(self) -> tuple[str, ...]:
        """The acceptable authentication contexts, the best one first; empty for any."""
        return _read_strings(self.acr, "claims.id_token.acr")

    @property
    def subjects(self) -> tuple[frozenset[str], ...]:
        """Sets of subjects; the user has to be in each of them (OIDC Core §3.1.2.2)."""
        asked = (
            _read_strings(self.id_token.get("sub"), "claims.id_token.sub"),
            _read_strings(self.userinfo.get("sub"), "claims.userinfo.sub"),
        )
        return tuple(frozenset(values) for values in asked if values)


NO_CLAIMS = ClaimsParameter(id_token={}, userinfo={})


def parse_claims(text: str | None) -> ClaimsParameter:
    """Read a claims parameter; unknown members mean nothing (OIDC Core §5.5)."""
    if text is None:
        return NO_CLAIMS
    try:
        parsed = parse_unambiguous_json(text)
    except JsonRefused as refused:
        raise InvalidRequest(f"claims {refused}") from refused
    members = _read_object(parsed, "claims")
    asked = ClaimsParameter(
        id_token=_read_requests(members.get("id_token"), "claims.id_token"),
        userinfo=_read_requests(members.get("userinfo"), "claims.userinfo"),
    )
    _ = asked.acr_values, asked.subjects  # they must be strings
    return asked


def _read_requests(value: object, path: str) -> dict[str, ClaimRequest]:
    if value is None:
        return {}
    requests: dict[str, ClaimRequest] = {}
    for name, one in _read_object(value, path).items():
        shown = name if _ORDINARY_NAME.fullmatch(name) else "(a claim)"  # the caller chose it
        requests[name] = _read_request(one, f"{path}.{shown}")
    return requests


def _read_request(value: object, path: str) -> ClaimRequest:
    if value is None:
        return ClaimRequest()
    members = _read_object(value, path, or_null=True)
    essential, values = members.get("essential", False), members.get("values", [])
    if not isinstance(essential, bool):
        raise InvalidRequest(f"{path}.essential is neither true nor false")
    if not isinstance(values, list):
        raise InvalidRequest(f"{path}.values is not an array")
    one = [members["value"]] if "value" in members else []
    return ClaimRequest(essential=essential, values=(*one, *cast("list[object]", values)))


def _read_object(value: object, path: str, *, or_null: bool = False) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InvalidRequest(f"{path} is not an object{' or null' if or_null else ''}")
    return cast("dict[str, object]", value)


def _read_strings(request: ClaimRequest | None, path: str) -> tuple[str, ...]:
    values = () if request is None else request.values
    if not all(isinstance(value, str) for value in values):
        raise InvalidRequest(f"{path} is asked for with a value that is not a string")
    return cast("tuple[str, ...]", values)
