"""The suite as a relying party: it sends people to the provider and takes apart what comes back."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.certification.flow import Flow
from tests.certification.plan import Plan
from tests.certification.profiles import secret_of
from tests.certification.provider import ISSUER, Provider
from tests.certification.response import Response
from tests.driving.browser import Browser, Page
from tests.driving.service import Answer

JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@dataclass(kw_only=True)
class RelyingParty:
    """One client of the provider, and the person's browser in front of it."""

    provider: Provider
    browser: Browser
    plan: Plan
    client_id: str
    client_secret: str = ""
    auth_method: str = "client_secret_basic"
    key: RSAKey | None = None
    """What client assertions and request objects are signed with."""
    redirect_uri: str = ""
    assertion_audience: str = ISSUER

    def __post_init__(self) -> None:
        self.client_secret = self.client_secret or secret_of(self.client_id)
        self.redirect_uri = self.redirect_uri or self.provider.redirect_uri

    def request(self, **changes: str | None) -> dict[str, Any]:
        """An authorization request as the suite makes it, with some parameters changed or (None) left out."""
        usual: dict[str, str | None] = {
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": "openid",
            "state": secrets.token_urlsafe(10),
            "nonce": secrets.token_urlsafe(10),
            **self.plan.parameters,
        }
        return {name: value for name, value in (usual | changes).items() if value is not None}

    async def authorize(self, request: dict[str, str], *, by_post: bool = False) -> Page:
        """Send the browser to the provider; a page there, or an answer."""
        path = self.provider.path("authorization_endpoint")
        if by_post:
            return await self.browser.post(path, request)
        return await self.browser.get(f"{path}?{urlencode(request)}")

    async def respond(self, *, by_post: bool = False, **changes: str | None) -> Response:
        """The same, and the person does as told until there is an answer."""
        request = self.request(**changes)
        return await self.follow(request, await self.authorize(request, by_post=by_post))

    async def follow(self, request: dict[str, str], page: Page) -> Response:
        """The person signs in and consents where asked."""
        if page.has("login"):
            page = await self.browser.log_in(page)
        if page.has("consent-allow"):
            page = await self.browser.submit(page, action="allow")
        return Response(request=request, plan=self.plan, page=page)

    async def complete(self, *, by_post: bool = False, **changes: str | None) -> Flow:
        """A whole flow, with every check that the suite makes in each of its modules."""
        return await self.finish(await self.respond(by_post=by_post, **changes))

    async def finish(self, response: Response) -> Flow:
        """Check an answer, redeem its code, and call userinfo with all that it gave."""
        flow = Flow(party_id=self.client_id, response=response)
        await flow.check_front(self.provider)
        if flow.code is not None:
            await flow.check_back(self.provider, await self.redeem(flow.code))
        return flow

    async def redeem(self, code: str, **changes: str) -> Answer:
        """Exchange a code (OIDC Core §3.1.3.1)."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect_uri}
        return await self.token(form | changes)

    async def refresh(self, refresh_token: str, **changes: str) -> Answer:
        """Use a refresh token (OIDC Core §12)."""
        return await self.token(
            {"grant_type": "refresh_token", "refresh_token": refresh_token} | changes
        )

    async def token(self, form: dict[str, Any]) -> Answer:
        """A request to the token endpoint, authenticated as registered (OIDC Core §9)."""
        path = self.provider.path("token_endpoint")
        if self.auth_method == "client_secret_basic":
            auth = (self.client_id, self.client_secret)
            return await self.provider.service.post(path, auth=auth, **form)
        return await self.provider.service.post(path, **form, **self._credentials())

    def _credentials(self) -> dict[str, Any]:
        if self.auth_method == "client_secret_post":
            return {"client_id": self.client_id, "client_secret": self.client_secret}
        claims = {"iss": self.client_id, "sub": self.client_id, "aud": self.assertion_audience}
        return {"client_assertion_type": JWT_BEARER, "client_assertion": self.sign(claims)}

    def sign(self, claims: dict[str, Any]) -> str:
        """A JWT of this client's, for a minute."""
        assert self.key is not None
        now = int(time.time())
        times = {"iat": now, "exp": now + 60, "jti": secrets.token_urlsafe()}
        name = {} if self.key.kid is None else {"kid": self.key.kid}
        return jwt.encode({"alg": "RS256"} | name, times | claims, self.key)
