"""What passes between the token endpoint, a grant and the issuer: a request in, exactly one result out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Protocol

import msgspec

from service.model.authorization import Authorization, new_family_key
from service.model.client import Client
from service.model.events import Emit
from service.model.handle import Handle, new_selector
from service.model.registry import LiveRegistry
from service.model.user import LOCAL, UserStore
from service.protocol.errors import OAuthError
from service.protocol.params import Params
from service.store.verbs import Swap, Write
from service.tokens.active import ActiveToken, ActiveTokens


class ScopeRule(Enum):
    """What the token endpoint makes of the `scope` parameter for a grant (RFC 6749 §3.3)."""

    DEFAULTED = "absent means all API scopes of the client"
    REQUIRED = "absent is invalid_scope"
    OF_AUTHORIZATION = "the authorization decides; the parameter can only narrow it"


class TokenRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A token request of an authenticated client that may use this grant (RFC 6749 §3.2)."""

    client: Client
    grant_type: str
    params: Params
    """The raw parameters; scope and resources below are validated."""
    scope: frozenset[str]
    """Allowed for the client; empty where the authorization decides and none was asked for."""
    resources: tuple[str, ...]
    now: int
    """Seconds since the epoch."""
    address: str
    """Where the request came from, as the trusted proxies tell it."""

    def granted_to(
        self,
        subject: str,
        *,
        claims: Mapping[str, object] | None = None,
        scope: frozenset[str] | None = None,
        lifetime: int | None = None,
        refresh_allowed: bool = True,
        members: Mapping[str, object] | None = None,
    ) -> GrantSuccess:
        """The success of an extension grant: this user, by this grant type as authentication method."""
        granted = self.scope if scope is None else scope & self.scope
        granted = granted if refresh_allowed else granted - {"offline_access"}
        return GrantSuccess(
            grant_type=self.grant_type,
            authorization=Authorization(
                id=new_selector(),
                client_id=self.client.client_id,
                scope=granted,
                resources=self.resources,
                subject=subject,
                amr=(self.grant_type,),
                idp=LOCAL,
                auth_time=self.now,
                claims=claims or {},
                grant_type=self.grant_type,
                family_key=new_family_key(granted),
                created_at=self.now,
            ),
            begins=True,
            lifetime=lifetime,
            members=members or {},
        )


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """The single use that a success stands on; it happens in the same step as the issuing."""

    swap: Swap
    won: Callable[[bytes | None], bool]
    """Whether the swap's answer says that this request was the one."""
    replayed: Callable[[], OAuthError]
    """Says that it was not, to the log and to the caller."""


class Rotation(msgspec.Struct, frozen=True, kw_only=True):
    """The refresh token that continues a family (RFC 9700 §4.14.2)."""

    handle: Handle
    lifetime: int
    """Seconds until it expires unused."""
    writes: tuple[Write, ...]


class GrantSuccess(msgspec.Struct, frozen=True, kw_only=True):
    """An authorization, and what the issuer has to know to make tokens of it."""

    grant_type: str
    authorization: Authorization
    begins: bool
    """Whether the authorization's record has yet to be written."""
    scope: frozenset[str] | None = None
    """Of this access token, where it is narrower than the authorization's."""
    resources: tuple[str, ...] | None = None
    identifies: bool = False
    """Whether an identity token is due, if `openid` was granted."""
    nonce: str | None = None
    spends: Spending | None = None
    rotation: Rotation | None = None
    user_claims: Mapping[str, object] | None = None
    """The user's claims as they were, where a refresh keeps them; None for those of today."""
    source: ActiveToken | None = None
    """The access token that this one is made from and must not outlive (RFC 8693)."""
    lifetime: int | None = None
    """An upper bound for the access token, in seconds."""
    members: Mapping[str, object] = {}
    """Further members of the response; they cannot replace a standard one."""


GrantResult = GrantSuccess | OAuthError


class Grant(Protocol):
    """The handler of one grant type; it owns what is its own and nothing that all grants share."""

    scope_rule: ClassVar[ScopeRule]

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Judge the request; an OAuthError may be returned or raised."""
        ...


class GrantHandler(Protocol):
    """An extension grant as an operator writes it: made once as `Handler(options, services)`."""

    grant_type: ClassVar[str]

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Judge the request; whatever is not one GrantSuccess or OAuthError fails closed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantServices:
    """What a handler of an extension grant may use."""

    issuer: str
    registry: LiveRegistry
    users: UserStore
    active_tokens: ActiveTokens
    emit: Emit
