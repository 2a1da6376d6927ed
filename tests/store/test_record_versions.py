"""Neighbouring releases read each other's records; what is further away is refused and never misread."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from service.model.handle import parse_handle
from service.store.records import Encoding, TooNew
from tests.driving.service import RunningService
from tests.store.records.example import EXAMPLES, FOLDER, SHAPES, encodings, golden, shape

ENCODINGS = encodings()
WRITTEN = sorted(FOLDER.glob("*.v*.json"))
LAST_RELEASE = {"az": 3, "rt": 3, "spent": 3, "ss": 3}
"""The versions that 0.2.0 writes; 1 for every other kind. Set them anew with each release."""
OBJECTS = sorted(kind for kind, one in EXAMPLES.items() if not isinstance(one, bool | int | str))


def read_committed(file: Path) -> bytes:
    """A record as it was written."""
    return file.read_bytes().removesuffix(b"\n")


def of_version(kind: str, version: int) -> bytes:
    """A record of a later version, with a member that nobody here knows."""
    record = read_committed(golden(ENCODINGS[kind]))
    members = json.loads(record[record.index(b"{") :])
    return b"v%d " % version + json.dumps({**members, "later": {"and": [1]}}).encode()


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: file.stem)
def test_a_record_of_any_earlier_release_is_read(file: Path) -> None:
    ENCODINGS[file.name.partition(".")[0]].decode(read_committed(file))


@pytest.mark.parametrize("kind", sorted(ENCODINGS))
def test_every_kind_is_written_as_it_is_committed(kind: str) -> None:
    encoding = ENCODINGS[kind]
    assert encoding.encode(EXAMPLES[kind]) == read_committed(golden(encoding))
    assert encoding.decode(read_committed(golden(encoding))) == EXAMPLES[kind]


@pytest.mark.parametrize("kind", sorted(ENCODINGS))
def test_a_changed_record_has_a_new_version(kind: str) -> None:
    known = json.loads(SHAPES.read_text())[kind].get(f"v{ENCODINGS[kind].version}")
    assert known == shape(ENCODINGS[kind]), (
        "the record has changed: give it the next version (store/stores.py), a default for what is"
        " new, an example, and run python -m tests.store.records (docs/decisions/store/record-versions.md)"
    )


@pytest.mark.parametrize("kind", sorted(ENCODINGS))
def test_a_version_is_at_most_one_above_that_of_the_last_release(kind: str) -> None:
    assert ENCODINGS[kind].version <= LAST_RELEASE.get(kind, 1) + 1


@pytest.mark.parametrize("kind", OBJECTS)
def test_a_record_of_the_next_release_is_read(kind: str) -> None:
    read = ENCODINGS[kind].decode(of_version(kind, ENCODINGS[kind].version + 1))
    expected: Any = EXAMPLES[kind]
    assert read == (expected | {"later": {"and": [1]}} if kind == "at" else expected)


@pytest.mark.parametrize("kind", OBJECTS)
def test_a_record_of_two_releases_ahead_is_refused_and_named(kind: str) -> None:
    version = ENCODINGS[kind].version + 2
    with capture_logs() as logs, pytest.raises(TooNew):
        ENCODINGS[kind].decode(of_version(kind, version))
    assert [(line["kind"], line["version"]) for line in logs] == [(kind, version)]


@pytest.mark.parametrize("kind", sorted(ENCODINGS))
def test_the_next_release_reads_what_this_one_writes(kind: str) -> None:
    ours = ENCODINGS[kind]
    following = Encoding(kind, ours.type, ours.version + 1)
    assert following.decode(ours.encode(EXAMPLES[kind])) == EXAMPLES[kind]
    assert ours.decode(following.encode(EXAMPLES[kind])) == EXAMPLES[kind]
    assert ours.is_newer(following.encode(EXAMPLES[kind]))


async def test_a_token_of_two_releases_ahead_is_a_503(service: RunningService) -> None:
    token = (await service.user_token("opaque"))["access_token"]
    handle = parse_handle(token, "access_token")
    assert handle is not None
    stores = service.features.shared.stores
    version = stores.authorizations.encoding.version
    for ahead, status in ((1, 200), (2, 503)):
        value = of_version("az", version + ahead)
        await service.features.shared.kv.write(
            ("SET", stores.authorizations.key(handle.selector), value, "EX", 60)
        )
        assert (await service.introspect(token)).status == status
