"""`explain` says which client or API a workload is; `why` and `test` know clients that rules make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from service.cli.program import program
from tests.cli.conftest import command
from tests.cli.test_explain import explained
from tests.driving.service import RunningService
from tests.workloads.platform import Platform, Workload, pod
from tests.workloads.test_configuration import BASE

__all__ = ["command"]


async def test_a_token_of_a_workload_is_explained(
    cart: Workload, orders: Workload, command: Any
) -> None:
    facts = await explained(command, cart.token())
    told = {name: facts[name] for name in ("issuer", "client", "template", "state")}
    assert told == {
        "issuer": "cluster",
        "client": "shop.cart",
        "template": "shop-workload",
        "state": "holds",
    }
    assert (await explained(command, orders.token()))["api_resource"] == "orders"


async def test_a_refused_token_of_a_workload_is_explained(
    service: RunningService, platform: Platform, cart: Workload, command: Any
) -> None:
    state = (await explained(command, cart.token(aud="other")))["state"]
    assert state == "refused: this service is not in its aud"
    stranger = pod(service, platform, "bank", "cart")
    assert (await explained(command, stranger.token()))["state"] == "refused: no rule fits"


@pytest.mark.parametrize(("client", "code"), [("shop.cart", 0), ("bank.cart", 1)])
def test_why_takes_a_made_client_for_its_template(tmp_path: Path, client: str, code: int) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(BASE))
    asked = CliRunner().invoke(program, ["why", client, "orders", "--config", str(file)])
    assert asked.exit_code == code, asked.output


def test_expected_rows_name_made_clients(tmp_path: Path) -> None:
    file, rows = tmp_path / "config.yaml", tmp_path / "rows.yaml"
    file.write_text(yaml.safe_dump(BASE))
    rows.write_text("- {client: shop.cart, can: [orders]}\n")
    asked = CliRunner().invoke(program, ["test", str(rows), "--config", str(file)])
    assert asked.exit_code == 0, asked.output
