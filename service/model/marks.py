"""The marks around the types of fields, which say how a value of config.yaml is read and shown, and what a value is that does not fit.

`service.config.convert` reads values by them. They count from left to right, with those of `msgspec.Meta`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, Literal, get_origin

import msgspec

Location = tuple[str | int, ...]
Kind = Literal[
    "missing", "unknown", "text", "number", "bool", "list", "keys and values", "word", "other"
]
"""The reason why a value does not fit: a key that is missing or unknown, a value of another type, or another one."""


class Misfit(msgspec.Struct, frozen=True, kw_only=True):
    """A value that does not fit its key, or a key that is missing or unknown."""

    kind: Kind
    message: str
    location: Location = ()
    value: object = None
    words: Collection[str] = ()
    """The words of which it should be one."""
    keys: Collection[str] = ()
    """The keys that are possible beside it."""
    unused: Collection[str] = ()
    """Those of them that do not stand there."""
    at_key: bool = False
    """Whether the key itself is wrong, not its value."""
    is_secret: bool = False
    """Whether the value must not be shown."""


class Unfit(ValueError):
    """A value does not fit its type, for all these reasons."""

    def __init__(self, *misfits: Misfit) -> None:
        """Take the reasons, whose locations begin at the value."""
        super().__init__(*(misfit.message for misfit in misfits))
        self.misfits = misfits


def expected(what: str, kind: Kind = "other", **details: Any) -> Unfit:
    """Return the error that says what was expected; it never repeats the value, which may be a secret."""
    return unfit(f"expected {what}", kind, **details)


def unfit(message: str, kind: Kind = "other", **details: Any) -> Unfit:
    """Return the error with a message of its own."""
    return Unfit(Misfit(kind=kind, message=message, **details))


class Before(msgspec.Struct, frozen=True):
    """Prepares a value, as it is written, for its type."""

    prepare: Callable[[object], object]


class ReadBy(msgspec.Struct, frozen=True):
    """Reads a value in place of its type; a relative path that it returns begins at the folder of the file."""

    read: Callable[[object], object]


class After(msgspec.Struct, frozen=True):
    """Checks a value of its type, and returns it, maybe in another spelling."""

    check: Callable[[Any], object]


class WrittenAs(msgspec.Struct, frozen=True, eq=False):
    """The forms in which a value may be written, each as JSON Schema."""

    forms: tuple[Mapping[str, object], ...]


def written_as(*forms: Mapping[str, object]) -> WrittenAs:
    """Return the mark for these forms."""
    return WrittenAs(forms)


SECRET = "secret"
"""Marks a key whose value is not shown."""


class Confidential(msgspec.Struct, frozen=True):
    """A struct that is printed without the fields that are marked SECRET."""

    def __repr__(self) -> str:
        shown = (
            f"{field.name}={getattr(self, field.name)!r}"
            for field in msgspec.structs.fields(self)
            if not is_secret(field.type)
        )
        return f"{type(self).__qualname__}({', '.join(shown)})"


def is_secret(annotation: Any) -> bool:
    """Return whether a value of this type must not be shown."""
    return get_origin(annotation) is Annotated and SECRET in annotation.__metadata__
