"""Signs an authorization response as a JWT for its client alone, and encrypts it (JARM §2.1, §2.2)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.clients.keys import ClientKeys, Recipient
from service.clock import clock
from service.keys.jose import Key
from service.keys.jwe import DEFAULT_ENC
from service.model.client import Client

LIFETIME = 10 * 60
"""Seconds; JARM §2.1 recommends no more."""


class ResponseJwts(msgspec.Struct, frozen=True, kw_only=True):
    """Makes the responses of one client, by keys that are found before anything is granted."""

    client_id: str
    signing_key: Key
    recipient: Recipient | None
    """None if the client has not registered for encryption."""

    @classmethod
    async def find_keys(cls, client: Client, keys: ClientKeys) -> ResponseJwts:
        """Raise UnauthorizedClient if responses have to be encrypted and the client has no key for that."""
        alg, enc = (
            client.authorization_encrypted_response_alg,
            client.authorization_encrypted_response_enc,
        )
        return cls(
            client_id=client.client_id,
            signing_key=keys.ring.signing_key(client.authorization_signed_response_alg),
            recipient=alg and await keys.find_recipient(client, alg=alg, enc=enc or DEFAULT_ENC),
        )

    async def make(self, response: Mapping[str, str]) -> str:
        """Return a JWT of the parameters of a response, which hold `iss` already."""
        addressed = {**response, "aud": self.client_id, "exp": clock() + LIFETIME}
        signed = await self.signing_key.sign(addressed, typ="JWT")
        return self.recipient.encrypt(signed.encode(), cty="JWT") if self.recipient else signed
