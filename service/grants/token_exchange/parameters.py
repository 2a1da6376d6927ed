"""Reads the parameters of a token exchange (RFC 8693 §2.1)."""

from __future__ import annotations

import msgspec

from service.model.registry import Registry
from service.protocol.errors import InvalidRequest
from service.protocol.params import Params
from service.protocol.token_types import short_name, uri_of
from service.tokens.granting import TokenRequest

_DEFAULT = uri_of("access_token")


class PresentedToken(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A token of the request, not verified, with the short name of its type."""

    text: str
    type: str


class ExchangeRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A token exchange by an authenticated client that may use the grant."""

    token_request: TokenRequest
    subject: PresentedToken
    actor: PresentedToken | None
    requested_type: str
    """The short name of the type of token that is asked for."""
    targets: tuple[str, ...]
    """Where the new token is to be used: `resource` and `audience` mean the same here."""

    @property
    def client_id(self) -> str:
        return self.token_request.client.client_id

    @property
    def own_resource(self) -> str | None:
        """The API resource that the client is, if it is one."""
        return self.token_request.client.api_resource


def read_request(token_request: TokenRequest, registry: Registry) -> ExchangeRequest:
    """Return the request; InvalidRequest if a parameter is missing or its token type is unknown."""
    params = token_request.params
    subject = PresentedToken(
        text=params.require("subject_token"),
        type=_type_in("subject_token_type", params.require("subject_token_type")),
    )
    requested = params.get("requested_token_type") or _DEFAULT
    return ExchangeRequest(
        token_request=token_request,
        subject=subject,
        actor=_read_actor(params),
        requested_type=_type_in("requested_token_type", requested),
        targets=registry.spell((*params.every("resource"), *params.every("audience"))),
    )


def _read_actor(params: Params) -> PresentedToken | None:
    token, token_type = params.get("actor_token"), params.get("actor_token_type")
    if token is None and token_type is None:
        return None
    if token is None or token_type is None:
        raise InvalidRequest("actor_token and actor_token_type are sent together or not at all")
    return PresentedToken(text=token, type=_type_in("actor_token_type", token_type))


def _type_in(parameter: str, uri: str) -> str:
    name = short_name(uri)
    if name is None:
        raise InvalidRequest(f"{parameter} is not a token type (RFC 8693 section 3)")
    return name
