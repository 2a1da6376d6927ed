"""Signing in at an OpenID provider: away with a request, back with an answer to it (OIDC Core §3.1)."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from service.identity.providers.authorization_url import Wishes, authorization_url
from service.identity.providers.directory import KnownProvider, ProviderDirectory
from service.identity.providers.exchange import fetch_userinfo, redeem
from service.identity.providers.failures import (
    ProviderFailed,
    ProviderRefused,
    ProviderUnavailable,
    printable,
)
from service.identity.providers.id_token import Answer, check_id_token
from service.identity.providers.person import sign_in_of
from service.identity.sessions import SignIn
from service.keys.foreign_keys import UnknownKey
from service.keys.jose import JwtRefused, VerifiedClaims
from service.model.events import Emit, ProviderSignInFailed, ProviderSignInSucceeded
from service.model.handle import digest
from service.model.network import network_of
from service.model.one_time import Spent
from service.model.outgoing import HttpClient
from service.model.registry import IdentityProvider, LiveRegistry
from service.model.session import PendingSignIn
from service.protocol.errors import InvalidRequest
from service.protocol.params import Params
from service.protocol.prompt import LOGIN
from service.protocol.scope import OPENID
from service.store.rate_limit import RateLimit
from service.store.stores import Stores

CALLBACK = "/account/provider/callback"
"""Below the issuer: the one redirect URI that every provider has to register for this service."""

LIFETIME = 15 * 60
"""Seconds that a person has at the provider."""

_TEMPORARY = frozenset({"server_error", "temporarily_unavailable"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSignIn:
    """Sends people to providers and judges with what they come back."""

    redirect_uri: str
    registry: LiveRegistry
    directory: ProviderDirectory
    http: HttpClient
    stores: Stores
    rate_limit: RateLimit
    clock_skew: int
    emit: Emit
    now: Callable[[], int]

    def provider(self, name: str) -> IdentityProvider | None:
        """The provider of that name."""
        return self.registry.current.identity_providers.get(name)

    async def begin(
        self,
        provider: IdentityProvider,
        wishes: Wishes,
        *,
        browser: str,
        address: str,
        parked_id: str | None,
    ) -> str:
        """Where to send the browser; ProviderFailed where there is no telling.

        TooManyRequests where the network of this address has sent too many.
        """
        await self.rate_limit.count(network_of(address))
        try:
            known = await self.directory.find(provider.issuer)
        except ProviderFailed as failure:
            self._tell(provider, failure)
            raise
        pending = PendingSignIn(
            provider=provider.name,
            issuer=provider.issuer,
            issuer_is_sent=known.metadata.authorization_response_iss_parameter_supported,
            browser_digest=digest(browser),
            nonce=secrets.token_urlsafe(32),
            code_verifier=secrets.token_urlsafe(48),
            began_at=self.now(),
            anew=LOGIN in wishes.prompt,
            max_age=wishes.max_age,
        )
        state = f"{secrets.token_urlsafe(32)}.{parked_id or ''}"
        await self.stores.kv.write(
            self.stores.pending_sign_ins.put(pending, digest(state), "", ttl=LIFETIME)
        )
        return authorization_url(
            known.metadata,
            provider,
            pending,
            wishes,
            redirect_uri=self.redirect_uri,
            state=state,
        )

    async def take(self, params: Params, *, browser: str) -> tuple[PendingSignIn, IdentityProvider]:
        """The request that this answers, once, in the browser that made it; InvalidRequest otherwise."""
        records, selector = self.stores.pending_sign_ins, digest(params.get("state") or "")
        (pending,) = await self.stores.kv.read(records.read(selector, ""))
        if not isinstance(pending, PendingSignIn) or not hmac.compare_digest(
            pending.browser_digest, digest(browser)
        ):
            raise InvalidRequest("this answers no request of this browser, or comes too late")
        provider = self.provider(pending.provider)
        if provider is None or provider.issuer != pending.issuer:
            raise InvalidRequest("the identity provider is registered no more")
        _refuse_another_issuer(params.get("iss"), pending)
        attempt = secrets.token_urlsafe(12)
        marker = Spent(attempt=attempt, at=self.now())
        spending = records.spend(marker, selector, "", ttl=LIFETIME)
        (before,) = await self.stores.kv.write(spending, durable=True)
        if not records.was_won(before, attempt=attempt):
            raise InvalidRequest("this answer has been used")
        return pending, provider

    async def finish(
        self, pending: PendingSignIn, provider: IdentityProvider, params: Params
    ) -> SignIn:
        """Who signed in; ProviderFailed where the provider vouches for nobody."""
        try:
            claims, userinfo = await self._claims(pending, provider, _code(params))
        except ProviderFailed as failure:
            self._tell(provider, failure)
            raise
        who = sign_in_of(provider, claims, userinfo, now=self.now())
        self.emit(ProviderSignInSucceeded(provider=provider.name, subject=who.subject, amr=who.amr))
        return who

    async def _claims(
        self, pending: PendingSignIn, provider: IdentityProvider, code: str
    ) -> tuple[VerifiedClaims, Mapping[str, object]]:
        """What the provider signed, and what it says besides."""
        known = await self.directory.find(provider.issuer)
        form = {
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": pending.code_verifier,
        }
        tokens = await redeem(self.http, known.metadata, provider, form)
        claims = await self._verified(tokens.id_token, known)
        check_id_token(
            Answer(
                claims=claims,
                tokens=tokens,
                pending=pending,
                client_id=provider.client_id,
                now=self.now(),
                clock_skew=self.clock_skew,
            )
        )
        endpoint = known.metadata.userinfo_endpoint
        if endpoint is None or tokens.access_token is None or not _wants_more(provider):
            return claims, {}
        return claims, await fetch_userinfo(self.http, endpoint, tokens, sub=claims["sub"])

    async def _verified(self, id_token: str, known: KnownProvider) -> VerifiedClaims:
        """The signed claims; the keys are fetched anew where the provider signs with another."""
        try:
            return known.verify(id_token)
        except UnknownKey:
            renewed = await self.directory.find_renewed(known)
        except JwtRefused as error:
            raise ProviderRefused(f"its identity token: {error}") from error
        try:
            return renewed.verify(id_token)
        except JwtRefused as error:
            raise ProviderRefused(f"its identity token: {error}") from error

    def _tell(self, provider: IdentityProvider, failure: ProviderFailed) -> None:
        self.emit(ProviderSignInFailed(provider=provider.name, cause=str(failure)))


def parked_id_in(params: Params) -> str | None:
    """The client's request that waits, None where the person signs in to the own account.

    It stands in the state, of which the store knows a hash: what is parked is sealed by its id.
    """
    return (params.get("state") or "").partition(".")[2] or None


def _refuse_another_issuer(iss: str | None, pending: PendingSignIn) -> None:
    """Whoever answers says who it is, if it can (RFC 9207 §2.4)."""
    if iss is None and not pending.issuer_is_sent:
        return
    if iss != pending.issuer:
        raise InvalidRequest("the answer is not from the identity provider that was asked")


def _code(params: Params) -> str:
    """The code, or the provider's refusal (OIDC Core §3.1.2.6)."""
    error, code = params.get("error"), params.get("code")
    if error in _TEMPORARY:
        raise ProviderUnavailable(f"it answered {error}")
    if error is not None:
        raise ProviderRefused(f"it answered {printable(error)}")
    if code is None:
        raise ProviderRefused("it answered without a code")
    return code


def _wants_more(provider: IdentityProvider) -> bool:
    """Whether anything is asked for beyond who it is."""
    return bool(provider.claims) or any(scope != OPENID for scope in provider.scopes)
