"""Names, cursors, methods and hosts that nobody should send change nothing and fail nowhere (ASVS 2.2, RFC 9110 §7.2, §15.5.6)."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from service.app import create_app
from tests.admin.conftest import ALICE, Admin, token_of
from tests.admin.console.conftest import Operator
from tests.admin.test_many import sign_in_often
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.service import RunningService

NAMES = {
    "no UTF-8": "%FF%FE",
    "a lone surrogate": "%ED%A0%80",
    "NUL": "%00",
    "a line break": "a%0D%0ASet-Cookie:%20x=1",
    "an emoji": quote("🔑"),
    "right to left": quote("\u202egnp.exe"),
    "composed": quote("e\u0301"),
    "dots": "..%2F..%2Fetc",
    "a backslash": "%5C%5Cevil",
    "markup": quote("<script>alert(1)</script>", safe=""),
    "a brace": "%7B%7D",
    "very long": "x" * 3000,
}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Alice is an operator of the console, too."""
    config["admin"]["writers"] = [{"sub": [ALICE]}]
    return config


def rows_of(service: RunningService) -> list[tuple[str, str]]:
    """Every method and path of the admin API."""
    built = create_app(service.features.shared.configuration, environ={})
    assert built.admin is not None
    return [
        (route.method, route.resource.canonical)
        for route in built.admin.router.routes()
        if route.resource is not None and route.resource.canonical.startswith("/admin/")
    ]


@pytest.mark.parametrize("kind", NAMES)
async def test_strange_name_in_a_path_is_nothing_or_is_refused(
    admin: Admin, service: RunningService, kind: str
) -> None:
    for method, path in rows_of(service):
        if "{" not in path:
            continue
        asked = path.replace(path[path.index("{") : path.index("}") + 1], NAMES[kind])
        answer = await admin(method, asked)
        assert answer.status in {200, 204, 400, 404}, (method, asked, answer.status)
        assert "Set-Cookie" not in answer.headers
        if answer.status >= 400 and method != "HEAD":
            assert answer.json["error"] in {"invalid_request", "not_found"}


LISTS = [
    *("/admin/clients", "/admin/registered-clients", "/admin/api-resources", "/admin/graph"),
    *("/admin/outbox", f"/admin/users/{ALICE}/sessions", f"/admin/users/{ALICE}/grants"),
]
CURSORS = [
    "",
    "%00",
    "%FF",
    "AAAA",
    "x" * 6000,
    "OTk5OTk5OTk5OTk5OTk5OTk5IHg",
    "LTEgeA",
    "MSAv",
    quote("🔑"),
]


@pytest.mark.parametrize("path", LISTS)
async def test_strange_cursor_is_refused_or_leads_nowhere(
    admin: Admin, app: ClientApp, path: str
) -> None:
    await app.tokens()
    for cursor in CURSORS:
        answer = await admin("GET", f"{path}?cursor={cursor}")
        assert answer.status in {200, 400}, (cursor, answer.status)
        if answer.status == 400:
            assert answer.refusal == (400, "invalid_request")


@pytest.mark.parametrize("kind", NAMES)
async def test_strange_name_on_a_page_is_text_or_is_refused(
    service: RunningService, kind: str
) -> None:
    operator, name = Operator(service), NAMES[kind]
    await operator.enter()
    for page in (
        *(f"/user?sub={name}", f"/client?id={name}", f"/api?name={name}", f"/clients?find={name}"),
        *(f"/users?by={by}&text={name}" for by in ("username", "email", "sub", "session", "grant")),
        *(f"/confirm?change={change}&id={name}" for change in ("end-sessions", "end-grant", name)),
        *(
            f"/outbox?state={name}",
            f"/outbox?cursor={name}",
            f"/?done={name}",
            f"/clients?apis={name}",
        ),
        *(f"/registered-clients?cursor={name}", f"/user?sub={ALICE}&part=sessions&cursor={name}"),
    ):
        shown = await operator.open(page)
        assert shown.status in {200, 400, 404, 414}, (page, shown.status)
        assert "<script>alert" not in shown.text
        assert "Set-Cookie" not in shown.headers
    await operator.close()


async def test_other_method_is_answered_with_those_that_there_are(
    admin: Admin, service: RunningService
) -> None:
    methods: dict[str, set[str]] = {}
    for method, path in rows_of(service):
        methods.setdefault(path.replace("{", "x").replace("}", ""), set()).add(method)
    for path, allowed in methods.items():
        answer = await admin("PATCH", path)
        assert (answer.refusal, path) == ((405, "invalid_request"), path)
        assert {one.strip() for one in answer.headers["Allow"].split(",")} >= allowed


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/admin/clients"),
        ("GET", "/admin/clients/nobody"),
        ("GET", "/admin/nothing"),
        ("PATCH", "/admin/clients"),
        ("DELETE", "/admin/sessions/nothing"),
        ("POST", "/admin/explain"),
    ],
)
async def test_no_answer_is_kept_by_a_cache(
    admin: Admin, service: RunningService, method: str, path: str
) -> None:
    for answer in (await admin(method, path), await service.admin(method, path)):
        assert answer.headers["Cache-Control"] == "no-store"
        assert not {"ETag", "Last-Modified", "Expires"} & {*answer.headers}
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        if answer.body and answer.status >= 400:
            assert set(answer.json) == {"error", "error_description"}


HOSTS = ["evil.example", "", "127.0.0.1", "127.0.0.1:1", "localhost", "[::1]", "127.0.0.1.nip.io"]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("path", ["/", "/admin/keys", "/static/admin.css", "/callback", "/nowhere"])
async def test_another_host_reaches_nothing(service: RunningService, host: str, path: str) -> None:
    token = await token_of(service, "operations")
    answer = await service.admin("GET", path, token, headers={"Host": host})
    assert answer.refusal == (421, "invalid_request")


async def test_two_hosts_are_refused(service: RunningService) -> None:
    parts = urlsplit(str(service.admin_url))
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    host = f"Host: {parts.netloc}\r\n"
    writer.write(
        f"GET / HTTP/1.1\r\n{host}Host: evil.example\r\nConnection: close\r\n\r\n".encode()
    )
    status = (await reader.readline()).split()[1]
    writer.close()
    await writer.wait_closed()
    assert status in {b"400", b"421"}


async def test_proof_of_possession_counts_once(service: RunningService) -> None:
    issued = DpopKey(service.issuer)
    form = {"grant_type": "client_credentials", "scope": "admin.write"}
    sent = {"DPoP": issued.proof()}
    answer = await service.post("/connect/token", auth="operations", headers=sent, **form)
    token, key = answer["access_token"], DpopKey(str(service.admin_url), key=issued.key)
    path = "/admin/users/nobody/sessions"
    proven = {
        "Authorization": f"DPoP {token}",
        "DPoP": key.proof(path, "DELETE", access_token=token),
    }
    assert (await service.admin("DELETE", path, headers=proven)).status == 204
    replayed = await service.admin("DELETE", path, headers=proven)
    assert replayed.refusal == (401, "invalid_dpop_proof")


async def test_pages_keep_their_entries_while_others_come_and_go(
    admin: Admin, service: RunningService
) -> None:
    sessions = service.features.shared.sessions
    await sign_in_often(service, 300)
    before = {one.id for one in await sessions.find_all_of(ALICE)}
    first = await admin("GET", f"/admin/users/{ALICE}/sessions?limit=100")
    seen, following, ended = [one["id"] for one in first["items"]], first["next"], set()
    while following is not None:
        left = await sessions.find_all_of(ALICE)
        gone = [one for one in left if one.id in before][:20]
        ended |= {one.id for one in gone}
        await sessions.end(*gone)
        await sessions.touch(left[-1])
        await sign_in_often(service, 100)
        page = await admin("GET", f"/admin/users/{ALICE}/sessions?limit=100&cursor={following}")
        seen, following = seen + [one["id"] for one in page["items"]], page["next"]
    assert len(seen) == len(set(seen))
    assert before - ended <= set(seen)
