"""In which way should the person sign in, and does the client insist? (OIDC Core §3.1.2.1, §5.5.1.1)"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from service.model.registry import Registry
from service.model.session import Session
from service.protocol.claims_request import ClaimsParameter


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAcr:
    """The authentication contexts that will do, the best one first; none for any."""

    values: tuple[str, ...]
    essential: bool
    """Whether no other will do."""
    or_any: bool
    """Whether the session's own is told where none of them is met."""

    def met_by(self, session: Session, registry: Registry) -> str | None:
        """Return the one of them that a sign-in meets."""
        met = registry.acr_met(session.methods, self.values, acr=session.acr)
        if met is None and self.or_any:
            return registry.acr_met(session.methods, acr=session.acr)
        return met


def asked_acr(acr_values: Collection[str], parameter: ClaimsParameter) -> AskedAcr:
    """What the claims parameter says counts before acr_values; what it only wishes for is a wish."""
    claim = parameter.acr
    if claim is None:
        return AskedAcr(values=tuple(acr_values), essential=False, or_any=False)
    decides = claim.essential or bool(claim.values)
    return AskedAcr(
        values=parameter.acr_values if decides else tuple(acr_values),
        essential=claim.essential,
        or_any=not claim.essential,
    )
