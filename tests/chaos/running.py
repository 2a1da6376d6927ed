"""Runs scenarios one after the other: starts what they need, lets the load go on around each, and judges."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from typing import Any

import click
from aiohttp import ClientSession, DummyCookieJar, TCPConnector

from tests.chaos.answers import Caller
from tests.chaos.configuration import configuration
from tests.chaos.hearing import all_heard, events_to, hearing, open_socket
from tests.chaos.ledger import Ledger
from tests.chaos.load import load
from tests.chaos.promises import breaches, failures
from tests.chaos.report import Outcome, crashed, outcome, show
from tests.chaos.scenarios import Scenario
from tests.chaos.site import Site
from tests.chaos.stage import Effort, Stage
from tests.chaos.verification import verify
from tests.chaos.watching import all_well, watching
from tests.driving.memory import folder_in_memory
from tests.driving.replicas import Fleet, fleet_running

REPLICAS = 3
LONGEST = 90
"""Seconds that a scenario may take at most."""
AUDIT = '"logger":"audit"'
LAST_WORDS = 20
"""How many lines of each replica's log, but for its audit events, are shown where a promise was broken."""


def run(scenarios: Sequence[Scenario], effort: Effort) -> list[Outcome]:
    """All of them; those that follow one another on the same store share one installation."""
    outcomes: list[Outcome] = []
    for _, same in groupby(scenarios, key=lambda each: (each.open_store, each.settings)):
        left = list(same)
        while left:
            outcomes += _run_on_one(left, effort)
    return outcomes


def _run_on_one(left: list[Scenario], effort: Effort) -> Iterator[Outcome]:
    """Run what is left until a promise is broken; what comes then begins on something whole."""
    scenario = left.pop(0)
    try:
        with installation(scenario) as (store, fleet, webhook):
            one = _run_one(scenario, store, fleet, webhook, effort)
            yield one
            while left and one.kept:
                one = _run_one(left.pop(0), store, fleet, webhook, effort)
                yield one
    except AssertionError as error:  # something did not start, or did not end
        one = crashed(scenario.name, error)
        show(one)
        yield one


@contextmanager
def installation(scenario: Scenario) -> Iterator[tuple[Any, Fleet, socket]]:
    """A store, and replicas behind a balancer that takes another one where a connection is refused."""
    with (
        TemporaryDirectory(prefix="chaos-", dir=folder_in_memory()) as folder,
        scenario.open_store(Path(folder, "store")) as store,
        open_socket() as webhook,
        fleet_running(
            Path(folder),
            configuration(
                store.url, scenario.users_of(store), events_to(webhook), **scenario.settings
            ),
            REPLICAS,
            balancer={"retries": 3, "redispatch": True},
            environ={"SERVICE_LOG_LEVEL": "error"},
        ) as fleet,
    ):
        yield store, fleet, webhook


def _run_one(
    scenario: Scenario, store: Any, fleet: Fleet, webhook: socket, effort: Effort
) -> Outcome:
    """The result; whatever happens, the next scenario can run."""
    try:
        one = asyncio.run(_under_load(scenario, store, fleet, webhook, effort))
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is this scenario's failure
        traceback.print_exc()
        one = crashed(scenario.name, error)
    show(one)
    if not one.kept:
        _show_last_words(fleet)
    return one


def _show_last_words(fleet: Fleet) -> None:
    for number, replica in enumerate(fleet.replicas, 1):
        replica.rest()
        said = [line for line in replica.lines if AUDIT not in line]
        for line in said[-LAST_WORDS:]:
            click.echo(f"    r{number} | {line}")


async def _under_load(
    scenario: Scenario, store: Any, fleet: Fleet, webhook: socket, effort: Effort
) -> Outcome:
    """Calm, the fault, recovery; then every promise is checked."""
    ledger, fault = Ledger(), scenario.fault()
    names = {f"r{number}": f"http://{each}" for number, each in enumerate(fleet.addresses, 1)}
    http = ClientSession(cookie_jar=DummyCookieJar(), connector=TCPConnector(limit=0))
    async with asyncio.timeout(LONGEST), http:
        site = Site(fleet.url, names, Caller(http, ledger.answers), ledger)
        async with watching(site), hearing(webhook, ledger):
            async with load(site):
                await asyncio.sleep(effort.calm)
                await scenario.run(Stage(store, fleet, site, fault, effort))
                await all_well(site, fault)
                await asyncio.sleep(effort.after)
            fault.well = max([each.ended for each in failures(ledger)], default=fault.mended)
            await verify(site)
            await all_heard(ledger)
    return outcome(scenario.name, ledger, fault, breaches(ledger, fault))
