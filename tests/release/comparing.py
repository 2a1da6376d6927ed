"""Says in which files two builds differ, and in which members of their archives."""

from __future__ import annotations

import hashlib
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import IO

SHOWN = 20


def differences(first: Path, second: Path) -> list[str]:
    """Return a line for each file of two folders that is not the same in both, and below it what differs inside."""
    names = sorted({path.name for folder in (first, second) for path in folder.iterdir()})
    return [line for name in names for line in _compare(name, first / name, second / name)]


def _compare(name: str, first: Path, second: Path) -> Iterator[str]:
    if not (first.exists() and second.exists()):
        yield f"{name}: only in {first.parent if first.exists() else second.parent}"
    elif first.read_bytes() != second.read_bytes():
        yield f"{name}: {_sha256(first.read_bytes())} and {_sha256(second.read_bytes())}"
        one, other = (dict(_members(path.name, path.open("rb"))) for path in (first, second))
        inside = [each for each in sorted(one | other) if one.get(each) != other.get(each)]
        yield from (f"  {each}: {one.get(each)} and {other.get(each)}" for each in inside[:SHOWN])
        if len(inside) > SHOWN:
            yield f"  and {len(inside) - SHOWN} more"


def _members(name: str, file: IO[bytes]) -> Iterator[tuple[str, str]]:
    """Return each member of an archive, and of the archives in it, with what tells whether it is another one."""
    if name.endswith(".whl"):
        with zipfile.ZipFile(file) as wheel:
            for entry in wheel.infolist():
                about = f"{entry.date_time} {entry.external_attr:o}"
                yield entry.filename, f"{about} {_sha256(wheel.read(entry))}"
        return
    try:
        archive = tarfile.open(fileobj=file)  # noqa: SIM115 - closed below
    except tarfile.ReadError:
        return
    with archive:
        for number, member in enumerate(archive):
            content = archive.extractfile(member).read() if member.isreg() else b""  # type: ignore[union-attr]
            about = f"{member.mode:o} {member.uid} {member.mtime} {member.linkname}"
            name = f"blob {number}" if "blobs/" in member.name else member.name
            yield name, f"{about} {_sha256(content)}"
            for inner, told in _members(name, BytesIO(content)):
                yield f"{name}: {inner}", told


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def digests(folder: Path) -> Mapping[str, str]:
    """Return the SHA-256 of each file."""
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in folder.iterdir()}
