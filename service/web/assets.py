"""Which file does a /static/ URL stand for, and how long may it be cached?"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

_HASHED = re.compile(r"(?P<stem>.+)\.(?P<digest>[0-9a-f]{12})(?P<suffix>\.\w+)")
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
    def load(cls, folders: Sequence[Path]) -> Assets:
        """Read every file; one in an earlier folder replaces its namesake in a later one."""
        files: dict[str, Asset] = {}
        for folder in reversed(folders):
            root = folder / "static"
            for path in sorted(root.rglob("*")):
                if path.is_file():
                    files[path.relative_to(root).as_posix()] = _read(path)
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
        return web.Response(
            body=asset.body,
            content_type=asset.content_type,
            headers={
                "Cache-Control": _FOR_EVER if exact else "no-cache",
                "X-Content-Type-Options": "nosniff",
            },
        )


def _read(path: Path) -> Asset:
    body = path.read_bytes()
    return Asset(
        body=body,
        content_type=mimetypes.guess_type(path.name)[0] or "application/octet-stream",
        digest=hashlib.sha256(body).hexdigest()[:12],
    )
