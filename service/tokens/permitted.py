"""Tells what a client's registration still allows of what was granted before (RFC 6749 §6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from msgspec.structs import replace

from service.model.authorization import Authorization
from service.model.client import Permissions
from service.protocol.errors import InvalidGrant
from service.protocol.scope import OFFLINE_ACCESS


def permitted_scope(granted: frozenset[str], permissions: Permissions) -> frozenset[str] | None:
    """Return what is left of the scope; None if that gives access to nothing any more."""
    if granted <= permissions.scope:
        return granted
    left = granted & permissions.scope
    return left if left - {OFFLINE_ACCESS} else None


def missing_permission(authorization: Authorization | None, permissions: Permissions) -> str | None:
    """Return which permission the client lost and the authorization needs, if any.

    A token without an authorization is one by which a client acts for itself (RFC 6749 §4.4).
    """
    if authorization is None:
        acts_for_itself = "client_credentials" in permissions.grant_types
        return None if acts_for_itself else "its client may no longer act for itself"
    grant_type = authorization.grant_type
    if grant_type is not None and grant_type not in permissions.grant_types:
        return "its client may no longer use the grant type that it came by"
    if authorization.session_id is not None and not permissions.accepts_users_of(authorization.idp):
        return "its client no longer takes users who signed in there"
    return None


def continued(authorization: Authorization, permissions: Permissions) -> Authorization:
    """Return the authorization with what is left of its scope; InvalidGrant if the client may not use it."""
    missing = missing_permission(authorization, permissions)
    scope = permitted_scope(authorization.scope, permissions)
    if missing is not None:
        raise InvalidGrant(f"the authorization cannot be used any more: {missing}")
    if scope is None:
        raise InvalidGrant("the client is no longer allowed any of the scope that was granted")
    return authorization if scope is authorization.scope else replace(authorization, scope=scope)


def refreshable(authorization: Authorization, permissions: Permissions) -> Authorization:
    """Do the same for a refresh token, which needs two permissions more (OIDC Core §11)."""
    if "refresh_token" not in permissions.grant_types or OFFLINE_ACCESS not in permissions.scope:
        raise InvalidGrant("the client may no longer use refresh tokens")
    return continued(authorization, permissions)


def actors_in(act: object, named_by_grant: Mapping[str, object] | None) -> Iterator[str]:
    """Return the clients that act, and acted before them (RFC 8693 §4.1).

    An extension grant may name actors that are no clients; they are the end of the chain.
    """
    while isinstance(act, Mapping) and act != named_by_grant:
        actor = cast("Mapping[str, object]", act)
        yield str(actor.get("sub"))
        act = actor.get("act")
