"""Builds the container image by Buildah, as an OCI archive."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from scripts.release.archives import write_archive
from scripts.release.checkout import BUILD, SOURCE, Refused, Release
from service.distribution import VERSION

STORAGE = BUILD / "storage"
NAME = f"token-service:{VERSION}"


def find_base() -> str:
    """Return the image to build upon: BASE, or that of the Dockerfile."""
    (default,) = re.findall(r"^ARG BASE=(\S+)", (SOURCE / "Dockerfile").read_text(), re.MULTILINE)
    return os.environ.get("BASE") or default


def architecture() -> str:
    """Return the architecture of the image, by the name that OCI has for it."""
    names = {"x86_64": "amd64", "aarch64": "arm64"}
    return names.get(os.uname().machine, os.uname().machine)


def build_image(release: Release, archive: Path) -> None:
    """Write the image of the exported files.

    Nothing of an earlier build is used. The store of images is one of plain folders, and steps run in a chroot, so that this
    works in a container, too.
    """
    _remove_storage()
    try:
        arguments = (f"BASE={find_base()}", f"COMMIT={release.short_commit}")
        _buildah(
            *("build", "--quiet", "--isolation=chroot", "--no-cache", "--format=oci"),
            *(f"--build-arg={argument}" for argument in arguments),
            *(f"--timestamp={release.time}", f"--tag=localhost/{NAME}", str(SOURCE)),
        )
        layout = BUILD / "layout"
        shutil.rmtree(layout, ignore_errors=True)
        _buildah("push", "--quiet", f"localhost/{NAME}", f"oci:{layout}:{NAME}")
        write_archive(layout, archive, prefix="", time=release.time)
    finally:
        _remove_storage()


def require_buildah() -> None:
    """Raise Refused where the image could not be built."""
    if shutil.which("buildah") is None:
        raise Refused(
            "buildah is missing: it builds the image (on Debian: apt-get install buildah)"
        )


def buildah_version() -> str:
    """Return what the program calls itself."""
    return subprocess.check_output(["buildah", "--version"], text=True).strip()


def _buildah(*arguments: str) -> None:
    subprocess.run([*_command(), *arguments], check=True, stdout=subprocess.DEVNULL)


def _command() -> Sequence[str]:
    places = (f"--root={STORAGE}/images", f"--runroot={STORAGE}/run")
    return ("buildah", *places, "--storage-driver=vfs")


def _remove_storage() -> None:
    if STORAGE.exists():
        _buildah("rm", "--all")
        _buildah("rmi", "--all", "--force")
        shutil.rmtree(STORAGE, ignore_errors=True)
