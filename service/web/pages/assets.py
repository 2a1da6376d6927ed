"""Serves the static files from memory."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

import msgspec
from aiohttp import web

from service.web.endpoint import NO_FIELDS, NOSNIFF, Answer, Message, raw_path

_HASH_IN_NAME = re.compile(r"\.[0-9a-f]{12}(?=\.\w+$)")
_A_DAY = "public, max-age=86400"
_FOR_EVER = "public, max-age=31536000, immutable"


class Assets(msgspec.Struct, frozen=True):
    """The files under static/, by their path there, so that no request reads from the disk."""

    files: Mapping[str, bytes]
    find_further: Callable[[str], bytes | None]
    """Finds a file of a tenant, which a reload may change."""

    @classmethod
    def load(
        cls,
        folders: Sequence[Path],
        generated: Mapping[str, bytes],
        find_further: Callable[[str], bytes | None],
    ) -> Assets:
        """Read every file; a generated one, then one in an earlier folder, replaces its namesakes."""
        files: dict[str, bytes] = {}
        for root in (folder / "static" for folder in reversed(folders)):
            paths = [path for path in root.rglob("*") if path.is_file()]
            files |= {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
        return cls({**files, **generated}, find_further)

    def find(self, name: str) -> bytes | None:
        return self.files.get(name) or self.find_further(name)

    def path(self, name: str) -> str:
        """Return the path of a file with its content's hash in it."""
        stem, dot, suffix = name.rpartition(".")
        return f"/static/{stem}.{_hash(self.find(name) or b'')}{dot}{suffix}"

    async def serve(self, request: Message) -> Answer:
        """Answer GET /static/…; an old hash gets the present file, since another replica may have named it."""
        asked = unquote(raw_path(request).removeprefix("/static/"))
        name = _HASH_IN_NAME.sub("", asked)
        if (body := self.find(name)) is None:
            raise web.HTTPNotFound
        is_present = self.path(name) == f"/static/{asked}"
        return _answer(request, name, body, _FOR_EVER if is_present else "no-cache")

    async def serve_icon(self, request: Message) -> Answer:
        """Answer GET /favicon.ico, which browsers ask for if an answer does not name an icon."""
        name = "favicon.ico" if "favicon.ico" in self.files else "icon.svg"
        return _answer(request, name, self.files[name], _A_DAY)


def _answer(request: Message, name: str, body: bytes, cache_control: str) -> Answer:
    """Answer with a file, compressed where that makes it smaller and the browser takes it (RFC 9110 §12.5.3)."""
    content_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    headers = {"Content-Type": content_type, "Cache-Control": cache_control, NOSNIFF: "nosniff"}
    compressed = _compress(body)
    if len(compressed) < len(body):
        headers["Vary"] = "Accept-Encoding"
        if _takes_gzip(request.headers.get("Accept-Encoding", "")):
            headers["Content-Encoding"] = "gzip"
            body = compressed
    return Answer(NO_FIELDS, body, headers=headers)


def _takes_gzip(accept_encoding: str) -> bool:
    for one in accept_encoding.split(","):
        name, _, weight = one.partition(";")
        if name.strip().lower() == "gzip":
            return weight.replace(" ", "").rstrip(".0") != "q="
    return False


@lru_cache(maxsize=100)
def _compress(body: bytes) -> bytes:
    """Return the file as gzip has it; it is not secret, so that its length may tell of it."""
    return gzip.compress(body, mtime=0)


@lru_cache(maxsize=100)
def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:12]
