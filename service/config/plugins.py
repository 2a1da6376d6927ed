"""Imports the operator's own classes, and checks their signatures without making an instance."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from pkgutil import resolve_name
from traceback import extract_tb
from typing import cast

from service.config.problem import CannotServe, Finding, Location

ENTRY_POINTS = "token_service.grants"
"""The group in which a package offers extension grants."""
_ON_PATH = "install its package, or set PYTHONPATH to the folder that holds it"


class PluginError(Exception):
    """The plug-in cannot be imported, or lacks something; the hint says how to add it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def load_plugin(name: str) -> object:
    """Import `my_package.module:MyClass`, or the object of an entry point; raise PluginError if that fails."""
    try:
        if ":" in name:
            return resolve_name(name)
        from importlib.metadata import entry_points  # noqa: PLC0415 - 1 MiB that few need

        found = [*entry_points(group=ENTRY_POINTS, name=name)]
        if found:
            return found[0].load()
    except (Exception, SystemExit) as error:  # the import runs code of others
        raise PluginError(f"cannot be imported: {type(error).__name__}: {error}") from error
    raise PluginError(f"no installed package offers {name} in the entry point group {ENTRY_POINTS}")


def make_plugin(name: str, location: Location, require: Callable[[object], None]) -> object:
    """Return the operator's own object, made once without arguments; CannotServe if it cannot be made or lacks something."""
    try:
        made = cast("Callable[[], object]", load_plugin(name))()
        require(made)
    except PluginError as error:
        raise CannotServe(Finding(location, f"{name} {error}", error.hint)) from error
    except (Exception, SystemExit) as error:  # the operator's code may raise anything
        message = f"{name} cannot be made: {describe_exception(error)}"
        raise CannotServe(Finding(location, message)) from error
    return made


def judge_plugin(
    location: Location, name: str, require: Callable[[object], None]
) -> Iterator[Finding]:
    """Yield why the operator's own class or function cannot be imported, or called as documented."""
    try:
        require(load_plugin(name))
    except PluginError as error:
        is_missing = isinstance(error.__cause__, ModuleNotFoundError)
        yield Finding(location, str(error), _ON_PATH if is_missing else error.hint)


def require_handler_factory(made: object) -> None:
    """Raise PluginError if this cannot make the handler of an extension grant."""
    hint = "a handler is a class that is made as Handler(options, services)"
    _require_arguments(made, ("options", "services"), hint)
    if isinstance(made, type):
        require_handler(made)


def require_handler(handler: object) -> None:
    """Raise PluginError if a class, or an instance, cannot handle a grant."""
    grant_type = getattr(handler, "grant_type", None)
    may_come_later = isinstance(handler, type) and (
        grant_type is None or inspect.isdatadescriptor(grant_type)
    )
    if not may_come_later and not (isinstance(grant_type, str) and grant_type):
        hint = 'name it in the class: grant_type = "urn:example:mine"'
        raise PluginError("names no grant_type", hint)
    _require_method(handler, "handle", "async def handle(self, request)")


def require_user_store_factory(made: object) -> None:
    """Raise PluginError if this cannot make a UserStore."""
    _require_arguments(made, (), "a UserStore is made without arguments")
    if isinstance(made, type):
        require_user_store(made)


def require_user_store(users: object) -> None:
    """Raise PluginError if a class, or an instance, cannot find users."""
    _require_method(users, "by_subject", "async def by_subject(self, sub)")
    _require_method(users, "by_username", "async def by_username(self, username)")
    if hasattr(users, "find_factors") or hasattr(users, "replace_factors"):
        _require_method(users, "find_factors", "async def find_factors(self, sub)")
        replaces = "async def replace_factors(self, sub, factors, *, instead_of)"
        _require_method(users, "replace_factors", replaces)


def require_notifier_factory(made: object) -> None:
    """Raise PluginError if this cannot make a Notifier, or a UserNotifier."""
    _require_arguments(made, (), "a Notifier is made without arguments")
    if isinstance(made, type):
        require_notifier(made)


def require_notifier(notifier: object) -> None:
    """Raise PluginError if a class, or an instance, cannot tell users of anything."""
    _require_method(notifier, "notify", "async def notify(self, notice)")


def require_credential_provider_factory(made: object) -> None:
    """Raise PluginError if this cannot make a CredentialProvider of redis-py."""
    _require_arguments(made, (), "a CredentialProvider is made without arguments")
    if isinstance(made, type):
        require_credential_provider(made)


def require_credential_provider(provider: object) -> None:
    """Raise PluginError if a class, or an instance, cannot provide the credentials for Redis."""
    if not callable(getattr(provider, "get_credentials_async", None)):
        _require_method(provider, "get_credentials", "def get_credentials(self)")


def describe_exception(error: BaseException) -> str:
    """Return the type, the message and the last line of the operator's code, if that ran at all."""
    _, *theirs = extract_tb(error.__traceback__)
    at = f" ({Path(theirs[-1].filename).name}:{theirs[-1].lineno})" if theirs else ""
    return f"{type(error).__name__}: {error}{at}"


def _require_arguments(made: object, arguments: Sequence[str], hint: str) -> None:
    if not callable(made):
        raise PluginError(f"is a {type(made).__name__}, which cannot be called", hint)
    try:
        signature = inspect.signature(made)
    except (TypeError, ValueError):  # some that are written in C have none
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        given = f"with ({', '.join(arguments)})" if arguments else "without arguments"
        raise PluginError(f"cannot be called {given}: {error}", hint) from error


def _require_method(thing: object, name: str, hint: str) -> None:
    """Only a call would show whether it is async: a plain method may return what an async one does."""
    method = getattr(thing, name, None)
    is_property = isinstance(thing, type) and inspect.isdatadescriptor(method)
    if not is_property and not callable(method):
        raise PluginError(f"has no method {name}", hint)
