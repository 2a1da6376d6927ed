"""Writes what was found as a folder that `token-service serve` can start from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from service.takeover.folder import NewFolder, new_folder
from service.takeover.found import Found, FoundUser
from service.takeover.users_files import WrittenUsers, sql_settings, write_users
from service.takeover.yaml_text import quote, write_section, write_value

_ABOUT = (
    "# Made by `token-service import`. Comments name the place of an entry in what was imported.\n"
)


class Keys:
    """The public keys of the old server, and until when its tokens count."""

    def __init__(self, jwks: list[dict[str, object]], until: int) -> None:
        self.jwks, self.until = jwks, until

    @property
    def end(self) -> str:
        """The end of that time (RFC 3339)."""
        return datetime.fromtimestamp(self.until, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def lines(self) -> Iterator[str]:
        """Yield the lines of config.yaml about them."""
        yield "  verify_only:"
        yield f'    - {{jwks: keys.json, until: "{self.end}"}}'


def write(
    found: Found,
    users: Iterator[FoundUser],
    *,
    target: Path,
    issuer: str,
    keys: Keys,
    replace: bool,
) -> None:
    """Write the folder; raise FolderRefused, and then nothing is there."""
    with new_folder(target, replace=replace) as folder:
        written = write_users(folder, users, found.rp_id or urlsplit(issuer).hostname)
        _write_registry(folder, found)
        if keys.jwks:
            with folder.open("keys.json") as file:
                json.dump({"keys": keys.jwks}, file, indent=2)
                file.write("\n")
        with folder.open("config.yaml") as file:
            file.write(_ABOUT)
            lines = _settings(folder, found, issuer, keys, written)
            file.writelines(f"{line}\n" for line in lines)


def _write_registry(folder: NewFolder, found: Found) -> None:
    with folder.open("registry.yaml") as file:
        file.write(_ABOUT)
        for section, entries in sorted(found.sections.items()):
            if entries:
                lines = write_section(section, entries, folder.keep_secret)
                file.writelines(f"\n{line}" for line in lines)
                file.write("\n")


def _settings(
    folder: NewFolder, found: Found, issuer: str, keys: Keys, written: WrittenUsers
) -> Iterator[str]:
    files = ["registry.yaml", *(["users.yaml"] if written.in_yaml else [])]
    yield f"issuer: {quote(issuer.replace('${', '$${'))}"
    yield f"include: [{', '.join(files)}]"
    settings = dict(found.settings)
    users = settings.pop("users", None) if written.in_sql else None
    signing = settings.pop("signing", {})
    if signing or keys.jwks:
        yield "signing:"
        members = _members(signing).items()
        yield from (f"  {key}: {write_value(each, folder.keep_secret)}" for key, each in members)
        yield from keys.lines() if keys.jwks else ()
    for key, value in sorted(settings.items()):
        yield f"{key}: {write_value(value, folder.keep_secret)}"
    if written.in_sql:
        yield from sql_settings(by_address=_members(users).get("sign_in_by_email") is True)


def _members(section: object) -> Mapping[str, object]:
    return cast("dict[str, object]", section) if isinstance(section, dict) else {}
