"""Writes docs/reference/client-metadata.md: what a client may say of itself, from the table of the keys of clients."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.docs.configuration import describe, groups_of_clients
from scripts.docs.json_schema import plain_json_schema
from service.model.client_entry import ClientEntry, Mark
from service.model.client_metadata import marked, registered_names
from service.start.load import builtin_catalogue

_INTRODUCTION = """\
# Client metadata

What a client may say of itself where it [registers itself](../operations/registration.md) (RFC 7591), and in the
[document behind its `client_id`](../mcp.md). `make docs` writes this page from the table of the keys of clients,
[`model/client_entry.py`](../../service/model/client_entry.py). A value means and needs the same as for
[clients of the configuration](../configuration.md#clients), and its length is bounded. The answer to a registration shows
all metadata that are in force.

There are also `scope`, values with spaces between them, and `software_statement`, which is refused. Anything else is ignored.
"""
_NOTES = (
    (Mark.IN_DOCUMENT, "also in documents"),
    (Mark.SHOWN_TO_USERS, "may have a language tag, such as `#de`"),
    (Mark.HTTPS_ONLY, "https, also on loopback"),
)


def render() -> str:
    """Return the page."""
    return "\n".join([_INTRODUCTION, *_tables()])


def _tables() -> Iterator[str]:
    schema = plain_json_schema(builtin_catalogue())["$defs"][ClientEntry.__name__]
    names = {key: name for name, key in registered_names().items()}
    for group, keys in groups_of_clients().items():
        registrable = [key for key in keys if key in names]
        if registrable:
            yield f"## {group}\n"
            yield "| metadata | meaning | |"
            yield "|---|---|---|"
            for key in registrable:
                notes = "; ".join(note for mark, note in _NOTES if key in marked(mark))
                yield f"| `{names[key]}` | {describe(schema['properties'][key])} | {notes} |"
            yield ""
