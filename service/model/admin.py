"""The section `admin` of config.yaml: the listener of operators, and its users."""

from __future__ import annotations

import msgspec

from service.model import types

READ, WRITE = "admin.read", "admin.write"
SCOPES = frozenset({READ, WRITE})
"""The scope values of the admin API, where there is one."""


class AdminTls(msgspec.Struct, frozen=True, kw_only=True):
    """TLS of the admin listener itself, if no proxy in front of it does that."""

    certificate: types.FilePath
    """A file with the certificate chain, PEM."""
    private_key: types.FilePath
    """A file with the private key of the certificate, PEM."""


class Admin(msgspec.Struct, frozen=True, kw_only=True):
    """The admin API and the console, on a listener of their own (docs/operations/admin.md). Leave the section out to have neither. It
    makes the scope values admin.read and admin.write, which clients get if they list them."""

    host: types.Hosts = ("127.0.0.1",)
    """The addresses to listen on, one or a list, as server.host."""
    port: types.Port | None = None
    """The port to listen on; required, and neither server.port nor one of the other ports."""
    url: types.WebUrl | None = None
    """The URL by which operators reach the listener, without a path; required. It is the audience (`aud`) of access tokens for the
    admin API, and requests with another Host are refused. https except on loopback, and another host than the issuer's."""
    allowed_users: tuple[types.Condition, ...] = ()
    """The users allowed to use the admin API through a client: all that meet one of the conditions, as with allowed_users of
    clients. Empty: none; clients that act for themselves need no user."""
    readers: tuple[types.Condition, ...] = ()
    """The users that can look at the console. Empty: the writers alone."""
    writers: tuple[types.Condition, ...] = ()
    """The users that can look at the console, and end sessions, grants and factors there. Empty: no user."""
    required_acr: types.Text | None = None
    """The authentication context (acr) that users must meet to change anything; null: none."""
    tls: AdminTls | None = None
    """TLS without a proxy."""
