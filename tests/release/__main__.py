"""Builds a release and uses it as a reader of docs/operations/verifying.md would: `python -m tests.release [--short]`, as root.

A second build, in another folder and by a person with another umask, has to make the same bytes; with `--short` all but the
image is built twice. Both need buildah and runc, and build upon Debian (scripts/debian-base), because CI may reach no registry.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from click import echo

from service.distribution import VERSION
from tests.driving.ports import lasting_ports
from tests.driving.process import REPOSITORY
from tests.interop.steps import Steps
from tests.k8s.asking import ask
from tests.release.comparing import differences, digests
from tests.release.container import Container, container_running

BASE = REPOSITORY / "build/debian-base.tar"
HELM = (
    *(REPOSITORY / "build/bin/helm", "template", "a", "--kube-version=1.34"),
    f"--set-file=config={REPOSITORY}/k8s/overlays/prod/config/config.yaml",
    f"--values={REPOSITORY}/tests/k8s/chart_values.yaml",
)
ELSEWHERE = "https://code.example/token-service"
WHOLE = ("-m", "scripts.release", ELSEWHERE)
PART = f"""\
from scripts.release.__main__ import build_all_but_image, read_release
build_all_but_image(read_release(), {ELSEWHERE!r})
"""
ALL_BUT_IMAGE = ("-c", PART)
CONFIG = """\
issuer: http://localhost:8080
api_resources: [{name: api1}]
clients:
  - client_id: machine
    client_secrets: [{sha256: "b13z1hoikMvamifVhPp+UJwoEdqP1n6rDcXDnDeJu34="}]
    allowed_grant_types: [client_credentials]
    allowed_scopes: [api1]
"""
LIST = (
    "import importlib.metadata as m, json;"
    "print(json.dumps(sorted([d.metadata['Name'], d.version] for d in m.distributions())))"
)
COMPILED = """\
from pathlib import Path
for source in Path("/app/service").rglob("*.py"):
    (made,) = source.parent.glob(f"__pycache__/{source.stem}.*.pyc")
    assert made.read_bytes()[4:8] == bytes([1, 0, 0, 0]), source  # by a hash that is not checked (PEP 552)
"""


def clone(folder: Path, umask: int) -> None:
    """A fresh clone of the commit, with the tools of this checkout."""
    subprocess.run(["git", "clone", "--quiet", REPOSITORY, folder], check=True, umask=umask)
    tools = folder / "build/site"
    tools.mkdir(parents=True)
    (tools / "venv").symlink_to(REPOSITORY / "build/site/venv")


def build(folder: Path, umask: int, command: Sequence[str]) -> Path:
    """Run a command that builds in a fresh clone; the folder that it builds into."""
    clone(folder, umask)
    environ = {**os.environ, "BASE": f"oci-archive:{BASE}"}
    subprocess.run([sys.executable, *command], cwd=folder, check=True, umask=umask, env=environ)
    return folder / "dist"


def check_files(steps: Steps, dist: Path) -> None:
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=dist, text=True).strip()
    with steps.step("sha256sum finds every file as SHA256SUMS has it"):
        subprocess.run(
            ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=dist, check=True
        )
    with steps.step(
        "the provenance names every other file, the commit, and the base by its digest"
    ):
        (file,) = dist.glob("*.provenance.json")
        statement = json.loads(file.read_text())
        subjects = {each["name"]: each["digest"]["sha256"] for each in statement["subject"]}
        assert subjects | {file.name: digests(dist)[file.name]} == digests(dist)
        assert file.name not in subjects
        source, base = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
        assert source["uri"] == f"git+{ELSEWHERE}@{commit}"
        assert source["digest"] == {"gitCommit": commit}
        assert len(base["digest"]["sha256"]) == 64
    with steps.step("Helm renders the chart's archive as it renders k8s/chart"):
        (chart,) = dist.glob("*.tgz")
        archived, folder = (
            subprocess.check_output([*HELM, each]) for each in (chart, REPOSITORY / "k8s/chart")
        )
        assert archived == folder


@contextmanager
def service_running(archive: Path, folder: Path) -> Iterator[tuple[Container, str]]:
    """The image as a container, and its address."""
    config = folder / "config/config.yaml"
    config.parent.mkdir(mode=0o755)
    config.write_text(CONFIG)
    config.chmod(0o644)
    (port,) = lasting_ports(1)
    url = f"http://127.0.0.1:{port}"
    environ = {"SERVICE_CONFIG": "/mnt/config.yaml", "SERVICE_PORT": str(port)}
    with container_running(archive, config.parent, environ, f"{url}/health/ready") as container:
        yield container, url


def check_container(steps: Steps, container: Container, url: str, commit: str) -> None:
    with steps.step("the container, once healthy, issues a token"):
        form = {
            "grant_type": "client_credentials",
            "client_id": "machine",
            "client_secret": "machine-secret",
        }
        status, body = ask(f"{url}/connect/token", form)
        assert status == 200
        assert json.loads(body)["token_type"] == "Bearer"
    with steps.step("its version and its metrics name the commit"):
        told = f"token-service {VERSION} (commit {commit[:12]})\n"
        assert container.run("token-service", "--version") == told
        _, metrics = ask(f"{url}/metrics")
        assert f'build_info{{commit="{commit[:12]}"' in metrics.decode()
    with steps.step("each module of the service is compiled, because a start could keep no result"):
        container.run("python", "-c", COMPILED)
    with steps.step("it runs as user 10001, and can write to /tmp only"):
        assert container.run("id", "-u") == "10001\n"
        tried = "touch /tmp/a; for each in / /app /etc /usr /var; do ! touch $each/a 2>/dev/null || echo $each; done"
        assert (written := container.run("sh", "-c", tried)) == "", written


def check_bill(steps: Steps, container: Container, dist: Path) -> None:
    bill = json.loads(next(dist.glob("*-image-*.cdx.json")).read_text())
    listed = [(each["name"], each["version"], each.get("purl", "")) for each in bill["components"]]
    root = bill["metadata"]["component"]
    with steps.step("the bill of the image lists just the packages that its Python has"):
        inside = {tuple(each) for each in json.loads(container.run("python", "-c", LIST))}
        python = {(name, version) for name, version, url in listed if url.startswith("pkg:pypi/")}
        assert python | {(root["name"], root["version"])} == inside
    with steps.step("the bill of the wheel lists the same ones, but for those of other platforms"):
        (wheel,) = dist.glob(f"token-service-{VERSION}.cdx.json")
        locked = {
            (normal(each["name"]), each["version"])
            for each in json.loads(wheel.read_text())["components"]
        }
        unlocked = {(normal(name), version) for name, version in python} - locked
        assert unlocked == set(), unlocked
    with steps.step("the bill of the image lists just the packages that dpkg has, and its Python"):
        told = container.run(
            "dpkg-query", "--show", "--showformat=${db:Status-Status} ${Package} ${Version}\n"
        )
        installed = {
            tuple(line.split()[1:]) for line in told.splitlines() if line.startswith("installed ")
        }
        debian = {
            (name, version) for name, version, url in listed if url.startswith("pkg:deb/debian/")
        }
        assert debian == installed
        version = container.run("python", "-c", "import platform; print(platform.python_version())")
        assert ("python", version.strip(), f"pkg:generic/python@{version.strip()}") in listed


def normal(name: str) -> str:
    """The name as indexes compare it (PEP 503)."""
    return name.lower().replace("_", "-").replace(".", "-")


def main(short: bool) -> None:
    steps = Steps()
    subprocess.run([REPOSITORY / "scripts/debian-base"], check=True)
    with TemporaryDirectory(prefix="release-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        dist = build(folder / "one", 0o022, WHOLE)
        commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=dist, text=True).strip()
        check_files(steps, dist)
        with (
            steps.step("the container of the image's archive starts, and ends when it is asked to"),
            service_running(next(dist.glob("*-image-*.tar")), folder) as (container, url),
        ):
            check_container(steps, container, url, commit)
            check_bill(steps, container, dist)
        with steps.step("a second build, elsewhere and with another umask, makes the same bytes"):
            again = build(folder / "another/place", 0o077, ALL_BUT_IMAGE if short else WHOLE)
            for each in dist.iterdir():
                if each.name.endswith(".provenance.json") or (
                    short and not (again / each.name).exists()
                ):
                    each.unlink()
            for each in again.glob("*.provenance.json"):
                each.unlink()
            found = differences(dist, again)
            assert found == [], "\n".join(found)
            assert list(again.glob("*.whl"))
    steps.finish()


if __name__ == "__main__":
    if os.getuid() != 0:
        echo("make release-test needs root, because runc runs the image as its own user", err=True)
        sys.exit(2)
    main("--short" in sys.argv)
