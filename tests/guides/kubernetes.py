"""kube-apiserver's own code reads the guide's file and authenticates a person's ID token with it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

from tests.driving.certificate import certified
from tests.guides.programs import Settings, signed_in
from tests.guides.site import Site
from tests.interop.steps import Steps

FILE = "clients/kube_apiserver/authentication.yaml"
PROGRAM = Path(__file__).parent / "kubernetes_authenticator"
COMPILE = ("go", "build", "-C", str(PROGRAM), "-o", os.devnull, ".")
"""What takes long of a build; Go keeps it in its cache."""
REDIRECT_URI = "http://localhost:8000"
"""Where kubelogin listens."""


async def check(plain: Site, steps: Steps) -> None:
    """Sign Alice in as kubelogin does, and show her ID token to kube-apiserver's authenticator."""
    folder = plain.folder / "tls"
    folder.mkdir()
    site = Site(folder, certificate=certified(folder))
    file = folder / "authentication.yaml"
    file.write_text(site.text(FILE).replace("https://id.example.com", site.issuer))
    program = folder / "authenticator"
    build = ["go", "build", "-o", str(program), "."]
    await asyncio.to_thread(lambda: subprocess.run(build, cwd=PROGRAM, check=True))
    with site.service():
        connect = f"{site.issuer}/connect"
        tokens, _userinfo = await signed_in(
            Settings(
                client_id="kubectl",
                client_secret=None,
                redirect_uri=REDIRECT_URI,
                scope="openid profile email",
                authorization_endpoint=f"{connect}/authorize",
                token_endpoint=f"{connect}/token",
                userinfo_endpoint=f"{connect}/userinfo",
                trusted=site.certificate,
            )
        )
        for name, kind, expected in (
            (
                "the ID token says who the user is",
                "id_token",
                "token-service:alice@example.com 818727",
            ),
            ("an access token is refused", "access_token", "refused"),
        ):
            with steps.step(name):
                assert await authenticated(program, file, site, tokens[kind]) == expected


async def authenticated(program: Path, file: Path, site: Site, token: str) -> str:
    """The answer of the authenticator."""
    process = await asyncio.create_subprocess_exec(
        program, file, str(site.certificate), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    said, _ = await process.communicate(token.encode())
    assert process.returncode == 0
    return said.decode().strip()
