"""Serves the static files from memory."""

from __future__ import annotations

import hashlib
import mimetypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from aiohttp import web

_HASHED = re.compile(r"(?P<stem>.+)\.(?P<digest>[0-9a-f]{12})(?P<suffix>\.\w+)")
_A_DAY = "public, max-age=86400"
_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Assets:
    """The files under static/, by their path there, so that no request reads from the disk."""

    files: Mapping[str, bytes]

    @classmethod
    def load(cls, folders: Sequence[Path], generated: Mapping[str, bytes]) -> Assets:
        """Read every file; one in an earlier folder replaces its namesake in a later one.

        Generated files come before all of them.
        """
        files: dict[str, bytes] = {}
        for folder in reversed(folders):
            root = folder / "static"
            for path in sorted(root.rglob("*")):
                if path.is_file():
                    files[path.relative_to(root).as_posix()] = path.read_bytes()
        return cls({**files, **generated})

    def path(self, name: str) -> str:
        """Return the path of a file with its content's hash in it."""
        stem, dot, suffix = name.rpartition(".")
        return f"/static/{stem}.{_hash(self.files[name])}{dot}{suffix}"

    async def serve(self, request: web.Request) -> web.Response:
        """Answer GET /static/…; an old hash gets the present file, since another replica may have named it."""
        name = request.match_info["name"]
        hashed = _HASHED.fullmatch(name)
        if hashed is not None:
            name = hashed["stem"] + hashed["suffix"]
        if name not in self.files:
            raise web.HTTPNotFound
        exact = hashed is not None and hashed["digest"] == _hash(self.files[name])
        return self._response(name, _FOR_EVER if exact else "no-cache")

    async def serve_icon(self, _: web.Request) -> web.Response:
        """Answer GET /favicon.ico, which browsers ask for if an answer does not name an icon."""
        return self._response("favicon.ico" if "favicon.ico" in self.files else "icon.svg", _A_DAY)

    def _response(self, name: str, cache_control: str) -> web.Response:
        return web.Response(
            body=self.files[name],
            content_type=mimetypes.guess_type(name)[0] or "application/octet-stream",
            headers={"Cache-Control": cache_control, "X-Content-Type-Options": "nosniff"},
        )


@lru_cache(maxsize=100)
def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:12]
