"""docs/mcp.md shows the files of examples/mcp; `make interop` runs them with the real clients."""

from __future__ import annotations

import json

from service.clients.documents import GRANT_TYPES, METHODS
from service.start.load import inspect
from tests.documentation.reading import REPOSITORY, blocks

PAGE = REPOSITORY / "docs/mcp.md"
EXAMPLE = REPOSITORY / "examples/mcp/config.yaml"
BLOCKS = blocks(PAGE)


def test_page_begins_with_the_file_of_the_example() -> None:
    shown = EXAMPLE.read_text().partition("\n\n")[2]
    for variable in ("${SERVICE_PORT:-8080}", "${MCP_PORT:-3001}"):
        shown = shown.replace(variable, variable[-5:-1])
    assert BLOCKS[0].text == shown


def test_the_example_has_no_error() -> None:
    found = inspect(EXAMPLE, {})
    assert [problem for problem in found if problem.severity == "error"] == []


def test_document_of_the_page_has_what_is_offered() -> None:
    shown = [json.loads(block.text) for block in BLOCKS if block.language == "json"][1]
    assert {*shown["grant_types"]} == GRANT_TYPES
    assert shown["token_endpoint_auth_method"] in METHODS
