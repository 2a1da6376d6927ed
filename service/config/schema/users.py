"""The section on users: the list in the file, or the system that they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field

from service.model import types
from service.model.user import User

SOURCES: Mapping[str, str] = {}
"""By `users.source`: the module that asks that system, which is imported only where it is configured.

It has `find_problems(settings)` for `check`, and `open_source(settings, tools)`
(service/identity/sources/__init__.py). Its settings are the field of `Users` that has the same name.
"""


def _source(value: str) -> str:
    if value != "file" and value not in SOURCES and ":" not in value:
        raise types.expected(
            f"{', '.join(['file', *SOURCES])}, or the import path of a UserStore such as "
            "my_package.users:MyUsers"
        )
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Users(types.Section):
    """The users of this service itself, and how long another system that knows them may take to answer."""

    source: Annotated[str, AfterValidator(_source)] = "file"
    """file: the list below; or the import path of a UserStore."""
    timeout: types.Timeout = 2
    """The longest time to wait for the system that the users come from. After that, and as long as it does not answer, a request
    that needs it gets the status 503."""
    max_concurrent: Annotated[int, Field(ge=1)] = 20
    """How many questions a process asks that system at once; more wait for their turn."""
    cache: types.Duration = 0
    """How long what that system said of a user counts without being asked again, when a token is used. A user that is disabled there
    keeps active tokens for that long. 0s: it is asked each time."""
    list: types.Many[User] = ()
    """The users, for source: file."""
