"""Runs programs with the settings of a guide: their flow, step by step, with Authlib as the client.

The programs themselves cannot be had from the package registries: this checks the settings and the registration.
"""

from __future__ import annotations

import ssl
import tomllib
from configparser import ConfigParser
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import yaml
from authlib.common.security import generate_token
from authlib.integrations.httpx_client import AsyncOAuth2Client
from joserfc import jwt
from joserfc.jwk import KeySet
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Request

from tests.driving.chromium import headless_chromium
from tests.guides.sign_in import PATIENCE, sign_in
from tests.guides.site import Site
from tests.interop.steps import Steps


@dataclass(frozen=True)
class Settings:
    """The settings of each of the programs, under its own names."""

    client_id: str
    client_secret: str | None
    redirect_uri: str
    scope: str
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str
    pkce: bool = True
    trusted: Path | None = None
    """The certificate of an authority that the program trusts."""


async def signed_in(settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
    """Sign Alice in as the settings say; the token response and the userinfo response."""
    verifier = generate_token(64) if settings.pkce else None
    async with AsyncOAuth2Client(
        settings.client_id,
        settings.client_secret,
        redirect_uri=settings.redirect_uri,
        scope=settings.scope,
        code_challenge_method="S256",
        token_endpoint_auth_method="client_secret_basic" if settings.client_secret else "none",
        verify=ssl.create_default_context(cafile=settings.trusted),
    ) as client:
        url, _ = client.create_authorization_url(
            settings.authorization_endpoint, nonce=generate_token(), code_verifier=verifier
        )
        answer = await _answer_to(url, settings.redirect_uri)
        tokens = await client.fetch_token(
            settings.token_endpoint, authorization_response=answer, code_verifier=verifier
        )
        userinfo = (await client.get(settings.userinfo_endpoint)).json()
    return dict(tokens), userinfo


async def _answer_to(url: str, redirect_uri: str) -> str:
    """The URL at which the browser arrives at the program."""
    async with headless_chromium() as browser:
        page = await (await browser.new_context(locale="en", ignore_https_errors=True)).new_page()
        page.set_default_timeout(PATIENCE)

        def arrives(request: Request) -> bool:
            return request.url.startswith(redirect_uri)

        async with page.expect_request(arrives) as request:
            await page.goto(url)
            await sign_in(page)
        return (await request.value).url


async def check_sign_out(url: str, back: str) -> None:
    """Sign out as the settings say, by clicks where the service asks for them, and come back to the program."""
    async with headless_chromium() as browser:
        page = await (await browser.new_context(locale="en")).new_page()
        page.set_default_timeout(PATIENCE)
        async with page.expect_request(lambda request: request.url.rstrip("/") == back.rstrip("/")):
            with suppress(PlaywrightError):  # nothing listens there
                await page.goto(url)
            if await page.locator("form button").count():
                await page.locator("form button").first.click()


async def check_grafana(site: Site, steps: Steps) -> None:
    """As `[auth.generic_oauth]` of Grafana's documentation says."""
    file = ConfigParser(interpolation=None)
    file.read_string(site.text("clients/grafana/grafana.ini"))
    told = file["auth.generic_oauth"]
    settings = Settings(
        client_id=told["client_id"],
        client_secret=told["client_secret"],
        redirect_uri=file["server"]["root_url"] + "login/generic_oauth",
        scope=told["scopes"],
        authorization_endpoint=told["auth_url"],
        token_endpoint=told["token_url"],
        userinfo_endpoint=told["api_url"],
        pkce=told.getboolean("use_pkce", fallback=False),
    )
    with steps.step("the claims that the attribute paths name are in the userinfo response"):
        tokens, userinfo = await signed_in(settings)
        assert userinfo[told["login_attribute_path"]] == "alice@example.com"
        assert userinfo[told["name_attribute_path"]] == "Alice Smith"
    with steps.step("use_refresh_token gets a refresh token"):
        assert tokens["refresh_token"]
    with steps.step("signout_redirect_url leads back to the login page"):
        url = f"{told['signout_redirect_url']}&id_token_hint={tokens['id_token']}"
        await check_sign_out(url, file["server"]["root_url"] + "login")


async def check_oauth2_proxy(site: Site, steps: Steps) -> None:
    """As oauth2-proxy's provider "oidc" does."""
    told = tomllib.loads(site.text("sign_in/oauth2_proxy/oauth2-proxy.cfg"))
    settings = Settings(
        client_id=told["client_id"],
        client_secret=told["client_secret"],
        redirect_uri=told["redirect_url"],
        scope=told["scope"],
        pkce=told["code_challenge_method"] == "S256",
        **endpoints(site, told["oidc_issuer_url"]),
    )
    with steps.step("the person and a verified e-mail address are known"):
        tokens, userinfo = await signed_in(settings)
        claims = id_token_claims(site, tokens, audience=told["client_id"])
        assert (claims["sub"], userinfo["email"]) == ("818727", "alice@example.com")
        assert userinfo["email_verified"] is True
    with steps.step("the link to sign out leads back to the application"):
        link = (
            site.text("sign_in/oauth2_proxy/oauth2-proxy.cfg").split("sign_out?rd=")[1].split()[0]
        )
        assert urlsplit(unquote(link)).netloc in told["whitelist_domains"]
        await check_sign_out(unquote(link), site.url("3000"))


async def check_argo_cd(site: Site, steps: Steps) -> None:
    """As Argo CD's server and command line do: both read the ID token."""
    argo_cd = yaml.safe_load(site.text("clients/argo_cd/argocd-cm.yaml"))["data"]
    told = yaml.safe_load(argo_cd["oidc.config"])
    of_server = (told["clientID"], "argo-cd-secret", f"{argo_cd['url']}/auth/callback")
    of_command = (told["cliClientID"], None, "http://localhost:8085/auth/callback")
    for name, (client_id, secret, redirect_uri) in {
        "the server": of_server,
        "the command line": of_command,
    }.items():
        settings = Settings(
            client_id=client_id,
            client_secret=secret,
            redirect_uri=redirect_uri,
            scope=" ".join(told["requestedScopes"]),
            pkce=told["enablePKCEAuthentication"],
            **endpoints(site, told["issuer"]),
        )
        with steps.step(f"{name}: the ID token says who the person is"):
            tokens, _ = await signed_in(settings)
            claims = id_token_claims(site, tokens, audience=client_id)
            assert (claims["sub"], claims["email"]) == ("818727", "alice@example.com")
        if secret is not None:
            with steps.step(f"{name}: logoutURL leads back to it"):
                url = told["logoutURL"].replace("{{token}}", tokens["id_token"])
                url = url.replace("{{logoutRedirectURL}}", quote(argo_cd["url"], safe=""))
                await check_sign_out(url, argo_cd["url"])


def endpoints(site: Site, issuer: str) -> dict[str, Any]:
    """The metadata that a program learns by discovery."""
    names = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint")
    metadata = site.document(issuer, "openid-configuration")
    assert metadata["issuer"] == issuer
    return {name: metadata[name] for name in names}


def id_token_claims(site: Site, tokens: dict[str, Any], *, audience: str) -> dict[str, Any]:
    """The claims of a verified ID token."""
    keys = KeySet.import_key_set(site.document(site.issuer, "jwks.json"))  # type: ignore[arg-type]
    claims: dict[str, Any] = jwt.decode(tokens["id_token"], keys, algorithms=["ES256"]).claims
    assert (claims["iss"], claims["aud"]) == (site.issuer, audience)
    return claims
