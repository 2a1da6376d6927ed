"""node-oidc-provider on the same Redis, asked for the same works (`make bench-peers`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

from benchmarks.browser import AFTER_LOGOUT, authorization_query
from benchmarks.load import Requests
from benchmarks.users import USER_COUNT
from benchmarks.work import VERIFIER, basic, proven
from service.protocol.pkce import s256

FOLDER = Path(__file__).with_name("peers") / "node_oidc_provider"
NODE = FOLDER / "node_modules/.bin/node"

Prepare = Callable[[int, Path, int], Requests]
"""Makes what a work needs of the peer at a port, in a folder, for so many requests at the most."""


def command(port: int, redis_url: str, workers: int) -> list[str]:
    """The program that runs it."""
    return [str(NODE), str(FOLDER / "server.mjs"), str(port), redis_url, str(workers)]


def _introspect(port: int, _: Path, __: int) -> Requests:
    (token,) = _prepared(port, "AccessToken", 1)
    return Requests(
        path="/token/introspection", authorization=basic("web"), body=urlencode({"token": token})
    )


def _client_credentials(**further: str) -> Prepare:
    form = urlencode({"grant_type": "client_credentials", **further})
    return lambda *_: Requests(path="/token", authorization=basic("web"), body=form)


def _client_credentials_dpop(port: int, folder: Path, most: int) -> Requests:
    sent = _client_credentials(scope="api1", resource="urn:es256")(port, folder, most)
    return proven(sent, f"http://127.0.0.1:{port}{sent.path}", folder / "peer", most)


def _refresh(port: int, folder: Path, most: int) -> Requests:
    tokens = _prepared(port, "RefreshToken", most)
    return _each_once(folder, [{"grant_type": "refresh_token", "refresh_token": t} for t in tokens])


def _code(port: int, folder: Path, most: int) -> Requests:
    shared = {
        "grant_type": "authorization_code",
        "redirect_uri": "https://web.example/callback",
        "code_verifier": VERIFIER,
    }
    codes = _prepared(port, "AuthorizationCode", most)
    return _each_once(folder, [{**shared, "code": code} for code in codes])


def _authorize(**further: str) -> Prepare:
    """Ask for codes for users with a session each, who take turns; each also has a grant for the client."""

    def prepare(port: int, folder: Path, _: int) -> Requests:
        query, file = (
            urlencode(authorization_query(scope="openid profile", **further)),
            folder / "peer",
        )
        sessions = _prepared(port, "Session", USER_COUNT)
        file.write_text("".join(f"{query}\t\t_session={each}\n" for each in sessions))
        return Requests(path="/auth", bodies=file, are_queries=True, in_turns=True)

    return prepare


def _userinfo(port: int, _: Path, __: int) -> Requests:
    (token,) = _prepared(port, "AccessToken", 1)
    return Requests(path="/me", authorization=f"Bearer {token}")


def _push(*_: object) -> Requests:
    form = urlencode(authorization_query(scope="openid profile"))
    return Requests(path="/request", authorization=basic("web"), body=form)


def _logout_page(port: int, folder: Path, _: int) -> Requests:
    """The page that asks the user, which a logout begins with there."""
    query = urlencode({"client_id": "web", "post_logout_redirect_uri": AFTER_LOGOUT})
    file = folder / "peer"
    sessions = _prepared(port, "Session", USER_COUNT)
    file.write_text("".join(f"{query}\t\t_session={each}\n" for each in sessions))
    return Requests(path="/session/end", bodies=file, are_queries=True, in_turns=True)


def _document(path: str) -> Prepare:
    return lambda *_: Requests(path=path)


WORKS: Mapping[str, Prepare] = {
    "introspect-reference": _introspect,
    "client-credentials-reference": _client_credentials(),
    "client-credentials-es256": _client_credentials(scope="api1", resource="urn:es256"),
    "client-credentials-rs256": _client_credentials(scope="api1", resource="urn:rs256"),
    "client-credentials-dpop": _client_credentials_dpop,
    "refresh": _refresh,
    "code": _code,
    "authorize": _authorize(),
    "authorize-form-post": _authorize(response_mode="form_post"),
    "authorize-parked": _document(
        f"/auth?{urlencode(authorization_query(scope='openid profile'))}"
    ),
    "userinfo-reference": _userinfo,
    "logout-question": _logout_page,
    "push": _push,
    "device-page": _document("/device"),
    "discovery": _document("/.well-known/openid-configuration"),
    "jwks-document": _document("/jwks"),
}
"""By the name of the floor's handler; what is missing here it cannot do alike."""


def _prepared(port: int, kind: str, count: int) -> list[str]:
    query = urlencode({"count": count, "challenge": s256(VERIFIER)})
    with urlopen(f"http://127.0.0.1:{port}/prepared/{kind}?{query}") as answer:
        lines: list[str] = answer.read().decode().split()
    return lines


def _each_once(folder: Path, forms: list[dict[str, str]]) -> Requests:
    file = folder / "peer"
    file.write_text("\n".join(urlencode(form) for form in forms) + "\n")
    return Requests(path="/token", authorization=basic("web"), bodies=file)
