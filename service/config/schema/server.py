"""The sections on the server, its keys and its limits."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import msgspec

from service.model import marks, types

ForwardedHeader = Literal["X-Forwarded-For", "Forwarded", "auto"]


def _workers(value: object) -> int:
    if value == "auto":
        return os.cpu_count() or 1
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise marks.expected("a number of processes, or auto")


class Tls(msgspec.Struct, frozen=True, kw_only=True):
    """TLS of this service itself, if no proxy in front of it does that."""

    certificate: types.FilePath
    """A file with the certificate chain, PEM."""
    private_key: types.FilePath
    """A file with the private key of the certificate, PEM."""
    client_ca: types.FilePath | None = None
    """A file with the authorities that issue the clients' certificates, PEM (RFC 8705)."""
    mtls_port: types.Port | None = None
    """A further port, at which clients may show certificates of client_ca; null: nowhere. No browser should come here, because
    it would ask its user for a certificate."""


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """The address, the processes and the limits of the server."""

    host: types.Hosts = ("127.0.0.1",)
    """The addresses to listen on, one or a list: `::` for all of the machine, of IPv6 and IPv4 (of IPv4 alone where there is no
    IPv6), 0.0.0.0 for all of IPv4. All ports are there."""
    port: types.Port = 8080
    """The port to listen on."""
    workers: Annotated[
        int,
        marks.ReadBy(_workers),
        marks.written_as({"type": "integer", "minimum": 1}, {"const": "auto"}),
    ] = 1
    """The number of processes; `auto` is one per core."""
    trusted_proxies: tuple[types.NetworkRange, ...] = ()
    """The networks (CIDR) of your proxies. X-Forwarded-*, Forwarded and Client-Cert headers are accepted only from them."""
    gateways: tuple[types.NetworkRange, ...] | None = None
    """The networks (CIDR) of the trusted proxies that may ask /connect/check about a request without the credentials of its API. null:
    all trusted proxies. Leave out one that the public reaches this service through: with it, the public could ask."""
    forwarded_header: ForwardedHeader = "auto"
    """The header in which the trusted proxies write the client's address. `auto` reads both, and ignores both if they name
    different clients, because a proxy that sets one of them passes on the other as the client sent it."""
    client_certificate_header: Literal["Client-Cert", "X-SSL-Cert"] | None = None
    """The header in which a trusted proxy sends the client's certificate: Client-Cert (RFC 9440), or X-SSL-Cert (URL-encoded
    PEM)."""
    tls: Tls | None = None
    """TLS without a proxy."""
    mtls_base_url: types.WebUrl | None = None
    """The URL below which clients with certificates reach this service, if it is not that of the issuer; discovery lists the
    endpoints there as mtls_endpoint_aliases (RFC 8705 §5)."""
    management_port: types.Port | None = None
    """A port of its own for /health/* and /metrics; null: they share `port`."""
    shutdown_grace: types.Duration = 20
    """How long requests may take to finish after SIGTERM."""
    shutdown_linger: types.Duration | None = None
    """The part of shutdown_grace in which the process still accepts requests, but reports that it is not ready. Make it
    longer than your load balancer takes to notice. null: a quarter of the grace, at most 5 s."""
    clock_skew: types.Duration = 30
    """How far the clocks of others, whose tokens are verified, may differ from this one's."""
    max_body_bytes: Annotated[int, msgspec.Meta(ge=1024)] = 65536
    """The largest request body."""

    @property
    def mtls_port(self) -> int | None:
        """The port at which this service itself asks for certificates."""
        return self.tls.mtls_port if self.tls else None

    @property
    def takes_certificates(self) -> bool:
        """Whether certificates of clients can reach this service at all."""
        return self.client_certificate_header is not None or self.mtls_port is not None


class SigningKey(msgspec.Struct, frozen=True, kw_only=True):
    """One of your own keys."""

    path: types.FilePath
    """A file with a private key, PEM or JWK."""
    use: Literal["sig", "enc"] = "sig"
    """sig: it signs tokens; enc: clients encrypt to it."""
    algorithm: str | None = None
    """The only algorithm for this key; null: those that fit its type."""
    sign_from: types.Timestamp | None = None
    """The time at which it begins to sign; it is published before."""
    retire_at: types.Timestamp | None = None
    """The time at which it stops signing; it is still published then."""


class VerifyOnly(msgspec.Struct, frozen=True, kw_only=True):
    """Public keys of the server that this service has replaced."""

    jwks: types.FilePath
    """A file with public keys, as a JWK set (RFC 7517 §5); each has a kid. One without alg is for RS256, or for the algorithm of its curve."""
    until: types.Timestamp
    """The time from which on they verify nothing: when the last token of that server has expired."""


class Signing(marks.Confidential, frozen=True, kw_only=True):
    """The keys that sign tokens, and their rotation."""

    algorithms: Annotated[tuple[types.SigningAlgorithm, ...], msgspec.Meta(min_length=1)] = (
        "RS256",
    )
    """The signature algorithms that clients may choose: RS, PS and ES with 256, 384 or 512, and EdDSA. The first is the
    default."""
    encryption_algorithms: tuple[types.PublicKeyAlgorithm, ...] = ()
    """Algorithms by which every client may encrypt request objects to the service, which has a key for each then. It has one for
    each that a client registers anyway."""
    source: Literal["store", "files"] = "store"
    """store: the service makes and rotates keys, and keeps them encrypted in the store for all replicas. files: you make
    keys, and list them under keys."""
    keys: tuple[SigningKey, ...] = ()
    """Your own keys, for source: files."""
    encryption_key: Annotated[types.EncryptionKeys, marks.SECRET] = ()
    """32 bytes in base64url that encrypt the keys in the store; required with a Redis store. `token-service new-key`
    makes one. To change it, write a list: the first key encrypts, all of them decrypt. Restart all replicas with [old, new], and
    then all with [new, old]. `token-service keys reencrypt` encrypts with the first one what the others did; then remove
    them."""
    verify_only: tuple[VerifyOnly, ...] = ()
    """Keys of the server that this service has replaced, whatever source is: they are published, and tokens of this issuer that they
    verify are accepted. Access tokens of Keycloak, Hydra and IdentityServer are read, and ID tokens as hints."""
    rotate_every: types.Lifetime = 90 * 86400
    """How long a key signs."""
    announce_before: types.Duration = 14 * 86400
    """How long a key is published before it signs."""
    retire_after: types.Duration = 14 * 86400
    """How long a key is published after it has stopped signing."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """The lifetime of sign-ins, and their cookie."""

    lifetime: types.Lifetime = 10 * 3600
    """The session ends when it has not been used for this long."""
    max_lifetime: types.Lifetime = 30 * 86400
    """The session ends at this age at the latest. If the user has chosen "remember me", it does not end earlier; otherwise it
    ends with the browser, too."""
    cookie_name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$")] = "sid"
    """The cookie's name; on https it is prefixed with __Host-, on loopback the port follows."""
    cookie_same_site: Literal["lax", "none"] = "lax"
    """none: the cookie is also sent in frames of other sites, so that they can renew tokens silently; on https only."""


class Dpop(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens that are bound to a key of the client (DPoP, RFC 9449)."""

    proof_lifetime: types.Lifetime = 60
    """How long after it was made a proof is accepted, besides `server.clock_skew`."""
    nonce: Literal["never", "always"] = "never"
    """always: proofs need a nonce of this service, so that none can be made in advance; never: only those of clients with
    `dpop_nonce_required`."""
    nonce_lifetime: types.Lifetime = 60
    """How long a nonce is given out; it is accepted for as long again."""


class Mtls(msgspec.Struct, frozen=True, kw_only=True):
    """Authentication of clients by certificates (mutual TLS, RFC 8705)."""

    client_ca: types.FilePath | None = None
    """A file with the authorities whose certificates tls_client_auth accepts, PEM; null: server.tls.client_ca. The service
    verifies the chain itself, also behind a proxy."""


class Outgoing(msgspec.Struct, frozen=True, kw_only=True):
    """Requests of this service to others: to URLs of clients and to identity providers."""

    timeout: types.Timeout = 5
    """The longest time for one request."""
    ca_file: types.FilePath | None = None
    """A file with further certificate authorities to trust, PEM; a file that changes counts for the next request. Certificates
    may lack extensions that RFC 5280 demands, as those of many private authorities do."""
    allowed_networks: tuple[types.NetworkRange, ...] = ()
    """Private, loopback and link-local networks that URLs of dynamically registered clients and of webhooks may lead to; other URLs
    in this file may lead anywhere."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits against guessing and flooding."""

    login_failures: Annotated[int, msgspec.Meta(ge=1)] = 5
    """How many logins to one account may fail from one address within the window; ten times as many per account from all
    addresses, and per address for all accounts. A success resets the count of the account and address."""
    login_window: types.Lifetime = 900
    """How long a failed login counts."""
    lockout: types.Lifetime = 900
    """How long further logins are refused after too many failures."""
    token_requests_per_minute: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Token requests per client; null is unlimited."""
    parked_requests_per_minute: Annotated[int, msgspec.Meta(ge=1)] | None = 600
    """How many sign-ins and logouts per network may begin and be kept while the user is asked; one of several KiB counts as
    several. What public clients and those that registered themselves have kept counts there, too, by its bytes and its time: two
    KiB for 15 minutes as one. Passkeys are asked for as often, counted apart; beyond that the login page offers none. A network
    is an IPv4 address or an IPv6 /64; a /48 has four times as much. null is unlimited."""
    parked_bytes: Annotated[int, msgspec.Meta(ge=65536)] | None = None
    """How many bytes of the store clients that registered themselves, or have a metadata document, may fill with requests and used
    assertions in a minute, all together; what stays longer than a minute counts as many times. null: a twentieth of
    Redis' maxmemory, or 64 MiB if it sets no limit."""
    parked_bytes_per_client: Annotated[int, msgspec.Meta(ge=65536)] | None = None
    """The same for one of them that has a secret or a key, and for all of them from one IPv4 address or IPv6 /48. null: a tenth of
    parked_bytes."""
    registrations_per_day: Annotated[int, msgspec.Meta(ge=1)] | None = 1000
    """How many clients may be registered from one network in a day where anyone may; one of several KiB counts as several. null is
    unlimited."""
    registered_bytes: Annotated[int, msgspec.Meta(ge=65536)] | None = None
    """How many bytes of the store these registrations may fill within `registration.client_lifetime`, all together; those from one
    IPv4 address or IPv6 /48 a tenth of it. null: a tenth of Redis' maxmemory, or 128 MiB if it sets no limit."""
    revocations_per_minute: Annotated[int, msgspec.Meta(ge=1)] | None = 600
    """How many users a client or an identity provider may have signed out everywhere (global token revocation); a network may fail as
    often to authenticate. null is unlimited."""
    device_codes_per_session: Annotated[int, msgspec.Meta(ge=1)] = 5
    """How many wrong user codes of devices may be entered in one browser within ten minutes."""
    device_codes_per_address: Annotated[int, msgspec.Meta(ge=1)] = 10
    """How many wrong user codes of devices may be entered from one network within ten minutes."""
    device_codes_per_minute: Annotated[int, msgspec.Meta(ge=1)] = 1000
    """How many wrong user codes of devices may be entered by everybody."""
