"""Rules on the URIs at which a client is told that a session has ended."""

from __future__ import annotations

from collections.abc import Iterator

from service.config.problem import Finding
from service.config.rules.uris import is_loopback, split_uri
from service.config.schema.client import ClientEntry
from service.protocol.redirect_uri import origin_of


def logout_uris_are_encrypted(client: ClientEntry) -> Iterator[Finding]:
    """Nobody on the way reads whose session has ended (OpenID Connect Back-Channel Logout §2.2)."""
    for name in ("frontchannel_logout_uri", "backchannel_logout_uri"):
        uri: str | None = getattr(client, name)
        parts = split_uri(uri) if uri is not None else None
        if parts is None:
            continue
        if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
            yield Finding((name,), "http is for loopback addresses", "use https")
        if "#" in str(uri):
            yield Finding((name,), "has no fragment (OpenID Connect Back-Channel Logout §2.2)")


def frontchannel_logout_is_at_home(client: ClientEntry) -> Iterator[Finding]:
    """Scheme, host and port are those of a redirect URI (OpenID Connect Front-Channel Logout §2)."""
    uri = client.frontchannel_logout_uri
    if uri is not None and origin_of(uri) not in {origin_of(one) for one in client.redirect_uris}:
        message = "its scheme, host and port are not those of a redirect URI"
        yield Finding(
            ("frontchannel_logout_uri",), message, "OpenID Connect Front-Channel Logout §2"
        )
