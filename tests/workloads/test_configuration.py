"""Workload issuers in config.yaml: what `check` says of them, with the place (RFC 7523 §3)."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.start.load import inspect
from tests.clients.signing import key_of
from tests.workloads.conftest import workload_client

ISSUER = "https://kubernetes.default.svc.cluster.local"
ACCOUNT = "system:serviceaccount:shop:"
JWKS = {"keys": [key_of("ES256").public_jwk]}
MADE = {"client_id": "shop.{name}", "template": "shop-workload"}
CHECKOUT = {"subject": ACCOUNT + "checkout", "client_id": "checkout"}

BASE: dict[str, Any] = {
    "issuer": "https://auth.example.com",
    "api_resources": [{"name": "orders", "scopes": ["api1"]}],
    "clients": [
        workload_client("checkout"),
        workload_client("shop-workload", template=True),
        workload_client("with-secret", client_secrets=[{"sha256": "0" * 64}]),
    ],
    "workload_issuers": [
        {
            "name": "cluster",
            "kind": "kubernetes",
            "issuer": ISSUER,
            "rules": [
                CHECKOUT,
                {"subject": ACCOUNT + "*", **MADE},
                {"subject": "system:serviceaccount:apis:orders", "api_resource": "orders"},
            ],
        },
        {
            "name": "spire",
            "kind": "spiffe",
            "trust_domain": "example.org",
            "bundle_endpoint_url": "https://spire.example.org",
            "rules": [{"subject": "spiffe://example.org/checkout", "client_id": "checkout"}],
        },
        {
            "name": "ci",
            "kind": "oidc",
            "issuer": "https://token.actions.githubusercontent.com",
            "rules": [{"claims": {"repository": "acme/shop"}, "client_id": "checkout"}],
        },
    ],
}


def problems(tmp_path: Path, written: dict[str, Any]) -> dict[str, str]:
    """Return the findings of `check`, by the path of the value."""
    file = tmp_path / "config.yaml"
    file.write_text(yaml.dump(written, sort_keys=False))
    found = inspect(file, {})
    assert all(each.line for each in found)
    return {each.path: each.message for each in found}


def changed(at: int, **changes: Any) -> dict[str, Any]:
    """The file with another issuer of that position."""
    written = deepcopy(BASE)
    written["workload_issuers"][at] |= changes
    return written


def test_a_sound_file_has_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path, BASE) == {}


WRONG_ISSUERS: dict[str, tuple[int, dict[str, Any], str, str]] = {
    "an issuer without TLS": (0, {"issuer": "http://10.0.0.1"}, "issuer", "must be https"),
    "no issuer": (0, {"issuer": None}, "", "needs issuer"),
    "an issuer that is no URL": (0, {"issuer": "cluster"}, "issuer", "is no URL"),
    "this service": (0, {"issuer": BASE["issuer"]}, "issuer", "this service itself"),
    "keys twice": (0, {"jwks": JWKS, "jwks_uri": "https://k.example"}, "jwks_uri", "only one"),
    "keys without TLS": (0, {"jwks_uri": "http://k.example"}, "jwks_uri", "must be https"),
    "a private key": (
        *(0, {"jwks": {"keys": [key_of("ES256").private_jwk]}}, "jwks.keys[0]", "private"),
    ),
    "a trust domain for Kubernetes": (0, {"trust_domain": "a"}, "trust_domain", "is not for kind"),
    "no file": (0, {"ca_file": "ca.crt"}, "ca_file", "there is no file"),
    "a file for nothing": (0, {"jwks": JWKS, "token_file": "t"}, "token_file", "no effect"),
    "no rules": (0, {"rules": []}, "rules", "must not be empty"),
    "an algorithm by a secret": (0, {"algorithms": ["HS256"]}, "algorithms[0]", "expected"),
    "no bundle": (1, {"bundle_endpoint_url": None}, "", "needs bundle_endpoint_url"),
    "a bundle without TLS": (
        *(1, {"bundle_endpoint_url": "http://spire"}, "bundle_endpoint_url", "must be https"),
    ),
    "other keys than the bundle's": (1, {"jwks": JWKS}, "jwks", "is not for kind"),
    "a trust domain as a URL": (
        *(1, {"trust_domain": "spiffe://example.org"}, "trust_domain", "is no trust domain"),
    ),
    "an issuer twice": (2, {"issuer": ISSUER}, "issuer", "is listed twice"),
}


@pytest.mark.parametrize(
    ("at", "changes", "path", "message"), WRONG_ISSUERS.values(), ids=WRONG_ISSUERS.keys()
)
def test_a_problem_of_an_issuer_is(
    tmp_path: Path, at: int, changes: dict[str, Any], path: str, message: str
) -> None:
    name = BASE["workload_issuers"][at]["name"]
    found = problems(tmp_path, changed(at, **changes))
    assert message in found[f"workload_issuers[{name}]" + (path and f".{path}")]


OF_SPIRE, OF_CI = "spiffe://example.org/", "repo:acme/"
WRONG_RULES: dict[str, tuple[int, dict[str, Any], str, str]] = {
    "nobody": (0, {"subject": ACCOUNT + "a"}, "", "either client_id or api_resource"),
    "two parties": (0, {**CHECKOUT, "api_resource": "orders"}, "", "either client_id or"),
    "no subject": (0, {"client_id": "checkout"}, "", "subject is missing"),
    "nothing to compare": (2, {"client_id": "checkout"}, "", "subject is missing"),
    "no service account": (0, CHECKOUT | {"subject": "alice"}, "subject", "does not begin"),
    "another trust domain": (
        *(1, {"subject": "spiffe://a/b", "client_id": "checkout"}, "subject", "does not begin"),
    ),
    "too few segments": (0, CHECKOUT | {"subject": ACCOUNT[:-1]}, "subject", "no service account"),
    "two stars": (0, {**MADE, "subject": ACCOUNT + "*a*"}, "subject", "more than one *"),
    "claims": (0, CHECKOUT | {"claims": {"a": "b"}}, "claims", "are not compared"),
    "an unknown client": (0, CHECKOUT | {"client_id": "chekout"}, "client_id", "no client"),
    "a template as a client": (
        *(0, CHECKOUT | {"client_id": "shop-workload"}, "client_id", "there is no client"),
    ),
    "variables without a template": (
        *(0, CHECKOUT | {"client_id": "a.{name}"}, "client_id", "template is missing"),
    ),
    "a client as a template": (
        *(0, CHECKOUT | {"client_id": "a", "template": "checkout"}, "template", "template: true"),
    ),
    "an unknown API": (
        *(
            0,
            {"subject": ACCOUNT + "a", "api_resource": "order"},
            "api_resource",
            "there is no API",
        ),
    ),
    "a star for one client": (0, CHECKOUT | {"subject": ACCOUNT + "*"}, "subject", "several"),
    "a star for one API": (
        *(0, {"subject": ACCOUNT + "*", "api_resource": "orders"}, "subject", "several"),
    ),
    "an unknown variable": (
        *(
            0,
            {"subject": ACCOUNT + "*", **MADE, "client_id": "s.{name}.{pod}"},
            "client_id",
            "{pod}",
        ),
    ),
    "a brace alone": (
        *(0, {"subject": ACCOUNT + "*", **MADE, "client_id": "s.{name"}, "client_id", "brace"),
    ),
    "a varying part that is not used": (
        *(0, {"subject": "system:serviceaccount:*:*", **MADE}, "client_id", "lacks {namespace}"),
    ),
    "a path that is not used": (
        *(1, {"subject": OF_SPIRE + "*", **MADE, "client_id": "s"}, "client_id", "lacks {path}"),
    ),
    "a claim that is not used": (
        2,
        {"subject": OF_CI + "*", "claims": {"job": "*"}, **MADE, "client_id": "ci.{sub}"},
        "client_id",
        "lacks {job}",
    ),
    "variables that nothing parts": (
        2,
        {"subject": OF_CI + "*", "claims": {"job": "*"}, **MADE, "client_id": "{sub}.{job}"},
        "client_id",
        "nothing parts",
    ),
    "the id of a client": (
        *(0, {"subject": ACCOUNT + "*", **MADE, "client_id": "{name}"}, "client_id", "is a client"),
    ),
    "the id of an API": (
        *(0, {"subject": ACCOUNT + "*", **MADE, "client_id": "order{name}"}, "client_id", "an API"),
    ),
    "the ids of dynamically registered clients": (
        *(0, {"subject": ACCOUNT + "*", **MADE, "client_id": "dc_{name}"}, "client_id", "dc_"),
    ),
    "a URL": (
        *(
            0,
            {"subject": ACCOUNT + "*", **MADE, "client_id": "https://{name}"},
            "client_id",
            "https",
        ),
    ),
}


@pytest.mark.parametrize(
    ("at", "rule", "path", "message"), WRONG_RULES.values(), ids=WRONG_RULES.keys()
)
def test_a_problem_of_a_rule_is(
    tmp_path: Path, at: int, rule: dict[str, Any], path: str, message: str
) -> None:
    name = BASE["workload_issuers"][at]["name"]
    found = problems(tmp_path, changed(at, rules=[rule]))
    called = rule.get("client_id", 0)
    assert message in found[f"workload_issuers[{name}].rules[{called}]" + (path and f".{path}")]


def test_a_rule_of_another_template_makes_other_clients(tmp_path: Path) -> None:
    written = changed(
        1,
        rules=[{"subject": OF_SPIRE + "*", "client_id": "shop.{path}", "template": "other"}],
    )
    written["clients"].append(workload_client("other", template=True))
    found = problems(tmp_path, written)
    assert "another template" in found["workload_issuers[spire].rules[shop.{path}].client_id"]


OF_REPOSITORIES = {"claims": {"repository": "acme/*"}, "client_id": "ci.{repository}"}
COVERED: dict[str, tuple[int, dict[str, Any], dict[str, Any]]] = {
    "the same subject": (0, CHECKOUT, CHECKOUT),
    "a name that * stands for": (0, {"subject": ACCOUNT + "*"}, CHECKOUT),
    "a part of a name": (0, {"subject": ACCOUNT + "*"}, {"subject": ACCOUNT + "c*"}),
    "a longer beginning": (0, {"subject": ACCOUNT + "c*t"}, {"subject": ACCOUNT + "ch*-out"}),
    "a claim more": (2, OF_REPOSITORIES, {"claims": {"repository": "acme/shop", "ref": "main"}}),
    "a subject more": (
        2,
        OF_REPOSITORIES,
        {"claims": {"repository": "acme/shop"}, "subject": "main"},
    ),
}
DECIDING: dict[str, tuple[int, dict[str, Any], dict[str, Any]]] = {
    "a wider subject": (0, {"subject": ACCOUNT + "c*"}, {"subject": ACCOUNT + "*"}),
    "another beginning": (0, {"subject": ACCOUNT + "ch*"}, {"subject": ACCOUNT + "c*"}),
    "a name as short as the beginning": (0, {"subject": ACCOUNT + "checkout*"}, CHECKOUT),
    "another end": (0, {"subject": ACCOUNT + "*t"}, {"subject": ACCOUNT + "c*"}),
    "a claim less": (2, {"claims": {"repository": "acme/*", "ref": "main"}}, OF_REPOSITORIES),
    "true, which is not 1": (2, {"claims": {"protected": 1}}, {"claims": {"protected": True}}),
}


def never_decides(folder: Path, at: int, *rules: dict[str, Any]) -> bool:
    """Whether `check` warns of the second rule, whatever else it says of both."""
    name = BASE["workload_issuers"][at]["name"]
    written = changed(at, rules=[{"client_id": f"rule{n}", **each} for n, each in enumerate(rules)])
    called = rules[1].get("client_id", "rule1")
    return "never decides" in problems(folder, written).get(
        f"workload_issuers[{name}].rules[{called}]", ""
    )


@pytest.mark.parametrize(("at", "first", "second"), COVERED.values(), ids=COVERED.keys())
def test_check_warns_of_a_rule_that_never_decides(
    tmp_path: Path, at: int, first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert never_decides(tmp_path, at, first, second)


@pytest.mark.parametrize(("at", "first", "second"), DECIDING.values(), ids=DECIDING.keys())
def test_check_does_not_warn_of_a_rule_that_may_decide(
    tmp_path: Path, at: int, first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert not never_decides(tmp_path, at, first, second)


WRONG_CLIENTS: dict[str, tuple[int, dict[str, Any], str, str]] = {
    "another method": (
        0,
        {"token_endpoint_auth_method": "private_key_jwt", "jwks": JWKS},
        "token_endpoint_auth_method",
        "must be workload",
    ),
    "no authentication": (0, {"require_client_secret": False}, "require_client_secret", "anybody"),
    "a template with a secret": (
        *(1, {"client_secrets": [{"sha256": "0" * 64}]}, "client_secrets", "not for a template"),
    ),
    "a method without a rule": (
        2,
        {"token_endpoint_auth_method": "workload"},
        "token_endpoint_auth_method",
        "needs a rule",
    ),
    "a template without a rule": (2, {"template": True}, "template", "no rule"),
}


@pytest.mark.parametrize(
    ("at", "changes", "path", "message"), WRONG_CLIENTS.values(), ids=WRONG_CLIENTS.keys()
)
def test_a_problem_of_a_client_is(
    tmp_path: Path, at: int, changes: dict[str, Any], path: str, message: str
) -> None:
    written = deepcopy(BASE)
    written["clients"][at] |= changes
    name = written["clients"][at]["client_id"]
    assert message in problems(tmp_path, written)[f"clients[{name}].{path}"]


def test_a_client_that_a_rule_makes_is_known_to_token_exchange_and_a_scope_of_its_name_is_not(
    tmp_path: Path,
) -> None:
    rule = {"clients": ["shop.cart"], "scopes": ["shop.cart"], "audiences": ["orders"]}
    found = problems(tmp_path, BASE | {"token_exchange": [rule]})
    assert [*found] == ["token_exchange[0].scopes[shop.cart]"]
