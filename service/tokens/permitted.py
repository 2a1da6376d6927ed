"""Checks that clients and users may still have what was granted before (RFC 6749 §6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from service.model.authorization import DELEGATION, Authorization
from service.model.client import Permissions
from service.model.registry import LiveRegistry, Registry
from service.model.session import Session
from service.model.tenant import CLAIM
from service.model.user import LINKED_BY_IDENTITY, LOCAL, TokenUsers, is_in_store
from service.protocol.authorization_details import Detail
from service.protocol.errors import InvalidGrant
from service.protocol.scope import OFFLINE_ACCESS, gives_access
from service.protocol.token_types import GRANT_TYPE as TOKEN_EXCHANGE

if TYPE_CHECKING:
    from service.clients.directory import Clients
    from service.keys.jose import VerifiedClaims

_MAPPINGS = (dict, Mapping)
"""The type that JSON gives comes first: to ask whether something else is a mapping takes ten times as long."""

_DISABLED = "its client or user is disabled or unknown"


def permitted_scope(granted: frozenset[str], permissions: Permissions) -> frozenset[str] | None:
    """Return the scope values that are still allowed; None if they give access to nothing."""
    if granted <= permissions.scope:
        return granted
    left = granted & permissions.scope
    return left if left - {OFFLINE_ACCESS} else None


def permitted_details(details: Iterable[Detail], permissions: Permissions) -> tuple[Detail, ...]:
    """Return those of types that the client may still ask for."""
    types = permissions.authorization_details_types
    return tuple([detail for detail in details if detail["type"] in types])


def check_permissions(authorization: Authorization | None, permissions: Permissions) -> None:
    """Raise InvalidGrant if the client lost a permission that the authorization needs.

    A token without an authorization is one by which a client acts for itself (RFC 6749 §4.4).
    """
    if authorization is None:
        if "client_credentials" not in permissions.grant_types:
            raise InvalidGrant("its client may no longer act for itself")
        return
    grant_type = authorization.grant_type
    if grant_type is not None and grant_type not in permissions.grant_types:
        raise InvalidGrant("its client may no longer use the grant type that it came by")
    if authorization.session_id is not None and not permissions.accepts_users_of(authorization.idp):
        raise InvalidGrant("its client no longer accepts users of that identity provider")


def continue_authorization(authorization: Authorization, permissions: Permissions) -> Authorization:
    """Return the authorization with the scope that is still allowed; InvalidGrant if nothing is left."""
    check_permissions(authorization, permissions)
    scope = permitted_scope(authorization.scope, permissions)
    if scope is None:
        raise InvalidGrant("the client is no longer allowed any of the scope that was granted")
    if authorization.authorization_details:
        return _continue_details(authorization, scope, permissions)
    return authorization if scope is authorization.scope else replace(authorization, scope=scope)


def _continue_details(
    authorization: Authorization, scope: frozenset[str], permissions: Permissions
) -> Authorization:
    details = permitted_details(authorization.authorization_details, permissions)
    if not gives_access(scope, details):
        raise InvalidGrant("the client is no longer allowed anything that was granted")
    return replace(authorization, scope=scope, authorization_details=details)


def continue_by_refresh_token(
    authorization: Authorization, permissions: Permissions
) -> Authorization:
    """Continue an authorization by a refresh token, which needs two permissions more (OIDC Core §11)."""
    is_allowed = (
        OFFLINE_ACCESS in permissions.scope
        if OFFLINE_ACCESS in authorization.scope
        else permissions.refresh_without_offline_access
    )
    if "refresh_token" not in permissions.grant_types or not is_allowed:
        raise InvalidGrant("the client may no longer use refresh tokens")
    return continue_authorization(authorization, permissions)


async def find_permissions(
    clients: Clients, users: TokenUsers, client_id: str, authorization: Authorization | None
) -> Permissions:
    """Return what the client may do; InvalidGrant if it or the user is disabled or unknown, or the user may not use it."""
    # Nearly always they are in the registry, and a coroutine costs more than looking there.
    permissions = clients.registry.current.permissions.get(client_id)
    permissions = permissions or await clients.find_permissions(client_id)
    if permissions is None:
        raise InvalidGrant(_DISABLED)
    if authorization is not None:
        await find_permitted_claims(users, clients.registry, authorization, permissions)
    return permissions


async def find_permitted_claims(
    users: TokenUsers, registry: LiveRegistry, person: Authorization, permissions: Permissions
) -> Mapping[str, object]:
    """Return the user's present claims; InvalidGrant if the user is not active, or may not use the client."""
    user = users.find_in_memory(person.subject or "") if person.idp == LOCAL else None
    if user is not None and user.enabled:
        claims: Mapping[str, object] | None = user.claims
    else:
        claims = await find_user_claims(users, registry, person)
    if claims is None:
        raise InvalidGrant(_DISABLED)
    if permissions.restrict_users and not may_use(
        permissions, person.subject, person.idp, claims, registry.current
    ):
        raise InvalidGrant("its user may not use the client, or no longer")
    return claims


def may_use(
    permissions: Permissions,
    subject: str | None,
    idp: str | None,
    claims: Mapping[str, object],
    registry: Registry,
) -> bool:
    """Return whether a user may use a client: the only place that decides, for every endpoint and grant.

    `claims` are the user's present ones. A client that acts for itself has no user to judge.
    """
    if not permissions.restrict_users or subject is None:
        return True
    tenant = registry.tenancy.find_name(idp, claims)
    if permissions.tenants and tenant not in permissions.tenants:
        return False
    allowed = permissions.allowed_users
    return allowed is None or allowed.include(with_identity(claims, subject, idp, registry))


def with_identity(
    claims: Mapping[str, object], subject: str, idp: str | None, registry: Registry
) -> Mapping[str, object]:
    """Return the claims that conditions on users are about: with `sub`, and the tenant where there are tenants."""
    if not registry.tenants:
        return {**claims, "sub": subject}
    return {**claims, "sub": subject, CLAIM: registry.tenancy.find_name(idp, claims)}


async def find_user_claims(
    users: TokenUsers, registry: LiveRegistry, person: Authorization | Session
) -> Mapping[str, object] | None:
    """Return the user's claims; None if the user, or the user's provider, is disabled or gone (RFC 7662 §2.2)."""
    if person.subject is None:
        return {}
    if is_in_store(person.idp, person.user_claims):
        if person.idp != LOCAL and not _may_name_user_of_store(person, registry.current):
            return None
        user = users.find_in_memory(person.subject)
        if user is None:
            find = users.by_subject if isinstance(person, Session) else users.find_token_user
            user = await find(person.subject)
        return user.claims if user is not None and user.enabled else None
    return _find_claims_of_others(registry.current, person)


def _may_name_user_of_store(person: Authorization | Session, registry: Registry) -> bool:
    """Return whether the provider or issuer that named a user of the user store may still do so."""
    idp = str(person.idp)
    provider = registry.identity_providers.get(idp)
    if provider is not None:
        linked = LINKED_BY_IDENTITY.items() <= person.user_claims.items()
        return linked or provider.links_by_email
    issuer = registry.trusted_issuers.get(idp)
    return issuer is not None and issuer.existing_user


def _find_claims_of_others(
    registry: Registry, person: Authorization | Session
) -> Mapping[str, object] | None:
    """Return the claims by an identity provider or a trusted issuer, as long as it is configured."""
    idp = person.idp
    provider = None if idp is None else registry.identity_providers.get(idp)
    if idp is None or provider is not None:
        claims = registry.tenancy.place(idp, person.user_claims)
        if provider is None:
            return claims
        return provider.judge_verification(claims, registry.identity_providers.values())
    return person.user_claims if idp in registry.trusted_issuers else None


async def check_derived(
    clients: Clients,
    users: TokenUsers,
    claims: VerifiedClaims,
    authorization: Authorization,
    own: Permissions,
) -> None:
    """Raise InvalidGrant if a client that a derived token came by lost a permission for it."""
    for grant_type in (DELEGATION, TOKEN_EXCHANGE):
        if claims.get("amr") == [grant_type] and grant_type not in own.grant_types:
            raise InvalidGrant("its client may no longer delegate or exchange tokens")
    first = await clients.find_permissions(authorization.client_id)
    if first is None:
        raise InvalidGrant(_DISABLED)
    continue_authorization(authorization, first)
    if first.restrict_users:
        await find_permitted_claims(users, clients.registry, authorization, first)
    await check_actors(clients, users, authorization, claims.get("act"))


async def check_actors(
    clients: Clients, users: TokenUsers, authorization: Authorization, act: object
) -> None:
    """Raise InvalidGrant unless all that act are enabled, and the user may use those of them that are clients."""
    # An exchange names clients and users, an extension grant may name anything.
    is_exchange = authorization.grant_type == TOKEN_EXCHANGE
    for actor in find_actors(act, None if is_exchange else authorization.act):
        permissions = await _find_actor(clients, users, actor)
        if permissions is not None and permissions.restrict_users:
            await find_permitted_claims(users, clients.registry, authorization, permissions)


async def _find_actor(
    clients: Clients, users: TokenUsers, actor: Mapping[str, object]
) -> Permissions | None:
    """Return the permissions of an actor that is a client; InvalidGrant unless it is an enabled client or user.

    Of another issuer's party, which has `iss`, nothing is known.
    """
    sub, registry = str(actor.get("sub")), clients.registry.current
    if "iss" in actor:
        return None
    if "idp" in actor:
        if str(actor["idp"]) in {*registry.identity_providers, *registry.trusted_issuers}:
            return None
        raise InvalidGrant(_DISABLED)
    permissions = registry.permissions.get(sub) or await clients.find_permissions(sub)
    if permissions is not None:
        return permissions
    user = await users.find_token_user(sub)
    if user is None or not user.enabled:
        raise InvalidGrant(_DISABLED)
    return None


def find_actors(
    act: object, named_by_grant: Mapping[str, object] | None
) -> Iterator[Mapping[str, object]]:
    """Return the parties that act, and acted before them (RFC 8693 §4.1).

    An extension grant may name actors that are not clients; they end the chain.
    """
    while act is not None and isinstance(act, _MAPPINGS) and act != named_by_grant:
        actor = cast("Mapping[str, object]", act)
        yield actor
        act = actor.get("act")
