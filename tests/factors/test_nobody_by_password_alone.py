"""No page and no endpoint takes a user for signed in who gave the password alone and has a second factor (ASVS 6.3, OIDC Core §3.1.2.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp.web_urldispatcher import StaticResource

from service.app import create_app
from service.events.ciba import CibaRequested
from service.events.factors import FactorLocked, FactorRefused
from service.events.users import LoginSucceeded
from service.model.factors import Factors
from tests.ciba.consumption import Device, ciba_client, ref_of
from tests.device.tv import TELEVISIONS, Television
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.factors.conftest import PATH
from tests.factors.phone import ALICE, Phone

pytestmark = [pytest.mark.rfc("openid-core#3.1.2.3"), pytest.mark.usefixtures("one_store")]

TEMPLATES = Path(__file__).parents[2] / "templates"
PARTIAL, SESSION = "partial_sign_in", "sid"
ECHOED = ("state", "iss", "session_state")
ALICE_IN_WORDS = re.compile(r"818727|Alice|alice@example\.com")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """As many endpoints as there can be."""
    config["clients"] += deepcopy(TELEVISIONS)
    config["clients"].append(ciba_client("till", client_in(config, "web")["client_secrets"]))
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid"]}
    provider = {"name": "upstream", "issuer": "https://upstream.example", "client_id": "us"}
    config["identity_providers"] = [
        provider | {"client_secret": "a-secret-of-32-characters-0123456"}
    ]
    return config


def actions() -> list[str]:
    """Whatever a button of any page says, and what none says."""
    found = set[str]()
    for template in TEMPLATES.glob("*.html"):
        text = template.read_text()
        found |= set(re.findall(r'name="action"[^>]*value="([a-z-]+)"', text))
        found |= set(re.findall(r'"(remove|rename|[a-z]+-recovery-codes)"', text))
    assert {"allow", "confirm", "end-session", "revoke", "remove"} <= found
    return ["", *sorted(found - {"cancel"})]


def routes(service: RunningService) -> Iterator[tuple[str, str]]:
    """Every method and path that the app answers, as it says itself."""
    app = create_app(service.features.shared.configuration, environ={}).app
    for route in app.router.routes():
        resource = route.resource
        assert resource is not None
        if not isinstance(resource, StaticResource) and route.method != "HEAD":
            yield ("POST" if route.method == "*" else route.method), resource.canonical


@dataclass
class Walk:
    """A browser with Alice's password, and what waits for her answer in it and elsewhere."""

    app: ClientApp
    tv: Television
    till: Device
    auth_req_id: str

    def path(self, canonical: str) -> str:
        """The path with its names filled in."""
        names = {"ref": ref_of(self.auth_req_id), "name": "upstream"}
        return re.sub(r"\{(\w+)[^}]*\}", lambda name: names.get(name[1], "x"), canonical)

    async def give_password(self) -> dict[str, str]:
        """Give it once more; the fields of any form that would be answered then."""
        self.app.browser.forget_cookies()
        half = await self.app.login()
        assert half.path == PATH
        fields = dict(half.forms[0].fields)
        return {
            "csrf": fields["csrf"],
            "request": fields["request"],
            "session_id": self.app.browser.cookies[PARTIAL],
            "user_code": self.tv.codes["user_code"],
            "scope": "openid",
            "method": "otp",
            "factor": "otp",
            "name": "stolen",
            "client_id": self.app.client_id,
            "subject": ALICE,
        }

    async def send(self, method: str, path: str, *, as_session: bool) -> None:
        """Send whatever the path may take, and look at each answer."""
        fields = await self.give_password()
        partial = self.app.browser.cookies[PARTIAL]
        cookies = {PARTIAL: partial} | ({SESSION: partial} if as_session else {})
        headers = {"Authorization": f"Bearer {partial}"} if as_session else {}
        for sent in requests(method, fields):
            self.app.browser.put_cookies(cookies)
            form = {"data" if method == "POST" else "params": sent}
            page = await self.app.browser.request(method, path, headers=headers, **form)
            what = method, path, sent, page.url
            assert page.status < 500, what
            assert not ALICE_IN_WORDS.search(page.text), what
            if not page.url.startswith(self.app.service.issuer):
                assert set(page.parameters) <= {"error", "error_description", *ECHOED}, what
            assert as_session or SESSION not in self.app.browser.cookies, what


def requests(method: str, fields: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The forms for each path: for the request of the sign-in, and for none."""
    if method != "POST":
        yield {**fields}
        yield {"return_to": "/account/security"}
        return
    for action in actions():
        yield {**fields, "action": action}
        yield {"csrf": fields["csrf"], "action": action, "factor": "otp"}


@pytest.fixture
async def walk(service: RunningService, browser: Browser, phone: Phone) -> Walk:
    tv, till = await Television.switch_on(service, browser), Device(service)
    app = ClientApp(service, browser, "consenting")
    assert phone.secret
    return Walk(app, tv, till, await till.begin())


@pytest.mark.parametrize("as_session", [False, True], ids=["as it is", "as session and token"])
async def test_partial_sign_in_is_no_session_at_any_route(
    service: RunningService, walk: Walk, as_session: bool
) -> None:
    before = await state_of(service)
    all_routes = [(method, walk.path(canonical)) for method, canonical in routes(service)]
    for method, path in all_routes:
        await walk.send(method, path, as_session=as_session)
    known = {"/account", "/account/security", "/connect/authorize", "/device", PATH}
    assert known <= {path for _, path in all_routes}
    assert await state_of(service) == before
    told = {type(each) for each in service.events if getattr(each, "subject", None) == ALICE}
    assert told == {LoginSucceeded, CibaRequested, FactorRefused, FactorLocked}
    assert (await walk.till.poll(walk.auth_req_id)).error == "authorization_pending"
    assert (await walk.tv.poll()).error == "authorization_pending"


async def state_of(service: RunningService) -> tuple[Factors, object, object, object]:
    """All that Alice has."""
    records = service.features.shared
    return (
        await service.features.shared.factors.find(ALICE),
        await records.sessions.find_all_of(ALICE),
        await records.consents.find_all_of(ALICE),
        await records.authorizations.find_all_of(ALICE),
    )
