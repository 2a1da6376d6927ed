"""Writes docs/configuration.md: every key of config.yaml with its default and meaning, from the schema itself."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.docs.json_schema import plain_json_schema
from service.model.client_entry import ClientEntry
from service.start.load import builtin_catalogue

Schema = Mapping[str, Any]

_INTRODUCTION = """\
# Configuration

The service reads one YAML file, `config.yaml` unless `--config` or `SERVICE_CONFIG` names another. `make docs` writes this
page from the schema of the file; `token-service schema` prints the schema for editors, and `token-service check`
reports what is wrong in a file, with the line and a remedy.

- A key that is left out has the default below; **required** ones have none. An unknown key is an error.
- A duration is a number of seconds, or a number with `s`, `m`, `h` or `d`: `90s`, `15m`, `8h`, `30d`. Time-outs may also be
  in `ms`.
- `${NAME}` and `${NAME:-default}` in a value are replaced by environment variables, `${file:path}` by the content of a file
  without its last newline; a relative path begins at the folder of the configuration file. Write `$${` for a plain `${`. An
  unset name without a default is an error. A path and a default may hold references: `${file:${DIR}/secret}`. Inside of `{ }` and
  `[ ]` a reference needs quotes.
- Keys of the whole file that begin with `x-` mean nothing: a place for anchors, which `<<: *name` and `*name` repeat elsewhere.
- `SERVICE_HOST`, `SERVICE_PORT`, `SERVICE_WORKERS` and `SERVICE_STORE_URL` take precedence over the file, and flags of
  `serve` over these.
- Unquoted `true`, `false`, `null` and numbers are not text; everything else is (YAML 1.2), also `no` and `22:30`. The tags
  `!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!seq` and `!!map` are possible; any other one, such as `!vault`, is an
  error.
- SIGHUP reads the file again and replaces clients, resources, scopes, providers, tenants, users and extension grants, all or
  nothing. Any other change needs a restart, and the log says so.
"""
_MOST_WORDS = 7
"""Longer lists, which are those of algorithms, are for the editor to complete."""
_UNITS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def render() -> str:
    """Return the page."""
    schema = plain_json_schema(builtin_catalogue())
    definitions: Schema = schema["$defs"]
    sections = [(name, key) for name, key in schema["properties"].items()]
    top = {name: key for name, key in sections if _definition(key) is None}
    parts = [_INTRODUCTION, "## Top level\n", _table(top, schema.get("required", []))]
    for name, key in sections:
        definition = _definition(key)
        if definition is not None:
            parts += _section(name, key, definitions[definition], definitions)
    return "\n".join(parts)


def _section(path: str, key: Schema, section: Schema, definitions: Schema) -> Iterator[str]:
    """A heading, the section's table, and what lies below it."""
    is_list = _is_list(key)
    path = f"{path}[]" if is_list else path
    yield f"## {path}\n"
    yield f"{key.get('description', section['description'])}\n"
    required = section.get("required", [])
    if path == "clients[]":
        for group, names in groups_of_clients().items():
            yield f"### {group}\n"
            yield _table({name: section["properties"][name] for name in names}, required)
    else:
        yield _table(section["properties"], required)
    for name, below in section["properties"].items():
        definition = _definition(below)
        if definition is not None:
            yield from _section(f"{path}.{name}", below, definitions[definition], definitions)


def groups_of_clients() -> Mapping[str, list[str]]:
    """Return the keys of clients by their group: a comment such as `# -- Tokens --` begins one."""
    groups: dict[str, list[str]] = {}
    for line in inspect.getsource(ClientEntry).splitlines():
        if begins := re.fullmatch(r"    # -- (.+) --", line):
            groups[begins[1]] = []
        elif groups and (key := re.match(r"    (\w+): ", line)):
            [*groups.values()][-1].append(key[1])
    return groups


def _table(keys: Schema, required: list[str]) -> str:
    rows = [
        f"| `{name}` | {'**required**' if name in required else _default(key)} | {describe(key)} |"
        for name, key in keys.items()
    ]
    return "\n".join(["| key | default | meaning |", "|---|---|---|", *rows, ""])


def describe(key: Schema) -> str:
    """Return the meaning of a key, with the words of which it is one."""
    description = " ".join(str(key["description"]).split())
    words = [word for form in _forms(key) for word in form.get("enum", ())]
    listed = f" One of {', '.join(f'`{word}`' for word in words)}."
    one_of = listed if 0 < len(words) <= _MOST_WORDS else ""
    return f"{description}{one_of}".replace("|", "\\|")


def _default(key: Schema) -> str:
    default = key.get("default", {})
    if _is_duration(key) and isinstance(default, int | float):
        return f"`{_duration(int(default))}`"
    if _definition(key) is not None and not _is_list(key) and default is not None:
        return "see below"
    return f"`{json.dumps(default)}`"


def _duration(seconds: int) -> str:
    fits = ((size, unit) for size, unit in _UNITS if seconds % size == 0 and seconds > size)
    size, unit = next(fits, (1, "s"))
    return f"{seconds // size}{unit}"


def _forms(key: Schema) -> list[Schema]:
    """The alternatives that a key's schema allows, and the items of those that are lists."""
    forms: list[Schema] = [key, *key.get("anyOf", ())]
    return forms + [form["items"] for form in forms if "items" in form]


def _is_duration(key: Schema) -> bool:
    return any("[smhd]" in form.get("pattern", "") for form in _forms(key))


def _is_list(key: Schema) -> bool:
    return key.get("type") == "array"


def _definition(key: Schema) -> str | None:
    """The name of the section that a key holds, or holds a list of."""
    references = (form["$ref"] for form in _forms(key) if "$ref" in form)
    names = (str(reference).rpartition("/")[2] for reference in references)
    return next(names, None)
