"""The frames of keycloak-js answer it in Chromium as Keycloak's own do (OpenID Connect Session Management §3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import CLIENT_ID, Application, Person
from tests.driving.service import RunningService

FRAMES = """<!doctype html><title>Application</title><link rel="icon" href="data:,"><script>
function frameOf(path) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-storage-access-by-user-activation allow-scripts allow-same-origin");
  frame.src = "%(issuer)s/protocol/openid-connect/" + path;
  document.body.append(frame);
  return frame;
}
function answerOf(frame) {
  return new Promise((resolve) => addEventListener("message", function told(event) {
    if (event.source === frame.contentWindow) {
      removeEventListener("message", told);
      resolve(event.data);
    }
  }));
}
async function statusOf(sid) {
  const frame = frameOf("login-status-iframe.html");
  await new Promise((resolve) => frame.addEventListener("load", resolve));
  const answer = answerOf(frame);
  frame.contentWindow.postMessage("%(client_id)s " + sid, new URL("%(issuer)s").origin);
  return answer;
}
function cookies() {
  return answerOf(frameOf("3p-cookies/step1.html"));
}
</script><body></body>"""
"""What keycloak-js does, and no more."""


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The issuer is that of a realm."""
    config["issuer"] = "http://localhost:0/realms/shop"
    config["path_aliases"] = ["keycloak"]
    return config


async def open_frames(person: Person, origin: str) -> None:
    """Go to the page of the application, by this origin."""
    person.application.frames = FRAMES % {"issuer": person.issuer, "client_id": CLIENT_ID}
    await person.page.goto(f"{origin}/frames")


async def test_the_frame_knows_the_session_of_the_tokens(
    person: Person, application: Application, service: RunningService
) -> None:
    await person.page.goto(f"{person.issuer}/account/login")
    await person.logs_in()
    await person.sees("h1")
    (session,) = await service.features.shared.sessions.find_all_of("818727")
    ask = person.page.evaluate
    await open_frames(person, application.url)
    assert await ask("(sid) => statusOf(sid)", session.id) == "unchanged"
    assert await ask("(sid) => statusOf(sid)", "another") == "changed"
    assert await ask("(sid) => statusOf(sid)", "") == "changed"
    await person.context.clear_cookies()
    assert await ask("(sid) => statusOf(sid)", session.id) == "changed"
    assert await ask("(sid) => statusOf(sid)", "") == "unchanged"


async def test_pages_of_unknown_origins_learn_nothing_of_the_session(
    person: Person, application: Application
) -> None:
    origin = f"http://127.0.0.1:{application.port}"
    await open_frames(person, origin)
    assert await person.page.evaluate("statusOf(``)") == "error"
    person.complaints.clear()  # the console has a line about each 403


async def test_keycloak_js_learns_that_cookies_reach_the_frame(
    person: Person, application: Application
) -> None:
    await open_frames(person, application.url)
    assert await person.page.evaluate("cookies()") == "supported"
    names = [cookie.get("name", "") for cookie in await person.context.cookies()]
    assert not [name for name in names if name.startswith("third_party_cookie")]
