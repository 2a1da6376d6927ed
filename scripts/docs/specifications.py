"""The specifications that code and tests cite: how a docstring names them, how a test does, and where they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

RFCS = {
    3339: "Date and Time on the Internet: Timestamps",
    3986: "Uniform Resource Identifier (URI): Generic Syntax",
    4291: "IP Version 6 Addressing Architecture",
    4514: "LDAP: String Representation of Distinguished Names",
    4518: "LDAP: Internationalized String Preparation",
    5280: "Internet X.509 Public Key Infrastructure Certificate and CRL Profile",
    6265: "HTTP State Management Mechanism",
    6454: "The Web Origin Concept",
    6585: "Additional HTTP Status Codes",
    6749: "The OAuth 2.0 Authorization Framework",
    6750: "The OAuth 2.0 Authorization Framework: Bearer Token Usage",
    6761: "Special-Use Domain Names",
    6762: "Multicast DNS",
    6819: "OAuth 2.0 Threat Model and Security Considerations",
    7009: "OAuth 2.0 Token Revocation",
    7239: "Forwarded HTTP Extension",
    7515: "JSON Web Signature (JWS)",
    7516: "JSON Web Encryption (JWE)",
    7517: "JSON Web Key (JWK)",
    7518: "JSON Web Algorithms (JWA)",
    7519: "JSON Web Token (JWT)",
    7521: "Assertion Framework for OAuth 2.0 Client Authentication and Authorization Grants",
    7523: "JWT Profile for OAuth 2.0 Client Authentication and Authorization Grants",
    7591: "OAuth 2.0 Dynamic Client Registration Protocol",
    7592: "OAuth 2.0 Dynamic Client Registration Management Protocol",
    7617: "The 'Basic' HTTP Authentication Scheme",
    7636: "Proof Key for Code Exchange by OAuth Public Clients",
    7638: "JSON Web Key (JWK) Thumbprint",
    7662: "OAuth 2.0 Token Introspection",
    8037: "CFRG Elliptic Curves in JOSE",
    8176: "Authentication Method Reference Values",
    8252: "OAuth 2.0 for Native Apps",
    8375: "Special-Use Domain 'home.arpa.'",
    8414: "OAuth 2.0 Authorization Server Metadata",
    8615: "Well-Known Uniform Resource Identifiers",
    8628: "OAuth 2.0 Device Authorization Grant",
    8693: "OAuth 2.0 Token Exchange",
    8705: "OAuth 2.0 Mutual-TLS Client Authentication and Certificate-Bound Access Tokens",
    8707: "Resource Indicators for OAuth 2.0",
    8725: "JSON Web Token Best Current Practices",
    8941: "Structured Field Values for HTTP",
    8959: 'The "secret-token" URI Scheme',
    9068: "JWT Profile for OAuth 2.0 Access Tokens",
    9101: "JWT-Secured Authorization Request",
    9106: "Argon2 Memory-Hard Function",
    9110: "HTTP Semantics",
    9111: "HTTP Caching",
    9112: "HTTP/1.1",
    9126: "OAuth 2.0 Pushed Authorization Requests",
    9207: "OAuth 2.0 Authorization Server Issuer Identification",
    9325: "Recommendations for Secure Use of TLS and DTLS",
    9396: "OAuth 2.0 Rich Authorization Requests",
    9440: "Client-Cert HTTP Header Field",
    9449: "OAuth 2.0 Demonstrating Proof of Possession (DPoP)",
    9470: "OAuth 2.0 Step Up Authentication Challenge Protocol",
    9493: "Subject Identifiers for Security Event Tokens",
    9700: "Best Current Practice for OAuth 2.0 Security",
    9701: "JWT Response for OAuth Token Introspection",
    10017: "OAuth 2.0 for Browser-Based Applications",
}
"""Titles; an RFC that is missing here is listed by its number alone."""

_OPENID = "https://openid.net/specs/"
OTHERS = {
    "openid-core": ("OpenID Connect Core 1.0", f"{_OPENID}openid-connect-core-1_0.html"),
    "openid-discovery": (
        "OpenID Connect Discovery 1.0",
        f"{_OPENID}openid-connect-discovery-1_0.html",
    ),
    "openid-registration": (
        "OpenID Connect Dynamic Client Registration 1.0",
        f"{_OPENID}openid-connect-registration-1_0.html",
    ),
    "openid-session": (
        "OpenID Connect Session Management 1.0",
        f"{_OPENID}openid-connect-session-1_0.html",
    ),
    "openid-rpinitiated": (
        "OpenID Connect RP-Initiated Logout 1.0",
        f"{_OPENID}openid-connect-rpinitiated-1_0.html",
    ),
    "openid-frontchannel": (
        "OpenID Connect Front-Channel Logout 1.0",
        f"{_OPENID}openid-connect-frontchannel-1_0.html",
    ),
    "openid-backchannel": (
        "OpenID Connect Back-Channel Logout 1.0",
        f"{_OPENID}openid-connect-backchannel-1_0.html",
    ),
    "oauth-multiple-response-types": (
        "OAuth 2.0 Multiple Response Type Encoding Practices",
        f"{_OPENID}oauth-v2-multiple-response-types-1_0.html",
    ),
    "oauth-form-post": (
        "OAuth 2.0 Form Post Response Mode",
        f"{_OPENID}oauth-v2-form-post-response-mode-1_0.html",
    ),
    "openid-prompt-create": (
        "Initiating User Registration via OpenID Connect 1.0",
        f"{_OPENID}openid-connect-prompt-create-1_0.html",
    ),
    "jarm": ("JWT Secured Authorization Response Mode (JARM)", f"{_OPENID}oauth-v2-jarm.html"),
    "ciba": (
        "OpenID Connect Client-Initiated Backchannel Authentication (CIBA)",
        f"{_OPENID}openid-client-initiated-backchannel-authentication-core-1_0.html",
    ),
    "fapi2": ("FAPI 2.0 Security Profile", f"{_OPENID}fapi-security-profile-2_0.html"),
    "fapi-ciba": (
        "FAPI Client Initiated Backchannel Authentication Profile (FAPI-CIBA)",
        f"{_OPENID}openid-financial-api-ciba-ID1.html",
    ),
    "fapi2-message-signing": (
        "FAPI 2.0 Message Signing",
        f"{_OPENID}fapi-message-signing-2_0-final.html",
    ),
    "client-id-metadata-document": (
        "OAuth Client ID Metadata Document (draft)",
        "https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/",
    ),
    "global-token-revocation": (
        "Global Token Revocation (draft)",
        "https://datatracker.ietf.org/doc/draft-parecki-oauth-global-token-revocation/",
    ),
    "rfc7523bis": (
        "Updates to OAuth 2.0 JWT Client Authentication and Assertion-Based Authorization Grants",
        "https://datatracker.ietf.org/doc/draft-ietf-oauth-rfc7523bis/",
    ),
    "webauthn": (
        "Web Authentication: An API for accessing Public Key Credentials, Level 3",
        "https://www.w3.org/TR/webauthn-3/",
    ),
    "oauth21": (
        "The OAuth 2.1 Authorization Framework (draft)",
        "https://datatracker.ietf.org/doc/draft-ietf-oauth-v2-1/",
    ),
}
NAMES = {
    r"(?:OIDC|OpenID Connect) Core": "openid-core",
    r"(?:OIDC|OpenID Connect) Discovery": "openid-discovery",
    r"(?:OIDC|OpenID Connect)(?: Dynamic Client)? Registration": "openid-registration",
    r"(?:OIDC|OpenID Connect) Session Management": "openid-session",
    r"RP-Initiated Logout": "openid-rpinitiated",
    r"Front-Channel Logout": "openid-frontchannel",
    r"Back-Channel Logout": "openid-backchannel",
    r"Multiple Response Types?(?: Encoding Practices)?": "oauth-multiple-response-types",
    r"Form Post Response Mode": "oauth-form-post",
    r"Initiating User Registration via OpenID Connect 1\.0": "openid-prompt-create",
    r"JARM": "jarm",
    r"FAPI-CIBA": "fapi-ciba",
    r"CIBA(?: Core)?": "ciba",
    r"FAPI 2\.0 Message Signing": "fapi2-message-signing",
    r"FAPI 2(?:\.0 Security Profile)?": "fapi2",
    r"OAuth 2\.1": "oauth21",
    r"WebAuthn(?: Level 3)?": "webauthn",
    r"draft-ietf-oauth-rfc7523bis": "rfc7523bis",
    r"draft-ietf-oauth-client-id-metadata-document-02": "client-id-metadata-document",
    r"draft-parecki-oauth-global-token-revocation-06": "global-token-revocation",
}
"""How docstrings name what is no RFC; counted only together with a section."""

_SECTION = r"(?:§|[Aa]ppendix )[0-9A-Z]+(?:\.[0-9A-Z]+)*"
_CITATION = re.compile(
    rf"(?P<name>RFC (?P<rfc>\d+)|{'|'.join(NAMES)})(?P<sections>(?:,? {_SECTION})*)"
)


@dataclass(frozen=True, order=True)
class Section:
    """One section of a specification, or all of it; in a document's order."""

    is_no_rfc: bool
    specification: str
    numbers: tuple[tuple[int, str], ...]

    @property
    def name(self) -> str:
        """As people write it."""
        return ".".join(text or str(number) for number, text in self.numbers)


def section(specification: str, number: str) -> Section:
    """From `6749` and `4.1.2`; letters name appendices and come last."""
    parts = [part for part in number.split(".") if part]
    numbers = tuple((int(part), "") if part.isdigit() else (1000, part) for part in parts)
    return Section(not specification.isdigit(), specification, numbers)


def cited(text: str) -> Iterator[Section]:
    """Every section that a docstring names, as in `RFC 6749 §4.1.2`."""
    for citation in _CITATION.finditer(" ".join(text.split())):
        numbers = [
            one.lstrip("§").split()[-1] for one in re.findall(_SECTION, citation["sections"])
        ]
        for number in numbers or ([""] if citation["rfc"] else []):
            yield section(citation["rfc"] or _key(citation["name"]), number)


def marked(text: str) -> Section:
    """Return the sections that a test names, as in `6749#4.1.2` or `openid-core#11`."""
    specification, _, number = text.partition("#")
    return section(specification, number)


def heading(specification: str) -> str:
    """Title and address of a specification, for a page."""
    if not specification.isdigit():
        title, address = OTHERS.get(specification, (specification, ""))
        return f"[{title}]({address})" if address else title
    number = int(specification)
    name = f"[RFC {number}](https://www.rfc-editor.org/rfc/rfc{number}.html)"
    return f"{name}, {RFCS[number]}" if number in RFCS else name


def _key(name: str) -> str:
    return next(key for pattern, key in NAMES.items() if re.fullmatch(pattern, name))
