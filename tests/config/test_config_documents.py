"""What the generated documents and the README say is true; that none is stale, `make lint` checks."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec.structs import replace

from service.catalogue import builtin_catalogue
from service.config.rules.supported import GRANT_TYPES
from service.config.schema.json_schema import plain_json_schema
from service.model.catalogue import Catalogue

CIBA = "urn:openid:params:grant-type:ciba"


def earlier() -> Catalogue:
    """The catalogue of a version that supported less."""
    whole = builtin_catalogue()
    return replace(whole, grant_types=whole.grant_types - {CIBA})


def test_a_value_that_is_not_supported_yet_is_named() -> None:
    client = plain_json_schema(earlier())["$defs"]["ClientEntry"]["properties"]
    described = client["allowed_grant_types"]["description"]
    assert CIBA in described.partition("**Not supported yet**")[2]


def test_the_readme_lists_what_is_not_supported_yet() -> None:
    rows = Path("README.md").read_text(encoding="utf-8").splitlines()
    listed = " ".join(row for row in rows if row.endswith("| not yet |"))
    catalogue = builtin_catalogue()
    grants = {feature for name, feature in GRANT_TYPES.items() if name not in catalogue.grant_types}
    numbers = {number for each in grants for number in re.findall(r"RFC \d+", each)}
    assert {number for number in numbers if number not in listed} == set()


def test_every_key_is_documented() -> None:
    sections = plain_json_schema(builtin_catalogue())["$defs"]
    undocumented = [
        f"{section}.{name}"
        for section, schema in sections.items()
        for name, key in schema.get("properties", {}).items()
        if "description" not in key and "$ref" not in key
    ]
    assert undocumented == []
