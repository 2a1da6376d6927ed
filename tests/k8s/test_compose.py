"""compose.yaml runs the service of the overlay `dev` and its Redis in containers on one machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.driving.ports import lasting_ports
from tests.driving.program import SECONDS, eventually
from tests.k8s.rendered import K8S, rendered
from tests.k8s.running_pod import Pod

COMPOSE = K8S.parent / "compose.yaml"
SECRET = "/run/secrets/redis-password"

Container = dict[str, Any]


@pytest.fixture(scope="module")
def containers() -> dict[str, Container]:
    """The services as a reference implementation of the Compose Specification loads them."""
    loaded = subprocess.run(
        ["compose-go", "--format=json", str(COMPOSE)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert loaded.returncode == 0, loaded.stderr + loaded.stdout
    services: dict[str, Container] = json.loads(loaded.stdout)["services"]
    return services


@pytest.fixture
def service(containers: dict[str, Container]) -> Container:
    return containers["token-service"]


@pytest.fixture
def redis(containers: dict[str, Container]) -> Container:
    return containers["redis"]


@pytest.mark.needs("compose-go", "kustomize")
def test_the_service_is_started_as_in_the_pod(service: Container) -> None:
    pod = rendered("dev").container()
    assert service["command"] == pod["args"]
    assert service["environment"] == {each["name"]: each["value"] for each in pod["env"]}
    assert service["image"] == pod["image"]
    mounts = {each["mountPath"] for each in pod["volumeMounts"]}
    assert {each["target"] for each in service["volumes"]} == mounts - {"/tmp"}  # noqa: S108
    for volume in service["volumes"]:
        folder = Path(volume["target"]).name
        assert volume["source"] == str(K8S / "overlays/dev" / folder)


@pytest.mark.needs("compose-go", "kustomize")
def test_the_redis_is_the_one_of_the_overlay(redis: Container) -> None:
    (pod,) = rendered("dev").one("StatefulSet", "redis")["spec"]["template"]["spec"]["containers"]
    password, *options = pod["args"][1:]
    assert password == "$(REDIS_PASSWORD)"
    assert redis["image"] == pod["image"]
    assert redis["command"][-1].split()[-len(options) :] == options


@pytest.mark.needs("compose-go")
def test_both_run_without_rights(containers: dict[str, Container]) -> None:
    for container in containers.values():
        assert container["read_only"] is True
        assert container["cap_drop"] == ["ALL"]
        assert container["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.needs("compose-go")
def test_only_this_machine_reaches_the_service_and_nothing_reaches_redis(
    containers: dict[str, Container],
) -> None:
    (port,) = containers["token-service"]["ports"]
    assert (port["host_ip"], port["published"], port["target"]) == ("127.0.0.1", "8080", 8080)
    assert "ports" not in containers["redis"]


@pytest.mark.needs("compose-go", "kustomize", "redis-server")
def test_the_health_check_asks_a_running_service(service: Container, pod: Pod) -> None:
    eventually(lambda: pod.probe("readinessProbe") == 200)
    _, _, *command = service["healthcheck"]["test"]
    here = [each.replace(":9090", f":{pod.ports[9090]}") for each in command]
    assert subprocess.run([sys.executable, *here], check=False, timeout=SECONDS).returncode == 0


@pytest.mark.needs("compose-go", "redis-server", "redis-cli")
def test_redis_starts_with_the_password_of_its_file(
    redis: Container, running_redis: dict[str, str]
) -> None:
    (_, check) = redis["healthcheck"]["test"]
    here = check.replace(SECRET, running_redis["secret"])
    here = here.replace("redis-cli", f"redis-cli -p {running_redis['port']}")

    def is_healthy(command: str) -> bool:
        return subprocess.run(["sh", "-c", command], check=False, timeout=SECONDS).returncode == 0

    eventually(lambda: is_healthy(here))
    assert not is_healthy(here.replace("REDISCLI_AUTH", "NO_PASSWORD"))


@pytest.fixture
def running_redis(redis: Container, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Redis as the container starts it, in a folder and at a port of its own."""
    secret = tmp_path / "password"
    secret.write_text("0123456789abcdef")
    (port,) = lasting_ports(1)
    *shell, command = redis["command"]
    command = f"{command.replace(SECRET, str(secret))} --port {port} --bind 127.0.0.1"
    process = subprocess.Popen([*shell, command], cwd=tmp_path, stdout=subprocess.DEVNULL)
    yield {"secret": str(secret), "port": str(port)}
    process.kill()
    process.wait(SECONDS)


@pytest.mark.needs("compose-go")
def test_a_word_that_compose_does_not_know_is_found(tmp_path: Path) -> None:
    misspelt = yaml.safe_load(COMPOSE.read_text())
    misspelt["services"]["redis"]["comand"] = []
    (tmp_path / "compose.yaml").write_text(yaml.safe_dump(misspelt))
    loaded = subprocess.run(
        ["compose-go", "compose.yaml"],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert loaded.returncode != 0
    assert "comand" in loaded.stdout + loaded.stderr
