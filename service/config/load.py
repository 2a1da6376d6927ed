"""Loads config.yaml: a configuration that is checked by the given rules, or every problem at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from json import JSONEncoder
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from service.config.configuration import Configuration, collector_paused
from service.config.detail_schemas import read_types
from service.config.judge import FileRule, judge
from service.config.problem import ConfigError, Finding, Location, Problem
from service.config.reading.files import FilesRead
from service.config.reading.source import Source
from service.config.reading.values import Value
from service.config.registry import build_registry
from service.config.schema.file import ConfigurationFile, Settings
from service.config.schema.users import SOURCES
from service.model.catalogue import Catalogue

_SETTINGS = Settings.__struct_fields__
_NO_CONTENT = {*_SETTINGS, "include"} - {"admin"}
"""The keys that say nothing of the registry, apart from `users.list`."""
_SHOWN_WITH_LINES = ("clients", "api_resources")


@collector_paused()
def load(
    path: Path, environ: Mapping[str, str], catalogue: Catalogue, rules: Iterable[FileRule]
) -> tuple[Configuration, Source]:
    """Load a file and those that it includes, and what knows the place of each value; raise ConfigError with every problem."""
    files, at_start_only = FilesRead(), FilesRead()
    note = _rule_that_notes_files(files, at_start_only)
    source, file, problems = _read(path, environ, files, (note, *rules))
    if file is None or any(problem.severity == "error" for problem in problems):
        files.include(at_start_only)  # one of them may be the reason, and may be mended
        raise ConfigError(problems, files)
    details_types = read_types(file.authorization_details_types, files)
    generation = _hash_registry(source.values, [each.schema for each in details_types.values()])
    settings: dict[str, Any] = {name: getattr(file, name) for name in _SETTINGS}
    settings["users"] = replace(file.users, list=())
    configuration = Configuration(
        file=path,
        files=files,
        catalogue=catalogue,
        registry=build_registry(
            file,
            details_types,
            rule_positions=_rule_positions(file, source),
            lines={name: source.find_lines(name) for name in _SHOWN_WITH_LINES},
            generation=generation,
        ),
        warnings=problems,
        places=_places(file, source),
        **settings,
    )
    return configuration, source


@collector_paused()
def inspect(
    path: Path, environ: Mapping[str, str], rules: Iterable[FileRule]
) -> tuple[Problem, ...]:
    """Return every problem of a configuration file."""
    try:
        return _read(path, environ, FilesRead(), rules)[2]
    except ConfigError as error:
        return error.problems


def _read(
    path: Path,
    environ: Mapping[str, str],
    files: FilesRead,
    rules: Iterable[FileRule],
) -> tuple[Source, ConfigurationFile | None, tuple[Problem, ...]]:
    source = Source(path, environ, files)
    directory = path.absolute().parent
    file, findings = judge(source.values, rules, replaced=source.replaced, directory=directory)
    return source, file, source.problems(findings)


def _rule_that_notes_files(files: FilesRead, at_start_only: FilesRead) -> FileRule:
    """Return a rule without findings; it notes files before later rules read them."""

    def note(file: ConfigurationFile) -> Iterable[Finding]:
        tls, signing, templates = file.server.tls, file.signing, file.ui.templates
        read_again: list[object] = [each.schema for each in file.authorization_details_types]
        read_again += [tls.certificate, tls.private_key, tls.client_ca] if tls else []
        admin_tls = file.admin.tls if file.admin else None
        read_again += [admin_tls.certificate, admin_tls.private_key] if admin_tls else []
        read_again += [file.mtls.client_ca, *(tenant.logo for tenant in file.tenants)]
        read_again += [key.path for key in signing.keys] if signing.source == "files" else []
        read_again += [each.jwks for each in signing.verify_only]
        shown = [templates, *templates.rglob("*")] if templates else []
        read_once = [file.outgoing.ca_file, file.ui.logo, *shown]
        for noted, named in ((files, read_again), (at_start_only, read_once)):
            for path in named:
                if isinstance(path, Path):
                    noted.note(path)
        return ()

    return note


def _places(file: ConfigurationFile, source: Source) -> Mapping[Location, Problem]:
    kept: list[Location] = [
        (),
        ("server", "tls"),
        ("admin", "tls"),
        ("signing", "keys"),
        ("signing",),
    ]
    kept += [("signing", "encryption_key"), ("users", "source")]
    kept += [("users", name) for name in SOURCES if name == file.users.source]
    kept += [("extension_grants", at, "handler") for at in range(len(file.extension_grants))]
    return {location: source.problem(Finding(location, "")) for location in kept}


def _rule_positions(file: ConfigurationFile, source: Source) -> tuple[str, ...]:
    """Return the file and line of every rule of token exchange."""
    rules = range(len(file.token_exchange))
    return tuple([source.find_line(("token_exchange", at)) for at in rules])


def _hash_registry(values: Value, schemas: Sequence[object]) -> str:
    """Return a short hash of the registry, the same in every replica that reads the same files.

    The schemas may be in files of their own.

    It goes entry by entry, because one long text would take as much memory as all entries.
    """
    encode = JSONEncoder(sort_keys=True).encode
    hashed = sha256()
    for location, value in _split((), values):
        if location[0] not in _NO_CONTENT or location[:2] == ("users", "list"):
            hashed.update(encode([location, value]).encode())
    if schemas:
        hashed.update(encode(schemas).encode())
    return hashed.hexdigest()[:16]


def _split(location: Location, value: Value) -> Iterator[tuple[Location, Value]]:
    """Yield all values below a location, and lists entry by entry."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from _split((*location, key), value[key])
    elif isinstance(value, list):
        yield from ((location, entry) for entry in value)
    else:
        yield location, value
