"""Shows scope values and claims to users (RFC 6749 §3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import cast

from service.model.registry import Registry
from service.model.resources import Scope
from service.protocol.scope import OFFLINE_ACCESS


def shown_scopes(registry: Registry, scope: AbstractSet[str]) -> list[Scope]:
    """Return the scopes in the registry's order; one that it does not know has a name only."""
    known = [*registry.identity_resources, *registry.api_scopes]
    others = sorted(scope - set(known), key=lambda name: (name == OFFLINE_ACCESS, name))
    names = [*(name for name in known if name in scope), *others]
    return [registry.scope(name) or Scope(name=name) for name in names]


def shown_values(user_claims: Mapping[str, object], names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the claims that a user can read, each with its name; `sub` is not one of them."""
    texts = ((name, _text(user_claims.get(name))) for name in dict.fromkeys(names) if name != "sub")
    return [(name, text) for name, text in texts if text]


def _text(value: object) -> str:
    if isinstance(value, dict):  # an address (OIDC Core §5.1.1)
        value = cast("dict[str, object]", value).get("formatted")
    return value if isinstance(value, str) else ""
