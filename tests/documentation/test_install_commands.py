"""Texts name what is installed, and the command, by names that are ours: nobody installs what somebody else has published."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import pytest

from tests.documentation.reading import REPOSITORY

COMMAND = re.compile(
    r"\b(?:(?:uv |-m )?pip3? install|pipx (?:install|run)|uvx|uv (?:add|tool (?:install|run))"
    r"|(?:npm|pnpm|yarn) (?:install|i|add)\b|npx|(?:docker|podman) (?:run|pull))"
    r"(?P<rest>(?:[ ](?!&&)[^\s`|;,#…]+)*)"
)
TAKES_A_VALUE = {
    "-r",
    "-c",
    "-e",
    "-o",
    "-t",
    "--python",
    "--requirement",
    "--constraint",
    "--prefix",
}
MEANT = {
    "authlib",
    "express",
    "express-oauth2-jwt-bearer",
    "express-openid-connect",
    "fastapi",
    "fastmcp",
    "httpx",
    "httpx2",
    "itsdangerous",
    "oidc-client-ts",
    "openid-client",
    "pyjwt",
    "uvicorn",
}
"""Packages of others that texts tell readers to install: each was looked at. The service itself is on no index."""
OWN = re.compile(r"""["'`\s](?:aiohttp-)?token-service(?:\[|\s*[=<>~!]=)""")
"""The service as a requirement of pip."""


def texts() -> Iterator[tuple[str, str]]:
    """Every file that a user of the service may read, by its path."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for path in listed.splitlines():
        if path.startswith("tests/") or path.endswith((".lock", "package-lock.json", "go.sum")):
            continue
        try:
            yield path, (REPOSITORY / path).read_text()
        except (UnicodeDecodeError, FileNotFoundError):  # a picture; a file that is deleted
            continue


TEXTS = dict(texts())


def installed(text: str) -> Iterator[str]:
    """The packages that the commands in a text install from an index."""
    for command in COMMAND.finditer(text):
        words = [word.strip("\"'()") for word in command["rest"].split()]
        for before, word in zip(["", *words], words, strict=False):
            if word and not word.startswith(("-", ".", "/", "$")) and before not in TAKES_A_VALUE:
                yield re.split(r"[\[=<>~!]|(?<=.)@", word)[0].lower()


def test_install_commands_name_packages_that_were_looked_at() -> None:
    named = {(path, name) for path, text in TEXTS.items() for name in installed(text)}
    assert len(named) > 10
    assert sorted((path, name) for path, name in named if name not in MEANT) == []


def test_no_text_takes_the_service_for_a_package_of_an_index() -> None:
    assert [path for path, text in TEXTS.items() if OWN.search(text)] == []


def test_texts_call_the_command_by_one_name() -> None:
    otherwise = {path for path, text in TEXTS.items() if "-m service" in text}
    assert otherwise - {"Makefile", "service/__main__.py"} == set()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("pip install 'token-service[sql]'; in a clone", ["token-service"]),
        ("`uv tool install token-service`", ["token-service"]),
        ("python -m pip install --quiet -r some.lock token_service==0.3", ["token_service"]),
        ("npm install @auth/express@1 express && npm start", ["@auth/express", "express"]),
        ("docker run --rm token-service serve", ["token-service", "serve"]),
        ("pip install './api[httpx]' fastapi  # the kit", ["fastapi"]),
        ("`npm install && npm start`", []),
    ],
)
def test_a_command_is_recognized(text: str, names: list[str]) -> None:
    assert list(installed(text)) == names
