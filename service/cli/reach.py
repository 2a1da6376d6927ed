"""`graph`, `why`, `test`, `diff`: commands that answer which client can get tokens for which API, how, and since when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import msgspec

from service.admin.ways.answers import UnknownName, choose_edges, explain_reach, find_edges
from service.admin.ways.changes import find_reach, gained_edges
from service.admin.ways.drawing import FORMATS, Edge
from service.admin.ways.expected import find_failures, read_rows
from service.admin.ways.finding import find_entry, find_ways
from service.admin.ways.places import Places, find_workloads
from service.cli.settings import (
    FILE,
    file_option,
    load_settings,
    load_with_source,
    shown_as_refused,
)
from service.cli.table import format_option, print_json
from service.config.changes import registry_changes, settings_changes
from service.config.configuration import collector_paused


@click.command("graph")
@file_option
@click.option("--from", "client", help="Only the ways of this client.")
@click.option("--to", "api", help="Only the ways to this API resource, by its name or its URL.")
@click.option(
    "--format",
    "output",
    type=click.Choice(sorted(FORMATS)),
    default="mermaid",
    show_default=True,
    help="How the graph is written.",
)
@collector_paused()
def graph(file: Path, client: str | None, api: str | None, output: str) -> None:
    """Draw which client can get tokens for which API.

    Each line says how (directly, by delegation, by exchange, by an extension grant), with which
    scope, and in which file and line that is allowed. A client that workloads are shows the
    patterns of their rules.

    \b
    Example:
      token-service graph --to api2 --format svg > reach.svg
    """
    registry = load_settings(file).registry
    try:
        edges = choose_edges(registry, find_edges(registry), client, api)
    except UnknownName as error:
        raise click.ClickException(str(error)) from error
    click.echo(FORMATS[output](edges, find_workloads(registry)))


@click.command("why")
@click.argument("client")
@click.argument("api")
@click.argument("scope", required=False)
@file_option
@format_option
@collector_paused()
def why(client: str, api: str, scope: str | None, file: Path, output: str) -> None:
    """Say how CLIENT can get tokens for API, or what is missing.

    API is a name or a URL. With SCOPE, only tokens that hold this scope value count. Exits with 1 where there is no way.

    \b
    Example:
      token-service why frontend api2
    """
    registry = load_settings(file).registry
    edges = find_edges(registry)
    found = explain_reach(registry, edges, client, api, scope)
    if output == "json":
        print_json(msgspec.to_builtins(found))
    elif found.ways:
        for way in found.ways:
            click.echo(way.label)
    else:
        name = find_entry(registry, client)
        place = f" ({Places(registry).client(name)})" if name in registry.clients else ""
        click.echo(f"no way; {name} needs{place}:")
        for condition in found.missing:
            click.echo(f"  {condition}")
    raise SystemExit(0 if found.ways else 1)


@click.command("test")
@click.argument("expected", type=FILE, default="registry.test.yaml")
@file_option
@collector_paused()
def test(expected: Path, file: Path) -> None:
    """Check which client can get tokens for which API against EXPECTED.

    EXPECTED is a list of rows: {client: NAME, can: [API, …], cannot: [API, …]}, where "API SCOPE" means
    a token with that scope value, and {api: NAME, only: [CLIENT, …]}. Exits with 1 where one does not hold.

    \b
    Example:
      token-service test registry.test.yaml
    """
    with shown_as_refused({}):
        rows = read_rows(expected)
    registry = load_settings(file).registry
    failures = [*find_failures(rows, registry, find_ways(registry))]
    for failure in failures:
        click.echo(f"{expected}: {failure}")
    click.echo(f"{expected}: {len(rows)} rows, {len(failures)} failures", err=True)
    raise SystemExit(1 if failures else 0)


@click.command("diff")
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
@click.option("--exit-code", is_flag=True, help="Exit with 1 where there are differences.")
@click.option(
    "--fail-on-new-reach",
    is_flag=True,
    help="Exit with 1 where a client can newly get tokens for an API or a scope.",
)
@format_option
@collector_paused()
def diff(old: Path, new: Path, *, exit_code: bool, fail_on_new_reach: bool, output: str) -> None:
    """Print what changes if NEW replaces OLD, and who can newly get tokens for which API.

    OLD and NEW are configuration files. In the output, + is added, - is removed and ~ is changed.

    \b
    Example:
      git show HEAD:config.yaml > old.yaml && token-service diff old.yaml config.yaml
    """
    (before, old_source), (after, new_source) = load_with_source(old), load_with_source(new)
    changes = [*registry_changes(before.registry, after.registry)]
    need_restart = [*settings_changes(before, after)]
    could, can = [*find_reach(before, old_source)], [*find_reach(after, new_source)]
    gained, lost = [*gained_edges(could, can)], [*gained_edges(can, could)]
    if output == "json":
        reach = {"new_reach": gained, "lost_reach": lost}
        shown = {
            name: [msgspec.to_builtins(edge.view) for edge in edges]
            for name, edges in reach.items()
        }
        print_json({"changes": changes, "need_restart": need_restart, **shown})
    else:
        restarts = [f"~ {name} (needs a restart)" for name in need_restart]
        reaching = [*_reach_lines("+", gained), *_reach_lines("-", lost)]
        click.echo("".join(f"{line}\n" for line in (*changes, *restarts, *reaching)), nl=False)
    failed = (exit_code and (changes or need_restart)) or (fail_on_new_reach and gained)
    raise SystemExit(1 if failed else 0)


def _reach_lines(sign: str, edges: Iterable[Edge]) -> Iterator[str]:
    for edge in edges:
        yield f"{sign} reach: {edge.way.client_id} -> {edge.way.api} {edge.view.label}"
