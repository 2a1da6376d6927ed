"""`new client` asks what is wanted, and prints an entry, its secret, requests that try it, and code."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import subprocess
from base64 import b64encode
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from service.cli.draft import FRAMEWORKS, has_snippet
from service.cli.program import program
from service.start.load import inspect
from tests.cli.conftest import Command
from tests.driving.service import RunningService

SHOP = ["--name", "Web Shop", "--scopes", "openid profile"]
REDIRECT = ["--redirect-uri", "https://shop.example.com/oauth2/callback"]
JOB = ["--kind", "machine", "--name", "Night job", "--framework", "none", "--scopes", "api1"]
CASES = [
    *product(["web"], FRAMEWORKS, [[*SHOP, *REDIRECT]]),
    *product(["spa", "native"], [None], [[*SHOP, *REDIRECT]]),
    ("native", None, [*SHOP, "--redirect-uri", "http://127.0.0.1/callback"]),
    ("native", None, ["--name", "ß!x", "--scopes", "openid", "--redirect-uri", "com.example.app:/cb"]),
    ("web", "go", ["--name", "A: ${B} #c", "--scopes", "openid offline_access", *REDIRECT]),
    *product(["machine"], FRAMEWORKS[:4], [["--name", "Night job", "--scopes", "api1 api2"]]),
    *product(["api"], FRAMEWORKS, [["--name", "API 3", "--scopes", "read write"]]),
]  # fmt: skip


def new_client(*arguments: str, given: str = "", config: str = "config.yaml") -> Result:
    return CliRunner().invoke(
        program, ["new", "client", *arguments, "--config", config], input=given
    )


def secrets_in(text: str) -> list[str]:
    return re.findall(r"^export CLIENT_SECRET=([\w-]+)$", text, re.MULTILINE)


@pytest.mark.parametrize(("kind", "framework", "more"), CASES, ids=str)
def test_printed_entry_and_requests_work_as_they_are(
    tmp_path: Path, kind: str, framework: str | None, more: list[str]
) -> None:
    chosen = ["--framework", framework] if framework else []
    made = new_client("--kind", kind, *chosen, *more)
    assert made.exit_code == 0
    main = Path("config.yaml").read_text(encoding="utf-8")
    (tmp_path / "config.yaml").write_text(f"include: [new.yaml]\n{main}", encoding="utf-8")
    (tmp_path / "new.yaml").write_text(made.stdout, encoding="utf-8")
    assert inspect(tmp_path / "config.yaml", {}) == ()
    assert "{{" not in made.stderr.replace("{{{", "")
    assert "curl -s " in made.stderr


@pytest.mark.parametrize(
    ("framework", "algorithms", "written"),
    [
        ("express", "[ES256, RS256]", None),
        ("express", "[RS256, ES256]", "ES256"),
        ("express", "[RS256]", None),
        ("spring", "[ES256, RS256]", "RS256"),
        ("spring", "[ES256]", None),
    ],
)
def test_id_tokens_are_es256_where_the_library_knows_it(
    tmp_path: Path, framework: str, algorithms: str, written: str | None
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"issuer: http://localhost:8080\nsigning: {{algorithms: {algorithms}}}\n")
    chosen = ["--kind", "web", "--framework", framework]
    made = new_client(*chosen, *SHOP, *REDIRECT, config=str(file))
    client = yaml.safe_load(made.stdout)["clients"][0]
    assert client.get("id_token_signed_response_alg") == written
    if framework == "express":
        assert f"'{written or algorithms[1:6]}'" in made.stderr


@pytest.mark.parametrize("kind", ["web", "machine", "api"])
def test_the_secret_is_shown_once_and_not_in_the_yaml(kind: str) -> None:
    more = {"web": [*SHOP, *REDIRECT], "machine": JOB[2:], "api": ["--name", "x", "--scopes", "x"]}
    made = new_client("--kind", kind, *more[kind], "--framework", "none")
    (secret,) = secrets_in(made.stderr)
    assert (made.output.count(secret), secret in made.stdout) == (1, False)
    assert b64encode(hashlib.sha256(secret.encode()).digest()).decode() in made.stdout


@pytest.mark.parametrize(
    ("framework", "login"),
    [
        ("fastapi", "/login"),
        ("spring", "/oauth2/authorization/auth"),
        ("nginx", "/oauth2/start"),
        ("none", None),
    ],
)
def test_a_web_application_has_a_name_and_can_sign_out(framework: str, login: str | None) -> None:
    made = new_client("--kind", "web", "--framework", framework, *SHOP, *REDIRECT)
    (client,) = yaml.safe_load(made.stdout)["clients"]
    site = "https://shop.example.com"
    assert client["client_uri"] == f"{site}/"
    assert client["post_logout_redirect_uris"] == [f"{site}/"]
    assert client.get("initiate_login_uri") == (login and site + login)


@pytest.mark.parametrize(
    ("kind", "framework", "asks", "signs_out"),
    [
        ("web", "fastapi", "oauth.auth.userinfo(", "oauth.auth.logout_redirect("),
        ("web", "express", "fetchUserInfo()", "idpLogout: true"),
        ("web", "go", "provider.UserInfo(", "end_session_endpoint"),
        ("web", "spring", "oauth2Login(", "OidcClientInitiatedLogoutSuccessHandler"),
        ("web", "nginx", "oauth2-proxy", "endsession"),
        ("spa", None, "loadUserInfo: true", "signoutRedirect()"),
        ("native", None, "provider.UserInfo(", "end_session_endpoint"),
    ],
)
def test_the_code_asks_for_the_name_and_signs_out(
    kind: str, framework: str | None, asks: str, signs_out: str
) -> None:
    chosen = ["--framework", framework] if framework else []
    loopback = ["--redirect-uri", "http://127.0.0.1/callback"]
    made = new_client("--kind", kind, *chosen, *SHOP, *(loopback if kind == "native" else REDIRECT))
    assert asks in made.stderr
    assert signs_out in made.stderr


def test_the_page_after_a_sign_out_is_not_the_one_that_takes_codes() -> None:
    at = ["--redirect-uri", "https://shop.example.com/"]
    made = new_client("--kind", "web", "--framework", "fastapi", *SHOP, *at)
    (client,) = yaml.safe_load(made.stdout)["clients"]
    assert client["post_logout_redirect_uris"] == ["https://shop.example.com/home"]


@pytest.mark.parametrize("kind", ["spa", "native"])
def test_a_public_client_has_no_secret(kind: str) -> None:
    made = new_client("--kind", kind, *SHOP, *REDIRECT)
    assert "secret" not in made.stderr.lower()
    assert yaml.safe_load(made.stdout)["clients"][0]["require_client_secret"] is False


@pytest.mark.parametrize(
    ("kind", "framework"),
    [(kind, "fastapi") for kind in ("web", "machine", "api") if has_snippet(kind, "fastapi")],
)
def test_the_code_in_python_compiles(kind: str, framework: str) -> None:
    more = [*SHOP, *REDIRECT] if kind == "web" else ["--name", "x1", "--scopes", "api1"]
    made = new_client("--kind", kind, "--framework", framework, *more)
    code = made.stderr[made.stderr.index("# pip install") :]
    compile(code, "snippet.py", "exec")


def test_prompts_are_answered_line_by_line() -> None:
    made = new_client(given="web\nShop\nexpress\n\nopenid offline_access\n")
    (client,) = yaml.safe_load(made.stdout)["clients"]
    assert (client["client_id"], client["client_name"]) == ("shop", "Shop")
    assert client["redirect_uris"] == ["http://localhost:3000/callback"]
    assert client["allowed_grant_types"] == ["authorization_code", "refresh_token"]
    assert "express-openid-connect" in made.stderr


def test_prompt_without_an_answer_names_its_option() -> None:
    made = new_client("--kind", "web")
    assert (made.exit_code, "--name is missing" in made.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "exit_code", "reason"),
    [
        (["--name", "Shop", "--scopes", "opnid", *REDIRECT], 1, "did you mean openid?"),
        ([*SHOP, "--redirect-uri", "http://shop.example.com/cb"], 1, "use https"),
        (["--name", "web", "--scopes", "openid", *REDIRECT], 1, "web is registered twice"),
        (["--name", "!", "--scopes", "openid", *REDIRECT], 2, "needs a letter"),
        ([*SHOP, "--redirect-uri", "https://a/cb", "--framework", "nginx"], 1, "/oauth2/callback"),
    ],
    ids=["scope", "redirect", "taken", "name", "nginx"],
)
def test_entry_that_check_would_refuse_is_refused(
    arguments: list[str], exit_code: int, reason: str
) -> None:
    made = new_client("--kind", "web", "--framework", "go", *arguments)
    assert (made.exit_code, made.stdout) == (exit_code, "")
    assert reason in made.stderr


def test_a_program_gets_tokens_for_apis_only() -> None:
    made = new_client(*JOB[:-1], "openid")
    assert (made.exit_code, "known: api1, api2" in made.stderr) == (1, True)


def test_a_framework_without_code_is_wrong_usage() -> None:
    made = new_client(
        "--kind", "machine", "--framework", "nginx", "--name", "x", "--scopes", "api1"
    )
    assert (made.exit_code, "no code for machine in nginx" in made.stderr) == (2, True)


@pytest.mark.needs("curl")
async def test_the_printed_request_gets_a_token(service: RunningService, command: Command) -> None:
    made = await command("new", "client", *JOB)
    file = service.features.shared.configuration.file
    configuration = json.loads(file.read_text())
    configuration["clients"] += yaml.safe_load(made.stdout)["clients"]
    file.write_text(json.dumps(configuration))
    await asyncio.to_thread(service.features.shared.registry.reload)
    assert (await run_in_shell(made.stderr))["scope"] == "api1"


async def run_in_shell(lines: str) -> dict[str, Any]:
    """Run the last request of the printed lines, and return its answer."""
    done = await asyncio.to_thread(
        subprocess.run, ["sh", "-c", lines], capture_output=True, text=True, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
