"""Builds a release into dist/: `make release`, from a checkout that is its commit.

Everything but the provenance has the same bytes each time (docs/releasing.md).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime

from scripts import site
from scripts.release.archives import write_archive
from scripts.release.bills import image_bill, wheel_bill
from scripts.release.checkout import (
    SOURCE,
    TOP,
    Refused,
    Release,
    export,
    is_development,
    read_release,
)
from scripts.release.image import architecture, build_image, require_buildah
from scripts.release.provenance import digest, state_provenance
from service.distribution import VERSION

DIST = TOP / "dist"
PREFIX = f"token-service-{VERSION}"


def main(repository: str) -> None:
    """Build all of it, or raise Refused before anything is written."""
    started = datetime.now(UTC)
    os.umask(0o022)  # the image has the permissions that its steps give to files
    require_buildah()
    release = read_release()
    if is_development(VERSION):
        say(
            f"{VERSION} is a development version: it needs no tag, and no section of its own in CHANGELOG.md"
        )
    build_all_but_image(release, repository)
    image = DIST / f"{PREFIX}-image-{architecture()}.tar"
    say("building the image")
    build_image(release, image)
    image.with_suffix(".cdx.json").write_bytes(image_bill(image))
    files = sorted(DIST.iterdir())
    sums = DIST / "SHA256SUMS"
    sums.write_text("".join(f"{digest(file)}  {file.name}\n" for file in files))
    statement = state_provenance(
        release, [*files, sums], image=image, repository=repository, started=started
    )
    (DIST / f"{PREFIX}.provenance.json").write_text(statement)
    say("\n".join(["dist/:", *(f"  {file.name}" for file in sorted(DIST.iterdir()))]))


def build_all_but_image(release: Release, repository: str) -> None:
    """Write the rest into an empty dist/."""
    os.environ["SOURCE_DATE_EPOCH"] = str(release.time)
    shutil.rmtree(DIST, ignore_errors=True)
    export(release)
    build_packages()
    build_chart(release)
    build_documentation(release, repository)
    bill = wheel_bill((SOURCE / "requirements.lock").read_text())
    (DIST / f"{PREFIX}.cdx.json").write_bytes(bill)


def build_packages() -> None:
    """Write the wheel and the source archive."""
    say("building the wheel and the source archive")
    builds = ("-m", "hatchling", "build", "-d", str(DIST), "-t", "sdist", "-t", "wheel")
    subprocess.run([sys.executable, *builds], cwd=SOURCE, check=True, stdout=subprocess.DEVNULL)


def build_chart(release: Release) -> None:
    """Write the Helm chart as `helm package` names it; Helm's own archive has the time of its making."""
    chart = SOURCE / "k8s/chart"
    (version,) = re.findall(r"^version: (\S+)", (chart / "Chart.yaml").read_text(), re.MULTILINE)
    name = "token-service"
    write_archive(chart, DIST / f"{name}-{version}.tgz", prefix=name, time=release.time)


def build_documentation(release: Release, repository: str) -> None:
    """Write the site that `make site` builds."""
    say("building the documentation")
    site.main(repository)
    archive = DIST / f"{PREFIX}-docs.tar.gz"
    write_archive(site.SITE, archive, prefix=f"{PREFIX}-docs", time=release.time)
    shutil.rmtree(site.SITE)


def say(text: str) -> None:
    """Print a line at once, before what the next step prints."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Refused as refused:
        sys.exit(f"make release: {refused}")
