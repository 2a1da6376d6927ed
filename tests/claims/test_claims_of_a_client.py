"""A client gets claims of users, and scope values, that it does not ask for, where its registration says so (OIDC Core §5.1.2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in

ROLES = {"roles": ["manager", "clerk"]}
WHERE = {
    "id_token": ["realm_access", "tenant", "missing"],
    "userinfo": ["groups", "tenant"],
    "access_token": ["realm_access", "tenant", "roles", "rank", "sub"],
    "sources": {"roles": "roles of web", "rank": "rank of web"},
    "values": {"tenant": "north", "sub": "somebody", "iss": "elsewhere"},
}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Alice has roles, groups and a tenant; one client gets them, and always api1."""
    own = {"realm_access": ROLES, "groups": ["/staff"], "tenant": "south", "rank": "general"}
    own |= {"roles": ["of another client"], "roles of web": ["editor"]}
    config["users"]["list"][0]["claims"] |= own
    staff = {"name": "staff", "user_claims": ["groups"], "access_token_claims": ["groups"]}
    config["identity_resources"] = [staff]
    client_in(config, "web")["allowed_scopes"] += ["staff"]
    client_in(config, "web").update(user_claims=WHERE, added_scopes=["api1"])
    client_in(config, "machine").update(user_claims=WHERE, added_scopes=["api2"])
    return config


async def test_the_client_gets_claims_where_its_registration_says(
    app: ClientApp, service: RunningService
) -> None:
    tokens = await app.tokens(scope="openid")
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    userinfo = (await service.get("/connect/userinfo", headers=headers)).json
    id_token, access_token = (claims_in(tokens[name]) for name in ("id_token", "access_token"))
    assert (id_token["realm_access"], id_token["tenant"]) == (ROLES, "north")
    assert userinfo == {"sub": "818727", "groups": ["/staff"], "tenant": "north"}
    assert (access_token["realm_access"], access_token["tenant"]) == (ROLES, "north")
    assert access_token["roles"] == ["editor"]
    assert "rank" not in access_token  # the user has no `rank of web`
    assert not {"groups", "missing"} & id_token.keys() | {"groups"} & access_token.keys()
    for token in (id_token, access_token):
        assert (token["sub"], token["iss"]) == ("818727", service.issuer)


async def test_a_scope_of_claims_puts_them_into_access_tokens(
    app: ClientApp, service: RunningService
) -> None:
    token = (await app.tokens(scope="openid staff"))["access_token"]
    introspected = await service.introspect(token, caller="api1")
    assert claims_in(token)["groups"] == introspected["groups"] == ["/staff"]


async def test_other_clients_get_none_of_them(app: ClientApp) -> None:
    app.client_id = "spa"
    tokens = await app.tokens(scope="openid api1")
    assert not {"realm_access", "tenant"} & claims_in(tokens["access_token"]).keys()
    assert not {"realm_access", "tenant"} & claims_in(tokens["id_token"]).keys()


async def test_tokens_of_the_client_itself_have_no_claims_of_users(service: RunningService) -> None:
    answer = await service.token("machine", grant_type="client_credentials", scope="api1")
    assert not {"realm_access", "tenant"} & claims_in(answer["access_token"]).keys()


async def test_a_refreshed_access_token_keeps_them(app: ClientApp, service: RunningService) -> None:
    refresh_token = (await app.tokens(scope="openid offline_access"))["refresh_token"]
    form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    answer = await service.token("web", **form)
    token = claims_in(answer["access_token"])
    assert (token["realm_access"], token["roles"], token["tenant"]) == (ROLES, ["editor"], "north")


async def test_an_api_reads_them_by_introspection(app: ClientApp, service: RunningService) -> None:
    token = (await app.tokens(scope="openid"))["access_token"]
    introspected = await service.introspect(token, caller="api1")
    assert (introspected["active"], introspected["realm_access"]) == (True, ROLES)


async def test_added_scopes_come_with_whatever_is_asked_for(app: ClientApp) -> None:
    answer = await app.tokens(scope="openid email")
    assert answer["scope"] == "api1 email openid"
    assert claims_in(answer["access_token"])["aud"] == "api1"


async def test_added_scopes_come_with_client_credentials(service: RunningService) -> None:
    answer = await service.token("machine", grant_type="client_credentials", scope="api1")
    assert answer["scope"] == "api1 api2"


async def test_a_refresh_may_ask_for_less_than_the_added_scopes(
    app: ClientApp, service: RunningService
) -> None:
    token = (await app.tokens(scope="openid offline_access"))["refresh_token"]
    form = {"grant_type": "refresh_token", "refresh_token": token, "scope": "openid"}
    answer = await service.token("web", **form)
    assert answer["scope"] == "openid"
