"""Signs users in at a provider: sends them there, and judges what they come back with (OIDC Core §3.1, RFC 6749 §4.1)."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from service.clock import clock
from service.events.event import Emit
from service.events.providers import ProviderSignInFailed, ProviderSignInSucceeded
from service.identity.accepted_users import AcceptedUsers
from service.identity.providers import provider as upstream
from service.identity.providers import requests
from service.identity.providers.accounts import ProviderAccounts
from service.identity.providers.claims import (
    build_sign_in,
    check_id_token,
    combine_documents,
    find_linked_subject,
)
from service.identity.providers.client_authentication import OwnCredentials
from service.identity.sign_in import SignIn
from service.keys.foreign_keys import UNNAMED
from service.keys.jose import JwtRefused, VerifiedClaims
from service.model.authorization import Spent, new_attempt
from service.model.handle import digest
from service.model.identity_provider import IdentityProvider
from service.model.registry import LiveRegistry
from service.model.session import PendingSignIn
from service.protocol.errors import InvalidRequest
from service.protocol.params import Params
from service.protocol.paths import CALLBACK, OWN_CALLBACK, OWN_NAME
from service.protocol.scope import OPENID
from service.protocol.templates import LONGEST_SUBJECT
from service.store.records import was_won
from service.store.room import Room
from service.store.stores import Stores

LIFETIME = 15 * 60
"""Seconds that a user has at the provider."""

MAX_KEPT = 16 * 1024
"""Bytes of a user's claims, methods and names; each session and authorization has them."""

ID_TOKEN_TYPES = frozenset({UNNAMED, "jwt"})

_TEMPORARY = frozenset({"server_error", "temporarily_unavailable"})


class ProviderSignIn(msgspec.Struct, frozen=True, kw_only=True):
    """Every failure is an audit event; the page says only whether it may be temporary."""

    issuer: str
    """Of this service, without a slash at its end."""
    callback: str | None = None
    """The path of the redirect URI that the server before had at all providers, by which this one asks, too."""
    registry: LiveRegistry
    directory: upstream.ProviderDirectory
    credentials: OwnCredentials
    accounts: ProviderAccounts
    stores: Stores
    room: Room
    clock_skew: int
    emit: Emit

    def find_provider(self, name: str) -> IdentityProvider | None:
        return self.registry.current.identity_providers.get(name)

    async def begin(
        self,
        provider: IdentityProvider,
        wishes: requests.ProviderWishes,
        *,
        browser: str,
        address: str,
        parked_id: str | None,
        return_to: str | None,
    ) -> str:
        """Return the URL to send the browser to; raise ProviderFailed if the provider is not known.

        TooManyRequests where the network of this address has sent too many.
        """
        await self.room.take_for_request(0, address=address)
        try:
            known = await self.directory.find(provider)
        except upstream.ProviderFailed as failure:
            self.emit(ProviderSignInFailed(provider=provider.name, cause=str(failure)))
            raise
        pending = PendingSignIn(
            provider=provider.name,
            issuer=provider.issuer,
            issuer_is_sent=known.metadata.authorization_response_iss_parameter_supported,
            browser_digest=digest(browser),
            nonce=secrets.token_urlsafe(32),
            code_verifier=secrets.token_urlsafe(48),
            began_at=clock(),
            anew="login" in wishes.prompt,
            max_age=wishes.max_age,
            return_to=return_to,
        )
        state = f"{secrets.token_urlsafe(32)}.{parked_id or ''}"
        put = self.stores.pending_sign_ins.put(pending, digest(state), "", ttl=LIFETIME)
        await self.stores.kv.write(put)
        uri = self._find_redirect_uri(provider)
        return requests.authorization_url(
            known.metadata, provider, pending, wishes, redirect_uri=uri, state=state
        )

    async def take(
        self, params: Params, *, browser: str, callback_of: str | None
    ) -> tuple[PendingSignIn, IdentityProvider]:
        """Return the request that this answers, once, in its browser; else raise InvalidRequest.

        `callback_of` is the provider whose own callback the answer came to; None for the shared one.
        """
        records, selector = self.stores.pending_sign_ins, digest(params.get("state") or "")
        (pending,) = await self.stores.kv.read(records.read(selector, ""))
        if not isinstance(pending, PendingSignIn) or not hmac.compare_digest(
            pending.browser_digest, digest(browser)
        ):
            raise InvalidRequest("the state is unknown or expired, or of another browser")
        provider = self.find_provider(pending.provider)
        if provider is None or provider.issuer != pending.issuer:
            raise InvalidRequest("the identity provider is registered no more")
        problem = self._find_other_sender(pending, provider, params, callback_of)
        if problem is not None:
            self.emit(ProviderSignInFailed(provider=provider.name, cause=problem))
            raise InvalidRequest("the answer is not from the identity provider that was asked")
        attempt = new_attempt()
        marker = Spent(attempt=attempt, at=clock())
        spending = records.swap(marker, selector, "", ttl=LIFETIME)
        (before,) = await self.stores.kv.write(spending, durable=True)
        if not was_won(before, attempt=attempt):
            raise InvalidRequest("this answer has been used")
        return pending, provider

    def _find_other_sender(
        self,
        pending: PendingSignIn,
        provider: IdentityProvider,
        params: Params,
        callback_of: str | None,
    ) -> str | None:
        """Return why the answer may be another server's (RFC 9207 §2.4); None where nothing says so."""
        iss = params.get("iss")
        has_own = OWN_NAME in self._find_callback(provider)
        if callback_of != (provider.name if has_own else None):
            return "its answer came to a callback that is not its own"
        if iss == pending.issuer or not pending.issuer:
            return None
        if iss is not None:
            return "the iss of its answer is that of another issuer"
        return (
            "its answer lacks iss, which its metadata promises" if pending.issuer_is_sent else None
        )

    async def finish(
        self,
        pending: PendingSignIn,
        provider: IdentityProvider,
        params: Params,
        *,
        accepted: AcceptedUsers,
    ) -> SignIn:
        """Return the user's sign-in; raise ProviderFailed if the provider vouches for nobody, or for a user that is not accepted."""
        subject = None
        try:
            claims, userinfo = await self._fetch_claims(pending, provider, _read_code(params))
            subject = find_linked_subject(provider, str(claims["sub"]))
            combined = combine_documents(provider, claims, userinfo)
            _check_allowed(provider, combined)
            who = build_sign_in(provider, claims, combined, now=clock())
            who = replace(who, began_at=pending.began_at)
            theirs = str(claims["sub"])
            who = await self.accounts.link(provider, who, combined, subject=theirs)
            who = accepted.place(who, self.registry.current)
            _check_size(who)
        except upstream.ProviderFailed as failure:
            failed = ProviderSignInFailed(
                provider=provider.name, subject=subject, cause=str(failure)
            )
            self.emit(failed)
            raise
        self.emit(ProviderSignInSucceeded(provider=provider.name, subject=who.subject, amr=who.amr))
        return who

    async def _fetch_claims(
        self, pending: PendingSignIn, provider: IdentityProvider, code: str
    ) -> tuple[VerifiedClaims, Mapping[str, object]]:
        """Return the claims that count as the provider's own, and those that only add to them."""
        known = await self.directory.find(provider)
        form = {
            "code": code,
            "redirect_uri": self._find_redirect_uri(provider),
            "code_verifier": pending.code_verifier,
        }
        http, metadata = self.directory.http, known.metadata
        tokens = await requests.redeem_code(http, self.credentials, metadata, provider, form)
        if not provider.is_openid:
            return await self._fetch_oauth2_claims(pending, provider, metadata, tokens)
        claims = await self._read_id_token(pending, provider, known, tokens)
        endpoint, access_token = metadata.userinfo_endpoint, tokens.access_token
        more = provider.claims or provider.allowed_claims or provider.links_by_email
        wants_more = more or any(scope != OPENID for scope in provider.scopes)
        if endpoint is None or access_token is None or not wants_more:
            return claims, {}
        userinfo = await requests.fetch_userinfo(http, endpoint, access_token)
        if userinfo.get("sub") != claims["sub"]:
            raise upstream.ProviderRefused("its userinfo endpoint told of somebody else")
        return claims, userinfo

    async def _read_id_token(
        self,
        pending: PendingSignIn,
        provider: IdentityProvider,
        known: upstream.KnownProvider,
        tokens: requests.ProviderTokens,
    ) -> VerifiedClaims:
        if tokens.id_token is None:
            raise upstream.ProviderRefused("its token endpoint sent no identity token")
        try:
            claims = await self.directory.verify(known, tokens.id_token, typ=ID_TOKEN_TYPES)
        except JwtRefused as error:
            raise upstream.ProviderRefused(f"its identity token: {error}") from error
        client_id, now, skew = provider.client_id, clock(), self.clock_skew
        check_id_token(claims, tokens, pending, client_id=client_id, now=now, clock_skew=skew)
        return claims

    async def _fetch_oauth2_claims(
        self,
        pending: PendingSignIn,
        provider: IdentityProvider,
        metadata: upstream.ProviderMetadata,
        tokens: requests.ProviderTokens,
    ) -> tuple[VerifiedClaims, Mapping[str, object]]:
        """Return the subject and what userinfo says, which TLS alone protects, without an ID token."""
        endpoint = metadata.userinfo_endpoint or ""
        if tokens.access_token is None or tokens.token_type.lower() != "bearer":
            raise upstream.ProviderRefused("its token endpoint sent no bearer token")
        if pending.max_age is not None:
            raise upstream.ProviderRefused("it does not say when the person signed in")
        http = self.directory.http
        userinfo = await requests.fetch_userinfo(http, endpoint, tokens.access_token)
        subject = userinfo.get(provider.subject_claim)
        if isinstance(subject, bool) or not isinstance(subject, str | int):
            raise upstream.ProviderRefused("its userinfo endpoint names nobody by subject_claim")
        if not 0 < len(str(subject)) <= LONGEST_SUBJECT:
            raise upstream.ProviderRefused("its userinfo endpoint names nobody by subject_claim")
        return VerifiedClaims({"sub": str(subject)}), userinfo

    def _find_redirect_uri(self, provider: IdentityProvider) -> str:
        return self.issuer + self._find_callback(provider).replace(OWN_NAME, provider.name)

    def _find_callback(self, provider: IdentityProvider) -> str:
        """Return the path of its redirect URI; no answer to another one's request has that with its own name (RFC 9700 §4.4.2.2)."""
        return self.callback or (OWN_CALLBACK if provider.has_own_callback else CALLBACK)


def parked_id_in(params: Params) -> str | None:
    """Return the id of the client's request that waits; None if the user signs in to the own account.

    It stands in the state, of which the store knows a hash: what is parked is sealed by its id.
    """
    return (params.get("state") or "").partition(".")[2] or None


def _check_allowed(provider: IdentityProvider, claims: Mapping[str, object]) -> None:
    """Raise ProviderUserRefused unless the provider's user meets one of the conditions, if there are any."""
    if not provider.allows_user(claims):
        raise upstream.ProviderUserRefused("its user meets none of allowed_claims")


def _check_size(who: SignIn) -> None:
    """Raise ProviderRefused if more would be kept of what the provider says than is allowed for one user."""
    size, claims = len(msgspec.json.encode(who)), who.user_claims
    if size > MAX_KEPT:
        longest = max(
            claims, key=lambda name: len(msgspec.json.encode(claims[name])), default="amr"
        )
        cause = (
            f"what would be kept of its user takes {size} bytes, and {MAX_KEPT} at most are kept"
        )
        raise upstream.ProviderRefused(f"{cause}: the longest claim is {longest}")


def _read_code(params: Params) -> str:
    """Return the code; raise ProviderFailed if the provider refused (OIDC Core §3.1.2.6)."""
    error, code = params.get("error"), params.get("code")
    if error in _TEMPORARY:
        raise upstream.ProviderUnavailable(f"it answered {error}")
    if error is not None:
        raise upstream.ProviderRefused(f"it answered {upstream.printable(error)}")
    if code is None:
        raise upstream.ProviderRefused("it answered without a code")
    return code
