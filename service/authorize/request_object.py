"""Requests that come as a JWT: opened, verified, merged with what stands beside it (OIDC Core §6, RFC 9101)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import structlog

from service.authorize.request_parameters import parameters_in
from service.authorize.request_uri import RequestUris
from service.clients.keys import ClientKeys
from service.keys.algorithms import MAC_ALGORITHMS, SIGNING_ALGORITHMS
from service.keys.jose import (
    JwtRefused,
    check_times,
    unverified_claims,
    unverified_header,
)
from service.keys.jwe import CONTENT_ENCRYPTION, SECRET_ALGORITHMS, looks_encrypted
from service.model.client import Client
from service.protocol.errors import InvalidRequest, InvalidRequestObject, OAuthError
from service.protocol.params import Params

log = structlog.stdlib.get_logger(__name__)

ALGORITHMS = (*SIGNING_ALGORITHMS, *MAC_ALGORITHMS)
"""Any of them will do for a client that registered none in particular."""

UNSIGNED = "none"

_TYP = frozenset({"jwt", "oauth-authz-req+jwt"})
_CARRIERS = frozenset({"request", "request_uri"})

Claims = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Merged:
    """The parameters that count, as far as they can be believed, and what is wrong with them."""

    params: Params
    refusal: OAuthError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestObjects:
    """Finds the request object of a request, and makes plain parameters of both."""

    issuer: str
    keys: ClientKeys
    uris: RequestUris
    clock_skew: int
    now: Callable[[], int]

    def metadata(self) -> Mapping[str, object]:
        """What is understood (OpenID Connect Discovery §3, RFC 9101 §10.5)."""
        return {
            "request_parameter_supported": True,
            "request_uri_parameter_supported": True,
            "require_request_uri_registration": True,
            "require_signed_request_object": False,
            "request_object_signing_alg_values_supported": list(ALGORITHMS),
            "request_object_encryption_alg_values_supported": [
                *self.keys.ring.encryption_algorithms,
                *SECRET_ALGORITHMS,
            ],
            "request_object_encryption_enc_values_supported": list(CONTENT_ENCRYPTION),
        }

    async def merged(self, sent: Params, client: Client, *, client_address: str) -> Merged:
        """What was sent and what the object says; the latter alone where the client wants that.

        A refusal that comes after the signature has been verified can go where the object says.
        """
        try:
            claims = await self._claims(sent, client, client_address)
            if claims is None:
                return Merged(sent)
            params = _merge(sent, claims, alone=client.require_signed_request_object)
        except OAuthError as refusal:
            return Merged(sent, refusal)
        try:
            self._check(claims, sent, client)
        except InvalidRequestObject as refusal:
            return Merged(params, refusal)
        return Merged(params)

    async def _claims(self, sent: Params, client: Client, client_address: str) -> Claims | None:
        """The verified content of the object, None where there is none."""
        text = await self._text(sent, client, client_address)
        if text is None:
            if client.require_signed_request_object:
                raise InvalidRequest("the client has to send its request as a signed object")
            return None
        try:
            return await self._verified(text, client)
        except JwtRefused as refused:
            log.info("request object refused", client_id=client.client_id, reason=str(refused))
            raise InvalidRequestObject("the request object cannot be verified") from refused

    async def _text(self, sent: Params, client: Client, client_address: str) -> str | None:
        """The object as it was sent, or fetched for a request that says nothing twice."""
        if _CARRIERS & sent.values.keys():
            sent.refuse_repeated()
        match sent.get("request"), sent.get("request_uri"):
            case None, None:
                return None
            case str(by_value), None:
                return by_value
            case None, str(uri):
                return await self.uris.fetch(uri, client, client_address=client_address)
            case _:
                raise InvalidRequest("request and request_uri exclude each other")

    async def _verified(self, text: str, client: Client) -> Claims:
        """The claims, signed as the client registered it, encrypted or not (OpenID Connect Registration §2)."""
        if looks_encrypted(text):
            text = await self.keys.decrypt(text, client)
        registered = client.request_object_signing_alg
        if registered == UNSIGNED and not client.require_signed_request_object:
            return _unsigned(text)
        algorithms = ALGORITHMS if registered is None else (registered,)
        return await self.keys.verify(text, client, algorithms=algorithms, typ=_TYP)

    def _check(self, claims: Claims, sent: Params, client: Client) -> None:
        """From whom, for whom, when, and in agreement with what is outside (RFC 9101 §4, OIDC Core §6.1)."""
        if claims.get("iss") not in (None, client.client_id):
            raise InvalidRequestObject("iss of the request object is not the client_id")
        audience = claims.get("aud")
        listed = cast("list[object]", audience) if isinstance(audience, list) else [audience]
        if audience is not None and self.issuer not in listed:
            raise InvalidRequestObject("aud of the request object is not this service")
        if _CARRIERS & claims.keys():
            raise InvalidRequestObject("a request object holds no request and no request_uri")
        _check_agreement(claims, sent, alone=client.require_signed_request_object)
        try:
            check_times(claims, now=self.now(), clock_skew=self.clock_skew)
        except JwtRefused as refused:
            raise InvalidRequestObject(f"the request object does not count: {refused}") from refused


def _check_agreement(claims: Claims, sent: Params, *, alone: bool) -> None:
    """What has to be outside is the same inside; of that which does not count, only the client's name."""
    for name in ("client_id",) if alone else ("client_id", "response_type"):
        inside, outside = claims.get(name), sent.get(name)
        if None not in (inside, outside) and inside != outside:
            raise InvalidRequestObject(f"{name} is another one inside the request object")


def _merge(sent: Params, claims: Claims, *, alone: bool) -> Params:
    """The object's parameters before those outside (OIDC Core §6.3.3), or nothing else (RFC 9101 §6.3)."""
    outside = {} if alone else {n: v for n, v in sent.values.items() if n not in _CARRIERS}
    client_id = {"client_id": sent.every("client_id")}
    return Params({**outside, **parameters_in(claims), **client_id})


def _unsigned(text: str) -> Claims:
    """What the client may say without a signature; one that it has not registered is not looked at."""
    header = unverified_header(text)
    if header.get("alg") != UNSIGNED or not text.endswith("."):
        raise JwtRefused("it is signed, though the client registered none")
    if "crit" in header or str(header.get("typ", "JWT")).lower() not in _TYP:
        raise JwtRefused("it is of another type, or names critical header parameters")
    return unverified_claims(text)
