"""`graph`, `why`, `test` and `diff` say which client can get tokens for which API, and in which line that is allowed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from service.admin.ways.finding import find_ways
from service.cli.program import program
from tests.driving.registry import client_in, hashed
from tests.driving.service import RunningService
from tests.token_exchange.exchanging import EXCHANGE, exchange

REGISTRY = """\
issuer: http://localhost:8080
api_resources:
  - {name: orders, scopes: [orders.read, orders.write]}
  - {name: stock}
  - {name: payments}
  - {name: lonely}
clients:
  - client_id: shop
    client_secrets: [{sha256: "b13z1hoikMvamifVhPp+UJwoEdqP1n6rDcXDnDeJu34="}]
    allowed_scopes: [openid, orders.read]
    redirect_uris: [https://shop.example/callback]
  - client_id: orders
    client_secrets: [{sha256: "b13z1hoikMvamifVhPp+UJwoEdqP1n6rDcXDnDeJu34="}]
    allowed_grant_types: [delegation]
    allowed_scopes: [stock]
  - client_id: stock
    client_secrets: [{sha256: "b13z1hoikMvamifVhPp+UJwoEdqP1n6rDcXDnDeJu34="}]
    allowed_grant_types: ["urn:ietf:params:oauth:grant-type:token-exchange"]
    allowed_scopes: [payments]
  - client_id: job
    client_secrets: [{sha256: "b13z1hoikMvamifVhPp+UJwoEdqP1n6rDcXDnDeJu34="}]
    allowed_grant_types: [client_credentials]
    allowed_scopes: [lonely]
  - client_id: lonely
    client_secrets: [{sha256: "b13z1hoikMvamifVhPp+UJwoEdqP1n6rDcXDnDeJu34="}]
    allowed_grant_types: [delegation]
    allowed_scopes: [payments]
  - client_id: off
    enabled: false
    client_secrets: [{sha256: "b13z1hoikMvamifVhPp+UJwoEdqP1n6rDcXDnDeJu34="}]
    allowed_grant_types: [client_credentials]
    allowed_scopes: [payments]
token_exchange:
  - clients: [stock]
    scopes: [payments]
    audiences: [payments]
"""

Run = Callable[..., Result]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The registry: orders delegates to stock, and stock exchanges for payments."""
    file = tmp_path / "config.yaml"
    file.write_text(REGISTRY)
    return file


@pytest.fixture
def run(file: Path) -> Run:
    """Run a command with the registry."""
    return lambda *arguments: CliRunner().invoke(
        program, [*map(str, arguments)], env={"SERVICE_CONFIG": str(file)}
    )


def line(text: str) -> int:
    """Return the line of the registry that holds this."""
    return REGISTRY.splitlines().index(text) + 1


def test_graph_has_each_way_with_its_line(run: Run, file: Path) -> None:
    edges = json.loads(run("graph", "--format", "json").stdout)
    assert [(edge["client"], edge["api"], edge["by"], edge["users_of"]) for edge in edges] == [
        ("shop", "orders", "direct", []),
        ("orders", "stock", "delegation", ["orders"]),
        ("stock", "payments", "exchange", ["stock"]),
        ("job", "lonely", "direct", []),
    ]
    assert edges[0]["scope"] == ["orders.read"]
    assert edges[0]["place"] == f"{file}:{line('  - client_id: shop')}"
    assert edges[2]["place"] == f"{file}:{line('  - clients: [stock]')}"


@pytest.mark.parametrize(
    ("arguments", "clients"),
    [(["--from", "shop"], ["shop"]), (["--to", "payments"], ["stock"])],
    ids=["from", "to"],
)
def test_graph_shows_one_client_or_one_api(
    run: Run, arguments: list[str], clients: list[str]
) -> None:
    edges = json.loads(run("graph", "--format", "json", *arguments).stdout)
    assert [edge["client"] for edge in edges] == clients


@pytest.mark.parametrize(
    ("output", "part"),
    [
        ("dot", '"client shop" -> "API orders" [label="directly: orders.read ('),
        ("mermaid", 'c0 -->|"directly: orders.read ('),
    ],
)
def test_graph_is_written_for_other_programs(run: Run, output: str, part: str) -> None:
    assert part in run("graph", "--format", output).stdout


def test_graph_is_a_picture(run: Run) -> None:
    svg = ET.fromstring(run("graph", "--format", "svg").stdout)  # noqa: S314 - our own
    space = "{http://www.w3.org/2000/svg}"
    titles = [title.text or "" for title in svg.iter(f"{space}title")]
    assert sum("->" in title for title in titles) == 4
    assert {"shop", "payments"} <= {text.text for text in svg.iter(f"{space}text")}


@pytest.mark.parametrize("output", ["dot", "mermaid", "svg", "json"])
def test_names_cannot_break_out_of_the_graph(run: Run, file: Path, output: str) -> None:
    file.write_text(REGISTRY.replace("client_id: shop", "client_id: '<b>\"&'"))
    shown = run("graph", "--format", output).stdout
    assert '<b>"' not in shown or output in {"json", "dot"}
    if output == "svg":
        ET.fromstring(shown)  # noqa: S314 - our own


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["shop", "orders"], "directly: orders.read ("),
        (["shop", "orders", "orders.read"], "directly: orders.read ("),
        (["orders", "stock"], "by delegation of users of orders: stock ("),
        (["stock", "payments"], "by exchange of users of stock: payments ("),
    ],
    ids=" ".join,
)
def test_why_says_each_way(run: Run, arguments: list[str], shown: str) -> None:
    result = run("why", *arguments)
    assert (result.exit_code, result.stdout.startswith(shown)) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (["shop", "stock"], ["allowed_scopes has no stock"]),
        (["shop", "orders", "orders.write"], ["allowed_scopes has no orders.write"]),
        (
            ["lonely", "payments"],
            ["no client can get a user's token for lonely that could be delegated"],
        ),
        (["off", "payments"], ["the client is not enabled (enabled: false)"]),
        (["shup", "orders"], ["there is no client shup; did you mean shop?"]),
        (["shop", "order"], ["there is no API resource order; did you mean orders?"]),
        (
            ["shop", "orders", "orders.raed"],
            ["the API orders has no scope orders.raed; did you mean orders.read?"],
        ),
        (
            ["stock", "orders"],
            [
                "no rule of token_exchange lets it have orders",
                "allowed_scopes has no orders.read or orders.write",
            ],
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_why_names_the_nearest_missing_condition(
    run: Run, arguments: list[str], missing: list[str]
) -> None:
    result = run("why", *arguments, "--format", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {"ways": [], "missing": missing}


def test_api_is_known_by_its_url_too(run: Run, file: Path, tmp_path: Path) -> None:
    url = "https://orders.example"
    file.write_text(REGISTRY.replace("{name: orders,", f"{{name: orders, url: {url},"))
    assert run("why", "shop", url).stdout.startswith("directly: orders.read (")
    assert run("graph", "--to", url).stdout == run("graph", "--to", "orders").stdout
    expected = tmp_path / "registry.test.yaml"
    expected.write_text(
        f"- {{client: shop, can: [{url} orders.read]}}\n- {{api: '{url}', only: [shop]}}\n"
    )
    assert run("test", expected).exit_code == 0


def test_missing_condition_that_is_met_is_a_way(run: Run, file: Path) -> None:
    text = REGISTRY.replace("[openid, orders.read]", "[openid, orders.read, stock]")
    file.write_text(text)
    assert run("why", "shop", "stock").exit_code == 0


def test_why_shows_the_line_of_the_client(run: Run, file: Path) -> None:
    shown = run("why", "shop", "stock").stdout
    assert f"shop needs ({file}:{line('  - client_id: shop')})" in shown


def test_diff_says_what_is_newly_reached_and_what_no_longer(
    run: Run, file: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.yaml"
    text = REGISTRY.replace("[openid, orders.read]", "[openid, orders.read, orders.write]")
    new.write_text(text.replace("    allowed_scopes: [lonely]\n", "    allowed_scopes: []\n"))
    result = run("diff", file, new, "--fail-on-new-reach")
    reach = [shown for shown in result.stdout.splitlines() if "reach:" in shown]
    assert reach == [
        f"+ reach: shop -> orders directly: orders.write ({new}:{line('  - client_id: shop')})",
        f"- reach: job -> lonely directly: lonely ({file}:{line('  - client_id: job')})",
    ]
    assert result.exit_code == 1
    assert run("diff", file, new).exit_code == 0


TEMPLATE = """\
  - {client_id: pods, template: true, allowed_grant_types: [client_credentials], allowed_scopes: [stock]}
token_exchange:
"""
RULE = (
    '      - {subject: "system:serviceaccount:shop:*", client_id: "shop.{name}", template: pods}\n'
)
WORKLOADS = (
    "workload_issuers:\n  - name: cluster\n    kind: kubernetes\n    issuer: https://cluster.example\n"
    f"    rules:\n{RULE}"
)
OPENED = "{enabled: true, allowed_scopes: [openid, stock]}"
TEMPLATED = REGISTRY.replace("token_exchange:\n", TEMPLATE)


@pytest.mark.parametrize(
    ("before", "after", "gained"),
    [
        (TEMPLATED, TEMPLATED, []),
        (
            TEMPLATED,
            TEMPLATED + WORKLOADS,
            ["pods as cluster shop.{name}: system:serviceaccount:shop:*"],
        ),
        (
            TEMPLATED + WORKLOADS,
            TEMPLATED + WORKLOADS + RULE.replace("shop", "till"),
            ["pods as cluster till.{name}: system:serviceaccount:till:*"],
        ),
        (
            REGISTRY
            + WORKLOADS.replace(
                RULE, '      - {subject: "system:serviceaccount:shop:a", client_id: shop}\n'
            ),
            REGISTRY
            + WORKLOADS.replace(
                RULE, '      - {subject: "system:serviceaccount:shop:b", client_id: job}\n'
            ),
            ["job as cluster system:serviceaccount:shop:b"],
        ),
        (REGISTRY, f"{REGISTRY}registration: {OPENED}\n", ["clients that register"]),
        (
            f"{REGISTRY}registration: {OPENED[:-1]}, initial_access_token_sha256: [{'0' * 64}]}}\n",
            f"{REGISTRY}registration: {OPENED}\n",
            ["clients that register"],
        ),
        (
            REGISTRY,
            f"{REGISTRY}client_id_metadata: {OPENED}\n",
            ["clients with a document at any host"],
        ),
    ],
    ids=[
        *("unused template", "first rule", "second rule", "another workload"),
        *("registration", "open registration", "documents"),
    ],
)
def test_diff_says_what_workloads_and_unlisted_clients_newly_reach(
    run: Run, tmp_path: Path, before: str, after: str, gained: list[str]
) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(before)
    new.write_text(after)
    result = run("diff", old, new, "--fail-on-new-reach")
    reach = [
        one.removeprefix("+ reach: ") for one in result.stdout.splitlines() if "+ reach" in one
    ]
    assert [one.partition(" -> ")[0] for one in reach] == gained
    assert result.exit_code == int(bool(gained))
    assert "WorkloadRule(" not in result.stdout
    assert all(f"({new}:" in one for one in reach)


def test_template_has_a_way_only_where_a_rule_makes_clients_of_it(run: Run, file: Path) -> None:
    file.write_text(TEMPLATED)
    assert '"pods"' not in run("graph", "--format", "json").stdout
    assert "no rule of workload_issuers makes clients" in run("why", "pods", "stock").stdout
    file.write_text(TEMPLATED + WORKLOADS)
    assert run("why", "pods", "stock").exit_code == 0


def test_less_reach_does_not_fail(run: Run, file: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.yaml"
    new.write_text(REGISTRY.replace("    allowed_scopes: [lonely]\n", ""))
    assert run("diff", file, new, "--fail-on-new-reach").exit_code == 0


def test_delegation_that_loses_its_users_is_lost_reach(
    run: Run, file: Path, tmp_path: Path
) -> None:
    """Without the shop nobody brings a user's token, so the chain behind it ends."""
    new = tmp_path / "new.yaml"
    new.write_text(REGISTRY.replace("[openid, orders.read]", "[openid]"))
    lost = json.loads(run("diff", file, new, "--format", "json").stdout)["lost_reach"]
    assert [edge["client"] for edge in lost] == ["shop", "orders", "stock"]


def test_expectations_that_hold_pass(run: Run, tmp_path: Path) -> None:
    expected = tmp_path / "registry.test.yaml"
    expected.write_text(
        "- {client: shop, can: [orders, orders orders.read], cannot: [payments, orders orders.write]}\n"
        "- {api: payments, only: [stock]}\n"
    )
    result = run("test", expected)
    assert (result.exit_code, result.stdout) == (0, "")


def test_expectations_that_do_not_hold_are_named(run: Run, tmp_path: Path) -> None:
    expected = tmp_path / "registry.test.yaml"
    expected.write_text(
        "- {client: shop, can: [stock], cannot: [orders]}\n"
        "- {api: payments, only: [shop]}\n"
        "- {client: shop, cannot: [paymnets]}\n"
    )
    result = run("test", expected)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"{expected}: row 1: shop cannot get a token for stock: allowed_scopes has no stock",
        f"{expected}: row 1: shop can get a token for orders: direct",
        f"{expected}: row 2: stock can get a token for payments, and is not among only",
        f"{expected}: row 2: shop cannot get a token for payments: allowed_scopes has no payments",
        f"{expected}: row 3: there is no API resource paymnets; did you mean payments?",
    ]


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "[1]", "[{client: shop}]", "[{client: shop, can: orders}]", "- {a: [", "\x00"],
)
def test_file_without_expectations_is_refused(run: Run, tmp_path: Path, text: str) -> None:
    expected = tmp_path / "registry.test.yaml"
    expected.write_text(text)
    result = run("test", expected)
    assert result.exit_code == 1
    assert str(expected) in result.stderr


def test_missing_file_of_expectations_is_refused(run: Run, tmp_path: Path) -> None:
    result = run("test", tmp_path / "missing.yaml")
    assert (result.exit_code, "missing.yaml:1:1: error: No such file" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("text", "line", "shown"),
    [
        ("- client: shop\n  cannot: [orders]\n  cannot: []\n", 3, "the key stands twice"),
        ("- {client: shop, can: [orders]}\n- {client: shop, can: orders}\n", 2, "a list of names"),
        ("- {client: shop, can: [orders]}\n- {client: shop}\n", 2, "a row has client with can"),
        ("- {client: shop, can: [orders]}\n- {client: shop, can: ['${X}']}\n", 2, "X"),
        ("- {client: shop, can: [orders]}\n- {client: 1, can: []}\n", 2, "expected a name"),
    ],
)
def test_unusable_expectations_are_refused_with_their_line(
    run: Run, tmp_path: Path, text: str, line: int, shown: str
) -> None:
    expected = tmp_path / "registry.test.yaml"
    expected.write_text(text)
    result = run("test", expected)
    assert (result.exit_code, shown in result.stderr) == (1, True)
    assert f"{expected}:{line}:" in result.stderr


def test_name_of_an_api_may_look_like_a_boolean_of_old_yaml(run: Run, tmp_path: Path) -> None:
    expected = tmp_path / "registry.test.yaml"
    expected.write_text("- {client: shop, can: [no]}\n")
    result = run("test", expected)
    assert result.stdout.startswith(f"{expected}: row 1: there is no API resource no")


class TestAgainstTheTokenEndpoint:
    """The ways are those that the token endpoint gives, and no others."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        """api1 exchanges, too; the gateway delegates; a rule gives api2 to api1 only."""
        client_in(config, "api1")["allowed_grant_types"] = ["delegation", EXCHANGE]
        api2 = client_in(config, "api1") | {"client_id": "api2"}
        config["clients"].append(api2 | {"client_secrets": [{"sha256": hashed("api2")}]})
        config["token_exchange"] = [
            {"clients": ["api1"], "scopes": ["api2"], "audiences": ["api2"]}
        ]
        return config

    async def test_each_way_is_one_of_the_token_endpoint(
        self, service: RunningService, one_store: None
    ) -> None:
        registry = service.features.shared.registry.current
        predicted = {
            (way.client_id, grant_type, value)
            for way in find_ways(registry)
            for grant_type in way.grant_types
            for value in way.scope
        }
        token = str((await service.user_token())["access_token"])
        given: set[tuple[str, str, str]] = set()
        asked = ("machine", "robot", "frontend", "api1", "api2", "gateway")
        grants = {"client_credentials": {}, "delegation": {"token": token}}
        for client in asked:
            for value in registry.api_scopes:
                for grant_type, form in grants.items():
                    sent: Any = {"grant_type": grant_type, "scope": value, **form}
                    if (await service.token(client, **sent)).status == 200:
                        given.add((client, grant_type, value))
                if (await exchange(service, token, client=client, scope=value)).status == 200:
                    given.add((client, EXCHANGE, value))
        compared = {*grants, EXCHANGE}
        # A token of alice's for api1 alone is presented, so api2 has none of its own to exchange.
        assert given == {
            way for way in predicted if way[0] in asked and way[1] in compared and way[0] != "api2"
        }
        assert ("api2", "delegation", "api1") in predicted
