"""A copy of the service with everything in it that docs/extending.md shows."""

from __future__ import annotations

import re
import shutil
import sqlite3
import tomllib
from pathlib import Path
from typing import Any

import yaml

from tests.documentation.reading import REPOSITORY, Block, blocks

PAGE = REPOSITORY / "docs" / "extending.md"
USERS = [
    ("818727", "alice", '{"name": "Alice Smith", "terms_accepted": true}'),
    ("5", "carol", '{"name": "Carol Jones", "terms_accepted": false}'),
]
_FILE = re.compile(r"(?:# |<!-- |/\* )(\S+\.\w+)\b.*\n")


def extend(folder: Path) -> dict[str, Any]:
    """Follow the page, with a copy of the service in `folder`; the configuration that it ends with."""
    for name in ("service", "templates"):
        shutil.copytree(
            REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    configuration: dict[str, Any] = yaml.safe_load((REPOSITORY / "config.yaml").read_text())
    for block in blocks(PAGE):
        match block.language:
            case "python" | "html" | "css":
                _write(folder, block)
            case "diff":
                _apply(folder, block)
            case "toml":
                _install(folder, block)
            case "yaml":
                _merge(configuration, yaml.safe_load(block.text))
            case _:
                pass  # commands and answers, for the reader
    return configuration


def users_database(file: Path) -> None:
    """The table that the page's user store reads; everybody's password is alice's."""
    alice = yaml.safe_load((REPOSITORY / "config.yaml").read_text())["users"]["list"][0]
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE users (sub, username, password, enabled, claims)")
    rows = [(sub, username, alice["password"], 1, claims) for sub, username, claims in USERS]
    database.executemany("INSERT INTO users VALUES (?, ?, ?, ?, ?)", rows)
    database.commit()
    database.close()


def _write(folder: Path, block: Block) -> None:
    named = _FILE.match(block.text)
    assert named, f"no file name in the first line: {block.text[:60]}"
    path = folder / named[1]
    assert not path.exists(), f"{named[1]} is there already"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text.removeprefix(named[0]))


def _apply(folder: Path, block: Block) -> None:
    """Put the + lines below the context line before them, in place of the - lines."""
    first, *changes = block.text.splitlines()
    path = folder / first.removeprefix("--- ")
    lines = path.read_text().splitlines()
    at = 0
    for change in changes:
        sign, text = change[0], change[1:]
        if sign == "+":
            lines.insert(at, text)
            at += 1
            continue
        assert text in lines[at:], f"{first} has no line {text!r}"
        at = lines.index(text, at)
        if sign == "-":
            del lines[at]
        else:
            at += 1
    path.write_text("\n".join(lines) + "\n")


def _install(folder: Path, block: Block) -> None:
    """The files that installing a package with this pyproject.toml leaves behind."""
    groups = tomllib.loads(block.text)["project"]["entry-points"]
    metadata = folder / "my_grants-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-grants\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in names.items())
            for group, names in groups.items()
        )
    )


def _merge(configuration: dict[str, Any], block: dict[str, Any]) -> None:
    for name, value in block.items():
        if isinstance(value, list):
            configuration[name] = [*configuration.get(name, []), *value]
        elif name == "users":
            configuration[name] = value
        else:
            configuration[name] = {**configuration.get(name, {}), **value}
