"""The generated documents are those of the present schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.docs.documents import DOCUMENTS
from service.config.json_schema import plain_json_schema


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_generated_document_is_current(name):
    assert (Path("docs") / name).read_text(encoding="utf-8") == DOCUMENTS[name](), "run `make docs`"


def test_every_key_is_documented():
    sections = plain_json_schema()["$defs"]
    undocumented = [
        f"{section}.{name}"
        for section, schema in sections.items()
        for name, key in schema.get("properties", {}).items()
        if "description" not in key and "$ref" not in key
    ]
    assert undocumented == []
