"""Writes docs/conformance.md: profile by profile, which test mirrors which module of the certification suite."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

from scripts.docs.specifications import OTHERS, Section, marked
from tests.certification.fapi2.keys import KEYS
from tests.certification.profiles import INITIAL_ACCESS_TOKEN, PROFILES, Profile, secret_of

REPOSITORY = Path(__file__).parents[2]
_TEMPLATE = Path(__file__).with_name("conformance.template.md")
_ISSUER = "https://host.docker.internal:9443"
_SUITE = "https://localhost.emobix.co.uk:8443"
_RESOURCE = {"resourceUrl": f"{_ISSUER}/connect/userinfo"}
_WIDTH = 96
_BREAK = ",\n"


@dataclass(frozen=True, kw_only=True)
class Mirror:
    """One test that mirrors a module of the suite, in one run."""

    module: str
    rule: str
    path: str
    line: int
    sections: tuple[str, ...]
    run: str


def render() -> str:
    """The page."""
    text = _TEMPLATE.read_text(encoding="utf-8")
    for name, content in (
        ("CLIENTS", _clients()),
        ("CONFIGURATION", _json(suite_configuration("basic"))),
        ("REGISTERING", _json(suite_configuration("dynamic"), "client")),
        ("KEYS", _json(suite_configuration("fapi2_security_profile"), "client2", "resource")),
        ("RULES", "\n".join(_section(name, one) for name, one in PROFILES.items())),
    ):
        text = text.replace(f"<!-- {name} -->", content)
    return text


def mirrors_of(profile: str) -> list[Mirror]:
    """Every test in a profile's folder, in the order of the suite's modules."""
    folder = REPOSITORY / "tests" / "certification" / profile
    found = [
        mirror
        for path in sorted(folder.glob("test_*.py"))
        for mirror in _mirrors_in(importlib.import_module(_dotted(path)))
    ]
    order = {module: at for at, module in enumerate(PROFILES[profile].modules)}
    return sorted(found, key=lambda one: (order.get(one.module, -1), one.path, one.line))


def suite_configuration(profile: str) -> dict[str, Any]:
    """The configuration to paste into the suite for a profile."""
    names = ("client", "client2", "client_secret_post")
    ids = PROFILES[profile].clients
    credentials = _keys if PROFILES[profile].has_keys else _credentials
    static = {name: credentials(each) for name, each in zip(names, ids, strict=False)}
    registering = {"client": {"initial_access_token": INITIAL_ACCESS_TOKEN}}
    return {
        "alias": "token-service",
        "server": {"discoveryUrl": f"{_ISSUER}/.well-known/openid-configuration"},
        **(static or registering),
        **({"resource": _RESOURCE} if PROFILES[profile].has_keys else {}),
        "browser": [_signing_in(), _signing_out()],
    }


def _json(configuration: Mapping[str, Any], *only: str) -> str:
    """As people read it: what fits in a line stands in a line."""
    shown = {name: configuration[name] for name in only or configuration}
    return _laid_out(shown, "")


def _laid_out(value: Any, indent: str) -> str:
    flat = json.dumps(value)
    if len(indent) + len(flat) <= _WIDTH or not isinstance(value, dict | list):
        return flat
    inner = indent + "  "
    items = value.items() if isinstance(value, dict) else [(None, each) for each in value]
    lines = [
        inner + ("" if key is None else f"{json.dumps(key)}: ") + _laid_out(each, inner)
        for key, each in items
    ]
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return f"{opened}\n{_BREAK.join(lines)}\n{indent}{closed}"


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(REPOSITORY).with_suffix("").parts)


def _mirrors_in(module: ModuleType) -> Iterator[Mirror]:
    for name, cls in inspect.getmembers(module, inspect.isclass):
        if name.startswith("Test") and cls.__module__ == module.__name__:
            for test, function in inspect.getmembers(cls, inspect.isfunction):
                if test.startswith("test_"):
                    yield from _mirrors(cls, function)


def _mirrors(cls: type, function: Callable[..., object]) -> Iterator[Mirror]:
    """One for each module that the test or its class is marked with."""
    marks = [
        mark
        for holder in (*reversed(cls.__mro__), function)
        if function.__name__ in vars(holder) or holder in (cls, function)
        for mark in vars(holder).get("pytestmark", [])
    ]
    path = Path(inspect.getsourcefile(function) or "").relative_to(REPOSITORY)
    for mark in marks:
        if mark.name == "conformance":
            yield Mirror(
                module=mark.args[0],
                rule=function.__name__.removeprefix("test_").replace("_", " "),
                path=path.as_posix(),
                line=function.__code__.co_firstlineno,
                sections=tuple(arg for one in marks if one.name == "rfc" for arg in one.args),
                run=_run(cls),
            )


def _run(cls: type) -> str:
    plan = getattr(cls, "plan", None)
    return "" if plan is None else f"`{plan.title}`"


def _section(name: str, profile: Profile) -> str:
    rows: dict[tuple[str, str], list[Mirror]] = {}
    for mirror in mirrors_of(name):
        rows.setdefault((mirror.module, mirror.rule), []).append(mirror)
    plans = ", ".join(f"`{plan}`" for plan in profile.plans)
    runs = "variants" if profile.has_keys else "response types"
    return "\n".join(
        [
            f"### {profile.title}\n",
            f"{plans}; [tests/certification/{name}](../tests/certification/{name}).\n",
            f"| module of the suite | rule and its test | where it is written | {runs} |",
            "|---|---|---|---|",
            *(_row(mirrors) for mirrors in rows.values()),
            "",
        ]
    )


def _row(mirrors: list[Mirror]) -> str:
    one = mirrors[0]
    written = ", ".join(
        _written(specification, each) for specification, each in _by_specification(one)
    )
    runs = ", ".join(dict.fromkeys(mirror.run for mirror in mirrors if mirror.run))
    return f"| {one.module} | [{one.rule}](../{one.path}) | {written} | {runs} |"


def _by_specification(mirror: Mirror) -> Iterator[tuple[str, list[Section]]]:
    sections = sorted({marked(each) for each in mirror.sections})
    for specification, found in groupby(sections, lambda one: one.specification):
        yield specification, list(found)


def _written(specification: str, sections: list[Section]) -> str:
    """As in `OpenID Connect Core 1.0 §2, §3.1.3.3`."""
    is_rfc = specification.isdigit()
    title = f"RFC {specification}" if is_rfc else OTHERS[specification][0]
    return f"{title} {', '.join(f'§{one.name}' for one in sections if one.numbers)}".strip()


def _clients() -> str:
    rows = [
        f"| {profile.title} | {', '.join(f'`{plan}`' for plan in profile.plans)} | {_ids(profile)} |"
        for profile in PROFILES.values()
    ]
    return "\n".join(["| profile | plan of the suite | clients |", "|---|---|---|", *rows])


def _ids(profile: Profile) -> str:
    listed = ", ".join(f"`{client_id}`" for client_id in profile.clients)
    return listed or ("none" if len(profile.modules) == 1 else "those that it registers")


def _credentials(client_id: str) -> dict[str, str]:
    return {"client_id": client_id, "client_secret": secret_of(client_id)}


def _keys(client_id: str) -> dict[str, Any]:
    key = KEYS["client2" if client_id.endswith("-2") else "client"]
    return {
        "client_id": client_id,
        "scope": "openid email offline_access",
        "jwks": {"keys": [key]},
        "dpop_signing_alg": "ES256",
    }


def _signing_in() -> dict[str, object]:
    person: list[list[object]] = [
        ["text", "id", "username", "alice"],
        ["text", "id", "password", "alice-password"],
    ]
    signing_in: list[list[object]] = [_shown("username"), *person, ["click", "id", "login"]]
    return {
        "match": f"{_ISSUER}/connect/authorize*",
        "tasks": [
            _task("Sign in", "/account/login*", signing_in),
            _task("Consent", "/account/consent*", [["click", "id", "consent-allow"]]),
            _task("Error page", "/connect/authorize*", [_shown("error")]),
            {
                "task": "Back at the suite",
                "optional": True,
                "match": f"{_SUITE}/test/*/callback*",
                "commands": [["wait", "id", "submission_complete", 10]],
            },
        ],
    }


def _signing_out() -> dict[str, object]:
    return {
        "match": f"{_ISSUER}/connect/endsession*",
        "tasks": [
            _task("Confirm", "/account/logout*", [["click", "id", "logout-confirm"]]),
            _task("Signed out when confirmed", "/account/logout*", [_shown("logout-success")]),
            _task("Signed out at once", "/connect/endsession*", [_shown("logout-success")]),
        ],
    }


def _task(name: str, path: str, commands: list[list[object]]) -> dict[str, object]:
    return {"task": name, "optional": True, "match": _ISSUER + path, "commands": commands}


def _shown(element_id: str) -> list[object]:
    """Wait for an element, and hand the page in as the screenshot that a module asks for."""
    return ["wait", "id", element_id, 10, ".*", "update-image-placeholder-optional"]
