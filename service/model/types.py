"""The types of the keys of config.yaml, which nothing imports before a file is checked.

Annotations are not evaluated until pydantic reads them. So a process that serves, and gets its configuration from the process
that has read it, has neither pydantic in memory nor what it checks values by.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast, dataclass_transform

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pydantic import (
        AfterValidator,
        BeforeValidator,
        Field,
        GetCoreSchemaHandler,
        JsonValue,
        PlainValidator,
    )
    from pydantic_core import CoreSchema

    from service.model.value_types import *  # noqa: F403 - whatever is there

    __all__ = ["AfterValidator", "BeforeValidator", "Field", "JsonValue", "PlainValidator"]
else:

    def __getattr__(name: str) -> object:
        """Return what the other file has by that name; an import asks for names such as `__path__`, too."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module("service.model.value_types"), name)


S = TypeVar("S", bound="Section")


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(dataclasses.field,)
)
def section(cls: type[S]) -> type[S]:
    """Make a frozen dataclass of a section, whose fields are passed by name.

    Its methods are those of Section. `dataclass` would compile some of its own for each class: a third of the start.
    """
    made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=True)(cls)
    made.own_fields = dataclasses.fields(cast("type[DataclassInstance]", made))
    made.compared = attrgetter(*(each.name for each in made.own_fields if each.compare))
    return made


class Section:
    """A mapping of config.yaml as a dataclass: no other keys, and no conversion of types."""

    __slots__ = ()
    __pydantic_config__: ClassVar = {  # a ConfigDict
        "strict": True,
        "extra": "forbid",
        "arbitrary_types_allowed": True,
        "hide_input_in_errors": True,
    }

    own_fields: ClassVar[tuple[dataclasses.Field[object], ...]] = ()
    compared: ClassVar[Callable[[object], object]]
    """Returns the values by which two are equal."""

    def __init__(self, **values: object) -> None:
        """Raise TypeError if a field without default is missing, or if there is no such field."""
        for each in self.own_fields:
            if each.name in values:
                value = values.pop(each.name)
            elif each.default is not dataclasses.MISSING:
                value = each.default
            elif each.default_factory is not dataclasses.MISSING:
                value = each.default_factory()
            elif not each.init:
                continue  # it is computed in __post_init__
            else:
                raise TypeError(f"{type(self).__name__}: {each.name} is missing")
            object.__setattr__(self, each.name, value)
        if values:
            raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")
        self.__post_init__()

    def __post_init__(self) -> None:
        """Compute what the values imply."""

    def __setattr__(self, name: str, _: object) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if self.__class__ is not other.__class__:
            return NotImplemented
        compared = type(self).compared
        return self is other or compared(self) == compared(other)

    def __hash__(self) -> int:
        return hash(type(self).compared(self))

    def __repr__(self) -> str:
        shown = (
            f"{each.name}={getattr(self, each.name)!r}" for each in self.own_fields if each.repr
        )
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __getstate__(self) -> object:
        return [getattr(self, each.name) for each in self.own_fields]

    def __setstate__(self, values: list[object]) -> None:
        for each, value in zip(self.own_fields, values, strict=True):
            object.__setattr__(self, each.name, value)

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
