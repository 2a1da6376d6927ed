"""Writes docs/profiles.md: each rule of the profiles with the code that enforces it and the tests that are marked with it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from service.clients.rules.mcp import MCP
from service.clients.rules.profile_rules import Rule
from service.clients.rules.profiles import RULES
from service.model.profiles import FAPI_CIBA, MESSAGE_SIGNING, OAUTH21, SECURITY

REPOSITORY = Path(__file__).parents[2]

_CHECKED_BY = "service/clients/rules/profile_rules.py"
_TITLES: Mapping[str, str] = {
    OAUTH21: "OAuth 2.1 (draft-ietf-oauth-v2-1)",
    SECURITY: "FAPI 2.0 Security Profile",
    MESSAGE_SIGNING: "FAPI 2.0 Message Signing, which includes the Security Profile",
    FAPI_CIBA: "FAPI-CIBA, for clients whose users confirm requests elsewhere",
    MCP: "what clients of the Model Context Protocol need, with OAuth 2.1; for `check --profile` only",
}
_INTRODUCTION = """\
# Profiles

A client with `profile` is held to a security profile. Its entry has the values that the profile demands by default, whatever
is weaker is an error of `check`, `serve` and a reload with its file and line, and every request of the client is judged by
the profile. `token-service check --profile NAME` judges the whole registry as if every client had the profile, and by
the rules that are marked as such below; `fapi2` is `fapi2_security`.

```yaml
clients:
  - client_id: bank
    profile: fapi2_security          # pushed requests, private_key_jwt, DPoP, no rotation: all by default
    jwks_uri: https://bank.example/jwks
    redirect_uris: [https://bank.example/callback]
    allowed_scopes: [openid, payments]
```

A client of FAPI 2.0 that has `tls_client_certificate_bound_access_tokens: true` has no DPoP by default; the authentication
method is the one that the client has a credential for. What the service signs for it is signed by the first of
`signing.algorithms` that the profile allows. `profile_options: {response: plain}` is for clients of
`fapi2_message_signing` that do without signed authorization responses.

A client of `fapi_ciba` may address its assertions to the issuer, to the token endpoint or to the endpoint that they are for
(CIBA Core §7.1); one of FAPI 2.0 that uses CIBA, to the issuer alone.

This page is made by `make docs` from
[the table of rules](../service/clients/rules/profiles.py) and from the marks of the tests (`@pytest.mark.profile`).
"""


def render() -> str:
    """The page."""
    tests = marked_tests()
    parts = [_INTRODUCTION]
    for profile, title in _TITLES.items():
        parts += [
            f"## {profile}\n",
            f"{title[0].upper()}{title[1:]}.\n",
            "| rule | enforced in | tests |\n|---|---|---|",
            *(_row(rule, tests) for rule in RULES if profile in rule.profiles),
            "",
        ]
    return "\n".join(parts)


def marked_tests() -> Mapping[str, list[Path]]:
    """Return the files with tests of each rule, by `pytest.mark.profile(...)`."""
    files: dict[str, set[Path]] = defaultdict(set)
    for path in (REPOSITORY / "tests").rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "mark.profile(" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.profile":
                for name in _names(node):
                    files[name].add(path.relative_to(REPOSITORY))
    return {name: sorted(paths) for name, paths in files.items()}


def _names(call: ast.Call) -> Iterator[str]:
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            yield from ast.literal_eval(argument.value)
        else:
            yield ast.literal_eval(argument)


def _row(rule: Rule, tests: Mapping[str, list[Path]]) -> str:
    says = rule.says + ("; `check --profile` only" if rule.whole_registry else "")
    judged = (_CHECKED_BY,) if rule.of_client or rule.of_file else ()
    links = [*map(_link, (*rule.enforced, *judged))]
    return f"| {says} | {'<br>'.join(links)} | {'<br>'.join(map(_link, tests[rule.name]))} |"


def _link(path: str | Path) -> str:
    return f"[{str(path).partition('/')[2]}](../{path})"
