"""The suite as a FAPI client: it pushes requests, sends users to the provider, and proves possession of its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import Any
from urllib.parse import urlencode

from service.protocol.pkce import s256
from tests.certification.fapi2.certificates import certificate_of, passed_on, thumbprint
from tests.certification.fapi2.jarm import opened
from tests.certification.fapi2.keys import SigningKey, identifier, times
from tests.certification.fapi2.plan import FapiPlan
from tests.certification.provider import ISSUER, Provider
from tests.certification.relying_party import JWT_BEARER
from tests.certification.response import Response
from tests.driving.browser import Browser, Page
from tests.driving.dpop import DpopKey
from tests.driving.service import Answer

PAR = "pushed_authorization_request_endpoint"
TOKEN = "token_endpoint"
USERINFO = "userinfo_endpoint"
NO_PROOF = ""
"""Instead of a proof, where one is due."""
NO_CERTIFICATE = b""
"""Instead of a certificate, where one is due."""


@dataclass(kw_only=True)
class FapiClient:
    """One client of the provider, and the user's browser in front of it."""

    provider: Provider
    browser: Browser
    plan: FapiPlan
    client_id: str
    redirect_uri: str = ""
    verifier: str = field(default_factory=lambda: token_urlsafe(48))
    dpop: DpopKey = field(default_factory=lambda: DpopKey(ISSUER))
    key: SigningKey = field(init=False)
    certificate: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.key = SigningKey.of_client(self.client_id)
        self.certificate = certificate_of(self.client_id)
        self.redirect_uri = self.redirect_uri or self.provider.redirect_uri

    @property
    def confirmation(self) -> dict[str, str]:
        """The `cnf` of its tokens."""
        if self.plan.sender_constrain == "dpop":
            return {"jkt": self.dpop.thumbprint}
        return {"x5t#S256": thumbprint(self.certificate)}

    def request(self, **changes: str | None) -> dict[str, str]:
        """An authorization request as the suite makes it, with some parameters changed or (None) left out."""
        usual: dict[str, str | None] = {
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": self.plan.scope,
            "state": identifier(),
            "nonce": identifier() if self.plan.is_openid else None,
            "response_type": "code",
            "response_mode": "jwt" if self.plan.is_jarm else None,
            "code_challenge": s256(self.verifier),
            "code_challenge_method": "S256",
        }
        return {name: value for name, value in (usual | changes).items() if value is not None}

    def assertion(self, key: SigningKey | None = None, **claims: Any) -> dict[str, str]:
        """The parameters of private_key_jwt (RFC 7523 §2.2), with some claims changed or (None) left out."""
        usual = {
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": ISSUER,
            "jti": identifier(),
            **times(),
        }
        signed = (key or self.key).sign(usual | claims)
        return {"client_assertion_type": JWT_BEARER, "client_assertion": signed}

    async def send(
        self,
        endpoint: str,
        form: Mapping[str, str],
        *,
        proof: str | None = None,
        credentials: Mapping[str, str] | None = None,
        certificate: bytes | None = None,
    ) -> Answer:
        """A form to one of the endpoints for clients, which is authenticated unless `credentials` says how it is."""
        authenticated = self._credentials(endpoint) if credentials is None else credentials
        shown = self._certificate(endpoint) if certificate is None else certificate
        headers = ({"DPoP": proof} if proof else {}) | (passed_on(shown) if shown else {})
        path = self.provider.path(endpoint)
        return await self.provider.service.post(path, headers=headers, **{**form, **authenticated})

    def _credentials(self, endpoint: str) -> dict[str, str]:
        if self.plan.client_auth_type != "private_key_jwt":
            return {"client_id": self.client_id}
        named = self.plan.endpoint_is_audience
        return self.assertion(aud=self.provider.metadata[endpoint] if named else ISSUER)

    def _certificate(self, endpoint: str) -> bytes:
        """The credentials of the connection: the suite shows nothing where it need not."""
        binds = self.plan.sender_constrain == "mtls" and endpoint != PAR
        authenticates = self.plan.client_auth_type == "mtls" and endpoint != USERINFO
        return self.certificate if binds or authenticates else NO_CERTIFICATE

    def request_object(
        self,
        request: Mapping[str, str],
        *,
        key: SigningKey | None = None,
        typ: str | None = "oauth-authz-req+jwt",
        **claims: Any,
    ) -> str:
        """The request as a JWT (RFC 9101 §4), with some claims changed or (None) left out."""
        usual = {**request, "iss": self.client_id, "aud": ISSUER, **times(lifetime=300)}
        return (key or self.key).sign(usual | claims, typ=typ)

    async def push(
        self, request: Mapping[str, str], *, request_object: str | None = None, **how: Any
    ) -> Answer:
        """Push a request (RFC 9126 §2.1), signed if the plan says so."""
        if not self.plan.is_signed:
            return await self.send(PAR, request, **how)
        signed = request_object or self.request_object(request)
        return await self.send(PAR, {"client_id": self.client_id, "request": signed}, **how)

    async def visit(self, request: Mapping[str, str], request_uri: str, **changes: str) -> Page:
        """Send the browser to the provider with what was pushed; OpenID Connect wants some of it again in the URL."""
        names = ("client_id", "response_type", "scope", "redirect_uri")
        again = {name: request[name] for name in names if name in request}
        query = urlencode(again | {"request_uri": request_uri} | changes)
        path = self.provider.path("authorization_endpoint")
        return await self.browser.get(f"{path}?{query}")

    async def begin(self, request: Mapping[str, str], **how: Any) -> Page:
        """Push a request, check the answer, and send the browser there."""
        pushed = await self.push(request, **how)
        assert pushed.status == 201, pushed.body
        assert pushed.headers["Content-Type"] == "application/json"
        assert pushed["expires_in"] > 0
        return await self.visit(request, pushed["request_uri"])

    async def follow(self, request: Mapping[str, str], page: Page) -> Response:
        """The user signs in and consents where asked."""
        if page.has("login"):
            page = await self.browser.log_in(page)
        if page.has("consent-allow"):
            page = await self.browser.submit(page, action="allow")
        return await self.open(request, page)

    async def open(self, request: Mapping[str, str], page: Page) -> Response:
        """The response."""
        if self.plan.is_jarm and not page.has("error"):
            page = opened(page, await self.provider.jwks(), request)
        return Response(request=request, plan=self.plan, page=page)

    async def respond(self, *, proof: str | None = None, **changes: str | None) -> Response:
        """All that, until there is an answer; a proof goes with the pushed request."""
        request = self.request(**changes)
        return await self.follow(request, await self.begin(request, proof=proof))

    async def code(self, *, proof: str | None = None, **changes: str | None) -> str:
        """A code."""
        return (await self.respond(proof=proof, **changes)).check_success()["code"]

    async def redeem(
        self,
        code: str,
        *,
        proof: str | None = None,
        credentials: Mapping[str, str] | None = None,
        certificate: bytes | None = None,
        **changes: str | None,
    ) -> Answer:
        """Exchange a code, with a proof and a certificate unless there are to be others or none."""
        usual = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
        }
        form = {name: value for name, value in (usual | changes).items() if value is not None}
        return await self.token(form, proof=proof, credentials=credentials, certificate=certificate)

    async def refresh(
        self,
        refresh_token: str,
        *,
        proof: str | None = None,
        certificate: bytes | None = None,
        **more: str,
    ) -> Answer:
        """Use a refresh token."""
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        return await self.token(form | more, proof=proof, certificate=certificate)

    async def token(
        self, form: Mapping[str, str], *, proof: str | None = None, **how: Any
    ) -> Answer:
        """A request to the token endpoint."""
        if proof is None and self.plan.sender_constrain == "dpop":
            proof = self.dpop.proof(self.provider.path(TOKEN))
        return await self.send(TOKEN, form, proof=proof, **how)

    async def call(
        self, access_token: str, *, scheme: str = "", proof: str | None = None, **headers: str
    ) -> Answer:
        """The protected resource, which is userinfo, with the token and a proof of the key."""
        path = self.provider.path(USERINFO)
        bound = self.plan.sender_constrain == "dpop"
        sent = {"Authorization": f"{scheme or ('DPoP' if bound else 'Bearer')} {access_token}"}
        if proof is None and bound:
            proof = self.dpop.proof(path, "GET", access_token=access_token)
        shown = self._certificate(USERINFO)
        proven = ({"DPoP": proof} if proof else {}) | (passed_on(shown) if shown else {})
        return await self.provider.service.get(path, headers=sent | headers | proven)
