"""A real SPIRE, whose workloads are clients and APIs of a service without any secret (JWT-SVID, SPIFFE Federation §5).

`make spire-test` builds SPIRE's server, agent and OIDC discovery provider from the Go module proxy, once, in five minutes of one
core, and runs this for two minutes. CI does not.
"""

from __future__ import annotations

import json
import shutil
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2

from service.model.workload import JWT_SPIFFE
from service.protocol.token_types import CLIENT_ASSERTION
from tests.driving.certificate import certified
from tests.driving.ports import lasting_ports
from tests.driving.program import eventually, program_running
from tests.interop.steps import Steps
from tests.spire.spire import Ports, Spire, spire_running

CART, ORDERS, STRANGER = "/ns/shop/sa/cart", "/ns/apis/sa/orders", "/ns/other/sa/cart"
BY_BUNDLE = "shop.ns%2Fshop%2Fsa%2Fcart"
BY_DISCOVERY = "shop.spiffe%3A%2F%2Fexample.org%2Fns%2Fshop%2Fsa%2Fcart"
"""The client ids of the cart, by `{path}` and by `{sub}`."""


class Service:
    """The service, to which workloads send requests."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.http = httpx2.Client(base_url=issuer, timeout=30)

    def ask(self, path: str, svid: str, *, kind: str = JWT_SPIFFE, **form: str) -> httpx2.Response:
        """The answer to a workload that shows this SVID."""
        sent = {"client_assertion_type": kind, "client_assertion": svid, **form}
        return self.http.post(path, data=sent)

    def token(self, svid: str, **more: str) -> tuple[int, Mapping[str, Any]]:
        """The answer to a workload that wants a token for itself."""
        grant = {"grant_type": "client_credentials", "scope": "orders.read"}
        answer = self.ask("/connect/token", svid, **grant, **more)
        return answer.status_code, answer.json()

    def accepts(self, svid: str) -> bool:
        """Whether the workload gets a token."""
        return self.token(svid, kind=CLIENT_ASSERTION)[0] == httpx2.codes.OK


def run(steps: Steps, spire: Spire, service: Service) -> None:
    """Everything that a workload does with its SVID, whose keys come from the bundle endpoint."""
    cart, orders = (spire.fetch(path, service.issuer) for path in (CART, ORDERS))
    for kind in (JWT_SPIFFE, CLIENT_ASSERTION):
        accept(steps, service, (cart, orders), kind, BY_BUNDLE)
    refuse(steps, spire, service, {"an API's SVID": orders, "a changed SVID": cart[:-4] + "AAAA"})
    renew(steps, spire, service, cart)


def run_by_discovery(steps: Steps, spire: Spire, service: Service) -> None:
    """The same where SPIRE is an issuer like any other, whose keys come from its OIDC discovery provider."""
    cart, orders = (spire.fetch(path, service.issuer) for path in (CART, ORDERS))
    accept(steps, service, (cart, orders), CLIENT_ASSERTION, BY_DISCOVERY)
    refuse(steps, spire, service, {"a changed SVID": cart[:-4] + "AAAA"})
    with steps.step("jwt-spiffe is for kind: spiffe alone"):
        status, answer = service.token(cart, kind=JWT_SPIFFE)
        assert (status, answer["error"]) == (httpx2.codes.UNAUTHORIZED, "invalid_client")
    renew(steps, spire, service, cart)


def accept(
    steps: Steps, service: Service, svids: tuple[str, str], kind: str, client_id: str
) -> None:
    """A workload gets a token, and an API asks about it, both by their SVIDs alone."""
    cart, orders = svids
    name = f"a workload gets a token by its SVID, and an API introspects by its own: {kind}"
    with steps.step(name):
        status, answer = service.token(cart, kind=kind)
        assert status == httpx2.codes.OK, answer
        introspected = service.ask(
            "/connect/introspect", orders, kind=kind, token=answer["access_token"]
        ).json()
        assert (introspected["active"], introspected["client_id"]) == (True, client_id)


def refuse(steps: Steps, spire: Spire, service: Service, more: Mapping[str, str]) -> None:
    """SVIDs that are not for this service, or of no workload of its rules, are worth nothing."""
    refused = {
        "an SVID for another audience": spire.fetch(CART, "https://other.example"),
        "the SVID of a workload that no rule fits": spire.fetch(STRANGER, service.issuer),
        **more,
    }
    for name, svid in refused.items():
        with steps.step(f"{name} brings no token"):
            status, answer = service.token(svid, kind=CLIENT_ASSERTION)
            assert (status, answer["error"]) == (httpx2.codes.UNAUTHORIZED, "invalid_client")


def renew(steps: Steps, spire: Spire, service: Service, cart: str) -> None:
    """SPIRE changes its key all by itself."""
    with steps.step("SPIRE signs by another key after a while, and the service follows"):
        eventually(lambda: key_of(spire.fetch(CART, service.issuer)) != key_of(cart))
        renewed = spire.fetch(CART, service.issuer)
        eventually(lambda: service.accepts(renewed))


def go_on_without(steps: Steps, spire: Spire, services: tuple[Service, Service]) -> None:
    """Whatever SPIRE shows its keys by has ended."""
    fresh = [(service, spire.fetch(CART, service.issuer)) for service in services]
    eventually(lambda: all(service.accepts(svid) for service, svid in fresh))
    with steps.step("while SPIRE is unavailable, the keys that were read last count"):
        for process in (spire.discovery, spire.server):
            process.terminate()
            process.wait()
        for service, svid in fresh:
            assert service.accepts(svid)


def key_of(svid: str) -> str:
    """The id of the key that has signed an SVID."""
    header = svid.partition(".")[0]
    return str(json.loads(urlsafe_b64decode(header + "=" * (-len(header) % 4)))["kid"])


@contextmanager
def service_running(config: str, folder: Path, environ: dict[str, str]) -> Iterator[Service]:
    """The service with this file."""
    (port,) = lasting_ports(1)
    file = Path(shutil.copy(Path(__file__).with_name(config), folder))
    here = environ | {"ISSUER": f"http://localhost:{port}"}
    with program_running(file, ("--port", str(port)), here) as program:
        program.url()
        yield Service(here["ISSUER"])


def main() -> None:
    """Start SPIRE and the services, and try everything."""
    steps = Steps()
    ports = Ports(*lasting_ports(3))
    with TemporaryDirectory(prefix="spire-") as name:
        folder = Path(name)
        certificate = certified(folder)
        environ = {
            "BUNDLE": f"https://localhost:{ports.bundle}",
            "DISCOVERY": f"https://localhost:{ports.discovery}",
            "CA_FILE": str(certificate),
        }
        with (
            spire_running(folder, certificate, ports) as spire,
            service_running("config.yaml", folder, environ) as by_bundle,
            service_running("discovery.yaml", folder, environ) as by_discovery,
        ):
            for path in (CART, ORDERS, STRANGER):
                spire.register(path)
            run(steps, spire, by_bundle)
            run_by_discovery(steps, spire, by_discovery)
            go_on_without(steps, spire, (by_bundle, by_discovery))
    steps.finish()


main()
