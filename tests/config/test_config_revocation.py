"""A caller that may end the access of users is known by a secret or a key (draft-parecki-oauth-global-token-revocation-06 §6.1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.config.problem import Problem

SERVER = """
identity_providers:
  - name: github
    kind: oauth2
    client_id: x
    scopes: [user]
    authorization_endpoint: https://github.example/authorize
    token_endpoint: https://github.example/token
    userinfo_endpoint: https://github.example/user
    may_revoke_subjects: true
"""
PUBLIC = """
clients:
  - client_id: spa
    require_client_secret: false
    redirect_uris: [https://spa.example/callback]
    may_revoke_subjects: true
"""


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        (SERVER, "identity_providers[github].may_revoke_subjects", "is for OpenID providers only"),
        (PUBLIC, "clients[spa].may_revoke_subjects", "is not for public clients"),
    ],
    ids=["no keys", "public"],
)
def test_such_a_caller_is_an_error(
    problems: Callable[..., dict[str, Problem]], text: str, path: str, message: str
) -> None:
    problem = problems(text)[path]
    assert (problem.severity, message in problem.message) == ("error", True)
