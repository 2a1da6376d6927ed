"""Rules on clients that register dynamically, besides those on all clients (OpenID Connect Registration §2)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet

import msgspec

from service.config.problem import Finding
from service.keys.algorithms import SECRET_ALGORITHMS
from service.model.catalogue import Catalogue, Credential
from service.model.client_entry import ClientEntry, Mark
from service.model.client_metadata import marked
from service.model.grant_types import WITHOUT_REDIRECT_URI
from service.model.polling import CIBA
from service.protocol.redirect_uri import redirect_hosts
from service.protocol.typed_text import INVISIBLE
from service.protocol.uris import is_loopback, split_uri

MAX_LENGTH = 2048
"""Characters of one value, except keys."""
MAX_NAME = 80
"""Characters of the name that a client chose for itself."""
MAX_VALUES = 100
"""Entries of one list."""
_SYSTEM_SCHEME = re.compile(
    r"ms-.+|search-ms|itms.*|facetime.*|shell|tel|sms|market|geo|maps|urn|git|ldaps?|nfs|rdp|sftp|smb|ssh|telnet|vnc"
)
"""Schemes that open a program of the operating system, or that IANA registered for something else (RFC 7595 §3.8)."""
_BLANK = "\u2800"
"""The Braille pattern without a dot: Unicode calls it a symbol, and it looks like a space."""


class Offered(msgspec.Struct, frozen=True, kw_only=True):
    """The choices of clients that register dynamically."""

    catalogue: Catalogue
    algorithms: tuple[str, ...]
    pairwise: bool
    """Whether there is a salt for pairwise subject identifiers."""
    details_types: Callable[[], AbstractSet[str]]
    """Returns the types of authorization_details; they change with the registry."""
    decryption: Callable[[], Collection[str]]
    """Returns the algorithms by which this service can decrypt; they change with its keys."""
    pushed_requests: bool
    """Whether requests can be pushed (RFC 9126)."""
    certificates: Callable[[ClientEntry], Iterable[Finding]]
    """Finds what the client needs a certificate for that cannot reach this service."""


RegistrationRule = Callable[[ClientEntry, Offered], Iterator[Finding]]


def grant_types_and_response_types_fit(client: ClientEntry, offered: Offered) -> Iterator[Finding]:
    """Grant types are registrable, and have the response types and redirect URIs that they need (RFC 7591 §2.1)."""
    grant_types, known = client.allowed_grant_types, offered.catalogue.registrable_grant_types
    words = [set(name.split()) for name in client.allowed_response_types or ()]
    if client.allowed_response_types and not client.redirect_uris:
        yield Finding(("redirect_uris",), "is missing")
    if not grant_types <= known:
        yield Finding(("allowed_grant_types",), f"expected some of {', '.join(sorted(known))}")
    if "authorization_code" in grant_types and not any("code" in each for each in words):
        yield Finding(("allowed_response_types",), "authorization_code needs one with code")
    if "implicit" in grant_types and not any(each - {"code"} for each in words):
        yield Finding(("allowed_response_types",), "implicit needs one with id_token or token")


def nobody_is_a_client_by_rule(client: ClientEntry, offered: Offered) -> Iterator[Finding]:
    """A method for clients whom the rules of the operator recognise is for nobody else."""
    method = client.token_endpoint_auth_method or ""
    if offered.catalogue.client_auth_methods.get(method) is Credential.RULE:
        yield Finding(("token_endpoint_auth_method",), f"{method} cannot be registered")


def ciba_names_its_mode(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """A client says whether it polls or gets pings (CIBA Core §4)."""
    if CIBA in client.allowed_grant_types and client.backchannel_token_delivery_mode is None:
        yield Finding(("backchannel_token_delivery_mode",), "is missing: poll or ping")


def redirects_fit_the_application_type(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """Web: https, or loopback without implicit; native: a scheme of its own, loopback or https (§2).

    Many applications have a scheme without a dot, which another one may claim as well (RFC 8252 §7.1): the log has a warning.
    """
    native, implicit = client.application_type == "native", "implicit" in client.allowed_grant_types
    for name in ("redirect_uris", "post_logout_redirect_uris"):
        for parts in filter(None, map(split_uri, getattr(client, name))):
            is_web, loopback = parts.scheme in {"http", "https"}, is_loopback(parts.hostname or "")
            if not is_web and not native:
                yield Finding((name,), "a scheme of its own is for application_type native")
            elif _SYSTEM_SCHEME.fullmatch(parts.scheme):
                yield Finding((name,), "its scheme belongs to the system, not to the application")
            elif parts.scheme == "http" and not loopback:
                yield Finding((name,), "http is for loopback addresses; use https")
            elif is_web and loopback and implicit and not native:
                yield Finding((name,), "a web application with implicit has no loopback address")


def urls_are_safe(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """URLs are https (keys may be on loopback) and have no user information, which would pass for the host (RFC 3986 §7.5, §7.6)."""
    for name in marked(Mark.URL):
        value = getattr(client, name) or ()
        for url in (value,) if isinstance(value, str) else value:
            parts = split_uri(url)
            host = parts.hostname or "" if parts else ""
            must_be_https = name in marked(Mark.HTTPS_ONLY) or (
                name == "jwks_uri" and not is_loopback(host)
            )
            if must_be_https and not url.startswith("https:"):
                yield Finding((name,), "must be https")
            if parts is not None and "@" in parts.netloc:
                yield Finding((name,), "has user information before its host")
    if "#" in (client.initiate_login_uri or ""):
        yield Finding(("initiate_login_uri",), "has no fragment")


def requests_can_be_pushed(client: ClientEntry, offered: Offered) -> Iterator[Finding]:
    """No client has to push requests that nothing takes (RFC 9126 §6)."""
    if client.require_pushed_authorization_requests and not offered.pushed_requests:
        yield Finding(("require_pushed_authorization_requests",), "is not supported")


def algorithms_are_offered(client: ClientEntry, offered: Offered) -> Iterator[Finding]:
    """The service has keys for the algorithms, or uses the client's secret (OIDC Core §6.1, §9, §10.1, §10.2)."""
    for name in marked(Mark.SIGNED_RESPONSE):
        alg: str | None = getattr(client, name)
        if alg is not None and alg not in offered.algorithms and not alg.startswith("HS"):
            yield Finding((name,), f"{alg} is not supported")
    alg, method = client.token_endpoint_auth_signing_alg, client.token_endpoint_auth_method
    by_secret = method == "client_secret_jwt"
    if alg and (by_secret or method == "private_key_jwt") and alg.startswith("HS") is not by_secret:
        yield Finding(("token_endpoint_auth_signing_alg",), f"{alg} is not for {method}")
    alg = client.request_object_encryption_alg
    if alg is not None and alg not in {*SECRET_ALGORITHMS, *offered.decryption()}:
        yield Finding(("request_object_encryption_alg",), f"{alg} is not supported")


def certificates_can_be_shown(client: ClientEntry, offered: Offered) -> Iterator[Finding]:
    """A client that needs a certificate can show it (RFC 8705 §2, §3)."""
    for finding in offered.certificates(client):
        if finding.severity == "error":
            yield Finding(finding.location, finding.message.partition(":")[0])


def subjects_have_one_sector(client: ClientEntry, offered: Offered) -> Iterator[Finding]:
    """Pairwise subjects need the service's salt, and one host or a document (OIDC Core §8.1)."""
    if client.subject_type != "pairwise":
        return
    if not offered.pairwise:
        yield Finding(("subject_type",), "pairwise is not supported")
    others = client.allowed_grant_types & WITHOUT_REDIRECT_URI
    if others:  # then the client is a sector of its own
        if client.sector_identifier_uri is not None:
            message = f"is not for {min(others)}, which uses no redirect URI of the sector"
            yield Finding(("sector_identifier_uri",), message)
        return
    uris = client.redirect_uris
    several = len({redirect_hosts([uri]) for uri in uris}) > 1  # an app's scheme has none
    if client.sector_identifier_uri is None and several:
        message = "is missing: redirect_uris are not all of one host, which would be the sector"
        yield Finding(("sector_identifier_uri",), message)


def authorization_details_types_are_known(
    client: ClientEntry, offered: Offered
) -> Iterator[Finding]:
    """The service knows every type that the client may use (RFC 9396 §10)."""
    types = client.authorization_details_types or ()
    if not offered.details_types() >= set(types):
        yield Finding(("authorization_details_types",), "holds a type that is not supported")


def values_are_bounded(client: ClientEntry, _: Offered) -> Iterator[Finding]:
    """Values fit into headers and pages, take little room, and do not deceive users on the consent page."""
    for name in client.__struct_fields__:
        value: object = getattr(client, name)
        if isinstance(value, str) and len(value) > MAX_LENGTH:
            yield Finding((name,), f"is longer than {MAX_LENGTH} characters")
        if isinstance(value, tuple | frozenset):
            lengths = [len(str(one)) for one in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            if len(lengths) > MAX_VALUES:
                yield Finding((name,), f"has more than {MAX_VALUES} entries")
            if max(lengths, default=0) > MAX_LENGTH:
                yield Finding((name,), f"has an entry of more than {MAX_LENGTH} characters")
    unfit = None if client.client_name is None else unfit_name(str(client.client_name))
    if unfit is not None:
        yield Finding(("client_name",), unfit)


def unfit_name(name: str) -> str | None:
    """Return what is wrong with a name that users will read, if anything (OpenID Connect Registration §2)."""
    if len(name) > MAX_NAME:
        return f"is longer than {MAX_NAME} characters"
    if INVISIBLE.search(name):
        return "has characters that cannot be seen"
    if not any(unicodedata.category(each)[0] in "LNPS" and each != _BLANK for each in name):
        return "has nothing in it that can be seen"
    return None


RULES: tuple[RegistrationRule, ...] = (
    values_are_bounded,
    redirects_fit_the_application_type,
    grant_types_and_response_types_fit,
    ciba_names_its_mode,
    nobody_is_a_client_by_rule,
    urls_are_safe,
    requests_can_be_pushed,
    algorithms_are_offered,
    certificates_can_be_shown,
    subjects_have_one_sector,
    authorization_details_types_are_known,
)
