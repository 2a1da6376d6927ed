"""Types of authorization_details in config.yaml: what `check` says of them (RFC 9396 §5, §10)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.config.configuration import Configuration
from service.config.detail_schemas import read_schema
from service.config.problem import ConfigError, Problem
from service.model.resources import AuthorizationDetailsTypeEntry
from service.start.load import inspect, load
from tests.driving.registry import hashed
from tests.rich_requests.details import PAYMENT_SCHEMA

pytestmark = pytest.mark.rfc("9396#5")

PATH = "authorization_details_types[payment_initiation]"
VALID: dict[str, Any] = {
    "type": "payment_initiation",
    "api_resource": "payments",
    "schema": PAYMENT_SCHEMA,
    "summary": "Pay {instructedAmount.amount} to {creditorName}",
}


def configuration(*kinds: dict[str, Any], types: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "issuer": "https://auth.example.com",
        "api_resources": [{"name": "payments", "secrets": [{"sha256": hashed("payments")}]}],
        "authorization_details_types": list(kinds),
        "clients": [
            {
                "client_id": "web",
                "require_client_secret": False,
                "redirect_uris": ["https://app/cb"],
                "allowed_scopes": ["openid"],
                "authorization_details_types": list(types),
            }
        ],
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


@pytest.fixture
def problems(file: Path) -> Callable[..., Mapping[str, Problem]]:
    def problems(written: dict[str, Any]) -> Mapping[str, Problem]:
        file.write_text(yaml.dump(written, sort_keys=False))
        return {each.path: each for each in inspect(file, {})}

    return problems


def read(file: Path, written: dict[str, Any]) -> Configuration:
    file.write_text(yaml.dump(written))
    return load(file, {})


def test_a_sound_type_has_no_problem(problems: Callable[..., Any]) -> None:
    assert problems(configuration(VALID, types=("payment_initiation",))) == {}


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "an API that does not exist": ({"api_resource": "payment"}, ".api_resource", "no API resource"),
    "no schema of JSON Schema": (
        {"schema": {"properties": {"a": {"type": "strin"}}}},
        ".schema.properties.a.type",
        "not a JSON Schema",
    ),
    "another version of JSON Schema": (
        {"schema": {"$schema": "http://json-schema.org/draft-07/schema#"}},
        ".schema.$schema",
        "2020-12",
    ),
    "a reference to another document": (
        {"schema": {"$ref": "https://example.com/payment.json"}},
        ".schema",
        "not a JSON Schema",
    ),
    "a reference to a file": ({"schema": {"$ref": "file:///etc/passwd"}}, ".schema", "not a JSON"),
    "a pattern that may take for ever": (
        {"schema": {"properties": {"a": {"pattern": "(?=a)b"}}}},
        ".schema.properties.a.pattern",
        "not a JSON Schema",
    ),
    "a number": ({"schema": 1}, ".schema", "expected a path"),
    "a file that does not exist": ({"schema": "nowhere.json"}, ".schema", "cannot be read"),
    "a file that is no JSON": ({"schema": "config.yaml"}, ".schema", "is not JSON"),
    "a brace alone": ({"summary": "Pay {amount"}, ".summary", "brace"),
    "an empty placeholder": ({"summary": "Pay {}"}, ".summary", "names no member"),
    "a placeholder with an empty part": ({"summary": "Pay {a..b}"}, ".summary", "names no member"),
    "a bad placeholder in one language": (
        {"summary": {"en": "Pay", "de": "{ a }"}},
        ".summary",
        "names no member",
    ),
}


@pytest.mark.parametrize(("change", "place", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_error_is_found_at_its_place(
    problems: Callable[..., Any], change: dict[str, Any], place: str, message: str
) -> None:
    problem = problems(configuration(VALID | change))[PATH + place]
    assert message in problem.message
    assert problem.severity == "error"
    assert problem.line > 0


def test_the_line_is_that_of_the_wrong_keyword(problems: Callable[..., Any], file: Path) -> None:
    schema = {"properties": {"a": {"type": "object"}, "b": {"minLength": -1}}}
    found = problems(configuration(VALID | {"schema": schema, "summary": "Pay"}))
    (problem,) = found.values()
    assert "minLength: -1" in file.read_text().splitlines()[problem.line - 1]


def test_a_type_is_registered_once(problems: Callable[..., Any]) -> None:
    found = problems(configuration(VALID, {**VALID}))
    assert "registered twice" in found[f"{PATH}.type"].message


def test_a_client_names_types_that_exist(problems: Callable[..., Any]) -> None:
    found = problems(configuration(VALID, types=("payment_initiation", "payment")))
    problem = found["clients[web].authorization_details_types[payment]"]
    assert problem.message == "there is no authorization details type payment"


@pytest.mark.parametrize(
    "wrong",
    [{"schema": {"$ref": "https://example.com/payment.json"}}, {"summary": "Pay {amount"}],
    ids=str,
)
def test_a_summary_is_checked_though_one_before_cannot_be(
    problems: Callable[..., Any], wrong: dict[str, Any]
) -> None:
    other = {"type": "other", "summary": "See {nothing}"}
    found = problems(configuration(VALID | wrong, VALID | other))
    assert "names nothing" in found["authorization_details_types[other].summary"].message


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {}}, "patternProperties": {"^n": {}}},
        {"properties": {"a": {}}, "anyOf": [{"properties": {"nothing": {}}}]},
        {"type": "object"},
    ],
    ids=str,
)
def test_a_summary_may_name_what_properties_alone_do_not_decide(
    problems: Callable[..., Any], schema: dict[str, Any]
) -> None:
    assert problems(configuration(VALID | {"schema": schema, "summary": "See {nothing}"})) == {}


def test_a_summary_that_the_schema_can_never_fill_is_a_warning(
    problems: Callable[..., Any],
) -> None:
    found = problems(configuration(VALID | {"summary": "Pay {instructedAmount.amuont}"}))
    assert found[f"{PATH}.summary"].severity == "warning"
    assert "instructedAmount.amuont" in found[f"{PATH}.summary"].message


def test_a_type_without_a_schema_is_a_warning(problems: Callable[..., Any]) -> None:
    found = problems(configuration({name: VALID[name] for name in ("type", "api_resource")}))
    assert found[f"{PATH}.type"].severity == "warning"


def test_a_schema_of_a_file_counts_for_the_generation(file: Path) -> None:
    schema = file.with_name("payment.json")
    written = configuration(VALID | {"schema": "payment.json"})
    schema.write_text(json.dumps(PAYMENT_SCHEMA))
    before = read(file, written)
    schema.write_text(json.dumps(PAYMENT_SCHEMA | {"title": "Payment"}))
    assert read(file, written).registry.generation != before.registry.generation
    assert schema in before.files.now()


def test_a_broken_schema_of_a_file_refuses_the_configuration(file: Path) -> None:
    file.with_name("payment.json").write_text('{"type": 1}')
    with pytest.raises(ConfigError, match="is not a JSON Schema"):
        read(file, configuration(VALID | {"schema": "payment.json"}))


@pytest.mark.rfc("6749#5.2")
def test_the_place_of_a_rule_holds_what_a_description_may_hold() -> None:
    schema = {"properties": {'a"b\\c': {"required": ["größe"]}}}
    entry = AuthorizationDetailsTypeEntry(type="x", api_resource="api1", schema=schema)
    _, find_fault = read_schema(entry)
    assert find_fault({'a"b\\c': {}}) == "#/properties/a?b?c/required (gr??e)"
