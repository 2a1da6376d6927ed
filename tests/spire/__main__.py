"""A real SPIRE, whose workloads are clients and APIs of a service without any secret (JWT-SVID, SPIFFE Federation §5).

`make spire-test` builds SPIRE's server and agent from the Go module proxy, once, in five minutes of one core, and runs this for a
minute. CI does not.
"""

from __future__ import annotations

import json
import shutil
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2

from service.protocol.token_types import CLIENT_ASSERTION
from service.protocol.workload import JWT_SPIFFE
from tests.driving.certificate import certified
from tests.driving.ports import lasting_ports
from tests.driving.program import eventually, program_running
from tests.interop.steps import Steps
from tests.spire.spire import Spire, spire_running

CART, ORDERS, STRANGER = "/ns/shop/sa/cart", "/ns/apis/sa/orders", "/ns/other/sa/cart"
CLIENT_ID = "shop.ns%2Fshop%2Fsa%2Fcart"


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


def run(steps: Steps, spire: Spire, service: Service) -> None:
    """Everything that a workload does with its SVID."""
    for path in (CART, ORDERS, STRANGER):
        spire.register(path)
    cart, orders = (spire.fetch(path, service.issuer) for path in (CART, ORDERS))
    for kind in (JWT_SPIFFE, CLIENT_ASSERTION):
        with steps.step(
            f"a workload gets a token by its SVID, and an API introspects by its own: {kind}"
        ):
            status, answer = service.token(cart, kind=kind)
            assert status == httpx2.codes.OK, answer
            introspected = service.ask(
                "/connect/introspect", orders, kind=kind, token=answer["access_token"]
            ).json()
            assert (introspected["active"], introspected["client_id"]) == (True, CLIENT_ID)
    refused = {
        "an SVID for another audience": spire.fetch(CART, "https://other.example"),
        "the SVID of a workload that no rule fits": spire.fetch(STRANGER, service.issuer),
        "an API's SVID": orders,
        "a changed SVID": cart[:-4] + "AAAA",
    }
    for name, svid in refused.items():
        with steps.step(f"{name} brings no token"):
            status, answer = service.token(svid)
            assert (status, answer["error"]) == (httpx2.codes.UNAUTHORIZED, "invalid_client")
    renewed = cart
    with steps.step("SPIRE signs by another key after a while, and the service follows"):
        eventually(lambda: key_of(spire.fetch(CART, service.issuer)) != key_of(cart))
        renewed = spire.fetch(CART, service.issuer)
        eventually(lambda: service.token(renewed)[0] == httpx2.codes.OK)
    with steps.step("while SPIRE is away, the keys that were read last count"):
        spire.server.terminate()
        spire.server.wait()
        assert service.token(renewed)[0] == httpx2.codes.OK


def key_of(svid: str) -> str:
    """The id of the key that has signed an SVID."""
    header = svid.partition(".")[0]
    return str(json.loads(urlsafe_b64decode(header + "=" * (-len(header) % 4)))["kid"])


def main() -> None:
    """Start SPIRE and the service, and try everything."""
    steps = Steps()
    port, bundle_port, service_port = lasting_ports(3)
    with TemporaryDirectory(prefix="spire-") as name:
        folder = Path(name)
        certificate = certified(folder)
        environ = {
            "ISSUER": f"http://localhost:{service_port}",
            "BUNDLE": f"https://localhost:{bundle_port}",
            "CA_FILE": str(certificate),
        }
        config = Path(shutil.copy(Path(__file__).with_name("config.yaml"), folder))
        with (
            spire_running(folder, certificate, port=port, bundle_port=bundle_port) as spire,
            program_running(config, ("--port", str(service_port)), environ) as program,
        ):
            program.url()
            run(steps, spire, Service(environ["ISSUER"]))
    steps.finish()


main()
