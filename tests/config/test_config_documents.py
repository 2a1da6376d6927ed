"""The generated documents are those of the present schema."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scripts.docs.documents import DOCUMENTS
from service.catalogue import builtin_catalogue
from service.config.rules.supported import GRANT_TYPES
from service.config.schema.json_schema import plain_json_schema


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_generated_document_is_current(name: str) -> None:
    assert (Path("docs") / name).read_text(encoding="utf-8") == DOCUMENTS[name](), "run `make docs`"


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("ClientEntry", "device_code_lifetime"),
    ],
)
def test_a_key_that_is_not_supported_yet_says_so(section: Any, key: Any) -> None:
    schema = plain_json_schema(builtin_catalogue())["$defs"][section]["properties"][key]
    assert schema["description"].endswith("**Not supported yet.**")
    assert f"| `{key}` |" in DOCUMENTS["configuration.md"]()


def test_a_value_that_is_not_supported_yet_is_named() -> None:
    client = plain_json_schema(builtin_catalogue())["$defs"]["ClientEntry"]["properties"]
    for key, value in (("allowed_grant_types", "urn:ietf:params:oauth:grant-type:device_code"),):
        assert value in client[key]["description"].partition("**Not supported yet**")[2]


def test_the_readme_lists_what_is_not_supported_yet() -> None:
    rows = Path("README.md").read_text(encoding="utf-8").splitlines()
    listed = " ".join(row for row in rows if row.endswith("| not yet |"))
    catalogue = builtin_catalogue()
    grants = {feature for name, feature in GRANT_TYPES.items() if name not in catalogue.grant_types}
    numbers = {number for each in grants for number in re.findall(r"RFC \d+", each)}
    assert {number for number in numbers if number not in listed} == set()
    assert {"CIBA"} <= {*re.findall(r"\w+", listed)}


def test_every_key_is_documented() -> None:
    sections = plain_json_schema(builtin_catalogue())["$defs"]
    undocumented = [
        f"{section}.{name}"
        for section, schema in sections.items()
        for name, key in schema.get("properties", {}).items()
        if "description" not in key and "$ref" not in key
    ]
    assert undocumented == []
