"""Serves the static files from memory."""

from __future__ import annotations

import hashlib
import mimetypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

_HASHED = re.compile(r"(?P<stem>.+)\.(?P<digest>[0-9a-f]{12})(?P<suffix>\.\w+)")
_A_DAY = "public, max-age=86400"
_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A file in memory, so that no request touches the disk or a path that it made up."""

    body: bytes
    content_type: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Assets:
    """The files under static/, by their path there."""

    files: Mapping[str, Asset]

    @classmethod
    def load(cls, folders: Sequence[Path], generated: Mapping[str, bytes]) -> Assets:
        """Read every file; one in an earlier folder replaces its namesake in a later one.

        Generated files come before all of them.
        """
        files: dict[str, Asset] = {}
        for folder in reversed(folders):
            root = folder / "static"
            for path in sorted(root.rglob("*")):
                if path.is_file():
                    name = path.relative_to(root).as_posix()
                    files[name] = _asset(name, path.read_bytes())
        files |= {name: _asset(name, body) for name, body in generated.items()}
        return cls(files=files)

    def path(self, name: str) -> str:
        """Give the path of a file with its content's hash in it."""
        stem, dot, suffix = name.rpartition(".")
        return f"/static/{stem}.{self.files[name].digest}{dot}{suffix}"

    async def serve(self, request: web.Request) -> web.Response:
        """Answer GET /static/…; an old hash gets the present file, since another replica may have named it."""
        name = request.match_info["name"]
        hashed = _HASHED.fullmatch(name)
        if hashed is not None:
            name = hashed["stem"] + hashed["suffix"]
        asset = self.files.get(name)
        if asset is None:
            raise web.HTTPNotFound
        exact = hashed is not None and hashed["digest"] == asset.digest
        return _response(asset, _FOR_EVER if exact else "no-cache")

    async def serve_icon(self, _: web.Request) -> web.Response:
        """Answer GET /favicon.ico; browsers ask for it where the answer does not name an icon."""
        return _response(self.files.get("favicon.ico", self.files["icon.svg"]), _A_DAY)


def _response(asset: Asset, cache_control: str) -> web.Response:
    headers = {"Cache-Control": cache_control, "X-Content-Type-Options": "nosniff"}
    return web.Response(body=asset.body, content_type=asset.content_type, headers=headers)


def _asset(name: str, body: bytes) -> Asset:
    return Asset(
        body=body,
        content_type=mimetypes.guess_type(name)[0] or "application/octet-stream",
        digest=hashlib.sha256(body).hexdigest()[:12],
    )
