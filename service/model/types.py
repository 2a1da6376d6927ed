"""The types of the keys of config.yaml, which nothing imports before a file is checked.

Annotations are not evaluated until pydantic reads them. So a process that serves, and gets its configuration from the process
that has read it, has neither pydantic in memory nor what it checks values by.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, cast

if TYPE_CHECKING:
    from pydantic import (
        AfterValidator,
        BeforeValidator,
        Field,
        GetCoreSchemaHandler,
        JsonValue,
    )
    from pydantic_core import CoreSchema

    from service.model.value_types import *  # noqa: F403 - whatever is there

    __all__ = ["AfterValidator", "BeforeValidator", "Field", "JsonValue"]
else:

    def __getattr__(name: str) -> object:
        """Return what the other file has by that name; an import asks for names such as `__path__`, too."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module("service.model.value_types"), name)


class Section:
    """A mapping of config.yaml as a dataclass: no other keys, and no conversion of types."""

    __slots__ = ()
    __pydantic_config__: ClassVar = {  # a ConfigDict
        "strict": True,
        "extra": "forbid",
        "arbitrary_types_allowed": True,
        "hide_input_in_errors": True,
    }

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Accept a mapping, although `strict` accepts only an instance otherwise.

        The schema of a section below another one is built when a file has it: those of all would take twice as long.
        """
        if handler.field_name is not None:
            from service.model.value_types import built_when_needed  # noqa: PLC0415 - pydantic is there

            return built_when_needed(cls)
        return cast("CoreSchema", {**handler(source), "strict": False})
