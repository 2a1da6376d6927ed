"""Opens authorization requests that come as a JWT (OIDC Core §6, RFC 9101)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec
import structlog
from msgspec.structs import replace

from service.authorize.parameters import (
    AUTHORIZE,
    DEVICE,
    PAR,
    EndpointKind,
    check_types,
    parameters_in,
)
from service.authorize.reply_to import ReplyTo
from service.authorize.request_uri import RequestUris
from service.clients.keys import ClientAlgorithms, ClientKeys
from service.clock import clock
from service.keys import jose
from service.keys.algorithms import MAC_ALGORITHMS, SIGNING_ALGORITHMS
from service.keys.foreign_keys import UNNAMED, audiences_of, check_times, time_in
from service.keys.jose import JwtRefused
from service.keys.jwe import looks_encrypted
from service.model.client import Client
from service.protocol.errors import InvalidRequest, InvalidRequestObject, OAuthError
from service.protocol.params import Params

log = structlog.stdlib.get_logger(__name__)

ALGORITHMS = (*SIGNING_ALGORITHMS, *MAC_ALGORITHMS)
"""Accepted from a client that registered none in particular."""

UNSIGNED = "none"

MAX_AGE = 3600
"""Seconds from `nbf` until now, and from `nbf` to `exp` (FAPI 2.0 Message Signing §5.3.1)."""

_EXPLICIT_TYP = frozenset({UNNAMED, "oauth-authz-req+jwt"})
"""A client with a profile says no other `typ` (RFC 9101 §10.8)."""
_TYP = frozenset({"jwt"}) | _EXPLICIT_TYP
_CARRIERS = frozenset({"request", "request_uri"})

Claims = Mapping[str, object]


class UsedOnce(msgspec.Struct, frozen=True, kw_only=True):
    """A JWT that counts once: the hash of whose it is and its `jti`, and when it expires."""

    key: str
    expires_at: int


class ObjectRules(Protocol):
    """The rules on request objects in which endpoints differ."""

    def has_to_sign(self, client: Client) -> bool:
        """Return whether the client has to send its requests as signed objects."""
        ...

    def find_algorithms(self, client: Client) -> tuple[str | None, tuple[str, ...]]:
        """Return the signature algorithm that the client registered, and those accepted without a registration."""
        ...

    def check_parameters(self, sent: Params) -> None:
        """Raise InvalidRequest if a parameter is sent that has to be in the object."""
        ...

    def check_times(self, claims: Claims, client: Client, *, now: int, clock_skew: int) -> None:
        """Raise JwtRefused unless the object counts now."""
        ...

    def find_use(self, claims: Claims, client: Client) -> UsedOnce | None:
        """Return what is remembered of an object that counts once."""
        ...


class BrowserObjectRules(msgspec.Struct, frozen=True):
    """The rules on requests that a browser brings, or that are pushed for one."""

    def has_to_sign(self, client: Client) -> bool:
        return client.require_signed_request_object

    def find_algorithms(self, client: Client) -> tuple[str | None, tuple[str, ...]]:
        return client.request_object_signing_alg, ALGORITHMS

    def check_parameters(self, sent: Params) -> None:
        pass  # those outside of the object are ignored, or fill in (`_merge`)

    def check_times(self, claims: Claims, client: Client, *, now: int, clock_skew: int) -> None:
        check_times(claims, now=now, clock_skew=clock_skew)
        if client.signs_messages:
            require_fresh_signature(claims, now=now, clock_skew=clock_skew)

    def find_use(self, claims: Claims, client: Client) -> None:
        return None


BROWSER_RULES: Mapping[EndpointKind, ObjectRules] = dict.fromkeys(
    (AUTHORIZE, PAR, DEVICE), BrowserObjectRules()
)


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """An authorization request that has just come in."""

    endpoint: EndpointKind
    client: Client
    params: Params
    """Those that count, as far as they can be believed."""
    client_address: str = ""
    reply_to: ReplyTo | None = None
    """The place of the answer, where it has been found."""
    refusal: OAuthError | None = None
    """The fault of its request object."""
    once: UsedOnce | None = None
    """Its request object, if that counts once."""


class RequestObjects(msgspec.Struct, frozen=True, kw_only=True):
    """Makes plain parameters of a request and its request object."""

    issuer: str
    keys: ClientKeys
    algorithms: ClientAlgorithms
    uris: RequestUris
    rules: Mapping[EndpointKind, ObjectRules]
    clock_skew: int
    signature_required: bool
    """Whether every client has to sign its requests."""

    def metadata(self) -> Mapping[str, object]:
        """Return what discovery says of them (OpenID Connect Discovery §3, RFC 9101 §10.5)."""
        return {
            "request_parameter_supported": True,
            "request_uri_parameter_supported": True,
            "require_request_uri_registration": True,
            "require_signed_request_object": self.signature_required,
            **self.algorithms.request_metadata(),
        }

    def is_plain(self, arrival: Arrival) -> bool:
        """Return whether the request has no object and needs none."""
        return not (_CARRIERS & arrival.params.values.keys() or self.has_to_sign(arrival))

    async def open(self, arrival: Arrival) -> Arrival:
        """Put the parameters of the request object before those that were sent.

        A refusal that comes after the signature has been verified can go where the object says.
        """
        sent = params = arrival.params
        refusal: OAuthError | None = None
        once: UsedOnce | None = None
        try:
            claims = await self._read(arrival)
            if claims is not None:
                params = _merge(sent, claims, alone=self._counts_alone(arrival))
                check_types(claims)
                self._check(claims, arrival)
                once = self.rules[arrival.endpoint].find_use(claims, arrival.client)
        except OAuthError as error:
            refusal = error
            if isinstance(error, InvalidRequestObject):
                client_id, reason = arrival.client.client_id, error.description
                log.info("request object refused", client_id=client_id, reason=reason)
        return replace(arrival, params=params, refusal=refusal, once=once)

    def has_to_sign(self, arrival: Arrival) -> bool:
        """Return whether a plain request is refused."""
        rules = self.rules[arrival.endpoint]
        return self.signature_required or rules.has_to_sign(arrival.client)

    def _counts_alone(self, arrival: Arrival) -> bool:
        """Return whether nothing outside the object counts (RFC 9101 §6.3, RFC 9126 §3)."""
        client = arrival.client
        if arrival.endpoint is not AUTHORIZE or client.follows_fapi2:
            return True
        return self.has_to_sign(arrival)

    async def _read(self, arrival: Arrival) -> Claims | None:
        """Return the claims of the verified object; None for a request without an object."""
        text = await self._find(arrival)
        if text is None:
            if self.has_to_sign(arrival):
                raise InvalidRequest("the client has to send its request as a signed object")
            return None
        try:
            return await self._verify(text, arrival)
        except JwtRefused as refused:
            raise InvalidRequestObject(f"the request object is refused: {refused}") from refused

    async def _find(self, arrival: Arrival) -> str | None:
        """Return the object as it was sent, or fetch it."""
        sent, client = arrival.params, arrival.client
        sent.refuse_repeated()
        match sent.get("request"), sent.get("request_uri"):
            case None, None:
                return None
            case str(by_value), None:
                self.rules[arrival.endpoint].check_parameters(sent)
                return by_value
            case None, str(uri):
                if arrival.endpoint is not AUTHORIZE:  # RFC 9126 §2.1
                    raise InvalidRequest("request_uri is accepted at the authorize endpoint only")
                return await self.uris.fetch(uri, client, client_address=arrival.client_address)
            case _:
                raise InvalidRequest("request and request_uri exclude each other")

    async def _verify(self, text: str, arrival: Arrival) -> Claims:
        """Return the claims, signed as the client registered it (OpenID Connect Registration §2)."""
        client = arrival.client
        if looks_encrypted(text):
            text = await self.keys.decrypt(text, client)
        registered, known = self.rules[arrival.endpoint].find_algorithms(client)
        may_be_unsigned = client.profile is None and not self.has_to_sign(arrival)
        if registered == UNSIGNED and may_be_unsigned:
            return _read_unsigned(text)
        algorithms = client.accepted_algorithms(known if registered is None else (registered,))
        typ = _TYP if client.profile is None else _EXPLICIT_TYP
        return await self.keys.verify(text, client, algorithms=algorithms, typ=typ)

    def _check(self, claims: Claims, arrival: Arrival) -> None:
        """Raise InvalidRequestObject unless issuer, audience and times are right (RFC 9101 §4, OIDC Core §6.1)."""
        sent, client = arrival.params, arrival.client
        if claims.get("iss") not in (None, client.client_id):
            raise InvalidRequestObject("iss of the request object is not the client_id")
        audience = claims.get("aud")
        if audience is not None and self.issuer not in audiences_of(audience):
            raise InvalidRequestObject("aud of the request object is not this service")
        if _CARRIERS & claims.keys():
            raise InvalidRequestObject("a request object holds no request and no request_uri")
        for name in ("client_id", "response_type"):
            inside, outside = claims.get(name), sent.get(name)
            counts = name == "client_id" or not self._counts_alone(arrival)
            if counts and None not in (inside, outside) and inside != outside:
                raise InvalidRequestObject(f"{name} is another one inside the request object")
        try:
            self.rules[arrival.endpoint].check_times(
                claims, client, now=clock(), clock_skew=self.clock_skew
            )
        except JwtRefused as refused:
            raise InvalidRequestObject(f"the request object is refused: {refused}") from refused


def _merge(sent: Params, claims: Claims, *, alone: bool) -> Params:
    """Return the object's parameters before those outside (OIDC Core §6.3.3), or alone (RFC 9101 §6.3)."""
    outside = {} if alone else {n: v for n, v in sent.values.items() if n not in _CARRIERS}
    client_id = {"client_id": sent.every("client_id")}
    return Params({**outside, **parameters_in(claims), **client_id})


def require_fresh_signature(claims: Claims, *, now: int, clock_skew: int) -> None:
    """Raise JwtRefused unless the object is for this service and of this hour (FAPI 2.0 Message Signing §5.3.1)."""
    begins, expires = time_in(claims, "nbf"), time_in(claims, "exp")
    if claims.get("aud") is None:
        raise JwtRefused("aud is missing")
    if begins is None or expires is None:
        raise JwtRefused("nbf or exp is missing")
    if begins < now - MAX_AGE - clock_skew:
        raise JwtRefused("nbf is more than an hour ago")
    if expires > begins + MAX_AGE:
        raise JwtRefused("exp is more than an hour after nbf")


def _read_unsigned(text: str) -> Claims:
    """Return the claims of an object without a signature, as the client registered it."""
    header = jose.unverified_header(text)
    if header.get("alg") != UNSIGNED or not text.endswith("."):
        raise JwtRefused("it is signed, though the client registered none")
    if "crit" in header or jose.type_of(header) not in _TYP:
        raise JwtRefused("it is of another type, or names critical header parameters")
    return jose.unverified_claims(text)
