"""Faults of the service itself: replicas that go, another registry, another key."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import DEVNULL
from typing import Any

import yaml

from tests.chaos.machines import REFERENCE
from tests.chaos.stage import Stage
from tests.chaos.watching import last_looks
from tests.driving.registry import client_in, hashed

NEWCOMER = "newcomer"


async def replica_killed(stage: Stage[Any]) -> None:
    """One process is gone without a word, and is started again."""
    victim = stage.fleet.replicas[0]
    stage.fault.strikes()
    victim.kill()
    await stage.hold()
    await stage.bring_back(victim)


async def replica_drained(stage: Stage[Any]) -> None:
    """One process gets SIGTERM, as in a rolling update: no caller notices."""
    victim = stage.fleet.replicas[0]
    with stage.fault.lasting():
        code = await asyncio.to_thread(victim.stop)
        await stage.bring_back(victim)
    if code != 0:
        stage.fault.broken.append(f"the drained replica ended with {code}")


async def registry_reloaded(stage: Stage[Any]) -> None:
    """A new client is known everywhere, and a file with an error changes nothing."""
    before, in_force = stage.fleet.config_file.read_text(), _registries(stage)
    with stage.fault.lasting():
        await _reload(stage, _with_a_newcomer(before), "registry_reloaded")
        await _ask_for_tokens(stage)
        await stage.until(
            lambda: len(_registries(stage)) == 1 and _registries(stage) != in_force,
            seconds=3,
            what="every replica tells of the same new registry",
        )
        await _reload(stage, "clients: 7", "registry_reload_refused")
        await _ask_for_tokens(stage)
    await _reload(stage, before, "registry_reloaded")


async def key_rotated(stage: Stage[Any]) -> None:
    """Another key signs as soon as every replica has published it."""
    signed = stage.site.ledger.signed
    old = {each.kid for each in signed}
    with stage.fault.lasting():
        await _command("keys", "rotate", "--now", "--config", str(stage.fleet.config_file))
        await stage.until(
            lambda: not old & {each.kid for each in signed[-10:]},
            seconds=15,
            what="another key signs everywhere",
        )


def _with_a_newcomer(registry: str) -> str:
    changed = yaml.safe_load(registry)
    newcomer = {"client_id": NEWCOMER, "client_secrets": [{"sha256": hashed(NEWCOMER)}]}
    changed["clients"].append(client_in(changed, REFERENCE) | newcomer)
    return yaml.safe_dump(changed)


def _registries(stage: Stage[Any]) -> set[str | None]:
    """The generations that replicas have told of last."""
    return {look.registry for look in last_looks(stage.site).values()}


async def _reload(stage: Stage[Any], content: str, event: str) -> None:
    """Change the file, tell every replica, and wait for what each says to it."""
    stage.fleet.config_file.write_text(content)
    for replica in stage.fleet.replicas:
        replica.send(signal.SIGHUP)
    for replica in stage.fleet.replicas:
        await asyncio.to_thread(replica.event, event)


async def _ask_for_tokens(stage: Stage[Any]) -> None:
    """As the new client, at every replica; a refusal would be a breach as any other."""
    site = stage.site
    for replica in site.replicas:
        form = {"grant_type": "client_credentials", "scope": "api1"}
        url = f"{site.url}/connect/token"
        await site.caller.post("newcomer", url, auth=NEWCOMER, at=replica, **form)


async def _command(*words: str) -> None:
    """`python -m service …`, which has to succeed."""
    command = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "service", *words, stdout=DEVNULL, stderr=DEVNULL
    )
    assert await command.wait() == 0, words
