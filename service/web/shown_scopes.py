"""What is a person shown of scope values? (RFC 6749 §3.3)"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from service.model.registry import Registry
from service.model.resources import Scope
from service.protocol.scope import OFFLINE_ACCESS


def shown_scopes(registry: Registry, scope: AbstractSet[str]) -> list[Scope]:
    """What the registry says of each value, in its order; one it does not know has a name only."""
    known = [*registry.identity_resources, *registry.api_scopes]
    others = sorted(scope - set(known), key=lambda name: (name == OFFLINE_ACCESS, name))
    names = [*(name for name in known if name in scope), *others]
    return [registry.scope(name) or _undescribed(name) for name in names]


def _undescribed(name: str) -> Scope:
    return Scope(
        name=name,
        display_name=None,
        description=None,
        required=False,
        emphasize=False,
        show_in_discovery=False,
        user_claims=(),
    )
