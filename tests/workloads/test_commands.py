"""`explain` says which client or API a workload is; `why` and `test` know clients that rules make."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

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


def graph(tmp_path: Path, output: str) -> str:
    """The graph of a registry in which rules lead to a client, and to a template."""
    written = deepcopy(BASE)
    written["workload_issuers"][2]["rules"][0]["claims"]["environment"] = '<b>"&'
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(written))
    asked = CliRunner().invoke(program, ["graph", "--config", str(file), "--format", output])
    assert asked.exit_code == 0, asked.output
    return asked.stdout


def test_graph_tells_scripts_which_workloads_a_client_is(tmp_path: Path) -> None:
    found = {edge["client"]: edge["workloads"] for edge in json.loads(graph(tmp_path, "json"))}
    subject = "system:serviceaccount:shop:*"
    assert found["shop-workload"] == [
        {"issuer": "cluster", "subject": subject, "claims": {}, "client_id": "shop.{name}"}
    ]
    assert [rule["issuer"] for rule in found["checkout"]] == ["cluster", "spire", "ci"]


@pytest.mark.parametrize(
    ("output", "made", "named"),
    [
        (
            "dot",
            '"client shop-workload" [label="client shop-workload\\nshop.{name}: system:serviceaccount:shop:*"]',
            "repository=acme/shop",
        ),
        (
            "mermaid",
            '["shop-workload<br>shop.{name}: system:serviceaccount:shop:*"]',
            "environment=&lt;b&gt;&quot;&amp;",
        ),
    ],
)
def test_graph_shows_the_patterns_of_workloads(
    tmp_path: Path, output: str, made: str, named: str
) -> None:
    shown = graph(tmp_path, output)
    assert made in shown
    assert named in shown


def test_picture_has_the_patterns_of_workloads_in_their_box(tmp_path: Path) -> None:
    svg = ET.fromstring(graph(tmp_path, "svg"))  # noqa: S314 - our own
    space = "{http://www.w3.org/2000/svg}"
    top = {text.text: int(text.attrib.get("y", 0)) for text in svg.iter(f"{space}text")}
    patterns = [
        "system:serviceaccount:shop:checkout",
        "spiffe://example.org/checkout",
        'environment=<b>"& repository=acme/shop',
    ]
    rows = [top[text] for text in ["checkout", *patterns, "shop-workload"]]
    assert rows == sorted(set(rows))
    heights = [int(box.attrib["height"]) for box in svg.iter(f"{space}rect") if "rx" in box.attrib]
    assert max(heights) > top[patterns[-1]] - top["checkout"]
