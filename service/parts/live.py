"""Builds the grants, connects reload and metrics with what was built after them, and runs background work."""

from __future__ import annotations

from asyncio import Task, create_task, sleep, wait
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from typing import Never

from aiohttp import web

from service.config.problem import CannotServe, Finding
from service.grants import GrantParts, Grants
from service.grants.token_exchange.subject_tokens import SubjectTokens
from service.grants.token_exchange.transaction_token import TransactionTokens
from service.http.remembered_answers import RememberedAnswers
from service.keys.key_source import follow_keys
from service.keys.schedule import KeyFileError
from service.model.registry import Registry
from service.observe.metrics import Metrics
from service.observe.readings import Readings
from service.parts.whole import Parts
from service.tokens.granting import GrantServices

SETTLING = 1
"""Seconds after which other workers can show what this one has counted, even if it serves no request."""


def build_transaction_tokens(parts: Parts) -> TransactionTokens:
    """Build what makes transaction tokens, for the grant and for gateways."""
    shared = parts.shared
    return TransactionTokens(
        issuer=shared.issuer,
        active_tokens=parts.tokens.active_tokens,
        client_keys=parts.keys.of_clients,
        clock_skew=shared.configuration.server.clock_skew,
        emit=shared.emit,
    )


def build_grants(parts: Parts) -> Grants:
    """Build all grants; raise CannotServe if an extension grant of the operator cannot be made."""
    shared, tokens = parts.shared, parts.tokens
    services = GrantServices(
        issuer=shared.issuer,
        registry=shared.registry,
        users=parts.sign_in.users,
        active_tokens=tokens.active_tokens,
        emit=shared.emit,
    )
    subject_tokens = SubjectTokens(
        issuer=shared.issuer,
        active_tokens=tokens.active_tokens,
        id_tokens=tokens.id_tokens,
        sessions=parts.records.sessions,
        assertions=parts.sign_in.assertions,
    )
    return Grants(
        GrantParts(
            services=services,
            sign_in=parts.sign_in.local,
            second_factors=parts.factors.second_factors,
            revocation=tokens.revocation,
            polling=tokens.polling,
            assertions=parts.sign_in.assertions,
            subject_tokens=subject_tokens,
            transaction_tokens=build_transaction_tokens(parts),
        )
    )


def build_remembered_answers(parts: Parts) -> RememberedAnswers | None:
    """Build what introspection may answer without asking Redis, which tells of changes; None where that is not certain."""
    shared, tracking = parts.shared, parts.shared.kv.tracking
    if tracking is None or shared.configuration.users.source != "file":
        return None
    return RememberedAnswers(tracking, shared.registry, parts.keys.ring)


def connect(parts: Parts, grants: Grants) -> None:
    """Let a reload prepare grants and keys, and let metrics read the state of the parts."""
    shared, ring = parts.shared, parts.keys.ring
    kv, memory, registry = shared.kv, shared.store_memory, shared.registry
    users = parts.sign_in.users

    def prepare(following: Registry) -> None:
        grants.prepare(following)
        try:
            parts.keys.source.read_files()
        except KeyFileError as error:
            raise CannotServe(Finding(("signing", "keys"), str(error))) from error

    registry.prepare = prepare
    shared.metrics.watch(
        Readings(
            grant_types=lambda: grants.types,
            store_seconds_away=lambda: kv.seconds_away,
            store_failures=lambda: kv.failures,
            store_waiting=lambda: kv.waiting,
            store_tracked=lambda: 0 if kv.tracking is None else len(kv.tracking),
            circuit_open=lambda: kv.circuit_open,
            store_memory=lambda: (memory.used, memory.limit),
            users_failures=lambda: users.failures,
            users_waiting=lambda: users.waiting,
            users_circuit_open=lambda: users.circuit_open,
            registry_generation=lambda: registry.current.generation,
            signing_keys=lambda: ring.signing_kids,
            signing_since=lambda: ring.signing_since,
            logout_deliveries=lambda: parts.logout_deliveries.queue.waiting,
        )
    )


def background_work(parts: Parts) -> Callable[[web.Application], AsyncIterator[None]]:
    """Return what follows the keys and delivers logouts, and closes all connections at the end."""
    metrics, spans = parts.shared.metrics, parts.shared.spans
    # Read here and not in `run`, so that they are built before workers are forked.
    logouts, messages = parts.logout_deliveries, parts.ciba.deliveries

    async def run(_: web.Application) -> AsyncIterator[None]:
        async with nullcontext() if spans is None else spans.export():
            await parts.keys.source.start()
            works = (
                follow_keys(parts.keys.source),
                logouts.run(),
                messages.run(),
                parts.shared.store_memory.follow(),
                _settle(metrics),
            )
            tasks = [create_task(work) for work in works]
            yield
            for task in tasks:
                await _stop(task)
        metrics.settle()
        await parts.sign_in.users.close()
        await parts.shared.close()

    return run


async def _settle(metrics: Metrics) -> Never:
    while True:
        await sleep(SETTLING)
        metrics.settle()


async def _stop(task: Task[Never]) -> None:
    """Cancel until the task is over: up to Python 3.11, `asyncio.wait_for` can swallow a cancellation."""
    while not task.done():
        task.cancel()
        await wait([task], timeout=0.1)
