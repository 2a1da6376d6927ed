"""States what a release was built from, and how: an in-toto statement with a SLSA provenance (slsa.dev/spec/v1.0/provenance).

It is not signed (SLSA build level 1); .github/workflows/release.yml signs it.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scripts.release.archives import read_manifest
from scripts.release.checkout import Release
from scripts.release.image import buildah_version, find_base

UNPUBLISHED = "urn:aiohttp-token-service"
"""Where the addresses of the statement begin without REPOSITORY."""
BASE_DIGEST = "org.opencontainers.image.base.digest"


def digest(file: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def state_provenance(
    release: Release,
    files: Sequence[Path],
    *,
    image: Path,
    repository: str,
    started: datetime,
) -> str:
    """Return the statement about the files of a release."""
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": file.name, "digest": {"sha256": digest(file)}} for file in files],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{repository or UNPUBLISHED}#make-release",
                "externalParameters": {
                    "ref": f"refs/tags/{release.tag}" if release.tag else release.commit,
                    **({"repository": repository} if repository else {}),
                    "base": find_base(),
                },
                "internalParameters": {
                    "SOURCE_DATE_EPOCH": release.time,
                    "python": platform.python_version(),
                    "platform": platform.platform(),
                    "buildah": buildah_version(),
                },
                "resolvedDependencies": [_source(release, repository), _base(image)],
            },
            "runDetails": {
                "builder": {"id": _builder()},
                "metadata": {**_invocation(), **_times(started)},
            },
        },
    }
    return json.dumps(statement, indent=2) + "\n"


def _source(release: Release, repository: str) -> Mapping[str, Any]:
    uri = {"uri": f"git+{repository}@{release.commit}"} if repository else {}
    return {"name": "source", **uri, "digest": {"gitCommit": release.commit}}


def _base(image: Path) -> Mapping[str, Any]:
    algorithm, _, hexadecimal = read_manifest(image)["annotations"][BASE_DIGEST].partition(":")
    return {"name": find_base(), "digest": {algorithm: hexadecimal}}


def _builder() -> str:
    """Return the workflow that runs this on GitHub, or that a person did."""
    workflow = os.environ.get("GITHUB_WORKFLOW_REF")
    return f"{os.environ['GITHUB_SERVER_URL']}/{workflow}" if workflow else f"{UNPUBLISHED}#by-hand"


def _invocation() -> Mapping[str, str]:
    run = os.environ.get("GITHUB_RUN_ID")
    if run is None:
        return {}
    server, repository = os.environ["GITHUB_SERVER_URL"], os.environ["GITHUB_REPOSITORY"]
    attempt = os.environ.get("GITHUB_RUN_ATTEMPT", "1")
    return {"invocationId": f"{server}/{repository}/actions/runs/{run}/attempts/{attempt}"}


def _times(started: datetime) -> Mapping[str, str]:
    moments = {"startedOn": started, "finishedOn": datetime.now(UTC)}
    return {name: f"{moment:%Y-%m-%dT%H:%M:%SZ}" for name, moment in moments.items()}
