"""Is a client one of the sector that it says it is of? (OIDC Core §8.1, OpenID Connect Registration §5)"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from service.model.outgoing import HttpClient, Unreachable
from service.protocol.errors import InvalidClientMetadata

_OK = 200


async def check_sector(
    sector_identifier_uri: str, redirect_uris: Collection[str], http: HttpClient
) -> None:
    """Refuse redirect URIs that are not all in the document at that URI (OpenID Connect Registration §5)."""
    try:
        answer = await http.get(sector_identifier_uri)
    except Unreachable as error:
        raise InvalidClientMetadata("sector_identifier_uri: cannot be fetched") from error
    if answer.status != _OK:
        raise InvalidClientMetadata(
            "sector_identifier_uri: is answered with another status than 200"
        )
    try:
        listed = msgspec.json.decode(answer.body, type=frozenset[str])
    except msgspec.MsgspecError as error:
        raise InvalidClientMetadata("sector_identifier_uri: is no JSON array of URIs") from error
    if not listed.issuperset(redirect_uris):
        raise InvalidClientMetadata(
            "sector_identifier_uri: does not list every one of redirect_uris"
        )
