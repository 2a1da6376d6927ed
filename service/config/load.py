"""How the bytes of config.yaml become a checked configuration, or every problem at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from service.config.configuration import NEEDS_RESTART, Configuration
from service.config.cooperative_steps import collector_paused, let_go
from service.config.generation import generation_of
from service.config.judge import judge
from service.config.problem import ConfigError, Finding, Problem
from service.config.reading.environment import ENVIRONMENT, find_unknown_variables, override_values
from service.config.reading.files import FilesRead
from service.config.reading.include import included_by
from service.config.reading.part import Part, read_part
from service.config.reading.whole import Whole
from service.config.registry import build_registry
from service.config.rules.rule import FileRule
from service.config.schema.file import ConfigurationFile
from service.config.source_positions import Landmarks
from service.model.catalogue import Catalogue


@collector_paused()
def load(
    path: Path, environ: Mapping[str, str], catalogue: Catalogue, rules: Iterable[FileRule] = ()
) -> Configuration:
    """Read a configuration file and what it includes; a ConfigError carries all that is wrong with it.

    `rules` are further ones, such as those of a start.
    """
    files, at_start_only = FilesRead(), FilesRead()
    noting = _noting(files, at_start_only)
    whole, file, problems = _read(path, environ, catalogue, files, (noting, *rules))
    configuration = None
    if file is not None and all(problem.severity == "warning" for problem in problems):
        configuration = Configuration(
            file=path,
            files=files,
            catalogue=catalogue,
            registry=build_registry(file, catalogue, generation=generation_of(whole.values)),
            warnings=problems,
            landmarks=Landmarks.of(file, whole.problem),
            **{name: getattr(file, name) for name in NEEDS_RESTART},
        )
    else:
        # One of them has refused this configuration perhaps, and may be mended.
        files.include(at_start_only)
    pieces = [*whole.entries(), *(file.clients if file else ())]
    del whole, file
    let_go(pieces)
    if configuration is None:
        raise ConfigError(problems, files)
    return configuration


@collector_paused()
def inspect(
    path: Path, environ: Mapping[str, str], catalogue: Catalogue, rules: Iterable[FileRule] = ()
) -> tuple[Problem, ...]:
    """All that is to be said of a configuration file, under further rules too."""
    try:
        return _read(path, environ, catalogue, FilesRead(), rules)[2]
    except ConfigError as error:
        return error.problems


def _read(
    path: Path,
    environ: Mapping[str, str],
    catalogue: Catalogue,
    files: FilesRead,
    rules: Iterable[FileRule],
) -> tuple[Whole, ConfigurationFile | None, tuple[Problem, ...]]:
    """All files as far as they can be understood, and all that was found in them."""
    main, *parts = _parts([path], environ, files)
    included = included_by(path, main.values, files)
    parts += _parts(included.paths, environ, files)
    whole = Whole(main, parts)
    overriding = override_values(whole.values, environ)
    whole.overridden = {at: name for name, at in ENVIRONMENT.items() if at in overriding}
    replaced, directory = whole.replaced | overriding, path.absolute().parent
    file, findings = judge(
        whole.values, catalogue, replaced=replaced, directory=directory, rules=rules
    )
    unresolved = whole.unresolved
    judged = [finding for finding in findings if finding.location not in unresolved]
    problems = [whole.problem(each) for each in (*included.findings, *judged)]
    referred = {name for part in (main, *parts) for name in part.variables}
    problems += find_unknown_variables(environ, referred)
    return whole, file, _in_order([*whole.problems_of_parts(), *problems])


def _parts(paths: Iterable[Path], environ: Mapping[str, str], files: FilesRead) -> list[Part]:
    """Each file; a ConfigError tells of all those that are no YAML."""
    parts: list[Part] = []
    unreadable: list[Problem] = []
    for path in paths:
        try:
            parts.append(read_part(path, environ, files))
        except ConfigError as error:
            unreadable += error.problems
    if unreadable:
        raise ConfigError(unreadable, files)
    return parts


def _noting(files: FilesRead, at_start_only: FilesRead) -> FileRule:
    """Finds nothing, and takes note of the files that the rules after it read, and others again later."""

    def note(file: ConfigurationFile) -> Iterator[Finding]:
        tls, signing = file.server.tls, file.signing
        named = [tls.certificate, tls.private_key, tls.client_ca] if tls else []
        named += [key.path for key in signing.keys] if signing.source == "files" else []
        for path in named:
            if path is not None:
                files.note(path)
        if file.outgoing.ca_file is not None:
            at_start_only.note(file.outgoing.ca_file)
        if isinstance(file.ui.logo, Path):
            at_start_only.note(file.ui.logo)
        if file.ui.templates is not None:
            for path in (file.ui.templates, *file.ui.templates.rglob("*")):
                at_start_only.note(path)
        return iter(())

    return note


def _in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Each once; file by file, and in the order of its lines."""
    return tuple(
        sorted(set(problems), key=lambda each: (each.file, each.line, each.column, str(each)))
    )
