"""A pod's volumes laid out in a folder, as a kubelet mounts them below a root."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.k8s.rendered import Manifest, Manifests

_versions = itertools.count()

CLUSTER = {"token": "the-pods-own-token", "ca.crt": "the authority of the API server"}
"""What the kubelet projects from the cluster."""


@dataclass(frozen=True)
class Mounted:
    """A root with everything in it that the service's container finds mounted."""

    root: Path
    manifests: Manifests
    secrets: Mapping[str, str]
    """What the Secret holds."""
    replaced: dict[str, str] = field(default_factory=dict)
    """What stands elsewhere on this machine: names of other hosts, ports."""

    def __post_init__(self) -> None:
        for volume in self.manifests.pod()["spec"]["volumes"]:
            folder = self.folder(volume["name"])
            folder.mkdir(parents=True)
            if "emptyDir" not in volume:
                self.update(volume["name"], self._content(volume))

    def here(self, text: str) -> str:
        """A text of the container with each mount's path as it is below the root, and what stands elsewhere."""
        mounts = [each["mountPath"] for each in self.manifests.container()["volumeMounts"]]
        replaced = {mount: f"{self.root}{mount}" for mount in mounts} | self.replaced
        return re.sub("|".join(map(re.escape, replaced)), lambda found: replaced[found[0]], text)

    def folder(self, volume: str) -> Path:
        """The path of a volume."""
        mounts = {
            each["name"]: each["mountPath"] for each in self.manifests.container()["volumeMounts"]
        }
        return Path(f"{self.root}{mounts[volume]}")

    def writable(self) -> list[Path]:
        """The folders that the container may write to."""
        volumes = self.manifests.pod()["spec"]["volumes"]
        return [self.folder(each["name"]) for each in volumes if "emptyDir" in each]

    def update(self, volume: str, files: Mapping[str, str]) -> None:
        """Swap a volume's files all at once: they are links into `..data`, and that is a link to a new folder."""
        folder = self.folder(volume)
        version = folder / f"..version-{next(_versions)}"
        version.mkdir()
        for name, content in files.items():
            (version / name).write_text(self.here(content))
            if not (folder / name).is_symlink():
                (folder / name).symlink_to(f"..data/{name}")
        swapped = folder / "..data_tmp"
        swapped.symlink_to(version.name)
        swapped.rename(folder / "..data")

    def _content(self, volume: Manifest) -> Mapping[str, str]:
        if "secret" in volume:
            return self.secrets
        if "projected" in volume:
            return CLUSTER
        content: Mapping[str, str] = self.manifests.one("ConfigMap", volume["configMap"]["name"])[
            "data"
        ]
        return content
