"""The metadata that clients may register, and the record of a registered client (RFC 7591 §2, OpenID Connect Dynamic Client Registration §2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, get_args, get_type_hints

from service.model import marks, types
from service.model.client_entry import ClientEntry, Mark, RegisteredAs
from service.model.handle import new_selector

_CLIENT_ID = re.compile(r"dc_([A-Za-z0-9_-]{16})")


@cache
def _parts() -> Mapping[str, tuple[object, ...]]:
    """Return the types and marks of each key, with those of its alternatives and items."""

    def parts_of(annotation: object) -> Iterator[object]:
        yield annotation
        for each in get_args(annotation):
            yield from parts_of(each)

    hints = get_type_hints(ClientEntry, include_extras=True)
    return {key: tuple(parts_of(hints[key])) for key in ClientEntry.__struct_fields__}


@cache
def marked(mark: Mark) -> tuple[str, ...]:
    """Return the keys of which this is true."""
    if mark is Mark.SIGNED_RESPONSE:
        return tuple(key for key in _parts() if key.endswith("_signed_response_alg"))
    standing_for_it: Mapping[Mark, tuple[object, ...]] = {
        Mark.URL: (types.WebUrl,),
        Mark.SIGNATURE: (types.RegisteredAlgorithm, types.SigningAlgorithm),
        Mark.HMAC: (types.RegisteredAlgorithm,),
        Mark.ENCRYPTION: (types.KeyManagementAlgorithm,),
        Mark.CONTENT_ENCRYPTION: (types.ContentEncryption,),
    }
    wanted = standing_for_it.get(mark, (mark,))
    return tuple(
        key
        for key, parts in _parts().items()
        if any(part is one for part in parts for one in wanted)
    )


@cache
def registered_names() -> Mapping[str, str]:
    """Return the keys that a client may register, by their registered names."""
    return {
        next((one.name for one in _parts()[key] if isinstance(one, RegisteredAs)), key): key
        for key in marked(Mark.REGISTRABLE)
    }


class RegisteredClient(marks.Confidential, frozen=True, kw_only=True):
    """The metadata in force by their registered names, and the hashes of the client's credentials."""

    client_id: str
    issued_at: int
    expires_at: int | None
    """When client and secret expire; None if they do not."""
    metadata: Mapping[str, object]
    access_token_digest: str
    """The hash of the registration access token, which is not stored (RFC 7592 §1.2)."""
    secret_sha256: Annotated[bytes | None, marks.SECRET]
    sealed_secret: Annotated[str | None, marks.SECRET]
    """The encrypted secret, only where one of the client's algorithms needs its value."""


def new_client_id() -> str:
    """Return a new id, which holds the selector of the client's record."""
    return f"dc_{new_selector()}"


def selector_of(client_id: str) -> str | None:
    """Return the selector of the client's record; None if the id is not of a dynamically registered client."""
    match = _CLIENT_ID.fullmatch(client_id)
    return match[1] if match else None
