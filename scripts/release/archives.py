"""Writes archives that have the same bytes each time, and unpacks the layers of an image."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import IO, Any

WHITEOUT = ".wh."
"""Before the name of what a layer removes (OCI image layer specification)."""


def write_archive(folder: Path, archive: Path, *, prefix: str, time: int) -> None:
    """Write the files of a folder as tar, or as tar.gz where the name ends so: sorted, all of root's, of one time.

    A link becomes the file that it leads to, which may be outside of the folder.
    """

    def normalise(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = time
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with archive.open("wb") as file, ExitStack() as opened:
        written: IO[bytes] | gzip.GzipFile = file
        if archive.suffix != ".tar":
            written = opened.enter_context(
                gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=time)
            )
        tar = opened.enter_context(
            tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT, dereference=True)
        )
        for path in sorted(folder.rglob("*")):
            name = PurePosixPath(prefix, path.relative_to(folder).as_posix())
            tar.add(path, str(name), recursive=False, filter=normalise)


def unpack_image(
    archive: Path, folder: Path, wanted: Callable[[str], bool] = lambda _: True
) -> Mapping[str, Any]:
    """Unpack the files of an OCI archive's image, one layer over the other, and return its configuration."""
    with tarfile.open(archive) as layout:
        manifest = _read_manifest(layout)
        for layer in manifest["layers"]:
            with tarfile.open(fileobj=_open(layout, _blob(layer)), mode="r:*") as files:
                _unpack_layer(files, folder, wanted)
        configuration: Mapping[str, Any] = json.load(_open(layout, _blob(manifest["config"])))
        return dict(configuration["config"])


def read_manifest(archive: Path) -> Mapping[str, Any]:
    """Return the manifest of the image in an OCI archive."""
    with tarfile.open(archive) as layout:
        return _read_manifest(layout)


def _read_manifest(layout: tarfile.TarFile) -> Mapping[str, Any]:
    index = json.load(_open(layout, "index.json"))
    manifest: Mapping[str, Any] = json.load(_open(layout, _blob(index["manifests"][0])))
    return manifest


def _unpack_layer(files: tarfile.TarFile, folder: Path, wanted: Callable[[str], bool]) -> None:
    for member in files:
        path = PurePosixPath(member.name)
        if path.name.startswith(WHITEOUT):
            _remove(folder / path.with_name(path.name.removeprefix(WHITEOUT)))
        elif wanted(member.name) and path.name:
            if not member.isdir():
                _remove(folder / path)
            files.extract(member, folder, filter=_keep_mode)


def _keep_mode(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
    """Refuse what leads out of the folder, and leave everybody's right to write to /tmp."""
    return tarfile.tar_filter(member, folder).replace(mode=member.mode, deep=False)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _blob(descriptor: Mapping[str, str]) -> str:
    """Return where a layout has what a descriptor names (OCI image layout)."""
    return f"blobs/{descriptor['digest'].replace(':', '/')}"


def _open(layout: tarfile.TarFile, name: str) -> IO[bytes]:
    file = layout.extractfile(name)
    if file is None:
        raise ValueError(f"{name} is no file of the image's archive")
    return file
