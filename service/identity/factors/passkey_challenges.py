"""Asks for passkeys and checks them: a challenge counts once, for one browser and one purpose (WebAuthn Level 3 §13.4.3)."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Mapping
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from service.clock import clock
from service.events.factors import PasskeyRefusal
from service.model.factors import Passkey
from service.model.handle import digest
from service.protocol.octets import base64url, decode_base64url
from service.store.rate_limit import RateLimit
from service.store.stores import Stores

if TYPE_CHECKING:
    from service.identity.factors.webauthn import WebAuthn

ALGORITHMS = (-8, -7, -257)
"""Those of new passkeys, as COSE numbers them: Ed25519, ES256 and RS256 (WebAuthn Level 3 §5.4), the best first."""

LIFETIME = 15 * 60
"""Seconds that a challenge counts, which is as long as a sign-in may take."""

TIMEOUT = 5 * 60 * 1000
"""Milliseconds that a browser lets the user look for the authenticator."""

MAX_RESPONSE = 8192
"""Characters of an authenticator's response as JSON; with an attestation of a TPM it has 6,000."""

MAX_CREDENTIAL_ID = 1364
"""Characters, of 1023 bytes (§7.1)."""

MAX_AUTHENTICATOR_DATA = 1024
"""Characters; without extensions it has 50. Parsing it takes quadratic time."""

Purpose = Literal["enrolment", "sign-in", "second factor"]

_Base64url = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]*$")]
_CredentialId = Annotated[_Base64url, msgspec.Meta(min_length=1, max_length=MAX_CREDENTIAL_ID)]
_AuthenticatorData = Annotated[_Base64url, msgspec.Meta(max_length=MAX_AUTHENTICATOR_DATA)]
_Transport = Annotated[str, msgspec.Meta(pattern="^[a-z-]{1,20}$")]


class PasskeyRefused(Exception):
    """The response of an authenticator is not accepted; the text is for the audit log alone."""

    def __init__(
        self, reason: PasskeyRefusal, cause: str, *, unverified_credential_id: str | None = None
    ) -> None:
        super().__init__(cause)
        self.reason: PasskeyRefusal = reason
        self.unverified_credential_id = unverified_credential_id
        """The passkey that the response names; None where it was not read."""


class RelyingParty(msgspec.Struct, frozen=True, kw_only=True):
    """The name that passkeys are bound to, and the origin of the only pages that may ask for them."""

    rp_id: str
    origin: str


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """One request for a passkey: its user, browser and purpose; the response counts for exactly this."""

    purpose: Purpose
    browser: str
    """The value of its cookie."""
    address: str = ""
    """Where a user comes from of whom nothing else is known."""
    parked_id: str = ""
    """The authorization request; empty where the user signs in to the own account."""
    subject: str = ""
    """The user; empty where the passkey has to say who it is."""
    user_handle: str = ""
    """Of the passkeys that the user has, in an enrolment; empty for the first one."""

    @property
    def binding(self) -> str:
        who = f"{self.browser}\0{self.subject}\0{self.user_handle}"
        return digest(f"{self.purpose}\0{self.parked_id}\0{who}")

    def find_user_handle(self, challenge: str) -> str:
        """Return the user handle of a new passkey; of the first one it is as random as the challenge (§14.6.1)."""
        return self.user_handle or digest(f"user handle\0{challenge}")


class _Signed(msgspec.Struct, frozen=True, omit_defaults=True):
    """The authenticator's response: for a new passkey the first group of members, for a use the second (§5.1.8)."""

    client_data: _Base64url = msgspec.field(name="clientDataJSON")
    attestation: _Base64url = msgspec.field(name="attestationObject", default="")
    transports: Annotated[tuple[_Transport, ...], msgspec.Meta(max_length=8)] = ()
    authenticator_data: _AuthenticatorData = msgspec.field(name="authenticatorData", default="")
    signature: _Base64url = ""
    user_handle: _Base64url | None = msgspec.field(name="userHandle", default=None)


class _Response(msgspec.Struct, frozen=True):
    """RegistrationResponseJSON or AuthenticationResponseJSON (§5.1); further members are passed over."""

    id: _CredentialId
    response: _Signed
    type: Literal["public-key"]


class _ClientData(msgspec.Struct, frozen=True):
    """The browser's statement about the page that asked (§5.8.1)."""

    challenge: str
    cross_origin: bool = msgspec.field(name="crossOrigin", default=False)
    top_origin: str | None = msgspec.field(name="topOrigin", default=None)


_decode = msgspec.json.Decoder(_Response).decode
_decode_client_data = msgspec.json.Decoder(_ClientData).decode


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A response whose challenge counted, and counts no longer; nothing else of it is verified."""

    unverified: _Response
    challenge: str

    @property
    def unverified_credential_id(self) -> str:
        return self.unverified.id

    def for_library(self) -> Mapping[str, object]:
        response: dict[str, object] = msgspec.to_builtins(self.unverified)
        return response | {"rawId": self.unverified.id}


class Passkeys(msgspec.Struct, frozen=True, kw_only=True):
    """The ceremonies of one relying party."""

    party: RelyingParty
    stores: Stores
    rate_limit: RateLimit
    """Of the challenges for a user, or for a network."""

    async def ask_for_new(
        self, asking: Asking, *, username: str, display_name: str, known: Iterable[Passkey]
    ) -> Mapping[str, object]:
        """Return PublicKeyCredentialCreationOptionsJSON (§5.4); raise TooManyRequests.

        An authenticator that has one of the known passkeys makes no second one.
        """
        challenge = await self._new_challenge(asking)
        handle = asking.find_user_handle(challenge)
        return {
            "challenge": challenge,
            "rp": {"id": self.party.rp_id, "name": self.party.rp_id},
            "user": {"id": handle, "name": username, "displayName": display_name},
            "pubKeyCredParams": [{"type": "public-key", "alg": alg} for alg in ALGORITHMS],
            "excludeCredentials": [_descriptor(passkey) for passkey in known],
            "authenticatorSelection": {
                "residentKey": "preferred",
                "userVerification": "preferred",
            },
            "attestation": "none",
            "timeout": TIMEOUT,
        }

    async def ask(self, asking: Asking, *, among: Iterable[Passkey] = ()) -> Mapping[str, object]:
        """Return PublicKeyCredentialRequestOptionsJSON (§5.5); raise TooManyRequests.

        Where no user is known, the authenticator says who it is, and has to verify that.
        """
        return {
            "challenge": await self._new_challenge(asking),
            "rpId": self.party.rp_id,
            "allowCredentials": [_descriptor(passkey) for passkey in among],
            "userVerification": "discouraged" if asking.subject else "required",
            "timeout": TIMEOUT,
        }

    async def open(self, asking: Asking, response: str) -> Answer:
        """Use up the challenge that a response was made for, or raise PasskeyRefused."""
        if len(response) > MAX_RESPONSE:
            raise PasskeyRefused("malformed", "the response is too long")
        try:
            sent = _decode(response)
            said = _decode_client_data(decode_base64url(sent.response.client_data))
        except (ValueError, RecursionError) as error:
            raise PasskeyRefused("malformed", "the response is malformed") from error
        refused = partial(PasskeyRefused, unverified_credential_id=sent.id)
        challenges, key = self.stores.passkey_challenges, digest(said.challenge)
        (binding,) = await self.stores.kv.read(challenges.read(key))
        if binding is None or not hmac.compare_digest(binding, asking.binding):
            raise refused("expired", "the challenge is used, expired, or of another page")
        (dropped,) = await self.stores.kv.write(challenges.drop(key), durable=True)
        if not dropped:
            raise refused("expired", "the challenge is used")
        if said.cross_origin or said.top_origin is not None:
            raise refused("unverified", "a page in a frame of another site has asked")
        return Answer(unverified=sent, challenge=said.challenge)

    def register(self, asking: Asking, answer: Answer, *, name: str) -> Passkey:
        """Return the new passkey, or raise PasskeyRefused (§7.1)."""
        found = self._webauthn(answer).register(answer.for_library())
        return Passkey(
            credential_id=found.credential_id,
            public_key=found.public_key,
            user_handle=asking.find_user_handle(answer.challenge),
            sign_count=found.sign_count,
            backup_eligible=found.backup_eligible,
            transports=answer.unverified.response.transports,
            name=name,
            created_at=clock(),
        )

    def verify(self, answer: Answer, passkey: Passkey, *, alone: bool) -> Passkey:
        """Return the passkey as it is after this use, or raise PasskeyRefused (§7.2).

        Alone, it has to say who the user is, and that the authenticator has verified it.
        """
        handle = answer.unverified.response.user_handle
        if alone and not handle:
            raise PasskeyRefused("unverified", "the user handle is missing")
        if handle and not hmac.compare_digest(handle, passkey.user_handle):
            raise PasskeyRefused("unverified", "the user handle is of another user")
        used = self._webauthn(answer).verify(answer.for_library(), passkey, user_verification=alone)
        count, before = used.sign_count, passkey.sign_count
        if count <= before and (count, before) != (0, 0):
            raise PasskeyRefused("counter", f"{count} comes after {before}")
        return replace(used, last_used=clock())

    async def _new_challenge(self, asking: Asking) -> str:
        if asking.subject:
            await self.rate_limit.count(asking.subject)
        else:
            await self.rate_limit.count_network(asking.address)
        challenge = base64url(secrets.token_bytes(32))
        challenges = self.stores.passkey_challenges
        await self.stores.kv.write(challenges.put(asking.binding, digest(challenge), ttl=LIFETIME))
        return challenge

    def _webauthn(self, answer: Answer) -> WebAuthn:
        from service.identity.factors import webauthn  # noqa: PLC0415 - a library, for those who use passkeys

        return webauthn.WebAuthn(
            rp_id=self.party.rp_id, origin=self.party.origin, challenge=answer.challenge
        )


def find_relying_party(issuer: str, rp_id: str | None) -> RelyingParty | None:
    """Return the relying party; None where browsers have no passkeys: on IP addresses, and without TLS (§5.1.3)."""
    url = urlsplit(issuer)
    host = url.hostname or ""
    is_local = host == "localhost" or host.endswith(".localhost")
    if _is_address(host) or (url.scheme != "https" and not is_local):
        return None
    is_usual = url.port in {None, 443 if url.scheme == "https" else 80}
    origin = f"{url.scheme}://{host}" + ("" if is_usual else f":{url.port}")
    return RelyingParty(rp_id=rp_id or host, origin=origin)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _descriptor(passkey: Passkey) -> Mapping[str, object]:
    """Return PublicKeyCredentialDescriptorJSON (§5.8.3)."""
    described = {"type": "public-key", "id": passkey.credential_id}
    return described | ({"transports": passkey.transports} if passkey.transports else {})
