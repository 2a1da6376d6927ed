"""The settings of an HTTP service of the operator's that knows the users."""

from __future__ import annotations

from typing import Annotated

from service.model import types


class HttpUsers(types.Confidential, frozen=True, kw_only=True):
    """A service of yours that knows the users, and verifies their passwords; docs/users.md describes its two requests."""

    find_url: types.WebUrl
    """The URL that finds a user by user name, subject or e-mail address."""
    verify_url: types.WebUrl
    """The URL that verifies a password."""
    bearer_token: Annotated[str, types.SECRET] = ""
    """A secret that is sent with each request as `Authorization: Bearer`, such as ${file:/run/secrets/users}. Give this, a
    certificate, or both."""
    identities: bool = False
    """true: your service knows who its users are at identity providers, and is asked so at each sign-in there (docs/users.md)."""
    certificate: types.FilePath | None = None
    """A file with the certificate that this service shows to yours (mutual TLS), PEM. It is read again when it has changed."""
    private_key: types.FilePath | None = None
    """A file with the private key of the certificate, PEM; null: it is in the same file."""
