"""What is a person shown of scope values? (RFC 6749 §3.3)"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from service.model.registry import Registry
from service.model.resources import Scope
from service.protocol.scope import OFFLINE_ACCESS


def shown_scopes(registry: Registry, scope: AbstractSet[str]) -> list[Scope]:
    """What the registry says of each value, offline_access last; one it does not know has a name only."""
    names = sorted(scope, key=lambda name: (name == OFFLINE_ACCESS, name))
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
