"""Builds the grants, and connects reload and metrics with parts that were built after them."""

from __future__ import annotations

from service.config.problem import CannotServe, Finding
from service.grants import GrantParts, Grants
from service.keys.key_source import KeyFileError
from service.model.registry import Registry
from service.observe.readings import Readings
from service.parts import Parts
from service.tokens.granting import GrantServices


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
    return Grants(
        GrantParts(
            services=services,
            stores=shared.stores,
            sign_in=parts.sign_in.local,
            revocation=tokens.revocation,
        )
    )


def connect(parts: Parts, grants: Grants) -> None:
    """Let a reload prepare grants and keys, and let metrics read the state of the parts."""
    shared, ring = parts.shared, parts.keys.ring
    kv, memory, registry = shared.kv, shared.store_memory, shared.registry

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
            circuit_open=lambda: kv.circuit_open,
            store_memory=lambda: (memory.used, memory.limit),
            registry_generation=lambda: registry.current.generation,
            signing_keys=lambda: ring.signing_kids,
            signing_since=lambda: ring.signing_since,
            logout_deliveries=lambda: parts.logout_deliveries.queue.waiting,
            now=shared.now,
        )
    )
