"""docs/openapi-admin.yaml describes the paths that the admin listener serves to programs, and every answer is as it says."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import jsonschema_rs
import pytest
import yaml

from service.app import create_app
from service.model.session import LogoutDelivery
from service.store.stores import LOGOUT
from tests.admin.conftest import ALICE, Admin, token_of
from tests.driving.client_app import ClientApp
from tests.driving.process import REPOSITORY
from tests.driving.service import Answer, RunningService

DESCRIPTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "docs/openapi-admin.yaml").read_text())


def test_description_has_the_version_of_the_service() -> None:
    version = DESCRIPTION["info"]["version"]
    assert f'version = "{version}"' in (REPOSITORY / "pyproject.toml").read_text()


def described() -> set[tuple[str, str]]:
    """Every method and path of the description."""
    return {
        (method.upper(), path) for path, item in DESCRIPTION["paths"].items() for method in item
    }


def check(method: str, path: str, answer: Answer) -> None:
    """Fail unless the status and the body of an answer are described."""
    operation = DESCRIPTION["paths"][path][method.lower()]
    response = operation["responses"].get(str(answer.status))
    assert response is not None, (method, path, answer.status, answer.body)
    response = resolve(response)
    for name, header in response.get("headers", {}).items():
        assert name in answer.headers or not resolve(header).get("required"), name
    if "content" not in response:
        assert answer.body == b""
        return
    assert answer.headers["Content-Type"].partition(";")[0] == "application/json"
    schema = response["content"]["application/json"]["schema"]
    jsonschema_rs.Draft202012Validator(
        {**schema, "components": DESCRIPTION["components"]}, validate_formats=True
    ).validate(answer.json)


def resolve(value: dict[str, Any]) -> dict[str, Any]:
    """Return the value that a reference leads to, or the value itself."""
    if "$ref" not in value:
        return value
    found: Any = DESCRIPTION
    for part in value["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)


async def test_description_has_every_path_that_is_served(service: RunningService) -> None:
    built = create_app(service.features.shared.configuration, environ={})
    assert built.admin is not None
    served = {
        (route.method, route.resource.canonical)
        for route in built.admin.router.routes()
        if route.resource is not None
        and route.resource.canonical.startswith("/admin/")
        and route.method != "HEAD"
    }
    assert served == described()


async def prepare(service: RunningService, app: ClientApp) -> dict[str, str]:
    """Let everything exist once; the texts that stand for names in paths."""
    await app.tokens(scope="openid api1 offline_access")
    shared = service.features.shared
    delivery = LogoutDelivery(client_id="web", session_id="s" * 16, subject=ALICE)
    await shared.kv.write(
        shared.stores.logout_outbox.deliveries.put_new(delivery, LOGOUT, delivery.id, ttl=3600),
        shared.stores.logout_outbox.queue.add(delivery.id, seconds=600),
    )
    (session,) = await shared.sessions.find_all_of(ALICE)
    (grant,) = await shared.authorizations.find_all_of(ALICE)
    return {"sub": ALICE, "session": session.id, "grant": grant.id}


READ: dict[str, str] = {
    "/admin/clients": "",
    "/admin/clients/{id}": "web",
    "/admin/registered-clients": "",
    "/admin/api-resources": "?limit=1",
    "/admin/api-resources/{name}": "api1",
    "/admin/users": "?username=alice",
    "/admin/users/{sub}": ALICE,
    "/admin/users/{sub}/sessions": ALICE,
    "/admin/users/{sub}/grants": ALICE,
    "/admin/users/{sub}/factors": ALICE,
    "/admin/sessions/{id}": "session",
    "/admin/grants/{id}": "grant",
    "/admin/keys": "",
    "/admin/registry": "",
    "/admin/outbox": "",
    "/admin/why": "?client=machine&api=api1",
    "/admin/graph": "?limit=2",
}
"""Every path that is read, with what completes it."""


def test_every_path_that_is_read_has_a_request() -> None:
    assert {path for path, item in DESCRIPTION["paths"].items() if "get" in item} == READ.keys()


def url_of(path: str, completed: str) -> str:
    """The path with what completes it."""
    return re.sub(r"{\w+}", completed, path) if "{" in path else path + completed


@pytest.mark.parametrize("path", READ)
async def test_answer_is_as_described(
    path: str, admin: Admin, service: RunningService, app: ClientApp
) -> None:
    names = await prepare(service, app)
    answer = await admin("GET", url_of(path, names.get(READ[path], READ[path])))
    assert answer.status == 200
    check("GET", path, answer)


@pytest.mark.parametrize("path", READ)
async def test_refusals_are_as_described(path: str, admin: Admin, service: RunningService) -> None:
    url = url_of(path, "nothing" if "{" in path else READ[path])
    without = await service.admin("GET", url)
    wrong_scope = await service.admin("GET", url, await token_of(service, "machine", "api1"))
    elsewhere = await admin("GET", url, headers={"Host": "elsewhere.example"})
    unknown = await admin("GET", f"{url}{'&' if '?' in url else '?'}{urlencode({'more': 1})}")
    missing = await admin("GET", url) if "{" in path else None
    assert (without.status, wrong_scope.status, elsewhere.status) == (401, 401, 421)
    assert unknown.refusal == (400, "invalid_request")
    assert missing is None or missing.refusal == (404, "not_found")
    for answer in filter(None, (without, wrong_scope, elsewhere, unknown, missing)):
        check("GET", path, answer)


@pytest.mark.parametrize("text", ["rt_nothing", "https://elsewhere.example/?a=b"])
async def test_explanation_is_as_described(admin: Admin, text: str) -> None:
    check("POST", "/admin/explain", await admin("POST", "/admin/explain", json={"text": text}))


async def test_no_answer_holds_a_secret_of_the_configuration(
    admin: Admin, service: RunningService, app: ClientApp, config: dict[str, Any]
) -> None:
    names = await prepare(service, app)
    bodies = [
        (await admin("GET", url_of(path, names.get(completed, completed)))).body.decode()
        for path, completed in READ.items()
    ]
    secrets = set(find_secrets(config))
    assert len(secrets) > 10
    assert [one for one in secrets for body in bodies if one in body] == []


def find_secrets(value: Any, *, within: bool = False) -> set[str]:
    """Every text under a key that holds secrets or hashes."""
    if isinstance(value, dict):
        return {
            one
            for key, below in value.items()
            for one in find_secrets(
                below, within=within or key in {"client_secrets", "secrets", "password"}
            )
        }
    if isinstance(value, list):
        return {one for below in value for one in find_secrets(below, within=within)}
    return {value} if within and isinstance(value, str) else set()


WRITTEN: dict[tuple[str, str], tuple[str, int]] = {
    ("DELETE", "/admin/users/{sub}/sessions"): (ALICE, 204),
    ("DELETE", "/admin/users/{sub}/grants"): (ALICE, 204),
    ("DELETE", "/admin/users/{sub}/factors"): (ALICE, 204),
    ("POST", "/admin/users/{sub}/unlock"): (ALICE, 204),
    ("DELETE", "/admin/sessions/{id}"): ("session", 204),
    ("DELETE", "/admin/grants/{id}"): ("grant", 204),
    ("DELETE", "/admin/clients/{id}/grants"): ("web", 204),
    ("DELETE", "/admin/registered-clients/{id}"): ("dc_AAAAAAAAAAAAAAAA", 204),
    ("POST", "/admin/keys/rotate"): ("", 200),
    ("POST", "/admin/outbox/{id}/retry"): ("logout.nothing", 404),
}
"""Every operation that changes something, with what completes its path and the status that follows."""


def test_every_operation_that_writes_has_a_request() -> None:
    written = {
        (method.upper(), path)
        for path, item in DESCRIPTION["paths"].items()
        for method in item
        if method != "get" and path != "/admin/explain"
    }
    assert written == WRITTEN.keys()


@pytest.mark.parametrize(("method", "path"), WRITTEN, ids=" ".join)
async def test_change_is_answered_as_described(
    method: str, path: str, admin: Admin, service: RunningService, app: ClientApp
) -> None:
    names = await prepare(service, app)
    completed, status = WRITTEN[method, path]
    url = url_of(path, names.get(completed, completed))
    reading = await service.admin(method, url, await token_of(service, "watching", "admin.read"))
    assert reading.status == 403
    check(method, path, reading)
    check(method, path, await service.admin(method, url))
    answer = await admin(method, url)
    assert answer.status == status
    check(method, path, answer)
