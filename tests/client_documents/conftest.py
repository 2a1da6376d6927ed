"""A service that takes URLs as client_ids, and the web server of a client with such a URL."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.driving.browser import Browser, Page
from tests.driving.certificate import certified
from tests.driving.client_app import ClientApp
from tests.driving.listening import listening
from tests.driving.service import Answer, RunningService

LOOPBACK = "http://127.0.0.1:1/callback"


@dataclass
class Site:
    """Shows documents, and counts the requests for them."""

    base: str = ""
    documents: dict[str, bytes] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)
    proceed: asyncio.Event = field(default_factory=asyncio.Event)
    """/slow answers after it."""

    @property
    def place(self) -> str:
        """As allowed_hosts has it."""
        return self.base.removeprefix("https://")

    def publish(self, path: str = "/client.json", /, **changes: Any) -> str:
        """Put a document, with some members changed or (None) left out, behind a path; its URL."""
        usual: dict[str, Any] = {
            "client_id": self.base + path,
            "client_name": "Agent",
            "redirect_uris": [f"{self.base}/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
        } | changes
        content = {name: value for name, value in usual.items() if value is not None}
        self.documents[path] = json.dumps(content).encode()
        return self.base + path

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """The document, or what the path stands for."""
        self.fetched.append(request.path)
        if request.path == "/elsewhere":
            raise web.HTTPFound("/client.json")
        if request.path == "/slow":
            await self.proceed.wait()
        if request.path == "/broken":
            return web.Response(status=500)
        document = self.documents.get(request.path)
        if document is None:
            return web.Response(status=404)
        headers = {"Content-Type": "application/json"} | self.headers
        return web.Response(body=document, headers=headers)


@dataclass
class DocumentApp(ClientApp):
    """A client whose id is a URL, in the person's browser."""

    uri: str = ""

    @property
    def redirect_uri(self) -> str:
        """The one of its usual document."""
        return self.uri or self.client_id.rpartition("/")[0] + "/callback"

    async def allow(self, **changes: str | None) -> Page:
        """Sign in and allow everything."""
        page = await self.login("alice", **changes)
        assert page.has("consent-allow"), page.text
        return await self.browser.submit(page, action="allow")

    async def code(self, username: str = "alice", **changes: str | None) -> str:
        """A code, after the person has allowed everything."""
        return (await self.allow(**changes)).parameters["code"]

    async def _token(self, form: dict[str, Any]) -> Answer:
        return await self.service.token(None, **{"client_id": self.client_id} | form)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the client's web server."""
    return certified(tmp_path_factory.mktemp("client_documents"))


@pytest.fixture
async def site(certificate: Path) -> AsyncIterator[Site]:
    """The client's web server."""
    own, site = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), Site()
    own.load_cert_chain(certificate)
    async with listening(site.serve, tls=own) as site.base:
        yield site
        site.proceed.set()


@pytest.fixture
def config(config: dict[str, Any], certificate: Path, site: Site) -> dict[str, Any]:
    """Takes the documents of that server."""
    config["outgoing"] = {
        "allowed_networks": ["127.0.0.0/8"],
        "ca_file": str(certificate),
        "timeout": "30s",
    }
    config["client_id_metadata"] = {
        "enabled": True,
        "allowed_hosts": [site.place],
        "allowed_scopes": ["openid", "profile", "api1", "offline_access"],
    }
    return config


@pytest.fixture
def agent(service: RunningService, browser: Browser, site: Site) -> DocumentApp:
    """A client with a document."""
    return DocumentApp(service, browser, site.publish())
