"""Shows the way of two forms through service/: `python -m scripts.path_of_a_request`.

The first is the login form of a user with a password, up to the code for the client; the second one redeems that code.
A file is entered where a function of another file of service/ calls one of its functions.
"""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path
from types import FrameType
from urllib.parse import parse_qs, urlencode, urlsplit

from aiohttp import ClientSession

from service.app import create_app
from service.start.load import load
from service.web.server.server import Runner

REPOSITORY = Path(__file__).parents[1]
SERVICE = REPOSITORY / "service"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # of RFC 7636 Appendix B
CALLBACK = "http://localhost:5173/callback"
TOOLS = ("keys", "model", "observe", "protocol", "store", "web")
"""Folders of what every request uses: they are counted, but are no feature's code."""
PAGES = "web/pages/"
"""No tool: it shows what the features say."""


class Trace:
    """Counts how often each file of a folder is entered while it runs."""

    def __init__(self, folder: Path) -> None:
        self.entries: Counter[str] = Counter()
        self._folder = f"{folder}/"
        self._seen: dict[int, FrameType] = {}

    @contextmanager
    def running(self) -> Generator[None]:
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            self._seen.clear()

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or id(frame) in self._seen:
            return
        self._seen[id(frame)] = (
            frame  # kept, so that no other frame gets its id; a coroutine is resumed by further calls
        )
        above = list(self._files_above(frame))
        file = frame.f_code.co_filename
        is_of_request = bool(above) and above[-1].startswith(f"{self._folder}web/server/")
        if file.startswith(self._folder) and is_of_request and file != above[0]:
            self.entries[file.removeprefix(self._folder)] += 1

    def _files_above(self, frame: FrameType) -> Iterator[str]:
        """Yield the files of the folder whose functions wait for this one, the nearest first; background work has none of `web/server/`."""
        above = frame.f_back
        while above is not None:
            if above.f_code.co_filename.startswith(self._folder):
                yield above.f_code.co_filename
            above = above.f_back


async def walk() -> Mapping[str, Counter[str]]:
    """Send both forms to a service of this process, and return how often each file was entered, by form."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        configuration = load(REPOSITORY / "config.yaml", {"SERVICE_PORT": str(port)})
        runner = Runner(create_app(configuration, environ={}).app, shutdown_timeout=1)
        await runner.setup()
        await runner.listen(listening, None)
        try:
            async with ClientSession(f"http://localhost:{port}") as session:
                await send_forms(
                    session
                )  # once before, so that nothing is built or remembered later
                return await send_forms(session)
        finally:
            await runner.cleanup()


def walk_without_audit_log() -> Mapping[str, Counter[str]]:
    """Walk, and write what the service logs meanwhile only if that fails."""
    logged = StringIO()
    try:
        with redirect_stderr(logged):
            return asyncio.run(walk())
    except BaseException:
        sys.stderr.write(logged.getvalue())
        raise


async def send_forms(session: ClientSession) -> Mapping[str, Counter[str]]:
    """Sign alice in at the client `spa`, and redeem its code."""
    session.cookie_jar.clear()
    query = {
        "client_id": "spa",
        "redirect_uri": CALLBACK,
        "response_type": "code",
        "scope": "openid",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    page = await session.get(f"/connect/authorize?{urlencode(query)}")
    form = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', await page.text()))
    form |= {"username": "alice", "password": "alice"}
    login, token = Trace(SERVICE), Trace(SERVICE)
    with login.running():
        answer = await session.post("/account/login", data=form, allow_redirects=False)
    code = parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0]
    redemption = {
        "grant_type": "authorization_code",
        "client_id": "spa",
        "code": code,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
    }
    with token.running():
        answer = await session.post("/connect/token", data=redemption)
    answer.raise_for_status()
    return {"login form": login.entries, "token form": token.entries}


def main() -> None:
    """Print the files of both ways, those that are entered most often first, and those of tools last."""
    for form, entries in walk_without_audit_log().items():
        tools = Counter({file: entries[file] for file in entries if _is_tool(file)})
        for name, counted in ((form, entries - tools), ("with tools", entries)):
            again = counted.total() - len(counted)
            print(f"{name}: {len(counted)} files, entered again {again} times")
        for counted in (entries - tools, tools):
            for file, count in counted.most_common():
                print(f"{count:4}  {file}")


def _is_tool(file: str) -> bool:
    folder, slash, _ = file.partition("/")
    return (folder in TOOLS and not file.startswith(PAGES)) or not slash


if __name__ == "__main__":
    main()
