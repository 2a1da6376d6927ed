"""Runs every guide from its own files, against a service of this run's own: `python -m tests.guides [GUIDE …]`."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from tests.guides import kubernetes, programs, protect_api, sign_in
from tests.guides.site import GENERATED, GUIDES, REPOSITORY, Site
from tests.interop.steps import Steps

PYTHON = (sys.executable, "-m", "uvicorn", "--host", "localhost")
NPM = ("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
# Two of Maven would write to the same local repository at the same time.
ONE_MAVEN = (str(REPOSITORY / "scripts/one-at-a-time"), "maven", "mvn")
MAVEN = (*ONE_MAVEN, "--batch-mode", "--quiet", "--strict-checksums", "package")
GO = ("go", "build", "-o", "api", ".")
APPLICATION, API = "3000", "3001"
NGINX_MODULE = Path("/usr/lib/nginx/modules/ngx_http_js_module.so")


@dataclass(frozen=True, kw_only=True)
class Guide:
    """Run one; its commands run in a copy of its folder."""

    check: Callable[[Site, Steps], Coroutine[Any, Any, None]]
    install: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    listens: str = API
    packages: tuple[str, ...] = ()
    """Of Debian."""


ALL = {
    "protect_api/fastapi": Guide(
        check=protect_api.check, start=(*PYTHON, "--port", API, "api:app")
    ),
    "protect_api/fastapi_kit": Guide(
        check=protect_api.check_with_proofs,
        start=("env", f"PYTHONPATH={REPOSITORY / 'api'}", *PYTHON, "--port", API, "api:app"),
    ),
    "protect_api/express": Guide(check=protect_api.check, install=NPM, start=("node", "api.mjs")),
    "protect_api/go": Guide(check=protect_api.check, install=GO, start=("./api",)),
    "protect_api/spring": Guide(
        check=protect_api.check_with_proofs,
        install=MAVEN,
        start=("java", "-jar", "target/protect-api-1.jar"),
    ),
    "protect_api/nginx": Guide(
        check=protect_api.check,
        packages=("nginx-core", "libnginx-mod-http-js"),
        start=("/usr/sbin/nginx", "-p", ".", "-c", "nginx.conf"),
    ),
    "sign_in/authlib": Guide(
        check=sign_in.check,
        start=(*PYTHON, "--port", APPLICATION, "app:app"),
        listens=APPLICATION,
    ),
    "sign_in/openid_client": Guide(
        check=sign_in.check, install=NPM, start=("node", "app.mjs"), listens=APPLICATION
    ),
    "sign_in/authjs": Guide(
        check=sign_in.check,
        install=NPM,
        start=("env", "AUTH_SECRET=only-for-this-run", "node", "app.mjs"),
        listens=APPLICATION,
    ),
    GENERATED: Guide(
        check=partial(sign_in.check, start="/login", subject=""),
        start=("sh", "start", *PYTHON, "--port", APPLICATION, "app:app"),
        listens=APPLICATION,
    ),
    "sign_in/oauth2_proxy": Guide(check=programs.check_oauth2_proxy),
    "sign_in/spring": Guide(
        check=sign_in.check,
        install=MAVEN,
        start=("java", "-jar", "target/sign-in-1.jar"),
        listens=APPLICATION,
    ),
    "clients/argo_cd": Guide(check=programs.check_argo_cd),
    "clients/grafana": Guide(check=programs.check_grafana),
    "clients/kube_apiserver": Guide(check=kubernetes.check, install=kubernetes.COMPILE),
}


def folders() -> set[str]:
    """The folders of guides that there are."""
    return {
        str(folder.relative_to(GUIDES))
        for part in GUIDES.iterdir()
        if part.is_dir()
        for folder in part.iterdir()
    }


async def run(name: str, site: Site, installing: Awaitable[Path], steps: Steps) -> None:
    """Start one once it is installed, and check it."""
    guide = ALL[name]
    with steps.step("it is installed and starts"), ExitStack() as running:
        folder = await installing
        if guide.start:
            command = [site.ports.get(word, word) for word in guide.start]
            running.enter_context(site.running(command, folder, guide.listens))
        await guide.check(site, steps)


def install(name: str, site: Site) -> Path:
    """Install what a guide needs, from Debian and from its own package manager; return its folder."""
    guide = ALL[name]
    folder = site.folder / name if name == GENERATED else site.copy(name)
    if guide.packages and not NGINX_MODULE.exists():
        subprocess.run([REPOSITORY / "scripts/apt-install", *guide.packages], check=True)
    if guide.install:
        subprocess.run(guide.install, cwd=folder, check=True)
    return folder


async def run_all(names: tuple[str, ...]) -> Steps:
    """Run the guides one after the other, against one service; all are installed meanwhile."""
    steps = Steps()
    with TemporaryDirectory(prefix="guides-") as folder:
        site = Site(Path(folder))
        with site.service():
            installing = [
                asyncio.create_task(asyncio.to_thread(install, name, site)) for name in names
            ]
            for name, installed in zip(names, installing, strict=True):
                click.echo(f"\n{name}")
                await run(name, site, installed, steps)
    return steps


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(sorted(ALL)))
def guides(names: tuple[str, ...]) -> None:
    """Run these guides, or all."""
    assert folders() | {GENERATED} == set(ALL), folders() ^ set(ALL)
    click.echo()
    asyncio.run(run_all(names or tuple(ALL))).finish()


guides()
