"""Lists for discovery the algorithms that some client has keys for (OpenID Connect Discovery §3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.keys.algorithms import ENCRYPTION_ALGORITHMS, MAC_ALGORITHMS
from service.keys.jwe import CONTENT_ENCRYPTION, SECRET_ALGORITHMS
from service.keys.keyring import KeyRing
from service.model.registry import LiveRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAlgorithms:
    ring: KeyRing
    registry: LiveRegistry
    registration: bool
    """Whether clients may register, with any keys."""

    def metadata(self, name: str) -> Mapping[str, object]:
        """Return those of `id_token` or `userinfo`; encryption only if some client can decrypt."""
        clients = self.registry.current.clients.values()
        secrets = [secret.value or "" for client in clients for secret in client.client_secrets]
        longest = max((len(secret.encode()) for secret in secrets), default=0)
        if self.registration:  # the service generates secrets that are long enough for all
            longest = max(MAC_ALGORITHMS.values())
        macs = [alg for alg, length in MAC_ALGORITHMS.items() if length <= longest]
        signing = {f"{name}_signing_alg_values_supported": [*self.ring.algorithms, *macs]}
        has_keys = self.registration or any(client.jwks or client.jwks_uri for client in clients)
        encryption = [
            *(ENCRYPTION_ALGORITHMS if has_keys else ()),
            *(SECRET_ALGORITHMS if longest else ()),
        ]
        if not encryption:
            return signing
        return {
            **signing,
            f"{name}_encryption_alg_values_supported": encryption,
            f"{name}_encryption_enc_values_supported": list(CONTENT_ENCRYPTION),
        }
