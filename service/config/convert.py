"""Converts values of config.yaml to the structs of the model, and finds everything in them that does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo, replace

from service.model.marks import (
    After,
    Before,
    Confidential,
    Misfit,
    ReadBy,
    Unfit,
    expected,
    is_secret,
    unfit,
)
from service.model.types import read_text

Convert = Callable[[object, Path], Any]
"""Returns the value of a type, or raises Unfit; relative paths begin at the folder."""

_NO_FOLDER = Path()


def convert(value: object, annotation: Any, folder: Path = _NO_FOLDER) -> Any:
    """Return the value as this type; raise Unfit with everything that does not fit."""
    return _converter(annotation)(value, folder)


def words_of(annotation: Any) -> tuple[str, ...]:
    """Return the words of a Literal, or of a union of several."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(word for member in get_args(annotation) for word in words_of(member))


def members_of(annotation: Any) -> tuple[Any, ...]:
    """Return the types of a union without None, or the type itself."""
    if get_origin(annotation) in (Union, UnionType):
        return tuple(each for each in get_args(annotation) if each is not NoneType)
    return (annotation,)


def _converter(annotation: Any) -> Convert:
    """Return what converts a value to this type."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _convert_by_marks(annotation.__origin__, annotation.__metadata__)
    if origin is Literal:
        return _one_of(arguments)
    if origin in (Union, UnionType):
        return _convert_union(annotation)
    if origin in (tuple, frozenset):
        return _convert_sequence(origin, _converter(arguments[0]))
    if origin is dict:
        return _convert_mapping(*map(_converter, arguments))
    return _SCALARS.get(annotation) or _convert_section(annotation)


def _convert_by_marks(plain: Any, marks: Iterable[object]) -> Convert:
    """Return what reads the plain type, or is marked to read in its place, and then checks."""
    reads = [_read_by(mark) for mark in marks if isinstance(mark, ReadBy)]
    read = reads[0] if reads else _converter(plain)
    for mark in marks:
        if isinstance(mark, Before):
            read = _prepare_first(read, mark.prepare)
        elif isinstance(mark, After):
            read = _check_after(read, mark.check)
        elif isinstance(mark, msgspec.Meta):
            for check in _checks(mark):
                read = _check_after(read, check)
    return read


def _read_by(mark: ReadBy) -> Convert:
    def read(value: object, folder: Path) -> object:
        made = mark.read(value)
        return folder / made if isinstance(made, Path) else made

    return read


def _prepare_first(read: Convert, prepare: Callable[[object], object]) -> Convert:
    return lambda value, folder: read(prepare(value), folder)


def _check_after(read: Convert, check: Callable[[Any], object]) -> Convert:
    return lambda value, folder: check(read(value, folder))


def _checks(meta: msgspec.Meta) -> Iterator[Callable[[Any], object]]:
    """Yield a check for each constraint, which returns what it was given."""
    for name, limit in (("ge", meta.ge), ("gt", meta.gt), ("le", meta.le)):
        if limit is not None:
            yield _within(name, limit)
    if meta.min_length is not None:
        yield _at_least_long(meta.min_length)
    if meta.max_length is not None:
        yield _at_most_long(meta.max_length)
    if meta.pattern is not None:
        yield _fits(meta.pattern)


def _within(name: str, limit: float) -> Callable[[Any], object]:
    word = {"ge": "at least", "gt": "more than", "le": "at most"}[name]

    def check(value: float) -> float:
        if not {"ge": value >= limit, "gt": value > limit, "le": value <= limit}[name]:
            raise unfit(f"must be {word} {limit}")
        return value

    return check


def _at_least_long(least: int) -> Callable[[Any], object]:
    wrong = "must not be empty" if least == 1 else f"must have at least {least} characters"

    def check(value: Any) -> object:
        if len(value) < least:
            raise unfit(wrong)
        return value

    return check


def _at_most_long(most: int) -> Callable[[Any], object]:
    def check(value: Any) -> object:
        if len(value) > most:
            raise unfit(f"must have at most {most} characters")
        return value

    return check


def _fits(pattern: str) -> Callable[[Any], object]:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise unfit(f"must fit the pattern {pattern}")
        return value

    return check


def _one_of(words: tuple[str, ...]) -> Convert:
    *most, last = words
    what = f"{', '.join(most)} or {last}" if most else last

    def read(value: object, _: Path) -> object:
        if value not in words:
            raise expected(what, "word", value=value, words=words)
        return value

    return read


def _convert_union(annotation: Any) -> Convert:
    """Return what reads one of several types; null where that is one of them."""
    members = members_of(annotation)
    if all(get_origin(member) is Literal for member in members):
        read = _one_of(words_of(annotation))
    elif len(members) == 1:
        read = _converter(members[0])
    else:
        read = _first_that_fits([_converter(member) for member in members])
    if NoneType not in get_args(annotation):
        return read
    return lambda value, folder: None if value is None else read(value, folder)


def _first_that_fits(reads: Iterable[Convert]) -> Convert:
    """Return what reads texts, numbers, and true and false."""

    def read(value: object, folder: Path) -> object:
        found: list[Misfit] = []
        for each in reads:
            try:
                return each(value, folder)
            except Unfit as error:
                found += error.misfits
        own = [misfit for misfit in found if misfit.kind == "other"]  # such as an empty text
        what = "text, a whole number, or true or false"
        raise Unfit(*own) if own else expected(what, "text", value=value)

    return read


def _convert_sequence(make: Callable[[list[object]], object], item: Convert) -> Convert:
    def read(value: object, folder: Path) -> object:
        if not isinstance(value, list | tuple):
            raise expected("a list", "list", value=value)
        made, found = list[object](), list[Misfit]()
        for at, each in enumerate(cast("list[object]", value)):
            try:
                made.append(item(each, folder))
            except Unfit as error:
                found += _below(at, error)
        if found:
            raise Unfit(*found)
        return make(made)

    return read


def _convert_mapping(read_key: Convert, read_value: Convert) -> Convert:
    def read(value: object, folder: Path) -> object:
        if not isinstance(value, dict):
            raise expected("keys and values", "keys and values", value=value)
        made, found = dict[object, object](), list[Misfit]()
        for key, each in cast("dict[str, object]", value).items():
            name: object = key
            try:
                name = read_key(key, folder)
            except Unfit as error:
                found += [replace(misfit, at_key=True) for misfit in _below(key, error)]
            try:
                made[name] = read_value(each, folder)
            except Unfit as error:
                found += _below(key, error)
        if found:
            raise Unfit(*found)
        return made

    return read


def _convert_section(cls: type[msgspec.Struct]) -> Convert:
    """Return what makes a struct of a mapping; its fields are looked at when a file has one."""

    def read(value: object, folder: Path) -> object:
        if not isinstance(value, dict):
            keys = cls.__struct_fields__
            raise expected("keys and values", "keys and values", value=value, keys=keys)
        given, fields = cast("dict[str, object]", value), _fields_of(cls)
        made, found = dict[str, object](), list[Misfit]()
        for name in given.keys() & fields.keys():
            field, convert_field = fields[name]
            try:
                made[name] = convert_field(given[name], folder)
            except Unfit as error:
                found += _of_field(field, error)
        if found or len(made) < len(given) or not made.keys() >= _required(cls):
            raise Unfit(*_in_order(fields, given, found))
        return cls(**made)

    return read


def _in_order(
    fields: Mapping[str, tuple[FieldInfo, Convert]],
    given: Mapping[str, object],
    found: Collection[Misfit],
) -> Iterator[Misfit]:
    """Yield what was found, and keys that are missing, in the order of the fields; then keys that are unknown."""
    for name, (field, _) in fields.items():
        if field.required and name not in given:
            yield Misfit(kind="missing", message="is required", location=(name,))
        yield from (misfit for misfit in found if misfit.location[0] == name)
    unknown = [name for name in given if name not in fields]
    unused = [name for name in fields if name not in given] if unknown else []
    for name in unknown:
        yield Misfit(
            kind="unknown",
            message="unknown key",
            location=(name,),
            keys=[*fields],
            unused=unused,
        )


@cache
def _required(cls: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(field.name for field in msgspec.structs.fields(cls) if field.required)


@cache
def _fields_of(cls: type[msgspec.Struct]) -> Mapping[str, tuple[FieldInfo, Convert]]:
    """Return the fields of a struct, and what converts the value of each."""
    fields = msgspec.structs.fields(cls)
    if any(is_secret(field.type) for field in fields) and not issubclass(cls, Confidential):
        raise TypeError(f"{cls.__name__} has secrets, and would show them")
    return {field.name: (field, _converter(field.type)) for field in fields}


def _below(key: str | int, error: Unfit) -> Iterator[Misfit]:
    """Yield the misfits of a value, seen from what has it at this key."""
    for misfit in error.misfits:
        yield replace(misfit, location=(key, *misfit.location))


def _of_field(field: FieldInfo, error: Unfit) -> Iterator[Misfit]:
    hidden = is_secret(field.type)
    for misfit in _below(field.name, error):
        yield replace(misfit, is_secret=True) if hidden else misfit


def _whole_number(value: object, _: Path) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise expected("a whole number", "number", value=value)
    return value


def _true_or_false(value: object, _: Path) -> bool:
    if not isinstance(value, bool):
        raise expected("true or false", "bool", value=value)
    return value


def _any_value(value: object, _: Path) -> object:
    """Return a value of JSON as it is."""
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError as error:
        raise unfit("has characters that are no Unicode") from error
    return value


_SCALARS: Mapping[Any, Convert] = {
    str: lambda value, _: read_text(value),
    int: _whole_number,
    bool: _true_or_false,
    object: _any_value,
}
