"""Which user store does the configuration name?"""

from __future__ import annotations

from pkgutil import resolve_name

from service.identity.file_users import FileUsers
from service.model.registry import LiveRegistry
from service.model.user import UserStore


class UserStoreUnusable(Exception):
    """What `users.source` names cannot be imported, made or used; the message says why."""


def open_users(registry: LiveRegistry) -> UserStore:
    """The file's users, or an operator's own store, made once without arguments."""
    source = registry.current.user_store
    return FileUsers(registry) if source is None else _imported(source)


def _imported(source: str) -> UserStore:
    try:
        store: UserStore = resolve_name(source)()
    except Exception as error:  # the operator's code may raise anything
        raise UserStoreUnusable(
            f"users.source: {source} cannot be used: {type(error).__name__}: {error}"
        ) from error
    for method in ("by_subject", "by_username"):
        if not callable(getattr(store, method, None)):
            raise UserStoreUnusable(f"users.source: {source} has no method {method}")
    return store
