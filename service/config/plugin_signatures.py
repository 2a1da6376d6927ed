"""Has what the operator wrote the shape of what is asked for, as far as that can be seen without making it?"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from traceback import extract_tb

_HANDLER = "a handler is a class that is made as Handler(options, services)"


class WrongShape(Exception):
    """Something cannot be what it is named as; the message says why, and the hint what it should be."""

    def __init__(self, message: str, hint: str) -> None:
        """Take the words of a finding."""
        super().__init__(message)
        self.hint = hint


def makes_handlers(made: object) -> None:
    """WrongShape where an extension grant cannot be made of it."""
    _takes(made, ("options", "services"), _HANDLER)
    if isinstance(made, type):
        is_handler(made)


def is_handler(handler: object) -> None:
    """WrongShape where a class, or what was made of it, cannot handle a grant."""
    grant_type = getattr(handler, "grant_type", None)
    is_told_later = grant_type is None or inspect.isdatadescriptor(grant_type)
    if isinstance(handler, type) and is_told_later:
        pass  # perhaps what is made of it names one
    elif not (isinstance(grant_type, str) and grant_type):
        hint = 'name it in the class: grant_type = "urn:example:mine"'
        raise WrongShape("names no grant_type", hint)
    _answers(handler, "handle", "async def handle(self, request)")


def makes_users(made: object) -> None:
    """WrongShape where a UserStore cannot be made of it."""
    _takes(made, (), "a UserStore is made without arguments")
    if isinstance(made, type):
        is_user_store(made)


def is_user_store(users: object) -> None:
    """WrongShape where a class, or what was made of it, cannot find users."""
    _answers(users, "by_subject", "async def by_subject(self, sub)")
    _answers(users, "by_username", "async def by_username(self, username)")


def raised(error: BaseException) -> str:
    """What the operator's code raised, and its last line that ran where it came to any."""
    _, *theirs = extract_tb(error.__traceback__)
    at = f" ({Path(theirs[-1].filename).name}:{theirs[-1].lineno})" if theirs else ""
    return f"{type(error).__name__}: {error}{at}"


def _takes(made: object, arguments: Sequence[str], hint: str) -> None:
    if not callable(made):
        raise WrongShape(f"is a {type(made).__name__}, of which nothing can be made", hint)
    try:
        signature = inspect.signature(made)
    except (TypeError, ValueError):  # some that are written in C have none
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        given = f"with ({', '.join(arguments)})" if arguments else "without arguments"
        raise WrongShape(f"cannot be called {given}: {error}", hint) from error


def _answers(thing: object, name: str, hint: str) -> None:
    method = getattr(thing, name, None)
    if isinstance(thing, type) and inspect.isdatadescriptor(method):
        return
    if not callable(
        method
    ):  # whether it is async shows only when it is called: a plain one may hand on to another
        raise WrongShape(f"has no method {name}", hint)
