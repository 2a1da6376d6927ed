"""The kit for APIs with Keycloak as the issuer: JWTs, introspection, DPoP, token exchange (`make keycloak-test`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2
import pytest
from oauth_resource_server import Caller, ClientSecret, Refusal, Request, ResourceServer
from oauth_resource_server.testing import DpopKey

from tests.interop.steps import Steps

URL = "https://orders.example/"


class OrdersApi:
    """An API that trusts the realm, and a client of it."""

    def __init__(self, realm: str) -> None:
        self.realm, self.token_endpoint = realm, f"{realm}/protocol/openid-connect/token"
        credentials = ClientSecret("orders", "orders-secret")
        usual: dict[str, Any] = {"url": URL, "credentials": credentials}
        self.orders = ResourceServer(realm, audience="orders", **usual)
        self.introspecting = ResourceServer(realm, audience="orders", introspect="all", **usual)
        self.stock = ResourceServer(realm, audience="stock")

    def sign_in(self, client: str = "orders-app", proof: str | None = None) -> Mapping[str, str]:
        """Return Alice's tokens."""
        form = {"grant_type": "password", "username": "alice", "password": "alice"}
        form |= {"client_id": client, "client_secret": f"{client}-secret", "scope": "openid"}
        headers = {"DPoP": proof} if proof else {}
        answer = httpx2.post(self.token_endpoint, data=form, headers=headers, timeout=30)
        tokens: Mapping[str, str] = answer.raise_for_status().json()
        return tokens


def ask(server: ResourceServer, headers: Mapping[str, str]) -> Caller:
    """Return the caller of a request."""
    listed = [(name.lower(), value) for name, value in headers.items()]
    return server.authenticate_blocking(Request(method="GET", path="/", headers=listed))


def check_api_kit(realm: str, steps: Steps) -> None:
    """Everything that an API does with tokens of Keycloak's."""
    api = OrdersApi(realm)
    tokens = api.sign_in()
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    with steps.step("the kit accepts an access token of Keycloak's for its API"):
        caller = ask(api.orders, bearer)
        assert (caller.client_id, "profile" in caller.scope) == ("orders-app", True)
    with steps.step("the kit introspects at Keycloak"):
        assert ask(api.introspecting, bearer).subject == caller.subject
    with steps.step("the kit exchanges it for a token for the next API"):
        token = api.orders.on_behalf_of_blocking(caller, "profile")
        onward = {"Authorization": f"Bearer {token}"}
        assert ask(api.stock, onward).subject == caller.subject
        with pytest.raises(Refusal, match="not for this API"):
            ask(api.orders, onward)
    key = DpopKey()
    with steps.step("the kit accepts a token that Keycloak has bound, with its proof only"):
        bound = api.sign_in(proof=key.proof("POST", api.token_endpoint, "", ath=None))
        token = bound["access_token"]
        assert ask(api.orders, key.headers("GET", URL, token)).subject == caller.subject
        with pytest.raises(Refusal, match="DPoP"):
            ask(api.orders, {"Authorization": f"Bearer {token}"})
    for name, other in (
        ("an ID token", tokens["id_token"]),
        ("a refresh token", tokens["refresh_token"]),
        ("a token for others", api.sign_in("their-app")["access_token"]),
    ):
        for server in (api.orders, api.introspecting):
            with steps.step(f"the kit refuses {name}"):
                with pytest.raises(Refusal) as refused:
                    ask(server, {"Authorization": f"Bearer {other}"})
                assert refused.value.status == httpx2.codes.UNAUTHORIZED
