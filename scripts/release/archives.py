"""Writes archives that have the same bytes each time, and unpacks the layers of an image."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

WHITEOUT = ".wh."
"""Before the name of what a layer removes (OCI image layer specification)."""


def write_archive(folder: Path, archive: Path, *, prefix: str, time: int) -> None:
    """Write the files of a folder as tar, or as tar.gz where the name ends so: sorted, all of root's, of one time."""
    with archive.open("wb") as file:
        if archive.suffix == ".tar":
            _write_tar(folder, file, prefix, time)
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=time) as compressed:
            _write_tar(folder, compressed, prefix, time)


def _write_tar(folder: Path, file: IO[bytes], prefix: str, time: int) -> None:
    def normalise(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = time
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(folder.rglob("*")):
            name = PurePosixPath(prefix, path.relative_to(folder).as_posix())
            tar.add(path, str(name), recursive=False, filter=normalise)


def unpack_image(
    archive: Path, folder: Path, wanted: Callable[[str], bool] = lambda _: True
) -> Mapping[str, Any]:
    """Unpack the files of an OCI archive's image, one layer over the other, and return its configuration."""
    with tarfile.open(archive) as layout:
        manifest = _read_blob(layout, _read_json(layout, "index.json")["manifests"][0])
        for layer in manifest["layers"]:
            with tarfile.open(fileobj=_open_blob(layout, layer), mode="r:*") as files:
                _unpack_layer(files, folder, wanted)
        configuration: Mapping[str, Any] = _read_blob(layout, manifest["config"])["config"]
    return configuration


def read_manifest(archive: Path) -> Mapping[str, Any]:
    """Return the manifest of the image in an OCI archive."""
    with tarfile.open(archive) as layout:
        return _read_blob(layout, _read_json(layout, "index.json")["manifests"][0])


def _unpack_layer(files: tarfile.TarFile, folder: Path, wanted: Callable[[str], bool]) -> None:
    for member in files:
        path = PurePosixPath(member.name)
        if path.name.startswith(WHITEOUT):
            _remove(folder / path.with_name(path.name.removeprefix(WHITEOUT)))
        elif wanted(member.name) and path.name:
            if not member.isdir():
                _remove(folder / path)
            files.extract(member, folder, filter="tar")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _open_blob(layout: tarfile.TarFile, descriptor: Mapping[str, Any]) -> IO[bytes]:
    algorithm, _, digest = descriptor["digest"].partition(":")
    blob = layout.extractfile(f"blobs/{algorithm}/{digest}")
    assert blob is not None
    return blob


def _read_blob(layout: tarfile.TarFile, descriptor: Mapping[str, Any]) -> Any:
    return json.load(_open_blob(layout, descriptor))


def _read_json(layout: tarfile.TarFile, name: str) -> Any:
    file = layout.extractfile(name)
    assert file is not None
    return json.load(file)
