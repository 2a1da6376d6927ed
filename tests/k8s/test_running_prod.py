"""The overlay `prod` runs on a Redis behind TLS, as an ACL user that may do no more than it needs."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.driving.program import eventually
from tests.driving.redis_servers import TcpRedis
from tests.k8s.overlays_redis import redis_of_prod
from tests.k8s.rendered import rendered
from tests.k8s.running_pod import SECRETS, Pod, pod_running

pytestmark = pytest.mark.needs("kustomize", "redis-server")

ISSUER = "https://login.example.com"


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TcpRedis]:
    """The Redis that is elsewhere."""
    with redis_of_prod(tmp_path_factory.mktemp("redis")) as running:
        yield running


@pytest.fixture(scope="module", params=["prod", "prod, all"])
def pod(
    request: pytest.FixtureRequest, redis: TcpRedis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pod]:
    """A pod, with client certificates too."""
    assert redis.certificate
    with pod_running(
        tmp_path_factory.mktemp("pod"),
        rendered(request.param),
        replaced={"redis.example.com:6380": redis.address},
        secrets={**SECRETS, "redis-ca.crt": redis.certificate.read_text()},
    ) as running:
        eventually(lambda: running.probe("readinessProbe") == 200)
        yield running


def test_the_keys_are_in_the_redis_that_is_elsewhere(pod: Pod, redis: TcpRedis) -> None:
    jwks = json.loads(pod.ask("http", "/.well-known/jwks.json")[1])
    assert {key["alg"] for key in jwks["keys"]} == {"ES256", "RS256"}
    assert redis.tell("EXISTS", "ts:keys") == 1


def test_every_url_is_below_the_issuer(pod: Pod) -> None:
    discovery = json.loads(pod.ask("http", "/.well-known/openid-configuration")[1])
    urls = [value for name, value in discovery.items() if name.endswith("_endpoint")]
    assert urls
    assert all(url.startswith(f"{ISSUER}/") for url in urls)


def test_user_without_a_session_is_sent_to_the_login_page(pod: Pod) -> None:
    query = "client_id=web&redirect_uri=https://www.example.com/callback&response_type=code"
    challenge = "code_challenge_method=S256&code_challenge=" + "c" * 43
    status, _ = pod.ask("http", f"/connect/authorize?{query}&scope=openid&{challenge}")
    assert status == 303


@pytest.mark.usefixtures("pod")
def test_nothing_is_forbidden_to_the_user(redis: TcpRedis) -> None:
    assert redis.tell("ACL", "LOG") == []
