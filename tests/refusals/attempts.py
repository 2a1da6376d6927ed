"""The requests to the token endpoint, userinfo and registration that rows spoil."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.driving.dpop import DpopKey
from tests.driving.registering import register
from tests.driving.service import Answer
from tests.refusals.registry import INITIAL_ACCESS_TOKEN
from tests.refusals.row import Outcome
from tests.refusals.world import App, World
from tests.rich_requests.details import encode

USERINFO = "/connect/userinfo"
OFFLINE = "openid api1 offline_access"
MakeProof = Callable[[DpopKey], str]


def outcome_of(answer: Answer) -> Outcome:
    """Return the status and the error, if there is one."""
    return answer.status, answer.error if answer.status >= 400 else None


@dataclass(frozen=True)
class ClientCredentials:
    """A client asks for a token for itself, with a proof that it has made before, if any."""

    client_id: str = "machine"
    proven: bool = True

    def __str__(self) -> str:
        return f"token for {self.client_id}"

    async def hold(self, world: World) -> str | None:
        return world.key.proof() if self.proven else None

    async def send(
        self, world: World, held: str | None, *, proof: MakeProof | None = None, **changes: Any
    ) -> Outcome:
        given = changes.pop("headers", {})
        headers = {"DPoP": held if proof is None else proof(world.key)} | given
        headers = {name: value for name, value in headers.items() if value is not None}
        form = {"grant_type": "client_credentials", "scope": "api1"} | changes
        return outcome_of(await world.service.token(self.client_id, headers=headers, **form))


@dataclass(frozen=True)
class NonceProof:
    """The same for a client whose proofs need a nonce."""

    def __str__(self) -> str:
        return "token with a nonce"

    async def hold(self, world: World) -> str:
        return str((await self._ask(world)).headers["DPoP-Nonce"])

    async def send(self, world: World, held: str, **changes: Any) -> Outcome:
        answer = await self._ask(world, **({"nonce": held} | changes))
        assert answer.headers["DPoP-Nonce"]
        return outcome_of(answer)

    async def _ask(self, world: World, **claims: Any) -> Answer:
        form = {"grant_type": "client_credentials", "headers": world.key.header(**claims)}
        return await world.service.token("nonce-machine", **form)


@dataclass(frozen=True)
class Flow:
    """A code of alice's; `bound` names what it is bound to, `details` what she has allowed."""

    client_id: str = "web"
    bound: str = ""
    details: tuple[Any, ...] = ()
    scope: str = "openid api1"
    resource: str | None = None

    @property
    def details_sent(self) -> dict[str, str]:
        """The parameter of the authorization request, if there is one."""
        return {"authorization_details": encode(*self.details)} if self.details else {}

    def headers(self, world: World) -> dict[str, str]:
        """The proof of the key that the code is bound to."""
        if self.bound == "key":
            return world.key.header()
        return world.own.headers() if self.bound == "certificate" else {}

    async def code(self, world: World, app: App) -> str:
        """Get a code from the browser, in which alice has signed in."""
        jkt = {"dpop_jkt": world.key.thumbprint} if self.bound == "key" else {}
        page = await app.authorize(
            scope=self.scope, resource=self.resource, **jkt, **self.details_sent
        )
        if page.has("consent-allow"):
            page = await app.browser.submit(page, action="allow")
        return page.parameters["code"]

    async def ask(self, world: World, app: App, **form: Any) -> Answer:
        """Send the client's token request, with the headers that a change gives or the right ones."""
        make = form.pop("headers", self.headers)
        headers = make(world) if callable(make) else make
        if app.is_public:
            return await world.service.token(None, headers=headers, client_id=app.client_id, **form)
        return await world.service.token(app.client_id, headers=headers, **form)


@dataclass(frozen=True)
class Redemption(Flow):
    """A code is redeemed."""

    def __str__(self) -> str:
        return f"code of {self.client_id}"

    async def hold(self, world: World) -> tuple[App, str]:
        app = world.app(self.client_id)
        return app, await self.code(world, app)

    async def send(self, world: World, held: tuple[App, str], **changes: Any) -> Outcome:
        app, code = held
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": app.redirect_uri,
            "code_verifier": app.code_verifier,
        }
        answer = await self.ask(world, app, **form | changes)
        if answer.status == 200:
            assert answer.json.get("authorization_details", []) == list(self.details)
        return outcome_of(answer)


@dataclass(frozen=True)
class Refresh(Flow):
    """A refresh token is used."""

    scope: str = OFFLINE

    def __str__(self) -> str:
        return f"refresh token of {self.client_id}"

    async def hold(self, world: World) -> tuple[App, str]:
        app = world.app(self.client_id)
        code = await self.code(world, app)
        answer = await self.ask(
            world,
            app,
            grant_type="authorization_code",
            code=code,
            redirect_uri=app.redirect_uri,
            code_verifier=app.code_verifier,
        )
        return app, answer["refresh_token"]

    async def send(self, world: World, held: tuple[App, str], **changes: Any) -> Outcome:
        app, refresh_token = held
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        return outcome_of(await self.ask(world, app, **form | changes))


@dataclass(frozen=True)
class Userinfo:
    """A token that is bound to a key is shown with a proof; a refusal comes with its challenge (RFC 9449 §7.1)."""

    bound: bool = True

    def __str__(self) -> str:
        return f"userinfo by a {'bound' if self.bound else 'bearer'} token"

    async def hold(self, world: World) -> str:
        headers = world.key.header() if self.bound else {}
        answer = await world.service.user_token(scope="openid", headers=headers)
        return str(answer["access_token"])

    async def send(self, world: World, held: str, **changes: Any) -> Outcome:
        scheme = changes.pop("scheme", "DPoP" if self.bound else "Bearer")
        key = changes.pop("key", lambda world: world.key)(world)
        headers = {"Authorization": f"{scheme} {held}"}
        if changes.pop("proven", True):
            headers["DPoP"] = key.proof(USERINFO, "GET", **{"access_token": held} | changes)
        answer = await world.service.get(USERINFO, headers=headers)
        if answer.status != 200:
            challenge = answer.headers["WWW-Authenticate"]
            assert f'Bearer realm="{world.service.issuer}"' in challenge
            assert 'DPoP algs="' in challenge
            assert f'error="{answer.error}"' in challenge
        return outcome_of(answer)


@dataclass(frozen=True)
class Registration:
    """A client registers; `usual` are proper metadata, and a refusal of a parameter begins with its name."""

    usual: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "registration"

    async def hold(self, world: World) -> None:
        return None

    async def send(self, world: World, held: None, **changes: Any) -> Outcome:
        named = changes.pop("named", "")
        metadata = {**self.usual, **changes}
        answer = await register(world.service, token=INITIAL_ACCESS_TOKEN, **metadata)
        if answer.status != 201:
            assert named in answer["error_description"]
        return outcome_of(answer)
