"""Whatever the bytes of the file are, the loader answers with a configuration or a ConfigError."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from service.config.problem import ConfigError
from service.config.schema.file import ConfigurationFile
from service.model.client_entry import ClientEntry
from service.start.load import inspect, load

DEMONSTRATION = Path("config.yaml").read_bytes()
WORDS = st.sampled_from(
    [
        "${X}",
        "${",
        "${file:/}",
        "null",
        "1e999",
        "https://[",
        "http://x:y/",
        "*",
        "a",
        "",
        "0" * 64,
        "nan",
        "\ud800",
    ]
) | st.text(max_size=5)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS
ANYTHING = st.recursive(
    SCALARS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(WORDS, below, max_size=3),
    max_leaves=8,
)
CLIENTS = st.lists(
    st.dictionaries(st.sampled_from(sorted(ClientEntry.__struct_fields__)), ANYTHING, max_size=4),
    max_size=3,
)
FILES = st.fixed_dictionaries(
    {"issuer": st.just("https://auth.example.com") | ANYTHING},
    optional={
        section: ANYTHING
        for section in ConfigurationFile.__struct_fields__
        if section not in ("issuer", "clients", "extension_grants", "users")
    }
    | {"clients": CLIENTS},
)

pytestmark = pytest.mark.filterwarnings("ignore")
some = settings(max_examples=30)
"""For whole files, of which one takes as long as many short texts."""


def only_config_error(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with suppress(ConfigError):
        load(file, {"X": "\x00"})
    inspect(file, {})


@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes(file: Path, content: bytes) -> None:
    only_config_error(file, content)


@given(at=st.integers(0, len(DEMONSTRATION)), length=st.integers(0, 20), put=st.binary(max_size=5))
def test_a_damaged_file(file: Path, at: int, length: int, put: bytes) -> None:
    only_config_error(file, DEMONSTRATION[:at] + put + DEMONSTRATION[at + length :])


@some
@given(content=FILES)
def test_any_values_at_known_keys(file: Path, content: object) -> None:
    only_config_error(file, yaml.dump(content).encode(errors="replace"))


@some
@given(
    content=st.binary(max_size=200)
    | FILES.map(lambda file: yaml.dump(file).encode(errors="replace"))
)
def test_any_bytes_in_an_included_file(file: Path, content: bytes) -> None:
    (file.parent / "more.yaml").write_bytes(content)
    only_config_error(
        file, b"issuer: https://auth.example.com\ninclude: [more.yaml]\nclients: []\n"
    )
