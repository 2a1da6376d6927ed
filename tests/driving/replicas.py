"""Several processes with one configuration, each on a port of its own to which it comes back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.driving.haproxy import HaProxy, haproxy_running
from tests.driving.ports import lasting_ports
from tests.driving.program import Program, program_running


@contextmanager
def replicas_running(
    config_file: Path,
    count: int,
    *,
    ports: Sequence[int] | None = None,
    flags: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> Iterator[list[Program]]:
    """So many replicas, once all of them listen; `start()` brings one back that has ended."""
    with ExitStack() as programs:
        started = [
            programs.enter_context(
                program_running(config_file, ("--port", str(port), *flags), dict(environ or {}))
            )
            for port in ports or lasting_ports(count)
        ]
        for each in started:
            each.url()
        yield started


@dataclass(frozen=True)
class Fleet:
    """Replicas behind a balancer, which their issuer names."""

    balancer: HaProxy
    replicas: list[Program]
    config_file: Path
    addresses: list[str]
    """The replicas' own `host:port`s."""

    @property
    def url(self) -> str:
        """The issuer, where every request goes."""
        return self.balancer.url

    def replace(self, replica: Program) -> int:
        """Drain one and start it anew; its exit code, once the balancer counts on it again."""
        code = replica.stop()
        replica.start()
        replica.url()
        self.balancer.wait_until_up(len(self.replicas))
        return code


@contextmanager
def fleet_running(
    folder: Path,
    configuration: Mapping[str, object],
    count: int = 3,
    *,
    balancer: Mapping[str, object] | None = None,
    flags: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> Iterator[Fleet]:
    """Replicas of this configuration behind HAProxy, all of them up; `balancer` is its configuration."""
    ports = lasting_ports(count)
    backends = [f"127.0.0.1:{port}" for port in ports]
    with haproxy_running(folder, backends, **(balancer or {})) as proxy:  # type: ignore[arg-type]
        server = {"trusted_proxies": ["127.0.0.1/32"], **_section(configuration, "server")}
        whole = {**configuration, "issuer": proxy.url, "server": server}
        config_file = folder / "config.yaml"
        config_file.write_text(yaml.safe_dump(whole, sort_keys=False))
        with replicas_running(
            config_file, count, ports=ports, flags=flags, environ=environ
        ) as replicas:
            proxy.wait_until_up(count)
            yield Fleet(proxy, replicas, config_file, backends)


def _section(configuration: Mapping[str, object], name: str) -> Mapping[str, object]:
    section = configuration.get(name, {})
    assert isinstance(section, Mapping)
    return section
