"""Signs operators in at this service by its internal client: authorization code and PKCE (RFC 7636)."""

from __future__ import annotations

import hmac
import json
import re
from urllib.parse import urlencode

import msgspec

from service.clock import clock
from service.grants.authorization_code import AuthorizationCodeGrant
from service.model.authorization import Authorization
from service.model.client import Client
from service.model.registry import LiveRegistry
from service.protocol.errors import InvalidRequest, OAuthError, UnmetAuthenticationRequirements
from service.protocol.octets import base64url, decode_base64url
from service.protocol.params import Params
from service.protocol.paths import AUTHORIZE, SECURITY
from service.protocol.pkce import S256, s256
from service.protocol.scope import OPENID
from service.tokens.granting import ContinuedGrant, TokenRequest
from service.tokens.liveness import drop

CODE = "authorization_code"

FRESH_SECONDS = 300
"""Seconds for which a sign-in allows changes."""

_PATH = re.compile(r"/(?:[a-z-]{1,30}(?:\?[!-~]{0,1500})?)?", re.ASCII)
"""A page of the console, with its query; never the address of another host."""


class SignInRefused(OAuthError, code="access_denied", status=403):
    """The user could not sign in at the console."""


class SignInTooWeak(SignInRefused, code=UnmetAuthenticationRequirements.code, status=403):
    """The user could not sign in as `required_acr` says."""


class SignInUnknown(InvalidRequest, status=400):
    """This browser has begun no such sign-in, or has finished it or another one since."""


class ConsoleSignIn(msgspec.Struct, frozen=True, kw_only=True):
    """Redeems its own codes in this process, so that the internal client needs no secret and no token exists.

    A request to the token endpoint would need a credential that every replica keeps, and a connection from the service
    to itself, through whatever proxy stands before the issuer (docs/decisions/server/console-sign-in.md).
    """

    issuer: str
    registry: LiveRegistry
    codes: AuthorizationCodeGrant

    def begin(self, browser: str, path: str, *, for_changes: bool = False) -> str:
        """Return the authorization request of this browser, which is led back to the page at this path.

        What changes something needs a sign-in that is recent enough, and `required_acr`.
        """
        client, path = self._client, path if is_page(path) else "/"
        request = {
            "client_id": client.client_id,
            "response_type": "code",
            "scope": OPENID,
            "redirect_uri": client.redirect_uris[0],
            "state": f"{_mark(browser, path)}.{base64url(path.encode())}",
            "code_challenge": s256(_verifier(browser)),
            "code_challenge_method": S256,
        }
        admin = self.registry.current.admin
        if for_changes:
            request["max_age"] = str(FRESH_SECONDS)
        if for_changes and admin is not None and admin.required_acr is not None:
            acr = {"essential": True, "values": [admin.required_acr]}
            request["claims"] = json.dumps({"id_token": {"acr": acr}})
        return f"{self.issuer.rstrip('/')}{AUTHORIZE}?{urlencode(request)}"

    async def finish(self, browser: str, answer: Params) -> tuple[Authorization, str]:
        """Return the user of the new sign-in, and the page to go on to.

        Raise SignInUnknown unless this browser has asked, and SignInRefused where the answer is an error.
        """
        mark, path = _read_state(answer)
        if not browser or not hmac.compare_digest(_mark(browser, path).encode(), mark.encode()):
            raise SignInUnknown("this browser has begun no such sign-in, or has finished it")
        error = answer.get("error")
        if error == UnmetAuthenticationRequirements.code:
            raise SignInTooWeak(self._say_what_is_required())
        if error is not None:
            raise SignInRefused(answer.get("error_description") or error)
        return await self._redeem(browser, answer.require("code")), path

    async def _redeem(self, browser: str, code: str) -> Authorization:
        """Use the code up, as the token endpoint does, and return what was authorized."""
        client = self._client
        form = {
            "code": code,
            "redirect_uri": client.redirect_uris[0],
            "code_verifier": _verifier(browser),
        }
        request = TokenRequest(
            client=client,
            grant_type=CODE,
            params=Params({name: (value,) for name, value in form.items()}),
            scope=frozenset(),
            resources=(),
            authorization_details=(),
            now=clock(),
            cnf=None,
        )
        result = await self.codes.handle(request)
        if isinstance(result, OAuthError):
            raise SignInUnknown(result.description) from result
        if not isinstance(result, ContinuedGrant) or result.single_use is None:
            raise InvalidRequest("the code is not one of a sign-in")
        once, revocation = result.single_use, self.codes.revocation
        person, stores = result.authorization, revocation.stores
        no_grant = drop(stores, person)  # no token will ever come from it
        *_, before = await stores.kv.write(*once.others, *no_grant, once.swap, durable=True)
        if not once.was_won(before):
            raise await revocation.refuse_replay(person, once.replay)
        return person

    @property
    def security(self) -> str:
        """The page at which operators add factors, as users do."""
        return f"{self.issuer.rstrip('/')}{SECURITY}"

    def _say_what_is_required(self) -> str:
        admin = self.registry.current.admin
        acr = admin.required_acr if admin else None
        needed = f"changes need the acr {acr} (admin.required_acr), which your sign-in did not meet"
        return f"{needed}: add a factor that meets it at {self.security}"

    @property
    def _client(self) -> Client:
        """The internal client; SignInRefused where nobody may use the console."""
        client = self.registry.current.console_client
        if client is None:
            raise SignInRefused("admin.readers and admin.writers name nobody")
        return client


def find_page(answer: Params) -> str:
    """Return the page that an answer leads to: one of the console, whoever made the answer."""
    _, path = _read_state(answer)
    return path


def is_page(path: str) -> bool:
    """Return whether this is the path of a page here, and no address of another host."""
    return _PATH.fullmatch(path) is not None


def _verifier(browser: str) -> str:
    """Derive the PKCE verifier from the cookie, so that no replica has to remember it."""
    return base64url(hmac.digest(browser.encode(), b"code_verifier", "sha256"))


def _mark(browser: str, path: str) -> str:
    return base64url(hmac.digest(browser.encode(), path.encode(), "sha256"))


def _read_state(answer: Params) -> tuple[str, str]:
    """Return the mark of the browser in the state of an answer, and the path of a page; anybody can have made both."""
    mark, _, encoded = (answer.get("state") or "").partition(".")
    try:
        path = decode_base64url(encoded).decode()
    except ValueError:
        path = "/"
    return mark, path if is_page(path) else "/"
