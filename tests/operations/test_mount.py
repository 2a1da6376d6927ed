"""The path of the issuer is taken off a request's where an endpoint may have what remains."""

from __future__ import annotations

import pytest

from service.web.proxy import Mount

OWN = [
    *("/", "/connect/token", "/account", "/account/login", "/.well-known/jwks.json"),
    *("/health/ready", "/metrics", "/static/{name}"),
]


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("/auth/connect/token", "/connect/token"),
        ("/connect/token", "/connect/token"),
        ("/auth/.well-known/jwks.json", "/.well-known/jwks.json"),
        ("/auth/static/x.css", "/static/x.css"),
        ("/auth", "/"),
        ("/auth/", "/"),
        ("/mtls/a/connect/token", "/connect/token"),
        ("/authority/connect/token", "/authority/connect/token"),
        ("/auth/nowhere", "/auth/nowhere"),
        ("/auth/metrics", "/auth/metrics"),
        ("/auth/health/ready", "/auth/health/ready"),
        ("/auth/auth/connect/token", "/auth/auth/connect/token"),
    ],
)
def test_path_of_the_issuer_is_taken_off(path: str, own: str) -> None:
    mount = Mount(["https://a.example/auth", "https://mtls.example/mtls/a/"], OWN)
    assert mount.find_own_path(path) == own


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("/connect/token", "/connect/token"),
        ("/connect/connect/token", "/connect/token"),
        ("/connect/account/login", "/account/login"),
    ],
)
def test_issuer_whose_path_is_that_of_endpoints_keeps_them_apart(path: str, own: str) -> None:
    assert Mount(["https://a.example/connect"], OWN).find_own_path(path) == own


def test_issuer_without_a_path_changes_nothing() -> None:
    assert Mount(["https://a.example/"], OWN).find_own_path("//connect/token") == "//connect/token"
