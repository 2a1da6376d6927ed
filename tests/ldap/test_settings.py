"""`check` finds what is wrong in `users.ldap` without asking the directory."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from service.config.problem import ConfigError
from service.config.schema.users import SOURCES, Users
from service.distribution import how_to_install
from service.identity.sources import find_problems
from service.start.checks import START_RULES
from service.start.load import load

SETTINGS = {
    "urls": ["ldaps://ldap.example.com"],
    "base": "ou=people,dc=example,dc=com",
    "bind_dn": "cn=reader,dc=example,dc=com",
    "bind_password": "secret-of-the-reader",
}


def check(folder: Path, config: dict[str, Any], ldap: object) -> dict[str, str]:
    """Return what `check` says, by path."""
    del config["users"]["ldap"]
    if ldap is not None:
        config["users"]["ldap"] = ldap
    config["issuer"] = "https://id.example.com"
    config |= {"store": {"url": "redis://127.0.0.1"}}
    config["signing"]["encryption_key"] = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
    file = folder / "config.yaml"
    file.write_text(json.dumps(config))
    try:
        problems = load(file, {}, START_RULES).warnings
    except ConfigError as error:
        problems = error.problems
    assert "secret-of-the-reader" not in str(problems)
    return {
        each.path.removeprefix("users."): each.message
        for each in problems
        if each.path.startswith("users")
    }


@pytest.mark.parametrize(
    ("changes", "path", "said"),
    [
        ({"urls": ["ldap://ldap.example.com"], "starttls": False}, "ldap.urls[0]", "can read"),
        ({"urls": ["https://ldap.example.com"]}, "ldap.urls[0]", "ldaps://"),
        ({"urls": ["ldaps://u:p@ldap.example.com"]}, "ldap.urls[0]", "ldaps://"),
        ({"urls": ["ldaps://ldap.example.com/dc=x"]}, "ldap.urls[0]", "ldaps://"),
        ({"urls": ["ldaps://a.example", "ldap://b.example"]}, "ldap.urls", "either"),
        ({"urls": []}, "ldap.urls", "empty"),
        ({"bind_password": ""}, "ldap.bind_password", "anonymous"),
        ({"sub": "DN"}, "ldap.sub", "with subject_format: dex only"),
        ({"bind_dn": None}, "ldap.bind_password", "no effect"),
        ({"base": "people"}, "ldap.base", "no DN"),
        ({"user_dn": "uid=alice,ou=people"}, "ldap.user_dn", "{username}"),
        ({"user_dn": "{username}"}, "ldap.user_dn", "no DN"),
        ({"filter": "objectClass=person"}, "ldap.filter", "parentheses"),
        ({"filter": "(a=b)(c=d))"}, "ldap.filter", "parentheses"),
        ({"username": ["uid)(a"]}, "ldap.username[0]", "attribute"),
        ({"ca_file": "missing.pem"}, "ldap.ca_file", "No such file"),
        ({"ca_file": "config.yaml"}, "ldap.ca_file", "no certificates"),
        ({"groups": {"base": "x"}}, "ldap.groups.base", "no DN"),
        ({"groups": {"attribute": None, "filter": "(a=b)"}}, "ldap.groups.filter", "every user"),
        ({"sub": "uid"}, "ldap.sub", "another person"),
        ({"groups": {}}, "ldap.groups", "look the same"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, config: dict[str, Any], changes: dict[str, Any], path: str, said: str
) -> None:
    assert said in check(tmp_path, config, SETTINGS | changes)[path]


def test_right_settings_have_no_problem(tmp_path: Path, config: dict[str, Any]) -> None:
    loopback = {"urls": ["ldap://127.0.0.1:389", "ldap://localhost"], "starttls": False}
    for settings in (SETTINGS, SETTINGS | loopback, SETTINGS | {"groups": {"name": "dn"}}):
        assert check(tmp_path, config | {}, settings) == {}
        config["users"]["ldap"] = None


def test_missing_settings_are_missed(tmp_path: Path, config: dict[str, Any]) -> None:
    assert "directory" in check(tmp_path, config, None)["source"]


def test_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith(SOURCES["ldap"])]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "ldap", None)
    (finding,) = find_problems(Users(source="ldap"))
    assert finding.location == ("users", "source")
    assert finding.hint == how_to_install("ldap")
