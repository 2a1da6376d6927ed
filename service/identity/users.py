"""Which user store does the configuration name?"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from service.config.plugin_signatures import WrongShape, is_user_store, raised
from service.config.plugins import PluginError, load_plugin
from service.config.problem import CannotServe, Finding
from service.identity.file_users import FileUsers
from service.model.registry import LiveRegistry
from service.model.user import UserStore


class UserStoreUnusable(CannotServe):
    """What `users.source` names cannot be imported, made or used; the message says why."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        """Take why."""
        super().__init__(Finding(("users", "source"), message, hint))


def open_users(registry: LiveRegistry) -> UserStore:
    """The file's users, or an operator's own store, made once without arguments."""
    source = registry.current.user_store
    return FileUsers(registry) if source is None else _imported(source)


def _imported(source: str) -> UserStore:
    try:
        make = cast("Callable[[], UserStore]", load_plugin(source))
        store = make()
        is_user_store(store)
    except PluginError as error:
        raise UserStoreUnusable(f"{source} {error}") from error
    except WrongShape as error:
        raise UserStoreUnusable(f"{source} {error}", error.hint) from error
    except (Exception, SystemExit) as error:  # the operator's code may raise anything
        raise UserStoreUnusable(f"{source} cannot be made: {raised(error)}") from error
    return store
