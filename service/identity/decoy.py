"""What a password is compared with where there is nothing to compare it with: as slow as the slowest user's hash."""

from __future__ import annotations

from service.model.registry import LiveRegistry
from service.model.user import PASSWORD_COST, User, hashing_work

_SALT_AND_HASH = "HQpv9uCcHMi675yh+cTvQQ$V3kjvBuxbAkNcPX/1fjJomSXGtfWQ7zhI+BUTpQbHlY"
"""Of a password that is lost."""


class Decoy:
    """Follows the costs of the registry's users; those of an operator's own user store are learnt."""

    def __init__(self, registry: LiveRegistry) -> None:
        """Take the registry whose users can sign in."""
        self._registry = registry
        self._users: tuple[User, ...] = ()
        self._cost = PASSWORD_COST

    @property
    def hash(self) -> str:
        """A hash that no known password has."""
        return f"$argon2id$v=19${self.cost}${_SALT_AND_HASH}"

    @property
    def cost(self) -> str:
        """The cost of the slowest hash, as PHC strings write it."""
        users = self._registry.current.users
        if users is not self._users:
            self._users = users
            costs = filter(hashing_work, (cost_of(user.password or "") for user in users))
            self._cost = max(costs, key=hashing_work, default=PASSWORD_COST)
        return self._cost

    def learn(self, stored: str) -> None:
        """Note a hash that is slower than all that are known."""
        self._cost = max(self.cost, cost_of(stored), key=hashing_work)


def cost_of(stored: str) -> str:
    """The parameters in an Argon2id hash, empty where there are none (RFC 9106 §3.1)."""
    parts = stored.split("$")
    return parts[3] if len(parts) > 3 else ""  # noqa: PLR2004 - `$argon2id$v=19$m=…,t=…,p=…$…`
