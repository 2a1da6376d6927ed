"""Public keys of the server before are published, and verify its tokens until a time (RFC 7517 §5)."""

from __future__ import annotations

import json
from pathlib import Path
from time import time
from typing import Any

import pytest
import yaml

from service.keys.jose import Key
from tests.conftest import Clock, Start
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.taken_over.conftest import Sign, at, old_key, write_jwks

pytestmark = pytest.mark.rfc("7517#5")

JWKS = "/.well-known/jwks.json"


async def published(service: RunningService) -> list[str]:
    """The key ids in the JWKS."""
    return [key["kid"] for key in (await service.get(JWKS))["keys"]]


async def test_the_key_is_published_behind_the_services_own(service: RunningService) -> None:
    answer = await service.get(JWKS)
    own, other = answer["keys"]
    assert (own["kid"], other["kid"]) == (
        service.features.ring.signing_key().kid,
        old_key().kid,
    )
    assert (other["alg"], other["use"]) == ("RS256", "sig")
    assert "d" not in other
    assert answer.headers["Cache-Control"] == "public, max-age=300"


async def test_new_tokens_are_signed_by_the_services_own_key(service: RunningService) -> None:
    token = (await service.user_token())["access_token"]
    assert await service.is_active(token)
    assert service.features.ring.signing_kids.keys() == {"ES256"}


KEYCLOAK: dict[str, Any] = {}
HYDRA = {"azp": None, "typ": None, "client_id": "web", "scope": None, "scp": ["openid", "api1"]}
IDENTITY_SERVER = {"azp": None, "typ": None, "client_id": "web", "scope": ["openid", "api1"]}


@pytest.mark.parametrize(
    ("header", "claims"),
    [("JWT", KEYCLOAK), ("JWT", HYDRA), ("at+jwt", IDENTITY_SERVER)],
    ids=["Keycloak", "Hydra", "IdentityServer"],
)
async def test_an_access_token_of_the_server_before_is_introspected(
    service: RunningService, sign: Sign, header: str, claims: dict[str, Any]
) -> None:
    answer = await service.introspect(await sign(header=header, **claims))
    assert (answer["active"], answer["client_id"], answer["sub"]) == (True, "web", "818727")
    assert (answer["scope"], answer["iss"]) == ("api1", service.issuer)


async def test_userinfo_takes_an_access_token_of_the_server_before(
    service: RunningService, sign: Sign
) -> None:
    headers = {"Authorization": f"Bearer {await sign(scope='openid profile', aud=None)}"}
    answer = await service.get("/connect/userinfo", headers=headers)
    assert (answer.status, answer["sub"], answer["name"]) == (200, "818727", "Alice Smith")


async def test_a_delegated_token_ends_with_the_one_of_the_server_before(
    service: RunningService, sign: Sign
) -> None:
    source = await sign()
    form = {"grant_type": "delegation", "token": source, "scope": "api2"}
    delegated = (await service.token("api1", **form))["access_token"]
    answer = await service.introspect(delegated, caller="api2")
    assert (answer["sub"], answer["act"]) == ("818727", {"sub": "api1"})
    await service.post("/connect/revocation", auth="web", token=source)
    assert not await service.is_active(source)
    assert not await service.is_active(delegated, caller="api2")


async def test_a_client_that_acts_for_itself_has_its_own_name_as_subject(
    service: RunningService, sign: Sign
) -> None:
    claims = {"azp": "machine", "sub": "b7e1", "preferred_username": "service-account-machine"}
    answer = await service.introspect(await sign(**claims))
    assert (answer["active"], answer["sub"]) == (True, "machine")
    claims = {"azp": "web", "sub": "b7e1", "preferred_username": "service-account-web"}
    assert not await service.is_active(await sign(**claims))


async def test_a_client_of_identityserver_that_acts_for_itself_needs_no_sub(
    service: RunningService, sign: Sign
) -> None:
    claims = IDENTITY_SERVER | {"client_id": "machine", "scope": ["api1"], "sub": None}
    answer = await service.introspect(await sign(header="at+jwt", **claims))
    assert (answer["active"], answer["sub"]) == (True, "machine")


REFUSED: dict[str, dict[str, Any]] = {
    "an ID token": {"typ": "ID"},
    "a refresh token": {"typ": "Refresh"},
    "typ is a list": {"typ": ["Bearer"]},
    "azp is a list": {"azp": ["web"]},
    "sub is a list": {"sub": ["818727"]},
    "an ID token that does not say so": {"typ": None},
    "of another issuer": {"iss": "https://other.example"},
    "expired": {"exp": 1_700_000_000},
    "of an unknown client": {"azp": "nobody"},
    "of a disabled user": {"sub": "5"},
    "of an unknown user": {"sub": "unknown"},
    "without jti": {"jti": None},
    "without exp": {"exp": None},
    "whose scope the client is not allowed": {"scope": "openid api1.write"},
    "for another API": {"aud": "account"},
    "aud is an object": {"aud": {"api1": 1}},
    "scope is a number": {"scope": 7},
    "of a user of Keycloak whom it does not name": {"azp": "machine", "sub": None},
    "aud has an object": {"aud": [{"a": 1}, "api1"]},
    "typ is an object": {"typ": {"Bearer": 1}},
    "exp is further away than the store can count": {"exp": 10**18},
    "exp is true": {"exp": True},
    "auth_time is true": {"auth_time": True},
    "iat is before 1970": {"iat": -1},
    "act names a provider by a list": {"act": {"idp": ["x"]}},
    "authorization_details is a text": {"authorization_details": "x"},
    "authorization_details has a text": {"authorization_details": ["x"]},
    "authorization_details has no type": {"authorization_details": [{"actions": []}]},
    "authorization_details has a list as type": {"authorization_details": [{"type": ["x"]}]},
}


@pytest.mark.parametrize("claims", REFUSED.values(), ids=REFUSED)
async def test_such_a_token_of_the_server_before_is_inactive(
    service: RunningService, sign: Sign, claims: dict[str, Any]
) -> None:
    assert (await service.introspect(await sign(**claims))).json == {"active": False}


async def test_a_token_by_a_key_that_is_not_listed_is_inactive(
    service: RunningService, sign: Sign
) -> None:
    assert not await service.is_active(await sign(key=Key.generate("ES256")))


async def test_a_revoked_token_of_the_server_before_stays_inactive(
    service: RunningService, sign: Sign
) -> None:
    token = await sign()
    assert await service.is_active(token)
    await service.post("/connect/revocation", auth="web", token=token)
    assert not await service.is_active(token)


async def test_all_tokens_of_the_server_before_end_with_all_that_their_user_has(
    service: RunningService, sign: Sign
) -> None:
    seen, unseen, of_bob = await sign(), await sign(), await sign(sub="88421113")
    assert await service.is_active(seen)
    ended = await service.features.shared.user_ending.end("818727")
    assert ended.grants == 1
    assert not await service.is_active(seen)
    assert not await service.is_active(unseen)
    assert await service.is_active(of_bob)
    assert await service.is_active(await sign(iat=int(time()) + 1))


async def test_a_user_takes_back_the_access_of_a_client_from_the_server_before(
    service: RunningService, sign: Sign
) -> None:
    seen, of_other = await sign(), await sign(azp="frontend")
    assert await service.is_active(seen)
    access = service.features.access
    assert [one.client_id for one in await access.find_all_of("818727")] == ["web"]
    await access.revoke("818727", "web")
    assert await access.find_all_of("818727") == ()
    assert not await service.is_active(seen)
    assert not await service.is_active(await sign(iat=int(time()) - 60))
    assert await service.is_active(of_other)


@pytest.mark.parametrize("header", ["JWT", ""], ids=["JWT", "no type, as dex"])
@pytest.mark.parametrize("aud", ["web", ["web"]], ids=["one", "a list of one"])
async def test_an_id_token_of_the_server_before_is_a_hint(
    app: ClientApp, sign: Sign, header: str, aud: object
) -> None:
    hint = await sign(header=header, aud=aud, typ=None, jti=None, scope=None, azp=None)
    await app.login()
    page = await app.authorize(id_token_hint=hint, prompt="none")
    assert "code" in page.parameters
    page = await app.authorize(id_token_hint=hint.replace(".", "x."), prompt="none")
    assert page.error == "invalid_request"


async def test_such_a_hint_leads_back_to_the_client_after_a_logout(
    app: ClientApp, sign: Sign
) -> None:
    hint = await sign(aud="web", typ="ID", scope=None)
    bye = "https://web.example/bye"
    page = await app.browser.get(
        f"/connect/endsession?id_token_hint={hint}&post_logout_redirect_uri={bye}"
    )
    assert (page.status, page.headers["Location"]) == (303, bye)


async def test_an_access_token_of_the_server_before_is_no_hint(app: ClientApp, sign: Sign) -> None:
    page = await app.authorize(id_token_hint=await sign(aud="web"))
    assert (page.status, page.error) == (303, "invalid_request")


async def test_the_keys_verify_nothing_after_their_time(
    service: RunningService, sign: Sign, clock: Clock
) -> None:
    token = await sign(exp=4_102_444_800)
    assert await service.is_active(token)
    clock.forward(minutes=61)
    assert not await service.is_active(token)
    await service.features.key_source.refresh()
    assert old_key().kid not in await published(service)


async def test_a_reload_reads_the_file_again(
    service: RunningService, sign: Sign, jwks: Path
) -> None:
    other = Key.generate("ES256")
    write_jwks(jwks, other.public_jwk)
    assert service.features.shared.registry.reload()
    await service.features.key_source.refresh()
    assert (await published(service))[1:] == [other.kid]
    assert await service.is_active(await sign(key=other))
    assert not await service.is_active(await sign())


async def test_a_reload_follows_entries_that_come_and_go(
    service: RunningService, sign: Sign, config: dict[str, Any], tmp_path: Path
) -> None:
    other, file = Key.generate("ES256"), service.features.shared.configuration.file
    more = {"jwks": str(write_jwks(tmp_path / "more.json", other.public_jwk)), "until": at(hours=1)}
    for entries, is_active in (([*config["signing"]["verify_only"], more], True), ([], False)):
        config["signing"]["verify_only"] = entries
        file.write_text(yaml.safe_dump(config))
        assert service.features.shared.registry.reload()
        assert service.events[-1].need_restart == ()  # type: ignore[attr-defined]
        await service.features.key_source.refresh()
        tokens = [await sign(key=other), await sign()]
        assert [await service.is_active(token) for token in tokens] == [is_active, is_active]


async def test_the_end_of_access_reaches_as_far_as_keys_that_came_by_a_reload(
    service: RunningService, sign: Sign, config: dict[str, Any], clock: Clock
) -> None:
    ending = service.features.shared.user_ending
    await ending.end("88421113")
    config["signing"]["verify_only"][0]["until"] = at(hours=24 * 60)
    service.reload(config)
    await service.features.key_source.refresh()
    token = await sign(exp=4_102_444_800)
    await ending.end("818727")
    clock.forward(days=31)
    assert not await service.is_active(token)


async def test_a_reload_with_a_wrong_file_changes_nothing(
    service: RunningService, sign: Sign, jwks: Path
) -> None:
    write_jwks(jwks)
    assert not service.features.shared.registry.reload()
    await service.features.key_source.refresh()
    assert await service.is_active(await sign())


async def test_keys_of_files_leave_room_for_those_of_the_server_before(
    start: Start, config: dict[str, Any], tmp_path: Path
) -> None:
    own = Key.generate("ES256")
    (tmp_path / "own.jwk").write_text(json.dumps(own.private_jwk))
    config["signing"] |= {"source": "files", "keys": [{"path": str(tmp_path / "own.jwk")}]}
    service = await start(config)
    assert await published(service) == [own.kid, old_key().kid]


async def test_the_services_own_key_counts_where_both_have_one_id(
    start: Start, config: dict[str, Any], tmp_path: Path, jwks: Path
) -> None:
    own = Key.generate("ES256")
    (tmp_path / "own.jwk").write_text(json.dumps(own.private_jwk | {"kid": "1"}))
    write_jwks(jwks, old_key().public_jwk | {"kid": "1"})
    config["signing"] |= {"source": "files", "keys": [{"path": str(tmp_path / "own.jwk")}]}
    service = await start(config)
    (key,) = (await service.get(JWKS))["keys"]
    assert (key["kid"], key["alg"]) == ("1", "ES256")


async def test_a_client_without_the_grant_loses_the_tokens_of_the_server_before(
    start: Start, config: dict[str, Any]
) -> None:
    client_in(config, "web")["enabled"] = False
    service = await start(config)
    claims = {"iss": service.issuer, "aud": "api1", "azp": "web", "typ": "Bearer", "jti": "1"}
    token = await old_key().sign(
        claims | {"sub": "818727", "scope": "api1", "exp": 4_102_444_800}, typ="JWT"
    )
    assert not await service.is_active(token)
