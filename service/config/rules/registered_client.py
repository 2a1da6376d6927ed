"""Rules on what a client may register for itself, beyond those on every client (OpenID Connect Registration §2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from service.config.problem import Finding, Location
from service.config.rules.uris import is_loopback, split_uri
from service.config.schema.client import ClientEntry
from service.model.catalogue import Catalogue
from service.protocol.redirect_uri import redirect_hosts
from service.protocol.shown_name import unfit_name

MAX_LENGTH = 2048
"""Characters of one value, but for keys."""

MAX_VALUES = 100
"""Entries of one list."""

SYMMETRIC = ("A128KW", "A256KW", "dir")
"""Encryption by a key that is made of the client's secret (OIDC Core §10.2)."""

SIGNED = (
    "id_token_signed_response_alg",
    "userinfo_signed_response_alg",
    "request_object_signing_alg",
    "token_endpoint_auth_signing_alg",
)
"""Where a client may register an HMAC by its secret (OIDC Core §10.1)."""

ENCRYPTED = (
    "id_token_encrypted_response_alg",
    "userinfo_encrypted_response_alg",
    "request_object_encryption_alg",
)
_SIGNED_HERE = (
    "id_token_signed_response_alg",
    "userinfo_signed_response_alg",
    "introspection_signed_response_alg",
    "authorization_signed_response_alg",
)
_FETCHED = ("jwks_uri",)
_HTTPS_ONLY = ("initiate_login_uri", "request_uris", "sector_identifier_uri")
_SHOWN = ("client_uri", "logo_uri", "policy_uri", "tos_uri")
_TOLD = ("backchannel_logout_uri", "frontchannel_logout_uri")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """What this service has for clients that register themselves."""

    catalogue: Catalogue
    algorithms: tuple[str, ...]
    pairwise: bool
    """Whether there is a salt that pairwise subject identifiers can be made with."""
    decryption: Callable[[], Collection[str]]
    """The algorithms that there are keys to encrypt to for; they come and go with the keys."""


RegistrationRule = Callable[[ClientEntry, Offered], Iterator[Finding]]


def grant_types_are_for_anybody(client: ClientEntry, offered: Offered) -> Iterator[Finding]:
    """A stranger gets the grant types in which nobody's password or token is handed over."""
    known = offered.catalogue.registrable_grant_types
    if not client.allowed_grant_types <= known:
        yield Finding(("allowed_grant_types",), f"expected some of {', '.join(sorted(known))}")


def grant_types_have_response_types(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """authorization_code wants a response type with a code, implicit one with a token (RFC 7591 §2.1)."""
    words = [set(name.split()) for name in client.allowed_response_types or ()]
    if "authorization_code" in client.allowed_grant_types and not any("code" in w for w in words):
        yield Finding(("allowed_response_types",), "authorization_code needs one with code")
    if "implicit" in client.allowed_grant_types and not any(w - {"code"} for w in words):
        yield Finding(("allowed_response_types",), "implicit needs one with id_token or token")


def answers_need_redirect_uris(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """Who uses the authorize endpoint says where answers go (RFC 7591 §2)."""
    if client.allowed_response_types and not client.redirect_uris:
        yield Finding(("redirect_uris",), "is missing")


def redirects_fit_the_application_type(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """Web: https, or loopback without implicit; native: a scheme of its own, loopback or https (§2)."""
    for name in ("redirect_uris", "post_logout_redirect_uris"):
        uris: tuple[str, ...] = getattr(client, name)
        for uri in uris:
            yield from _judged_redirect(client, name, uri)


def _judged_redirect(client: ClientEntry, name: str, uri: str) -> Iterator[Finding]:
    parts = split_uri(uri)
    if parts is None:
        return
    native, loopback = client.application_type == "native", is_loopback(parts.hostname or "")
    if parts.scheme not in {"http", "https"}:
        if not native:
            yield Finding((name,), "a scheme of its own is for application_type native")
        elif "." not in parts.scheme:
            yield Finding((name,), "its scheme is no domain name in reverse (RFC 8252 §7.1)")
    elif parts.scheme == "http" and not loopback:
        yield Finding((name,), "http is for loopback addresses; use https")
    elif loopback and not native and "implicit" in client.allowed_grant_types:
        yield Finding((name,), "a web application with implicit has no loopback address")


def urls_are_encrypted(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """What is fetched, called or linked to is https; on loopback http will do for keys."""
    for name in (*_FETCHED, *_HTTPS_ONLY):
        value = getattr(client, name) or ()
        for url in (value,) if isinstance(value, str) else value:
            parts = split_uri(url)
            host = parts.hostname or "" if parts else ""
            if not url.startswith("https:") and (name in _HTTPS_ONLY or not is_loopback(host)):
                yield Finding((name,), "must be https")


def urls_name_no_user(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """What stands before the @ looks like the host, or is a secret that would be logged (RFC 3986 §7.5, §7.6)."""
    for name in (*_FETCHED, *_HTTPS_ONLY, *_SHOWN, *_TOLD):
        value = getattr(client, name) or ()
        for url in (value,) if isinstance(value, str) else value:
            parts = split_uri(url)
            if parts is not None and "@" in parts.netloc:
                yield Finding((name,), "has user information before its host")


def login_starts_without_fragment(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """Parameters are added to it (OIDC Core §4)."""
    if "#" in (client.initiate_login_uri or ""):
        yield Finding(("initiate_login_uri",), "has no fragment")


def algorithms_are_offered(client: ClientEntry, offered: Offered) -> Iterator[Finding]:
    """The service signs by the algorithms that it has keys for, or by a client's secret (OIDC Core §10.1)."""
    for name in _SIGNED_HERE:
        alg: str | None = getattr(client, name)
        if alg is not None and alg not in offered.algorithms and not alg.startswith("HS"):
            yield Finding((name,), f"{alg} is not supported")


def assertions_fit_the_method(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """client_secret_jwt is for HMAC, private_key_jwt for signatures (OIDC Core §9)."""
    alg, method = client.token_endpoint_auth_signing_alg, client.token_endpoint_auth_method
    if alg is None or method not in {"client_secret_jwt", "private_key_jwt"}:
        return
    if alg.startswith("HS") is not (method == "client_secret_jwt"):
        yield Finding(("token_endpoint_auth_signing_alg",), f"{alg} is not for {method}")


def request_objects_can_be_decrypted(client: ClientEntry, offered: Offered) -> Iterator[Finding]:
    """They are encrypted to a key of the service's, or by the client's secret (OIDC Core §6.1, §10.2)."""
    alg = client.request_object_encryption_alg
    if alg is not None and alg not in {*SYMMETRIC, *offered.decryption()}:
        yield Finding(("request_object_encryption_alg",), f"{alg} is not supported")


def subjects_have_one_sector(client: ClientEntry, offered: Offered) -> Iterator[Finding]:
    """Pairwise subjects need the service's salt, and one host or a document (OIDC Core §8.1)."""
    if client.subject_type != "pairwise":
        return
    if not offered.pairwise:
        yield Finding(("subject_type",), "pairwise is not supported")
    uris = client.redirect_uris
    several = len({redirect_hosts([uri]) for uri in uris}) > 1  # an app's scheme has none
    if client.sector_identifier_uri is None and several:
        message = "is missing: redirect_uris are not all of one host, which would be the sector"
        yield Finding(("sector_identifier_uri",), message)


def texts_do_not_deceive(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """A stranger's words stand on the consent page."""
    unfit = None if client.client_name is None else unfit_name(str(client.client_name))
    if unfit is not None:
        yield Finding(("client_name",), unfit)


def values_are_bounded(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """What a stranger stores is not much, and fits into headers and pages."""
    for name in type(client).model_fields:
        value: object = getattr(client, name)
        if isinstance(value, str) and len(value) > MAX_LENGTH:
            yield Finding((name,), f"is longer than {MAX_LENGTH} characters")
        if isinstance(value, tuple | frozenset):
            yield from _bounded_list((name,), tuple(str(one) for one in value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _bounded_list(location: Location, values: tuple[str, ...]) -> Iterator[Finding]:
    if len(values) > MAX_VALUES:
        yield Finding(location, f"has more than {MAX_VALUES} entries")
    if any(len(value) > MAX_LENGTH for value in values):
        yield Finding(location, f"has an entry of more than {MAX_LENGTH} characters")


RULES: tuple[RegistrationRule, ...] = (
    values_are_bounded,
    answers_need_redirect_uris,
    redirects_fit_the_application_type,
    grant_types_are_for_anybody,
    grant_types_have_response_types,
    urls_are_encrypted,
    urls_name_no_user,
    login_starts_without_fragment,
    algorithms_are_offered,
    assertions_fit_the_method,
    request_objects_can_be_decrypted,
    subjects_have_one_sector,
    texts_do_not_deceive,
)
