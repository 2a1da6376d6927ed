"""The authentication contexts that a request asks for, and those that registrations demand (OIDC Core §5.5.1.1, RFC 9470 §4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec
from msgspec.structs import replace

from service.model.client import Client
from service.model.registry import Registry
from service.model.session import Session
from service.protocol.authorization_details import Detail
from service.protocol.claims import ClaimsParameter
from service.tokens.target import required_contexts


class AskedAcr(msgspec.Struct, frozen=True, kw_only=True):
    """The authentication contexts asked for, the best one first; empty if any will do."""

    values: tuple[str, ...]
    essential: bool = False
    """Whether a sign-in that meets none of them is refused (OIDC Core §5.5.1.1)."""
    or_any: bool = False
    """Whether tokens name the session's own context if it meets none of them."""
    required: frozenset[str] = frozenset()
    """All those that the registrations of client, scope values and APIs demand (required_acr)."""

    @property
    def is_asked(self) -> bool:
        """Whether any context is asked for or demanded."""
        return bool(self.values or self.required)

    @property
    def is_insisted_on(self) -> bool:
        """Whether a sign-in can fail to meet it."""
        return self.essential or bool(self.required)

    def without_wish(self) -> AskedAcr:
        """Return what is insisted on alone."""
        return self if self.essential else replace(self, values=())

    def met_by(self, session: Session, registry: Registry) -> str | None:
        """Return the first one that the session's sign-in meets; never a weaker one than is required."""
        values = self._find_values(registry) if self.required else self.values
        met = registry.acr_met(session.methods, values, acr=session.acr)
        if met is None and self.or_any:
            return registry.acr_met(session.methods, acr=session.acr)
        return met

    def _find_values(self, registry: Registry) -> tuple[str, ...]:
        """Return the values that are at least as strong as the required ones."""
        known = [context.acr for context in registry.authentication_contexts]
        floor = max((known.index(acr) for acr in self.required if acr in known), default=0)
        values = tuple(one for one in self.values if one not in known[:floor])
        if self.values and not values:  # less was asked for than is required
            values = tuple(known[floor:])
        return values

    def is_satisfied_by(self, amr: tuple[str, ...], registry: Registry, *, acr: str | None) -> bool:
        """Return whether a sign-in by these methods meets all that is insisted on."""
        return self.find_unmet(amr, registry, acr=acr) is None

    def find_unmet(
        self, amr: tuple[str, ...], registry: Registry, *, acr: str | None = None
    ) -> str | None:
        """Return a context that is insisted on and not met, or several of which one would be enough."""
        if not self.is_insisted_on:
            return None
        asked = [(one,) for one in self.required] + ([self.values] if self.essential else [])
        unmet = (" ".join(each) for each in asked if registry.acr_met(amr, each, acr=acr) is None)
        return next(unmet, None)

    def is_wish_met_by(self, amr: tuple[str, ...], registry: Registry, *, acr: str | None) -> bool:
        """Return whether it meets one of those that are asked for, insisted on or not."""
        return not self.values or registry.acr_met(amr, self.values, acr=acr) is not None

    def is_met_by(self, amr: tuple[str, ...], registry: Registry, *, acr: str | None) -> bool:
        """Return whether it meets all that is insisted on, and one of those that are asked for."""
        return self.is_satisfied_by(amr, registry, acr=acr) and self.is_wish_met_by(
            amr, registry, acr=acr
        )


def combine_acr(
    acr_values: Collection[str], parameter: ClaimsParameter, required: frozenset[str]
) -> AskedAcr:
    """Combine acr_values with the claims parameter, which counts first if it names values."""
    claim = parameter.acr
    if claim is None:
        return AskedAcr(values=tuple(acr_values), required=required)
    decides = claim.essential or bool(claim.values)
    return AskedAcr(
        values=parameter.acr_values if decides else tuple(acr_values),
        essential=claim.essential,
        or_any=not claim.essential,
        required=required,
    )


def find_required_acr(
    client: Client,
    registry: Registry,
    scope: frozenset[str],
    resources: Collection[str],
    details: Iterable[Detail],
) -> frozenset[str]:
    """Return what registrations demand of users, for the client and for all that it asks for.

    Without `resource`, a token request may name any API that understands something of the scope.
    """
    if not registry.demands_acr:
        return frozenset() if client.required_acr is None else frozenset({client.required_acr})
    scope = registry.cut_scope(scope, resources)
    nameable = [each.name for one in scope for each in registry.resources_by_scope.get(one, ())]
    apis = {*(resources or nameable), *registry.find_apis_of(details)}
    required = required_contexts(registry, scope, apis)
    return required | {client.required_acr} if client.required_acr is not None else required
