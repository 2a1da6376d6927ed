"""Client identifiers that are URLs of a metadata document (draft-ietf-oauth-client-id-metadata-document-02 §3)."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_LENGTH = 256

_URL = re.compile(
    r"(?P<origin>https://(?P<place>(?P<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]{2,45}\])"
    r"(?::(?!443/)[1-9][0-9]{0,4})?))"
    r"(?P<path>/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)"
)
_DOTS = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)


class ClientIdUrl(NamedTuple):
    """A URL that can be a client_id."""

    url: str
    origin: str
    place: str
    """The host, with its port unless that is 443."""
    host: str

    @property
    def has_port(self) -> bool:
        return self.place != self.host


def parse_client_id_url(client_id: str) -> ClientIdUrl | None:
    """Return its parts; None unless it is https, has a path, and no user information, query, fragment or dot segment.

    A host in capitals and the port 443 would be second names of one client, and are refused.
    """
    found = _URL.fullmatch(client_id) if len(client_id) <= MAX_LENGTH else None
    if found is None or any(map(_DOTS.fullmatch, found["path"].split("/"))):
        return None
    return ClientIdUrl(client_id, found["origin"], found["place"], found["host"])
