"""Imports the operator's own classes, and checks their signatures without making an instance."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from pkgutil import resolve_name
from traceback import extract_tb
from typing import cast

import msgspec

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


class PluginKind(msgspec.Struct, frozen=True):
    """A kind of class or function of the operator: its arguments, and the methods that its instances need."""

    making: str
    """How it is made, for the operator."""
    require: Callable[[object], None]
    """Raises PluginError if a class, or an instance, lacks something."""
    arguments: Sequence[str] = ()

    def require_factory(self, made: object) -> None:
        """Raise PluginError if this cannot make an instance."""
        if not callable(made):
            raise PluginError(f"is a {type(made).__name__}, which cannot be called", self.making)
        signature = _find_signature(made)
        try:
            if signature is not None:
                signature.bind(*self.arguments)
        except TypeError as error:
            given = f"with ({', '.join(self.arguments)})" if self.arguments else "without arguments"
            raise PluginError(f"cannot be called {given}: {error}", self.making) from error
        if isinstance(made, type):
            self.require(made)


def make_plugin(name: str, location: Location, kind: PluginKind) -> object:
    """Return the operator's own object, made once without arguments; CannotServe if it cannot be made or lacks something."""
    try:
        made = cast("Callable[[], object]", load_plugin(name))()
        kind.require(made)
    except PluginError as error:
        raise CannotServe(Finding(location, f"{name} {error}", error.hint)) from error
    except (Exception, SystemExit) as error:  # the operator's code may raise anything
        message = f"{name} cannot be made: {describe_exception(error)}"
        raise CannotServe(Finding(location, message)) from error
    return made


def judge_plugin(location: Location, name: str, kind: PluginKind) -> Iterator[Finding]:
    """Yield why the operator's own class or function cannot be imported, or called as documented."""
    try:
        kind.require_factory(load_plugin(name))
    except PluginError as error:
        is_missing = isinstance(error.__cause__, ModuleNotFoundError)
        yield Finding(location, str(error), _ON_PATH if is_missing else error.hint)


def _find_signature(made: Callable[..., object]) -> inspect.Signature | None:
    try:
        return inspect.signature(made)
    except (TypeError, ValueError):  # some that are written in C have none
        return None


def _require_handler(handler: object) -> None:
    grant_type = getattr(handler, "grant_type", None)
    may_come_later = isinstance(handler, type) and (
        grant_type is None or inspect.isdatadescriptor(grant_type)
    )
    if not may_come_later and not (isinstance(grant_type, str) and grant_type):
        hint = 'name it in the class: grant_type = "urn:example:mine"'
        raise PluginError("names no grant_type", hint)
    _require_method(handler, "handle", "async def handle(self, request)")


def _require_user_store(users: object) -> None:
    _require_method(users, "by_subject", "async def by_subject(self, sub)")
    _require_method(users, "by_username", "async def by_username(self, username)")
    if hasattr(users, "find_factors") or hasattr(users, "replace_factors"):
        _require_method(users, "find_factors", "async def find_factors(self, sub)")
        replaces = "async def replace_factors(self, sub, factors, *, instead_of)"
        _require_method(users, "replace_factors", replaces)


def _require_notifier(notifier: object) -> None:
    _require_method(notifier, "notify", "async def notify(self, notice)")


def _require_credential_provider(provider: object) -> None:
    if not callable(getattr(provider, "get_credentials_async", None)):
        _require_method(provider, "get_credentials", "def get_credentials(self)")


def describe_exception(error: BaseException) -> str:
    """Return the type, the message and the last line of the operator's code, if that ran at all."""
    return f"{type(error).__name__}: {error}{_find_place(error)}"


def name_exception(error: BaseException) -> str:
    """Return what `describe_exception` does without the message, which may have the address of a person."""
    return f"{type(error).__name__}{_find_place(error)}"


def _find_place(error: BaseException) -> str:
    _, *theirs = extract_tb(error.__traceback__)
    return f" ({Path(theirs[-1].filename).name}:{theirs[-1].lineno})" if theirs else ""


def _require_method(thing: object, name: str, hint: str) -> None:
    """Only a call would show whether it is async: a plain method may return what an async one does."""
    method = getattr(thing, name, None)
    is_property = isinstance(thing, type) and inspect.isdatadescriptor(method)
    if not is_property and not callable(method):
        raise PluginError(f"has no method {name}", hint)


HANDLER = PluginKind(
    "a handler is a class that is made as Handler(options, services)",
    _require_handler,
    ("options", "services"),
)
USER_STORE = PluginKind("a UserStore is made without arguments", _require_user_store)
NOTIFIER = PluginKind("a Notifier is made without arguments", _require_notifier)
CREDENTIAL_PROVIDER = PluginKind(
    "a CredentialProvider is made without arguments", _require_credential_provider
)
