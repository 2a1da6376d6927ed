"""How can what clients are sent be signed and encrypted? In the ways that some registered client has keys for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.keys.algorithms import ENCRYPTION_ALGORITHMS, MAC_ALGORITHMS
from service.keys.jwe import CONTENT_ENCRYPTION, SECRET_ALGORITHMS
from service.keys.keyring import KeyRing
from service.model.registry import LiveRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAlgorithms:
    """What discovery lists of identity tokens and userinfo (OpenID Connect Discovery §3)."""

    ring: KeyRing
    registry: LiveRegistry
    registration: bool
    """Whether clients may register themselves, and bring the keys they like."""

    def metadata(self, name: str) -> Mapping[str, object]:
        """The algorithms of `id_token` or `userinfo`; none for encryption where nobody could decrypt."""
        longest = self._longest_secret()
        macs = [alg for alg, length in MAC_ALGORITHMS.items() if length <= longest]
        signing = {f"{name}_signing_alg_values_supported": [*self.ring.algorithms, *macs]}
        encryption = [
            *(ENCRYPTION_ALGORITHMS if self._somebody_has_keys() else ()),
            *(SECRET_ALGORITHMS if longest else ()),
        ]
        if not encryption:
            return signing
        return {
            **signing,
            f"{name}_encryption_alg_values_supported": encryption,
            f"{name}_encryption_enc_values_supported": list(CONTENT_ENCRYPTION),
        }

    def _longest_secret(self) -> int:
        """The bytes of the longest secret whose value is known; one that is made here is long enough for all."""
        if self.registration:
            return max(MAC_ALGORITHMS.values())
        clients = self.registry.current.clients.values()
        secrets = (secret.value or "" for client in clients for secret in client.client_secrets)
        return max((len(secret.encode()) for secret in secrets), default=0)

    def _somebody_has_keys(self) -> bool:
        clients = self.registry.current.clients.values()
        return self.registration or any(client.jwks or client.jwks_uri for client in clients)
