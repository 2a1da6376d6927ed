"""Archives have the same bytes each time, and the layers of an image (OCI image specification) become one folder."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from scripts.release.archives import unpack_image, write_archive


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz"])
def test_archive_of_the_same_files_is_the_same(tmp_path: Path, name: str) -> None:
    written = []
    archive = tmp_path / name
    for number, mode in enumerate((0o600, 0o664)):
        folder = tmp_path / str(number)
        for file in sorted("ab", reverse=bool(number)):
            (folder / file).mkdir(parents=True)
            (folder / file / "text").write_text(file)
            (folder / file / "text").chmod(mode)
        write_archive(folder, archive, prefix="top", time=1_000_000)
        written.append(archive.read_bytes())
    assert written[0] == written[1]
    with tarfile.open(archive) as tar:
        assert tar.getnames() == ["top/a", "top/a/text", "top/b", "top/b/text"]


def test_link_in_an_archive_is_the_file_that_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("outside")
    (tmp_path / "folder/link").symlink_to("../text")
    write_archive(tmp_path / "folder", tmp_path / "a.tar", prefix="", time=0)
    with tarfile.open(tmp_path / "a.tar") as tar:
        read = tar.extractfile("link")
        assert read
        assert read.read() == b"outside"


def test_later_layers_replace_and_remove_files_of_earlier_ones(tmp_path: Path) -> None:
    archive = image(
        tmp_path, {"a": "1", "b": "1", "c/d": "1"}, {"a": "2", ".wh.b": "", ".wh.c": ""}
    )
    configuration = unpack_image(archive, tmp_path / "root")
    files = [each for each in (tmp_path / "root").rglob("*") if each.is_file()]
    assert [(each.name, each.read_text()) for each in files] == [("a", "2")]
    assert configuration == {"User": "10001"}


def test_only_wanted_files_are_unpacked(tmp_path: Path) -> None:
    archive = image(tmp_path, {"a": "1", "b": "1"})
    unpack_image(archive, tmp_path / "root", lambda name: name == "b")
    assert [each.name for each in (tmp_path / "root").iterdir()] == ["b"]


def test_layer_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    archive = image(tmp_path, {"../outside": "1"})
    with pytest.raises(tarfile.OutsideDestinationError):
        unpack_image(archive, tmp_path / "root")
    assert not (tmp_path / "outside").exists()


def image(folder: Path, *layers: Mapping[str, str]) -> Path:
    """Write an OCI archive of these layers."""
    blobs: dict[str, bytes] = {}

    def keep(content: bytes) -> dict[str, str]:
        digest = sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"digest": f"sha256:{digest}"}

    kept = [keep(tar_of({name: text.encode() for name, text in files.items()})) for files in layers]
    configuration = keep(json.dumps({"config": {"User": "10001"}}).encode())
    manifest = keep(json.dumps({"config": configuration, "layers": kept}).encode())
    archive = folder / "image.tar"
    index = json.dumps({"manifests": [manifest]}).encode()
    archive.write_bytes(tar_of({"index.json": index, **blobs}))
    (folder / "root").mkdir()
    return archive


def tar_of(files: Mapping[str, bytes]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return written.getvalue()
