"""Rows on certificates: those that prove no client, and tokens that are bound to another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_network
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from tests.driving.authority import DAY, Certified, root, self_signed
from tests.mutual_tls.certificates import (
    AUTHORITY,
    FOREIGN,
    SAN,
    SERVERS_ONLY,
    Make,
    below,
    excluded,
    only,
    with_names,
)
from tests.mutual_tls.conftest import SUBJECT
from tests.refusals.attempts import Redemption, Refresh, outcome_of
from tests.refusals.authorization import Authorize, Push
from tests.refusals.proofs import rsa_key
from tests.refusals.row import Changes, Outcome, refused, with_each
from tests.refusals.world import World

INVALID_CLIENT = (401, "invalid_client")
INVALID_REQUEST = (400, "invalid_request")
WRONG_CREDENTIALS = "the client is unknown or its credentials are wrong"


@dataclass(frozen=True)
class CertifiedClient:
    """A client shows its certificate and gets a token for itself; `right` makes the certificate."""

    client_id: str = "shop"
    right: Callable[[World], Certified] = lambda world: world.authority.issue()
    secret: bool = False
    scope: str = "api1"

    def __str__(self) -> str:
        return f"certificate of {self.client_id}"

    async def hold(self, world: World) -> Certified:
        return self.right(world)

    async def send(self, world: World, held: Certified, **changes: Any) -> Outcome:
        """`shown` makes another certificate, `header` changes the headers with the right one."""
        make: Make | None = changes.pop("shown", lambda _: held)
        headers = {} if make is None else make(world.authority).headers()
        for name, spoil in changes.pop("header", {}).items():
            headers[name] = spoil(held)
        form = {"grant_type": "client_credentials", "scope": self.scope}
        form["client_id"] = self.client_id
        auth = self.client_id if self.secret else None
        answer = await world.service.post(
            "/connect/token", auth=auth, headers=headers, **form | changes
        )
        if answer.error == "invalid_client":
            assert answer["error_description"] == WRONG_CREDENTIALS
        for value in headers.values():
            assert value.encode() not in answer.body
        return outcome_of(answer)


DNS = x509.DNSName("example")
NETWORK = x509.IPAddress(ip_network("2001:db8::/32"))


def slow_key() -> rsa.RSAPrivateKey:
    key = rsa_key(exponent=2**32 + 15).raw_value
    assert isinstance(key, rsa.RSAPrivateKey)
    return key


@cache
def long_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 4104)


OF_NO_AUTHORITY: dict[str, Make] = {
    "expired": lambda ca: ca.issue(since=-3 * DAY, until=-DAY),
    "not valid yet": lambda ca: ca.issue(since=DAY),
    "self-signed": lambda _: self_signed(SUBJECT),
    "of an unknown authority": lambda _: root("CN=another").issue(),
    "of an unknown authority of the same name": lambda _: root("CN=root").issue(),
    "of an unknown authority below": lambda _: root("CN=root").authority("CN=below").issue(),
    "for servers only": lambda ca: ca.issue(extensions=[SERVERS_ONLY]),
    "for any use": lambda ca: ca.issue(
        extensions=[x509.ExtendedKeyUsage([ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE])]
    ),
    "of an authority itself": lambda ca: ca.authority(SUBJECT),
    "of a key that only encrypts": lambda ca: ca.issue(critical=[only("key_encipherment")]),
    "with a critical extension that nobody knows": lambda ca: ca.issue(
        critical=[x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00")]
    ),
    "of an authority with a short RSA key": lambda ca: ca.issue(
        "CN=below",
        critical=[AUTHORITY],
        extensions=(),
        key=rsa.generate_private_key(65537, 1024),  # noqa: S505 - what is tried
    ).issue(),
    "of an authority with an RSA key whose exponent has 33 bits": lambda ca: ca.issue(
        "CN=below",
        critical=[AUTHORITY],
        extensions=(),
        key=slow_key(),
    ).issue(),
    "of an authority with a very long RSA key": lambda ca: ca.issue(
        "CN=below", critical=[AUTHORITY], extensions=(), key=long_key()
    ).issue(),
    "of an authority with an unusual curve": lambda ca: ca.issue(
        "CN=below",
        critical=[AUTHORITY],
        extensions=(),
        key=ec.generate_private_key(ec.SECP256K1()),
    ).issue(),
    "without the authority between": lambda ca: Certified(
        (made := ca.authority("CN=below").issue()).certificate, made.key
    ),
    "of another client": lambda ca: ca.issue("CN=mallory").issue(),
    "of an authority that is none": below(ca=False),
    "of an authority for signatures only": below(only("digital_signature")),
    "of an authority for servers only": below(SERVERS_ONLY),
    "of an authority below one that allows none": lambda ca: (
        ca.authority("CN=1", length=0).authority("CN=2").issue()
    ),
    "of an expired authority": lambda ca: ca.issue(
        "CN=below",
        critical=[AUTHORITY],
        extensions=(),
        since=-3 * DAY,
        until=-DAY,
    ).issue(),
    "of the fourth authority below": lambda ca: (
        ca.authority("CN=1").authority("CN=2").authority("CN=3").authority("CN=4").issue()
    ),
    "of an authority whose subjects are constrained": below(
        excluded(x509.DirectoryName(x509.Name.from_rfc4514_string("O=Example")))
    ),
}


def own_certificate(world: World) -> Certified:
    return world.own


def named(kind: str) -> Callable[[World], Certified]:
    return lambda world: with_names(world.authority, SAN[kind][1])


def of_constrained(kind: str, *names: x509.GeneralName) -> Make:
    """Make a certificate whose authority must not issue to its name."""
    return lambda ca: with_names(ca.authority("CN=below", excluded(*names)), SAN[kind][1])


def headers(value: Callable[[str], str]) -> Mapping[str, Any]:
    """Return a change of one header for each that holds certificates, by what it says of a right one."""
    return {
        name: {"header": {name: lambda held: value(held.headers()["Client-Cert"].strip(":"))}}
        for name in ("Client-Cert", "Client-Cert-Chain")
    }


MALFORMED: Mapping[str, Callable[[str], str]] = {
    "text": lambda _: "malformed",
    "no colons": lambda der: der,
    "one colon": lambda der: f":{der}",
    "a parameter": lambda der: f":{der}:;a=1",
    "not base64": lambda der: f":!{der}:",
    "base64url": lambda _: ":_-_-:",
    "nothing": lambda _: "::",
    "no certificate": lambda _: ":bWFkZSB1cA==:",
    "half a certificate": lambda der: f":{der[: len(der) // 8 * 4]}:",
    "more than a certificate": lambda der: f":{der.rstrip('=')[: len(der) // 4 * 4 - 4]}AAAAAAAA:",
    "PEM": lambda _: "-----BEGIN CERTIFICATE-----",
}
OTHER_SUBJECTS = (
    *("O=Example,CN=shop", "CN=shop", "CN=shop+O=Example"),
    *("CN=shop,O=Example,C=DE", "CN=shops,O=Example"),
)
NOT_NOW: dict[str, Make] = {
    "expired": lambda _: self_signed(since=-3 * DAY, until=-DAY),
    "not valid yet": lambda _: self_signed(since=DAY),
}
NO_CERTIFICATE = {"no certificate": {"shown": None}}
UNSHOWN: Changes = {"without a certificate": {"headers": {}}}
OF_ANOTHER = {"another certificate": {"headers": lambda _: self_signed("CN=app").headers()}}
PROOF = {"a proof as well": {"headers": lambda w: w.own.headers() | w.key.header("/connect/par")}}

ROWS = [
    *refused(
        CertifiedClient(),
        INVALID_CLIENT,
        with_each("shown", OF_NO_AUTHORITY) | NO_CERTIFICATE,
        pytest.mark.rfc("5280#6.1", "8705#2.1"),
    ),
    *refused(
        CertifiedClient(),
        INVALID_CLIENT,
        {name: {"shown": lambda ca, name=name: ca.issue(name)} for name in OTHER_SUBJECTS}
        | {f"for {name}": {"client_id": name} for name in ("nobody", "machine")},
        pytest.mark.rfc("8705#2.1"),
    ),
    *(
        row
        for kind in SAN
        for row in refused(
            CertifiedClient(f"by-{kind}", named(kind)),
            INVALID_CLIENT,
            {
                "another name": {"shown": lambda ca, kind=kind: with_names(ca, FOREIGN[kind])},
                "no name": {"shown": lambda ca: ca.issue("CN=x")},
            },
            pytest.mark.rfc("8705#2.1.2"),
        )
    ),
    *refused(
        CertifiedClient("by-dns", named("dns")),
        INVALID_CLIENT,
        {"a name that its authority must not issue": {"shown": of_constrained("dns", DNS)}},
        pytest.mark.rfc("5280#4.2.1.10"),
    ),
    *refused(
        CertifiedClient("by-ip", named("ip")),
        INVALID_CLIENT,
        {"an address that its authority must not issue": {"shown": of_constrained("ip", NETWORK)}},
        pytest.mark.rfc("5280#4.2.1.10"),
    ),
    *(
        row
        for name, value in MALFORMED.items()
        for row in refused(
            CertifiedClient(),
            INVALID_REQUEST,
            {f"{header} is {name}": change for header, change in headers(value).items()},
            pytest.mark.rfc("9440#2"),
        )
    ),
    *(
        row
        for way in ("by-pem", "by-thumbprint", "by-x5c")
        for row in refused(
            CertifiedClient(way, own_certificate),
            INVALID_CLIENT,
            {
                "another certificate": {"shown": lambda _: self_signed("CN=anything")},
                "of an authority": {"shown": lambda ca: ca.issue()},
                **NO_CERTIFICATE,
            },
            pytest.mark.rfc("8705#2.2"),
        )
    ),
    *refused(
        CertifiedClient("certified-machine", own_certificate, secret=True),
        INVALID_REQUEST,
        with_each("shown", NOT_NOW)
        | NO_CERTIFICATE
        | {"before its scope": {"shown": None, "scope": "unknown"}},
        pytest.mark.rfc("8705#3"),
    ),
    *refused(
        CertifiedClient("certified-machine", own_certificate, secret=True),
        (400, "unsupported_grant_type"),
        {"grant_type before the certificate": {"shown": None, "grant_type": "unknown"}},
    ),
    *refused(
        CertifiedClient("certified-machine", own_certificate, secret=True),
        (400, "invalid_scope"),
        {"an unknown scope": {"scope": "unknown"}},
    ),
    *refused(
        Redemption("certified-web", bound="certificate"),
        INVALID_REQUEST,
        UNSHOWN | {"a proof as well": {"headers": lambda w: w.own.headers() | w.key.header()}},
        pytest.mark.rfc("8705#3"),
    ),
    *refused(
        Refresh("certified-spa", bound="certificate"),
        (400, "invalid_grant"),
        OF_ANOTHER,
        pytest.mark.rfc("8705#4"),
    ),
    *refused(
        Refresh("certified-spa", bound="certificate"),
        INVALID_REQUEST,
        UNSHOWN,
        pytest.mark.rfc("8705#4"),
    ),
    *refused(
        Push("certified-spa", headers=lambda world: world.own.headers()),
        INVALID_REQUEST,
        {"expired": {"headers": lambda _: self_signed(since=-3 * DAY, until=-DAY).headers()}},
        pytest.mark.rfc("8705#4"),
    ),
    *refused(Push("certified-web"), INVALID_REQUEST, PROOF),
    *refused(
        Authorize("certified-web"),
        (303, "invalid_request"),
        {"dpop_jkt": {"dpop_jkt": "x" * 43}},
    ),
]
