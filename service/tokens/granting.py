"""The interface of grants: a token request goes in, exactly one of four results comes out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, cast, final

import msgspec
from msgspec.structs import force_setattr

from service.events.event import Emit
from service.model.authorization import Authorization, Confirmation, new_family_key
from service.model.client import Client
from service.model.handle import new_selector
from service.model.registry import LiveRegistry
from service.model.user import LOCAL, UserStore
from service.protocol.authorization_details import Detail
from service.protocol.errors import InvalidDpopProof, InvalidGrant, OAuthError
from service.protocol.params import Params
from service.protocol.scope import OFFLINE_ACCESS

if TYPE_CHECKING:
    from service.store.verbs import Command
    from service.tokens.active import ActiveTokens
    from service.tokens.liveness import SingleUse
    from service.tokens.refresh_token import MintedRefreshToken


class ScopeRule(Enum):
    """The meaning of the `scope` parameter for a grant (RFC 6749 §3.3)."""

    DEFAULTED = "absent means all API scopes of the client, of which there has to be one"
    OF_ASSERTION = "absent means all API scopes of the client; the assertion may say more, and of `resource` too"
    REQUIRED = "absent is invalid_scope"
    OF_AUTHORIZATION = "the authorization decides; the parameter can only narrow it"
    OF_GRANT = "the grant judges it, and `resource` too"


class TokenRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A token request of an authenticated client that may use this grant (RFC 6749 §3.2)."""

    client: Client
    grant_type: str
    params: Params
    """The raw parameters; scope and resources below are validated."""
    scope: frozenset[str]
    """Allowed for the client; empty where the authorization decides and none was asked for."""
    resources: tuple[str, ...]
    authorization_details: tuple[Detail, ...]
    """Allowed for the client; empty where none were asked for (RFC 9396 §6)."""
    now: int
    cnf: Confirmation | None
    """The key whose possession the client has proven with this request."""
    find_address: Callable[[], str] = str
    """Returns `address`, which few grants ask for."""

    @property
    def address(self) -> str:
        """The network address of the sender, according to the trusted proxies; empty without a request."""
        return self.find_address()

    def check_key(self, bound: Confirmation | None, what: str) -> None:
        """Raise InvalidDpopProof or InvalidGrant unless the client has proven the key that this is bound to, if any (RFC 9449 §10)."""
        if bound is None or bound == self.cnf:
            return
        if self.cnf is None and bound.method == "jkt":
            raise InvalidDpopProof(f"the {what} is bound to a key, and there is no DPoP proof")
        raise InvalidGrant(f"the {what} is bound to a key that the request does not prove")

    def granted_to(
        self,
        subject: str,
        *,
        amr: tuple[str, ...] | None = None,
        acr: str | None = None,
        claims: Mapping[str, object] | None = None,
        scope: frozenset[str] | None = None,
        lifetime: int | None = None,
        refresh_allowed: bool = True,
        cnf: Confirmation | None = None,
        members: Mapping[str, object] | None = None,
    ) -> NewGrant:
        """Return a new authorization by this user; its `amr` is the grant type unless one is given.

        `scope` can only narrow the request's; `cnf` is for a key that the grant has verified itself.
        """
        granted = self.scope if scope is None else scope & self.scope
        granted = granted if refresh_allowed else granted - {OFFLINE_ACCESS}
        refreshes = refresh_allowed and self.client.refreshes_without_offline_access(
            self.grant_type
        )
        authorization = Authorization(
            id=new_selector(),
            client_id=self.client.client_id,
            scope=granted,
            resources=self.resources,
            subject=subject,
            amr=(self.grant_type,) if amr is None else amr,
            acr=acr,
            idp=LOCAL,
            auth_time=self.now,
            claims=claims or {},
            grant_type=self.grant_type,
            family_key=new_family_key(granted, without_offline_access=refreshes),
            cnf=cnf or self.cnf,
            created_at=self.now,
        )
        return NewGrant(
            authorization=authorization,
            lifetime=sys.maxsize if lifetime is None else lifetime,
            members=members or {},
        )


class NewGrant(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An authorization that begins with this request."""

    authorization: Authorization
    lifetime: int = sys.maxsize
    """An upper bound for the access token, in seconds."""
    always_jwt: bool = False
    """Whether it is a JWT also for a client whose access tokens are references."""
    members: Mapping[str, object] = {}
    """Further members of the response; they cannot replace a standard one."""
    proven_at: float = sys.maxsize
    """When the user was proven, if that was before the request: nothing is granted if all access of the user has ended since."""
    refusal: type[OAuthError] = InvalidGrant
    """The error if that has happened, or there is no time left."""


@final
class ContinuedGrant(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An authorization that is in the store already: its code is redeemed, or its tokens are refreshed."""

    authorization: Authorization
    scope: frozenset[str]
    """The scope of this access token, at most that of the authorization."""
    resources: tuple[str, ...]
    authorization_details: tuple[Detail, ...]
    """Those of this access token, likewise."""
    issue_id_token: bool
    """Whether an ID token is issued if `openid` was granted."""
    single_use: SingleUse | None
    nonce: str | None = None
    refresh_token: MintedRefreshToken | None = None
    """The next one of its family; None where the family begins now, if it is to have any."""
    session_use: tuple[Command, ...] = ()
    """The commands that note the use of the user's session, where the refresh token ends with it."""
    user_claims: Mapping[str, object] | None = None
    """Those that the access token had before; None to read them anew."""


class DerivationSource(Protocol):
    """An active token that access tokens can be derived from."""

    @property
    def selector(self) -> str: ...

    @property
    def name(self) -> str | None:
        """Its name in an index; None for a refresh token, with which only its authorization ends."""
        ...

    @property
    def authorization(self) -> Authorization | None: ...

    @property
    def expires_at(self) -> int: ...


class DerivedGrant(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An access token made from another one of the same user, with which it ends, and no other token (RFC 8693)."""

    request: TokenRequest
    source: DerivationSource
    amr: tuple[str, ...]
    act: Mapping[str, object] | None
    """The calling client as the one that acts for the user, and those before it (RFC 8693 §4.1); None for impersonation."""
    lifetime: int = sys.maxsize
    """An upper bound in seconds; the source's expiry is another one."""
    members: Mapping[str, object] = {}
    always_jwt: bool = False
    refusal: type[OAuthError] = InvalidGrant
    """The error if the source ends meanwhile."""
    authorization: Authorization = cast("Authorization", None)
    """Derived: the source's user and sign-in, for this client."""

    def __post_init__(self) -> None:
        """Raise InvalidGrant for a token without a user."""
        origin = self.source.authorization
        if origin is None or origin.subject is None:
            raise InvalidGrant("the token is not one of a user")
        scope = self.request.scope
        authorization = Authorization(
            id=self.source.selector,
            client_id=self.request.client.client_id,
            scope=scope - {OFFLINE_ACCESS} if OFFLINE_ACCESS in scope else scope,
            resources=self.request.resources,
            subject=origin.subject,
            amr=self.amr,
            idp=origin.idp,
            auth_time=origin.auth_time,
            session_id=origin.session_id,
            user_claims=origin.user_claims,
            act=self.act,
            cnf=self.request.cnf,
            created_at=self.request.now,
        )
        force_setattr(self, "authorization", authorization)


class SignedClaims(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A signed token other than an access token, with the claims that the grant has composed."""

    claims: Mapping[str, object]
    """With `iat`."""
    typ: str


@final
class ExchangedGrant(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A single token, other than an access token (RFC 8693 §2.2.1)."""

    authorization: Authorization
    """Stored for a refresh token only; its `source` ends it."""
    origin: Authorization | None
    """The one in which the user has authenticated, for a token that the client itself uses; None for a transaction token."""
    token: SignedClaims | Literal["id_token", "refresh_token"]
    expires_at: int
    """The latest end of the token."""
    members: Mapping[str, object]
    proven_at: float = sys.maxsize
    """As that of NewGrant."""


GrantSuccess = NewGrant | ContinuedGrant | DerivedGrant | ExchangedGrant
GrantResult = GrantSuccess | OAuthError


class Grant(Protocol):
    """The handler of one grant type, without the checks that all grants share."""

    scope_rule: ClassVar[ScopeRule]
    takes_authorization_details: ClassVar[bool]
    """Whether a token request may ask for authorization_details; those of another grant are refused."""

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Judge the request; an OAuthError may be returned or raised."""
        ...


class GrantHandler(Protocol):
    """An extension grant as an operator writes it: made once as `Handler(options, services)`."""

    grant_type: ClassVar[str]

    async def handle(self, request: TokenRequest) -> NewGrant | DerivedGrant | OAuthError:
        """Judge the request; any other result is refused as invalid_grant."""
        ...


class GrantServices(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the service that an extension grant may use."""

    issuer: str
    registry: LiveRegistry
    users: UserStore
    active_tokens: ActiveTokens
    emit: Emit
